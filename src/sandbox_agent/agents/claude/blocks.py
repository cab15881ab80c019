"""Content blocks of messages, each with its source."""

from __future__ import annotations

from msgspec import Raw

from .frames import AnyBlock, TextBlock, blocks


def decoded(content: str | list[Raw]) -> list[tuple[AnyBlock | None, Raw]]:
    """Plain text is one block."""
    if isinstance(content, str):
        return [(TextBlock(content), Raw(b"null"))]
    return [(blocks.decode(raw), raw) for raw in content]


def text_of(content: list[tuple[AnyBlock | None, Raw]]) -> str:
    return "\n".join(block.text for block, _ in content if isinstance(block, TextBlock))
