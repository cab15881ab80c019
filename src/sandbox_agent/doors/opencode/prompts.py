"""Prompts: choose agent, model and mode as the client names them, send the message, and wait for the end of its turn."""

from __future__ import annotations

import asyncio
import base64
import re
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from msgspec import Struct

from ...errors import InvalidRequest
from ...schema.events import decode_event
from ...schema.sessions import SessionInfo
from ..inlet import Inlet
from .choosing import Choice, ChosenModel, choose, create_session
from .door import Door
from .ids import owner_of
from .request import Empty, Request, route
from .sessions import facts_of, owner
from .shapes import MessageWithParts
from .transcript import Transcript

LONGEST_ID = 4096
_MESSAGE_ID = re.compile(r"msg_[A-Za-z0-9]{1,100}")
_PART_ID = re.compile(r"prt_[A-Za-z0-9]{1,100}")


class PromptPart(Struct, frozen=True):
    type: str
    id: str | None = None
    text: str = ""
    url: str = ""
    mime: str = ""
    filename: str | None = None
    synthetic: bool = False


class Prompt(Struct, frozen=True, rename={"message_id": "messageID"}):
    parts: tuple[PromptPart, ...]
    message_id: str | None = None
    agent: str | None = None
    model: ChosenModel | None = None
    variant: str | None = None


class Command(Struct, frozen=True, rename={"message_id": "messageID"}):
    command: str
    arguments: str = ""
    message_id: str | None = None
    agent: str | None = None
    model: str | None = None
    """`provider/model`, unlike in a prompt."""
    variant: str | None = None
    parts: tuple[PromptPart, ...] = ()

    @property
    def choice(self) -> Choice:
        provider, _, model = (self.model or "").partition("/")
        chosen = ChosenModel(provider, model) if provider else None
        return Choice(chosen, self.variant, self.agent)


class Message(Struct, frozen=True):
    """A message as the operation takes it."""

    session_id: str
    text: str
    attachments: tuple[dict[str, str], ...]
    client_id: str | None
    is_command: bool = False

    def fields(self) -> dict[str, object]:
        given = self.client_id.split(",")[0] if self.client_id else None
        return {
            "message": self.text,
            "attachments": self.attachments,
            "client_id": self.client_id,
            # A client that repeats its id repeats its message.
            "idempotency_key": f"opencode:{given}" if given else None,
            "command": self.is_command or None,
        }


@route("POST", "/session/{id}/message")
async def prompt(door: Door, request: Request) -> MessageWithParts | Empty:
    """Answered when the turn ends. The turn continues if the client closes its connection."""
    message = await _prepared(door, request)
    return await _sent(door, request, message)


@route("POST", "/session/{id}/prompt_async")
async def prompt_async(door: Door, request: Request) -> Empty:
    message = await _prepared(door, request)
    await door.operations.send(message.session_id, **message.fields())
    return Empty()


@route("POST", "/session/{id}/command", hides_errors=True)
async def command(door: Door, request: Request) -> MessageWithParts | Empty:
    given = request.decode(Command)
    info = await _own_session(door, request)
    client_id, files = _checked(given.message_id), _files(given.parts)
    await choose(door, info, given.choice)
    attachments = await _attachments(door, info.session_id, files)
    text = f"/{given.command} {given.arguments}".rstrip()
    return await _sent(door, request, Message(info.session_id, text, attachments, client_id, True))


@route("POST", "/session/{id}/summarize", hides_errors=True)
async def summarize(door: Door, request: Request) -> bool:
    info = await _own_session(door, request)
    await _sent(door, request, Message(info.session_id, "/compact", (), None, True))
    return True


async def _own_session(door: Door, request: Request) -> SessionInfo:
    id = request.path["id"]
    info = await owner(door.operations, id)
    if info is None:
        raise InvalidRequest("send a message first: this session has no agent yet")
    if owner_of(id) != id:
        raise InvalidRequest("a sub-agent takes no messages: write to its parent")
    return info


# -- sending ----------------------------------------------------------------------------------


