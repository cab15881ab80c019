"""The scripted model on each API, as the agents use it: over HTTP, with the tools that they offer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sandbox_agent.testing.scripted_model import (
    SCENARIOS,
    Command,
    Delay,
    Next,
    Request,
    ScriptedModel,
    Text,
    Usage,
)

Json = dict[str, Any]
# One for all, because creating one reads the machine's certificates; it leaves no connection open.
HTTP = httpx2.Client(limits=httpx2.Limits(max_keepalive_connections=0))
WIRES = ("messages", "responses", "chat")
PATHS = {"messages": "/v1/messages", "responses": "/v1/responses", "chat": "/v1/chat/completions"}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


def schema(*names: str, **nested: Json) -> Json:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names} | nested}


def asks(*names: str, options: Json) -> Json:
    question = schema(*names, options={"type": "array", "items": options})
    return {"type": "array", "items": question}


LABELLED = schema("label", "description")
TOOLS: dict[str, dict[str, Json]] = {
    "claude": {
        "Bash": schema("command", "description", "timeout"),
        "Write": schema("file_path", "content"),
        "Edit": schema("file_path", "old_string", "new_string", "replace_all"),
        "Read": schema("file_path", "offset"),
        "AskUserQuestion": schema(questions=asks("question", "header", "multiSelect", options=LABELLED)),
        "Agent": schema("description", "prompt", "subagent_type", "run_in_background"),
    },
    "codex": {
        "exec_command": schema("cmd", "yield_time_ms", "justification"),
        "request_user_input": schema(questions=asks("id", "header", "question", options=LABELLED)),
    },
    "opencode": {
        "bash": schema("command", "timeout"),
        "write": schema("filePath", "content"),
        "edit": schema("filePath", "oldString", "newString"),
        "read": schema("filePath"),
        "question": schema(questions=asks("question", "header", "multiple", options=LABELLED)),
        "task": schema("description", "prompt", "subagent_type"),
        "demo_add": schema("a", "b"),
    },
    "pi": {
        "bash": schema("command", "timeout"),
        "write": schema("path", "content"),
        "edit": schema("path", edits={"type": "array", "items": schema("oldText", "newText")}),
        "read": schema("path"),
        "ask_user": schema("question", options={"type": "array", "items": {"type": "string"}}),
        "mcp__demo__add": schema("a", "b"),
    },
    "amp": {
        "Bash": schema("cmd", "cwd"),
        "create_file": schema("path", "content"),
        "edit_file": schema("path", "old_str", "new_str"),
        "Read": schema("path"),
        "Task": schema("prompt", "description"),
    },
}
WIRE_OF = {
    "claude": "messages",
    "codex": "responses",
    "codex code mode": "responses",
    "opencode": "chat",
    "pi": "chat",
    "amp": "messages",
}
FREE_TEXT_TOOL = {"type": "custom", "name": "apply_patch"}


def request_of(wire: str, *entries: Json, tools: dict[str, Json] | None = None, stream: bool = True) -> Json:
    """A request with this history; an entry is in the format of its API."""
    offered = tools or {}
    match wire:
        case "messages":
            defined = [{"name": name, "input_schema": parameters} for name, parameters in offered.items()]
        case "responses":
            defined = [
                {"type": "function", "name": name, "parameters": parameters}
                for name, parameters in offered.items()
            ]
        case _:
            defined = [
                {"type": "function", "function": {"name": name, "parameters": parameters}}
                for name, parameters in offered.items()
            ]
    history = "input" if wire == "responses" else "messages"
    return {"model": "some-model", "stream": stream, history: list(entries), "tools": defined}


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def agent_request(agent: str, prompt: str) -> Json:
    """An agent's first request for a prompt, with the directory it reports to its model."""
    wire = WIRE_OF[agent]
    context = user("<environment_context>\n<cwd>/tmp/ws</cwd>\n</environment_context>")
    request = request_of(wire, context, user(prompt), tools=TOOLS.get(agent))
    if agent == "codex":
        request["tools"] += [FREE_TEXT_TOOL, {"type": "tool_search"}]
    if agent == "codex code mode":
        functions = [{"type": "custom", "name": "exec"}, *agent_request("codex", prompt)["tools"][1:2]]
        namespaces = [
            {"type": "namespace", "name": "functions", "tools": functions},
            {
                "type": "namespace",
                "name": "collaboration",
                "tools": [{"name": "spawn_agent", "parameters": schema("message", "task_name")}],
            },
        ]
        request["input"].insert(0, {"type": "additional_tools", "tools": namespaces})
    return request


