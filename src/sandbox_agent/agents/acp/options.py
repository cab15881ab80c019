"""The choices a session offers: its mode, its model and the model's variant.

Agents send them as session options, each with a category, or in the older form as modes and models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ...schema.features import Catalogue, Command, Mode, Model
from ...schema.inputs import Settings
from .frames import (
    Command as Params,
)
from .frames import (
    ConfigOption,
    Models,
    Modes,
    OptionValue,
    SessionOpened,
    SetMode,
    SetModel,
    SetOption,
    SlashCommand,
)
from .modes import BUILD

Choosing = Literal["model", "variant", "mode"]

PERMISSION_MODES = {
    *("acceptEdits", "auto", "bypassPermissions", "dontAsk"),  # Claude
    *("autoEdit", "auto_edit", "yolo"),  # Gemini, Qwen
    *("auto", "full-access"),  # Codex
}
"""Modes in which agents ask for fewer permissions. We do not offer them: the session's permission mode covers
this.
"""

_CATEGORIES: dict[Choosing, str] = {"model": "model", "variant": "thought_level", "mode": "mode"}


class Setting(Struct, frozen=True):
    """The request that makes a choice."""

    method: str
    params: Params


class Offer(Struct, frozen=True):
    modes: Modes = Modes()
    models: Models = Models()
    options: tuple[ConfigOption, ...] = ()

    @classmethod
    def of(cls, opened: SessionOpened) -> Offer:
        return cls(opened.modes or Modes(), opened.models or Models(), opened.config_options or ())

    def current(self, what: Choosing) -> str | None:
        if option := self._option(what):
            return str(option.current_value)
        legacy = {"mode": self.modes.current_mode_id, "model": self.models.current_model_id}
        return legacy.get(what) or None

    def values(self, what: Choosing) -> tuple[OptionValue, ...]:
        if option := self._option(what):
            return tuple(_flat(option.options))
        if what == "mode":
            modes = self.modes.available_modes
            return tuple(
                OptionValue(value=mode.id, name=mode.name, description=mode.description) for mode in modes
            )
        if what == "model":
            models = self.models.available_models
            return tuple(OptionValue(value=model.model_id, name=model.name or "") for model in models)
        return ()

    def offers(self, what: Choosing, value: str) -> bool:
        return any(option.value == value for option in self.values(what))

    def setting(self, what: Choosing, value: str, session_id: str) -> Setting | None:
        """The request that makes this choice; None if the agent offers no choice."""
        if option := self._option(what):
            params = SetOption(session_id=session_id, config_id=option.id, value=value)
            return Setting("session/set_config_option", params)
        if what == "mode" and self.modes.available_modes:
            return Setting("session/set_mode", SetMode(session_id=session_id, mode_id=value))
        if what == "model" and self.models.available_models:
            return Setting("session/set_model", SetModel(session_id=session_id, model_id=value))
        return None

    def chosen(self, what: Choosing, value: str) -> Offer:
        """The offer after a choice was made."""
        option = self._option(what)
        modes = replace(self.modes, current_mode_id=value) if what == "mode" else self.modes
        models = replace(self.models, current_model_id=value) if what == "model" else self.models
        options = (replace(each, current_value=value) if each is option else each for each in self.options)
        return Offer(modes, models, tuple(options))

    def with_options(self, options: tuple[ConfigOption, ...]) -> Offer:
        """The offer after the agent has sent all its options again."""
        changed = replace(self, options=options)
        mode = changed.current("mode")
        return changed.chosen("mode", mode) if mode else changed

    def facts(self) -> dict[str, object]:
        """The current choices, by name."""
        facts: dict[str, object] = {what: self.current(what) for what in _CATEGORIES}
        facts |= {option.id: option.current_value for option in self.options if option not in self._known()}
        return {name: value for name, value in facts.items() if value is not None}

    def catalogue(self, commands: Iterable[SlashCommand] = ()) -> Catalogue:
        chosen = self.current("model")
        efforts = tuple(effort.value for effort in self.values("variant") if effort.value is not None)
        models = [
            Model(
                model.value,
                model.name or None,
                # Agents list only the variants of the current model.
                variants=efforts if model.value == chosen and efforts else None,
                default_variant=self.current("variant") if model.value == chosen else None,
            )
            for model in self.values("model")
            if model.value is not None
        ]
        modes = [
            Mode(mode.value, mode.name or mode.value, mode.description or "")
            for mode in self.values("mode")
            if mode.value is not None and mode.value not in PERMISSION_MODES
        ]
        if BUILD.id not in {mode.id for mode in modes}:
            modes.insert(0, BUILD)
        default = chosen if any(model.id == chosen for model in models) else None
        offered = (
            Command(command.name, command.description or "", (command.input and command.input.hint) or "")
            for command in commands
        )
        return Catalogue(tuple(models), tuple(modes), default, tuple(offered))

    def _option(self, what: Choosing) -> ConfigOption | None:
        selects = [option for option in self.options if option.type == "select"]
        by_category = (option for option in selects if option.category == _CATEGORIES[what])
        by_name = (option for option in selects if option.category is None and option.id == what)
        return next(by_category, None) or next(by_name, None)

    def _known(self) -> list[ConfigOption]:
        return [option for what in _CATEGORIES if (option := self._option(what))]


def wanted_mode(settings: Settings, offer: Offer, initial: str | None) -> str | None:
    """The agent's mode for these settings; None leaves it unchanged.

    If the agent has a mode `plan`, read-only sessions use it as well.
    """
    if settings.agent_mode != BUILD.id:
        return settings.agent_mode
    if settings.permission_mode == "plan" and offer.offers("mode", "plan"):
        return "plan"
    if offer.offers("mode", BUILD.id):
        return BUILD.id
    if initial is None and offer.offers("mode", "default"):
        return "default"
    return initial


def _flat(values: Iterable[OptionValue]) -> Iterator[OptionValue]:
    for value in values:
        if value.options:
            yield from _flat(value.options)
        else:
            yield value
