"""The choices of a session as the protocol has them: modes, and options with values."""

from __future__ import annotations

from typing import get_args

from ...errors import InvalidRequest
from ...schema.inputs import PermissionMode
from ...schema.options import MODE, MODEL, PERMISSIONS, VARIANT, Choices, Chosen, ConfigOption
from ...schema.options import options_of as options_for
from ...schema.sessions import SessionInfo
from .frames import Mode, Modes, Opened
from .operations import Changes


def opened(session: SessionInfo, choices: Choices) -> Opened:
    return Opened(modes=modes_of(session, choices), config_options=options_of(session, choices))


def modes_of(session: SessionInfo, choices: Choices) -> Modes:
    """The agent's modes, for clients that do not know options."""
    mode = options_of(session, choices)[0]
    available = (Mode(id=each.value, name=each.name, description=each.description) for each in mode.options)
    return Modes(current_mode_id=mode.current_value, available_modes=tuple(available))


def options_of(session: SessionInfo, choices: Choices) -> tuple[ConfigOption, ...]:
    chosen = Chosen(session.agent_mode, session.model, session.variant, session.permission_mode)
    return options_for(chosen, choices)


def change_of(option: str, value: str) -> Changes:
    if option == MODE:
        return Changes(agent_mode=value)
    if option == MODEL:
        return Changes(model=value)
    if option == VARIANT:
        return Changes(variant=value)
    if option == PERMISSIONS:
        return Changes(permission_mode=_permission_mode(value, "value"))
    raise InvalidRequest(f"there is no option `{option}`", field="configId")


def change_of_mode(mode: str, choices: Choices) -> Changes:
    """A mode of the agent; otherwise a permission mode, which other agents list among their modes."""
    is_permission_mode = mode in get_args(PermissionMode)
    if any(each.id == mode for each in choices.modes) or not is_permission_mode:
        return Changes(agent_mode=mode)
    return Changes(permission_mode=_permission_mode(mode, "modeId"))


def _permission_mode(value: str, field: str) -> PermissionMode:
    known: PermissionMode
    for known in get_args(PermissionMode):
        if known == value:
            return known
    raise InvalidRequest(f"`{value}` is not a permission mode", field=field)
