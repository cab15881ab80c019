"""Runs a fleet and its front until it is stopped. The sandboxes keep running without it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys

import httpx2
import uvicorn
from msgspec import Struct

from ..errors import Unavailable
from ..providers.provider import Provider
from .fleet import Fleet, FleetSettings
from .front import Front
from .tunnel import MAX_MESSAGE_BYTES

MAX_CONNECTIONS = 2000


class Listening(Struct, frozen=True):
    host: str
    port: int


def serve(provider: Provider, settings: FleetSettings, listening: Listening) -> int:
    """Run until SIGTERM or SIGINT. Returns the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    for quiet in ("uvicorn", "httpx2", "httpcore2"):
        logging.getLogger(quiet).setLevel(logging.WARNING)
    return asyncio.run(_serve(provider, settings, listening))


async def _serve(provider: Provider, settings: FleetSettings, listening: Listening) -> int:
    # Streams hold their connections, so only the number of clients is limited.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=50)
    transport = httpx2.AsyncHTTPTransport(limits=limits, trust_env=False)
    async with httpx2.AsyncClient(transport=transport, trust_env=False) as http:
        fleet = Fleet(provider, settings, http)
        server = uvicorn.Server(_uvicorn_config(Front(fleet, transport), listening))
        loop = asyncio.get_running_loop()
        stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopping.set)
        server.capture_signals = contextlib.nullcontext  # type: ignore[assignment, method-assign]
        watching = loop.create_task(fleet.watch())
        serving = loop.create_task(server.serve())
        waiting = loop.create_task(stopping.wait())
        try:
            await _print_addresses(server, serving)
            await asyncio.wait({serving, waiting, watching}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (watching, waiting):
                task.cancel()
            server.should_exit = True
            await asyncio.gather(watching, waiting, serving, return_exceptions=True)
            await fleet.close()
            await provider.close()
    return 0 if stopping.is_set() else 1


def _uvicorn_config(front: Front, listening: Listening) -> uvicorn.Config:
    return uvicorn.Config(
        front,
        host=listening.host,
        port=listening.port,
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
    )


async def _print_addresses(server: uvicorn.Server, serving: asyncio.Task[None]) -> None:
    while not server.started:
        if serving.done():
            raise Unavailable("the fleet cannot listen on this address")
        await asyncio.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print(f"listening on http://{shown}:{port}", file=sys.stderr, flush=True)  # noqa: T201
