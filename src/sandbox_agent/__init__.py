"""One API for every coding agent.

This is the SDK: `SandboxAgent`, `AsyncSandboxAgent`, events and errors, all listed in `client`. Names are loaded on first
use, so the import is cheap, and nothing here loads the daemon.
"""

TYPE_CHECKING = (
    False  # type checkers recognize this name; importing `typing` would cost more than everything else here
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
