"""How a turn ended and what it cost, read from `result`."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ...schema.events import ErrorCode, StopReason, Usage
from .frames import ApiUsage, ModelUsage, Result

ERRORS: dict[str, ErrorCode] = {
    "authentication_failed": "authentication_failed",
    "oauth_org_not_allowed": "authentication_failed",
    "account_on_hold": "authentication_failed",
    "verification_required": "authentication_failed",
    "cloud_credential_error": "authentication_failed",
    "billing_error": "invalid_request",
    "rate_limit": "rate_limited",
    "overloaded": "overloaded",
    "invalid_request": "invalid_request",
    "model_not_found": "model_not_found",
    "connection_failed": "connection_failed",
    "server_error": "server_error",
}
STATUSES: dict[int, ErrorCode] = {
    400: "invalid_request",
    401: "authentication_failed",
    403: "authentication_failed",
    404: "model_not_found",
    413: "context_too_long",
    429: "rate_limited",
    529: "overloaded",
}
LIMITS = {"max_turns", "budget_exhausted", "error_max_turns", "error_max_budget_usd"}


class Failure(Struct, frozen=True):
    """What the program reported about a failed model call, before `result` says how the turn ended."""

    text: str
    error: str | None = None


class Context(Struct, frozen=True):
    """The last call of the main loop: its model, and how full the context was when it ended."""

    model: str = ""
    tokens: int | None = None


def stop_reason_of(result: Result, failure: Failure | None, cancelling: bool) -> StopReason:
    ended_by = {result.terminal_reason, result.subtype}
    if (result.terminal_reason or "").startswith("aborted") or (result.is_error and cancelling):
        return "interrupted"
    if ended_by & LIMITS:
        return "limit"
    if result.stop_reason == "refusal":
        return "refusal"
    if result.stop_reason == "max_tokens" or (failure and failure.error == "max_output_tokens"):
        return "max_tokens"
    return "error" if result.is_error else "end_turn"


def message_of(result: Result, failure: Failure | None) -> str:
    message = result.result or "; ".join(result.errors) or (failure.text if failure else "")
    return message or f"the turn failed ({result.terminal_reason or result.subtype})"


def error_code_of(result: Result, failure: Failure | None) -> ErrorCode:
    if result.stop_reason == "refusal":
        return "refusal"
    if result.terminal_reason in ("prompt_too_long", "blocking_limit"):
        return "context_too_long"
    if result.api_error in ERRORS:
        return ERRORS[result.api_error]
    status = result.api_error_status
    if status in STATUSES:
        return STATUSES[status]
    if status is not None and status >= 500:
        return "server_error"
    return ERRORS.get(failure.error or "", "agent_error") if failure else "agent_error"


def error_details_of(result: Result, failure: Failure | None) -> dict[str, Any]:
    details = {
        "error": failure.error if failure else None,
        "api_error": result.api_error,
        "api_error_status": result.api_error_status,
        "api_error_type": result.api_error_type,
        "terminal_reason": result.terminal_reason,
        "subtype": result.subtype,
    }
    return {name: value for name, value in details.items() if value is not None}


# -- what it cost -----------------------------------------------------------------------------


def usage_of(result: Result, context: Context) -> Usage | None:
    """Everything spent since the last result. The plain `usage` leaves out sub-agents and compaction."""
    models = result.model_usage_since_last_result
    if models is None:
        return of_model_call(result.usage) if result.usage else None
    total = Usage(0, 0, 0, 0, 0, 0.0)
    for spent in models.values():
        total += _of_model(spent)
    # A call that was interrupted is not counted, but its model may have been called before.
    main = models.get(context.model) or result.model_usage.get(context.model)
    window = main.contextWindow if main else None
    return total + Usage(context_tokens=context.tokens, context_window=window)


def _of_model(spent: ModelUsage) -> Usage:
    cached = spent.cacheReadInputTokens + spent.cacheCreationInputTokens
    return Usage(
        spent.inputTokens + cached,
        spent.outputTokens,
        spent.cacheReadInputTokens,
        spent.cacheCreationInputTokens,
        spent.thinkingTokens,
        spent.costUSD,
    )


def of_model_call(spent: ApiUsage) -> Usage:
    parts = (spent.input_tokens, spent.cache_read_input_tokens, spent.cache_creation_input_tokens)
    counts = [part for part in parts if part is not None]
    return Usage(
        sum(counts) if counts else None,
        spent.output_tokens,
        spent.cache_read_input_tokens,
        spent.cache_creation_input_tokens,
    )
