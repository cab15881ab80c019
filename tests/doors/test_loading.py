"""A door that is not used costs nothing."""

from __future__ import annotations

import subprocess
import sys

MODULES = """
import sys, sandbox_agent.http.serve, sandbox_agent.http.app, sandbox_agent.http.opencode
print(*sorted(name for name in sys.modules if name.startswith("sandbox_agent.doors.")))
"""


def test_a_daemon_loads_no_door_before_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", MODULES], capture_output=True, text=True, timeout=60)
    # What HTTP hands to a door; no protocol.
    assert done.stdout.split() == ["sandbox_agent.doors.exchange"], done.stderr
