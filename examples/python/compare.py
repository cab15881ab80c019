"""Several agents side by side: `python compare.py claude codex pi --prompt "what is in this folder?" --prompt "…"`."""

import argparse
import asyncio
import sys
import time
from typing import NamedTuple

from sandbox_agent import AsyncSandboxAgent, DaemonNotStarted, SandboxAgentError, Usage


class Row(NamedTuple):
    agent: str
    prompt: str
    seconds: float
    outcome: str
    usage: Usage
    answer: str


async def ask(client: AsyncSandboxAgent, agent: str, prompts: list[str]) -> list[Row]:
    """Send the prompts one after the other, in one session that may read but not change anything."""
    rows: list[Row] = []
    try:
        session = await client.sessions.create(agent=agent, permission_mode="plan")
        for prompt in prompts:
            began = time.monotonic()
            # How a turn ended is a column of the table, not an exception.
            turn = await session.prompt(
                prompt, on_permission=lambda _: False, on_question=lambda _: None, raise_on_error=False
            )
            seconds = time.monotonic() - began
            rows.append(Row(agent, prompt, seconds, str(turn.stop_reason), turn.usage, turn.text))
    except SandboxAgentError as error:
        rows.append(Row(agent, "", 0.0, error.type, Usage(), error.detail))
    return rows


def show(rows: list[Row]) -> None:
    print(f"{'agent':10} {'prompt':20} {'seconds':>7} {'tokens':>7} {'cost':>8}  {'outcome':12} answer")
    for row in rows:
        tokens = (row.usage.input_tokens or 0) + (row.usage.output_tokens or 0)
        answer = " ".join(row.answer.split())
        print(
            f"{row.agent:10} {row.prompt[:20]:20} {row.seconds:7.1f} {tokens:7} "
            f"{row.usage.cost_usd or 0:8.4f}  {row.outcome:12} {answer[:60]}"
        )


async def main(agents: list[str], prompts: list[str]) -> None:
    async with AsyncSandboxAgent.start() as client:
        batches = await asyncio.gather(*(ask(client, agent, prompts) for agent in agents))
    show([row for batch in batches for row in batch])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", nargs="*", default=["mock", "mock", "mock"])
    parser.add_argument("--prompt", action="append")
    arguments = parser.parse_args()
    try:
        asyncio.run(main(arguments.agents, arguments.prompt or ["hello"]))
    except DaemonNotStarted as error:
        sys.exit(str(error))
