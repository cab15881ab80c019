"""What clients receive, with OpenAI's names. A stream is a sequence of `StreamEvent`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Status = Literal["queued", "in_progress", "completed", "incomplete", "cancelled", "failed"]
ItemStatus = Literal["in_progress", "completed", "incomplete"]

# -- responses --------------------------------------------------------------------------------


class OutputText(Struct, frozen=True, tag="output_text"):
    text: str
    annotations: tuple[str, ...] = ()


class SummaryText(Struct, frozen=True, tag="summary_text"):
    text: str


class Message(Struct, frozen=True, tag="message"):
    id: str
    status: ItemStatus
    content: tuple[OutputText, ...] = ()
    role: Literal["assistant"] = "assistant"


class Reasoning(Struct, frozen=True, tag="reasoning"):
    id: str
    summary: tuple[SummaryText, ...] = ()


OutputItem = Message | Reasoning


class Failure(Struct, frozen=True):
    code: str
    message: str


class IncompleteDetails(Struct, frozen=True):
    reason: Literal["max_output_tokens", "content_filter"]


class InputTokensDetails(Struct, frozen=True):
    cached_tokens: int
    cache_write_tokens: int


class OutputTokensDetails(Struct, frozen=True):
    reasoning_tokens: int


class ResponseUsage(Struct, frozen=True):
    input_tokens: int
    input_tokens_details: InputTokensDetails
    output_tokens: int
    output_tokens_details: OutputTokensDetails
    total_tokens: int


class Response(Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["response"] = "response"
    created_at: int
    status: Status
    model: str
    output: tuple[OutputItem, ...] = ()
    usage: ResponseUsage | None = None
    error: Failure | None = None
    incomplete_details: IncompleteDetails | None = None
    metadata: dict[str, str]
    """Names the session and the turn."""
    instructions: None = None
    parallel_tool_calls: bool = True
    tool_choice: Literal["auto"] = "auto"
    tools: tuple[str, ...] = ()


class StreamEvent(Struct, frozen=True, kw_only=True):
    sequence_number: int


class Created(StreamEvent, frozen=True, kw_only=True, tag="response.created"):
    response: Response


class InProgress(StreamEvent, frozen=True, kw_only=True, tag="response.in_progress"):
    response: Response


class Completed(StreamEvent, frozen=True, kw_only=True, tag="response.completed"):
    response: Response


class Incomplete(StreamEvent, frozen=True, kw_only=True, tag="response.incomplete"):
    response: Response


class Failed(StreamEvent, frozen=True, kw_only=True, tag="response.failed"):
    response: Response


class ItemAdded(StreamEvent, frozen=True, kw_only=True, tag="response.output_item.added"):
    output_index: int
    item: OutputItem


class ItemDone(StreamEvent, frozen=True, kw_only=True, tag="response.output_item.done"):
    output_index: int
    item: OutputItem


class InItem(StreamEvent, frozen=True, kw_only=True):
    item_id: str
    output_index: int


class OfText(InItem, frozen=True, kw_only=True):
    content_index: int = 0


class TextAdded(OfText, frozen=True, kw_only=True, tag="response.content_part.added"):
    part: OutputText


class TextDelta(OfText, frozen=True, kw_only=True, tag="response.output_text.delta"):
    delta: str
    logprobs: tuple[str, ...] = ()


class TextDone(OfText, frozen=True, kw_only=True, tag="response.output_text.done"):
    text: str
    logprobs: tuple[str, ...] = ()


class TextPartDone(OfText, frozen=True, kw_only=True, tag="response.content_part.done"):
    part: OutputText


class OfSummary(InItem, frozen=True, kw_only=True):
    summary_index: int = 0


class SummaryAdded(OfSummary, frozen=True, kw_only=True, tag="response.reasoning_summary_part.added"):
    part: SummaryText


class SummaryDelta(OfSummary, frozen=True, kw_only=True, tag="response.reasoning_summary_text.delta"):
    delta: str


class SummaryDone(OfSummary, frozen=True, kw_only=True, tag="response.reasoning_summary_text.done"):
    text: str


class SummaryPartDone(OfSummary, frozen=True, kw_only=True, tag="response.reasoning_summary_part.done"):
    part: SummaryText


class StreamFailed(StreamEvent, frozen=True, kw_only=True, tag="error"):
    """The stream cannot continue; the turn may."""

    code: str
    message: str
    param: str | None = None


# -- chat completions -------------------------------------------------------------------------

FinishReason = Literal["stop", "length", "content_filter"]


class PromptTokensDetails(Struct, frozen=True):
    cached_tokens: int


class CompletionUsage(Struct, frozen=True):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokensDetails
    completion_tokens_details: OutputTokensDetails


class ChatMessage(Struct, frozen=True):
    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None


class Choice(Struct, frozen=True):
    message: ChatMessage
    finish_reason: FinishReason
    index: int = 0
    logprobs: None = None


class Completion(Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: CompletionUsage | None


class ChoiceDelta(Struct, frozen=True, omit_defaults=True):
    role: Literal["assistant"] | None = None
    content: str | None = None


class ChunkChoice(Struct, frozen=True):
    delta: ChoiceDelta
    finish_reason: FinishReason | None = None
    index: int = 0
    logprobs: None = None


class Chunk(Struct, frozen=True, kw_only=True):
    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: tuple[ChunkChoice, ...] = ()
    usage: CompletionUsage | None = None


# -- models and errors ------------------------------------------------------------------------


class ModelEntry(Struct, frozen=True):
    id: str
    owned_by: str
    object: Literal["model"] = "model"
    created: int = 0
    """Agents do not say when their models were made."""


class ModelList(Struct, frozen=True):
    data: list[ModelEntry]
    object: Literal["list"] = "list"


class ErrorBody(Struct, frozen=True):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorAnswer(Struct, frozen=True):
    error: ErrorBody
