"""Shows the progress of an installation on stderr: a bar on a terminal, otherwise a line per step."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ..install.progress import Progress
from .output import can_draw, console, say

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class Display:
    """The progress of one agent. Shows nothing until the first step."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def tell(self, progress: Progress) -> None:
        if sys.stderr.isatty() and can_draw():
            self._draw(progress)
        elif (text := self._text(progress)) != self._last:
            self._last = text
            say(text)

    def _text(self, progress: Progress) -> str:
        file = f" {progress.file}" if progress.file else ""
        why = f": {progress.reason}" if progress.reason else ""
        return f"{self._agent}: {_step(progress, file)}{why}"

    def _draw(self, progress: Progress) -> None:
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
            self._task = self._bars.add_task(self._agent, total=None)
        assert self._task is not None
        if progress.reason:
            self._bars.console.print(self._text(progress), style="dim", markup=False)
        total = progress.total if progress.stage == "downloading" else None
        # Short, to leave room for the bar.
        brief = f"{self._agent}: {_step(progress)}"
        self._bars.update(self._task, description=brief, completed=progress.bytes, total=total, refresh=True)


def _step(progress: Progress, file: str = "") -> str:
    """For example `downloading claude.tgz from npm`."""
    source = progress.source or "the source"
    match progress.stage:
        case "waiting":
            return "waiting for another installation"
        case "asking":
            return f"asking {source} for the version"
        case "downloading":
            return f"downloading{file} from {source}"
        case "unpacking":
            return f"unpacking{file}"
        case "checking":
            return "checking that it runs"
        case "failed":
            return f"{source} failed"


def _bars() -> Bars:
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    return Bars(*columns, console=console(stderr=True), transient=True, auto_refresh=False)