def post(model: ScriptedModel, wire: str, request: Json) -> httpx2.Response:
    return HTTP.post(model.base_url + PATHS[wire], json=request)


def events(model: ScriptedModel, wire: str, request: Json) -> list[Json]:
    """The events of a reply, with generated ids normalized."""
    reply = post(model, wire, request)
    assert reply.status_code == 200, reply.text
    text = re.sub(r"(?<=[_-])[0-9a-f]{12}", "ID", reply.text)
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]


def reply_to(model: ScriptedModel, wire: str, request: Json) -> Json:
    """A reply without streaming."""
    reply = post(model, wire, {**request, "stream": False})
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def text_of(wire: str, reply: Json) -> str:
    match wire:
        case "messages":
            parts = [block.get("text", "") for block in reply["content"]]
        case "responses":
            parts = [part["text"] for item in reply["output"] for part in item.get("content", ())]
        case _:
            parts = [reply["choices"][0]["message"]["content"] or ""]
    return "|".join(parts)


def say(model: ScriptedModel, wire: str, *history: Json, tools: dict[str, Json] | None = None) -> str:
    return text_of(wire, reply_to(model, wire, request_of(wire, *history, tools=tools)))


def calls_of(wire: str, reply: Json) -> list[tuple[str, Any]]:
    match wire:
        case "messages":
            return [
                (block["name"], block["input"]) for block in reply["content"] if block["type"] == "tool_use"
            ]
        case "responses":
            return [_responses_call(item) for item in reply["output"] if item["type"].endswith("_call")]
        case _:
            made = reply["choices"][0]["message"].get("tool_calls", ())
            return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in made]


def _responses_call(item: Json) -> tuple[str, Any]:
    match item["type"]:
        case "custom_tool_call":
            return item["name"], item["input"]
        case "tool_search_call":
            return "tool_search", item["arguments"]
    return item.get("namespace", "") + item["name"], json.loads(item["arguments"])


def result_of(wire: str, reply: Json, output: str) -> list[Json]:
    """What an agent adds to the history once it has run the calls of a reply."""
    match wire:
        case "messages":
            results = [
                {"type": "tool_result", "tool_use_id": block["id"], "content": output}
                for block in reply["content"]
                if block["type"] == "tool_use"
            ]
            return [{"role": "assistant", "content": reply["content"]}, {"role": "user", "content": results}]
        case "responses":
            made = [item for item in reply["output"] if "call_id" in item]
            results = [
                {"type": f"{item['type']}_output", "call_id": item["call_id"], "output": output}
                for item in made
            ]
            return [*reply["output"], *results]
        case _:
            message = reply["choices"][0]["message"]
            results = [
                {"role": "tool", "tool_call_id": call["id"], "content": output}
                for call in message["tool_calls"]
            ]
            return [message, *results]


# Streaming on each API


def test_messages_streams_a_text_and_a_call(model: ScriptedModel) -> None:
    model.add_scenario("all", lambda arg: [Text("Hi"), Command("ls"), Usage(9, 4, cache_read_tokens=2)])
    request = request_of("messages", user("SCENARIO:all"), tools={"Bash": schema("command")})
    usage = {
        "input_tokens": 7,
        "cache_read_input_tokens": 2,
        "cache_creation_input_tokens": 0,
        "output_tokens": 4,
    }
    message: Json = {
        "id": "msg_ID",
        "type": "message",
        "role": "assistant",
        "model": "some-model",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage | {"output_tokens": 1},
    }
    call = {"type": "tool_use", "id": "toolu_ID_1", "name": "Bash", "input": {}}
    assert events(model, "messages", request) == [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": call},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"command":"ls"}'},
        },
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": usage,
        },
        {"type": "message_stop"},
    ]


def test_messages_replies_the_same_without_streaming(model: ScriptedModel) -> None:
    reply = reply_to(model, "messages", request_of("messages", user("SCENARIO:thinking")))
    assert (reply["stop_reason"], reply["content"]) == (
        "end_turn",
        [
            {
                "type": "thinking",
                "thinking": "First I look at the question, then I answer it.",
                "signature": "c2NyaXB0ZWQ=",
            },
            {"type": "text", "text": "The answer is 42."},
        ],
    )


