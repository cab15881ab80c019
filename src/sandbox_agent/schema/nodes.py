"""Nodes: the daemons that share a log."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .times import Time

NodeState = Literal["live", "silent", "fenced"]
"""`silent`: it has not renewed its lease in time; another node will fence it."""


class NodeInfo(Struct, frozen=True, rename="camel"):
    name: str
    state: NodeState
    version: str
    started_at: Time
    last_seen_at: Time | None = None
    """When it last wrote to the log, by the clock of the database; null without a shared log."""
    asked: bool = False
    """It is the node that answered."""


class NodeList(Struct, frozen=True, rename="camel"):
    nodes: list[NodeInfo]
