"""`log copy`: a log moves between SQLite and PostgreSQL, and nothing of it is lost or changed on the way."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.logs import KEY_LINE, SEAL, Logs, joined
from tests.cluster.nodes import Nodes, outcomes
from tests.daemons import Client, Daemon, done, refusal, running, texts, wait_until

from sandbox_agent.schema.events import Usage
from sandbox_agent.store.base import (
    Announce,
    AppendEvents,
    Bury,
    EventRow,
    LedgerRow,
    RecordUsage,
    SaveSession,
)
from sandbox_agent.store.copyable import CopyableStore
from sandbox_agent.store.postgres import PostgresStore
from sandbox_agent.store.sqlite import SqliteStore
from sandbox_agent.testing.store_contract.samples import (
    TIME,
    contents_of,
    filled,
    record,
    rows,
)

SECONDS = 120.0


class Moves:
    """A log in SQLite and an empty one in PostgreSQL."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        folder.mkdir()
        self.sqlite = folder / "log.db"
        self.url = url
        self.keys = folder / "keys"
        self.keys.write_text(KEY_LINE)

    def command(self, source: str, target: str, *flags: str) -> list[str]:
        keys = ("--secrets-key-file", str(self.keys))
        program = (sys.executable, "-m", "sandbox_agent", "log", "copy")
        return [*program, source, target, "--node-name", "one", *keys, *flags]

    def copy(self, source: str | None = None, target: str | None = None, *flags: str) -> dict[str, Any]:
        copied = self.tried(source, target, "--json", *flags)
        assert copied.returncode == 0, copied.stderr
        found: dict[str, Any] = json.loads(copied.stdout)
        return found

    def tried(
        self, source: str | None = None, target: str | None = None, *flags: str
    ) -> subprocess.CompletedProcess[str]:
        words = self.command(source or f"sqlite:{self.sqlite}", target or self.url, *flags)
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)

    def fill(self, *changes: Any) -> None:
        with closing(SqliteStore(self.sqlite)) as store:
            store.write(changes)

    @contextmanager
    def stored(self) -> Iterator[PostgresStore]:
        with closing(PostgresStore(self.url, SEAL)) as store:
            yield store


@pytest.fixture
def moves(logs: Logs, tmp_path: Path) -> Moves:
    return Moves(tmp_path / "data", logs.new())


def everything(store: CopyableStore) -> tuple[object, ...]:
    ids = [record.session_id for _, record in store.sessions(None, 1000)]
    return (
        ids,
        [contents_of(store, id)[1:] for id in ids],
        [store.remembered(id) for id in ids],
        [row for _, row in store.ledger_rows(0, 1000)],
        [news for _, news in store.tombstones(0, 1000)],
    )


FULL = [
    *filled("a", 30),
    SaveSession(record("b")),
    Announce("b", b'{"b": 1}'),
    AppendEvents(
        "b",
        [
            EventRow(1, b"one", b"\x00raw"),
            EventRow(2, b"two", raw_sequence=1),
            EventRow(3, b"\xff" * (5 << 20)),
        ],
    ),
    *filled("c", 3),
    Bury(b'{"gone": 1}'),
    RecordUsage(LedgerRow("gone", "turn_1", "mock", None, TIME, None)),
    RecordUsage(LedgerRow("a", "turn_2", "mock", "large", TIME, Usage(1, 2, 3, 4, 5, 0.1))),
]


