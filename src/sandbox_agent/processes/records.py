"""Processes as they are kept: one folder each, with a record and its output, so that both live and go together.

A folder without a record is what a deleted process left. Ids are counted, and never given again.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
from pathlib import Path

import msgspec
from msgspec import Struct

from ..private_files import write_private
from ..schema.processes import USUAL_CONFIG, EndedBy, ProcessConfig, ProcessOwner

logger = logging.getLogger("sandbox_agent.processes")

PREFIX = "proc_"


class ProcessRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is known of a process when nobody remembers it. Its variables are not: they may be secrets."""

    number: int
    command: str
    args: tuple[str, ...] = ()
    cwd: str | None = None
    tty: bool = False
    interactive: bool = False
    owner: ProcessOwner = "user"
    created_at_ms: int = 0
    exited_at_ms: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    ended_by: EndedBy | None = None

    @property
    def id(self) -> str:
        return f"{PREFIX}{self.number}"


class Records:
    """Everything here touches the disk: call it away from the event loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def folder(self, record: ProcessRecord) -> Path:
        return self._folder / record.id

    def make_folder(self, record: ProcessRecord) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self.folder(record).mkdir(mode=0o700)

    def load(self) -> list[ProcessRecord]:
        """All there are. Folders of deleted ones are removed; what cannot be read is left alone."""
        found = []
        for folder in self._folder.glob(f"{PREFIX}*"):
            try:
                content = (folder / "record.json").read_bytes()
                found.append(msgspec.json.decode(content, type=ProcessRecord))
            except FileNotFoundError:
                shutil.rmtree(folder, ignore_errors=True)
            except (OSError, msgspec.DecodeError) as error:
                logger.warning("%s is not the record of a process: %s", folder, error)
        return sorted(found, key=lambda record: record.number)

    def last_number(self) -> int:
        """The highest that was given to a process that is gone."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            return int((self._folder / "last").read_text())
        return 0

    def save(self, record: ProcessRecord) -> None:
        write_private(self.folder(record) / "record.json", msgspec.json.encode(record), durable=True)

    def remove(self, record: ProcessRecord) -> None:
        """The record first: with it the process is gone, whatever becomes of the rest."""
        if record.number > self.last_number():
            write_private(self._folder / "last", str(record.number).encode(), durable=True)
        (self.folder(record) / "record.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder(record), ignore_errors=True)

    def config(self) -> ProcessConfig:
        try:
            return msgspec.json.decode((self._folder / "config.json").read_bytes(), type=ProcessConfig)
        except FileNotFoundError:
            return USUAL_CONFIG
        except (OSError, msgspec.DecodeError) as error:
            logger.warning("the limits of processes cannot be read, so the usual ones hold: %s", error)
            return USUAL_CONFIG

    def save_config(self, config: ProcessConfig) -> None:
        write_private(self._folder / "config.json", msgspec.json.encode(config), durable=True)
