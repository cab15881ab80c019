"""One daemon for all tests of a worker, and editors that talk to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import Client, Daemon, client_of, running
from tests.doors.acp.acp_client import FORMS, AcpClient, acp_program


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("doors") / "data", "--no-token")) as daemon:
        yield daemon


@pytest.fixture
def native(daemon: Daemon) -> Iterator[Client]:
    """A client of our own API, which sees the same sessions."""
    with client_of(daemon) as client:
        yield client


def environment(daemon: Daemon) -> dict[str, str]:
    """The environment of an editor that uses this daemon."""
    home = str(daemon.data_dir.with_name(daemon.data_dir.name + "-home"))
    endpoint = f"http://127.0.0.1:{daemon.port}"
    return {"PATH": os.environ["PATH"], "HOME": home, "SANDBOX_AGENT_ENDPOINT": endpoint}


@pytest.fixture
def editor(daemon: Daemon, native: Client) -> Iterator[AcpClient]:
    with acp_program("--agent", "mock", env=environment(daemon)) as editor:
        editor.initialize(**FORMS)
        yield editor


@pytest.fixture
def session(editor: AcpClient, native: Client, tmp_path: Path) -> str:
    """A new session of the editor, whose events are checked at the end."""
    session = editor.new(tmp_path)
    native.sessions.append(session)
    return session
