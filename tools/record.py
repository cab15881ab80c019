"""Records a live agent: runs prompts through the daemon's runtime and saves every native frame.

    python -m tools.record claude "SCENARIO:command" [more prompts...] [--output FILE] [--real]

Without `--real`, the agent uses the scripted model (`sandbox_agent.testing.scripted_model`). Permissions are accepted once
and questions answered with their first option. Local paths are rewritten, so that the recording can be shared.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.scribe import Requested
from sandbox_agent.config import Config
from sandbox_agent.ops.sessions import SendMessage, accept
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.runtime.following import TurnFollowing
from sandbox_agent.schema.events import PermissionRequested, QuestionRequested
from sandbox_agent.schema.inputs import Answer, Decision, Settings
from sandbox_agent.session.inputs import Decide, Reply, Terminate
from sandbox_agent.store.base import Secrets
from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.recorder import Recording
from sandbox_agent.testing.scripted_model import ScriptedModel

TURN_SECONDS = 600.0
LOOK_SECONDS = 0.1
SESSION = "recorded"


async def record(agent: str, prompts: list[str], env: dict[str, str], folder: Path) -> Recording:
    """Run all prompts in one session."""
    recording = Recording()
    daemon = Daemon(Config(data_dir=str(folder / "data"), database_url="memory:"))
    daemon.hosts.tap = recording.note
    await daemon.start()
    try:
        workspace = folder / "ws"
        workspace.mkdir()
        settings = Settings(str(workspace), AGENTS[agent].modes[0].id)
        created = await daemon.create(SESSION, agent, settings, Secrets(env))
        if created.problem is not None:
            print(f"the start failed: {created.problem}", file=sys.stderr)
        for prompt in prompts if created.problem is None else ():
            await asyncio.wait_for(play(daemon, prompt), TURN_SECONDS)
        await daemon.sessions.ask(SESSION, Terminate)
    finally:
        await daemon.stop()
    return recording


class Nowhere:
    """A reader that waits for the end of the turn."""

    is_full = False
    is_gone = False

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = lambda: None

    def write(self, text: bytes) -> None:
        pass


async def play(daemon: Daemon, prompt: str) -> None:
    """Run one turn and accept every request."""
    end = await daemon.sessions.end(SESSION)
    before = end.committed
    accepted = await accept(daemon, SendMessage(SESSION, prompt))
    following = TurnFollowing(daemon.log, end.channel, SESSION, before, accepted.turn_id)
    turn = asyncio.create_task(following.run(Nowhere()))
    while not turn.done():
        for asked in (await daemon.sessions.show(SESSION)).view.pending:
            await say_yes(daemon, asked)
        await asyncio.wait([turn], timeout=LOOK_SECONDS)
    await turn


async def say_yes(daemon: Daemon, asked: Requested) -> None:
    if isinstance(asked, QuestionRequested):
        answer = Answer(tuple((question.options[0].label,) for question in asked.metadata.questions))
        await daemon.sessions.ask(SESSION, lambda id: Reply(id, asked.question_id, answer))
    elif isinstance(asked, PermissionRequested):
        await daemon.sessions.ask(SESSION, lambda id: Decide(id, asked.permission_id, Decision("once")))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("agent", choices=list(AGENTS))
    parser.add_argument("prompts", nargs="+", metavar="PROMPT")
    parser.add_argument("--output", type=Path, help="file to write (default: stdout)")
    parser.add_argument("--real", action="store_true", help="use your own keys instead of the scripted model")
    args = parser.parse_args()
    os.environ["PATH"] = f"{agent_cache.cache_folder() / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        env: dict[str, str] = {}
        if not args.real and AGENTS[args.agent].executables:
            model = stack.enter_context(ScriptedModel())
            env = offline_environment(args.agent, model.base_url, folder / "home")
        recording = asyncio.run(record(args.agent, args.prompts, env, folder))
        text = b"".join(line + b"\n" for line in recording.lines)
    rewritten = {f"{folder}/ws": "/tmp/ws", str(folder): "/tmp/lab", f"{agent_cache.cache_folder()}/bin/": ""}
    for path, shown in rewritten.items():
        text = text.replace(path.encode(), shown.encode())
    if args.output:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_bytes(text)
    else:
        sys.stdout.buffer.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
