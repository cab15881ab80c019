"""The settings of the daemon. Flags and `SANDBOX_AGENT_*` variables are derived from the fields."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

import msgspec
from msgspec import Meta, Struct

from .errors import InvalidRequest, found_by_validation
from .schema.limits import Amount, Count, SessionLimits

PREFIX = "SANDBOX_AGENT_"


def default_data_dir() -> Path:
    return Path.home() / ".local" / "share" / "sandbox-agent"


_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([KMGT])i?)?B?", re.ASCII | re.IGNORECASE)


def bytes_of(text: str) -> int:
    """A size as people write it: `1048576`, `500M`, `4GiB`. The units are powers of 1,024."""
    found = _SIZE.fullmatch(text.strip())
    size = (
        int(float(found[1]) * 1024 ** ("KMGT".index(found[2].upper()) + 1 if found[2] else 0)) if found else 0
    )
    if size <= 0:
        raise InvalidRequest(f"expected bytes, or a number with K, M or G as in `500M`, not `{text}`")
    return size


class Config(Struct, frozen=True, kw_only=True):
    host: Annotated[str, Meta(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port to listen on; 0 picks a free one.")] = 2468
    token: Annotated[str | None, Meta(description="Token that clients must send.")] = None
    token_file: Annotated[
        str | None,
        Meta(
            description="File that contains the token (recommended, because flags are visible in process lists)."
        ),
    ] = None
    no_token: Annotated[
        bool,
        Meta(description="Serve loopback addresses without a token: anyone on this machine can run code."),
    ] = False
    insecure_no_token: Annotated[
        bool,
        Meta(description="Serve any address without a token: anyone who can connect can run code."),
    ] = False
    cors_allow_origin: Annotated[
        tuple[str, ...], Meta(description="Origin to allow for browsers; repeatable.")
    ] = ()
    cors_allow_method: Annotated[tuple[str, ...], Meta(description="Method to allow; repeatable.")] = ()
    cors_allow_header: Annotated[
        tuple[str, ...], Meta(description="Request header to allow; repeatable.")
    ] = ()
    cors_allow_credentials: Annotated[bool, Meta(description="Allow browsers to send credentials.")] = False
    allow_host: Annotated[
        tuple[str, ...],
        Meta(description="Host name to accept in addition to the bound address; repeatable."),
    ] = ()
    no_bypass: Annotated[bool, Meta(description="Refuse permissionMode `bypass`.")] = False
    policy: Annotated[
        str | None,
        Meta(description="TOML file with rules for what agents may do; it is read again when it changes."),
    ] = None
    data_dir: Annotated[
        str | None, Meta(description="Data directory (default ~/.local/share/sandbox-agent).")
    ] = None
    database_url: Annotated[
        str | None,
        Meta(
            description="Where the log is stored: `sqlite:PATH` (default: in the data directory), `postgresql://...`, "
            "or `memory:`, which keeps nothing after exit."
        ),
    ] = None
    database_url_file: Annotated[
        str | None,
        Meta(description="File that contains the database URL, which may hold a password."),
    ] = None
    database_listen_url: Annotated[
        str | None,
        Meta(
            description="Direct PostgreSQL URL for LISTEN, if the database URL leads through a transaction pooler."
        ),
    ] = None
    secrets_key_file: Annotated[
        str | None,
        Meta(
            description="File with the keys for session secrets in PostgreSQL, one per line; the first one encrypts, all of them decrypt."
        ),
    ] = None
    node_name: Annotated[
        Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$")] | None,
        Meta(
            description="Name of this daemon among those that share a log (default: the host name); a replacement uses its predecessor's name."
        ),
    ] = None
    takeover: Annotated[
        Literal["same-name", "any"],
        Meta(
            description="Who continues the sessions of a node that is gone: `any` node if workspaces are on shared storage under the same paths."
        ),
    ] = "same-name"
    lease_seconds: Annotated[
        float, Meta(ge=1, le=3600, description="How long a silent node counts as alive.")
    ] = 10.0
    synchronous: Annotated[
        Literal["full", "normal"],
        Meta(
            description="`full` survives a power cut; `normal` is faster but survives only a crash of the daemon."
        ),
    ] = "full"
    acp_agent: Annotated[
        tuple[str, ...],
        Meta(
            description="NAME='command args': add an agent that speaks ACP; repeatable. In the environment, one per line."
        ),
    ] = ()
    acp_env: Annotated[
        tuple[str, ...],
        Meta(
            description="NAME=VARIABLE: pass a variable of the daemon, or a family (`AWS_*`), to that ACP agent; repeatable."
        ),
    ] = ()
    mcp_env: Annotated[
        tuple[str, ...],
        Meta(
            description="VARIABLE of the daemon that MCP servers may use for a header; any client can send it to a URL; repeatable."
        ),
    ] = ()
    no_processes: Annotated[
        bool, Meta(description="Disable processes, terminals and the desktop; agents still run.")
    ] = False
    no_install: Annotated[
        bool, Meta(description="Never download agents: a session with a missing agent is refused.")
    ] = False
    mirror: Annotated[
        str | None,
        Meta(
            description="Directory or URL to download agents from, instead of all other sources; see docs/install.mdx for its layout."
        ),
    ] = None
    idle_seconds: Annotated[
        float,
        Meta(
            gt=0,
            description="Stop an agent's process after this time without a turn; the next message resumes it.",
        ),
    ] = 600.0
    start_seconds: Annotated[
        float, Meta(gt=0, description="Time limit for an agent to start, resume or list its models.")
    ] = 60.0
    drain_seconds: Annotated[
        float, Meta(ge=0, description="Time that running turns get to finish after SIGTERM.")
    ] = 3.0
    max_turns: Annotated[Count | None, Meta(description="Default limit on the turns of a session.")] = None
    max_cost_usd: Annotated[
        Amount | None,
        Meta(description="Default limit on the cost of a session, in US dollars."),
    ] = None
    max_tokens: Annotated[
        Count | None,
        Meta(description="Default limit on the input and output tokens of a session."),
    ] = None
    max_turn_seconds: Annotated[
        Amount | None, Meta(description="Default limit on the duration of a turn, in seconds.")
    ] = None
    max_session_seconds: Annotated[
        Amount | None,
        Meta(
            description="Default limit on the time from the creation of a session to the end of its last turn, in seconds."
        ),
    ] = None
    parent_pid: Annotated[
        Annotated[int, Meta(gt=0)] | None,
        Meta(
            description="Process id of the program that started this daemon; the daemon stops when it exits."
        ),
    ] = None
    max_body_bytes: Annotated[
        int, Meta(gt=0, description="Largest JSON body to accept; attachments may be 64 times as large.")
    ] = 1 << 20
    max_upload: Annotated[
        str,
        Meta(description="Largest file or archive to accept for upload, e.g. `500MiB` or `4GiB`."),
    ] = "1GiB"
    fs_root: Annotated[
        tuple[str, ...],
        Meta(description="Directory that file operations are limited to; repeatable (default: no limit)."),
    ] = ()
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="Lowest level to log to stderr.")
    ] = "warning"

    @property
    def max_upload_bytes(self) -> int:
        return bytes_of(self.max_upload)

    @property
    def limits(self) -> SessionLimits:
        """The limits of sessions that set none."""
        return SessionLimits(
            self.max_turns,
            self.max_cost_usd,
            self.max_tokens,
            self.max_turn_seconds,
            self.max_session_seconds,
        )

    @property
    def data_path(self) -> Path:
        return Path(self.data_dir).expanduser() if self.data_dir else default_data_dir()


ONE_PER_LINE = frozenset({"acp_agent"})
"""Lists whose entries may contain commas."""


def named_data_dir(given: str | os.PathLike[str] | None, environ: Mapping[str, str]) -> str | None:
    """The data directory named by a flag or the environment. An empty name is an error, not the default."""
    named = os.fspath(given) if given is not None else environ.get(f"{PREFIX}DATA_DIR")
    if named == "":
        # The default directory may belong to another daemon.
        raise InvalidRequest(
            f"--data-dir / {PREFIX}DATA_DIR is empty: set it to a directory or leave it unset"
        )
    return named


def data_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """The given data directory, or the one from the environment, or the default."""
    named = named_data_dir(given, os.environ)
    return Path(named).expanduser().absolute() if named else default_data_dir()


def from_environment(flags: Mapping[str, object], environ: Mapping[str, str] = os.environ) -> Config:
    """Flags take precedence over `SANDBOX_AGENT_*` variables. In the environment, lists are comma-separated."""
    named_data_dir(cast(str | None, flags.get("data_dir")), environ)
    values: dict[str, object] = {}
    for field in msgspec.structs.fields(Config):
        variable = PREFIX + field.name.upper()
        if flags.get(field.name) is not None:
            values[field.name] = flags[field.name]
        elif environ.get(variable):
            text = environ[variable]
            parts = text.splitlines() if field.name in ONE_PER_LINE else text.split(",")
            listed = [part.strip() for part in parts if part.strip()]
            values[field.name] = listed if isinstance(field.default, tuple) else text
    try:
        config = msgspec.convert(values, Config, strict=False)
    except msgspec.ValidationError as error:
        reason, name = found_by_validation(str(error))
        flag, variable = f"--{name.replace('_', '-')}", PREFIX + name.upper()
        raise InvalidRequest(f"{flag} / {variable}: {reason}") from None
    try:
        bytes_of(config.max_upload)
    except InvalidRequest as error:
        raise InvalidRequest(f"--max-upload / {PREFIX}MAX_UPLOAD: {error.detail}") from None
    return config
