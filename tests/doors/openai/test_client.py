"""What programs do with OpenAI's own client, on a real daemon with the mock agent."""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import Response

from .conftest import Native, session_of

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()
HELLO = "You said: hello (message 1 of this conversation)"


def asked(*texts: str) -> list[ChatCompletionMessageParam]:
    """The user and the assistant in turn."""
    messages: list[ChatCompletionMessageParam] = []
    for index, text in enumerate(texts):
        if index % 2:
            messages.append({"role": "assistant", "content": text})
        else:
            messages.append({"role": "user", "content": text})
    return messages


@pytest.mark.door("OpenAI", "models")
def test_agents_and_their_models_are_models(client: openai.OpenAI) -> None:
    models = {model.id: model.owned_by for model in client.models.list()}
    assert models.keys() >= {"mock", "mock/mock-1", "mock/mock-1@high"}
    assert models["mock/mock-1@high"] == "mock"
    response = client.responses.create(model="mock/mock-1@high", input="hello")
    assert response.output_text.endswith("(message 1 of this conversation, model mock-1, variant high)")
    assert response.model == "mock/mock-1@high"


@pytest.mark.door("OpenAI", "text", "usage")
def test_a_response_has_the_text_and_the_usage_of_its_turn(client: openai.OpenAI, native: Native) -> None:
    before = int(time.time())
    response = client.responses.create(model="mock", input="hello", instructions="Be kind.")
    assert response.status == "completed"
    assert response.output_text == "You said: Be kind.\n\nhello (message 1 of this conversation)"
    assert before <= response.created_at <= time.time()
    *_, ended = native.events(session_of(response))
    spent, usage = ended["data"]["metadata"]["usage"], response.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (spent["input_tokens"], spent["output_tokens"])
    assert usage.total_tokens == spent["input_tokens"] + spent["output_tokens"]
    assert client.responses.retrieve(response.id) == response


@pytest.mark.door("OpenAI", "text", "thinking", "tool calls", "sub-agents")
def test_a_streamed_response_adds_up_to_the_stored_one(client: openai.OpenAI) -> None:
    with client.responses.stream(model="mock", input="demo") as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
    deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert deltas == final.output_text
    stored = client.responses.retrieve(final.id)
    assert stored.output_text == final.output_text
    summaries = [item.summary[0].text for item in stored.output if item.type == "reasoning"]
    assert summaries[0].startswith("The user wants to see me think.")
    assert "bash: seq 3" in summaries
    assert "Count the files" in "".join(summaries)
    assert "42 files" in final.output_text  # what the sub-agent itself said is left out
    assert final.output_text.count("\n\n") > 3


@pytest.mark.door("OpenAI", "second turn")
def test_a_response_is_continued_once(client: openai.OpenAI) -> None:
    first = client.responses.create(model="mock", input="hello")
    second = client.responses.create(model="mock", input="again", previous_response_id=first.id)
    assert second.output_text == "You said: again (message 2 of this conversation)"
    assert session_of(first) == session_of(second)
    with pytest.raises(openai.BadRequestError, match=f"continue with {second.id}") as refused:
        client.responses.create(model="mock", input="again", previous_response_id=first.id)
    assert refused.value.param == "previous_response_id"
    with pytest.raises(openai.BadRequestError, match="start a new one to change the agent"):
        client.responses.create(model="claude", input="again", previous_response_id=second.id)


@pytest.mark.door("OpenAI", "models", "permission mode")
def test_a_continued_conversation_changes_model_and_mode(client: openai.OpenAI, native: Native) -> None:
    first = client.responses.create(model="mock", input="hello")
    second = client.responses.create(
        model="mock/mock-2",
        input="again",
        previous_response_id=first.id,
        extra_headers={"x-permission-mode": "plan"},
    )
    assert "model mock-2" in second.output_text
    assert native.get(f"/sessions/{session_of(second)}")["permissionMode"] == "plan"


@pytest.mark.door("OpenAI", "text", "usage")
def test_a_chat_completion_is_one_answer(client: openai.OpenAI, native: Native) -> None:
    completion = client.chat.completions.create(model="mock", messages=asked("hello"))
    (choice,) = completion.choices
    assert (choice.message.content, choice.finish_reason) == (HELLO, "stop")
    *_, ended = native.events(session_of(completion))
    spent, usage = ended["data"]["metadata"]["usage"], completion.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (spent["input_tokens"], spent["output_tokens"])


