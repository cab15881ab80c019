"""Opens the store that an address names: `sqlite:PATH`, `postgresql://...` or `memory:`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ..config import Config
from ..errors import InvalidRequest
from .base import Store
from .copyable import CopyableStore

if TYPE_CHECKING:
    from .postgres import PostgresStore

SQLITE = "sqlite:"
POSTGRES = ("postgresql:", "postgres:")
LOG_NAME = "log.db"


class Keys(Struct, frozen=True):
    """What a store in PostgreSQL needs besides its address."""

    secrets_key_file: str | None = None
    listen_url: str | None = None


def open_store(config: Config, folder: Path) -> Store:
    """The store that the configuration names. An unfinished copy is refused."""
    url = database_url(config)
    if url is not None and url.startswith(POSTGRES):
        store: CopyableStore = open_postgres(url, Keys(config.secrets_key_file, config.database_listen_url))
    elif url == "memory:":
        from .memory import MemoryStore

        return MemoryStore()
    else:
        store = open_sqlite(sqlite_path(url) if url else folder / LOG_NAME, config.synchronous)
    if source := store.copied_from():
        store.close()
        raise InvalidRequest(
            f"this log is an unfinished copy of {source}: run the same `sandbox-agent log copy` again to finish it"
        )
    return store


def database_url(config: Config) -> str | None:
    """The address from the setting or from its file, which keeps a password out of process lists."""
    if config.database_url_file is None:
        return config.database_url
    if config.database_url is not None:
        raise InvalidRequest("use either --database-url or --database-url-file, not both")
    return address_in(config.database_url_file)


def address_in(file: str) -> str:
    try:
        text = Path(file).expanduser().read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"the file {file} cannot be read: {error}") from None
    if not text:
        raise InvalidRequest(f"the file {file} is empty")
    return text


def address_of(given: str) -> str:
    """An address as people write it: itself, or `@FILE`, a file that contains it."""
    return address_in(given[1:]) if given.startswith("@") else given


def sqlite_path(url: str) -> Path:
    if not url.startswith(SQLITE):
        raise InvalidRequest(
            f"{url.split(':', 1)[0]}: is not supported; use sqlite:PATH, postgresql://... or memory:"
        )
    return Path(url.removeprefix(SQLITE).removeprefix("//")).expanduser().absolute()


def open_sqlite(path: Path, synchronous: Literal["full", "normal"] = "full") -> CopyableStore:
    from .sqlite import SqliteStore

    return SqliteStore(path, synchronous)


def open_postgres(url: str, keys: Keys) -> PostgresStore:
    try:
        from .postgres import PostgresStore, read_keys
    except ImportError as error:
        raise InvalidRequest(
            f"a log in PostgreSQL needs the extra `postgres` ({error}): pip install 'sandbox-agentd[postgres]'"
        ) from None
    return PostgresStore(url, read_keys(keys.secrets_key_file), keys.listen_url)
