"""Asks for a confirmation on the terminal."""

from __future__ import annotations

import sys
import termios


def discard_typed_input() -> None:
    """Discard input typed before the question was shown: it cannot be an answer to it."""
    try:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    except (termios.error, OSError, ValueError):
        pass  # stdin is not a terminal


def confirmed(question: str) -> bool:
    """Ask on stderr, because stdout is for data. End of input is no."""
    discard_typed_input()
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer:
        print(file=sys.stderr)  # Ctrl-D leaves the cursor behind the question
    return answer.strip().lower() in ("y", "yes")
