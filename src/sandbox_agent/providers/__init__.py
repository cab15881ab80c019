"""Places where sandboxes run: processes of this machine, containers, and the clouds of E2B and Daytona.

A `Provider` is what `SandboxAgent.start(sandbox=...)` and a fleet use. The daemon never imports this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .provider import Access, Provider, Sandbox, SandboxSpec, SandboxState

if TYPE_CHECKING:
    from .daytona import DaytonaProvider
    from .docker import DockerProvider
    from .e2b import E2BProvider
    from .local import LocalProvider

__all__ = [
    "Access",
    "DaytonaProvider",
    "DockerProvider",
    "E2BProvider",
    "LocalProvider",
    "Provider",
    "Sandbox",
    "SandboxSpec",
    "SandboxState",
]

_MODULES = {
    "DaytonaProvider": "daytona",
    "DockerProvider": "docker",
    "E2BProvider": "e2b",
    "LocalProvider": "local",
}


def __getattr__(name: str) -> object:
    """Import a provider on first use: each needs packages that the others do without."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
