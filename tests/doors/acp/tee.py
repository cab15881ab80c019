"""Runs a program and records both directions of its pipes: tee.py LOG COMMAND... Each line begins with `>` or `<`."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import IO


def copy(source: IO[bytes], target: IO[bytes], log: IO[bytes], sign: bytes) -> None:
    for line in source:
        log.write(sign + line)
        target.write(line)
        target.flush()
    target.close()


def main(log_path: str, command: list[str]) -> int:
    with open(log_path, "ab", buffering=0) as log:
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert program.stdin is not None
        assert program.stdout is not None
        typed = threading.Thread(target=copy, args=(sys.stdin.buffer, program.stdin, log, b">"), daemon=True)
        typed.start()
        copy(program.stdout, sys.stdout.buffer, log, b"<")
        return program.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
