"""How to show a turn: rendered on a terminal, or plain in a pipe."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from .narration import Tool, View
from .output import say, write_line

REFRESH_SECONDS = 0.08


class PlainView(View):
    """Streams the answer to stdout; everything else goes to `say`, by default stderr."""

    def __init__(self, say: Callable[[str], None] = say) -> None:
        self._say = say
        self._has_open_text = False

    def prompt(self, text: str) -> None:
        self._say("".join(f"> {line}\n" for line in text.splitlines()))

    def text(self, delta: str, *, thinking: bool) -> None:
        if not thinking:
            sys.stdout.write(delta)
            sys.stdout.flush()
            self._has_open_text = True

    def end_text(self, *, thinking: bool) -> None:
        if self._has_open_text and not thinking:
            write_line(b"")
            self._has_open_text = False

    def tool_started(self, tool: Tool) -> None:
        pass

    def tool_ended(self, tool: Tool, failure: str | None, seconds: float, diffs: list[str]) -> None:
        self._say(tool_line(tool, failure, seconds))

    def notice(self, text: str) -> None:
        self._say(text)

    def error(self, text: str) -> None:
        self._say(f"error: {text}")

    def close(self) -> None:
        pass


class SilentView(View):
    """Shows nothing: the events themselves are printed."""

    def prompt(self, text: str) -> None: ...
    def text(self, delta: str, *, thinking: bool) -> None: ...
    def end_text(self, *, thinking: bool) -> None: ...
    def tool_started(self, tool: Tool) -> None: ...
    def tool_ended(self, tool: Tool, failure: str | None, seconds: float, diffs: list[str]) -> None: ...
    def notice(self, text: str) -> None: ...
    def error(self, text: str) -> None: ...
    def close(self) -> None: ...


class TerminalView(View):
    """Prints finished blocks once and redraws the unfinished rest below them as it grows."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._pending = ""
        self._thinking = False
        self._running: dict[str, Tool] = {}
        self._live: Live | None = None
        self._drawn = 0.0
        self.live = True
        """Whether to draw unfinished output; off for past events."""

    def prompt(self, text: str) -> None:
        lines = "\n".join(f"> {line}" for line in text.splitlines())
        self.console.print(Text(f"{lines}\n", style="bold cyan"))

    def text(self, delta: str, *, thinking: bool) -> None:
        self._pending += delta
        self._thinking = thinking
        finished, self._pending = split_thinking(self._pending) if thinking else split_blocks(self._pending)
        self._print_text(finished)
        self._draw()

    def end_text(self, *, thinking: bool) -> None:
        finished, self._pending = self._pending, ""
        self._thinking = thinking
        self._print_text(finished)
        self._draw(at_once=True)

    def tool_started(self, tool: Tool) -> None:
        self._running[tool.call_id] = tool
        self._draw(at_once=True)

    def tool_ended(self, tool: Tool, failure: str | None, seconds: float, diffs: list[str]) -> None:
        self._running.pop(tool.call_id, None)
        style = "red" if failure else "green"
        line = Text(tool_line(tool, failure, seconds))
        line.stylize(style, 0, line.plain.index(tool.line))
        self.console.print(line)
        for diff in diffs:
            self.console.print(coloured_diff(diff))
        self._draw(at_once=True)

    def notice(self, text: str) -> None:
        self.console.print(Text(text, style="dim"))

    def error(self, text: str) -> None:
        self.console.print(Text.assemble(("error: ", "bold red"), text))

    def close(self) -> None:
        self.pause()

    def pause(self) -> None:
        """Remove unfinished output from the screen, so that something else can be printed."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _print_text(self, text: str) -> None:
        if text.strip():
            self.console.print(self._rendered(text))

    def _rendered(self, text: str) -> RenderableType:
        return Text(text.rstrip("\n"), style="dim italic") if self._thinking else Markdown(text)

    def _draw(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not self.live:
            return
        if not at_once and now - self._drawn < REFRESH_SECONDS:
            return
        self._drawn = now
        unfinished: list[RenderableType] = [self._rendered(self._pending)] if self._pending.strip() else []
        unfinished += [Text(f"{indent(tool)}… {tool.line}", style="dim") for tool in self._running.values()]
        if not unfinished:
            self.pause()
            return
        if self._live is None:
            self._live = Live(console=self.console, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(Group(*unfinished), refresh=True)


def tool_line(tool: Tool, failure: str | None, seconds: float) -> str:
    mark = "✗" if failure else "✓"
    why = f": {failure}" if failure else ""
    return f"{indent(tool)}{mark} {tool.line} ({seconds:.1f} s){why}"


def indent(tool: Tool) -> str:
    return "  " if tool.nested else ""


def coloured_diff(diff: str) -> Text:
    styles = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}
    text = Text()
    for line in diff.splitlines():
        style = next((style for start, style in styles.items() if line.startswith(start)), "")
        text.append(f"  {line}\n", style=style)
    text.rstrip()
    return text


def split_thinking(text: str) -> tuple[str, str]:
    """Split into complete lines and the rest."""
    end = text.rfind("\n") + 1
    return text[:end], text[end:]


def split_blocks(text: str) -> tuple[str, str]:
    """Split into finished markdown blocks and the rest. Blank lines separate blocks, except inside a fence or a list."""
    cut = position = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        position += len(line)
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        rest = text[position:]
        # A list continues after a blank line if the next line is an item or indented: wait for that line.
        if (
            not fence
            and line.endswith("\n")
            and not line.strip()
            and rest
            and not re.match(r"\s|[-*+] |\d+[.)] ", rest)
        ):
            cut = position
    return text[:cut], text[cut:]
