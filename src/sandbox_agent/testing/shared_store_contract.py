"""A conformance suite for stores that several daemons share: what `sandbox_agent.store.shared` promises, as pytest tests.

class TestMySharedStore(SharedStoreContract):
    def open_store(self, folder: Path) -> SharedStore:
        return MyStore(folder / "log")
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..store.base import (
    AddPending,
    AppendEvents,
    Change,
    DeleteSession,
    Enqueue,
    KeyRow,
    PendingRow,
    Probe,
    RememberCalls,
    RememberKey,
    SaveSession,
    Secrets,
    StoredEvent,
)
from ..store.shared import (
    PART_BYTES,
    Abandoned,
    Appended,
    CommandAnswered,
    CommandState,
    CommandsWait,
    Fenced,
    Hint,
    Missed,
    NameTaken,
    SharedStore,
    StoredFile,
)
from .store_contract.samples import PLENTY, contents, filled, message, pending, record, rows, unplaced

SECONDS = 20.0
LEASE = 30.0
ODD = "\x00 \U0001f600 '\"\\"
"""A NUL, a character of four bytes, and what needs quoting."""


class SharedStoreContract(ABC):
    @abstractmethod
    def open_store(self, folder: Path) -> SharedStore:
        """Open the store in this directory, without joining it; an empty one if there is none yet."""

    @pytest.fixture
    def opened(self, tmp_path: Path) -> Iterator[Callable[[], SharedStore]]:
        stores: list[SharedStore] = []

        def opened() -> SharedStore:
            stores.append(self.open_store(tmp_path))
            return stores[-1]

        yield opened
        for store in stores:
            store.close()

    @pytest.fixture
    def one(self, opened: Callable[[], SharedStore]) -> SharedStore:
        store = opened()
        store.join("one", "disk one", LEASE, "1.0")
        return store

    @pytest.fixture
    def two(self, opened: Callable[[], SharedStore]) -> SharedStore:
        store = opened()
        store.join("two", "disk two", LEASE, "1.0")
        return store

    # -- nodes --------------------------------------------------------------------------------

    def test_nodes_see_each_other(self, one: SharedStore, two: SharedStore) -> None:
        one.write([Probe()])
        found = {node.name: node for node in two.nodes()}
        assert [(node.incarnation, node.folder, node.version, node.writes) for node in found.values()] == [
            (one.life, "disk one", "1.0", 1),
            (two.life, "disk two", "1.0", 0),
        ]
        assert all(0 < node.lease_left <= LEASE and not node.is_fenced for node in found.values())
        assert found["one"].seen_at >= found["one"].started_at

    def test_a_write_renews_the_lease(self, opened: Callable[[], SharedStore]) -> None:
        store = opened()
        store.join("short", "disk", 0.5, "1.0")
        [before] = store.nodes()
        store.write([Probe()])
        [after] = store.nodes()
        assert after.lease_left > before.lease_left - 0.5
        assert after.writes == before.writes + 1

    def test_a_restart_on_the_same_disk_waits_for_nothing(
        self, one: SharedStore, opened: Callable[[], SharedStore]
    ) -> None:
        one.write([SaveSession(record("a"))])
        again = opened()
        assert again.join("one", "disk one", LEASE, "1.1") > one.life
        with pytest.raises(Fenced) as fenced:
            one.write([SaveSession(record("a", title="late"))])
        assert fenced.value.session_ids is None
        assert again.claim(["a"]) == {"a"}
        assert again.session("a") == record("a")

    def test_a_name_is_taken_while_its_lease_lasts(
        self, one: SharedStore, opened: Callable[[], SharedStore]
    ) -> None:
        other = opened()
        with pytest.raises(NameTaken) as taken:
            other.join("one", "another disk", LEASE, "1.0")
        assert (taken.value.node.incarnation, taken.value.node.is_fenced) == (one.life, False)
        one.write([Probe()])

    def test_a_silent_node_loses_its_name_after_its_lease(self, opened: Callable[[], SharedStore]) -> None:
        old, new = opened(), opened()
        old.join("one", "disk", 0.01, "1.0")
        _until(lambda: old.nodes()[0].lease_left < 0)
        new.join("one", "another disk", LEASE, "1.0")
        with pytest.raises(Fenced):
            old.write([Probe()])

    def test_a_node_is_fenced_after_its_lease_or_at_once(self, one: SharedStore, two: SharedStore) -> None:
        assert not two.fence(one.life)
        one.write([SaveSession(record("a"))])
        assert two.fence(one.life, at_once=True)
        with pytest.raises(Fenced):
            one.write([SaveSession(record("b"))])
        for attempt in (lambda: one.claim(["a"]), lambda: one.reserve("c"), lambda: one.release(["a"])):
            with pytest.raises(Fenced):
                attempt()
        assert [each.session_id for _, each in two.sessions(None, 9)] == ["a"]

    def test_a_fenced_node_joins_again(self, one: SharedStore, two: SharedStore) -> None:
        two.fence(one.life, at_once=True)
        old = one.life
        assert one.join("one", "disk one", LEASE, "1.0") == one.life > old
        one.write([SaveSession(record("a"))])

    def test_a_node_that_leaves_releases_everything(self, one: SharedStore, two: SharedStore) -> None:
        one.write([SaveSession(record("a"))])
        one.leave()
        one.leave()  # nothing more happens
        owner = two.owner("a")
        assert owner is not None
        assert (owner.home, owner.node) == ("one", None)
        assert two.claim(["a"]) == {"a"}
        with pytest.raises(Fenced):
            one.write([Probe()])

    # -- ownership ----------------------------------------------------------------------------

    def test_a_change_of_a_foreign_session_leaves_everything_unwritten(
        self, one: SharedStore, two: SharedStore
    ) -> None:
        one.write(filled("a", 2))
        two.write(filled("b", 1))
        before = contents(one, "a", "b")
        ours: list[Change] = [AppendEvents("b", rows((2,))), SaveSession(record("c"))]
        with pytest.raises(Fenced) as fenced:
            two.write([*ours, AppendEvents("a", rows((3,)))])
        assert fenced.value.session_ids == frozenset({"a"})
        assert contents(one, "a", "b") == before
        two.write(ours)

    def test_the_deletion_of_a_foreign_session_names_it(self, one: SharedStore, two: SharedStore) -> None:
        one.write([SaveSession(record("a"))])
        two.write([SaveSession(record("b"))])
        with pytest.raises(Fenced) as fenced:
            two.write([DeleteSession("a"), SaveSession(record("b", title="new"))])
        assert fenced.value.session_ids == frozenset({"a"})
        assert one.session("a") == record("a")

    def test_a_session_of_a_live_owner_cannot_be_claimed(self, one: SharedStore, two: SharedStore) -> None:
        one.write([SaveSession(record("a"))])
        assert two.claim(["a", "missing"]) == set()
        one.release(["a"])
        assert two.claim(["a"]) == two.claim(["a"]) == {"a"}
        with pytest.raises(Fenced):
            one.write([SaveSession(record("a", title="late"))])

    def test_a_claim_is_won_once(self, one: SharedStore, two: SharedStore) -> None:
        names = [f"s{number}" for number in range(30)]
        one.write([SaveSession(record(name)) for name in names])
        one.release(names)
        start = threading.Barrier(2)

        def claim(store: SharedStore, order: list[str]) -> set[str]:
            start.wait()
            return {name for name in order if store.claim([name])}

        with ThreadPoolExecutor(2) as pool:
            won = [pool.submit(claim, store, order) for store, order in ((one, names), (two, names[::-1]))]
            first, second = (each.result() for each in won)
        assert first | second == {*names}
        assert not first & second

    def test_a_claim_moves_a_session_home_only_if_asked(self, one: SharedStore, two: SharedStore) -> None:
        one.write([SaveSession(record("a"))])
        two.fence(one.life, at_once=True)
        for moves, home in ((False, "one"), (True, "two")):
            two.claim(["a"], moves=moves)
            owner = two.owner("a")
            assert owner is not None
            assert owner.node is not None
            assert (owner.home, owner.node.name) == (home, "two")
        assert two.owner("missing") is None

    def test_a_session_that_another_node_has_replaced_can_be_written(
        self, one: SharedStore, two: SharedStore
    ) -> None:
        one.write([*filled("a", 2), *filled("b", 2)])
        one.release(["a", "b"])
        two.claim(["a", "b"])
        two.write([DeleteSession("a"), DeleteSession("b"), SaveSession(record("a"))])
        two.release(["a"])
        assert one.claim(["a"]) == {"a"}
        one.write([AppendEvents("a", rows((1,)))])
        assert one.reserve("b")
        one.write([SaveSession(record("b"))])
        assert [event.sequence for event in two.read("a", 0, 9, PLENTY)] == [1]

    def test_an_id_is_reserved_once(self, one: SharedStore, two: SharedStore) -> None:
        assert (one.reserve("a"), one.reserve("a"), two.reserve("a")) == (True, True, False)
        assert (two.session("a"), two.sessions(None, 9), two.owner("a")) == (None, [], None)
        one.write(filled("a", 1))
        assert (one.reserve("a"), two.reserve("a")) == (False, False)
        assert two.session("a") is not None

    def test_a_reservation_can_be_given_up(self, one: SharedStore, two: SharedStore) -> None:
        one.reserve("a")
        one.release(["a"])
        assert two.reserve("a")
        one.reserve("b")
        two.fence(one.life, at_once=True)
        assert two.reserve("b")

    def test_what_a_dead_node_left_open_is_found(self, one: SharedStore, two: SharedStore) -> None:
        one.write([SaveSession(record(name)) for name in ("idle", "queued", "asking")])
        one.write([SaveSession(record("running", turn_id="t")), Enqueue("queued", message("t"))])
        one.write([AddPending("asking", pending("q_1"))])
        assert two.abandoned() == []
        two.fence(one.life, at_once=True)
        assert {each.session_id: each for each in two.abandoned()} == {
            "queued": Abandoned("queued", "one", is_open=False, is_queued=True),
            "asking": Abandoned("asking", "one", is_open=True, is_queued=False),
            "running": Abandoned("running", "one", is_open=True, is_queued=False),
        }
        two.claim(["running"])
        assert {each.session_id for each in two.abandoned()} == {"queued", "asking"}

    def test_a_node_finds_what_another_one_closed_and_released(
        self, one: SharedStore, two: SharedStore
    ) -> None:
        one.write(
            [SaveSession(record("idle")), SaveSession(record("queued")), Enqueue("queued", message("t"))]
        )
        one.leave()
        two.claim(["idle", "queued"])
        one.join("one", "disk one", LEASE, "1.0")
        assert one.abandoned() == []
        two.release(["idle", "queued"])
        assert one.abandoned() == [Abandoned("queued", "one", is_open=False, is_queued=True)]
        assert two.abandoned() == []

    def test_the_queue_of_a_node_that_left_is_found(self, one: SharedStore, two: SharedStore) -> None:
        one.write(
            [SaveSession(record("idle")), SaveSession(record("queued")), Enqueue("queued", message("t"))]
        )
        one.leave()
        assert two.abandoned() == [Abandoned("queued", "one", is_open=False, is_queued=True)]

    def test_a_node_restores_what_is_at_home_there(self, one: SharedStore, two: SharedStore) -> None:
        one.write([SaveSession(record("mine", turn_id="t"))])
        two.write([SaveSession(record("theirs", turn_id="t"))])
        assert (one.active_sessions(), two.active_sessions()) == (["mine"], ["theirs"])
        one.leave()
        two.claim(["mine"])
        one.join("one", "disk one", LEASE, "1.0")
        assert one.active_sessions() == []
        two.release(["mine"])
        assert one.active_sessions() == ["mine"]

    # -- reading what others write --------------------------------------------------------------

    def test_heads_and_new_events_of_many_sessions(self, one: SharedStore, two: SharedStore) -> None:
        one.write([*filled("a", 5), *filled("b", 2), SaveSession(record("empty"))])
        folders = {"a": "files-of-a", "b": "files-of-b", "empty": "", "missing": ""}
        assert two.heads(folders) == {"a": 5, "b": 2, "empty": 0}
        assert two.heads({"a": "the folder of an earlier one"}) == {}
        found = two.read_many({"a": 2, "b": 2, "empty": 0, "missing": 0}, 2)
        assert {name: unplaced(events) for name, events in found.items()} == {
            "a": [StoredEvent(0, n, b"body %d" % n, None) for n in (3, 4)]
        }
        assert found["a"] == two.read("a", 2, 2, PLENTY)
        bounded = two.read_many({"a": 0, "b": 0}, 9, max_bytes=len(b"body 1") * 6)
        assert [event.sequence for event in bounded["a"]] == [1, 2, 3, 4, 5]
        assert [event.sequence for event in bounded["b"]] == [1]

    def test_positions_of_all_writers_ascend_up_to_the_horizon(
        self, one: SharedStore, two: SharedStore
    ) -> None:
        positions = []
        for number in range(1, 6):
            for store, name in ((one, "a"), (two, "b")):
                positions.append(
                    store.write([SaveSession(record(name)), AppendEvents(name, rows((number,)))])
                )
        assert positions == sorted(set(positions))
        _until(lambda: one.horizon() >= positions[-1])
        for store in (one, two):
            assert [event.position for event in store.read_log(0, 99, PLENTY)] == positions

    def test_hints_tell_what_others_write(self, one: SharedStore, two: SharedStore) -> None:
        one.write([SaveSession(record("a")), SaveSession(record("b"))])
        two.heads({"a": record("a").folder})
        with _collected_hints(two) as hints:
            _until(lambda: hints[:1] == [Missed()])
            one.write([AppendEvents("a", rows((1, 2))), AppendEvents("b", rows((1,)))])
            _until(lambda: Appended({"a": 2}) in hints)

    # -- odd names ------------------------------------------------------------------------------

    def test_any_character_is_allowed_in_what_clients_choose(
        self, one: SharedStore, two: SharedStore
    ) -> None:
        one.write(
            [
                SaveSession(record("a", title=ODD)),
                RememberKey("a", ODD, KeyRow(b"\x00", "t")),
                RememberCalls("a", [ODD, "x"]),
                AddPending("a", PendingRow(ODD, "tool", b"{}")),
                Enqueue("a", message(ODD)),
            ]
        )
        assert two.key("a", ODD) == KeyRow(b"\x00", "t")
        assert sorted(two.call_ids("a")) == sorted([ODD, "x"])
        assert two.pending("a") == [PendingRow(ODD, "tool", b"{}")]
        assert two.was_asked("a", ODD)
        assert two.queued("a", ODD) == message(ODD)
        assert one.put_file("a", "attachment", ODD, [b"content"])
        assert [*two.get_file("a", "attachment", ODD)] == [b"content"]

    @pytest.mark.parametrize("name", [ODD, "\ud800", "x" * 100_000])
    def test_a_session_of_an_impossible_name_does_not_exist(self, one: SharedStore, name: str) -> None:
        assert (one.session(name), one.owner(name), one.claim([name]), one.heads({name: ""})) == (
            None,
            None,
            set(),
            {},
        )
        assert (one.secrets(name), one.read(name, 0, 9, PLENTY), one.queued("a", name)) == (
            Secrets(),
            [],
            None,
        )
        assert not one.was_asked("a", name)
        assert one.key("a", name) is None

    # -- files --------------------------------------------------------------------------------

    def test_a_file_comes_back_in_parts(self, one: SharedStore, two: SharedStore) -> None:
        one.write([SaveSession(record("a"))])
        parts = [b"x" * PART_BYTES, b"y" * PART_BYTES, b"z"]
        assert two.put_file("a", "attachment", "f", iter(parts))
        assert [*one.get_file("a", "attachment", "f")] == parts
        assert two.put_file("a", "attachment", "f", [b"new"], first_part=1)
        assert [*one.get_file("a", "attachment", "f")] == [parts[0], b"new"]
        assert one.list_files("a", "attachment") == [StoredFile("f", PART_BYTES + 3)]
        assert one.list_files("a", "conversation") == []
        assert [*one.get_file("a", "conversation", "f")] == []
        assert not two.put_file("missing", "attachment", "f", [b""])

    def test_a_file_is_stored_whole_or_not_at_all(self, one: SharedStore) -> None:
        def broken() -> Iterator[bytes]:
            yield b"x" * PART_BYTES
            raise RuntimeError("no more")

        one.write([SaveSession(record("a"))])
        one.put_file("a", "attachment", "f", [b"old"])
        with pytest.raises(RuntimeError, match="no more"):
            one.put_file("a", "attachment", "f", broken())
        assert [*one.get_file("a", "attachment", "f")] == [b"old"]

    def test_only_the_owner_stores_a_conversation(self, one: SharedStore, two: SharedStore) -> None:
        one.write([SaveSession(record("a"))])
        assert one.put_file("a", "conversation", "c", [b"one"])
        with pytest.raises(Fenced):
            two.put_file("a", "conversation", "c", [b"two"])
        two.fence(one.life, at_once=True)
        with pytest.raises(Fenced):
            one.put_file("a", "conversation", "c", [b"late"])
        two.claim(["a"])
        assert two.put_file("a", "conversation", "c", [b"two"])
        assert [*two.get_file("a", "conversation", "c")] == [b"two"]

    def test_files_go_with_their_session(self, one: SharedStore) -> None:
        one.write([SaveSession(record("a"))])
        one.put_file("a", "attachment", "f", [b"x"])
        one.write([DeleteSession("a")])
        while one.tidy():
            pass
        one.write([SaveSession(record("a"))])
        assert one.list_files("a", "attachment") == []

    # -- commands -----------------------------------------------------------------------------

    def test_a_command_is_taken_once_and_answered(self, one: SharedStore, two: SharedStore) -> None:
        with _collected_hints(one) as ours, _collected_hints(two) as theirs:
            _until(lambda: ours[:1] == theirs[:1] == [Missed()])
            id = one.post_command(two.life, "a", "cancel", b"{}", 30)
            assert one.answer_of(id) == CommandState(is_taken=False, owner_lives=True)
            _until(lambda: CommandsWait() in theirs)
            [command] = two.take_commands(30)
            assert (command.id, command.session_id, command.operation, command.request, command.asked_by) == (
                id,
                "a",
                "cancel",
                b"{}",
                one.life,
            )
            assert (two.take_commands(30), one.take_commands(30)) == ([], [])
            assert not one.withdraw_command(id)
            two.renew_command(id, 60)
            two.answer_command(id, 202, b"done")
            _until(lambda: CommandAnswered(id) in ours)
        assert one.answer_of(id) == CommandState(is_taken=True, owner_lives=True, status=202, answer=b"done")
        assert not one.withdraw_command(id)
        assert one.answer_of(id) is None

    def test_a_command_that_was_not_taken_can_be_withdrawn(self, one: SharedStore, two: SharedStore) -> None:
        id = one.post_command(two.life, None, "x", b"", 30)
        assert one.withdraw_command(id)
        assert two.take_commands(30) == []
        assert not one.withdraw_command(id)

    def test_a_command_expires(self, one: SharedStore, two: SharedStore) -> None:
        id = one.post_command(two.life, None, "x", b"", 0)
        assert two.take_commands(30) == []
        assert one.withdraw_command(id)

    def test_a_command_that_nobody_renews_expires(self, one: SharedStore, two: SharedStore) -> None:
        id = one.post_command(two.life, None, "x", b"", 30)
        two.take_commands(0)
        assert one.answer_of(id) == CommandState(is_taken=True, owner_lives=True, is_expired=True)
        two.renew_command(id, 30)
        assert one.answer_of(id) == CommandState(is_taken=True, owner_lives=True)

    def test_a_command_shows_that_its_owner_is_gone(self, one: SharedStore, two: SharedStore) -> None:
        id = one.post_command(two.life, None, "x", b"", 30)
        two.take_commands(30)
        one.fence(two.life, at_once=True)
        assert one.answer_of(id) == CommandState(is_taken=True, owner_lives=False)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class _collected_hints:
    """The hints that a store gets, as they come."""

    def __init__(self, store: SharedStore) -> None:
        self._store = store
        self._hints: list[Hint] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def _listen(self) -> None:
        self._hints.extend(self._store.hints())

    def __enter__(self) -> list[Hint]:
        self._thread.start()
        return self._hints

    def __exit__(self, *_: object) -> None:
        pass  # it ends when the store is closed
