"""Nodes: the daemons that share the log."""

from __future__ import annotations

from msgspec import Struct

from ..errors import Conflict, NotFound, Unavailable
from ..runtime.daemon import Daemon
from ..schema.nodes import NodeList
from .operation import NodeName, Nothing, operation


class OneNode(Struct, frozen=True):
    name: NodeName


@operation("GET", "/v1/nodes", Unavailable, name="nodes.list")
async def list_nodes(daemon: Daemon, request: Nothing) -> NodeList:
    """List the nodes that share the log. Without a shared log, that is only this daemon."""
    return NodeList(await daemon.nodes())


@operation("POST", "/v1/nodes/{name}/fence", NotFound, Conflict, Unavailable, name="nodes.fence", body="none")
async def fence(daemon: Daemon, request: OneNode) -> None:
    """Fence a node at once, instead of waiting for its lease: nothing it writes from now on is accepted.

    This is always safe for the log. If the node still runs, its agents keep running until it notices, so make sure
    that it is gone before others continue its sessions.
    """
    await daemon.fence(request.name)
