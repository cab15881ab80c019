"""A model server whose replies are scripted by the prompt, so that real agents run without spending tokens.

It speaks the APIs that the agents use: Anthropic Messages, OpenAI Responses and OpenAI Chat Completions. The
prompt selects a scenario (`SCENARIO:edit`), whose steps are translated to the tools the agent offers.
"""

from .scenarios import SCENARIOS, Scenario
from .server import Request, ScriptedModel, load_scenarios
from .steps import (
    Ask,
    Call,
    Command,
    Cut,
    Delay,
    Edit,
    HttpError,
    Mcp,
    Next,
    Plan,
    Question,
    Read,
    Step,
    Stop,
    StreamError,
    Subagent,
    Text,
    Thinking,
    Usage,
    Write,
)

__all__ = [
    "SCENARIOS",
    "Ask",
    "Call",
    "Command",
    "Cut",
    "Delay",
    "Edit",
    "HttpError",
    "Mcp",
    "Next",
    "Plan",
    "Question",
    "Read",
    "Request",
    "Scenario",
    "ScriptedModel",
    "Step",
    "Stop",
    "StreamError",
    "Subagent",
    "Text",
    "Thinking",
    "Usage",
    "Write",
    "load_scenarios",
]
