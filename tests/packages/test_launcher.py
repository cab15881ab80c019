"""How the single file unpacks itself, with a small program inside instead of the daemon."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tools.onefile.__main__ import write

PROGRAM = """#!/bin/sh
echo run >> "$RUNS"
echo "got $*"
"""


class Single:
    """A single file, and the cache it unpacks itself into."""

    def __init__(self, folder: Path, program: str) -> None:
        self.file, self.cache, self.runs = folder / "sandbox-agent", folder / "cache", folder / "runs"
        bundle = folder / "bundle"
        bundle.mkdir()
        (bundle / "sandbox-agent").write_text(program)
        (bundle / "sandbox-agent").chmod(0o755)
        write(bundle, self.file, folder / "payload.tar.gz")

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.file, *words],
            env={
                "PATH": os.environ["PATH"],
                "SANDBOX_AGENT_CACHE": str(self.cache),
                "RUNS": str(self.runs),
                **(env or {}),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
        with self.start(*words, env=env) as process:
            out, err = process.communicate(timeout=60)
            return process.returncode, out, err

    def place(self) -> Path:
        (place,) = self.cache.iterdir()
        return place


@pytest.fixture
def single(tmp_path: Path) -> Single:
    return Single(tmp_path, PROGRAM)


@pytest.fixture
def lax() -> Iterator[None]:
    """A umask under which new folders are writable for the group."""
    before = os.umask(0o002)
    yield
    os.umask(before)


def test_it_is_unpacked_once_and_gets_the_words_as_they_are(single: Single) -> None:
    assert single.run("a b", "*") == (0, "got a b *\n", "")
    made = single.place().stat().st_ino
    assert single.run() == (0, "got \n", "")
    assert single.place().stat().st_ino == made
    # It is tried once before it gets its place.
    assert single.runs.read_text().count("run") == 3


@pytest.mark.usefixtures("lax")
def test_nobody_else_can_write_to_the_cache_it_makes(single: Single) -> None:
    assert single.run()[0] == 0
    assert {path.stat().st_mode & 0o077 for path in (single.cache, single.place())} == {0}


def test_several_that_start_at_once_share_one_place(single: Single) -> None:
    started = [single.start() for _ in range(4)]
    assert [(process.communicate(timeout=60), process.returncode) for process in started] == [
        (("got \n", ""), 0)
    ] * 4
    assert single.place().name.startswith(single.file.read_text(errors="replace").split()[3])


def test_what_an_interrupted_start_left_is_not_used(single: Single) -> None:
    half = single.cache / "unpacking.abcdef"
    half.mkdir(parents=True)
    (half / "sandbox-agent").write_text("#!/bin/sh\necho half\n")
    single.cache.chmod(0o700)
    assert single.run("x") == (0, "got x\n", "")


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702])
def test_a_cache_that_others_can_write_to_is_refused(single: Single, mode: int) -> None:
    single.cache.mkdir()
    single.cache.chmod(mode)
    code, out, err = single.run()
    assert (code, out) == (1, "")
    assert f"others can write to {single.cache}" in err
    assert list(single.cache.iterdir()) == []
    assert not single.runs.exists()


def test_a_place_that_others_can_write_to_is_refused(single: Single) -> None:
    single.run()
    place = single.place()
    place.chmod(0o777)
    before = single.runs.read_text()
    code, _, err = single.run()
    assert code == 1
    assert f"others can write to {place}" in err
    assert single.runs.read_text() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_place_of_another_user_is_refused(single: Single) -> None:
    single.run()
    os.chown(single.place(), 4321, 4321)
    assert single.run()[0] == 1


def test_a_cut_download_is_not_unpacked(single: Single) -> None:
    content = single.file.read_bytes()
    single.file.write_bytes(content[:-20])
    code, out, err = single.run()
    assert (code, out) == (1, "")
    assert "cannot unpack itself" in err
    assert list(single.cache.iterdir()) == []


def test_a_cache_that_cannot_be_made_is_a_clear_error(single: Single) -> None:
    code, _, err = single.run(env={"SANDBOX_AGENT_CACHE": "/proc/none"})
    assert (code, err) == (
        1,
        "sandbox-agent: cannot write to /proc/none; SANDBOX_AGENT_CACHE names another folder\n",
    )


@pytest.mark.parametrize(
    "program",
    ["#!/lib/ld-that-is-not-here\n", "#!/bin/sh\necho \"version 'GLIBC_2.99' not found\" >&2\nexit 1\n"],
)
def test_a_machine_that_cannot_run_it_gets_a_message_with_what_is_missing(
    tmp_path: Path, program: str
) -> None:
    single = Single(tmp_path, program)
    code, out, err = single.run()
    assert (code, out) == (1, "")
    assert "not found" in err
    assert "needs Linux x64 with glibc 0.0 or newer" in err  # the program inside asks for none
    assert "This machine: Linux" in err
    assert list(single.cache.iterdir()) == []