def test_a_copy_holds_everything_and_comes_back_the_same(moves: Moves) -> None:
    moves.fill(*FULL)
    copied = moves.copy()
    assert [(session["sessionId"], session["events"]) for session in copied["sessions"]] == [
        ("a", 30),
        ("b", 3),
        ("c", 3),
    ]
    assert (copied["events"], copied["turns"], copied["tombstones"]) == (36, 2, 1)
    back = moves.copy(moves.url, f"sqlite:{moves.folder}/back.db")
    assert back == copied  # the digests too
    with (
        closing(SqliteStore(moves.sqlite)) as source,
        closing(SqliteStore(moves.folder / "back.db")) as returned,
        moves.stored() as stored,
    ):
        assert everything(stored) == everything(source) == everything(returned)
        assert [record for _, record in returned.sessions(None, 9)] == [
            record for _, record in source.sessions(None, 9)
        ]
        assert stored.copied_from() is returned.copied_from() is None
        assert stored.owner("a").home == "one"  # type: ignore[union-attr]
    assert moves.copy() == copied  # a complete copy is a prefix, too


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ([SaveSession(record("z"))], "session z, which is not in the source"),
        ([SaveSession(record("a")), AppendEvents("a", rows([1, 2, 3]))], "more events of session a"),
        ([SaveSession(record("a")), AppendEvents("a", [EventRow(1, b"x")])], "other events of session a"),
        ([Bury(b"other")], "turns or deleted sessions"),
    ],
)
def test_a_target_that_is_no_prefix_is_refused_unchanged(moves: Moves, other: list[Any], words: str) -> None:
    moves.fill(SaveSession(record("a")), AppendEvents("a", rows([1, 2])), Bury(b"gone"))
    with closing(joined(moves.url)) as store:
        store.write(other)
        store.leave()
        before = everything(store)
    refused = moves.tried()
    assert refused.returncode == 1
    assert words in refused.stderr
    with moves.stored() as store:
        assert everything(store) == before
        assert store.copied_from() is None


def test_an_unfinished_copy_is_continued_and_opened_by_no_daemon(moves: Moves) -> None:
    moves.fill(
        SaveSession(record("a")),
        AppendEvents("a", rows(range(1, 4001))),
        *(SaveSession(record(f"s{n}")) for n in range(200)),
    )
    copying = subprocess.Popen(moves.command(f"sqlite:{moves.sqlite}", moves.url))
    with moves.stored() as store:
        wait_until(lambda: len(store.sessions(None, 50)) > 20 or copying.poll() is not None)
        copying.kill()
        copying.wait()
        assert store.copied_from() is not None
    refused = subprocess.run(
        [
            *(sys.executable, "-m", "sandbox_agent", "server", "--no-token", "--port", "0"),
            *("--data-dir", str(moves.folder), "--database-url", moves.url),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (refused.returncode, "unfinished copy" in refused.stderr) == (1, True)
    other = Moves(moves.folder.with_name("other"), moves.url)
    other.fill()
    assert "unfinished copy of another log" in other.tried().stderr
    assert moves.copy()["events"] == 4000
    with moves.stored() as store, closing(SqliteStore(moves.sqlite)) as source:
        assert everything(store) == everything(source)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_a_copy_that_is_killed_at_random_moments_is_complete_in_the_end(moves: Moves, seed: int) -> None:
    chance = random.Random(seed)
    for n in range(30):
        changes = filled(f"s{n}", 500)
        moves.fill(*changes, RecordUsage(LedgerRow(f"s{n}", "turn_1", "mock", None, TIME, None)))
    for _ in range(8):
        copying = subprocess.Popen(moves.command(f"sqlite:{moves.sqlite}", moves.url))
        try:
            copying.wait(chance.uniform(0.5, 4))
        except subprocess.TimeoutExpired:
            copying.kill()
            copying.wait()
    assert moves.copy()["events"] == 15_000
    with moves.stored() as store, closing(SqliteStore(moves.sqlite)) as source:
        assert everything(store) == everything(source)


def test_a_log_in_use_is_not_copied(moves: Moves, nodes: Nodes) -> None:
    with running(Daemon(moves.folder)):
        for flags in ((), ("--data-dir", str(moves.folder.with_name("elsewhere")))):
            refused = moves.tried(None, None, *flags)
            assert (refused.returncode, "stop" in refused.stderr) == (1, True), refused.stderr
    node = nodes.start("two")
    refused = moves.tried(None, nodes.url)
    assert (refused.returncode, "node two" in refused.stderr) == (1, True), refused.stderr
    back = moves.tried(nodes.url, f"sqlite:{moves.folder}/back.db")
    assert (back.returncode, "node two" in back.stderr) == (1, True), back.stderr
    assert node.stop() == 0


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("sqlite:a.db", "sqlite:b.db", "one of the two logs must be in PostgreSQL"),
        ("oracle:a", "postgresql://127.0.0.1:1/x", "oracle: is not supported"),
        ("sqlite:/missing/log.db", "postgresql://127.0.0.1:1/x", "there is no log at /missing/log.db"),
        ("@/missing", "sqlite:a.db", "/missing cannot be read"),
    ],
)
def test_addresses_that_cannot_be_copied_are_named(
    moves: Moves, source: str, target: str, words: str
) -> None:
    refused = moves.tried(source, target)
    assert refused.returncode == 2
    assert words in refused.stderr
    assert "Traceback" not in refused.stderr


