"""Records a live agent: runs prompts through the daemon's own runtime and keeps every native frame.

    python -m tools.record claude "SCENARIO:command" [more prompts...] [--output FILE] [--real]

Without `--real` the agent talks to the scripted model (`sandbox_agent.testing.scripted_model`). Permissions are accepted once and
questions answered with their first option. Paths of this machine are rewritten, so that the recording can be shared.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
from pathlib import Path

from sandbox_agent.agents import AGENTS
from sandbox_agent.config import Config
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.runtime.session import Session
from sandbox_agent.schema.events import QuestionRequested
from sandbox_agent.schema.inputs import Answer, Decision, Prompt, Settings
from sandbox_agent.store.base import Secrets
from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.recorder import Recording
from sandbox_agent.testing.scripted_model import ScriptedModel

TURN_SECONDS = 600.0


async def record(agent: str, prompts: list[str], env: dict[str, str], folder: Path) -> Recording:
    """One session, all prompts, one recording."""
    recording = Recording()
    daemon = Daemon(Config(data_dir=str(folder / "data"), database_url="memory:"))
    daemon.hosts.tap = recording.note
    await daemon.start()
    try:
        workspace = folder / "ws"
        workspace.mkdir()
        settings = Settings(str(workspace), AGENTS[agent].modes[0].id)
        session, failure = await daemon.create("recorded", agent, settings, Secrets(env))
        if failure is not None:
            print(f"the start failed: {failure}", file=sys.stderr)
        for prompt in prompts if failure is None else ():
            await asyncio.wait_for(play(session, prompt), TURN_SECONDS)
        await session.terminate()
    finally:
        await daemon.stop()
    return recording


async def play(session: Session, prompt: str) -> None:
    """One turn, with somebody who says yes to everything."""
    await session.send(Prompt(prompt), key=None, fresh=False)
    while session.state != "idle":
        for pending in list(session.scribe.pending.values()):
            if isinstance(pending.requested, QuestionRequested):
                asked = pending.requested.metadata.questions
                await session.answer(pending.id, Answer(tuple((one.options[0].label,) for one in asked)))
            else:
                await session.decide(pending.id, Decision("once"))
        await session.log.channel.wait(1.0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("agent", choices=list(AGENTS))
    parser.add_argument("prompts", nargs="+", metavar="PROMPT")
    parser.add_argument("--output", type=Path, help="where to write (default: stdout)")
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
