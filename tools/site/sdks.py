"""The reference pages of the SDKs: every method with its signature and what it does.

Python's come from the client's classes. TypeScript's are read from the source, whose methods all have a comment in
front and a body behind.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sandbox_agent import SandboxAgent, Session, Turn

from .mdx import anchor, folded, page, prose

SOURCES = Path(__file__).parents[2] / "sdks" / "typescript" / "src"

INTERNAL = {"ask", "create_session", "watch"}
"""Methods of the Python client that its own parts use."""

NOWHERE = "http://127.0.0.1:1"


def python() -> str:
    client = SandboxAgent.connect(NOWHERE)
    session = client.session("example")
    sections = [
        "`SandboxAgent` is the blocking client. `AsyncSandboxAgent` has the same methods: await them, and iterate with "
        "`async for`. Every example of the [guide](/sdk-python) runs in the tests.\n",
        *_class("SandboxAgent", "client", SandboxAgent),
        *(section for name in _groups(client) for section in _group(f"client.{name}", getattr(client, name))),
        *_class("Session", "session", Session),
        *(
            section
            for name in _groups(session)
            for section in _group(f"session.{name}", getattr(session, name))
        ),
        *_class("Turn", "turn", Turn),
    ]
    return page("Python SDK methods", "Every method of the Python SDK.", "\n".join(sections))


def _groups(owner: object) -> list[str]:
    """The attributes of a handle that group operations."""
    kinds = {name: type(value) for name, value in vars(owner).items() if not name.startswith("_")}
    return [name for name, kind in kinds.items() if kind.__module__.endswith("operations")]


def _class(title: str, variable: str, kind: type) -> Iterator[str]:
    yield f"## {title}\n"
    for name, method in _methods(kind):
        owner = title if isinstance(inspect.getattr_static(kind, name), classmethod) else variable
        yield _python_method(f"{owner}.{name}", method)


def _group(title: str, group: object) -> Iterator[str]:
    yield f"## {title}\n"
    for name, method in _methods(type(group)):
        yield _python_method(f"{title}.{name}", method)


def _methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, method in inspect.getmembers(kind, callable):
        if not name.startswith("_") and not (kind is SandboxAgent and name in INTERNAL):
            yield name, method


def _python_method(name: str, method: Callable[..., Any]) -> str:
    signature = re.sub(r"\(self(, )?", "(", str(inspect.signature(method)).replace("'", ""))
    text = inspect.getdoc(method) or ""
    return folded(f"{name}()", anchor(name), f"```python\n{_broken(name + signature)}\n```", prose(text))


def _broken(signature: str) -> str:
    """A long signature, one parameter per line."""
    if len(signature) <= 100:
        return signature
    head, _, rest = signature.partition("(")
    inside, _, answer = rest.rpartition(") -> ")
    parameters = re.split(r", (?![^\[]*\])", inside)
    return "\n".join([f"{head}(", *(f"    {parameter}," for parameter in parameters), f") -> {answer}"])


# -- TypeScript -----------------------------------------------------------------------------------

CLASSES = {
    "SandboxAgent": ("client.ts", "client"),
    "Operations": ("operations.ts", "client"),
    "Sessions": ("session.ts", "client.sessions"),
    "Session": ("session.ts", "session"),
    "Turn": ("turn.ts", "turn"),
    "Fs": ("fs.ts", "client.fs"),
    "Processes": ("processes.ts", "client.processes"),
    "Desktop": ("desktop.ts", "client.desktop"),
}
"""Classes of the TypeScript SDK: the file of each, and what an instance is called in the docs."""

_METHOD = re.compile(
    r"^  /\*\*(?P<comment>(?:(?!\*/).)*)\*/\n"
    r"  (?P<head>(?:static )?(?:async )?)(?P<generator>\*?)(?P<name>\w+)(?P<signature>(?:<[^>\n]*>)?\(.*?): "
    r"(?P<answer>[^\n]+) \{$",
    re.MULTILINE | re.DOTALL,
)


def typescript() -> str:
    sections = [
        "`client` is a `SandboxAgent`. Types are exported by the package, and follow [`openapi.json`](/openapi.json). "
        "Every example of the [guide](/sdk-typescript) runs in the tests.\n"
    ]
    for title, (file, variable) in CLASSES.items():
        sections.append(f"## {'One method for each operation' if title == 'Operations' else title}\n")
        sections += [_typescript_method(title, variable, found) for found in typescript_methods(title, file)]
    return page("TypeScript SDK methods", "Every method of the TypeScript SDK.", "\n".join(sections))


def typescript_methods(title: str, file: str) -> list[re.Match[str]]:
    """The public methods of a class."""
    text = (SOURCES / file).read_text()
    body = re.search(rf"^export class {title}\b.*?\n(.*?)^}}", text, re.MULTILINE | re.DOTALL)
    if body is None:
        raise ValueError(f"{file} has no class {title}")
    hidden = ("constructor", "then")
    return [
        found
        for found in _METHOD.finditer(body[1])
        if "@internal" not in found["comment"] and found["name"] not in hidden
    ]


def _typescript_method(title: str, variable: str, found: re.Match[str]) -> str:
    owner = title if "static" in found["head"] else variable
    name = f"{owner}.{found['name']}"
    comment = textwrap.dedent(re.sub(r"^\s*\* ?", "", found["comment"], flags=re.MULTILINE)).strip()
    code = f"{name}{textwrap.dedent(found['signature'])}: {found['answer']}"
    return folded(f"{name}()", anchor(name), f"```ts\n{code}\n```", prose(comment))
