"""A turn as a chat completion: only its text. Derived from the events of a streamed response.

An agent may write two messages at the same time. A completion is one text, so the second is held back until the first is complete.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import shapes
from .ids import TurnName
from .shapes import ChoiceDelta, Chunk, ChunkChoice, CompletionUsage, FinishReason


class Chat:
    def __init__(self, name: TurnName) -> None:
        self._name = name
        self._held: dict[str, list[str]] = {}
        """The messages that are not yet sent, in order. What is written of the first one is sent at once."""
        self._done: set[str] = set()

    def chunks(self, event: shapes.StreamEvent, *, with_usage: bool) -> Iterator[Chunk]:
        match event:
            case shapes.Created(response=response):
                self._response = response
                yield self._chunk(ChoiceDelta(role="assistant", content=""))
            case shapes.TextAdded(item_id=item_id):
                self._held[item_id] = []
            case shapes.TextDelta(item_id=item_id, delta=delta):
                self._held[item_id].append(delta)
                yield from self._text()
            case shapes.TextPartDone(item_id=item_id):
                self._done.add(item_id)
                yield from self._text()
            case shapes.Completed(response=response) | shapes.Incomplete(response=response):
                yield self._chunk(ChoiceDelta(), finish_reason(response))
                if with_usage:
                    yield Chunk(
                        id=self._name.completion_id,
                        created=response.created_at,
                        model=response.model,
                        usage=chat_usage(response.usage),
                    )

    def _text(self) -> Iterator[Chunk]:
        while self._held:
            item_id, pieces = next(iter(self._held.items()))
            if pieces:
                yield self._chunk(ChoiceDelta(content="".join(pieces)))
                pieces.clear()
            if item_id not in self._done:
                return
            del self._held[item_id]

    def _chunk(self, delta: ChoiceDelta, reason: FinishReason | None = None) -> Chunk:
        return Chunk(
            id=self._name.completion_id,
            created=self._response.created_at,
            model=self._response.model,
            choices=(ChunkChoice(delta, reason),),
        )


def completion(name: TurnName, response: shapes.Response) -> shapes.Completion:
    messages = [item for item in response.output if isinstance(item, shapes.Message)]
    text = "".join(content.text for message in messages for content in message.content)
    return shapes.Completion(
        id=name.completion_id,
        created=response.created_at,
        model=response.model,
        choices=(shapes.Choice(shapes.ChatMessage(text), finish_reason(response)),),
        usage=chat_usage(response.usage),
    )


def finish_reason(response: shapes.Response) -> FinishReason:
    if response.incomplete_details is None:
        return "stop"
    return "length" if response.incomplete_details.reason == "max_output_tokens" else "content_filter"


def chat_usage(usage: shapes.ResponseUsage | None) -> CompletionUsage | None:
    if usage is None:
        return None
    return CompletionUsage(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        prompt_tokens_details=shapes.PromptTokensDetails(usage.input_tokens_details.cached_tokens),
        completion_tokens_details=usage.output_tokens_details,
    )