@pytest.mark.door("OpenAI", "text", "usage")
def test_a_streamed_completion_adds_up_to_the_whole(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(
        model="mock", messages=asked("thinking"), stream_options={"include_usage": True}
    ) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        final = stream.get_final_completion()
    assert text == final.choices[0].message.content == "I thought about it."
    assert final.choices[0].finish_reason == "stop"
    assert final.usage is not None
    assert final.usage.completion_tokens > 0


def test_a_chat_that_began_elsewhere_is_sent_to_the_agent(client: openai.OpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "Be kind."},
        *asked("a", "b", "c"),
    ]
    completion = client.chat.completions.create(model="mock", messages=messages)
    prompt = "Be kind.\n\nThe conversation so far:\n\nUser: a\n\nAssistant: b\n\nThe new message:\n\nc"
    assert completion.choices[0].message.content == f"You said: {prompt} (message 1 of this conversation)"


@pytest.mark.door("OpenAI", "second turn")
def test_a_chat_continues_the_session_it_names(client: openai.OpenAI, native: Native) -> None:
    named: dict[str, Any] = {"model": "mock", "extra_headers": {"x-session-id": "my-chat"}}
    client.chat.completions.create(messages=asked("hello"), **named)
    second = client.chat.completions.create(messages=asked("hello", HELLO, "again"), **named)
    assert second.choices[0].message.content == "You said: again (message 2 of this conversation)"
    third = client.chat.completions.create(
        model="mock", messages=asked("once more"), metadata={"session_id": "my-chat"}
    )
    assert third.choices[0].message.content == "You said: once more (message 3 of this conversation)"
    assert native.get("/sessions/my-chat")["turns"] == 3


@pytest.mark.door("OpenAI", "permission rejected", "permission mode")
def test_a_permission_is_rejected_unless_the_mode_allows_it(client: openai.OpenAI) -> None:
    rejected = client.responses.create(model="mock", input="permission hi")
    assert rejected.status == "completed"
    assert rejected.output_text.startswith("[Not permitted: bash: echo hi.")
    allowed = client.responses.create(
        model="mock", input="permission hi", extra_headers={"x-permission-mode": "bypass"}
    )
    assert allowed.output_text == "The command said: hi"


@pytest.mark.door("OpenAI", "questions", "plan approval")
def test_a_question_or_plan_is_shown_and_rejected(client: openai.OpenAI) -> None:
    question = client.responses.create(model="mock", input="question").output_text
    assert question.startswith("Which colour do you like?\n- Red")
    assert "[The agent asked this and got no answer" in question
    plan = client.responses.create(model="mock", input="plan").output_text
    assert "[This plan was not approved" in plan


@pytest.mark.door("OpenAI", "images", "files")
def test_images_and_files_are_attached(client: openai.OpenAI) -> None:
    image = f"data:image/png;base64,{PNG}"
    response = client.responses.create(
        model="mock",
        input=[
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    {"type": "input_image", "image_url": image, "detail": "auto"},
                    {
                        "type": "input_file",
                        "filename": "notes.txt",
                        "file_data": "data:text/plain;base64,aGk=",
                    },
                ],
            }
        ],
    )
    assert "file.png" in response.output_text
    assert "notes.txt" in response.output_text
    completion = client.chat.completions.create(
        model="mock",
        messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": image}}]}],
    )
    assert "file.png" in (completion.choices[0].message.content or "")


def test_what_a_response_put_out_can_be_put_in_again(client: openai.OpenAI) -> None:
    first = client.responses.create(model="mock", input="thinking")
    outputs: Any = [
        {"role": "user", "content": "thinking"},
        *first.output,
        {"role": "user", "content": "now"},
    ]
    second = client.responses.create(model="mock", input=outputs)
    assert "Assistant: I thought about it.\n\nThe new message:\n\nnow" in second.output_text


# -- long turns -------------------------------------------------------------------------------


