"""Three daemons on one log in PostgreSQL, each behind a network of its own that can fail."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
from pathlib import Path

from tests.cluster.proxy import Proxy

from tools.daemon import MARK, Daemon
from tools.postgres import PostgresServer

LEASE_SECONDS = 2.0
NAMES = ("one", "two", "three")


class Node(Daemon):
    def __init__(self, folder: Path, name: str, proxy: Proxy, url: str, key_file: Path) -> None:
        folder.mkdir()
        super().__init__(folder)
        self.name = name
        self.proxy = proxy
        self.flags = (
            *("--database-url", url, "--node-name", name, "--lease-seconds", str(LEASE_SECONDS)),
            *("--secrets-key-file", str(key_file)),
        )

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)


class Fleet:
    """All nodes and their database."""

    def __init__(self, folder: Path) -> None:
        self.server = PostgresServer()
        self.server.start()
        key_file = folder / "keys"
        key_file.write_text(base64.b64encode(os.urandom(32)).decode())
        self.nodes = []
        for name in NAMES:
            proxy = Proxy(self.server.port)
            self.nodes.append(Node(folder / name, name, proxy, self.server.url(port=proxy.port), key_file))
        for node in self.nodes:
            node.env = self.env
        self.address = self.nodes[0].address

    @property
    def env(self) -> dict[str, str]:
        return {MARK: self.nodes[0].env[MARK]}

    async def start(self) -> None:
        await asyncio.gather(*(node.start() for node in self.nodes))

    async def crash_database(self) -> None:
        await asyncio.to_thread(self.server.stop)
        await asyncio.to_thread(self.server.start)

    def started(self) -> set[int]:
        return self.nodes[0].started()

    async def end(self) -> None:
        for node in self.nodes:
            await node.kill()
            node.proxy.close()
        await asyncio.to_thread(self.server.remove)
