"""The inspector: a page that was built into `ui/`, served as it lies there. Its files hold no secret and need no token."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from .gate import HeaderList

FOLDER = Path(__file__).with_name("ui")
ROOT = "/ui/"

# The page may call any daemon that a person names, and shows images that it fetched with the token; it runs and looks
# only with what stands in its own files.
POLICY = (
    b"default-src 'self'; connect-src 'self' http: https:; img-src 'self' blob:; object-src 'none'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: HeaderList = [
    (b"content-security-policy", POLICY),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]

NOT_BUILT = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Inspector</title>
<h1>The inspector is not built</h1>
<p>This daemon runs from a checkout in which the page was not built yet. With Node.js 20 or newer:</p>
<pre>make setup</pre>
<p>Then start the daemon again. The API itself works: see <a href="/docs">/docs</a>.</p>
</html>
"""


def address_of(endpoint: str, token: str | None) -> str:
    """The page's address; it brings the token along in its fragment, which no browser sends anywhere."""
    return f"{endpoint}{ROOT}" + (f"#token={quote(token)}" if token is not None else "")


class File(NamedTuple):
    body: bytes
    media_type: str
    etag: bytes
    cache: bytes


class Inspector:
    """The page's files, few and small: read once, when a browser first asks for one."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    @functools.cached_property
    def _files(self) -> dict[str, File]:
        return _files(self._folder)

    def find(self, path: str) -> File | None:
        """The file at a path below `/ui/`."""
        return self._files.get(path)


def _files(folder: Path) -> dict[str, File]:
    found = {
        ROOT + path.relative_to(folder).as_posix(): _file(path.name, path.read_bytes(), path.parent != folder)
        for path in folder.rglob("*")
        if path.is_file()
    }
    index = found.get(f"{ROOT}index.html") or _file("index.html", NOT_BUILT, False)
    return {**found, ROOT: index}


def _file(name: str, body: bytes, hashed_name: bool) -> File:
    """The build writes everything but the page itself into a folder, under names that change with the content."""
    import mimetypes  # reads the system's tables: not at the start of every daemon

    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    if media_type.startswith("text/"):
        media_type += "; charset=utf-8"
    etag = b'"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
    cache = b"public, max-age=31536000, immutable" if hashed_name else b"no-cache"
    return File(body, media_type, etag, cache)
