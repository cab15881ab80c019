"""Starts a process that drives the measured program (`load`, `native`), and sends it orders."""

from __future__ import annotations

import select
import subprocess
import sys
from pathlib import Path

import msgspec

from .load import Order, Outcome

CHECKOUT = Path(__file__).parents[2]
GRACE = 20.0
"""Seconds after an order's own limit before the process counts as hung."""


class Driver:
    def __init__(self, module: str, argument: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"tools.bench.{module}", argument],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def order(self, order: Order) -> Outcome:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        stdin.write(msgspec.json.encode(order) + b"\n")
        stdin.flush()
        ready, _, _ = select.select([stdout], [], [], order.seconds + GRACE)
        line = stdout.readline() if ready else b""
        if not line:
            raise RuntimeError(f"no answer to {order}")
        return msgspec.json.decode(line, type=Outcome)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