def test_responses_streams_a_text(model: ScriptedModel) -> None:
    model.add_scenario("hi", [Text("Hi")])
    at = {"item_id": "msg_ID_0", "output_index": 0}
    part = {"type": "output_text", "text": "Hi", "annotations": []}
    item = {
        "id": "msg_ID_0",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }
    response = {
        "id": "resp_ID",
        "object": "response",
        "created_at": 0,
        "model": "some-model",
        "status": "in_progress",
        "output": [],
    }
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 120,
    }
    expected: list[Json] = [
        {"type": "response.created", "response": response},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": item | {"status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **at, "content_index": 0, "part": part | {"text": ""}},
        {"type": "response.output_text.delta", **at, "content_index": 0, "delta": "Hi"},
        {"type": "response.output_text.done", **at, "content_index": 0, "text": "Hi"},
        {"type": "response.content_part.done", **at, "content_index": 0, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": response | {"status": "completed", "output": [item], "usage": usage},
        },
    ]
    assert events(model, "responses", request_of("responses", user("SCENARIO:hi"))) == [
        event | {"sequence_number": number} for number, event in enumerate(expected)
    ]


def test_chat_streams_thinking_text_and_a_call(model: ScriptedModel) -> None:
    model.add_scenario("all", [*SCENARIOS["thinking"][:1], Text("Hi"), Command("ls")])  # type: ignore[index]
    request = request_of("chat", user("SCENARIO:all"), tools={"bash": schema("command")})
    received = events(model, "chat", request)
    assert [event["choices"][0] | {"index": 0} for event in received if event["choices"]] == [
        {"index": 0, "delta": delta, "finish_reason": None}
        for delta in (
            {"role": "assistant", "content": ""},
            {"reasoning_content": "First I look"},
            {"reasoning_content": " at the ques"},
            {"reasoning_content": "tion, then I"},
            {"reasoning_content": " answer it."},
            {"content": "Hi"},
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "call_ID_2",
                        "type": "function",
                        "function": {"name": "bash", "arguments": ""},
                    }
                ]
            },
            {"tool_calls": [{"index": 0, "function": {"arguments": '{"command":"ls"}'}}]},
        )
    ] + [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]
    assert received[-1]["usage"]["total_tokens"] == 120


@pytest.mark.parametrize(
    ("wire", "usage"),
    [
        (
            "messages",
            {
                "input_tokens": 500,
                "cache_read_input_tokens": 4000,
                "cache_creation_input_tokens": 500,
                "output_tokens": 700,
            },
        ),
        (
            "responses",
            {
                "input_tokens": 5000,
                "input_tokens_details": {"cached_tokens": 4000},
                "output_tokens": 700,
                "output_tokens_details": {"reasoning_tokens": 600},
                "total_tokens": 5700,
            },
        ),
        (
            "chat",
            {
                "prompt_tokens": 5000,
                "completion_tokens": 700,
                "total_tokens": 5700,
                "prompt_tokens_details": {"cached_tokens": 4000},
                "completion_tokens_details": {"reasoning_tokens": 600},
            },
        ),
    ],
)
def test_usage_has_the_format_of_each_api(model: ScriptedModel, wire: str, usage: Json) -> None:
    assert reply_to(model, wire, request_of(wire, user("SCENARIO:usage")))["usage"] == usage


# The tools of each agent

