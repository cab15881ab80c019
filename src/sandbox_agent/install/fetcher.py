"""Downloads texts and files over HTTP, with the machine's proxies and certificates, or reads them from a directory.

An address is a URL or an absolute path. Files are hashed while they are written to disk.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from .. import __version__
from .digest import Digest
from .problems import NotThere, SourceFailed, Stopped
from .progress import Progress, Tell

if TYPE_CHECKING:
    import ssl

    import httpx2

CONNECT_SECONDS = 15.0
SILENCE_SECONDS = 60.0
"""How long a download may pause. Its total time is not limited."""
TRIES = 3
CHUNK_BYTES = 1 << 20
TEXT_BYTES = 64 << 20

Decoded = TypeVar("Decoded")


class Fetcher:
    """`proxy` and `cafile` come from npm's settings; otherwise HTTPS_PROXY and SSL_CERT_FILE apply."""

    def __init__(
        self,
        stopped: threading.Event,
        *,
        proxy: str | None = None,
        cafile: str | None = None,
    ) -> None:
        self._stopped = stopped
        self._proxy = proxy
        self._cafile = cafile
        self._client: httpx2.Client | None = None

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def text(self, address: str, headers: Mapping[str, str] | None = None) -> str:
        pieces: list[bytes] = []
        for piece, _ in self._pieces(address, headers or {}):
            pieces.append(piece)
            if sum(map(len, pieces)) > TEXT_BYTES:
                raise SourceFailed(f"{address} is too long")
        return b"".join(pieces).decode(errors="replace")

    def json(self, address: str, type: type[Decoded], headers: Mapping[str, str] | None = None) -> Decoded:
        try:
            return msgspec.json.decode(self.text(address, headers), type=type)
        except msgspec.MsgspecError as error:
            raise SourceFailed(f"{address} has unexpected content: {error}") from None

    def download(
        self,
        address: str,
        to: Path,
        digest: Digest | None,
        tell: Tell,
        source: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Download the whole file, or raise and leave no file."""
        for left in reversed(range(TRIES)):
            try:
                self._download(address, to, digest, tell, source, headers or {})
                return
            except _Cut as cut:
                to.unlink(missing_ok=True)
                if not left:
                    raise SourceFailed(str(cut)) from None
            except BaseException:
                to.unlink(missing_ok=True)
                raise

    def _download(
        self,
        address: str,
        to: Path,
        digest: Digest | None,
        tell: Tell,
        source: str,
        headers: Mapping[str, str],
    ) -> None:
        hasher = digest.hasher() if digest else None
        name = address.rpartition("/")[2]
        done, size = 0, None
        tell(Progress("downloading", source, name))
        with to.open("wb") as file:
            for piece, total in self._pieces(address, headers):
                file.write(piece)
                if hasher is not None:
                    hasher.update(piece)
                done, size = done + len(piece), total
                tell(Progress("downloading", source, name, done, total))
        if size is not None and done != size:
            raise _Cut(f"{address} was cut off after {done} of {size} bytes")
        if digest is not None and hasher is not None and hasher.hexdigest() != digest.hex:
            found = f"{digest.algorithm}:{hasher.hexdigest()}"
            raise SourceFailed(f"{address} has the wrong checksum: {found}, expected {digest}")

    def _pieces(self, address: str, headers: Mapping[str, str]) -> Iterator[tuple[bytes, int | None]]:
        """The content in pieces, each with the total size if it is known."""
        reading = self._read_web if "://" in address else _read_file
        for piece in reading(address, headers):
            if self._stopped.is_set():
                raise Stopped
            yield piece

    def _read_web(self, address: str, headers: Mapping[str, str]) -> Iterator[tuple[bytes, int | None]]:
        import httpx2

        try:
            with self._http().stream("GET", address, headers=headers) as answer:
                _check(address, answer)
                length = answer.headers.get("content-length", "")
                total = int(length) if length.isdecimal() else None
                for piece in answer.iter_raw(CHUNK_BYTES):
                    yield piece, total
        except httpx2.TimeoutException as error:
            raise _Cut(f"{address} did not answer in time ({type(error).__name__})") from None
        except (httpx2.RemoteProtocolError, httpx2.ReadError) as error:
            raise _Cut(f"{address} was cut off: {error}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise SourceFailed(f"{address} cannot be reached: {error}") from None

    def _http(self) -> httpx2.Client:
        import httpx2

        if self._client is None:
            verify = _trust(self._cafile)
            try:
                self._client = httpx2.Client(
                    follow_redirects=True,
                    proxy=self._proxy,
                    verify=verify,
                    timeout=httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
                    # No content encoding, so that length and checksum are those of the file.
                    headers={"User-Agent": f"sandbox-agent/{__version__}", "Accept-Encoding": "identity"},
                )
            except (ValueError, ImportError) as error:
                # Without a scheme, or of a kind like SOCKS for which a package is missing.
                raise SourceFailed(f"the proxy settings cannot be used: {error}") from None
        return self._client


class _Cut(SourceFailed):
    """The connection broke or stalled: worth another attempt."""


def _check(address: str, answer: Any) -> None:
    urls = [step.url for step in (*answer.history, answer)]
    plain = next((url for url in urls if url.scheme != "https"), None)
    if address.startswith("https:") and plain is not None:
        raise SourceFailed(f"{address} redirects to {plain}, which is not encrypted")
    if answer.status_code in (403, 404, 410):
        # Buckets answer 403 for a file that does not exist.
        raise NotThere(f"{address} answered {answer.status_code}")
    if not answer.is_success:
        raise SourceFailed(f"{address} answered {answer.status_code}")


def _read_file(address: str, headers: Mapping[str, str]) -> Iterator[tuple[bytes, int | None]]:
    try:
        with contextlib.closing(open(address, "rb")) as file:
            total = Path(address).stat().st_size
            while piece := file.read(CHUNK_BYTES):
                yield piece, total
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise NotThere(f"{address} does not exist") from None
    except OSError as error:
        raise SourceFailed(f"{address} cannot be read: {error.strerror}") from None


@functools.cache
def _trust(cafile: str | None) -> ssl.SSLContext:
    """The machine's certificates (or those of SSL_CERT_FILE) and those of `cafile`. Cached, because loading is slow."""
    import ssl

    import httpx2

    if cafile is None:
        return httpx2.create_ssl_context()
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile)
    except OSError as error:
        raise SourceFailed(f"the cafile {cafile} in the npm settings cannot be used: {error}") from None
    return context
