"""A daemon in a sandbox of a provider, for `start(sandbox=...)`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import data_folder
from ..errors import InvalidRequest, SandboxAgentError
from ..private_files import write_private
from .call import Address
from .discovery import is_on_this_machine
from .failures import DaemonNotStarted

if TYPE_CHECKING:
    from ..providers.provider import Provider

HEALTHY_SECONDS = 60.0
"""How long the daemon of a sandbox that has started may need until it answers."""
REMOVE_SECONDS = 90.0
POLL_SECONDS = 0.1


class Hosted:
    """Created or found when its client first needs it. Without a name of the user's, it is removed with its client."""

    def __init__(
        self, provider: Provider, name: str | None, flags: Sequence[str], env: Mapping[str, str] | None
    ) -> None:
        import asyncio  # slow to import, and needed here only

        self.name = f"sandbox-agent-{secrets.token_hex(6)}" if name is None else name
        self.is_temporary = name is None
        self._provider = provider
        self._flags = tuple(flags)
        self._env = dict(env or {})
        self._address: Address | None = None
        self._starting = asyncio.Lock()

    async def start(self) -> Address:
        """Create or find the sandbox, start the daemon in it unless it is running, and wait until it answers."""
        async with self._starting:
            if self._address is None:
                self._address = await self._start()
            return self._address

    async def _start(self) -> Address:
        from ..providers.provider import SandboxSpec

        existed = not self.is_temporary and await self._provider.get(self.name) is not None
        spec = SandboxSpec(name=self.name, token_file=self._own_token(), flags=self._flags, env=self._env)
        try:
            sandbox = await self._provider.start(spec)
            access = await self._provider.access(self.name)
            address = Address(
                sandbox.endpoint or "", access.token or spec.token_file.read_text(), dict(access.headers)
            )
            await self._answers(address)
            return address
        except BaseException as error:
            if not existed:
                await self._clean_up(error)
            await self._provider.close()
            if isinstance(error, SandboxAgentError) and not isinstance(error, InvalidRequest):
                raise DaemonNotStarted(error.detail) from None
            raise

    async def _clean_up(self, error: BaseException) -> None:
        """Remove a sandbox that failed to start."""
        import asyncio

        try:
            async with asyncio.timeout(REMOVE_SECONDS):
                await self.kill()
        except Exception as failure:
            error.add_note(
                f"sandbox {self.name} could not be removed either, so remove it yourself: {failure}"
            )

    async def _answers(self, address: Address) -> None:
        """Wait for the first answer at the address."""
        import asyncio
        import time

        import httpx2

        deadline = time.monotonic() + HEALTHY_SECONDS
        problem = "no answer"
        by_proxy = not is_on_this_machine(address.endpoint)  # a proxy cannot reach this machine
        async with httpx2.AsyncClient(timeout=10, headers=dict(address.headers), trust_env=by_proxy) as http:
            while time.monotonic() < deadline:
                try:
                    answer = await http.get(f"{address.endpoint}/v1/health")
                    if answer.is_success:
                        return
                    problem = f"status {answer.status_code}: {answer.text[:200]}"
                except httpx2.HTTPError as error:
                    problem = str(error) or type(error).__name__
                found = await self._provider.get(self.name)
                if found is None or found.state != "running":
                    await self._provider.access(self.name)  # says why it has ended
                await asyncio.sleep(POLL_SECONDS)
        raise DaemonNotStarted(
            f"the daemon in sandbox {self.name} does not answer at {address.endpoint} within {HEALTHY_SECONDS:.0f} seconds: {problem}"
        )

    async def pause(self) -> None:
        await self._provider.stop(self.name)
        self._forget()

    async def kill(self) -> None:
        await self._provider.remove(self.name)
        self._forget()

    async def close(self) -> None:
        try:
            if self.is_temporary and self._address is not None:
                await self.kill()
        finally:
            await self._provider.close()

    def _own_token(self) -> Path:
        """A fresh token, or that of a sandbox which this user has started and not stopped since."""
        path = self._token_file()
        if not path.exists():
            write_private(path, secrets.token_urlsafe(24).encode())
        return path

    def _forget(self) -> None:
        self._address = None
        self._token_file().unlink(missing_ok=True)

    def _token_file(self) -> Path:
        return data_folder() / "sandbox-tokens" / type(self._provider).__name__ / os.path.basename(self.name)
