"""Starts the load generator and gives it orders."""

from __future__ import annotations

import select
import subprocess
import sys
from pathlib import Path

import msgspec

from .load import Order, Outcome

CHECKOUT = Path(__file__).parents[2]
GRACE = 20.0
"""Seconds beyond an order's own limit after which the generator itself is given up."""


class Load:
    def __init__(self, port: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.bench.load", str(port)],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def order(self, order: Order) -> Outcome:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        stdin.write(msgspec.json.encode(order) + b"\n")
        stdin.flush()
        ready, _, _ = select.select([stdout], [], [], order.seconds + GRACE)
        line = stdout.readline() if ready else b""
        if not line:
            raise RuntimeError(f"the load generator did not answer to {order}")
        return msgspec.json.decode(line, type=Outcome)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
