"""What is found in a command line, and what it has changed so far."""

from __future__ import annotations

import posixpath

from .programs import Command, Word

MAX_DIRECTORIES = 8

UNKNOWN_FILE = Word("?", certain=False)


class Script:
    """What is found in the whole line."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.clean = True
        """No variable was set that could change what the following commands do."""
        self.directories: tuple[str, ...] | None = ("",)
        """Where commands may run, seen from where the line starts; a `cd` may also fail. None if it is not certain."""

    def move(self, to: str | None) -> None:
        if to is None or self.directories is None or len(self.directories) >= MAX_DIRECTORIES:
            self.directories = None
        elif to:
            moved = (posixpath.join(directory, to) for directory in self.directories)
            self.directories = tuple(dict.fromkeys((*self.directories, *moved)))

    def written(self, file: str) -> tuple[Word, ...]:
        """The files that a redirection may write."""
        if file.startswith("/"):
            return (Word(file),)
        if self.directories is None:
            return (UNKNOWN_FILE,)
        return tuple(Word(posixpath.join(directory, file)) for directory in self.directories)
