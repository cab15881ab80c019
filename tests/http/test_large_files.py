"""Large files and large folders cost time, but no memory."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.daemons import Client, Daemon, done, running

GIB = 1 << 30
PIECE = bytes(1 << 20)
MAX_MIB = 32

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with running(Daemon(tmp_path / "data", "--no-token", "--max-upload", "4GiB")) as daemon:
        yield daemon


def memory(daemon: Daemon) -> float:
    """Its peak memory in MiB."""
    status = Path(f"/proc/{daemon.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def test_two_gibibytes_go_up_and_down_in_little_memory(daemon: Daemon) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=600)) as connection:
        connection.request("GET", "/v1/fs/entries")
        connection.getresponse().read()
        before = memory(daemon)
        connection.request("PUT", "/v1/fs/file?path=large", (PIECE for _ in range(2 * GIB // len(PIECE))))
        answer = connection.getresponse()
        assert (answer.status, answer.read() != b"") == (200, True)
        connection.request("GET", "/v1/fs/file?path=large")
        answer, received = connection.getresponse(), 0
        while piece := answer.read(len(PIECE)):
            received += len(piece)
    assert received == 2 * GIB
    assert memory(daemon) - before <= MAX_MIB


def test_a_hundred_thousand_entries_are_listed(daemon: Daemon, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(100_000):
        (folder / f"file-{number:06}").touch()
    client = Client(daemon)
    whole = done(client.request("GET", "/v1/fs/entries", params={"path": str(folder)}, timeout=120))
    assert [entry["name"] for entry in whole] == [f"file-{number:06}" for number in range(100_000)]
    page = done(client.request("GET", "/v1/fs/entries", params={"path": str(folder), "limit": "5"}))
    assert page["entries"] == whole[:5]
    client.close()
