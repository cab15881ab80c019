"""Files over HTTP, with every kind of client."""

from __future__ import annotations

import http.client
import io
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import SECONDS, Client, Daemon, done, refusal, running, wait_until
from tests.published_client import run_with_published_client

TOKEN = "a token of some length"


class Bound(Client):
    """A client of a daemon whose file operations are bound to one folder."""

    def __init__(self, daemon: Daemon, root: Path) -> None:
        super().__init__(daemon, TOKEN)
        self.root = root

    def read(self, path: str, **headers: str) -> Any:
        return self.request("GET", "/v1/fs/file", params={"path": self.at(path)}, headers=headers)

    def write(self, path: str, content: Any, **headers: str) -> Any:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.request(
            "PUT", "/v1/fs/file", params={"path": self.at(path)}, content=content, headers=sent
        )

    def at(self, path: str) -> str:
        return str(self.root / path)


@pytest.fixture(scope="session")
def files_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("files")
    (folder / "root").mkdir()
    flags = ("--token", TOKEN, "--max-upload", "3MiB", "--fs-root", str(folder / "root"))
    with running(Daemon(folder / "root" / "data", *flags)) as daemon:
        yield daemon


@pytest.fixture
def fs(files_daemon: Daemon, tmp_path: Path) -> Iterator[Bound]:
    root = files_daemon.data_dir.parent / tmp_path.name
    root.mkdir()
    client = Bound(files_daemon, root)
    yield client
    client.close()


# -- the published client ---------------------------------------------------------------------


def test_every_method_of_the_published_client_works(tmp_path: Path) -> None:
    program = Path(__file__).parent / "published_files.mjs"
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        address = f"http://127.0.0.1:{daemon.port}"
        assert run_with_published_client(program, address, TOKEN, str(tmp_path / "data-home")) == "8\n"


# -- reading ----------------------------------------------------------------------------------


def test_a_file_is_sent_so_that_no_browser_runs_it(fs: Bound) -> None:
    fs.write("page.html", b"<script>alert(1)</script>")
    answer = fs.read("page.html")
    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''page.html"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("asked", "status", "content", "content_range"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=8-", 206, b"89", "bytes 8-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=5-99", 206, b"56789", "bytes 5-9/10"),
        ("bytes=0-1,3-4", 200, b"0123456789", None),
        ("bytes=4-2", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
        (f"bytes=5-{'9' * 5000}", 206, b"56789", "bytes 5-9/10"),
        (f"bytes={'0' * 5000}8-", 206, b"89", "bytes 8-9/10"),
        (f"bytes=-{'9' * 5000}", 206, b"0123456789", "bytes 0-9/10"),
    ],
)
def test_a_range_is_what_was_asked_for(
    fs: Bound, asked: str, status: int, content: bytes, content_range: str | None
) -> None:
    fs.write("digits", b"0123456789")
    answer = fs.read("digits", range=asked)
    assert (answer.status_code, answer.content) == (status, content)
    assert answer.headers.get("content-range") == content_range


@pytest.mark.parametrize("asked", ["bytes=10-", "bytes=10-20", "bytes=-0", f"bytes={'9' * 5000}-"])
def test_a_range_past_the_end_is_refused(fs: Bound, asked: str) -> None:
    fs.write("digits", b"0123456789")
    answer = fs.read("digits", range=asked)
    assert refusal(answer) == (416, "range_not_satisfiable")
    assert answer.headers["content-range"] == "bytes */10"


def test_what_a_client_has_is_not_sent_again(fs: Bound) -> None:
    fs.write("notes", b"one")
    tag = fs.read("notes").headers["etag"]
    answer = fs.read("notes", **{"if-none-match": f'"other", {tag}'})
    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    fs.write("notes", b"two")
    assert fs.read("notes", **{"if-none-match": tag}).content == b"two"
    assert fs.read("notes", **{"if-range": tag, "range": "bytes=0-0"}).content == b"two"


def test_a_reader_that_leaves_frees_its_file(fs: Bound) -> None:
    (fs.root / "large").write_bytes(bytes(64 << 20))
    connection = http.client.HTTPConnection("127.0.0.1", fs.daemon.port, timeout=SECONDS)
    connection.request(
        "GET", f"/v1/fs/file?path={fs.root}/large", headers={"authorization": f"Bearer {TOKEN}"}
    )
    assert connection.getresponse().read(1000) == bytes(1000)
    assert str(fs.root / "large") in _open_files(fs.daemon)
    connection.close()
    wait_until(lambda: str(fs.root / "large") not in _open_files(fs.daemon))


def _open_files(daemon: Daemon) -> list[str]:
    found = []
    for descriptor in Path(f"/proc/{daemon.pid}/fd").iterdir():
        try:
            found.append(os.readlink(descriptor))
        except FileNotFoundError:
            continue
    return found


