"""Judges a request by the rules. Loaded once there is a rule: reading command lines takes a good deal of code.

A request is judged in parts: each command of a command line, each file, each host. For every part the first rule of a list that
matches wins, and the strictest answer of all parts counts. A rule may match for certain, not at all, or perhaps: then a part is
not understood well enough, and what might be denied is asked.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from msgspec import Struct

from ..schema.items import ToolKind
from ..schema.policy import Effect, PolicyRule, RuleList, RuleReference
from . import shell
from .command_patterns import Match, allows, may_deny, words_of
from .paths import matches_path
from .programs import Command
from .rules import Judged, Request, Rules, concerns
from .wildcards import matches

MAX_FILES = 200
"""More files of one request are not looked at one by one."""

_STRICTNESS: dict[Effect | None, int] = {"allow": 0, None: 1, "ask": 2, "deny": 3}
"""No rule is stricter than `allow`: the permission mode decides."""

_WITH_PATHS = frozenset({"edit", "read", "search", "other"})
_WITH_HOSTS = frozenset({"fetch", "other"})
"""Tools that concern a file or a host even if it is not said which. Of other tools it is not known what they do."""


class Part(Struct, frozen=True):
    """A command, file or host, which rules are compared with one by one."""

    kind: ToolKind
    text: str
    """What it is about, for people."""
    command: Command | None = None
    path: str | None = None
    real: str = ""
    """The path with its links resolved."""
    host: str | None = None


def judge(rules: Rules, request: Request) -> Judged:
    """The strictest answer of all parts."""
    return strictest(judged for _, judged in judge_parts(rules, request))


def strictest(answers: Iterator[Judged]) -> Judged:
    return max(answers, key=lambda judged: _STRICTNESS[judged.effect], default=Judged())


def judge_parts(rules: Rules, request: Request) -> Iterator[tuple[Part, Judged]]:
    if not rules:
        return
    for part in parts_of(request):
        operator = _first(rules.operator, "operator", request, part)
        session = _first(rules.session, "session", request, part)
        yield part, operator if _operator_decides(operator, session) else session


def _operator_decides(operator: Judged, session: Judged) -> bool:
    """A session's rule counts if it is stricter, or if the operator has none."""
    if operator.effect is None:
        return session.effect is None
    return _STRICTNESS[session.effect] <= _STRICTNESS[operator.effect] or session.effect is None


def _first(rules: tuple[PolicyRule, ...], name: RuleList, request: Request, part: Part) -> Judged:
    doubt: Judged | None = None
    for index, rule in enumerate(rules):
        match = _match(rule, request, part)
        if match == "no":
            continue
        reference = RuleReference(name, index, rule.reason)
        if match == "yes":
            found = Judged(rule.effect, reference)
            return doubt if doubt is not None and found.effect != "deny" else found
        if rule.effect != "allow" and doubt is None:
            why = (part.command.unclear if part.command else "") or "it is not certain that the rule applies"
            doubt = Judged("ask", reference, why)
    return doubt or Judged()


# -- parts ------------------------------------------------------------------------------------


def parts_of(request: Request) -> Iterator[Part]:
    ask, kind = request.ask, request.kind
    if ask.command is not None and kind in ("command", "other"):
        # An agent need not declare that a tool runs commands.
        yield from _parts_of_line(request, ask.command)
    elif kind == "command":
        yield Part(kind, ask.action, Command(unclear="the agent does not say what it runs"))
    if kind == "command":
        return
    paths = ask.paths or ()
    for path in paths[:MAX_FILES]:
        yield _file(request, kind, path, path)
    if len(paths) > MAX_FILES:
        yield _file(request, kind, f"{len(paths)} files", None)
    for host in ask.hosts:
        yield Part(kind, host, host=host)
    if not ask.paths and not ask.hosts:
        yield Part(kind, ask.title or ask.action)


def _parts_of_line(request: Request, line: str) -> Iterator[Part]:
    for command in dict.fromkeys(shell.read(line)):
        if command.words or command.unclear:
            yield Part("command", command.text or command.unclear, command)
        for file in command.writes:
            yield _file(request, "edit", f"> {file.text}", file.text if file.certain else None)


def _file(request: Request, kind: ToolKind, text: str, path: str | None) -> Part:
    """A file as a part; None if it is not known which. No file has a NUL in its name."""
    if path is None or "\0" in path:
        return Part(kind, text)
    return Part(kind, text, path=path, real=request.resolve(posixpath.join(request.directory, path)))


# -- one rule and one part ----------------------------------------------------------------------


def _match(rule: PolicyRule, request: Request, part: Part) -> Match:
    if not concerns(rule, request.agent):
        return "no"
    if rule.kind is not None and rule.kind != part.kind:
        return "no"
    if rule.tool is not None and not matches(request.ask.action, rule.tool):
        return "no"
    found = (_command_matches(rule, part), _path_matches(rule, request, part), _host_matches(rule, part))
    return "no" if "no" in found else "maybe" if "maybe" in found else "yes"


def _command_matches(rule: PolicyRule, part: Part) -> Match:
    command = part.command
    if rule.effect == "allow":
        if command is None:
            return "no" if rule.command else "yes"
        if command.unclear:
            return "maybe"  # it is never allowed
        return "yes" if rule.command is None or allows(words_of(rule.command), command) else "no"
    if rule.command is None:
        return "yes"
    return "no" if command is None else may_deny(words_of(rule.command), command)


def _path_matches(rule: PolicyRule, request: Request, part: Part) -> Match:
    if rule.path is None:
        return "yes"
    if part.path is None:
        return "maybe" if part.kind in _WITH_PATHS else "no"
    pattern, root = rule.path, request.root
    if matches_path(pattern, part.real, root):
        return "yes"
    if rule.effect == "allow":
        return "no"
    # Some file systems ignore case, and a link that is denied is denied whatever it points to.
    named = posixpath.normpath(posixpath.join(request.directory, part.path))
    folded = pattern.casefold()
    found = (
        matches_path(pattern, named, request.directory)
        or matches_path(folded, part.real.casefold(), root.casefold())
        or matches_path(folded, named.casefold(), request.directory.casefold())
    )
    return "yes" if found else "no"


def _host_matches(rule: PolicyRule, part: Part) -> Match:
    if rule.host is None:
        return "yes"
    pattern = rule.host.casefold()
    if part.command is not None:
        # A command may contact other hosts than its words name, so this can deny but not allow.
        if rule.effect == "allow":
            return "no"
        return _command_contacts(part.command, pattern)
    if part.host is not None:
        return "yes" if matches(part.host.casefold().rstrip("."), pattern) else "no"
    return "maybe" if part.kind in _WITH_HOSTS else "no"


def _command_contacts(command: Command, pattern: str) -> Match:
    if any(matches(host, pattern) for host in command.hosts):
        return "yes"
    named = "." in pattern and any(matches(name, pattern) for name in command.host_names)
    return "maybe" if named or not command.is_certain else "no"
