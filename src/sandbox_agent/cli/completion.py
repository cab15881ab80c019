"""`completion bash|zsh|fish`: scripts made from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from .command_line import parser
from .own_commands import AGENT_NAMES
from .parser import PROG
from .walk import Node, arguments, walk

FILES = {"--attach", "--output", "--token-file", "content", "file"}
FOLDERS = {"--data-dir", "--directory"}


def completion(args: argparse.Namespace) -> int:
    print(script(args.shell))
    return 0


def script(shell: str) -> str:
    root = parser()
    if shell == "fish":
        return "\n".join(_fish(root))
    import shtab

    for node in walk(root):
        for action in arguments(node.parser):
            _hint(action)
    return shtab.complete(root, shell)


def _hint(action: argparse.Action) -> None:
    """Tell shtab what a value is."""
    import shtab

    name = _name(action)
    if name in FILES:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif name in FOLDERS:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif name in ("agent", "--agent") and action.choices is None:
        # For completion only: other agents may be named too.
        action.choices = AGENT_NAMES


def _name(action: argparse.Action) -> str:
    return action.option_strings[0] if action.option_strings else action.dest


# -- fish -------------------------------------------------------------------------------------


def _fish(root: argparse.ArgumentParser) -> Iterator[str]:
    yield f"# Completions of {PROG}; made by `{PROG} completion fish`."
    yield f"complete -c {PROG} -f"
    for node in walk(root):
        for below in walk(node.parser, node.words):
            if len(below.words) == len(node.words) + 1:
                yield _line(node, f"-a {_quoted(below.words[-1])}", below.help)
        if node.words and not node.is_group:
            yield from _fish_arguments(node)


def _fish_arguments(node: Node) -> Iterator[str]:
    for action in arguments(node.parser):
        values = AGENT_NAMES if _name(action) in ("agent", "--agent") else action.choices
        files = " -F" if _name(action) in FILES | FOLDERS else ""
        choice = f" -a {_quoted(' '.join(map(str, values)))}" if values else ""
        text = (action.help or "").replace("%%", "%")
        if not action.option_strings:
            if choice or files:
                yield _line(node, f"{choice}{files}".strip(), text)
            continue
        names = " ".join(f"-l {option.removeprefix('--')}" for option in action.option_strings)
        wants = "" if action.nargs == 0 else " -r" if files else " -x"
        yield _line(node, f"{names}{wants}{choice}{files}", text)


def _line(node: Node, what: str, text: str) -> str:
    """Offered where the words of the command have been typed, and at the root where none have."""
    if node.words:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in node.words)
        if node.is_group:
            verbs = {
                one.words[-1] for one in walk(node.parser, node.words) if len(one.words) > len(node.words)
            }
            seen += f"; and not __fish_seen_subcommand_from {' '.join(sorted(verbs))}"
    else:
        seen = "__fish_use_subcommand"
    return f"complete -c {PROG} -n {_quoted(seen)} {what} -d {_quoted(text)}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
