"""Pages that are no operation: the API description and a page to read it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


def pages() -> dict[str, Callable[[], tuple[bytes, str]]]:
    return {"/openapi.json": _openapi, "/docs": _docs, "/docs/style.css": _style}


def _openapi() -> tuple[bytes, str]:
    from ..openapi import document

    return msgspec.json.encode(document()), "application/json"


def _docs() -> tuple[bytes, str]:
    from ..openapi import page

    return page().encode(), "text/html; charset=utf-8"


def _style() -> tuple[bytes, str]:
    from ..openapi import STYLE

    return STYLE.encode(), "text/css; charset=utf-8"
