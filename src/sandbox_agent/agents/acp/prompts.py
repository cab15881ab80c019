"""Converts prompts to content blocks, and the prompts of recorded clients back."""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

from ...schema.inputs import Attachment, Prompt
from ...schema.skills import SessionSkills
from ..base import Files
from ..files import bytes_in, mime_of
from ..scribe import Scribe
from .frames import Content

NOT_A_COMMAND = "\u2060"
"""A word joiner, which is invisible. Some agents remove a leading space before they look for the slash."""


def blocks_of(prompt: Prompt, files: Files) -> list[dict[str, Any]]:
    """The text, then each attachment: an image that was read is embedded, any other file is a link.

    Agents treat a prompt that begins with a slash as a command, so other prompts that do get a leading
    `NOT_A_COMMAND`.
    """
    plain = prompt.text.startswith("/") and not prompt.command
    text = f"{NOT_A_COMMAND}{prompt.text}" if plain else prompt.text
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for file in prompt.attachments:
        mime = mime_of(file)
        if (data := files.get(file.path)) is not None:
            shown = {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": mime}
            blocks.append({**shown, "uri": _uri(file.path)})
        else:
            name = file.filename or posixpath.basename(file.path)
            link = {"type": "resource_link", "uri": _uri(file.path), "name": name}
            blocks.append({**link, "mimeType": mime} if mime else link)
    return blocks


def skills_block(skills: SessionSkills) -> dict[str, Any]:
    """The protocol has no skills, so the first prompt says where they are."""
    lines = [
        f"- {skill.name}: {skill.description} ({skills.folder}/{skill.name}/SKILL.md)"
        for skill in skills.skills
    ]
    head = "You have skills. Before you work on something that one of them describes, read its file."
    return {"type": "text", "text": "\n".join(["<skills>", head, *lines, "</skills>"])}


def prompt_in(blocks: Iterable[Content], scribe: Scribe) -> Prompt:
    """The inverse of `blocks_of`. An image without a path is stored with the session."""
    texts: list[str] = []
    files: list[Attachment] = []
    for block in blocks:
        match block.type:
            case "text":
                texts.append(block.text)
            case "image" if not _path(block.uri) and (data := bytes_in(block.data)) is not None:
                image = scribe.image(data, block.mime_type or "")
                files.append(Attachment(image.path, block.mime_type))
            case "image" | "resource_link" if block.uri:
                path = _path(block.uri) or block.uri
                named = block.name if block.name != posixpath.basename(path) else None
                files.append(Attachment(path, block.mime_type, named))
            case "resource" if block.resource:
                uri = block.resource.uri
                files.append(Attachment(_path(uri) or uri, block.resource.mime_type))
    return Prompt("\n".join(texts), tuple(files))


def _uri(path: str) -> str:
    return f"file://{quote(path)}"


def _path(uri: str | None) -> str | None:
    return unquote(uri.removeprefix("file://")) if uri and uri.startswith("file://") else None
