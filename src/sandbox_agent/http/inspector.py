"""The inspector: a page that was built into `ui/`, served as it lies there, compressed where the browser
takes that. Its files hold no secret and need no token.
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

# The page may call any daemon that a person names, and shows images that it fetched with the token; it runs and looks
# only with what stands in its own files.
POLICY = (
    b"default-src 'self'; connect-src 'self' http: https: ws: wss:; img-src 'self' blob:; object-src 'none'; "
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


# What the build compresses files with, smallest first: the end of the file's name, and the name that browsers know.
ENCODINGS = {".br": b"br", ".gz": b"gzip"}


class File(NamedTuple):
    body: bytes
    media_type: str
    etag: bytes
    cache: bytes
    # The same content compressed, by encoding, smallest first.
    encoded: dict[bytes, bytes]

    def answer(self, accepted: bytes) -> tuple[bytes, HeaderList]:
        """The smallest body that a request with this `Accept-Encoding` may get, and the headers that go with it."""
        encoding = next((name for name in self.encoded if _accepts(accepted, name)), None)
        headers: HeaderList = [(b"cache-control", self.cache), (b"vary", b"Accept-Encoding"), *HEADERS]
        if encoding is None:
            return self.body, [(b"etag", b'"%b"' % self.etag), *headers]
        # Other bytes, another tag: a cache must not take one for the other.
        etag = b'"%b-%b"' % (self.etag, encoding)
        return self.encoded[encoding], [(b"etag", etag), (b"content-encoding", encoding), *headers]


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
        ROOT + path.relative_to(folder).as_posix(): _file(
            path.name, path.read_bytes(), path, path.parent != folder
        )
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in ENCODINGS
    }
    index = found.get(f"{ROOT}index.html") or _file("index.html", NOT_BUILT, None, False)
    return {**found, ROOT: index}


def _file(name: str, body: bytes, path: Path | None, hashed_name: bool) -> File:
    """The build writes everything but the page itself into a folder, under names that change with the content."""
    import mimetypes  # reads the system's tables: not at the start of every daemon

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
