"""E2B sandboxes, through E2B's own SDK: `pip install sandbox-agentd[e2b]`, and `E2B_API_KEY` in the environment.

A sandbox is found by its metadata. Stopping it pauses it with its memory.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Unavailable
from .launch import LAUNCH_SECONDS, PORT, Install, Ran, launch, token_of
from .provider import Access, Sandbox, SandboxSpec, checked_name

if TYPE_CHECKING:
    from e2b import AsyncSandbox, SandboxInfo

LABEL = "sandbox-agent"
LIFETIME_SECONDS = 3600


class E2BProvider:
    def __init__(
        self,
        *,
        binary: str | os.PathLike[str] | None = None,
        install: str | None = None,
        template: str | None = None,
        lifetime_seconds: int = LIFETIME_SECONDS,
        port: int = PORT,
        sdk: type[AsyncSandbox] | None = None,
    ) -> None:
        """Sandboxes that are made from a template.

        - `binary`: The single file for Linux, which is copied into a sandbox that does not contain the daemon.
        - `install`: A command that installs it instead.
        - `template`: A template, best one that contains `sandbox-agent`; E2B's base template if absent.
        - `lifetime_seconds`: After this time E2B pauses the sandbox.
        - `port`: The daemon's port in the sandbox.
        - `sdk`: Something else that has the methods of E2B's `AsyncSandbox`, e.g. for tests.
        """
        self._given = sdk
        self._install = Install(None if binary is None else Path(binary), install)
        self._template = template
        self._lifetime = lifetime_seconds
        self._port = port

    async def start(self, spec: SandboxSpec) -> Sandbox:
        async with asyncio.timeout(LAUNCH_SECONDS):
            found = await self._find(spec.name)
            sandbox = await (self._create(spec.name) if found is None else self._connect(found))
            try:
                await launch(_Shell(sandbox), spec, self._install, self._port)
            except BaseException:
                if found is None:
                    await sandbox.kill()
                raise
        return Sandbox(spec.name, "running", _address(sandbox.get_host(self._port)))

    async def _create(self, name: str) -> AsyncSandbox:
        return await self._sdk().create(
            template=self._template,
            timeout=self._lifetime,
            metadata={LABEL: checked_name(name)},
            lifecycle={"on_timeout": "pause"},
        )

    async def _connect(self, found: SandboxInfo) -> AsyncSandbox:
        """Connecting resumes a paused sandbox."""
        return await self._sdk().connect(found.sandbox_id, timeout=self._lifetime)

    async def stop(self, name: str) -> None:
        found = await self._find(name)
        if found is not None and found.state.value == "running":
            await (await self._connect(found)).pause()

    async def remove(self, name: str) -> None:
        found = await self._find(name)
        if found is not None:
            await (await self._connect(found)).kill()

    async def get(self, name: str) -> Sandbox | None:
        found = await self._find(name)
        return None if found is None else await self._sandbox(name, found)

    async def access(self, name: str) -> Access:
        found = await self._find(name)
        if found is None:
            raise Unavailable(f"E2B has no sandbox {name}", node=name)
        return Access(token=await token_of(_Shell(await self._connect(found))))

    async def close(self) -> None:
        """There is nothing to close: E2B's SDK closes its connections itself."""

    def _sdk(self) -> type[AsyncSandbox]:
        from e2b import AsyncSandbox

        real: type[AsyncSandbox] = AsyncSandbox
        return real if self._given is None else self._given

    async def _sandbox(self, name: str, info: SandboxInfo) -> Sandbox:
        if info.state.value != "running":
            return Sandbox(name, "stopped")
        sandbox = await self._connect(info)
        return Sandbox(name, "running", _address(sandbox.get_host(self._port)))

    async def _find(self, name: str) -> SandboxInfo | None:
        found = await self._all({LABEL: checked_name(name)})
        return found[0] if found else None

    async def _all(self, metadata: dict[str, str]) -> list[SandboxInfo]:
        from e2b import SandboxQuery

        pages = self._sdk().list(query=SandboxQuery(metadata=metadata))
        found: list[SandboxInfo] = []
        while pages.has_next:
            found += await pages.next_items()
        return [info for info in found if LABEL in info.metadata]

    async def list(self) -> list[Sandbox]:
        found = [await self._sandbox(info.metadata[LABEL], info) for info in await self._all({})]
        return sorted(found, key=lambda sandbox: sandbox.name)


class _Shell:
    def __init__(self, sandbox: AsyncSandbox) -> None:
        self._sandbox = sandbox

    async def run(self, command: str, env: Mapping[str, str]) -> Ran:
        from e2b import CommandExitException

        try:
            ran = await self._sandbox.commands.run(command, envs=dict(env), timeout=LAUNCH_SECONDS)
        except CommandExitException as failed:
            return Ran(failed.exit_code, failed.stdout or "", failed.stderr or "")
        return Ran(ran.exit_code, ran.stdout, ran.stderr)

    async def read(self, path: str) -> str:
        return str(await self._sandbox.files.read(path))

    async def write(self, path: str, content: bytes) -> None:
        await self._sandbox.files.write(path, content, request_timeout=LAUNCH_SECONDS)


def _address(host: str) -> str:
    # E2B's debug mode serves on this machine, without TLS.
    return f"http://{host}" if host.startswith("localhost:") else f"https://{host}"