@pytest.mark.door("OpenAI", "turn continues after a disconnect", "transcript reloaded", "lost stream")
def test_a_stream_is_read_on_where_it_was_cut(client: openai.OpenAI) -> None:
    stream = client.responses.create(model="mock", input="pace 20 50", stream=True)
    seen = []
    for event in stream:
        seen.append(event)
        if event.type == "response.output_text.delta":
            break
    stream.close()
    assert seen[0].type == "response.created"
    rest = list(
        client.responses.retrieve(seen[0].response.id, stream=True, starting_after=seen[-1].sequence_number)
    )
    numbers = [event.sequence_number for event in [*seen, *rest]]
    assert numbers == list(range(len(numbers)))
    assert rest[-1].type == "response.completed"
    text = "".join(event.delta for event in [*seen, *rest] if event.type == "response.output_text.delta")
    assert text == rest[-1].response.output_text
    again = list(client.responses.retrieve(seen[0].response.id, stream=True))
    assert again == [*seen, *rest]


@pytest.mark.door("OpenAI", "background", "cancel")
def test_a_response_in_the_background_is_cancelled(client: openai.OpenAI) -> None:
    response = client.responses.create(model="mock", input="slow 60", background=True)
    assert response.status in ("queued", "in_progress")
    assert client.responses.cancel(response.id).status == "cancelled"
    assert client.responses.retrieve(response.id).status == "cancelled"
    assert client.responses.cancel(response.id).status == "cancelled"


@pytest.mark.door("OpenAI", "queued prompts", "cancel")
def test_a_response_that_waits_is_withdrawn(client: openai.OpenAI) -> None:
    first = client.responses.create(model="mock", input="slow 60", background=True)
    second = client.responses.create(
        model="mock", input="hello", background=True, previous_response_id=first.id
    )
    assert client.responses.retrieve(second.id).status == "queued"
    assert client.responses.cancel(second.id).status == "cancelled"
    assert client.responses.retrieve(second.id).status == "cancelled"
    assert client.responses.retrieve(first.id).status == "in_progress"
    assert client.responses.cancel(first.id).status == "cancelled"
    third = client.responses.create(model="mock", input="hello", previous_response_id=first.id)
    assert third.output_text == "You said: hello (message 2 of this conversation)"


def test_a_reader_that_pauses_loses_nothing(client: openai.OpenAI) -> None:
    stream = client.responses.create(model="mock", input="flood 1k 1k", stream=True)
    first = next(stream)
    assert first.type == "response.created"
    # It reads nothing until the whole turn is in the log.
    deadline = time.monotonic() + 60
    while client.responses.retrieve(first.response.id).status == "in_progress":
        assert time.monotonic() < deadline
    *deltas, last = stream
    assert last.type == "response.completed"
    text = "".join(event.delta for event in deltas if event.type == "response.output_text.delta")
    assert len(text) >= 1024 * 1024
    assert text == last.response.output_text


@pytest.mark.long
def test_a_silent_turn_is_kept_alive_by_comments(client: openai.OpenAI, tmp_path: Path) -> None:
    with client.responses.with_streaming_response.create(
        model="mock",
        input="late 17",
        stream=True,
        extra_headers={"x-permission-mode": "bypass", "x-directory": str(tmp_path)},
    ) as response:
        lines = list(response.iter_lines())
    assert ": ping" in lines
    assert lines[-2].startswith('data: {"type":"response.completed"')


# -- failures ---------------------------------------------------------------------------------


@pytest.mark.door("OpenAI", "errors")
def test_a_failed_turn_is_a_failed_response(client: openai.OpenAI) -> None:
    response = client.responses.create(model="mock", input="error")
    assert isinstance(response, Response)
    assert response.status == "failed"
    assert response.error is not None
    assert response.error.code == "server_error"
    *_, last = client.responses.create(model="mock", input="crash", stream=True)
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert "exit" in last.response.error.message


@pytest.mark.door("OpenAI", "errors")
def test_a_failed_turn_is_an_error_and_not_a_completion(client: openai.OpenAI) -> None:
    retrying = client.with_options(max_retries=2)
    with pytest.raises(openai.UnprocessableEntityError) as failed:
        retrying.chat.completions.create(model="mock", messages=asked("error"))
    assert failed.value.response.request.headers["x-stainless-retry-count"] == "0"
    with pytest.raises(openai.APIError, match=failed.value.message.partition(" - ")[2]):
        list(client.chat.completions.create(model="mock", messages=asked("error"), stream=True))
