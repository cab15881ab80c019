"""For notebooks, where a loop runs already: put the parts into cells and write `await` at the top level.

client = AsyncSandboxAgent.start()                      # one cell: the daemon lives as long as the kernel
session = await client.sessions.create(agent="claude")  # another
transcript = await watch(session, "draw me a plot")     # as often as you like
await client.close()                                    # or leave it: it ends with the kernel
"""

import asyncio
import sys

from sandbox_agent import AsyncSandboxAgent, AsyncSession, PermissionRequested, Transcript


async def allow_edits(request: PermissionRequested) -> bool:
    """A callback may await: here one could show a button and wait for its click."""
    return request.metadata.kind == "edit"


async def watch(session: AsyncSession, prompt: str) -> Transcript:
    """Show the answer while it is written; give back everything there is to look at."""
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
    asyncio.run(main(*sys.argv[1:]))
