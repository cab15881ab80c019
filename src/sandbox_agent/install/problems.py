"""Why a fetch did not work. A source that fails says so with one of these, and the next one is tried."""

from __future__ import annotations


class SourceFailed(Exception):
    """This source cannot give the agent; the text says why."""


class NotThere(SourceFailed):
    """The place answered that it has no such thing."""


class Stopped(Exception):
    """Whoever asked for it does not want it any more: the daemon stops."""
