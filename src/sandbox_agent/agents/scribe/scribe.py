"""The scribe writes a session's events so that the rules of the contract hold, whatever the agent sends.

Adapters report what they see in the agent's own terms ("text for block 3", "call 7 has its result", "the turn
is over") under keys of their choice; the scribe opens, closes, pairs and numbers items. It is pure: it is
given ids and a clock, and its drafts wait in `drafts` until the log takes them.

It is a facade for five parts: the pen writes, `Texts`, `Calls` and `Requests` each track one kind of open
thing, and `Turns` closes them all. Adapters call the parts directly.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ...schema.events import SessionEnded, SessionMetadata, Source, Usage
from ...schema.sessions import Used
from ...schema.world import World
from .calls import Calls
from .drafts import Draft, Frame, Notable, Pending, Turn, Waited
from .pen import Pen
from .requests import Requests
from .texts import Texts
from .turns import Turns


class Mark(Struct, frozen=True):
    """A snapshot of the scribe before something that may be refused: a turn that begins, an answer."""

    turn: Turn | None
    pending: dict[str, Pending]
    waited: Waited
    started: bool
    ended: bool


class Scribe:
    def __init__(self, world: World, used_call_ids: Iterable[str] = (), image_folder: str = "") -> None:
        self.pen = pen = Pen(world, self)
        self.texts = texts = Texts(pen)
        self.calls = calls = Calls(pen, used_call_ids, image_folder)
        self.requests = requests = Requests(pen, calls)
        self.turns = turns = Turns(pen, texts, calls, requests)
        self.started = False

        self.status, self.system, self.unknown = pen.status, pen.system, pen.unknown
        self.error, self.unparsed, self.uses = pen.error, pen.unparsed, pen.uses
        self.user_message, self.text, self.end_text = texts.user_message, texts.text, texts.end_text
        self.open_text_keys = texts.open_text_keys
        self.call, self.call_delta, self.end_call = calls.call, calls.call_delta, calls.end_call
        self.start_result, self.result_delta, self.result = (
            calls.start_result,
            calls.result_delta,
            calls.result,
        )
        self.keep_running, self.abandon_call, self.image = (
            calls.keep_running,
            calls.abandon_call,
            calls.image,
        )
        self.call_item, self.has_open_call = calls.call_item, calls.has_open_call
        self.open_call_keys = calls.open_call_keys
        self.ask, self.decide, self.withdraw = requests.ask, requests.decide, requests.withdraw
        self.question, self.plan, self.answer = requests.question, requests.plan, requests.answer
        self.start_turn, self.end_turn, self.abandon = turns.start_turn, turns.end_turn, turns.abandon
        self.spend = turns.spend
        self.end_session, self.agent_left, self.crash = turns.end_session, turns.agent_left, turns.crash
        self.close_background, self.nothing_open = turns.close_background, turns.nothing_open

    def start_session(self, metadata: SessionMetadata, source: Source = "daemon") -> None:
        self.turns.start_session(metadata, source)
        self.started = True

    # -- drafts ---------------------------------------------------------------------------------

    @property
    def drafts(self) -> list[Draft]:
        return self.pen.drafts

    @property
    def notable(self) -> list[tuple[int, Notable]]:
        return self.pen.notable

    def take(self) -> list[Draft]:
        """The drafts since the last call."""
        pen = self.pen
        drafts, pen.drafts = pen.drafts, []
        if pen.notable:
            pen.notable = []
        return drafts

    # -- what is open ---------------------------------------------------------------------------

    @property
    def turn(self) -> Turn | None:
        return self.pen.turn

    @property
    def spent(self) -> Usage | None:
        """What the open turn has spent so far, if the agent says so."""
        return self.pen.turn.spent if self.pen.turn else None

    @property
    def pending(self) -> dict[str, Pending]:
        return self.requests.pending

    @property
    def ended(self) -> bool:
        return self.pen.ended

    @property
    def requested_end(self) -> SessionEnded | None:
        return self.pen.requested_end

    @property
    def used(self) -> Used | None:
        return self.pen.used

    @property
    def frame(self) -> Frame:
        return self.pen.frame

    @frame.setter
    def frame(self, frame: Frame) -> None:
        self.pen.frame = frame

    @property
    def native_session_id(self) -> str | None:
        return self.pen.native_session_id

    @native_session_id.setter
    def native_session_id(self, value: str | None) -> None:
        self.pen.native_session_id = value

    def mark(self) -> Mark:
        return Mark(self.turn, self.pending, self.requests.waited, self.started, self.ended)

    def restore(self, mark: Mark) -> None:
        """Restore the snapshot: everything written since was taken and is refused."""
        self.pen.turn, self.pen.ended, self.started = mark.turn, mark.ended, mark.started
        self.requests.pending, self.requests.waited = mark.pending, mark.waited
