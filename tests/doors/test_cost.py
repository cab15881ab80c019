"""A door that nobody uses costs nothing."""

from __future__ import annotations

import subprocess
import sys


def test_doors_are_not_loaded_with_the_server() -> None:
    script = "import sys, sandbox_agent.http.serve; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    doors = {name for name in loaded.split() if name.startswith("sandbox_agent.doors.")}
    assert doors <= {"sandbox_agent.doors.exchange"}
