"""One API for every coding agent.

For programs this is the SDK: `SandboxAgent` and `AsyncSandboxAgent`, the events and the errors, all of it listed in `client`. A
name is loaded when it is first used: the import costs nothing, and nothing here loads the daemon.
"""

TYPE_CHECKING = (
    False  # type checkers know it by this name; `typing` itself would cost more than all the rest here
)
if TYPE_CHECKING:
    from .client import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name == "__all__":
        return [*_public(), "__version__"]
    if name.startswith("_") or name == "client" or name not in _public():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import client

    found = globals()[name] = getattr(client, name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *_public()]


def _public() -> list[str]:
    from . import client

    return client.__all__
