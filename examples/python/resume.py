"""Go on after a crash: `python resume.py claude "a long task"`. Kill it at any time and start it again.

Nothing is lost and nothing is asked twice: the daemon (`sandbox-agent daemon start`) keeps working, the same key names the
same turn, and the offset of the last event that we were done with is all that this program must remember.
"""

import sys
from pathlib import Path

from sandbox_agent import SandboxAgent, SessionAlreadyExists, TurnEnded

agent, task = sys.argv[1:]
notes = Path("resume.offset")
offset = int(notes.read_text()) if notes.exists() else 0

with SandboxAgent.connect() as client:
    try:
        session = client.sessions.create("resume-example", agent=agent)
    except SessionAlreadyExists:
        session = client.session("resume-example")
    session.send_message(task, idempotency_key="the one task")
    for event in session.events(offset=offset, follow=True):
        print(event.sequence, event.type, flush=True)
        # Whole or not at all: we may be killed while we write it.
        fresh = notes.with_suffix(".new")
        fresh.write_text(str(event.sequence))
        fresh.replace(notes)
        if isinstance(event.data, TurnEnded):
            break
