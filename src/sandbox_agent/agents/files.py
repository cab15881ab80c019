"""Files in prompts and results, sent inline."""

from __future__ import annotations

import base64
import mimetypes

from ..schema.inputs import Attachment, Prompt

SEEN_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Image types that models accept."""


def mime_of(file: Attachment) -> str | None:
    return file.mime or mimetypes.guess_type(file.path)[0]


def images_in(prompt: Prompt) -> tuple[str, ...]:
    """The paths of the images in a prompt."""
    return tuple(file.path for file in prompt.attachments if mime_of(file) in SEEN_IMAGES)


def bytes_in(data: str) -> bytes | None:
    """Decodes base64; None if it is missing or invalid."""
    try:
        return base64.b64decode(data, validate=True) or None
    except ValueError:
        return None
