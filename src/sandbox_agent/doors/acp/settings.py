"""The settings of a session as its client last saw them. Another client, or the agent itself, may change them."""

from __future__ import annotations

from ...schema.options import Choices, ConfigOption
from ...schema.sessions import SessionInfo
from .frames import AnyUpdate, ConfigOptions, CurrentMode
from .options import modes_of, options_of


class ShownSettings:
    def __init__(self, session: SessionInfo, choices: Choices) -> None:
        self.choices = choices
        self._options = options_of(session, choices)

    def answered(self, session: SessionInfo) -> tuple[ConfigOption, ...]:
        """The options, for an answer that informs the client."""
        self._options = options_of(session, self.choices)
        return self._options

    def news(self, session: SessionInfo) -> tuple[AnyUpdate, ...]:
        """The updates that inform the client, if it does not know them yet."""
        if options_of(session, self.choices) == self._options:
            return ()
        mode = modes_of(session, self.choices).current_mode_id
        return CurrentMode(current_mode_id=mode), ConfigOptions(config_options=self.answered(session))
