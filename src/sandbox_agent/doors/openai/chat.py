"""A turn as a chat completion: its text alone. Derived from the events of a streamed response."""

from __future__ import annotations

from collections.abc import Iterator

from . import shapes
from .ids import TurnName
from .shapes import ChoiceDelta, Chunk, ChunkChoice, CompletionUsage, FinishReason


class Chat:
    def __init__(self, name: TurnName) -> None:
        self._name = name

    def chunks(self, event: shapes.StreamEvent, *, with_usage: bool) -> Iterator[Chunk]:
        match event:
            case shapes.Created(response=response):
                self._response = response
                yield self._chunk(ChoiceDelta(role="assistant", content=""))
            case shapes.TextDelta(delta=delta):
                yield self._chunk(ChoiceDelta(content=delta))
            case shapes.Completed(response=response) | shapes.Incomplete(response=response):
                yield self._chunk(ChoiceDelta(), finish_reason(response))
                if with_usage:
                    yield Chunk(
                        id=self._name.completion_id,
                        created=response.created_at,
                        model=response.model,
                        usage=chat_usage(response.usage),
                    )

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
