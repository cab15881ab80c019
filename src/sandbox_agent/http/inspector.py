"""The inspector: a page built into `ui/`, served from there, compressed if the browser accepts that. Its files
hold no secret and need no token.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from .gate import HeaderList

FOLDER = Path(__file__).with_name("ui")
ROOT = "/ui/"

# The page may call any daemon that the user enters, and shows images fetched with the token, or drawn from the stream of a
# desktop; scripts and styles come only from its own files.
POLICY = (
    b"default-src 'self'; connect-src 'self' http: https: ws: wss:; img-src 'self' blob: data:; object-src 'none'; "
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
<p>This daemon runs from a checkout in which the page was not built yet. With Node.js 20.19 or newer:</p>
<pre>make setup</pre>
<p>Then start the daemon again. The API itself works: see <a href="/docs">/docs</a>.</p>
</html>
"""


def address_of(endpoint: str, token: str | None) -> str:
    """The page's address, with the token in the fragment, which browsers never send."""
    return f"{endpoint}{ROOT}" + (f"#token={quote(token)}" if token is not None else "")


# The encodings the build writes, smallest first: file extension and encoding name.
ENCODINGS = {".br": b"br", ".gz": b"gzip"}


class File(NamedTuple):
    body: bytes
    media_type: str
    etag: bytes
    cache: bytes
    # The compressed content by encoding, smallest first.
    encoded: dict[bytes, bytes]

    def answer(self, accepted: bytes) -> tuple[bytes, HeaderList]:
        """The smallest body that this `Accept-Encoding` allows, with its headers."""
        encoding = next((name for name in self.encoded if _accepts(accepted, name)), None)
        headers: HeaderList = [(b"cache-control", self.cache), (b"vary", b"Accept-Encoding"), *HEADERS]
        if encoding is None:
            return self.body, [(b"etag", b'"%b"' % self.etag), *headers]
        # Different bytes need a different tag: a cache must not confuse them.
        etag = b'"%b-%b"' % (self.etag, encoding)
        return self.encoded[encoding], [(b"etag", etag), (b"content-encoding", encoding), *headers]


class Inspector:
    """The page's files, few and small: read once, on the first request."""

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
        ROOT + path.relative_to(folder).as_posix(): _file(
            path.name, path.read_bytes(), path, path.parent != folder
        )
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in ENCODINGS
    }
    index = found.get(f"{ROOT}index.html") or _file("index.html", NOT_BUILT, None, False)
    return {**found, ROOT: index}


def _file(name: str, body: bytes, path: Path | None, hashed_name: bool) -> File:
    """The build writes everything except the page itself under names that change with the content."""
    import mimetypes  # imported late: it reads the system's tables

    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    if media_type.startswith("text/"):
        media_type += "; charset=utf-8"
    etag = hashlib.sha256(body).hexdigest()[:32].encode()
    cache = b"public, max-age=31536000, immutable" if hashed_name else b"no-cache"
    beside = {encoding: path.with_name(name + end) for end, encoding in ENCODINGS.items()} if path else {}
    encoded = {encoding: file.read_bytes() for encoding, file in beside.items() if file.exists()}
    return File(body, media_type, etag, cache, encoded)


def _accepts(accepted: bytes, encoding: bytes) -> bool:
    """Whether an `Accept-Encoding` names the encoding, and not with a weight of zero (RFC 9110, 12.5.3)."""
    for part in accepted.lower().split(b","):
        name, *parameters = (word.strip() for word in part.split(b";"))
        if name == encoding:
            return not any(re.fullmatch(rb"q=0(\.0*)?", parameter) for parameter in parameters)
    return False
