"""Runs the handler of a command, and turns its errors into a message and an exit code."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence

from .command_line import parse
from .failures import INTERRUPTED, CommandFailed, ExtraMissing


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Wrong usage exits through argparse."""
    _open_missing_streams()
    args = parse(sys.argv[1:] if argv is None else argv)
    try:
        module, _, function = args._handler.partition(":")
        handler = getattr(importlib.import_module(f"{__package__}.{module}"), function)
        code: int = handler(args)
        sys.stdout.flush()
        return code
    except CommandFailed as failure:
        _tell(failure, as_json=getattr(args, "json", False))
        return failure.exit_code
    except ModuleNotFoundError as missing:
        if (package := (missing.name or "").partition(".")[0]) not in ExtraMissing.packages:
            raise
        _tell(ExtraMissing(package), as_json=getattr(args, "json", False))
        return ExtraMissing.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()  # the reader has closed the pipe
        return 1
    except OSError as error:
        # An error of the machine: a full or read-only disk, a directory of another user.
        _give_up_stdout()
        where = f": {error.filename}" if error.filename else ""
        _tell(CommandFailed(f"{error.strerror or error}{where}"), as_json=getattr(args, "json", False))
        return 1


def _open_missing_streams() -> None:
    """A caller may have closed stdin, stdout or stderr: then there is nothing to read and nobody to tell."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - open until the end


def _give_up_stdout() -> None:
    """Discard unwritten output, so that the interpreter does not try again at exit and print a traceback."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(failure: CommandFailed, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(failure.problem()), file=sys.stderr)
        return
    text = failure.readable()
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        text = text.replace("error:", "\x1b[31merror:\x1b[0m", 1)
    print(text, file=sys.stderr)
