"""Nodes for tests: real daemons with a shared log, each with its own data directory."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
from tests.daemons import Client, Daemon, done, of_type, wait_until

LEASE = 2.0


class Node(Daemon):
    """A daemon with a name, and a client of it."""

    def __init__(
        self, folder: Path, name: str, url: str, *flags: str, env: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(
            folder,
            "--no-token",
            *("--database-url", url, "--node-name", name, "--lease-seconds", str(LEASE)),
            *flags,
            env=env,
        )
        self.name = name
        self.client = Client(self)

    def exchange(self, env: Mapping[str, str]) -> None:
        """Drain it, and start it again with another environment."""
        assert self.stop() == 0
        self._env = env
        self.start()

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)


class Nodes:
    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self._folder = folder
        self._nodes: list[Node] = []

    def new(
        self,
        name: str,
        *flags: str,
        disk: str | None = None,
        url: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Node:
        """A node that is not started yet."""
        node = Node(self._folder / (disk or name), name, url or self.url, *flags, env=env)
        self._nodes.append(node)
        return node

    def start(
        self,
        name: str,
        *flags: str,
        disk: str | None = None,
        url: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Node:
        return self.new(name, *flags, disk=disk, url=url, env=env).start()

    def log(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection to the database of the log."""
        return psycopg.connect(self.url, autocommit=True)

    def end(self) -> None:
        for node in self._nodes:
            node.client.close()
            if hasattr(node, "process") and node.process.poll() is None:
                node.resume()
                node.kill()


def states(node: Node) -> dict[str, str]:
    """What a node says about all of them."""
    listed: Sequence[dict[str, Any]] = done(node.client.get("/v1/nodes"))["nodes"]
    return {node["name"]: node["state"] for node in listed}


def wait_for_state(node: Node, name: str, state: str) -> None:
    wait_until(lambda: states(node).get(name) == state)


def outcomes(events: Sequence[dict[str, Any]]) -> list[str]:
    """How the turns ended."""
    return [ended["metadata"]["stop_reason"] for ended in of_type(events, "turn.ended")]


def is_unknown(event: dict[str, Any]) -> bool:
    return outcomes([event]) == ["outcome_unknown"]
