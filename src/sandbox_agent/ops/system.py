"""Health, readiness and metrics of the daemon."""

from __future__ import annotations

from .. import __version__
from ..errors import Unavailable
from ..runtime.daemon import Daemon
from ..schema.answers import Health, Readiness
from .operation import Content, Nothing, operation


@operation("GET", "/v1/health", name="system.health", public=True)
async def health(daemon: Daemon, request: Nothing) -> Health:
    """Check that the daemon is running; returns its version."""
    return Health("ok", __version__)


@operation("GET", "/v1/ready", Unavailable, name="system.ready", public=True)
async def ready(daemon: Daemon, request: Nothing) -> Readiness:
    """Check that the daemon accepts work: the log is writable and the daemon is not stopping."""
    daemon.require_open()
    daemon.log.require_writable()
    await daemon.log.look_up(daemon.log.store.check)
    return Readiness("ready")


@operation("GET", "/metrics", name="system.metrics")
async def metrics(daemon: Daemon, request: Nothing) -> Content:
    """Return metrics in Prometheus text format."""
    from .metrics import render

    return Content(render(daemon), "text/plain; version=0.0.4; charset=utf-8")