# -- writing ----------------------------------------------------------------------------------


def test_a_write_keeps_the_mode_and_goes_to_the_links_target(fs: Bound) -> None:
    (fs.root / "real").mkdir()
    (fs.root / "real" / "run.sh").write_text("old")
    (fs.root / "real" / "run.sh").chmod(0o750)
    (fs.root / "link").symlink_to("real/run.sh")
    written = done(fs.write("link", b"new"))
    assert written["bytesWritten"] == 3
    assert (fs.root / "link").is_symlink()
    assert (fs.root / "real" / "run.sh").read_text() == "new"
    assert (fs.root / "real" / "run.sh").stat().st_mode & 0o7777 == 0o750
    assert written["etag"] == fs.read("link").headers["etag"]


def test_a_file_that_has_changed_is_not_overwritten(fs: Bound) -> None:
    tag = done(fs.write("notes", b"one"))["etag"]
    second = done(fs.write("notes", b"two", if_match=tag))["etag"]
    answer = fs.write("notes", b"three", if_match=tag)
    assert refusal(answer) == (412, "precondition_failed")
    assert answer.json()["etag"] == second
    assert refusal(fs.write("missing", b"x", if_match="*")) == (412, "precondition_failed")
    assert fs.read("notes").content == b"two"
    assert not (fs.root / "missing").exists()


def test_a_file_that_must_not_exist_is_not_overwritten(fs: Bound) -> None:
    tag = done(fs.write("deep/notes", b"one", if_none_match="*"))["etag"]
    answer = fs.write("deep/notes", b"two", if_none_match="*")
    assert refusal(answer) == (412, "precondition_failed")
    assert answer.json()["etag"] == tag
    assert refusal(fs.write("deep/notes", b"two", if_none_match=tag)) == (412, "precondition_failed")
    assert fs.read("deep/notes").content == b"one"
    fs.write("deep/notes", b"two", if_none_match='"another"')
    assert fs.read("deep/notes").content == b"two"


