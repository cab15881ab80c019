"""A turn as a chat completion: its text alone. Derived from the events of a streamed response."""

from __future__ import annotations

from collections.abc import Iterator

from . import shapes
from .ids import TurnName
from .shapes import ChoiceDelta, Chunk, ChunkChoice, CompletionUsage, FinishReason

BETWEEN_MESSAGES = "\n\n"


class Chat:
    def __init__(self, name: TurnName) -> None:
        self._name = name
        self._has_text = False
        self._item: str | None = None

    def chunks(self, event: shapes.StreamEvent, *, with_usage: bool) -> Iterator[Chunk]:
        match event:
            case shapes.Created(response=response):
                self._response = response
                yield self._chunk(ChoiceDelta(role="assistant", content=""))
            case shapes.TextDelta(item_id=item_id, delta=delta):
                yield self._chunk(ChoiceDelta(content=self._gap(item_id) + delta))
            case shapes.Completed(response=response) | shapes.Incomplete(response=response):
                yield self._chunk(ChoiceDelta(), finish_reason(response))
                if with_usage:
                    yield Chunk(
                        id=self._name.completion_id,
                        created=response.created_at,
                        model=response.model,
                        usage=chat_usage(response.usage),
                    )

    def _gap(self, item_id: str) -> str:
        """Messages of one turn are paragraphs of one text."""
        is_next = self._has_text and item_id != self._item
        self._has_text, self._item = True, item_id
        return BETWEEN_MESSAGES if is_next else ""

    def _chunk(self, delta: ChoiceDelta, reason: FinishReason | None = None) -> Chunk:
        return Chunk(
            id=self._name.completion_id,
            created=self._response.created_at,
            model=self._response.model,
            choices=(ChunkChoice(delta, reason),),
        )


def completion(name: TurnName, response: shapes.Response) -> shapes.Completion:
    messages = [item for item in response.output if isinstance(item, shapes.Message)]
    text = BETWEEN_MESSAGES.join(content.text for message in messages for content in message.content)
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
