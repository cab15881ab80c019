"""Errors of download sources. After one of these, the installer tries the next source."""

from __future__ import annotations


class SourceFailed(Exception):
    """This source cannot provide the agent; the text says why."""


class NotThere(SourceFailed):
    """The source does not have it."""


class Stopped(Exception):
    """The installation was stopped, because the daemon is stopping."""
