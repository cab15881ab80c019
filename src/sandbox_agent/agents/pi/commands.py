"""The lines that `pi --mode rpc` reads, which we or a recorded client wrote. One struct per type."""

from __future__ import annotations

import msgspec

from .frames import Native


class Picture(Native, frozen=True):
    data: str
    mime_type: str = "image/png"
    type: str = "image"


class Command(Native, frozen=True, tag_field="type", omit_defaults=True):
    """A line that Pi reads."""


class PromptCommand(Command, frozen=True, tag="prompt"):
    message: str
    id: str | int | None = None
    images: tuple[Picture, ...] = ()
    streaming_behavior: str | None = None


class Steer(Command, frozen=True, tag="steer"):
    message: str
    id: str | int | None = None
    images: tuple[Picture, ...] = ()


class FollowUp(Command, frozen=True, tag="follow_up"):
    message: str
    id: str | int | None = None
    images: tuple[Picture, ...] = ()


class Abort(Command, frozen=True, tag="abort"):
    id: str | int | None = None


class ClearQueue(Command, frozen=True, tag="clear_queue"):
    id: str | int | None = None


class GetState(Command, frozen=True, tag="get_state"):
    id: str | int | None = None


class NewSession(Command, frozen=True, tag="new_session"):
    id: str | int | None = None


class SwitchSession(Command, frozen=True, tag="switch_session"):
    session_path: str
    id: str | int | None = None


class GetModels(Command, frozen=True, tag="get_available_models"):
    id: str | int | None = None


class GetCommands(Command, frozen=True, tag="get_commands"):
    id: str | int | None = None


class Compact(Command, frozen=True, tag="compact"):
    id: str | int | None = None
    custom_instructions: str | None = None


class SetModel(Command, frozen=True, tag="set_model"):
    provider: str
    model_id: str
    id: str | int | None = None


class SetThinkingLevel(Command, frozen=True, tag="set_thinking_level"):
    level: str
    id: str | int | None = None


class DialogReply(Command, frozen=True, tag="extension_ui_response"):
    id: str
    value: str | None = None
    confirmed: bool | None = None
    cancelled: bool = False


AnyCommand = (
    PromptCommand
    | Steer
    | FollowUp
    | Abort
    | ClearQueue
    | GetState
    | NewSession
    | SwitchSession
    | GetModels
    | SetModel
    | SetThinkingLevel
    | DialogReply
)

_commands = msgspec.json.Decoder(AnyCommand)


def decode_command(line: bytes) -> AnyCommand | None:
    """The command on this line; None for a query, which changes nothing."""
    try:
        command: AnyCommand = _commands.decode(line)
    except msgspec.DecodeError:
        return None
    return command
