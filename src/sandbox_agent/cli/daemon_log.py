"""`daemon logs`: the log of the daemon in the background."""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import sys
import time
from pathlib import Path
from typing import BinaryIO

from .failures import CommandFailed, WrongUsage
from .state import data_dir

LOG_FILE = "daemon.log"
POLL_SECONDS = 0.2


def logs(args: argparse.Namespace) -> int:
    if args.lines < 0:
        raise WrongUsage("--lines: must be 0 or more")
    path = data_dir(args) / LOG_FILE
    try:
        with path.open("rb") as file:
            _print_end(file, args.lines)
            if args.follow:
                _follow(file, path)
    except FileNotFoundError:
        raise CommandFailed(f"{path} does not exist: `daemon start` creates it") from None
    return 0


def _print_end(file: BinaryIO, lines: int) -> None:
    out = sys.stdout.buffer
    if lines:
        out.writelines(collections.deque(file, maxlen=lines))
    else:
        shutil.copyfileobj(file, out)
    out.flush()


def _follow(file: BinaryIO, path: Path) -> None:
    """Follow the file until Ctrl-C. A daemon that is restarted truncates it."""
    while True:
        if file.tell() > os.fstat(file.fileno()).st_size:
            file.seek(0)
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        time.sleep(POLL_SECONDS)
