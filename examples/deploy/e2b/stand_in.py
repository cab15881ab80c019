"""A stand-in for E2B's cloud: the methods of its SDK, and real processes of this machine. Used when there is no `E2B_API_KEY`."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from e2b import CommandExitException, CommandResult, SandboxQuery, SandboxState
from examples.deploy.machine import Machine

if TYPE_CHECKING:
    from e2b import SandboxLifecycle


class Info(NamedTuple):
    sandbox_id: str
    metadata: dict[str, str]
    state: SandboxState


class StandIn:
    """In place of the class `AsyncSandbox`."""

    def __init__(self) -> None:
        self.sandboxes: list[StandInSandbox] = []

    async def create(
        self,
        template: str | None = None,
        timeout: int | None = None,
        metadata: dict[str, str] | None = None,
        lifecycle: SandboxLifecycle | None = None,
    ) -> StandInSandbox:
        self.sandboxes.append(StandInSandbox(metadata or {}))
        return self.sandboxes[-1]

    async def connect(self, sandbox_id: str, timeout: int | None = None) -> StandInSandbox:
        found = next(each for each in self.sandboxes if each.sandbox_id == sandbox_id)
        if found.machine.state == "frozen":
            found.machine.thaw()
        return found

    def list(self, query: SandboxQuery | None = None) -> Pages:
        wanted = ((query and query.metadata) or {}).items()
        return Pages(
            [
                each.info()
                for each in self.sandboxes
                if each.machine.state != "gone" and wanted <= each.metadata.items()
            ]
        )


class Pages:
    def __init__(self, found: list[Info]) -> None:
        self._found = found
        self.has_next = True

    async def next_items(self) -> list[Info]:
        self.has_next = False
        return self._found


class StandInSandbox:
    def __init__(self, metadata: dict[str, str]) -> None:
        self.sandbox_id = secrets.token_hex(10)
        self.metadata = metadata
        self.machine = Machine()
        self.commands = Commands(self.machine)
        self.files = Files()

    def info(self) -> Info:
        running = self.machine.state == "running"
        return Info(self.sandbox_id, self.metadata, SandboxState.RUNNING if running else SandboxState.PAUSED)

    def get_host(self, port: int) -> str:
        """As in E2B's debug mode."""
        return f"localhost:{port}"

    async def pause(self) -> bool:
        self.machine.freeze()
        return True

    async def kill(self) -> bool:
        self.machine.delete()
        return True


class Commands:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    async def run(
        self, cmd: str, envs: dict[str, str] | None = None, timeout: float | None = 60
    ) -> CommandResult[Any]:
        ran = await self._machine.run(cmd, envs)
        if ran.exit_code:
            raise CommandExitException(
                stdout=ran.stdout, stderr=ran.stderr, exit_code=ran.exit_code, error=None
            )
        return CommandResult(stdout=ran.stdout, stderr=ran.stderr, exit_code=0, error=None)


class Files:
    async def read(self, path: str) -> str:
        with open(path) as file:
            return file.read()

    async def write(self, path: str, data: bytes, request_timeout: float | None = None) -> None:
        with open(path, "wb") as file:
            file.write(data)
