"""`log copy`: a log moves between SQLite and PostgreSQL, and none of it is lost or changed on the way."""

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

from sandbox_agent.cli.main import main
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


class Moves:
    """A log in SQLite and an empty one in PostgreSQL."""

    def __init__(self, folder: Path, url: str, output: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._output = output
        folder.mkdir()
        self.sqlite = folder / "log.db"
        self.url = url
        self.keys = folder / "keys"
        self.keys.write_text(KEY_LINE)

    def words(self, source: str | None = None, target: str | None = None, *flags: str) -> list[str]:
        keys = ("--node-name", "one", "--secrets-key-file", str(self.keys))
        return ["log", "copy", source or f"sqlite:{self.sqlite}", target or self.url, *keys, *flags]

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-m", "sandbox_agent", *self.words()])

    def copy(self, source: str | None = None, target: str | None = None, *flags: str) -> dict[str, Any]:
        code, output, errors = self.run(self.words(source, target, "--json", *flags))
        assert code == 0, errors
        found: dict[str, Any] = json.loads(output)
        return found

    def refused(self, source: str | None = None, target: str | None = None, *flags: str) -> str:
        code, output, errors = self.run(self.words(source, target, *flags))
        assert (code in (1, 2), output) == (True, ""), errors
        return errors

    def run(self, words: list[str]) -> tuple[int, str, str]:
        code = main(words)
        return code, *self._output.readouterr()

    def fill(self, *changes: Any) -> None:
        with closing(SqliteStore(self.sqlite)) as store:
            store.write(changes)

    @contextmanager
    def stored(self) -> Iterator[PostgresStore]:
        with closing(PostgresStore(self.url, SEAL)) as store:
            yield store


@pytest.fixture
def moves(logs: Logs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Moves:
    return Moves(tmp_path / "data", logs.new(), capsys)


def owners(store: PostgresStore) -> list[tuple[str, int | None]]:
    """The home of each session, and the node that runs it."""
    found = [store.owner(record.session_id) for _, record in store.sessions(None, 1000)]
    return [(each.home, each.node.incarnation if each.node else None) for each in found if each is not None]


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
    assert back.pop("homes") == {"one": 3}
    assert copied.pop("homes") == {}
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
    assert moves.copy() == {**copied, "homes": {}}  # a complete copy is a prefix, too


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ([SaveSession(record("z"))], "session z, which is not in the source"),
        ([SaveSession(record("a")), AppendEvents("a", rows([1, 2, 3]))], "more events of session a"),
        ([SaveSession(record("a")), AppendEvents("a", [EventRow(1, b"x")])], "other events of session a"),
        ([Bury(b"other")], "turns or deleted sessions"),
    ],
)
def test_a_target_that_is_not_a_prefix_is_refused_unchanged(
    moves: Moves, other: list[Any], words: str
) -> None:
    moves.fill(SaveSession(record("a")), AppendEvents("a", rows([1, 2])), Bury(b"gone"))
    with closing(joined(moves.url)) as store:
        store.write(other)
        store.claim(["a", "z"])
        store.fence(store.life, at_once=True)
        before = everything(store), owners(store)
    assert words in moves.refused()
    with moves.stored() as store:
        assert (everything(store), owners(store)) == before
        assert store.copied_from() is None


def test_a_copy_that_is_continued_under_another_name_is_at_home_there(moves: Moves) -> None:
    moves.fill(SaveSession(record("a")), SaveSession(record("b")))
    with closing(joined(moves.url, "before")) as store:
        store.write([SaveSession(record("a"))])
        store.leave()
    moves.copy()
    with moves.stored() as store:
        assert owners(store) == [("one", None), ("one", None)]


def test_an_unfinished_copy_of_another_log_is_refused(moves: Moves) -> None:
    moves.fill()
    with moves.stored() as store:
        store.mark_copy("sqlite:/elsewhere/log.db (01234567)")
    assert "sqlite:/elsewhere/log.db" in moves.refused()


def test_an_unfinished_copy_is_continued_and_opened_by_no_daemon(moves: Moves) -> None:
    moves.fill(
        SaveSession(record("a")),
        AppendEvents("a", rows(range(1, 4001))),
        *(SaveSession(record(f"s{n}")) for n in range(60)),
    )
    copying = moves.start()
    with moves.stored() as store:
        wait_until(lambda: len(store.sessions(None, 50)) > 10 or copying.poll() is not None)
        copying.kill()
        copying.wait()
        assert store.copied_from() is not None
    daemon = Daemon(moves.folder, "--no-token", "--database-url", moves.url)
    daemon.launch()
    assert (daemon.ended(), "unfinished copy" in daemon.stderr()) == (1, True)
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
        copying = moves.start()
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
        assert "stop it" in moves.refused()
        assert "stop the daemon" in moves.refused(None, None, "--data-dir", str(moves.folder / "elsewhere"))
    node = nodes.start("two")
    assert "node two" in moves.refused(None, nodes.url)
    assert "node two" in moves.refused(nodes.url, f"sqlite:{moves.folder}/back.db")
    assert node.stop() == 0
    assert moves.copy(None, nodes.url)["sessions"] == []


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
    assert words in moves.refused(source, target)


def test_secrets_are_not_copied_without_a_key(moves: Moves) -> None:
    moves.fill(*filled("a", 1))
    words = moves.words()
    code, _, errors = moves.run(words[: words.index("--secrets-key-file")])
    assert (code, "--secrets-key-file" in errors) == (1, True)
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
