"""The prompt of a request: messages become one text, and their images and files attachments.

An agent keeps its own conversation. One that happened elsewhere can only be sent to it as text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ...errors import InvalidRequest
from .requests import ImageUrl, InputMessage, Part

SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Tool", "function": "Tool"}
INSTRUCTING = ("system", "developer")
MAX_FILES = 100


class AttachedFile(Struct, frozen=True):
    content: bytes
    filename: str
    mime: str


class Prompt(Struct, frozen=True):
    text: str
    files: tuple[AttachedFile, ...]


class Message(Struct, frozen=True):
    role: str
    text: str
    files: tuple[AttachedFile, ...]


def read_prompt(
    messages: Sequence[InputMessage], field: str, *, instructions: str | None, only_new: bool
) -> Prompt:
    """`only_new` leaves out what the agent already knows: everything up to the last message of the assistant, and instructions."""
    parsed = [
        _read_message(message, f"{field}[{index}]")
        for index, message in enumerate(messages)
        if message.type != "reasoning"
    ]
    instructed = [instructions or "", *(each.text for each in parsed if each.role in INSTRUCTING)]
    spoken = [each for each in parsed if each.role not in INSTRUCTING and (each.text.strip() or each.files)]
    last = max((index for index, each in enumerate(spoken) if each.role == "assistant"), default=-1)
    before, new = spoken[: last + 1], spoken[last + 1 :]
    if not new:
        raise InvalidRequest("the last message must come from the user and must not be empty", field=field)
    context = [] if only_new else [*instructed, _history(before)]
    texts = [*context, *(each.text for each in new)]
    files = tuple(file for each in (new if only_new else spoken) for file in each.files)
    if len(files) > MAX_FILES:
        raise InvalidRequest(f"a prompt may have at most {MAX_FILES} images and files", field=field)
    return Prompt("\n\n".join(text for text in texts if text.strip()), files)


def _history(before: Sequence[Message]) -> str:
    if not before:
        return ""
    lines = [f"{SPEAKERS[each.role]}: {each.text}" for each in before if each.text.strip()]
    return "\n\n".join(["The conversation so far:", *lines, "The new message:"])


def _read_message(message: InputMessage, place: str) -> Message:
    if message.type != "message":
        raise InvalidRequest(
            f"`{place}`: items of the type `{message.type[:100]}` are not supported", field=place
        )
    if message.role not in SPEAKERS and message.role not in INSTRUCTING:
        raise InvalidRequest(f"`{place}`: there is no role `{message.role[:100]}`", field=place)
    if message.content is None or isinstance(message.content, str):
        return Message(message.role, message.content or "", ())
    texts = [part.text or part.refusal for part in message.content if part.type in TEXTS]
    return Message(message.role, "\n\n".join(texts), tuple(_files(message.content, place)))


TEXTS = ("text", "input_text", "output_text", "refusal")


def _files(parts: Sequence[Part], place: str) -> Iterator[AttachedFile]:
    for part in parts:
        match part:
            case Part(type="image_url" | "input_image", image_url=ImageUrl(url)):
                yield _attached(url, None, place)
            case Part(type="image_url" | "input_image", image_url=str(url)):
                yield _attached(url, None, place)
            case Part(type="file", file=file) if file is not None and file.file_data is not None:
                yield _attached(file.file_data, file.filename, place)
            case Part(type="input_file", file_data=str(data)):
                yield _attached(data, part.filename, place)
            case Part(type=type) if type not in TEXTS:
                raise InvalidRequest(
                    f"`{place}`: a part of the type `{type[:100]}` must have its content as text or as a `data:` URL",
                    field=place,
                )


def _attached(url: str, filename: str | None, place: str) -> AttachedFile:
    """The content of a `data:` URL. Other addresses are not fetched: a client could reach what only this machine may."""
    head, comma, data = url.partition(",")
    if not head.startswith("data:") or not head.endswith(";base64") or not comma:
        raise InvalidRequest(f"`{place}`: send images and files as `data:` URLs with base64", field=place)
    mime = head.removeprefix("data:").partition(";")[0] or "application/octet-stream"
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidRequest(f"`{place}`: the data is not base64", field=place) from None
    if not content:
        raise InvalidRequest(f"`{place}`: the file is empty", field=place)
    kind = mime.partition("/")[2].partition("+")[0]
    return AttachedFile(content, filename or f"file.{kind}", mime)