COMMAND = "touch a"
CALLS: dict[str, dict[str, list[tuple[str, Any]]]] = {
    "claude": {
        f"command:{COMMAND}": [("Bash", {"command": COMMAND, "description": "Run a scripted command"})],
        "write": [("Write", {"file_path": "/tmp/ws/greeting.txt", "content": "hello\nworld\n"})],
        "read": [("Read", {"file_path": "/tmp/ws/greeting.txt"})],
        "mcp": [("mcp__demo__add", {"a": 2, "b": 3})],
    },
    "codex": {
        f"command:{COMMAND}": [("exec_command", {"cmd": COMMAND, "yield_time_ms": 30000})],
        "write": [
            (
                "apply_patch",
                "*** Begin Patch\n*** Add File: greeting.txt\n+hello\n+world\n*** End Patch\n",
            )
        ],
        "read": [("exec_command", {"cmd": "cat greeting.txt", "yield_time_ms": 30000})],
        "mcp": [("tool_search", {"query": "demo add", "limit": 8})],
    },
    "codex code mode": {
        f"command:{COMMAND}": [
            (
                "exec",
                'const result = await tools.exec_command({"cmd":"touch a","yield_time_ms":30000});\n'
                "text(JSON.stringify(result));",
            )
        ],
        "mcp": [
            (
                "exec",
                'const result = await tools.mcp__demo__add({"a":2,"b":3});\ntext(JSON.stringify(result));',
            )
        ],
        "subagent:text": [
            ("collaborationspawn_agent", {"message": "SCENARIO:text", "task_name": "scripted_job"})
        ],
    },
    "opencode": {
        f"command:{COMMAND}": [("bash", {"command": COMMAND})],
        "write": [("write", {"filePath": "/tmp/ws/greeting.txt", "content": "hello\nworld\n"})],
        "read": [("read", {"filePath": "/tmp/ws/greeting.txt"})],
        "mcp": [("demo_add", {"a": 2, "b": 3})],
        "subagent:text": [
            (
                "task",
                {"description": "Scripted job", "prompt": "SCENARIO:text", "subagent_type": "general"},
            )
        ],
    },
    "pi": {
        f"command:{COMMAND}": [("bash", {"command": COMMAND})],
        "write": [("write", {"path": "/tmp/ws/greeting.txt", "content": "hello\nworld\n"})],
        "question": [
            ("ask_user", {"question": "Which colour should the button have?", "options": ["Red", "Blue"]}),
            ("ask_user", {"question": "Which checks should run?", "options": ["Lint", "Tests", "Types"]}),
        ],
        "mcp": [("mcp__demo__add", {"a": 2, "b": 3})],
    },
    "amp": {
        f"command:{COMMAND}": [("Bash", {"cmd": COMMAND})],
        "write": [("create_file", {"path": "/tmp/ws/greeting.txt", "content": "hello\nworld\n"})],
        "read": [("Read", {"path": "/tmp/ws/greeting.txt"})],
        "subagent:text": [("Task", {"description": "Scripted job", "prompt": "SCENARIO:text"})],
    },
}


@pytest.mark.parametrize("agent", CALLS)
def test_a_step_becomes_the_call_that_the_agent_offers(model: ScriptedModel, agent: str) -> None:
    wire = WIRE_OF[agent]
    made = {
        scenario: calls_of(
            wire, reply_to(model, wire, agent_request(agent, f"SCENARIO:{scenario.replace(' ', '+')}"))
        )
        for scenario in CALLS[agent]
    }
    assert made == CALLS[agent]


@pytest.mark.parametrize(
    ("agent", "call"),
    [
        (
            "claude",
            ("Edit", {"file_path": "/tmp/ws/greeting.txt", "old_string": "world", "new_string": "universe"}),
        ),
        (
            "codex",
            (
                "apply_patch",
                "*** Begin Patch\n*** Update File: greeting.txt\n@@\n-world\n+universe\n*** End Patch\n",
            ),
        ),
        (
            "opencode",
            ("edit", {"filePath": "/tmp/ws/greeting.txt", "oldString": "world", "newString": "universe"}),
        ),
        (
            "pi",
            (
                "edit",
                {"path": "/tmp/ws/greeting.txt", "edits": [{"oldText": "world", "newText": "universe"}]},
            ),
        ),
        (
            "amp",
            ("edit_file", {"path": "/tmp/ws/greeting.txt", "old_str": "world", "new_str": "universe"}),
        ),
    ],
)
def test_the_next_call_comes_when_the_result_is_in(
    model: ScriptedModel, agent: str, call: tuple[str, Any]
) -> None:
    wire = WIRE_OF[agent]
    request = agent_request(agent, "SCENARIO:edit")
    written = reply_to(model, wire, request)
    history = request["input" if wire == "responses" else "messages"]
    history += result_of(wire, written, "Written.")
    edited = reply_to(model, wire, request)
    history += result_of(wire, edited, "Edited.")
    last = reply_to(model, wire, request)
    assert (calls_of(wire, edited), text_of(wire, last)) == ([call], "Edited.")


@pytest.mark.parametrize(
    ("agent", "members"),
    [
        ("claude", {"header", "question", "options", "multiSelect"}),
        ("codex", {"id", "header", "question", "options"}),
        ("opencode", {"header", "question", "options", "multiple"}),
    ],
)
def test_questions_have_the_members_that_the_agent_knows(
    model: ScriptedModel, agent: str, members: set[str]
) -> None:
    wire = WIRE_OF[agent]
    ((_, arguments),) = calls_of(wire, reply_to(model, wire, agent_request(agent, "SCENARIO:question")))
    colour, checks = arguments["questions"]
    assert (colour.keys(), checks["options"][0]) == (
        members,
        {"label": "Lint", "description": "Choose Lint"},
    )


