"""A model server that says what the prompt tells it to, so that real agents run for real, and without a token spent.

It speaks the wires that the agents use: Anthropic Messages, OpenAI Responses and OpenAI Chat Completions. The prompt
chooses a scenario (`SCENARIO:edit`), and its steps are put into the tools that the asking agent offers.
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
