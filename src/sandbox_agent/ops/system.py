"""Whether the daemon lives, is ready, and how it does."""

from __future__ import annotations

from .. import __version__
from ..errors import Unavailable
from ..runtime.daemon import Daemon
from ..schema.answers import Health, Readiness
from .operation import Content, Nothing, operation


@operation("GET", "/v1/health", name="system.health", public=True)
async def health(daemon: Daemon, request: Nothing) -> Health:
    """Say that the daemon lives, and its version."""
    return Health("ok", __version__)


@operation("GET", "/v1/ready", Unavailable, name="system.ready", public=True)
async def ready(daemon: Daemon, request: Nothing) -> Readiness:
    """Say whether new work is taken: the log can be written and the daemon is not stopping."""
    daemon.require_open()
    daemon.log.require_writable()
    await daemon.log.look_up(daemon.log.store.check)
    return Readiness("ready")


@operation("GET", "/metrics", name="system.metrics")
async def metrics(daemon: Daemon, request: Nothing) -> Content:
    """Give figures in Prometheus' text format."""
    from .metrics import render

    return Content(render(daemon), "text/plain; version=0.0.4; charset=utf-8")
