"""What a client may choose in a session: the agent's mode, the model, its variant, and when the agent asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import get_args

from ...errors import InvalidRequest
from ...schema.features import Model
from ...schema.inputs import PermissionMode
from ...schema.sessions import SessionInfo
from .frames import ConfigOption, Mode, Modes, Opened, OptionValue
from .operations import Catalogue, Changes

MODE, MODEL, VARIANT, PERMISSIONS = "mode", "model", "variant", "permission_mode"

PERMISSION_MODES: dict[PermissionMode, tuple[str, str]] = {
    "default": ("Ask", "The agent asks before it writes or runs anything."),
    "acceptEdits": ("Accept edits", "Plain edits inside the directory are not asked."),
    "plan": ("Read-only", "The agent may read, and change nothing."),
    "bypass": ("Bypass", "Nothing is asked."),
}


def opened(session: SessionInfo, catalogue: Catalogue) -> Opened:
    return Opened(modes=modes_of(session, catalogue), config_options=options_of(session, catalogue))


def modes_of(session: SessionInfo, catalogue: Catalogue) -> Modes:
    modes = tuple(
        Mode(id=mode.id, name=mode.name, description=mode.description or None) for mode in catalogue.modes
    )
    if all(mode.id != session.agent_mode for mode in modes):
        modes += (Mode(id=session.agent_mode, name=session.agent_mode),)
    return Modes(current_mode_id=session.agent_mode, available_modes=modes)


def options_of(session: SessionInfo, catalogue: Catalogue) -> tuple[ConfigOption, ...]:
    return tuple(_options(session, catalogue))


def _options(session: SessionInfo, catalogue: Catalogue) -> Iterator[ConfigOption]:
    modes = modes_of(session, catalogue).available_modes
    yield ConfigOption(
        id=MODE,
        name="Mode",
        category="mode",
        current_value=session.agent_mode,
        options=tuple(
            OptionValue(value=mode.id, name=mode.name, description=mode.description) for mode in modes
        ),
    )
    model = session.model or catalogue.default_model
    if model is not None:
        yield _select(MODEL, "Model", "model", model, _models(catalogue.models))
    used = next((each for each in catalogue.models if each.id == model), None)
    if used is not None and used.variants:
        variant = session.variant or used.default_variant or used.variants[0]
        values = (OptionValue(value=each, name=each) for each in used.variants)
        yield _select(VARIANT, "Effort", "thought_level", variant, values)
    yield ConfigOption(
        id=PERMISSIONS,
        name="Permissions",
        category="_permission_mode",
        current_value=session.permission_mode,
        options=tuple(
            OptionValue(value=id, name=name, description=text)
            for id, (name, text) in PERMISSION_MODES.items()
        ),
    )


def _models(models: Iterable[Model]) -> Iterator[OptionValue]:
    for model in models:
        yield OptionValue(value=model.id, name=model.name or model.id)


def _select(id: str, name: str, category: str, current: str, values: Iterable[OptionValue]) -> ConfigOption:
    """A selection whose current value is always one of its options."""
    options = tuple(values)
    if all(option.value != current for option in options):
        options = (OptionValue(value=current, name=current), *options)
    return ConfigOption(id=id, name=name, category=category, current_value=current, options=options)


def change_of(option: str, value: str) -> Changes:
    match option:
        case "mode":
            return Changes(agent_mode=value)
        case "model":
            return Changes(model=value)
        case "variant":
            return Changes(variant=value)
        case "permission_mode":
            return Changes(permission_mode=_permission_mode(value))
    raise InvalidRequest(f"there is no option `{option}`", field="configId")


def change_of_mode(mode: str, catalogue: Catalogue) -> Changes:
    """A mode of the agent; otherwise a permission mode, which other agents list among their modes."""
    if any(each.id == mode for each in catalogue.modes) or mode not in PERMISSION_MODES:
        return Changes(agent_mode=mode)
    return Changes(permission_mode=_permission_mode(mode))


def _permission_mode(value: str) -> PermissionMode:
    for mode in get_args(PermissionMode):
        if mode == value:
            known: PermissionMode = mode
            return known
    raise InvalidRequest(f"`{value}` is not a permission mode", field="value")
