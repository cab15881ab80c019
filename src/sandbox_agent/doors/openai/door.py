"""The door: `/openai/v1/`. Finds the handler of a request and encodes its answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import msgspec

from ...errors import InvalidRequest, MethodNotAllowed, NotFound, SessionNotFound
from ...ops.operation import Stream
from ...runtime.daemon import Daemon
from ..exchange import DoorAnswer, DoorRequest
from . import history, reading, references
from .chat import completion
from .ids import TurnName, seconds, turn_of
from .intake import Begun, Intake, Wanted, identity_of, is_ours
from .models import list_models
from .operations import Operations
from .requests import InputMessage, NewCompletion, NewResponse, read

ROOT = "/openai/v1/"
JSON = (b"content-type", b"application/json")

Gone = Callable[[], Awaitable[None]]
"""Returns once the client has closed its connection."""


class Door:
    def __init__(self, daemon: Daemon) -> None:
        self._operations = Operations(daemon)
        self._intake = Intake(self._operations)

    async def answer(self, request: DoorRequest, gone: Gone) -> DoorAnswer | Stream:
        path = request.path.removeprefix(ROOT)
        allowed = []
        for method, pattern, handler in ROUTES:
            if found := pattern.fullmatch(path):
                allowed.append(method)
                if method == request.method:
                    return await handler(self, request, gone, *found.groups())
        if allowed:
            raise MethodNotAllowed(f"{request.path} supports {', '.join(allowed)}", allow=allowed)
        raise NotFound(f"there is nothing at {request.path}")

    async def _list_models(self, request: DoorRequest, gone: Gone) -> DoorAnswer:
        return _json(await list_models(self._operations))

    async def _get_model(self, request: DoorRequest, gone: Gone, id: str) -> DoorAnswer:
        for entry in (await list_models(self._operations)).data:
            if entry.id == id:
                return _json(entry)
        raise NotFound(f"there is no model {id[:200]}", field="model")

    # -- responses ----------------------------------------------------------------------------

    async def _create_response(self, request: DoorRequest, gone: Gone) -> DoorAnswer | Stream:
        given, body = await read(request, NewResponse)
        given.check()
        single = (InputMessage("user", given.input),) if isinstance(given.input, str) else given.input
        resolved = await references.resolve(self._operations, single, "input")
        begun = await self._intake.begin(
            Wanted(
                identity_of(request, body),
                given.model,
                resolved.messages,
                "input",
                instructions=given.instructions,
                previous=_previous(given.previous_response_id),
                referenced=resolved.latest,
                permission_mode=request.header(b"x-permission-mode") or None,
                directory=_directory(request),
            )
        )
        if given.stream:
            return Stream(reading.stream_response(self._operations, begun, -1), retries=False)
        if given.background:
            return _json(await reading.read_now(self._operations, begun, 0))
        return _json(await reading.read_to_end(self._operations, begun, gone))

    async def _get_response(self, request: DoorRequest, gone: Gone, id: str) -> DoorAnswer | Stream:
        begun, queued_at = await self._find(id)
        if request.query.get("stream") == "true":
            after = _number(request, "starting_after")
            return Stream(reading.stream_response(self._operations, begun, after), retries=False)
        return _json(await reading.read_now(self._operations, begun, queued_at))

    async def _cancel_response(self, request: DoorRequest, gone: Gone, id: str) -> DoorAnswer:
        begun, queued_at = await self._find(id)
        response = await reading.read_now(self._operations, begun, queued_at)
        if response.status in ("queued", "in_progress"):
            await self._operations.cancel(*begun.name)
        return _json(await reading.read_to_end(self._operations, begun, gone))

    async def _find(self, id: str) -> tuple[Begun, int]:
        """The turn of a response, and when its message was accepted."""
        name = turn_of(id)
        try:
            turn = await history.find(self._operations, *name)
        except SessionNotFound:
            turn = None
        if turn is None:
            raise NotFound(f"no response {id}")
        begun = Begun(name, turn.after)
        if is_ours(turn.mark):
            self._intake.refusals.watch(*begun)  # the daemon may have been restarted since
        return begun, seconds(turn.time)

    # -- chat completions ---------------------------------------------------------------------

    async def _create_completion(self, request: DoorRequest, gone: Gone) -> DoorAnswer | Stream:
        given, body = await read(request, NewCompletion)
        given.check()
        in_body = given.metadata.session_id if given.metadata else None
        session_id = request.header(b"x-session-id") or in_body or None
        begun = await self._intake.begin(
            Wanted(
                identity_of(request, body),
                given.model,
                given.messages,
                "messages",
                session_id=session_id,
                permission_mode=request.header(b"x-permission-mode") or None,
                directory=_directory(request),
                suspends=session_id is None,
            )
        )
        if given.stream:
            with_usage = bool(given.stream_options and given.stream_options.include_usage)
            pieces = reading.stream_completion(self._operations, begun, with_usage=with_usage)
            return Stream(pieces, retries=False)
        response = await reading.read_to_end(self._operations, begun, gone)
        if response is None:
            return _json(None)
        if (failure := reading.failed(response)) is not None:
            raise failure
        return _json(completion(begun.name, response))


Handler = Callable[..., Awaitable[DoorAnswer | Stream]]
ROUTES: tuple[tuple[str, re.Pattern[str], Handler], ...] = (
    ("GET", re.compile("models"), Door._list_models),
    ("GET", re.compile("models/(.+)"), Door._get_model),
    ("POST", re.compile("responses"), Door._create_response),
    ("GET", re.compile("responses/([^/]+)"), Door._get_response),
    ("POST", re.compile("responses/([^/]+)/cancel"), Door._cancel_response),
    ("POST", re.compile("chat/completions"), Door._create_completion),
)


def _json(answer: object) -> DoorAnswer:
    return DoorAnswer(200, msgspec.json.encode(answer), (JSON,))


def _directory(request: DoorRequest) -> str | None:
    return request.headers.get(b"x-directory", b"").decode(errors="replace") or None


def _previous(id: str | None) -> TurnName | None:
    if not id:
        return None
    try:
        return turn_of(id)
    except NotFound as error:
        raise NotFound(error.detail, field="previous_response_id") from None


def _number(request: DoorRequest, name: str) -> int:
    text = request.query.get(name)
    if text is None:
        return -1
    if not text.isdecimal() or len(text) > 15:
        raise InvalidRequest(f"`{name}` is not a number", field=name)
    return int(text)
