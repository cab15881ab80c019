"""For notebooks, where an event loop is already running: copy the parts into cells and use `await` at the top level.

client = AsyncSandboxAgent.start()                      # one cell: the daemon runs as long as the kernel
session = await client.sessions.create(agent="claude")  # another cell
transcript = await watch(session, "draw me a plot")     # as often as you like
await client.close()                                    # optional: the daemon stops with the kernel
"""

import asyncio
import sys

from sandbox_agent import AsyncSandboxAgent, AsyncSession, PermissionRequested, SandboxAgentError, Transcript


async def allow_edits(request: PermissionRequested) -> bool:
    """A callback may be async: it could show a button and wait for a click."""
    return request.metadata.kind == "edit"


async def watch(session: AsyncSession, prompt: str) -> Transcript:
    """Print the answer as it streams, and return the transcript."""
    turn = session.prompt(prompt, on_permission=allow_edits)
    async for piece in turn.text():
        print(piece, end="", flush=True)
    print()
    for change in turn.transcript.diffs:
        print(change.diff)
    return turn.transcript


async def main(agent: str = "mock", *prompts: str) -> None:
    async with AsyncSandboxAgent.start() as client:
        session = await client.sessions.create(agent=agent)
        for prompt in prompts or ["hello"]:
            transcript = await watch(session, prompt)
            print(transcript.usage)


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except SandboxAgentError as error:
        sys.exit(str(error))
