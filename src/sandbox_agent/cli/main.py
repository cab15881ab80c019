"""Runs the handler of a command, and turns its errors into a message and an exit code."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import signal
import sys
from collections.abc import Sequence

from ..errors import SandboxAgentError
from .command_line import parse
from .failures import INTERRUPTED, CommandFailed, ExtraMissing, NotText, WrongUsage


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Wrong usage exits through argparse."""
    _open_missing_streams()
    _print_any_character()
    _require_home()
    args = argparse.Namespace()
    try:
        args = _parsed(sys.argv[1:] if argv is None else argv)
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
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
    except UnicodeEncodeError as error:
        # The command line may contain any bytes, and requests are text.
        _tell(NotText(error), as_json=getattr(args, "json", False))
        return NotText.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()  # the reader has closed the pipe
        return 1
    except SandboxAgentError as error:
        # Of the client, before a request: an id that cannot be one.
        _tell(WrongUsage(error.detail), as_json=getattr(args, "json", False))
        return WrongUsage.exit_code
    except OSError as error:
        # An error of the machine: a full or read-only disk, a directory of another user.
        _give_up_stdout()
        _tell(CommandFailed(_reason(error)), as_json=getattr(args, "json", False))
        return 1


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments. Help is written here, because an error at the interpreter's exit would print a traceback."""
    try:
        return parse(argv)
    except SystemExit:
        sys.stdout.flush()
        raise


def _open_missing_streams() -> None:
    """A caller may have closed stdin, stdout or stderr: then there is nothing to read, and nowhere to write."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - open until the end


def _require_home() -> None:
    """A user that the machine does not know has no home directory. Container engines use `/` then, too."""
    if os.path.expanduser("~") == "~":
        os.environ["HOME"] = "/"


def _print_any_character() -> None:
    """Escape what the terminal's encoding cannot express, as stderr does anyway."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _reason(error: OSError) -> str:
    if error.filename:
        return f"{error.strerror}: {error.filename}"
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the current directory was deleted: change to another one"
    return error.strerror or str(error)


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