def test_claude_writes_its_plan_to_the_given_file(model: ScriptedModel) -> None:
    request = agent_request("claude", "SCENARIO:plan")
    request["messages"].insert(
        0, user("<system-reminder>Plan file: /home/.claude/plans/a-b.md</system-reminder>")
    )
    write = reply_to(model, "messages", request)
    request["messages"] += result_of("messages", write, "Written.")
    leave = reply_to(model, "messages", request)
    assert calls_of("messages", write) + calls_of("messages", leave) == [
        (
            "Write",
            {
                "file_path": "/home/.claude/plans/a-b.md",
                "content": "# Plan\n\n1. Create greeting.txt\n2. Check it\n",
            },
        ),
        ("ExitPlanMode", {}),
    ]


def test_codex_sends_its_plan_as_text(model: ScriptedModel) -> None:
    reply = reply_to(model, "responses", agent_request("codex", "SCENARIO:plan"))
    assert text_of("responses", reply).split("|")[1] == (
        "<proposed_plan>\n# Plan\n\n1. Create greeting.txt\n2. Check it\n</proposed_plan>"
    )


def test_codex_loads_a_deferred_tool_before_it_calls_it(model: ScriptedModel) -> None:
    request = agent_request("codex", "SCENARIO:mcp")
    search = reply_to(model, "responses", request)["output"]
    tools = {
        "type": "tool_search_output",
        "call_id": search[0]["call_id"],
        "tools": [{"type": "namespace", "name": "mcp__demo", "tools": [{"name": "add"}]}],
    }
    request["input"] += [*search, tools]
    assert calls_of("responses", reply_to(model, "responses", request)) == [
        ("mcp__demoadd", {"a": 2, "b": 3})
    ]


def test_without_a_tool_it_says_so(model: ScriptedModel) -> None:
    assert say(model, "chat", user("SCENARIO:read:a.txt")) == (
        'I have no tool for the step {"type":"read","path":"a.txt"}.The result was: '
    )


# Which reply is due


@pytest.mark.parametrize("wire", WIRES)
def test_a_prompt_without_a_marker_is_echoed_with_the_count_of_messages(
    model: ScriptedModel, wire: str
) -> None:
    history = [user("SCENARIO:text"), {"role": "assistant", "content": "Hello."}, user("and now?")]
    assert say(model, wire, *history) == "You said: and now? (user message 2)"


def test_text_an_agent_adds_to_a_prompt_is_not_a_prompt(model: ScriptedModel) -> None:
    blocks = [
        {"type": "text", "text": "<system-reminder>\nBe nice.\n</system-reminder>"},
        {"type": "text", "text": "hello <system-reminder>really</system-reminder>"},
    ]
    history: list[Json] = [
        {"role": "user", "content": blocks},
        {"role": "system", "content": "The user is away."},
        {"role": "user", "content": [{"type": "text", "text": "[Image: source: /tmp/a.png]"}]},
    ]
    assert say(model, "messages", *history) == "You said: hello (user message 1)"


def test_the_last_of_two_joined_prompts_counts(model: ScriptedModel) -> None:
    blocks = [{"type": "text", "text": "SCENARIO:error_400"}, {"type": "text", "text": "hello"}]
    assert say(model, "messages", {"role": "user", "content": blocks}) == "You said: hello (user message 2)"


def test_calls_of_one_reply_are_one_round_even_with_results_between_them(model: ScriptedModel) -> None:
    request = agent_request("codex", "SCENARIO:parallel:2")
    text, first, second, *results = result_of("responses", reply_to(model, "responses", request), "result")
    request["input"] += [text, first, results[0], second, results[1]]
    assert text_of("responses", reply_to(model, "responses", request)) == "All done."


def test_a_task_is_the_prompt_of_a_codex_sub_agent(model: ScriptedModel) -> None:
    task = {
        "type": "agent_message",
        "content": [
            {"type": "input_text", "text": "Message Type: NEW_TASK\nPayload:\n"},
            {"type": "encrypted_content", "encrypted_content": "SCENARIO:text"},
        ],
    }
    assert say(model, "responses", task).startswith("Hello from the scripted model.")


