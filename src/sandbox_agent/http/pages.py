"""Pages outside the operations: the API description, its documentation page, and the token form for browsers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from .. import __version__

SIGN_IN = Path(__file__).with_name("sign_in")


class Page(NamedTuple):
    render: Callable[[], bytes]
    media_type: str
    public: bool = False
    """It holds nothing secret, so it needs no token."""


def pages() -> dict[str, Page]:
    return {
        "/openapi.json": Page(_openapi, "application/json"),
        "/docs": Page(_docs, "text/html; charset=utf-8"),
        "/docs/style.css": Page(_style, "text/css; charset=utf-8", public=True),
        "/docs/sign-in.js": Page(_sign_in_script, "text/javascript; charset=utf-8", public=True),
        # OpenCode's web page looks for a server at the root of its address before it uses the rest of it.
        "/global/health": Page(_opencode_health, "application/json", public=True),
        "/api/health": Page(_opencode_health, "application/json", public=True),
    }


@functools.cache
def sign_in_page() -> bytes:
    """Sent to a browser instead of a page that needs the token, because a browser cannot add a header to a page load."""
    return (SIGN_IN / "page.html").read_bytes()


@functools.cache
def _sign_in_script() -> bytes:
    return (SIGN_IN / "script.js").read_bytes()


def _opencode_health() -> bytes:
    return msgspec.json.encode({"healthy": True, "version": __version__})


def _openapi() -> bytes:
    from ..openapi import document

    return msgspec.json.encode(document())


def _docs() -> bytes:
    from ..openapi import page

    return page().encode()


def _style() -> bytes:
    from ..openapi import STYLE

    return STYLE.encode()
