"""Maps system errors of file operations to problems that name the path."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import InvalidRequest, PermissionDenied, SandboxAgentError, Unavailable

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EBUSY}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_WORDS = {
    errno.ENOENT: "path not found",
    errno.EXDEV: "is on another file system; copy it and delete the old one",
    errno.ENOTEMPTY: "is not empty",
}


@contextmanager
def naming_path(path: str) -> Iterator[None]:
    """Turn system errors into problems that name this path."""
    try:
        yield
    except OSError as error:
        raise problem_of(error, path) from None
    except ValueError as error:  # a NUL, or text that cannot be a name
        raise InvalidRequest(f"not a valid path: {error}", field="path") from None


def problem_of(error: OSError, path: str) -> SandboxAgentError:
    code = error.errno or 0
    words = _WORDS.get(code) or error.strerror or "cannot be used"
    if code in _FULL:
        return Unavailable(f"{path}: {words}", path=path, retryAfter=5)
    if code in _REFUSED:
        return PermissionDenied(f"{path}: {words}", path=path)
    text = f"{words}: {path}" if code == errno.ENOENT else f"{path}: {words}"
    return InvalidRequest(text, field="path", path=path)