async def _sent(door: Door, request: Request, message: Message) -> MessageWithParts | Empty:
    info = await door.operations.session(message.session_id)
    transcript = Transcript(facts_of(info, door.catalogue), max_messages=2)
    async with door.operations.send_and_follow(message.session_id, **message.fields()) as inlet:
        turn = asyncio.ensure_future(_follow(inlet, transcript))
        gone = asyncio.ensure_future(request.gone())
        try:
            await asyncio.wait({turn, gone}, return_when=asyncio.FIRST_COMPLETED)
            if turn.done():
                turn.result()
        finally:
            turn.cancel()
            gone.cancel()
            await asyncio.gather(turn, gone, return_exceptions=True)
    messages = transcript.messages(message.session_id)
    return messages[-1] if messages else Empty()


async def _follow(inlet: Inlet, transcript: Transcript) -> None:
    while (frames := await inlet.take()) is not None:
        for frame in frames:
            if not frame.name:
                transcript.take(decode_event(frame.data))


async def _prepared(door: Door, request: Request) -> Message:
    given, id = request.decode(Prompt), request.path["id"]
    client_id = _client_id(given)
    text, files = _text(given), _files(given.parts)
    if not text.strip() and not files:
        raise InvalidRequest("the message is empty", field="parts")
    if owner_of(id) != id:
        raise InvalidRequest("a sub-agent takes no messages: write to its parent")
    info = await owner(door.operations, id)
    if info is None:
        info = await create_session(
            door, id, request.directory, Choice(given.model, given.variant, given.agent)
        )
    else:
        await choose(door, info, Choice(given.model, given.variant, given.agent))
    return Message(id, text, await _attachments(door, id, files), client_id)


def _text(given: Prompt) -> str:
    """What the user wrote. A client adds the text of files by itself; the agent reads them instead."""
    return "\n\n".join(part.text for part in given.parts if part.type == "text" and not part.synthetic)


def _checked(message_id: str | None) -> str | None:
    if message_id is not None and not _MESSAGE_ID.fullmatch(message_id):
        raise InvalidRequest(
            "`messageID` is not the id of a message: `msg_` and letters or digits", field="messageID"
        )
    return message_id


def _client_id(given: Prompt) -> str | None:
    """The ids that the client has given the message and its parts, in the order of the item's content."""
    message_id = _checked(given.message_id)
    if message_id is None:
        return None
    ordered = sorted(given.parts, key=lambda part: part.type != "text")
    ids = [part.id or "" for part in ordered if part.type in ("text", "file")]
    joined = ",".join([message_id, *ids])
    are_usable = all(map(_PART_ID.fullmatch, ids)) and len(joined) <= LONGEST_ID
    return joined if are_usable else message_id


class Inline(Struct, frozen=True):
    """A file whose content is in the prompt."""

    content: bytes
    mime: str
    name: str | None


def _files(parts: tuple[PromptPart, ...]) -> list[Inline | dict[str, str]]:
    return [_file(part) for part in parts if part.type == "file"]


def _file(part: PromptPart) -> Inline | dict[str, str]:
    """A file of a prompt: its content, or the attachment that names it."""
    try:
        address = urlsplit(part.url)
    except ValueError:
        raise InvalidRequest("the URL of a file is not valid", field="parts") from None
    if address.scheme == "file":
        # What follows `?` is a range of lines, which the text of the prompt also names.
        return {"path": unquote(address.path), **({"filename": part.filename} if part.filename else {})}
    if address.scheme != "data":
        raise InvalidRequest("a file needs a `file:` or `data:` URL", field="parts")
    head, _, data = part.url.removeprefix("data:").partition(",")
    try:
        is_base64 = head.endswith(";base64")
        content = base64.b64decode(data, validate=True) if is_base64 else unquote_to_bytes(data)
    except ValueError:
        raise InvalidRequest("the `data:` URL of a file is not valid base64", field="parts") from None
    mime = part.mime or head.partition(";")[0] or "application/octet-stream"
    return Inline(content, mime, part.filename)


async def _attachments(
    door: Door, session_id: str, files: list[Inline | dict[str, str]]
) -> tuple[dict[str, str], ...]:
    return tuple([await _attachment(door, session_id, file) for file in files])


async def _attachment(door: Door, session_id: str, file: Inline | dict[str, str]) -> dict[str, str]:
    if isinstance(file, dict):
        return file
    stored = await door.operations.upload(session_id, file.content, file.name, file.mime)
    return {"path": stored.path, "mime": file.mime, **({"filename": file.name} if file.name else {})}