def test_secrets_are_not_copied_without_a_key(moves: Moves, tmp_path: Path) -> None:
    moves.fill(*filled("a", 1))
    words = moves.command(f"sqlite:{moves.sqlite}", moves.url)
    words = words[: words.index("--secrets-key-file")]
    refused = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert refused.returncode == 1
    assert "--secrets-key-file" in refused.stderr
    assert moves.copy()["events"] == 1


# -- daemons ------------------------------------------------------------------------------------


def test_a_daemon_moves_to_postgres_and_back_and_continues_every_session(moves: Moves) -> None:
    folder = moves.folder
    daemon = Daemon(folder, "--no-token").start()
    with closing(Client(daemon)) as client:
        resting, asking, waiting = client.create(), client.create(), client.create(env={"KEY": "hunter2"})
        client.turn(resting, "hello")
        client.turn(asking, "hello")
        client.send(asking, "permission hello")
        wait_until(lambda: bool(client.pending(asking)))
        client.send(waiting, "pace 100000 5")
        upload = done(
            client.request(
                "POST",
                f"/v1/sessions/{waiting}/attachments?filename=note.txt",
                content=b"some text",
                headers={"content-type": "text/plain"},
            )
        )
        client.send(waiting, "hello", attachments=[{"path": upload["path"]}])
        seen = {id: client.events(id) for id in (resting, asking)}
    daemon.kill()

    copied = moves.copy(f"sqlite:{folder}")
    assert copied["files"] == 1
    node = Daemon(
        folder,
        *("--no-token", "--database-url", moves.url, "--node-name", "one"),
        *("--secrets-key-file", str(moves.keys)),
    ).start()
    with closing(Client(node)) as client:
        continued(client, seen, resting, asking, waiting)
        name = Path(upload["path"]).name
        assert client.get(f"/v1/sessions/{waiting}/attachments/{name}").content == b"some text"
        seen = {id: client.events(id) for id in (resting, asking)}
    assert node.stop() == 0

    moves.copy(moves.url, f"sqlite:{folder}/back.db")
    last = Daemon(folder, "--no-token", "--database-url", f"sqlite:{folder}/back.db").start()
    with closing(Client(last)) as client:
        assert client.events(resting) == seen[resting]
        assert "message 3 of this conversation" in texts(client.turn(resting, "hello"))[-1]
        client.check_rules()
    assert last.stop() == 0


def continued(
    client: Client, seen: dict[str, list[dict[str, Any]]], resting: str, asking: str, waiting: str
) -> None:
    """Each session has what it had, what was open is closed, and the next message continues the conversation."""
    for id, events in seen.items():
        assert client.events(id)[: len(events)] == events
    assert "message 2 of this conversation" in texts(client.turn(resting, "hello"))[-1]
    wait_until(lambda: outcomes(client.events(asking)) == ["end_turn", "outcome_unknown"])
    assert client.pending(asking) == []
    assert "message 3 of this conversation" in texts(client.turn(asking, "hello"))[-1]
    wait_until(lambda: outcomes(client.events(waiting)) == ["outcome_unknown", "end_turn"])
    assert "note.txt" in texts(client.events(waiting))[-1]


def test_a_session_with_secrets_needs_a_key_in_postgres(nodes: Nodes) -> None:
    node = nodes.start("one")
    refused = node.client.post("/v1/sessions/a", {"agent": "mock", "env": {"KEY": "hunter2"}})
    assert refusal(refused) == (400, "invalid_request")
    assert "--secrets-key-file" in refused.json()["detail"]
    assert refusal(node.client.get("/v1/sessions/a")) == (404, "session_not_found")
    assert node.client.post("/v1/sessions/a", {"agent": "mock"}).status_code == 200
