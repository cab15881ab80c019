"""Messages that wait in a session's queue, as clients see them. Their text is not in the log before their turn starts."""

from __future__ import annotations

from ...errors import SessionNotFound
from ...schema.answers import QueuedMessageInfo
from .ids import given_ids, part_id
from .operations import Operations
from .shapes import MessageWithParts, ModelChoice, TextPart, Times, UserMessage
from .transcript import Queued, Transcript


async def waiting_messages(operations: Operations, transcript: Transcript) -> dict[str, MessageWithParts]:
    """By their turn, in order. The transcript learns the ids that clients have given them."""
    if not transcript.queued:
        return {}
    try:
        queue = await operations.queue(transcript.facts.session_id)
    except SessionNotFound:
        return {}
    return {
        message.turn_id: _shown(transcript, message, place)
        for message in queue.messages
        if (place := transcript.queued.get(message.turn_id)) is not None
    }


def _shown(transcript: Transcript, message: QueuedMessageInfo, place: Queued) -> MessageWithParts:
    facts = transcript.facts
    id, *parts = given_ids(message.client_id) or (place.id,)
    transcript.name_queued(message.turn_id, id)
    user = UserMessage(
        id=id,
        session_id=facts.session_id,
        time=Times(created=place.moment),
        agent=facts.mode,
        model=ModelChoice(provider_id=facts.agent, model_id=facts.model),
    )
    text = TextPart(
        id=parts[0] if parts else part_id(facts.session_id, place.sequence),
        session_id=facts.session_id,
        message_id=id,
        text=message.message,
    )
    return MessageWithParts(info=user, parts=(text,))