def test_a_prompt_can_contain_a_script(model: ScriptedModel) -> None:
    script = '[{"type": "text", "text": "one"}, {"type": "next"}, {"type": "text", "text": "two"}]'
    prompt = user(f"Please:\nSCRIPT:{script}\nThank you.")
    rounds = [
        say(model, "chat", prompt),
        say(model, "chat", prompt, {"role": "assistant", "content": "one"}),
    ]
    assert rounds == ["one", "two"]


def test_an_unknown_scenario_is_answered_with_the_known_ones(model: ScriptedModel) -> None:
    assert say(model, "chat", user("SCENARIO:dance")) == (
        f"There is no scenario dance. There are: {', '.join(sorted(SCENARIOS))}"
    )


def test_an_invalid_script_is_explained(model: ScriptedModel) -> None:
    assert say(model, "chat", user('SCRIPT:[{"type": "text"}]')) == (
        "That is not a script: Object missing required field `text` - at `$[0]`"
    )


def test_a_reply_past_the_end_says_so(model: ScriptedModel) -> None:
    history = [user("SCENARIO:text"), {"role": "assistant", "content": "Hello."}]
    assert say(model, "messages", *history) == "The script is over."


@pytest.mark.parametrize(
    ("wire", "image"),
    [
        (
            "messages",
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        ),
        ("responses", {"type": "input_image", "image_url": "data:image/png;base64,AA=="}),
        ("chat", {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}),
    ],
)
def test_it_names_the_images_it_received(model: ScriptedModel, wire: str, image: Json) -> None:
    text = {"type": "input_text" if wire == "responses" else "text", "text": "SCENARIO:image"}
    seen = say(model, wire, {"role": "user", "content": [text, image]})
    assert (seen, say(model, wire, user("SCENARIO:image"))) == (
        "I see 1 image: image/png.",
        "I see no image.",
    )


# Failures

SERVER_ERROR = {"message": "Scripted server error", "type": "server_error", "param": None, "code": None}


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (
            "messages",
            {
                "type": "error",
                "error": {"type": "api_error", "message": "Scripted server error"},
                "request_id": "req_scripted",
            },
        ),
        ("responses", {"error": SERVER_ERROR}),
        ("chat", {"error": SERVER_ERROR}),
    ],
)
def test_an_error_has_the_format_of_each_api(model: ScriptedModel, wire: str, body: Json) -> None:
    reply = post(model, wire, request_of(wire, user("SCENARIO:error_500")))
    assert (reply.status_code, reply.json()) == (500, body)


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 529])
def test_there_is_a_scenario_for_each_error(model: ScriptedModel, status: int) -> None:
    reply = post(model, "messages", request_of("messages", user(f"SCENARIO:error_{status}")))
    assert (reply.status_code, reply.headers.get("retry-after")) == (status, "1" if status == 429 else None)


def test_a_delay_before_an_http_error_is_waited_for(model: ScriptedModel) -> None:
    script = '[{"type": "delay", "seconds": 0.2}, {"type": "http_error", "status": 500}]'
    began = time.monotonic()
    reply = post(model, "messages", request_of("messages", user(f"SCRIPT:{script}")))
    assert reply.status_code == 500
    assert time.monotonic() - began >= 0.2


