"""Agent, model, variant and mode of a session, as a client names them with each prompt."""

from __future__ import annotations

from msgspec import Struct

from ...errors import Conflict, InvalidRequest, SessionAlreadyExists
from ...schema.sessions import SessionInfo
from .catalogue import DEFAULT
from .door import Door
from .sessions import facts_of

PLAN = "plan"


class ChosenModel(Struct, frozen=True, rename={"provider_id": "providerID", "model_id": "modelID"}):
    """A model as clients name it: `id` when they create a session, `modelID` when they prompt."""

    provider_id: str
    model_id: str = ""
    id: str = ""
    variant: str | None = None

    @property
    def name(self) -> str:
        return self.model_id or self.id or DEFAULT


class Choice(Struct, frozen=True):
    """What a client chose. A mode is what OpenCode calls an agent."""

    model: ChosenModel | None = None
    variant: str | None = None
    mode: str | None = None

    @property
    def wanted_variant(self) -> str | None:
        variant = self.variant or (self.model.variant if self.model else None)
        return None if variant == DEFAULT else variant


async def create_session(
    door: Door,
    session_id: str | None,
    directory: str,
    choice: Choice,
    title: str | None = None,
) -> SessionInfo:
    model, mode = choice.model, choice.mode
    agent = model.provider_id if model else await door.default_agent()
    try:
        created = await door.operations.create(
            session_id,
            agent=agent,
            directory=directory,
            agent_mode=await _agent_mode(door, agent, directory, mode),
            permission_mode=PLAN if mode == PLAN else None,
            model=model.name if model and model.name != DEFAULT else None,
            variant=choice.wanted_variant,
            title=title,
        )
    except SessionAlreadyExists:
        # Two prompts at once: the other one was first.
        return await door.operations.session(session_id or "")
    if created.error is not None:
        raise Conflict(str(created.error.get("detail")), sessionId=created.session_id)
    return await door.operations.session(created.session_id)


async def _agent_mode(door: Door, agent: str, directory: str, mode: str | None) -> str | None:
    """The agent's own mode; None for the one it begins with. An agent without `plan` is held back by its permissions."""
    if mode in (None, "build"):
        return None
    modes = {offered.id for offered in (await door.catalogue.complete_offer(agent, directory)).modes}
    return mode if mode in modes or mode != PLAN else None


async def choose(door: Door, info: SessionInfo, choice: Choice) -> None:
    """Change the session to what the prompt asks for."""
    changed: dict[str, str] = {}
    if choice.model is not None:
        if choice.model.provider_id != info.agent:
            agent = door.operations.title(info.agent)
            raise InvalidRequest(f"this session runs {agent}: start a new session to change the agent")
        changed |= await _changed_model(door, info, choice.model)
    variant = choice.wanted_variant
    if variant is not None and variant != info.variant:
        changed["variant"] = variant
    if choice.mode is not None and choice.mode != facts_of(info, door.catalogue).mode:
        changed |= await _changed_mode(door, info, choice.mode)
    if changed:
        await door.operations.update(info.session_id, **changed)


async def _changed_model(door: Door, info: SessionInfo, model: ChosenModel) -> dict[str, str]:
    offer = await door.catalogue.complete_offer(info.agent, info.directory)
    wanted = offer.default_model if model.name == DEFAULT else model.name
    if model.name == DEFAULT and (info.model is None or not offer.has(info.model)):
        return {}  # it uses its default already, or a model that the client cannot name
    return {"model": wanted} if wanted and wanted != info.model else {}


async def _changed_mode(door: Door, info: SessionInfo, mode: str) -> dict[str, str]:
    offer = await door.catalogue.complete_offer(info.agent, info.directory)
    modes = [offered.id for offered in offer.modes]
    changed: dict[str, str] = {}
    if mode == PLAN:
        changed["permission_mode"] = PLAN
    elif info.permission_mode == PLAN:
        changed["permission_mode"] = "default"
    wanted = mode if mode in modes else modes[0] if mode == "build" and modes else None
    if wanted is None and mode not in ("build", PLAN):
        raise InvalidRequest(f"{door.operations.title(info.agent)} has no mode {mode}", field="agent")
    if wanted is not None and wanted != info.agent_mode:
        changed["agent_mode"] = wanted
    return changed
