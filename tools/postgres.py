"""A PostgreSQL server of our own: in a temporary folder, on a free port, as an unprivileged user, gone with this process."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import psycopg

SECONDS = 60.0
USER = "postgres"

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "60",
    "shared_buffers": "16MB",
    "jit": "off",
    # Its transactions would delay readers of the whole log, and tests compare what those see.
    "autovacuum": "off",
}


def programs() -> Path | None:
    """The folder of the newest server that is installed."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]), reverse=True
    )
    if found:
        return found[0].parent
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


class PostgresServer:
    """Create it, `start` it, and `remove` it in the end."""

    def __init__(
        self, settings: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        bin = programs()
        assert bin is not None, "PostgreSQL is not installed"
        self._bin = bin
        self._settings = SETTINGS | dict(settings or {})
        self._environment = dict(environment or {})
        # In memory where that is possible: what is tested is not the disk.
        memory = Path("/dev/shm")
        self.folder = Path(
            tempfile.mkdtemp(prefix="sandbox-agent-postgres-", dir=memory if memory.is_dir() else None)
        )
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._names = itertools.count(1)
        self._as_user = ["setpriv", "--pdeathsig", "KILL"]
        if os.getuid() == 0:
            # The server refuses to run as root.
            user = pwd.getpwnam("nobody")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as_user += ["--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"]

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        if not self.data.exists():
            options = ["--auth=trust", f"--username={USER}", "--encoding=UTF8", "--no-locale", "--no-sync"]
            self._run([str(self._bin / "initdb"), "-D", str(self.data), *options])
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        command = ["-D", str(self.data), "-p", str(self.port), "-k", str(self.folder), *settings]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._as_user, str(self._bin / "postgres"), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=os.environ | self._environment,
            )
        self._wait_until_it_answers()

    def copy_to(self, other: PostgresServer) -> None:
        """Make another server, which is not started yet, a replica of this one."""
        source = f"host=127.0.0.1 port={self.port} user={USER}"
        options = ["--pgdata", str(other.data), "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
        other._run([str(self._bin / "pg_basebackup"), "--dbname", source, *options])

    def set(self, name: str, value: str) -> None:
        """Change a setting that needs no restart."""
        self.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        self.execute("SELECT pg_reload_conf()")

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """`SIGQUIT` ends it at once, as a crash would; `SIGINT` lets it write everything."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait(SECONDS)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, schema: str | None = None, port: int | None = None) -> str:
        options = f"?options=-csearch_path%3D{schema}" if schema else ""
        return f"postgresql://{USER}@127.0.0.1:{port or self.port}/{USER}{options}"

    def execute(self, sql: str, schema: str | None = None) -> list[tuple]:  # type: ignore[type-arg]
        with psycopg.connect(self.url(schema), autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def new_schema(self) -> str:
        """The name of an empty schema: a log is a schema."""
        name = f"log_{next(self._names)}"
        self.execute(f"CREATE SCHEMA {name}")
        return name

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(
            [*self._as_user, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.folder,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                assert self._process is not None
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.02)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
