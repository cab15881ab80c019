"""Tools made of functions: name, description and schema come from the signature, type hints and docstring."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from ..schema.tools import Tool
from .docstrings import read_docstring

REFERENCE = "#/$defs/{name}"


class FunctionTool(Struct, frozen=True):
    """A tool whose name, description and schema you give yourself. `run` gets the arguments as a dict, checked against the schema.

    `run` may be a coroutine function. What it returns is converted like the result of a plain function.
    """

    name: str
    run: Callable[[dict[str, Any]], object]
    description: str = ""
    input_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})

    @property
    def offered(self) -> Tool:
        """The part that the daemon and the agent see."""
        return Tool(self.name, self.description, self.input_schema)


ToolSource: TypeAlias = Callable[..., object] | FunctionTool | Tool
"""What `tools=` accepts. A plain `Tool` (`ToolSpec`) has no function: another client answers its calls."""


class _Parameter(NamedTuple):
    name: str
    hint: Any
    default: Any
    """UNSET if there is none."""

    @property
    def field(self) -> tuple[str, Any] | tuple[str, Any, Any]:
        """A parameter with a default may be left out: then the function uses its own."""
        if self.default is UNSET:
            return self.name, self.hint
        hint = self.hint | None if self.default is None else self.hint
        return self.name, hint | UnsetType, UNSET


def function_tool(function: Callable[..., object]) -> FunctionTool:
    """Describe a function to an agent. Raises `TypeError` if its signature cannot be described."""
    name = getattr(function, "__name__", "")
    if not name.isidentifier() or inspect.isclass(function):
        raise TypeError(f"{function!r} cannot be a tool: give a function with a name, or a FunctionTool")
    try:
        parameters = [
            _parameter(function, parameter) for parameter in inspect.signature(function).parameters.values()
        ]
        fields = [parameter.field for parameter in parameters]
        arguments = msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
        schema = _schema_of(arguments)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}() cannot be a tool: {error}") from None
    described = read_docstring(inspect.getdoc(function) or "")
    for parameter in parameters:
        _describe(schema["properties"][parameter.name], parameter, described.parameters)

    def run(given: dict[str, Any]) -> object:
        values = msgspec.convert(_whole_numbers(given), arguments, str_keys=True)
        named = ((name, getattr(values, name)) for name in values.__struct_fields__)
        return function(**{name: value for name, value in named if value is not UNSET})

    return FunctionTool(name, run, described.text, schema)


def _parameter(function: Callable[..., object], given: inspect.Parameter) -> _Parameter:
    match given.kind:
        case inspect.Parameter.POSITIONAL_ONLY:
            problem = "is positional-only, and agents give arguments by name: remove the `/`"
        case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
            problem = f"is `{given}`, which has no schema: name the parameters, or give a FunctionTool"
        case _ if given.annotation is inspect.Parameter.empty:
            problem = f"has no type hint: write e.g. `{given.name}: str`"
        case _:
            try:
                hint = _resolved(function, given.annotation)
                msgspec.json.schema(hint)
            except NameError as error:
                problem = f"has a type hint that cannot be resolved: {error}; define its types in the module"
            except (TypeError, SyntaxError) as error:
                problem = f"has a type without a JSON schema: {str(error).splitlines()[-1]}"
            else:
                default = UNSET if given.default is inspect.Parameter.empty else given.default
                return _Parameter(given.name, hint, default)
    raise TypeError(f"the parameter `{given.name}` {problem}")


def _resolved(function: Callable[..., object], annotation: object) -> Any:
    """The type that an annotation names: under `from __future__ import annotations` it is a string."""
    holder = SimpleNamespace(__annotations__={"hint": annotation})
    scope = getattr(inspect.unwrap(function), "__globals__", {})
    return typing.get_type_hints(holder, scope, include_extras=True)["hint"]


def _schema_of(arguments: type[Struct]) -> dict[str, Any]:
    """The schema itself, without a reference to it: agents want an object at the top."""
    (reference,), definitions = msgspec.json.schema_components([arguments], ref_template=REFERENCE)
    schema = definitions.pop(reference["$ref"].removeprefix(REFERENCE.format(name="")))
    del schema["title"]
    return {**schema, "$defs": definitions} if definitions else schema


def _describe(property: dict[str, Any], parameter: _Parameter, texts: dict[str, str]) -> None:
    """Say what a parameter means: the first text in `Annotated[...]`, or what the docstring says."""
    notes = [note for note in getattr(parameter.hint, "__metadata__", ()) if isinstance(note, str)]
    if text := next(iter(notes), texts.get(parameter.name)):
        property.setdefault("description", text)
    if parameter.default is not UNSET and parameter.default is not None:
        # A default that JSON cannot express means something to the function only.
        with suppress(TypeError):
            property["default"] = msgspec.to_builtins(parameter.default, str_keys=True)


def _whole_numbers(given: dict[str, Any]) -> Any:
    """The arguments with 2.0 as 2: JSON Schema's integers include it, and some models write it."""
    return _decoder.decode(msgspec.json.encode(given))


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value


_decoder = msgspec.json.Decoder(float_hook=_number)
