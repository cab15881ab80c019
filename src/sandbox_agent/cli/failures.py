"""Errors of commands: a message for stderr and an exit code."""

from __future__ import annotations

from typing import Any

INTERRUPTED = 130
NEAR = 20
"""How many characters around an error are shown."""


class CommandFailed(Exception):
    """The command failed."""

    exit_code = 1

    def readable(self) -> str:
        return f"error: {self}"

    def problem(self) -> dict[str, Any]:
        """The same as JSON, in the form of the daemon's problems."""
        return {"type": "about:blank", "title": "Command failed", "detail": str(self)}


class WrongUsage(CommandFailed):
    """The command line is wrong."""

    exit_code = 2


class NotText(WrongUsage):
    """Something to send is not UTF-8."""

    def __init__(self, error: UnicodeEncodeError) -> None:
        near = error.object[max(0, error.start - NEAR) : error.end + NEAR]
        super().__init__(f"{near.encode(errors='surrogateescape')!r} is not UTF-8 text")


class ExtraMissing(CommandFailed):
    """The command draws on the terminal, and only the daemon's requirements are installed."""

    packages = frozenset({"rich", "shtab"})

    def __init__(self, package: str) -> None:
        super().__init__(
            f"this command needs the extra `cli` ({package} is missing): pip install 'sandbox-agentd[cli]'"
        )


class ProblemAnswered(CommandFailed):
    """The daemon answered with a problem (RFC 9457)."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or "the daemon refused"))
        self._problem = problem

    @property
    def status(self) -> object:
        return self._problem.get("status")

    def problem(self) -> dict[str, Any]:
        return self._problem

    def readable(self) -> str:
        title, detail = self._problem.get("title"), self._problem.get("detail")
        message = ": ".join(str(text) for text in (title, detail) if text) or str(self)
        # The detail already includes the error of every source.
        hidden = {"type", "title", "status", "detail", "instance", "sources"}
        facts = [f"  {name}: {_fact(value)}" for name, value in self._problem.items() if name not in hidden]
        return "\n".join([f"error: {message}", *facts])


def _fact(value: object) -> str:
    """A fact as text; the stderr of an agent is indented."""
    if isinstance(value, dict) and ("head" in value or "tail" in value):
        text = "\n...\n".join(str(value[end]) for end in ("head", "tail") if value.get(end))
        return "".join(f"\n    {line}" for line in text.splitlines())
    return str(value)
