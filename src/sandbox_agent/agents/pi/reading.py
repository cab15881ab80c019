"""Reads parts of Pi's frames: values of unknown shape, images, the catalogue."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from ...schema.features import Catalogue, Command, Model
from ...schema.inputs import Attachment
from ...schema.items import ContentPart
from ..base import Conversation
from ..files import bytes_in
from . import frames as pi
from .modes import MODES

T = TypeVar("T")

LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")


def id_in(session: str | None) -> str | None:
    """The id of a session that is named by its file, `<time>_<id>.jsonl`, or by the id itself."""
    if session is None or not session.endswith(".jsonl"):
        return session
    name = posixpath.basename(session).removesuffix(".jsonl")
    return name.partition("_")[2] or None


def payload_of(frame: bytes) -> dict[str, Any]:
    """A line unchanged, for the JSON part of a status item."""
    payload: dict[str, Any] = msgspec.json.decode(frame)
    return {name: value for name, value in payload.items() if name != "type"}


def or_empty(arguments: object) -> object:
    return {} if arguments is None else arguments


def read(raw: msgspec.Raw, kind: type[T]) -> T | None:
    """A part whose shape depends on the tool: None if it has another shape."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        return None


def image_of(conversation: Conversation, block: pi.Block) -> ContentPart | None:
    data = bytes_in(block.data) if block.type == "image" else None
    return conversation.scribe.image(data, block.mime_type or "image/png") if data else None


def attachments_of(conversation: Conversation, pictures: Iterable[pi.Block]) -> tuple[Attachment, ...]:
    """Images of a prompt that we did not write: stored like images that agents create."""
    stored = []
    for picture in pictures:
        if data := bytes_in(picture.data):
            image = conversation.scribe.image(data, picture.mime_type or "image/png")
            stored.append(Attachment(image.path, image.mime))
    return tuple(stored)


def catalogue_of(listed: pi.Models, callable: pi.Commands, state: pi.State | None) -> Catalogue:
    current = state.model if state else None
    models = []
    for model in listed.models:
        variants = _variants(model)
        is_current = current is not None and (current.provider, current.id) == (model.provider, model.id)
        default = state.thinking_level if state and is_current and variants else None
        models.append(Model(f"{model.provider}/{model.id}", model.name, variants or None, default))
    default = current.full_name if current else None
    commands = tuple(Command(command.name, command.description or "") for command in callable.commands)
    return Catalogue(tuple(models), MODES, default, commands)


def _variants(model: pi.NativeModel) -> tuple[str, ...]:
    """A model's thinking levels: it must declare the two highest, and null removes a level."""
    if not model.reasoning:
        return ()
    named = model.thinking_level_map or {}
    return tuple(
        level
        for level in LEVELS
        if named.get(level, "default") is not None and (level not in ("xhigh", "max") or level in named)
    )
