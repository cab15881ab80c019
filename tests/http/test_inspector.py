"""The inspector's files as the daemon serves them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.daemons import Client, Daemon, client_of, refusal, running

from sandbox_agent.http.inspector import ENCODINGS, FOLDER, NOT_BUILT, Inspector

TOKEN = "to+ken %1 of the page"

built = pytest.mark.skipif(not FOLDER.exists(), reason="the page is not built: make setup")


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("locked") / "data", "--token", TOKEN)) as daemon:
        yield daemon


@pytest.fixture
def stranger(locked: Daemon) -> Iterator[Client]:
    """A client without the token."""
    with client_of(locked) as client:
        yield client


def test_the_page_needs_no_token_and_the_api_does(stranger: Client) -> None:
    page = stranger.get("/ui/")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert refusal(stranger.get("/v1/sessions"))[0] == 401


def test_the_page_may_run_only_what_is_in_its_own_files(stranger: Client) -> None:
    policy = dict(
        part.split(" ", 1) for part in stranger.get("/ui/").headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == "'self'"
    assert "script-src" not in policy
    assert "style-src" not in policy
    assert "'unsafe" not in str(policy)
    assert policy["frame-ancestors"] == "'none'"


def test_the_page_is_asked_for_again_and_sent_only_when_it_changed(stranger: Client) -> None:
    first = stranger.get("/ui/")
    assert first.headers["cache-control"] == "no-cache"
    again = stranger.request("GET", "/ui/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])


@built
def test_files_with_a_name_of_their_own_are_kept(stranger: Client) -> None:
    for asset in (path for path in (FOLDER / "assets").iterdir() if path.suffix not in ENCODINGS):
        answer = stranger.get(f"/ui/assets/{asset.name}")
        assert (answer.status_code, answer.content) == (200, asset.read_bytes())
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


@built
def test_a_browser_gets_the_smallest_files_that_it_can_read(locked: Daemon) -> None:
    [script] = (FOLDER / "assets").glob("index-*.js")
    url = f"http://127.0.0.1:{locked.port}/ui/assets/{script.name}"
    tags = set()
    for accepted, encoding, end in [
        ("gzip, deflate, br, zstd", "br", ".br"),
        ("br;q=0, GZIP;q=0.5", "gzip", ".gz"),
        ("identity", None, ""),
    ]:
        with httpx2.stream("GET", url, headers={"accept-encoding": accepted}, trust_env=False) as answer:
            assert b"".join(answer.iter_raw()) == script.with_name(script.name + end).read_bytes()
        assert (answer.headers.get("content-encoding"), answer.headers["vary"]) == (
            encoding,
            "Accept-Encoding",
        )
        tags.add(answer.headers["etag"])
        again = httpx2.get(
            url,
            headers={"accept-encoding": accepted, "if-none-match": answer.headers["etag"]},
            trust_env=False,
        )
        assert (again.status_code, again.headers["etag"]) == (304, answer.headers["etag"])
    assert len(tags) == 3, "a cache tells them apart"


def test_a_link_from_another_site_opens_the_page_and_nothing_else(stranger: Client) -> None:
    elsewhere = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert stranger.request("GET", "/ui/", headers=elsewhere).status_code == 200
    assert refusal(stranger.request("GET", "/v1/health", headers=elsewhere)) == (403, "permission_denied")


@pytest.mark.parametrize("path", ["/", "/ui"])
def test_the_bare_address_leads_to_the_page(stranger: Client, path: str) -> None:
    elsewhere = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    answer = stranger.request("GET", path, headers=elsewhere)
    assert (answer.status_code, answer.headers["location"]) == (307, "/ui/")
    assert refusal(stranger.post(path, {})) == (401, "token_invalid")


@pytest.mark.parametrize("path", ["/docs", "/openapi.json"])
def test_a_browser_without_a_token_is_asked_for_it(stranger: Client, path: str) -> None:
    asked = stranger.request("GET", path, headers={"accept": "text/html,application/xhtml+xml"})
    assert (asked.status_code, asked.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert 'name="token"' in asked.text
    assert refusal(stranger.get(path)) == (401, "token_invalid")
    for file in ("/docs/style.css", "/docs/sign-in.js"):
        assert stranger.get(file).status_code == 200


@pytest.mark.parametrize("path", ["/ui/nothing", "/ui/../v1/sessions", "/ui/assets", "/ui/%2e%2e/app.py"])
def test_a_path_that_is_not_a_file_of_the_page_is_404(stranger: Client, path: str) -> None:
    assert refusal(stranger.get(path))[1] in ("not_found", "token_invalid")


def test_only_reading_makes_sense(stranger: Client) -> None:
    assert refusal(stranger.post("/ui/", {})) == (405, "method_not_allowed")
    assert stranger.request("HEAD", "/ui/").status_code == 200


def test_a_page_that_may_call_us_can_read_that_the_host_is_wrong(tmp_path: Path) -> None:
    origin = "https://app.example"
    with running(Daemon(tmp_path / "data", "--no-token", "--cors-allow-origin", origin)) as daemon:
        url = f"http://127.0.0.1:{daemon.port}/v1/health"
        headers = {"host": "other.example", "origin": origin}
        answer = httpx2.get(url, headers=headers, trust_env=False)
        assert refusal(answer)[1] == "misdirected_host"
        assert answer.headers["access-control-allow-origin"] == origin


def test_the_daemon_tells_the_pages_address(locked: Daemon) -> None:
    assert f"inspector    http://127.0.0.1:{locked.port}/ui/\n" in locked.stderr()


def test_a_page_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    page = Inspector(tmp_path / "missing").find("/ui/")
    assert page is not None
    assert page.body == NOT_BUILT
    assert b"make setup" in page.body
