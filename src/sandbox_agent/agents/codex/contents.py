"""Results of tools: text, and images that are stored with the session."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from ...schema.items import ContentPart, FileRef, Image, arguments_of
from ..scribe import Scribe
from .frames import ImageGeneration, McpToolCall


def mcp_output(scribe: Scribe, item: McpToolCall) -> tuple[str, list[Image]]:
    if item.error is not None:
        return item.error.message, []
    if item.result is None:
        return "", []
    output, images = content_of(scribe, item.result.content)
    if not output and item.result.structured_content is not None:
        output = arguments_of(item.result.structured_content)
    return output, images


def content_of(scribe: Scribe, parts: tuple[Any, ...]) -> tuple[str, list[Image]]:
    """Text and images of a tool's result, in the forms of MCP, the model API and codex itself."""
    texts: list[str] = []
    images: list[Image] = []
    for part in parts:
        match part:
            case str(text) | {"text": str(text)}:
                texts.append(text)
            case {"type": "image", "data": str(data), "mimeType": str(mime)}:
                images += _image(scribe, data, mime)
            case {"imageUrl": str(url)} | {"image_url": str(url)}:
                images += image_of_data_url(scribe, url) or [Image(url)]
            case None:
                pass
            case _:
                texts.append(arguments_of(part))
    return "\n".join(texts), images


def made_image(scribe: Scribe, item: ImageGeneration) -> list[ContentPart]:
    made: list[ContentPart] = [*_image(scribe, item.result, "image/png")] if item.result else []
    if item.saved_path:
        made.append(FileRef(item.saved_path, "write"))
    return made


def _image(scribe: Scribe, data: str, mime: str) -> list[Image]:
    return image_of_data_url(scribe, f"data:{mime};base64,{data}")


def image_of_data_url(scribe: Scribe, url: str) -> list[Image]:
    """Stores an inline image; empty if the data is not one."""
    match = re.fullmatch(r"data:([\w.+/-]+);base64,(.*)", url, re.DOTALL)
    if not match:
        return []
    try:
        return [scribe.image(base64.b64decode(match[2]), match[1])]
    except (binascii.Error, ValueError):
        return []
