"""What we write to `claude`, and how to read what a recorded client wrote."""

from __future__ import annotations

import base64
import re
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ...schema.inputs import Attachment, Decision, PermissionMode, Prompt, Settings
from ..base import Files
from ..files import bytes_in, mime_of
from ..scribe import Scribe
from .frames import ImageBlock, Reply, TextBlock, blocks

REJECTED = "The user rejected this."

NATIVE_MODES: dict[PermissionMode, str] = {
    "default": "default",
    "acceptEdits": "default",  # we decide which edits are harmless
    "plan": "plan",
    "bypass": "bypassPermissions",
}


def native_mode(settings: Settings) -> str:
    """Claude plans in its permission mode `plan`, in which it asks before it writes. Our own policy answers."""
    return "plan" if settings.agent_mode == "plan" else NATIVE_MODES[settings.permission_mode]


FLAG_SETTINGS: dict[str, Any] = {"useAutoModeDuringPlan": False}
"""Settings of every process: otherwise a classifier approves commands while Claude plans, and no request
reaches us.
"""


# -- lines we write ---------------------------------------------------------------------------


class Command(Struct, frozen=True, tag_field="type"):
    pass


class UserMessage(Struct, frozen=True):
    content: Any  # a string, or content blocks in the API's own shape
    role: str = "user"


class UserLine(Command, frozen=True, tag="user", omit_defaults=True):
    message: UserMessage
    uuid: str | None = None
    client_composed: bool = False
    """Deliver the text verbatim: no slash commands, no `@path`."""


class ControlRequestLine(Command, frozen=True, tag="control_request"):
    request_id: str
    request: dict[str, Any]  # `subtype` and its fields


class ControlResponseLine(Command, frozen=True, tag="control_response"):
    response: Reply


class SentUser(Struct, frozen=True, tag="user", tag_field="type"):
    message: SentMessage
    uuid: str | None = None


class SentMessage(Struct, frozen=True):
    content: str | list[Raw] = ""


class SentRequest(Struct, frozen=True, tag="control_request", tag_field="type"):
    request_id: str
    request: SentRequestBody


class SentRequestBody(Struct, frozen=True):
    subtype: str = ""


class SentResponse(Struct, frozen=True, tag="control_response", tag_field="type"):
    response: Reply


AnySent = SentUser | SentRequest | SentResponse
sent_lines = msgspec.json.Decoder(AnySent)


# -- prompts ----------------------------------------------------------------------------------


def content_of(prompt: Prompt, files: Files) -> str | list[dict[str, Any]]:
    """The prompt, then each attachment: named in a line of its own, and embedded if it is an image."""
    if not prompt.attachments:
        return prompt.text
    content: list[dict[str, Any]] = [_text_block(prompt.text)] if prompt.text else []
    for file in prompt.attachments:
        content.append(_text_block(_mention(file)))
        if (data := files.get(file.path)) is not None:
            source = {"type": "base64", "media_type": mime_of(file), "data": base64.b64encode(data).decode()}
            content.append({"type": "image", "source": source})
    return content


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _mention(file: Attachment) -> str:
    name = f'"{file.filename}" at ' if file.filename else ""
    mime = f" ({file.mime})" if file.mime else ""
    return f"Attached file: {name}{file.path}{mime}"


_mentioned = re.compile(
    r'Attached file: (?:"(?P<name>.*)" at )?(?P<path>/.*?)(?: \((?P<mime>[^\s()]+/[^\s()]+)\))?'
)


def prompt_in(content: str | list[Raw], scribe: Scribe) -> Prompt:
    """The inverse of `content_of`. An image that no line names is stored with the session."""
    if isinstance(content, str):
        return Prompt(content)
    texts: list[str] = []
    files: list[Attachment] = []
    named = False
    for raw in content:
        match blocks.decode(raw):
            case TextBlock(text) if match := _mentioned.fullmatch(text):
                files.append(Attachment(match["path"], match["mime"], match["name"]))
                named = True
                continue
            case TextBlock(text):
                texts.append(text)
            case ImageBlock(source) if not named and (data := bytes_in(source.data)) is not None:
                image = scribe.image(data, source.media_type)
                files.append(Attachment(image.path, source.media_type))
        named = False
    return Prompt("\n".join(texts), tuple(files))


# -- permissions ------------------------------------------------------------------------------


class Permission(Struct, frozen=True, omit_defaults=True):
    """The answer to `can_use_tool`.

    "Always" is sent as a single permission, because the daemon remembers it: `updatedPermissions` could write
    to the user's settings files. Only the classification records which of the two it was.
    """

    behavior: Literal["allow", "deny"] | None = None
    updatedInput: Any = None  # the tool's own input, unchanged or modified
    message: str | None = None
    updatedPermissions: list[dict[str, Any]] | None = None
    decisionClassification: str | None = None


def permission_of(decision: Decision, input: Raw) -> Permission:
    match decision.reply:
        case "once":
            return Permission("allow", input, decisionClassification="user_temporary")
        case "always":
            return Permission("allow", input, decisionClassification="user_permanent")
        case "reject":
            return denial(decision.message)


def denial(message: str | None) -> Permission:
    return Permission("deny", message=message or REJECTED, decisionClassification="user_reject")


def decision_in(permission: Permission) -> Decision:
    """The inverse of `permission_of`; like Claude, treats anything other than allow as a denial."""
    if permission.behavior != "allow":
        return Decision("reject", message_in(permission))
    always = permission.updatedPermissions or permission.decisionClassification == "user_permanent"
    return Decision("always" if always else "once")


def message_in(permission: Permission) -> str | None:
    return None if permission.message == REJECTED else permission.message
