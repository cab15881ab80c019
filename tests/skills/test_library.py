"""Skills reach a session's folder whole, from repositories and folders, and nothing else does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandbox_agent.errors import InvalidRequest
from sandbox_agent.files.roots import Roots
from sandbox_agent.files.vault import Vault
from sandbox_agent.files.work import Files
from sandbox_agent.processes import guardian
from sandbox_agent.schema.skills import Skill, SkillSource
from sandbox_agent.skills import checkout, folder, library
from sandbox_agent.skills.library import Library

from .git_server import GitServer, commit, git, serving

HEAD = "---\nname: {name}\ndescription: {about}\n---\n\nDo it.\n"


def write_skill(path: Path, name: str, about: str = "Makes things.") -> Path:
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text(HEAD.format(name=name, about=about))
    return path


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[Library]:
    files = Files(Roots((), Vault(tmp_path, [])), tmp_path / "uploads")
    try:
        yield Library(tmp_path / "fetched", f"test-{os.getpid()}-{tmp_path.name}", files)
    finally:
        files.close()


def lay_out(tmp_path: Path, *sources: SkillSource) -> tuple[Skill, ...]:
    async def run() -> tuple[Skill, ...]:
        async with opened(tmp_path) as library:
            return await library.lay_out(sources, tmp_path / "session")

    shutil.rmtree(tmp_path / "session", ignore_errors=True)
    return asyncio.run(run())


def laid_out(tmp_path: Path) -> set[str]:
    root = tmp_path / "session" / "skills"
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    path = tmp_path / "served" / "repo"
    write_skill(path / "skills" / "pdf", "pdf", "Reads PDF files.")
    write_skill(path / "skills" / "css", "css")
    (path / "skills" / "pdf" / "run.sh").write_text("#!/bin/sh\n")
    (path / "skills" / "pdf" / "run.sh").chmod(0o755)
    return path


@pytest.fixture
def server(origin: Path) -> Iterator[GitServer]:
    with serving(origin.parent) as server:
        yield server


def of(server: GitServer, **more: object) -> SkillSource:
    return SkillSource("git", f"{server.url}/repo/.git", **more)  # type: ignore[arg-type]


# -- what a session gets ----------------------------------------------------------------------------


def test_a_repository_is_laid_out_and_its_commit_is_reported(
    tmp_path: Path, origin: Path, server: GitServer
) -> None:
    first = commit(origin)
    (origin / "skills" / "pdf" / "later.txt").write_text("later")
    commit(origin)
    url = f"{server.url}/repo/.git"
    source = of(server, ref=first, subpath="skills", skills=("pdf",))
    assert lay_out(tmp_path, source) == (Skill("pdf", "Reads PDF files.", url, first),)
    assert laid_out(tmp_path) == {"pdf/SKILL.md", "pdf/run.sh"}
    assert os.access(tmp_path / "session" / "skills" / "pdf" / "run.sh", os.X_OK)
    assert os.stat(tmp_path / "session").st_mode & 0o777 == 0o700


def test_a_repository_is_fetched_once_for_many_sessions(
    tmp_path: Path, origin: Path, server: GitServer
) -> None:
    commit(origin)

    async def run() -> None:
        async with opened(tmp_path) as library:
            names = [tmp_path / str(number) for number in range(3)]
            await asyncio.gather(*(library.lay_out([of(server)], name) for name in names))

    asyncio.run(run())
    assert server.fetches == 1


def test_unused_repositories_beyond_the_limit_are_removed(
    tmp_path: Path, origin: Path, server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(origin)
    monkeypatch.setattr(library, "MAX_KEPT", 1)
    lay_out(tmp_path, of(server, ref="main"), of(server, subpath="skills/css"))
    assert len(list((tmp_path / "fetched").iterdir())) == 1


def test_a_repository_is_not_removed_while_all_others_are_in_use(
    tmp_path: Path, origin: Path, server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(origin)
    monkeypatch.setattr(library, "MAX_KEPT", 1)

    async def story() -> None:
        async with opened(tmp_path) as made, made._opened(of(server)):
            await made.lay_out([of(server, subpath="skills")], tmp_path / "session")
            assert len(made._kept) == 1

    asyncio.run(story())


def test_a_later_change_of_a_folder_does_not_change_the_session(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "mine" / "pdf", "pdf")
    (skill / "more").mkdir()
    (skill / "more" / "a.txt").write_text("before")
    (skill / "b.txt").symlink_to("more/a.txt")
    lay_out(tmp_path, SkillSource("local", str(tmp_path / "mine")))
    (skill / "more" / "a.txt").write_text("after")
    copy = tmp_path / "session" / "skills" / "pdf"
    assert (copy / "more" / "a.txt").read_text() == (copy / "b.txt").read_text() == "before"
    assert not (copy / "b.txt").is_symlink()


def test_of_two_skills_with_one_name_the_first_counts(tmp_path: Path) -> None:
    for which in ("one", "two"):
        write_skill(tmp_path / which / "pdf", "pdf", f"From {which}.")
    sources = [SkillSource("local", str(tmp_path / which)) for which in ("one", "two")]
    assert [skill.description for skill in lay_out(tmp_path, *sources)] == ["From one."]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("---\nname: a\ndescription: 'it''s'\n---\n", ("a", "it's")),
        ('---\ndescription: "say \\"hi\\""\n---\n', ("folder", 'say "hi"')),
        ("---\nname: a\ndescription: >-\n  one\n  two\nlicense: MIT\n---\n", ("a", "one two")),
        ("---\nname: ../../evil\ndescription: x\n---\n", ("folder", "x")),
        ("---\nname: a\nno end", ("folder", "")),
        ("# no head\n", ("folder", "")),
    ],
)
def test_a_head_is_read(tmp_path: Path, head: str, expected: tuple[str, str]) -> None:
    (tmp_path / "mine" / "folder").mkdir(parents=True)
    (tmp_path / "mine" / "folder" / "SKILL.md").write_text(head)
    (skill,) = lay_out(tmp_path, SkillSource("local", str(tmp_path / "mine")))
    assert (skill.name, skill.description) == expected


# -- hostile sources --------------------------------------------------------------------------------


def refusal(tmp_path: Path, source: SkillSource) -> str:
    with pytest.raises(InvalidRequest) as refused:
        lay_out(tmp_path, source)
    assert refused.value.facts["field"] == "skills"
    assert source.source in refused.value.detail
    return refused.value.detail


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c 'touch /tmp/pwned'",
        "fd::17",
        "file:///etc",
        "file::/etc",
        "/etc",
        "../repo",
        "--upload-pack=touch /tmp/pwned",
        "-oProxyCommand=touch",
        "ssh://-oProxyCommand=touch/x",
        "ssh://host/-x\n",
        "git@-oProxyCommand=x:repo",
        "git@host:-x",
        "git@host::x",
        "git://host/repo",
        "ftp://host/repo",
        "http://example.com/repo",
        "http://127.0.0.1.example.com/repo",
        "http://user@127.0.0.1/repo",
        "https://user:secret@host/repo",
        "https://host/repo?x=1",
        "https://host/repo#x",
        "https://host/re po",
        "https://host:port/repo",
        "https:///repo",
        "https://[::1/repo",
    ],
)
def test_an_address_that_git_might_obey_is_refused(tmp_path: Path, address: str) -> None:
    refusal(tmp_path, SkillSource("git", address))
    assert not (tmp_path / "fetched").exists()


@pytest.mark.parametrize("ref", ["--upload-pack=x", "-x", "a:b", "+main", "a..b", "main^{/x}", "", "a\nb"])
def test_a_ref_that_git_might_obey_is_refused(tmp_path: Path, ref: str) -> None:
    assert "branch" in refusal(tmp_path, SkillSource("git", "https://host.invalid/repo", ref))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (SkillSource("local", "relative"), "absolute path"),
        (SkillSource("local", "/no\0folder"), "absolute path"),
        (SkillSource("local", "/no/such/folder"), "no directory"),
        (SkillSource("local", "/usr", subpath="../etc"), "not a directory inside"),
        (SkillSource("github", "owner/name/../../x"), "owner/name"),
        (SkillSource("github", "-x/y"), "owner/name"),
    ],
)
def test_a_source_that_is_not_there_is_named(tmp_path: Path, source: SkillSource, reason: str) -> None:
    assert reason in refusal(tmp_path, source)


def test_links_outside_and_special_files_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    source = SkillSource("local", str(tmp_path / "mine"))
    skill = write_skill(tmp_path / "mine" / "pdf", "pdf")

    def is_refused(name: str, reason: str) -> None:
        assert reason in refusal(tmp_path, source)
        (skill / name).unlink()

    for name, target in (("a", secret), ("b", "../../secret.txt"), ("c", "/etc"), ("d", "missing/../../..")):
        (skill / name).symlink_to(target)
        is_refused(name, "leaves the source")
    os.mkfifo(skill / "pipe")
    is_refused("pipe", "not a regular file")
    (skill / "loop").symlink_to(".")
    is_refused("loop", "too deep")
    (skill / "gone").symlink_to("nowhere")
    is_refused("gone", "cannot be read")
    assert laid_out(tmp_path) <= {"pdf/SKILL.md"}
    (skill / "SKILL.md").unlink()
    (skill / "SKILL.md").symlink_to(secret)
    is_refused("SKILL.md", "leaves the source")
    os.mkfifo(skill / "SKILL.md")
    is_refused("SKILL.md", "not a regular file")
    with (skill / "SKILL.md").open("w") as file:
        file.truncate(1 << 30)
    is_refused("SKILL.md", "MiB")
    assert "no SKILL.md" in refusal(tmp_path, source)


def test_a_subpath_cannot_leave_by_a_link(tmp_path: Path) -> None:
    write_skill(tmp_path / "other" / "pdf", "pdf")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "out").symlink_to(tmp_path / "other")
    source = SkillSource("local", str(tmp_path / "mine"), subpath="out")
    assert "outside" in refusal(tmp_path, source)


def test_nothing_in_a_repository_runs_or_leaves_it(tmp_path: Path, origin: Path, server: GitServer) -> None:
    """Hooks, filters, line ends, submodules and links: the files are those of the commit, and nothing else happens."""
    pwned = tmp_path / "pwned"
    (origin / ".gitattributes").write_text("*.txt filter=evil eol=crlf ident\n")
    (origin / "skills" / "pdf" / "a.txt").write_bytes(b"$Id$\nplain\n")
    (origin / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = x\n\turl = ext::touch {pwned}\n')
    (origin / "hooks").mkdir()
    (origin / "hooks" / "post-checkout").write_text(f"#!/bin/sh\ntouch {pwned}\n")
    commit(origin)
    git(origin, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},x")
    git(origin, "commit", "--quiet", "--message", "a submodule")
    home = tmp_path / "home"
    home.mkdir()
    evil = f'[filter "evil"]\n\tsmudge = touch {pwned}\n[core]\n\thooksPath = {origin}/hooks\n'
    (home / ".gitconfig").write_text(evil)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        lay_out(tmp_path, of(server))
    assert (tmp_path / "session" / "skills" / "pdf" / "a.txt").read_bytes() == b"$Id$\nplain\n"
    assert not pwned.exists()
    (origin / "skills" / "pdf" / "out").symlink_to("/etc/passwd")
    commit(origin)
    assert "leaves the source" in refusal(tmp_path, of(server))


def test_a_large_repository_is_refused(
    tmp_path: Path, origin: Path, server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (origin / "zeros").write_bytes(bytes(3 << 20))
    (origin / "noise").write_bytes(os.urandom(3 << 20))
    commit(origin)
    monkeypatch.setattr(checkout, "MAX_BYTES", 5 << 20)
    assert "its files exceed 5 MiB" in refusal(tmp_path, of(server))
    monkeypatch.setattr(checkout, "MAX_FETCHED_BYTES", 1 << 20)
    assert "larger than 1 MiB" in refusal(tmp_path, of(server))
    monkeypatch.setattr(folder, "MAX_SEARCHED", 3)
    assert "more than 3 files" in refusal(tmp_path, SkillSource("local", str(origin)))
    assert list((tmp_path / "fetched").iterdir()) == []


def test_a_server_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "SECONDS", 1.0)
    connected = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)

        def accept() -> None:
            with contextlib.suppress(TimeoutError), silent.accept()[0]:
                connected.set()
                done.wait(20)

        done = threading.Event()
        thread = threading.Thread(target=accept)
        thread.start()
        source = SkillSource("git", f"http://127.0.0.1:{silent.getsockname()[1]}/repo")
        try:
            assert "not fetched in 1 seconds" in refusal(tmp_path, source)
            assert connected.is_set()
        finally:
            done.set()
            thread.join()
    assert guardian.marked(f"test-{os.getpid()}-{tmp_path.name}/") == set()
    assert list((tmp_path / "fetched").iterdir()) == []


def test_a_missing_repository_or_ref_is_named(tmp_path: Path, origin: Path, server: GitServer) -> None:
    commit(origin)
    assert "not found" in refusal(tmp_path, SkillSource("git", f"{server.url}/nothing/.git"))
    assert "no-such-branch" in refusal(tmp_path, of(server, ref="no-such-branch"))
    assert "no/such" in refusal(tmp_path, of(server, subpath="no/such"))
    assert "no skill `gif`" in refusal(tmp_path, of(server, skills=("gif",)))
