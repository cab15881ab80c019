"""Why a source of skills cannot be used."""

from __future__ import annotations


class SourceRefused(Exception):
    """The source is missing, unreadable, too large, or contains what a source may not."""
