"""How a function is described to an agent, and how its arguments and result are converted."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest

from sandbox_agent import FunctionTool, ToolImage
from sandbox_agent.client.function_tool import function_tool
from sandbox_agent.client.toolbox import MAX_SESSIONS, Toolboxes, failure_of, outcome_of
from sandbox_agent.schema.tools import ToolOutcome


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


@dataclasses.dataclass
class Place:
    city: str
    country: str = "DE"


class Span(TypedDict):
    days: int


class Wind(msgspec.Struct):
    knots: float


def weather(
    place: Place,
    span: Span,
    names: list[str],
    limit: Annotated[int, msgspec.Meta(ge=1)],
    share: float,
    note: Annotated[str, "Anything else."] = "",
    unit: Unit = Unit.CELSIUS,
    kind: Literal["now", "later"] = "now",
    wind: Wind | None = None,
    exact: bool = False,
    extra: dict[str, Any] = {},  # noqa: B006
    *,
    optional: int = None,  # type: ignore[assignment] # noqa: RUF013
) -> object:
    """The weather somewhere.

    Call it before you go out.

    Args:
        place: Where it is,
            exactly.
        limit (int): How many: at least one.
        note: The type hint says it already.

    Returns:
        The weather: a text.
    """
    return place, span, names, limit, share, note, unit, kind, wind, exact, extra, optional


def test_a_function_says_everything_that_an_agent_needs() -> None:
    tool = function_tool(weather)
    assert (tool.name, tool.description) == (
        "weather",
        "The weather somewhere.\n\nCall it before you go out.",
    )
    properties = tool.input_schema["properties"]
    assert tool.input_schema["required"] == ["place", "span", "names", "limit", "share"]
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    assert set(tool.input_schema["$defs"]) == {"Place", "Span", "Unit", "Wind"}
    assert properties["place"] == {"$ref": "#/$defs/Place", "description": "Where it is, exactly."}
    assert properties["limit"] == {"type": "integer", "minimum": 1, "description": "How many: at least one."}
    assert properties["note"] == {"type": "string", "description": "Anything else.", "default": ""}
    assert properties["unit"] == {"$ref": "#/$defs/Unit", "default": "C"}
    assert properties["kind"] == {"enum": ["later", "now"], "default": "now"}
    assert properties["exact"] == {"type": "boolean", "default": False}
    assert properties["optional"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}


def test_arguments_arrive_as_the_types_that_the_function_declares() -> None:
    given = {"place": {"city": "Bonn"}, "span": {"days": 2.0}, "names": ["a"], "limit": 2.0, "share": 3}
    arguments = (Place("Bonn"), {"days": 2}, ["a"], 2, 3.0)
    defaults: tuple[object, ...] = ("", Unit.CELSIUS, "now", None, False, {}, None)
    assert function_tool(weather).run(given) == (*arguments, *defaults)
    given |= {"unit": "F", "wind": {"knots": 1}, "note": "2.0", "optional": None}
    rest: tuple[object, ...] = ("2.0", Unit.FAHRENHEIT, "now", Wind(1.0), False, {}, None)
    assert function_tool(weather).run(given) == (*arguments, *rest)
    with pytest.raises(msgspec.ValidationError, match=r"missing required field `place`"):
        function_tool(weather).run({})


def sphinx(city: str, days: int) -> None:
    """Look it up.

    :param city: Name of the city,
        in English.
    :param int days: How many.
    :returns: nothing
    """


def test_sphinx_style_is_read_too() -> None:
    tool = function_tool(sphinx)
    texts = {name: schema["description"] for name, schema in tool.input_schema["properties"].items()}
    assert tool.description == "Look it up."
    assert texts == {"city": "Name of the city, in English.", "days": "How many."}


class Shop:
    def buy(self, item: str) -> str:
        return f"bought {item}"

    def __call__(self, item: str) -> None: ...


@functools.wraps(weather)
def decorated(*arguments: Any, **named: Any) -> object:
    return weather(*arguments, **named)


def test_methods_and_decorated_functions_are_functions() -> None:
    assert function_tool(Shop().buy).run({"item": "milk"}) == "bought milk"
    assert function_tool(decorated).input_schema == function_tool(weather).input_schema


def no_hint(city) -> None: ...  # type: ignore[no-untyped-def]
def splat(*cities: str) -> None: ...
def keywords(**more: str) -> None: ...
def by_position(city: str, /) -> None: ...
def no_schema(city: complex) -> None: ...
def unknown(city: Nowhere) -> None: ...  # type: ignore[name-defined] # noqa: F821
def ambiguous(city: Place | Wind) -> None: ...


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (
            no_hint,
            r"no_hint\(\) cannot be a tool: the parameter `city` has no type hint: write e.g. `city: str`",
        ),
        (splat, r"the parameter `cities` is `\*cities: 'str'`, which has no schema"),
        (keywords, r"the parameter `more` is `\*\*more: 'str'`, which has no schema"),
        (by_position, "the parameter `city` is positional-only"),
        (no_schema, "the parameter `city` has a type without a JSON schema: .*complex"),
        (unknown, "the parameter `city` has a type hint that cannot be resolved: name 'Nowhere'"),
        (ambiguous, "the parameter `city` has a type without a JSON schema: Type unions"),
        (Shop, "give a function with a name, or a FunctionTool"),
        (Shop(), "give a function with a name, or a FunctionTool"),
        (lambda city: city, "give a function with a name, or a FunctionTool"),
        (functools.partial(splat, "x"), "give a function with a name, or a FunctionTool"),
    ],
)
def test_a_function_that_no_agent_could_call_is_refused(
    function: Callable[..., object], problem: str
) -> None:
    with pytest.raises(TypeError, match=problem):
        function_tool(function)


@pytest.mark.parametrize(
    ("returned", "output"),
    [
        ("rain", "rain"),
        (None, ""),
        (21, "21"),
        ({"rain": True}, '{"rain":true}'),
        (Place("Bonn"), '{"city":"Bonn","country":"DE"}'),
        (["a", "b"], '["a","b"]'),
        ("\ud800", "?"),
    ],
)
def test_what_a_function_returns_becomes_text(returned: object, output: str) -> None:
    assert outcome_of(returned) == ToolOutcome(output)


def test_images_are_returned_with_the_text() -> None:
    image = ToolImage.of(b"hi", "image/gif")
    assert image == ToolImage("aGk=", "image/gif")
    assert outcome_of(image) == ToolOutcome("", images=(image,))
    assert outcome_of(["a map", image, {"n": 1}]) == ToolOutcome('a map\n{"n":1}', images=(image,))


@pytest.mark.parametrize("returned", [b"GIF89a", object()])
def test_what_cannot_be_sent_is_an_error(returned: object) -> None:
    with pytest.raises(TypeError):
        outcome_of(returned)


def test_an_error_shows_its_type_and_message() -> None:
    assert failure_of("weather", ValueError("no such city")) == ToolOutcome(
        "ValueError: no such city", failed=True
    )
    assert failure_of("weather", KeyError()).output == "KeyError"


def test_a_client_keeps_the_functions_of_the_latest_sessions() -> None:
    toolboxes = Toolboxes()
    for number in range(MAX_SESSIONS + 1):
        toolboxes.add(f"s{number}", [FunctionTool("weather", str)])
    assert not toolboxes.of("s0").functions
    assert toolboxes.of(f"s{MAX_SESSIONS}").functions
