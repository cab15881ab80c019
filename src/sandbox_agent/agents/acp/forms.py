"""Converts an agent's forms (elicitations) to questions, and the answers to the content of the form.

A field with choices may have a companion field for free text, named `<field>_custom` (claude-agent-acp). It
is not a question of its own; it receives the answers that match no choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ...schema.events import AskedQuestion
from ...schema.events import Choice as Label
from .frames import Choice, Elicitation, Property

Answers = tuple[tuple[str, ...], ...]

CONFIRM = "Accept"
"""The only answer to a form without fields."""


class Field(Struct, frozen=True):
    key: str
    type: str
    question: AskedQuestion
    values: dict[str, Any]
    """The value each label stands for."""
    own_words: str | None = None
    """The key of the field that receives answers that match no label."""

    def content(self, labels: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        chosen = [self.values[label] for label in labels if label in self.values]
        written = ", ".join(label for label in labels if label not in self.values)
        if written and self.own_words is not None:
            yield self.own_words, written
        elif written:
            chosen.append(_number(written) if self.type in ("number", "integer") else written)
        if self.type == "array" and chosen:
            yield self.key, chosen
        elif chosen:
            yield self.key, chosen[0]

    def labels(self, content: dict[str, Any]) -> tuple[str, ...]:
        """The inverse of `content`."""
        value = content.get(self.key)
        chosen = value if isinstance(value, list) else [] if value is None else [value]
        written = content.get(self.own_words) if self.own_words else None
        return (*map(self._label, chosen), *((written,) if isinstance(written, str) else ()))

    def _label(self, value: Any) -> str:
        # Compare types as well: True equals 1.
        labels = (
            label
            for label, meaning in self.values.items()
            if meaning == value and type(meaning) is type(value)
        )
        return next(labels, str(value))


def fields_of(form: Elicitation) -> tuple[Field, ...]:
    properties = form.requested_schema.properties
    own_words = {
        f"{key}_custom": key
        for key, schema in properties.items()
        if _choices(schema) and f"{key}_custom" in properties
    }
    shown = [(key, schema) for key, schema in properties.items() if key not in own_words]
    fields = []
    for number, (key, schema) in enumerate(shown):
        text = schema.description or schema.title or key
        # The form of a tool call only repeats its questions in general terms; any other form says who asks,
        # and why.
        if len(shown) == 1:
            text = f"{form.message}\n\n{schema.description}" if schema.description else form.message or text
        elif number == 0 and form.message and form.tool_call_id is None:
            text = f"{form.message}\n\n{text}"
        options = tuple(
            Label(choice.title or choice.const, choice.description or "") for choice in _choices(schema)
        )
        asked = AskedQuestion(text, schema.title or key, options, schema.type == "array")
        companion = f"{key}_custom"
        fields.append(
            Field(key, schema.type, asked, _values(schema), companion if companion in own_words else None)
        )
    return tuple(fields)


def questions_of(form: Elicitation, fields: tuple[Field, ...]) -> tuple[AskedQuestion, ...]:
    if fields:
        return tuple(field.question for field in fields)
    return (AskedQuestion(form.message, "", (Label(CONFIRM),)),)


def content_of(fields: tuple[Field, ...], answers: Answers) -> dict[str, Any]:
    pairs = zip(fields, answers, strict=False)
    return {key: value for field, labels in pairs for key, value in field.content(labels)}


def answers_in(fields: tuple[Field, ...], content: dict[str, Any]) -> Answers:
    """The inverse of `content_of`."""
    return tuple(field.labels(content) for field in fields) or ((CONFIRM,),)


def _choices(schema: Property) -> tuple[Choice, ...]:
    if schema.type == "boolean":
        return (Choice(const="true", title="Yes"), Choice(const="false", title="No"))
    if schema.items is not None:
        return schema.items.any_of or tuple(Choice(const=value) for value in schema.items.enum)
    return schema.one_of or tuple(Choice(const=value) for value in schema.enum or ())


def _values(schema: Property) -> dict[str, Any]:
    if schema.type == "boolean":
        return {"Yes": True, "No": False}
    return {choice.title or choice.const: choice.const for choice in _choices(schema)}


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
