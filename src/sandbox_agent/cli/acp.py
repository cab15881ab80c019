"""`acp --agent NAME`: the Agent Client Protocol on stdin and stdout."""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import aclosing

from ..agents import AGENTS
from ..agents.environment import own_family
from ..doors.acp.connection import Connection
from .acp_operations import RemoteOperations
from .background_daemon import find_client
from .stdio import lines_of_stdin, open_stdout


def acp(args: argparse.Namespace) -> int:
    asyncio.run(_serve(args))
    return 0


async def _serve(args: argparse.Namespace) -> None:
    client, is_ours = find_client(args)
    env = _variables(args.agent) if is_ours else {}
    async with client:
        connection = Connection(RemoteOperations(client, env), await open_stdout(), args.agent, args.session)
        try:
            async with aclosing(lines_of_stdin()) as lines:
                async for line in lines:
                    await connection.receive(line)
        finally:
            await connection.close()


def _variables(name: str) -> dict[str, str]:
    """The agent's own variables from the editor's environment: the daemon may have been started without them."""
    agent = AGENTS.get(name)
    return own_family(agent, os.environ) if agent else {}
