"""What the PostgreSQL store does besides the contract: servers it refuses, migrations, months, secrets, plans."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from tests.cluster.logs import KEY_LINE, SEAL, Logs, joined
from tests.daemons import wait_until
from tools.postgres import programs

from sandbox_agent.cli.main import main
from sandbox_agent.errors import InvalidRequest, Unavailable
from sandbox_agent.store.base import (
    AppendEvents,
    DeleteSession,
    EventRow,
    ImpossibleChange,
    SaveSecrets,
    SaveSession,
    Secrets,
    StoreTooNew,
)
from sandbox_agent.store.postgres import DatabaseUnfit, PostgresStore, Seal, migrations, read_keys
from sandbox_agent.store.postgres import connection as server_connection
from sandbox_agent.testing.store_contract.samples import PLENTY, SECRETS, record, rows


@pytest.fixture
def url(logs: Logs) -> str:
    return logs.new()


def execute(url: str, sql: str) -> list[tuple]:  # type: ignore[type-arg]
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_may_lose_events_is_refused(logs: Logs, setting: str) -> None:
    def turn(value: str) -> None:
        logs.server.execute(f"ALTER SYSTEM SET {setting} = {value}")
        logs.server.execute("SELECT pg_reload_conf()")
        wait_until(lambda: logs.server.execute(f"SHOW {setting}") == [(value,)])

    turn("off")
    try:
        with pytest.raises(DatabaseUnfit, match=f"{setting} = off"):
            PostgresStore(logs.new(), SEAL)
    finally:
        turn("on")


def test_a_replica_is_refused(logs: Logs) -> None:
    server = logs.server
    mark = server.data / "standby.signal"
    server.stop(signal.SIGINT)
    try:
        mark.touch()
        server.start()
        with pytest.raises(Unavailable, match="read-only"):
            PostgresStore(server.url(), SEAL)
        with pytest.raises(DatabaseUnfit, match="replica"):
            PostgresStore(f"{server.url()}?target_session_attrs=any", SEAL)
    finally:
        server.stop(signal.SIGINT)
        mark.unlink()
        server.start()


def test_an_old_server_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one version is installed, so the limit is raised."""
    monkeypatch.setattr(server_connection, "OLDEST_SERVER", 990000)
    with pytest.raises(DatabaseUnfit, match="version 99 or newer is needed"):
        PostgresStore(url, SEAL)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://user:hunter2@db.example/log", "sslmode=verify-full"),
        ("postgresql://user:hunter2@db.example:x y/log", "is not a valid PostgreSQL URL"),
        ("postgresql://user:hunter2@127.0.0.1:1/log", "cannot be used"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_its_password(url: str, words: str) -> None:
    with pytest.raises((InvalidRequest, Unavailable), match=words) as refused:
        PostgresStore(url, SEAL)
    error: BaseException | None = refused.value
    while error is not None:
        assert "hunter2" not in str(error)
        error = error.__cause__ or error.__context__


def test_a_missing_schema_is_refused(logs: Logs) -> None:
    with pytest.raises(DatabaseUnfit, match="CREATE SCHEMA"):
        PostgresStore(logs.server.url("nowhere"), SEAL)
    name = "x" * 41
    logs.server.execute(f"CREATE SCHEMA {name}")
    with pytest.raises(DatabaseUnfit, match="longer than 40 bytes"):
        PostgresStore(logs.server.url(name), SEAL)


def test_without_the_extra_the_message_names_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None; from sandbox_agent.cli.main import main; "
        "sys.exit(main(['server', '--no-token', '--port', '0', '--data-dir', sys.argv[1], "
        "'--database-url', 'postgresql://127.0.0.1:1/x']))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, "sandbox-agentd[postgres]" in done.stderr) == (1, True), done.stderr


# -- migrations ---------------------------------------------------------------------------------


def test_nodes_that_start_at_once_migrate_once(url: str) -> None:
    with ThreadPoolExecutor(5) as pool:
        stores = [*pool.map(lambda _: PostgresStore(url, SEAL), range(5))]
    assert len({store.identity for store in stores}) == 1
    assert execute(url, "SELECT value FROM meta WHERE name = 'schema'") == [(str(len(migrations())),)]
    for store in stores:
        store.close()


def test_a_newer_log_is_used_unless_it_needs_a_newer_program(url: str) -> None:
    PostgresStore(url, SEAL).close()
    execute(url, "UPDATE meta SET value = '99' WHERE name = 'schema'")
    joined(url).close()
    execute(url, "UPDATE meta SET value = '98' WHERE name = 'needs'")
    with pytest.raises(StoreTooNew, match="newer sandbox-agent"):
        PostgresStore(url, SEAL)


EXPAND = "ALTER TABLE sessions ADD COLUMN note text NOT NULL DEFAULT ''; CREATE TABLE notes (n bigint);"
CONTRACT = "-- contract\nDROP TABLE notes; UPDATE meta SET value = '3' WHERE name = 'needs';"
INDEX = (
    "-- concurrently\nDROP INDEX CONCURRENTLY IF EXISTS notes_by_n;\n"
    "CREATE INDEX CONCURRENTLY notes_by_n ON notes (n);\n"
)


def release(folder: Path, *more: str) -> Path:
    """The migrations of a later release: today's, and more."""
    folder.mkdir()
    for number, sql in enumerate([*migrations(), *more], 1):
        (folder / f"{number:04}_.sql").write_text(sql)
    return folder


def schema_of(url: str) -> int:
    [(version,)] = execute(url, "SELECT value FROM meta WHERE name = 'schema'")
    return int(version)


def test_an_old_node_and_a_new_one_share_a_log_that_was_expanded(url: str, tmp_path: Path) -> None:
    old = joined(url, "old")
    old.write([SaveSession(record("a")), AppendEvents("a", rows((1,)))])
    new = PostgresStore(url, SEAL, folder=release(tmp_path / "new", EXPAND))
    new.join("new", "folder of new", 10, "2.0")
    assert schema_of(url) == len(migrations()) + 1
    new.write([SaveSession(record("b")), AppendEvents("b", rows((1,)))])
    old.write([AppendEvents("a", rows((2,))), SaveSession(record("c"))])
    old.release("a")
    assert new.claim("a") == {"a"}
    new.write([AppendEvents("a", rows((3,)))])
    assert [event.sequence for event in old.read("a", 0, 9, PLENTY)] == [1, 2, 3]
    joined(url, "another").close()  # an old one may still start
    for store in (old, new):
        store.close()


def test_a_contraction_waits_for_the_last_old_node(url: str, tmp_path: Path) -> None:
    old = joined(url, "old")
    folder = release(tmp_path / "new", EXPAND, CONTRACT)
    with closing(PostgresStore(url, SEAL, folder=folder)) as new:
        new.join("new", "folder of new", 10, "3.0")
        assert schema_of(url) == len(migrations()) + 1
        old.leave()
        PostgresStore(url, SEAL, folder=folder).close()
        assert schema_of(url) == len(migrations()) + 2
        new.write([SaveSession(record("a"))])
    with pytest.raises(StoreTooNew, match="newer sandbox-agent"):
        old.join("old", "folder of old", 10, "1.0")  # it was open all the time
    old.close()


def test_an_index_is_built_beside_writers(url: str, tmp_path: Path) -> None:
    folder = release(tmp_path / "new", EXPAND, INDEX)
    with closing(joined(url, "old")) as old, ThreadPoolExecutor(3) as pool:
        opening = [pool.submit(PostgresStore, url, SEAL, folder=folder) for _ in range(3)]
        for n in range(1, 20):
            old.write([SaveSession(record("a")), AppendEvents("a", rows((n,)))])
        for each in opening:
            each.result().close()
        assert len(old.read("a", 0, 99, PLENTY)) == 19
    assert schema_of(url) == len(migrations()) + 2
    assert execute(url, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'notes_by_n'::regclass") == [
        (True,)
    ]


def test_positions_continue_where_transaction_ids_start_again(url: str) -> None:
    """A dump that is loaded into a new server brings positions that are ahead of its transaction ids."""
    store = joined(url)
    store.write([SaveSession(record("a")), AppendEvents("a", rows((1,)))])
    store.close()
    execute(url, "UPDATE events SET position = position + (1::bigint << 40)")
    execute(url, "UPDATE nodes SET position = position + (1::bigint << 40)")
    store = joined(url)
    store.claim(["a"])
    store.write([AppendEvents("a", rows((2,)))])
    assert [event.sequence for event in store.read_log(0, 9, PLENTY)] == [1, 2]
    store.close()


def test_a_role_that_owns_nothing_runs_a_log_that_its_owner_migrated(logs: Logs) -> None:
    """As docs/session-persistence.mdx says."""
    schema = logs.server.new_schema()
    runner = f"runner_of_{schema}"
    logs.server.execute(f"CREATE ROLE {runner} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {runner}", schema)
    rights = "SELECT, INSERT, UPDATE, DELETE ON TABLES", "USAGE, SELECT ON SEQUENCES"
    for right in rights:
        logs.server.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT {right} TO {runner}")
    owner = logs.server.url(schema)
    assert main(["log", "migrate", owner]) == 0
    url = owner.replace("postgres@", f"{runner}@")
    store = joined(url)
    store.write([SaveSession(record("a")), AppendEvents("a", rows((1, 2)))])
    assert store.reserve("b")
    assert execute(url, "SELECT add_month(209901)") == [("",)]
    tidy(store)
    store.write([DeleteSession("a")])
    tidy(store)
    store.leave()
    store.close()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(url, "CREATE TABLE mine ()")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(url, f"SELECT * FROM {logs.server.new_schema()}.sessions")  # another tenant's


# -- months -------------------------------------------------------------------------------------


def months(url: str) -> list[str]:
    rows = execute(
        url,
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'events'::regclass ORDER BY 1",
    )
    return [name for (name,) in rows]


def test_a_month_that_is_in_use_is_dropped_later(url: str) -> None:
    store = joined(url)
    here = months(url)
    execute(url, "SELECT add_month(202001), add_month(202002)")
    with psycopg.connect(url) as reading:
        reading.execute("SELECT count(*) FROM events")
        with pytest.raises(Unavailable):
            store._upkeep.drop_empty_months()
    store._upkeep.drop_empty_months()
    assert months(url) == here
    assert execute(url, "SELECT count(*) FROM pg_class WHERE relname LIKE 'events_20200_'")[0] == (0,)
    store.close()


def test_a_month_is_dropped_when_its_last_session_is_deleted(url: str) -> None:
    store = joined(url)
    here = months(url)
    assert len(here) == 2
    execute(url, "SELECT add_month(202001), add_month(202002)")
    store.write([SaveSession(record("old")), SaveSession(record("new"))])
    execute(url, "UPDATE sessions SET era = 202001 WHERE session_id = 'old'")
    store.close()
    store = joined(url)
    store.claim(["old", "new"])
    store.write([AppendEvents("old", rows((1, 2))), AppendEvents("new", rows((1,)))])
    assert len(store.read("old", 0, 9, PLENTY)) == 2
    tidy(store)
    assert months(url) == ["events_202001", *here]
    store.write([DeleteSession("old")])
    tidy(store)
    store.close()
    store = joined(url)
    tidy(store)
    assert months(url) == here
    assert len(store.read_log(0, 9, PLENTY)) == 1
    store.close()


def test_a_deleted_session_is_gone_at_once_and_its_events_bit_by_bit(url: str) -> None:
    store = joined(url)
    tidy(store)
    store.write(
        [SaveSession(record("gone")), AppendEvents("gone", [EventRow(n, b"{}") for n in range(1, 2501)])]
    )
    store.write([SaveSession(record("stays")), AppendEvents("stays", rows((1,)))])
    store.write([DeleteSession("gone")])
    assert len(store.read_log(0, 9, PLENTY)) == 1
    assert store.tidy()
    assert execute(url, "SELECT count(*) FROM events") == [(1501,)]
    tidy(store)
    assert execute(url, "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM doomed)") == [(1, 0)]
    store.close()


def tidy(store: PostgresStore) -> None:
    while store.tidy():
        pass


# -- secrets ------------------------------------------------------------------------------------


def test_secrets_are_in_no_dump(logs: Logs, url: str) -> None:
    store = joined(url)
    store.write([SaveSession(record("a")), SaveSecrets("a", SECRETS)])
    assert store.secrets("a") == SECRETS
    bin = programs()
    assert bin is not None
    dump = subprocess.run([bin / "pg_dump", logs.server.url()], check=True, capture_output=True).stdout
    assert b"begin_write" in dump
    for secret in (b"hunter2", b"hunter2".hex().encode(), b"tools.example".hex().encode()):
        assert secret not in dump
    store.write([SaveSecrets("a", Secrets())])
    assert execute(url, "SELECT secrets FROM sessions") == [(None,)]
    store.close()


def test_secrets_need_a_key_and_the_right_one(url: str, tmp_path: Path) -> None:
    store = joined(url)
    store.write([SaveSession(record("a")), SaveSecrets("a", SECRETS)])
    store.write([SaveSession(record("b"))])
    execute(url, "UPDATE sessions SET secrets = (SELECT secrets FROM sessions WHERE session_id = 'a')")
    with pytest.raises(Unavailable, match="secrets-key-file"):
        store.secrets("b")  # they are another session's
    store.close()
    new_key = tmp_path / "keys"
    new_key.write_text(f"{'A' * 43}=\n")
    for seal in (Seal([]), read_keys(str(new_key))):
        other = PostgresStore(url, seal)
        with pytest.raises(Unavailable, match="secrets-key-file"):
            other.secrets("a")
        other.close()
    new_key.write_text(f"{'A' * 43}=\n{KEY_LINE}\n")  # a new key on top of the old one
    rotated = PostgresStore(url, read_keys(str(new_key)))
    assert rotated.secrets("a") == SECRETS
    rotated.close()
    without = PostgresStore(url, Seal([]))
    without.join("one", "folder of one", 10, "1.0")
    without.claim(["a"])
    with pytest.raises(ImpossibleChange, match="--secrets-key-file"):
        without.write([SaveSecrets("a", SECRETS)])
    without.close()


@pytest.mark.parametrize("text", ["", "short\n", "not base64!\n", f"{KEY_LINE}\nAAAA\n"])
def test_an_invalid_key_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text)
    with pytest.raises(InvalidRequest, match="openssl rand -base64 32"):
        read_keys(str(file))
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_keys(str(tmp_path / "missing"))


# -- plans --------------------------------------------------------------------------------------


def test_reads_use_the_key_on_a_table_without_statistics(url: str) -> None:
    store = joined(url)
    for name in "abc":
        events = [EventRow(n, b"x" * 100) for n in range(1, 3001)]
        store.write([SaveSession(record(name)), AppendEvents(name, events)])
    execute(url, "SELECT pg_stat_reset()")
    assert len(store.read("a", 2990, 100, PLENTY)) == 10
    assert len(store.read_many({"a": 2999, "b": 2998}, 100)["b"]) == 2
    assert store.heads({name: record(name).folder for name in "abc"}) == dict.fromkeys("abc", 3000)
    assert len(store.sessions(None, 9)) == 3
    last = store.horizon()
    assert len(store.read_log(last - 4096, 10, PLENTY)) <= 10
    store.close()
    scans = execute(
        url, "SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables WHERE relname LIKE 'events%'"
    )
    assert scans == [(0,)]
