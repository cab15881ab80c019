"""Access checks: the Host header against DNS rebinding, cross-site requests, CORS, and the token.

No decision depends on a URL that the client could craft; each operation states what its route requires.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import time
from collections.abc import Iterable

from ..config import Config
from ..errors import InvalidRequest, MisdirectedHost, PermissionDenied, RateLimited, TokenInvalid

Headers = dict[bytes, bytes]
HeaderList = list[tuple[bytes, bytes]]

WRONG_TOKENS_PER_MINUTE = 10
DECIDING = (b"host", b"origin", b"authorization", b"x-sandbox-token", b"sec-fetch-site", b"content-type")
_HOST = re.compile(
    r"(?:(?P<name>[A-Za-z0-9._-]+)|\[(?P<address>[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)\])(?::[0-9]{0,5})?", re.ASCII
)
DEFAULT_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
DEFAULT_HEADERS = (
    "acp-connection-id",
    "acp-session-id",
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "if-range",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "range",
    "x-opencode-directory",
    "x-sandbox-token",
)


class Gate:
    def __init__(self, config: Config, token: str | None) -> None:
        self._digest = _digest(token.encode()) if token is not None else None
        checks_host = token is None or is_loopback(config.host)
        self._host_names = _host_names(config) if checks_host else None
        self._any_address = config.host in ("", "0.0.0.0", "::")  # noqa: S104 - asked, not bound
        self._origins = frozenset(config.cors_allow_origin)
        self._cors = _cors_headers(config)
        self._preflight = _preflight_headers(config)
        self._wrong: dict[str, list[float]] = {}

    # -- Host and Origin ----------------------------------------------------------------------

    def check_host(self, headers: Headers) -> None:
        if self._host_names is None:
            return
        given = headers.get(b"host", b"").decode("latin-1")
        name = host_name(given)
        if name and (name in self._host_names or (self._any_address and _is_address(name))):
            return
        host = name or given
        raise MisdirectedHost(
            f"this daemon does not answer to the host `{host}`; start it with --allow-host {host} if it should",
            host=host,
        )

    def check_site(self, headers: Headers) -> HeaderList:
        """Refuse requests from other sites' pages. Returns the CORS headers for an allowed one."""
        origin = headers.get(b"origin")
        if origin is None:
            if headers.get(b"sec-fetch-site") == b"cross-site":
                raise PermissionDenied("a request from another site is refused")
            return []
        text = origin.decode("latin-1")
        if text in self._origins or "*" in self._origins:
            shown = b"*" if "*" in self._origins and not self._cors else origin
            return [(b"access-control-allow-origin", shown), (b"vary", b"Origin"), *self._cors]
        if text.partition("://")[2].encode("latin-1") == headers.get(b"host"):
            return []
        raise PermissionDenied(
            f"a request from {text} is refused; start the daemon with --cors-allow-origin {text} if it should be answered",
            origin=text,
        )

    def is_preflight(self, method: str, headers: Headers) -> bool:
        return method == "OPTIONS" and b"access-control-request-method" in headers and b"origin" in headers

    def preflight(self) -> HeaderList:
        return self._preflight

    # -- token --------------------------------------------------------------------------------

    def check_token(self, headers: Headers, query_token: str | None, client: str) -> None:
        if self._digest is None:
            return
        given = _token_of(headers) or (query_token or "").encode()
        if not given:
            raise TokenInvalid("send the token as `Authorization: Bearer …`")
        if hmac.compare_digest(_digest(given), self._digest):
            return
        if self._too_many(client):
            raise RateLimited("too many wrong tokens", retryAfter=60)
        raise TokenInvalid("the token is wrong")

    def _too_many(self, client: str) -> bool:
        """Wrong tokens are counted per address. A valid token is never delayed, and missing ones do not count."""
        now = time.monotonic()
        recent = [moment for moment in self._wrong.get(client, []) if now - moment < 60]
        recent.append(now)
        if len(self._wrong) > 10_000:
            self._wrong.clear()
        self._wrong[client] = recent[-WRONG_TOKENS_PER_MINUTE - 1 :]
        return len(recent) > WRONG_TOKENS_PER_MINUTE


def check_doubled(headers: HeaderList) -> None:
    """A header used for a decision may occur only once: a proxy may have checked the other one."""
    names = [name for name, _ in headers]
    for name in DECIDING:
        if names.count(name) > 1:
            raise InvalidRequest(f"the header `{name.decode()}` is given twice", field=name.decode())


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def _token_of(headers: Headers) -> bytes:
    """The token as sent, in bytes, so that non-ASCII tokens are compared unchanged."""
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer" and token.strip():
        return token.strip()
    return headers.get(b"x-sandbox-token", b"")


def _host_names(config: Config) -> frozenset[str]:
    names = {config.host.lower(), "localhost", *(name.lower() for name in config.allow_host)}
    if is_loopback(config.host):
        names |= {"127.0.0.1", "::1"}
    return frozenset(names)


def host_name(header: str) -> str:
    """The name or address in a `Host` header; empty unless it is `name`, `address` or `[address]`, with an optional port.

    Strict, because programs disagree about anything else: some read `127.0.0.1:2@evil.com` as evil.com.
    """
    found = _HOST.fullmatch(header)
    if found is None:
        return ""
    name = found["name"] or found["address"]
    if found["address"] and not _is_address(name):
        return ""
    return name.lower()


def is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _cors_headers(config: Config) -> HeaderList:
    return [(b"access-control-allow-credentials", b"true")] if config.cors_allow_credentials else []


def _preflight_headers(config: Config) -> HeaderList:
    return [
        (b"access-control-allow-methods", _joined(config.cors_allow_method or DEFAULT_METHODS)),
        (b"access-control-allow-headers", _joined(config.cors_allow_header or DEFAULT_HEADERS)),
        (b"access-control-max-age", b"600"),
    ]


def _joined(names: Iterable[str]) -> bytes:
    return ", ".join(names).encode("latin-1")
