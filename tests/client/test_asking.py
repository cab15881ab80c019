"""What callbacks may return, and the error for anything else."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_agent import Answer, Decision
from sandbox_agent.client.asking import answer_of, awaited, awaited_here, decision_of


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("once", Decision("once")),
        ("always", Decision("always")),
        ("reject", Decision("reject")),
        (True, Decision("once")),
        (False, Decision("reject")),
        (Decision("reject", "not here"), Decision("reject", "not here")),
    ],
)
def test_a_permission_can_be_answered_in_many_ways(given: object, meant: Decision) -> None:
    assert decision_of(given) == meant


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, Answer(None)),
        ("Red", Answer((("Red",),))),
        (["Red"], Answer((("Red",),))),
        (["Small", ["Cheese", "Basil"]], Answer((("Small",), ("Cheese", "Basil")))),
        ((("Red",),), Answer((("Red",),))),
        (Answer((("Red",),), "please"), Answer((("Red",),), "please")),
    ],
)
def test_a_question_can_be_answered_in_many_ways(given: object, meant: Answer) -> None:
    assert answer_of(given) == meant


@pytest.mark.parametrize("given", [None, "yes", 1, ["once"]])
def test_an_invalid_decision_is_refused_with_the_valid_ones(given: object) -> None:
    with pytest.raises(TypeError, match='return "once", "always", "reject", True, False or a Decision'):
        decision_of(given)


@pytest.mark.parametrize("given", [1, [1], {"Colour": "Red"}, [["Red", 1]]])
def test_an_invalid_answer_is_refused_with_the_valid_form(given: object) -> None:
    with pytest.raises(TypeError, match="return a text, a list with a text or a list of labels"):
        answer_of(given)


async def later() -> str:
    return "once"


def test_a_callback_may_be_a_coroutine_function_or_not() -> None:
    async def both() -> list[object]:
        return [await awaited(later()), await awaited("once")]

    assert asyncio.run(both()) == ["once", "once"]
    assert [awaited_here(later()), awaited_here("once")] == ["once", "once"]


def test_the_blocking_client_takes_coroutine_functions_in_a_notebook_too() -> None:
    async def cell() -> object:
        return awaited_here(later())

    assert asyncio.run(cell()) == "once"