@pytest.mark.parametrize("header", ["if_match", "if_none_match"])
def test_of_writers_with_the_same_condition_one_is_served(fs: Bound, header: str) -> None:
    condition = {header: done(fs.write("notes", b"one"))["etag"] if header == "if_match" else "*"}
    file = "notes" if header == "if_match" else "new"
    answers: list[int] = []
    others = [Bound(fs.daemon, fs.root) for _ in range(8)]
    threads = [
        threading.Thread(
            target=lambda one=one: answers.append(one.write(file, b"x", **condition).status_code)
        )
        for one in others
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    for one in others:
        one.close()
    assert sorted(answers) == [200, *([412] * 7)]


def test_what_is_too_large_is_refused_and_leaves_nothing(fs: Bound) -> None:
    fs.write("file", b"old")
    large = bytes(3 * 1024 * 1024 + 1)
    for content in (large, iter([large[:1000], large[1000:]])):
        assert refusal(fs.write("file", content)) == (413, "payload_too_large")
    assert fs.read("file").content == b"old"
    assert os.listdir(fs.root) == ["file"]


def test_an_upload_that_breaks_off_leaves_nothing(fs: Bound) -> None:
    fs.write("file", b"old")
    connection = http.client.HTTPConnection("127.0.0.1", fs.daemon.port, timeout=SECONDS)
    connection.putrequest("PUT", f"/v1/fs/file?path={fs.root}/file")
    connection.putheader("authorization", f"Bearer {TOKEN}")
    connection.putheader("content-length", str(1 << 20))
    connection.endheaders(bytes(400_000))
    wait_until(lambda: any(str(fs.root) in path for path in _open_files(fs.daemon)))
    connection.close()
    wait_until(lambda: not any(str(fs.root) in path for path in _open_files(fs.daemon)))
    assert os.listdir(fs.root) == ["file"]
    assert (fs.root / "file").read_text() == "old"


def test_special_files_are_neither_read_nor_written(fs: Bound) -> None:
    os.mkfifo(fs.root / "pipe")
    assert refusal(fs.read("pipe")) == (400, "invalid_request")
    assert refusal(fs.write("pipe", b"x")) == (400, "invalid_request")


# -- folders ----------------------------------------------------------------------------------


def test_a_large_folder_comes_whole_or_page_by_page(fs: Bound) -> None:
    names = sorted(f"file-{number}" for number in range(2500))
    for name in names:
        (fs.root / name).touch()
    whole = done(fs.get("/v1/fs/entries", path=fs.root))
    assert [entry["name"] for entry in whole] == names
    paged: list[Any] = []
    page: dict[str, Any] = {"nextCursor": None}
    while "nextCursor" in page:
        query = {"cursor": page["nextCursor"]} if paged else {}
        page = done(fs.get("/v1/fs/entries", path=fs.root, limit=1000, **query))
        paged += page["entries"]
    assert paged == whole
    assert refusal(fs.get("/v1/fs/entries", path=fs.root, cursor="?")) == (400, "invalid_request")


def test_names_that_are_not_utf8_are_listed(fs: Bound) -> None:
    (Path(os.fsdecode(os.fsencode(fs.root) + b"/caf\xe9"))).touch()
    (fs.root / "naïve\n✓").touch()
    assert [entry["name"] for entry in done(fs.get("/v1/fs/entries", path=fs.root))] == [
        "caf\ufffd",
        "naïve\n✓",
    ]


def test_a_session_is_where_relative_paths_start(client: Client, tmp_path: Path) -> None:
    session = client.create(directory=str(tmp_path))
    answer = client.request("PUT", f"/v1/fs/file?path=src/a.txt&sessionId={session}", content=b"x")
    assert done(answer)["path"] == f"{tmp_path}/src/a.txt"
    assert [entry["name"] for entry in done(client.get("/v1/fs/entries", sessionId=session))] == ["src"]
    assert refusal(client.get("/v1/fs/stat", path="../x", session_id=session)) == (400, "invalid_request")
    assert refusal(client.get("/v1/fs/stat", path="x", sessionId="nobody")) == (404, "session_not_found")


@pytest.mark.parametrize("path", ["", ".", "./", "/", "..", "././"])
def test_the_folder_that_paths_start_from_is_not_removed(client: Client, tmp_path: Path, path: str) -> None:
    session = client.create(directory=str(tmp_path))
    query = {"path": path, "sessionId": session, "recursive": "true"}
    assert refusal(client.request("DELETE", "/v1/fs/entry", params=query)) == (400, "invalid_request")
    assert tmp_path.is_dir()


def test_paths_outside_the_root_are_forbidden(fs: Bound) -> None:
    (fs.root / "out").symlink_to("/etc")
    data = fs.daemon.data_dir
    for path in ("/etc/passwd", f"{fs.root}/out/passwd", f"{data}/log.db", f"{data}/../data/new", str(data)):
        answers = [
            fs.get("/v1/fs/file", path=path),
            fs.get("/v1/fs/stat", path=path),
            fs.get("/v1/fs/entries", path=path),
            fs.get("/v1/fs/download", path=path),
            fs.get("/v1/fs/search", path=path),
            fs.get("/v1/fs/watch", path=path),
            fs.request("PUT", "/v1/fs/file", params={"path": path}, content=b"x"),
            fs.request("POST", "/v1/fs/mkdir", params={"path": path}),
            fs.post("/v1/fs/move", {"from": path, "to": f"{fs.root}/x"}),
            fs.post("/v1/fs/move", {"from": f"{fs.root}/out", "to": path, "overwrite": True}),
        ]
        assert {refusal(answer) for answer in answers} == {(403, "permission_denied")}, path


# -- archives ---------------------------------------------------------------------------------


def test_a_folder_is_downloaded_as_an_archive(fs: Bound) -> None:
    (fs.root / "sub").mkdir()
    (fs.root / "sub" / "large").write_bytes(os.urandom(600_000))
    (fs.root / "link").symlink_to("sub")
    answer = fs.get("/v1/fs/download", path=fs.root)
    assert answer.headers["content-type"] == "application/x-tar"
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as tar:
        assert tar.getnames() == ["link", "sub", "sub/large"]
        packed = tar.extractfile("sub/large")
        assert packed is not None
        assert packed.read() == (fs.root / "sub" / "large").read_bytes()
    answer = fs.get("/v1/fs/download", path=fs.root, format="zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["link", "sub/", "sub/large"]
        assert archive.read("sub/large") == (fs.root / "sub" / "large").read_bytes()


def test_an_archive_needs_its_media_type(fs: Bound) -> None:
    answer = fs.request("POST", "/v1/fs/upload-batch", params={"path": str(fs.root)}, content=b"x")
    assert refusal(answer) == (400, "invalid_request")


# -- searching --------------------------------------------------------------------------------


@pytest.fixture
def searched(fs: Bound) -> Bound:
    for path, text in {
        "a.py": "import os\nprint('needle')\n",
        "b.txt": "no NEEDLE\r\nneedle needle\n",
        "sub/c.py": "nothing",
        "sub/deep/d.py": "needle\n",
        "build/out.py": "needle\n",
        "sub/kept.log": "needle\n",
        "other.log": "needle\n",
        ".git/config": "needle\n",
        ".gitignore": "/build/\n*.log\n",
        "sub/.gitignore": "!kept.log\n",
    }.items():
        (fs.root / path).parent.mkdir(parents=True, exist_ok=True)
        (fs.root / path).write_text(text)
    (fs.root / "binary").write_bytes(b"\0needle")
    return fs


def _found(fs: Bound, **query: object) -> tuple[list[tuple[Any, ...]], str | None]:
    result = done(fs.get("/v1/fs/search", path=fs.root, **query))
    hits = [(os.path.relpath(hit["path"], fs.root), hit.get("line")) for hit in result["hits"]]
    return hits, result.get("truncated")


def test_a_search_finds_names_and_lines_and_respects_gitignore(searched: Bound) -> None:
    lines = [("a.py", 2), ("b.txt", 2), ("sub/deep/d.py", 1), ("sub/kept.log", 1)]
    assert _found(searched, text="needle") == (lines, None)
    assert _found(searched, glob="*.py") == (
        [("a.py", None), ("sub/c.py", None), ("sub/deep/d.py", None)],
        None,
    )
    assert _found(searched, glob="sub/**/*.py", regex="n.+e$")[0] == [("sub/deep/d.py", 1)]
    assert _found(searched, glob="b.txt", text="needle", ignoreCase="true")[0] == [("b.txt", 1), ("b.txt", 2)]
    assert len(_found(searched, text="needle", ignored="true")[0]) == 7
    assert _found(searched, text="needle", limit=2) == (lines[:2], "limit")


@pytest.mark.parametrize("line", ["[z-a]", "\\"])
def test_a_line_of_a_gitignore_that_makes_no_sense_is_ignored(searched: Bound, line: str) -> None:
    (searched.root / ".gitignore").write_text(f"/build/\n{line}\n*.log\n")
    lines = [("a.py", 2), ("b.txt", 2), ("sub/deep/d.py", 1), ("sub/kept.log", 1)]
    assert _found(searched, text="needle") == (lines, None)


def test_a_search_has_an_end_whatever_it_looks_for(searched: Bound) -> None:
    (searched.root / "trap.txt").write_text("a" * 40 + "\n")
    assert _found(searched, glob="trap.txt", regex="(a+)+b", timeoutMs=300) == ([], "time")
    assert done(searched.get("/v1/health"))["status"] == "ok"


@pytest.mark.parametrize(
    "query",
    [
        {"regex": "("},
        {"text": "a", "regex": "b"},
        {"limit": 0},
        {"glob": ""},
        {"glob": "[z-a]"},
        {"glob": "\\"},
    ],
)
def test_a_search_that_makes_no_sense_is_refused(searched: Bound, query: dict[str, Any]) -> None:
    answer = searched.get("/v1/fs/search", path=searched.root, **query)
    assert refusal(answer) == (400, "invalid_request")


# -- watching ---------------------------------------------------------------------------------


def test_changes_are_streamed_as_they_happen(fs: Bound) -> None:
    (fs.root / "sub").mkdir()
    (fs.root / "out").symlink_to("/tmp")
    with fs.reader(f"/v1/fs/watch?path={fs.root}") as reader:
        assert reader.status == 200
        frames = (frame.data for frame in reader.frames() if "data" in frame.fields)

        def next_change() -> tuple[str, str, str]:
            frame = next(frames)
            return os.path.relpath(frame["path"], fs.root), frame["change"], frame["entryType"]

        (fs.root / "sub" / "new").touch()
        assert next_change() == ("sub/new", "created", "file")
        assert next_change() == ("sub/new", "modified", "file")
        (fs.root / "made" / "deep").mkdir(parents=True)
        assert next_change() == ("made", "created", "directory")
        assert next_change() == ("made/deep", "created", "directory")
        (fs.root / "made" / "deep" / "x").mkdir()
        assert next_change() == ("made/deep/x", "created", "directory")
        (fs.root / "sub" / "new").unlink()
        assert next_change() == ("sub/new", "deleted", "file")
        (fs.root / "made").rename(fs.root.parent / f"{fs.root.name}-moved")
        assert next_change() == ("made", "deleted", "directory")
        (fs.root.parent / f"{fs.root.name}-moved" / "unseen").touch()
        (fs.root / "last").mkdir()
        assert next_change() == ("last", "created", "directory")


def test_a_reader_that_leaves_frees_its_watch(fs: Bound) -> None:
    reader = fs.reader(f"/v1/fs/watch?path={fs.root}")
    assert any("inotify" in path for path in _open_files(fs.daemon))
    reader.close()
    wait_until(lambda: not any("inotify" in path for path in _open_files(fs.daemon)))


# -- settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [("--max-upload", "much"), ("--fs-root", "/no/such/folder")])
def test_an_impossible_setting_is_refused_at_the_start(tmp_path: Path, flags: tuple[str, str]) -> None:
    daemon = Daemon(tmp_path / "data", "--no-token", *flags)
    daemon.launch()
    assert daemon.ended() != 0
    assert flags[0] in daemon.stderr()