@pytest.mark.parametrize("wire", WIRES)
def test_an_error_may_happen_once_for_each_prompt(model: ScriptedModel, wire: str) -> None:
    first, second = (request_of(wire, user(f"SCENARIO:error_429_once:{n}")) for n in (1, 2))
    assert [post(model, wire, request).status_code for request in (first, first, second, first, second)] == [
        429,
        200,
        429,
        200,
        200,
    ]


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_is_cut_before_its_text_is_closed(model: ScriptedModel, wire: str) -> None:
    received: list[str] = []
    request = request_of(wire, user("SCENARIO:cut"))
    with (
        HTTP.stream("POST", model.base_url + PATHS[wire], json=request) as reply,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        received.extend(reply.iter_lines())
    text = "\n".join(received)
    assert '"hing."' in text
    assert not re.search(r"content_block_stop|output_text.done|finish_reason\":\"", text)


def test_a_cut_may_spare_requests_without_a_stream(model: ScriptedModel) -> None:
    whole = "Half an answer, then nothing."
    assert say(model, "messages", user("SCENARIO:cut_stream")) == whole
    with pytest.raises(httpx2.TransportError):
        say(model, "messages", user("SCENARIO:cut"))


@pytest.mark.parametrize(
    ("wire", "last"),
    [
        (
            "messages",
            {
                "type": "error",
                "error": {"type": "overloaded_error", "message": "Overloaded"},
                "request_id": "req_scripted",
            },
        ),
        (
            "chat",
            {
                "error": {
                    "message": "Overloaded",
                    "type": "server_error",
                    "param": None,
                    "code": "server_is_overloaded",
                }
            },
        ),
    ],
)
def test_an_error_may_come_in_mid_stream(model: ScriptedModel, wire: str, last: Json) -> None:
    assert events(model, wire, request_of(wire, user("SCENARIO:error_stream")))[-1] == last


def test_a_response_may_fail_in_mid_stream(model: ScriptedModel) -> None:
    failed = events(model, "responses", request_of("responses", user("SCENARIO:error_stream")))[-1]
    assert (failed["type"], failed["response"]["error"]) == (
        "response.failed",
        {"code": "server_is_overloaded", "message": "Overloaded"},
    )


@pytest.mark.parametrize(
    ("wire", "ends"),
    [
        ("messages", ["max_tokens", "refusal"]),
        ("responses", [{"reason": "max_output_tokens"}, {"reason": "content_filter"}]),
        ("chat", ["length", "content_filter"]),
    ],
)
def test_a_reply_may_end_early(model: ScriptedModel, wire: str, ends: list[Any]) -> None:
    def end(scenario: str) -> Any:
        reply = reply_to(model, wire, request_of(wire, user(f"SCENARIO:{scenario}")))
        match wire:
            case "messages":
                return reply["stop_reason"]
            case "responses":
                return reply["incomplete_details"]
        return reply["choices"][0]["finish_reason"]

    assert [end("max_tokens"), end("refusal")] == ends


def test_an_unknown_model_is_not_found(model: ScriptedModel) -> None:
    reply = post(model, "messages", request_of("messages", user("hi")) | {"model": "no-such-model"})
    assert (reply.status_code, reply.json()["error"]["type"]) == (404, "not_found_error")


def test_an_invalid_request_gets_400(model: ScriptedModel) -> None:
    reply = HTTP.post(model.base_url + "/v1/messages", content=b"{}")
    assert (reply.status_code, reply.json()["error"]["type"]) == (400, "invalid_request_error")


# Agents' own model calls


@pytest.mark.parametrize(
    ("system", "last", "answer"),
    [
        ("You are a title generator.", "SCENARIO:command", "Scripted title"),
        ("Generate a short title as JSON.", "SCENARIO:command", '{"title":"Scripted title"}'),
        (
            "You summarize conversations. Write a summary.",
            "SCENARIO:command",
            "<summary>The user ran scripted scenarios.</summary>",
        ),
        (
            "",
            "Your task is to create a detailed summary of the conversation so far.",
            "<summary>The user ran scripted scenarios.</summary>",
        ),
    ],
)
def test_agents_own_model_calls_play_no_scenario(
    model: ScriptedModel, system: str, last: str, answer: str
) -> None:
    assert say(model, "chat", {"role": "system", "content": system}, user(last)) == answer


def test_amp_gets_its_title_by_a_tool(model: ScriptedModel) -> None:
    request = request_of("messages", user("hello"), tools={"set_title": schema("title")})
    assert calls_of("messages", reply_to(model, "messages", request)) == [
        ("set_title", {"title": "Scripted title"})
    ]


def test_a_probe_of_one_token_gets_one_word(model: ScriptedModel) -> None:
    request = request_of("messages", user("SCENARIO:command")) | {"max_tokens": 1}
    assert text_of("messages", reply_to(model, "messages", request)) == "ok"


def test_tokens_are_counted_and_models_are_listed(model: ScriptedModel) -> None:
    counted = HTTP.post(model.base_url + "/v1/messages/count_tokens?beta=true", content=b"x" * 400).json()
    listed = HTTP.get(model.base_url + "/v1/models").json()
    assert (counted, [listed_model["id"] for listed_model in listed["data"]]) == (
        {"input_tokens": 100},
        ["scripted-1", "scripted-2", "scripted-a", "scripted-r"],
    )


def test_amps_service_stores_threads_and_forwards_requests(model: ScriptedModel) -> None:
    def service(method: str, **params: Any) -> Any:
        body = {"method": method, "params": params}
        return HTTP.post(f"{model.base_url}/api/internal?{method}", json=body).json()

    thread = {"id": "T-1", "v": 7, "messages": []}
    missing = service("getThread", thread="T-1")
    service("uploadThread", thread=thread)
    kept = service("getThread", thread="T-1")["result"]["thread"]
    passed = HTTP.post(
        model.base_url + "/api/provider/anthropic/v1/messages",
        json=request_of("messages", user("hi"), stream=False),
    ).json()
    assert (missing["error"]["code"], kept["version"], kept["data"], text_of("messages", passed)) == (
        "thread-not-found",
        7,
        thread,
        "You said: hi (user message 1)",
    )


# The server


def test_it_records_requests(model: ScriptedModel) -> None:
    request = agent_request("claude", "SCENARIO:text") | {"output_config": {"effort": "high"}}
    post(model, "messages", request)
    assert model.requests == (
        Request(
            wire="messages",
            kind="turn",
            model="some-model",
            effort="high",
            stream=True,
            tools=("Bash", "Write", "Edit", "Read", "AskUserQuestion", "Agent"),
            images=(),
            prompt="SCENARIO:text",
            user_messages=1,
            scenario="text",
            round=0,
        ),
    )


def test_effort_is_read_on_every_wire(model: ScriptedModel) -> None:
    settings: dict[str, Json] = {
        "messages": {"thinking": {"budget_tokens": 4000}},
        "responses": {"reasoning": {"effort": "low"}},
        "chat": {"reasoning_effort": "high"},
    }
    answers = [
        text_of(wire, reply_to(model, wire, request_of(wire, user("SCENARIO:settings")) | setting))
        for wire, setting in settings.items()
    ]
    assert answers == [f"Model some-model, effort {effort}." for effort in ("4000", "low", "high")]


def test_a_request_can_be_waited_for(model: ScriptedModel) -> None:
    asking = threading.Thread(target=say, args=(model, "chat", user("hello")))
    asking.start()
    assert model.wait_for(lambda request: request.scenario == "echo").prompt == "hello"
    asking.join()
    with pytest.raises(TimeoutError):
        model.wait_for(lambda request: request.prompt == "something else", timeout=0)


def test_concurrent_conversations_do_not_mix(model: ScriptedModel) -> None:
    model.add_scenario("turns", [Text("one"), Next(), Delay(0.01), Text("two")])
    prompt, answer = user("SCENARIO:turns"), {"role": "assistant", "content": "one"}
    replies: list[tuple[str, str]] = []

    def converse() -> None:
        replies.append((say(model, "chat", prompt), say(model, "chat", prompt, answer)))

    threads = [threading.Thread(target=converse) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == [("one", "two")] * 8


def test_closing_cuts_a_reply_that_hangs() -> None:
    with ScriptedModel() as model:
        request = request_of("messages", user("SCENARIO:hang"))
        with HTTP.stream("POST", model.base_url + PATHS["messages"], json=request) as reply:
            lines = reply.iter_lines()
            first = next(lines)
            model.close()
            with pytest.raises(httpx2.TransportError):
                list(lines)
    assert first == "event: message_start"


def test_it_runs_as_a_command(tmp_path: Path) -> None:
    scenarios = tmp_path / "scenarios.json"
    scenarios.write_text('{"mine": [{"type": "text", "text": "From a file."}]}')
    command = [sys.executable, "-m", "sandbox_agent.testing.scripted_model", "--scenarios", str(scenarios)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = server.stdout.readline().strip()
        request = request_of("chat", user("SCENARIO:mine"), stream=False)
        reply = HTTP.post(address + "/v1/chat/completions", json=request).json()
        server.terminate()
    assert text_of("chat", reply) == "From a file."


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", sorted(set(SCENARIOS) - {"slow", "slow_thinking", "hang"}))
def test_every_scenario_has_a_reply_or_an_error_on_every_wire(
    model: ScriptedModel, wire: str, name: str
) -> None:
    request = agent_request(
        {"messages": "claude", "responses": "codex", "chat": "pi"}[wire], f"SCENARIO:{name}"
    )
    if name.startswith("cut") and name != "cut_stream":
        with pytest.raises(httpx2.TransportError):
            post(model, wire, {**request, "stream": False})
        return
    reply = post(model, wire, {**request, "stream": False})
    assert (reply.status_code == 200) == (not name.startswith("error")), reply.text
