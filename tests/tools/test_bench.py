"""The parts of the benchmark that can be wrong without anybody noticing: counting, ratios, the table."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.bench.commits import full_name, old_and_new
from tools.bench.comparison import Comparison, compare
from tools.bench.comparison import table as comparison_table
from tools.bench.daemons import Ledger, Ours, Side, Unusable
from tools.bench.generator import CHECKOUT
from tools.bench.load import Reader
from tools.bench.native import NATIVE, Ear
from tools.bench.processes import ThreadUse, threads
from tools.bench.profile import costs, own_and_total, stacks
from tools.bench.report import Metric, Report, Summary, report, table, write_docs

from sandbox_agent.agents import AGENTS

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 3000\n\n"
AGENT, DAEMON = b'"source":"agent","synthetic":false,', b'"source":"daemon","synthetic":true,'


def frame(id: int, source: bytes, kind: bytes) -> bytes:
    return b'id: %d\ndata: {"sequence":%d,%b"type":"%b","data":{}}\n\n' % (id, id, source, kind)


def delta(id: int) -> bytes:
    return frame(id, AGENT, b"item.delta")


@st.composite
def cut(draw: st.DrawFn, whole: bytes) -> list[bytes]:
    """The same bytes in any pieces."""
    places = sorted(draw(st.sets(st.integers(1, max(1, len(whole) - 1)), max_size=12)))
    return [whole[start:end] for start, end in zip([0, *places], [*places, len(whole)], strict=True)]


@st.composite
def deliveries(draw: st.DrawFn) -> list[int]:
    """Ids as a reader may get them: each is the next one, or one that it has seen."""
    ids = [1]
    for repeats in draw(st.lists(st.booleans(), max_size=20)):
        ids.append(draw(st.sampled_from(ids)) if repeats else max(ids) + 1)
    return ids


def read(chunks: Sequence[bytes]) -> Reader:
    async def feed() -> Reader:
        reader = Reader(Ours.marks)
        for chunk in chunks:
            reader.data_received(chunk)
        return reader

    return asyncio.run(feed())


# -- what readers count -----------------------------------------------------------------------


@given(st.data())
def test_every_event_counts_once_however_the_stream_is_cut(data: st.DataObject) -> None:
    ids = data.draw(deliveries())
    reader = read(data.draw(cut(HEAD + b"".join(delta(id) for id in ids))))
    assert (reader.events, reader.doubled) == (len(set(ids)), len(ids) - len(set(ids)))


@given(st.data())
def test_events_added_by_the_daemon_are_not_attributed_to_the_agent(data: st.DataObject) -> None:
    frames = [
        frame(1, DAEMON, b"turn.started"),
        frame(2, DAEMON, b"item.delta"),
        delta(3),
        b": ping\n\n",
        delta(4),
        frame(5, AGENT, b"turn.ended"),
    ]
    reader = read(data.draw(cut(HEAD + b"".join(frames))))
    assert (reader.status.result(), reader.events, reader.doubled) == (200, 2, 0)
    assert reader.turn_ended.done()


@given(st.data())
def test_a_turn_has_not_ended_before_its_last_line_is_whole(data: st.DataObject) -> None:
    stream = HEAD + delta(1) + frame(2, AGENT, b"turn.ended")
    line_end = len(stream) - len(b"\n\n")
    reader = read(data.draw(cut(stream[: data.draw(st.integers(1, line_end))])))
    assert not reader.turn_ended.done()


def test_the_moments_of_a_turn_are_in_order() -> None:
    began = time.perf_counter()
    reader = read([HEAD, frame(1, DAEMON, b"turn.started"), delta(2), frame(3, AGENT, b"turn.ended")])
    moments = (began, reader.first_at, reader.answered_at, reader.ended_at, time.perf_counter())
    assert list(moments) == sorted(moment for moment in moments if moment is not None)


@given(st.data())
def test_a_native_turn_ends_with_the_line_that_says_so(data: st.DataObject) -> None:
    lines = [
        b'{"type":"text_delta","text":"a"}',
        b'{"type":"text_delta","text":"b"}',
        b'{"type":"result","n":1}',
    ]
    chunks = data.draw(cut(b"\n".join([*lines, b""])))

    async def listen() -> tuple[bytes, int]:
        ear = Ear()
        answer = ear.listen_for('"type":"result"', '"text_delta"')
        for chunk in chunks:
            assert not answer.done()
            ear.pipe_data_received(1, chunk)
        return (await answer)[1], ear.deltas

    assert asyncio.run(listen()) == (lines[2], 2)


def test_what_is_measured_is_a_real_agent() -> None:
    assert NATIVE.keys() <= AGENTS.keys() - {"mock"}


# -- ratios -----------------------------------------------------------------------------------


def test_the_ratio_of_rounds_is_the_median_of_their_ratios() -> None:
    metric = Metric("m", "m", "ms", values={"ours": [2.0, 9.0, 4.0], "peer": [1.0, 3.0, 1.0]})
    assert (metric.ratios(), metric.ratio()) == ([2.0, 3.0, 4.0], 3.0)


def test_a_round_that_hung_on_either_side_has_no_ratio() -> None:
    metric = Metric("m", "m", "ms", values={"ours": [None, 4.0, 6.0], "peer": [1.0, None, 2.0]})
    assert (metric.ratios(), metric.ratio(), metric.median("ours")) == ([3.0], 3.0, 5.0)


def test_single_turns_give_the_ratio_of_their_medians() -> None:
    values: dict[Side, list[float | None]] = {
        "ours": [1.0, 2.0, 90.0, 3.0, 4.0, 5.0],
        "peer": [1.0, 1.0, 1.0, 70.0, 2.0, 2.0],
    }
    metric = Metric("m", "m", "ms", values=values, together=3)
    assert metric.ratios() == [2.0, 2.0]
    assert metric.ratio() == 3.5 / 1.5


@given(st.lists(st.floats(0.1, 1e6), min_size=1), st.integers(1, 10))
def test_a_side_against_itself_is_one(values: list[float], together: int) -> None:
    metric = Metric("m", "m", "ms", values={"ours": list(values), "peer": list(values)}, together=together)
    assert metric.ratio() == 1.0
    assert set(metric.ratios()) == {1.0}


def test_one_side_alone_has_no_ratio() -> None:
    metric = Metric("m", "m", "ms", values={"ours": [1.0], "peer": []}, together=2)
    assert (metric.ratios(), metric.ratio()) == ([], None)


# -- the report -------------------------------------------------------------------------------


def summary(name: str, aim: float | None, ours: float | None, peer: float | None) -> Summary:
    ratio = ours / peer if ours and peer else None
    return Summary(
        name, f"{name} of it", "ms", aim, ours, peer, ratio, ratio, ratio, {"ours": [], "peer": []}
    )


def test_the_table_says_what_was_kept_and_what_was_missed() -> None:
    metrics = [
        summary("kept", 2.0, 150.0, 100.0),
        summary("missed", 1.1, 2.5, 1.0),
        summary("no aim", None, 33.333, 10.0),
        summary("alone", 1.1, 0.123, None),
    ]
    counts: dict[Side, Ledger] = {"ours": Ledger(sent=7, lost=1), "peer": Ledger(sent=5, hung=2)}
    shown = table(Report("a machine", 5, 1.0, metrics, counts))
    assert shown.splitlines() == [
        "| metric            | ours    | peer    | ratio: median [min-max] | aim   |        |",
        "|-------------------|---------|---------|-------------------------|-------|--------|",
        "| kept of it        | 150 ms  | 100 ms  | 1.50 [1.50-1.50]        | ≤ 2   | ok     |",
        "| missed of it      | 2.50 ms | 1.00 ms | 2.50 [2.50-2.50]        | ≤ 1.1 | missed |",
        "| no aim of it      | 33.3 ms | 10.0 ms | 3.33 [3.33-3.33]        |       |        |",
        "| alone of it       | 0.12 ms | -       |                         | ≤ 1.1 |        |",
        "| events lost       | 1 of 7  | 0 of 5  |                         | 0     | missed |",
        "| events duplicated | 0       | 0       |                         | 0     | ok     |",
        "| requests hung     | 0       | 2       |                         | 0     | ok     |",
        "| requests refused  | 0       | 0       |                         | 0     | ok     |",
        "| processes leaked  | 0       | 0       |                         | 0     | ok     |",
    ]


BEGIN, END = "{/* bench:begin */}", "{/* bench:end */}"


def test_the_page_keeps_everything_but_the_figures(tmp_path: Path) -> None:
    page = tmp_path / "page.mdx"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    metric = Metric("m", "a metric", "ms", values={"ours": [1.0], "peer": [1.0]})
    write_docs(report([metric], {"ours": Ledger()}, 5, 1.0, ["a note"]), page)
    before, _, rest = page.read_text().partition(BEGIN)
    figures, _, after = rest.partition(END)
    assert (before, after) == ("before\n", "\nafter\n")
    assert "| a metric " in figures
    assert "- a note" in figures
    assert "old" not in figures


def test_a_page_without_a_place_for_figures_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.mdx"
    page.write_text("nothing to see\n")
    with pytest.raises(ValueError, match="no place for the figures"):
        write_docs(report([], {}, 5, 1.0), page)
    assert page.read_text() == "nothing to see\n"


# -- two commits ------------------------------------------------------------------------------


def compared(old: list[float | None], new: list[float | None], together: int = 1) -> Comparison:
    values: dict[Side, list[float | None]] = {"old": old, "new": new}
    metric = Metric("m", "a metric", "ms", values=values, together=together)
    return compare("abc", [metric], {"old": Ledger(), "new": Ledger()}, 5, 1.0)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ([100.0, 100.0, 100.0], [104.0, 104.0, 104.0], ""),
        ([100.0, 100.0, 100.0], [106.0, 106.0, 106.0], "worse"),
        ([95.0, 100.0, 105.0], [109.0, 109.0, 109.0], ""),
        ([95.0, 100.0, 105.0], [111.0, 111.0, 111.0], "worse"),
        ([95.0, 100.0, 105.0], [89.0, 89.0, 89.0], "better"),
        ([100.0, 100.0, 100.0], [90.0, 100.0, 200.0], ""),
        ([100.0, 100.0], [None, None], "worse"),
        ([None, None], [100.0, 100.0], "better"),
    ],
)
def test_worse_is_more_than_five_per_cent_and_more_than_the_old_one_scatters(
    old: list[float | None], new: list[float | None], verdict: str
) -> None:
    [metric] = compared(old, new).metrics
    assert metric.verdict == verdict


def test_single_turns_scatter_by_the_medians_of_their_rounds() -> None:
    [metric] = compared([1.0, 2.0, 90.0, 3.0, 4.0, 70.0], [5.0] * 6, together=3).metrics
    assert (metric.old, metric.spread) == (3.5, 2.0)
    assert metric.rounds == {"old": [2.0, 4.0], "new": [5.0, 5.0]}


def test_a_fault_that_the_old_commit_did_not_have_is_worse() -> None:
    counts: dict[Side, Ledger] = {"old": Ledger(hung=2), "new": Ledger(hung=2, lost=1)}
    result = compare("abc", [], counts, 5, 1.0)
    assert result.worse() == ["events lost"]


def test_the_table_of_two_commits_says_what_is_worse() -> None:
    result = compared([1.0, 1.1, 1.2], [2.0, 2.0, 2.0])
    assert comparison_table(result).splitlines() == [
        "| metric            | old     | new     | new / old | spread of old |       |",
        "|-------------------|---------|---------|-----------|---------------|-------|",
        "| a metric          | 1.10 ms | 2.00 ms | 1.82      | 18%           | worse |",
        "| events lost       | 0       | 0       |           |               |       |",
        "| events duplicated | 0       | 0       |           |               |       |",
        "| requests hung     | 0       | 0       |           |               |       |",
        "| requests refused  | 0       | 0       |           |               |       |",
        "| processes leaked  | 0       | 0       |           |               |       |",
    ]
    assert result.worse() == ["a metric"]


def test_two_commits_run_beside_each_other_and_leave_the_checkout_alone(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    program = checkout / "src" / "sandbox_agent" / "__main__.py"
    program.parent.mkdir(parents=True)
    program.write_text("print('as it was committed')")
    program.with_name("__init__.py").touch()
    (checkout / "requirements").mkdir()
    (checkout / "requirements" / "run.txt").write_text("")
    git(checkout, "init", "--quiet")
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "--message", "first")
    program.write_text("print('as it is edited')")
    commit = full_name("HEAD", checkout=checkout)
    with old_and_new(commit, tmp_path / "run", tmp_path / "cache", checkout=checkout) as (old, new):
        program.write_text("print('as it is edited later')")
        assert (says(old), says(new)) == ("as it was committed", "as it is edited")
    assert git(checkout, "status", "--short") == " M src/sandbox_agent/__main__.py\n"
    assert len(git(checkout, "worktree", "list").splitlines()) == 1


def git(checkout: Path, *words: str) -> str:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    done = subprocess.run(["git", *who, *words], cwd=checkout, check=True, capture_output=True, text=True)
    return done.stdout


def says(daemon: Ours) -> str:
    environment = dict(daemon.environment)
    done = subprocess.run(daemon.program, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_commit_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    with pytest.raises(Unusable, match="no such commit: nothing"):
        full_name("nothing", checkout=tmp_path)


# -- the profile ------------------------------------------------------------------------------


def test_the_time_of_a_thread_is_shared_out_to_its_functions_and_not_to_its_waits() -> None:
    loop, writer, idle = "thread (1): MainThread", "thread (2): log-writer", "thread (3): reader"
    samples = stacks(
        [
            f"{loop};run;hear 3\n",
            f"{loop};run;send;write (libc.so.6) 1\n",
            f"{loop};run;epoll_pwait (libc.so.6) 90\n",
            f"{writer};commit 5\n",
            f"{writer};get;pthread_cond_wait (libc.so.6);0x7f00 (libc.so.6) 7\n",
            f"{idle};get 9\n",
        ]
    )
    cost = costs(samples, {1: ThreadUse(user=3.0, system=1.0), 2: ThreadUse(system=0.5), 3: ThreadUse()})
    assert own_and_total(cost) == [
        ("hear", 3.0, 3.0),
        ("write (libc.so.6)", 1.0, 1.0),
        ("commit", 0.5, 0.5),
        ("run", 0.0, 4.0),
        ("send", 0.0, 1.0),
        ("get", 0.0, 0.0),
    ]


def test_the_kernel_knows_what_each_thread_used() -> None:
    before = threads(os.getpid())
    stop = time.thread_time() + 0.05
    while time.thread_time() < stop:
        pass
    me = threading.get_native_id()
    used = threads(os.getpid())[me].plus(before[me], -1)
    assert used.cpu >= 0.03


# -- a whole run ------------------------------------------------------------------------------


@pytest.mark.slow
def test_sessions_at_the_pace_of_models_get_every_event(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--quick", "--rounds", "1", "--only", "pace-20,pace-1", "--side", "ours"]
    command = [sys.executable, "-m", "tools.bench", *options, "--json", str(figures)]
    subprocess.run(command, cwd=CHECKOUT, check=True, timeout=100)
    result = msgspec.json.decode(figures.read_bytes(), type=Report)
    assert [metric.name for metric in result.metrics] == ["pace_20", "pace_1"]
    assert all(metric.ours for metric in result.metrics)
    sent = 20 * (50 + 50) + (50 + 100)
    assert result.counts == {"ours": Ledger(sent=sent)}
