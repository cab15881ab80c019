"""Daytona sandboxes, through Daytona's own SDK: `pip install sandbox-agentd[daytona]`, and `DAYTONA_API_KEY` in the environment."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Unavailable
from .launch import LAUNCH_SECONDS, PORT, Install, Ran, launch, token_of
from .provider import STOP_SECONDS, Access, Sandbox, SandboxSpec, checked_name

if TYPE_CHECKING:
    from daytona import AsyncDaytona, AsyncSandbox, CreateSandboxFromSnapshotParams

LABEL = "sandbox-agent"
PREVIEW_TOKEN = "x-daytona-preview-token"


class DaytonaProvider:
    def __init__(
        self,
        *,
        binary: str | os.PathLike[str] | None = None,
        install: str | None = None,
        create: CreateSandboxFromSnapshotParams | None = None,
        port: int = PORT,
        sdk: AsyncDaytona | None = None,
    ) -> None:
        """Sandboxes that are made from a snapshot.

        - `binary`: The single file for Linux, which is copied into a sandbox that does not contain the daemon.
        - `install`: A command that installs it instead.
        - `create`: Settings for new sandboxes, as Daytona's SDK takes them.
        - `port`: The daemon's port in the sandbox.
        - `sdk`: Your own client of Daytona, or something else that has its methods. Closing it is up to you.
        """
        self._given = sdk
        self._opened: AsyncDaytona | None = None
        self._install = Install(None if binary is None else Path(binary), install)
        self._create = create
        self._port = port

    async def start(self, spec: SandboxSpec) -> Sandbox:
        async with asyncio.timeout(LAUNCH_SECONDS):
            found = await self._find(spec.name)
            sandbox = found or await self._sdk().create(self._params(spec.name), timeout=LAUNCH_SECONDS)
            try:
                if _state(sandbox) != "started":
                    await sandbox.start(timeout=LAUNCH_SECONDS)
                await launch(_Shell(sandbox), spec, self._install, self._port)
            except BaseException:
                if found is None:
                    await sandbox.delete()
                raise
            return await self._running(spec.name, sandbox)

    def _params(self, name: str) -> CreateSandboxFromSnapshotParams:
        from daytona import CreateSandboxFromSnapshotParams

        given = self._create or CreateSandboxFromSnapshotParams()
        labels = {**(given.labels or {}), LABEL: name}
        return given.model_copy(update={"name": checked_name(name), "labels": labels})

    async def stop(self, name: str) -> None:
        sandbox = await self._find(name)
        if sandbox is not None and _state(sandbox) == "started":
            await sandbox.stop(timeout=STOP_SECONDS)

    async def remove(self, name: str) -> None:
        sandbox = await self._find(name)
        if sandbox is not None:
            await sandbox.delete()

    async def get(self, name: str) -> Sandbox | None:
        sandbox = await self._find(name)
        if sandbox is None:
            return None
        if _state(sandbox) == "started":
            return await self._running(name, sandbox)
        return Sandbox(name, "dead" if _state(sandbox) == "error" else "stopped")

    async def access(self, name: str) -> Access:
        sandbox = await self._find(name)
        if sandbox is None:
            raise Unavailable(f"Daytona has no sandbox {name}", node=name)
        preview = await sandbox.get_preview_link(self._port)
        return Access(token=await token_of(_Shell(sandbox)), headers={PREVIEW_TOKEN: preview.token})

    async def list(self) -> list[Sandbox]:
        names = sorted(
            [sandbox.labels[LABEL] async for sandbox in self._sdk().list() if LABEL in sandbox.labels]
        )
        found = [await self.get(name) for name in names]
        return [sandbox for sandbox in found if sandbox is not None]

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(None, None, None)
            self._opened = None

    def _sdk(self) -> AsyncDaytona:
        if self._given is not None:
            return self._given
        if self._opened is None:
            from daytona import AsyncDaytona

            self._opened = AsyncDaytona()
        return self._opened

    async def _find(self, name: str) -> AsyncSandbox | None:
        from daytona import DaytonaNotFoundError

        try:
            return await self._sdk().get(checked_name(name))
        except DaytonaNotFoundError:
            return None

    async def _running(self, name: str, sandbox: AsyncSandbox) -> Sandbox:
        return Sandbox(name, "running", (await sandbox.get_preview_link(self._port)).url)


class _Shell:
    def __init__(self, sandbox: AsyncSandbox) -> None:
        self._sandbox = sandbox

    async def run(self, command: str, env: Mapping[str, str]) -> Ran:
        # Daytona's own shell may be another one.
        line = f"sh -c {shlex.quote(command)}"
        ran = await self._sandbox.process.exec(line, env=dict(env), timeout=round(LAUNCH_SECONDS))
        return Ran(int(ran.exit_code), ran.result, "")

    async def read(self, path: str) -> str:
        return bytes(await self._sandbox.fs.download_file(path)).decode()

    async def write(self, path: str, content: bytes) -> None:
        await self._sandbox.fs.upload_file(content, path)


def _state(sandbox: AsyncSandbox) -> str:
    return "unknown" if sandbox.state is None else str(sandbox.state.value)
