"""Pages of other sites, and host names that resolve to this address: refused unless configured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.daemons import Client, Daemon, client_of, refusal, running

from sandbox_agent.http.gate import host_name

FRIEND = "https://app.example"
TOKEN = "a-token-for-friends"
SPECIAL = "https://special.example:8443"


@pytest.fixture(scope="module")
def open_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """Without a token: only the checks of Host and Origin stand between a web page and this machine."""
    with running(Daemon(tmp_path_factory.mktemp("open") / "data")) as daemon:
        yield daemon


@pytest.fixture
def anyone(open_daemon: Daemon) -> Iterator[Client]:
    with client_of(open_daemon) as client:
        yield client


@pytest.fixture(scope="module")
def cors_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    flags = ["--token", TOKEN, "--cors-allow-origin", FRIEND, "--cors-allow-origin", SPECIAL]
    with running(Daemon(tmp_path_factory.mktemp("cors") / "data", *flags)) as daemon:
        yield daemon


@pytest.fixture
def friend(cors_daemon: Daemon) -> Iterator[Client]:
    with client_of(cors_daemon, TOKEN) as client:
        yield client


# -- Host ---------------------------------------------------------------------------------------


def asked_as(client: Client, host: str, path: str = "/v1/sessions") -> httpx2.Response:
    return client.request("GET", path, headers={"host": host})


HOST_PIECES = [
    "localhost",
    "127.0.0.1",
    "[::1]",
    "::1",
    "evil.example",
    "@",
    ":",
    "[",
    "]",
    "/",
    "#",
    "?",
    "%",
    "\\",
    ".",
    "80",
]
HOSTS = st.lists(st.sampled_from(HOST_PIECES) | st.text(max_size=2), max_size=6).map("".join)


@given(HOSTS)
def test_an_accepted_host_is_a_name_of_this_machine_with_an_optional_port(host: str) -> None:
    if host_name(host) in {"localhost", "127.0.0.1", "::1"}:
        assert re.fullmatch(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]*)?", host, re.ASCII | re.IGNORECASE)
        assert urlsplit(f"http://{host}").hostname == host_name(host)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:{port}", "localhost", "localhost:{port}", "LOCALHOST:1", "[::1]:{port}"]
)
def test_names_of_this_machine_are_answered(anyone: Client, open_daemon: Daemon, host: str) -> None:
    assert asked_as(anyone, host.format(port=open_daemon.port)).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example#localhost",
        "localhost@evil.example",
        "127.0.0.1:2@evil.example",
        "127.0.0.1:x",
        "127.0.0.1:1:2",
        "localhost:80#evil.example",
        "[::1]evil.example",
        "[::1]:2@evil.example",
        "[::1",
        "[localhost]",
        "[127.0.0.1]",
        "::1",
        "0.0.0.0",
        "10.0.0.1",
        "2130706433",
        "[::2]",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/health", "/docs", "/nothing"])
def test_any_other_name_is_misdirected(anyone: Client, host: str, path: str) -> None:
    answer = asked_as(anyone, host, path)
    assert refusal(answer) == (421, "misdirected_host")
    assert "--allow-host" in answer.json()["detail"]


def test_the_host_is_checked_with_a_token_too(client: Client) -> None:
    assert refusal(asked_as(client, "evil.example")) == (421, "misdirected_host")


def test_a_host_can_be_allowed(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--no-token", "--allow-host", "Agent.Internal")
    with running(daemon), client_of(daemon) as client:
        assert asked_as(client, "agent.internal:8080").status_code == 200
        assert asked_as(client, "localhost").status_code == 200
        assert refusal(asked_as(client, "other.internal")) == (421, "misdirected_host")


def test_a_daemon_on_every_address_without_a_token_takes_addresses_and_no_names(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--insecure-no-token", "--host", "0.0.0.0")
    with running(daemon), client_of(daemon) as client:
        assert asked_as(client, "192.168.1.7:2468").status_code == 200
        assert refusal(asked_as(client, "evil.example")) == (421, "misdirected_host")


# -- Origin -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:{other}"},
        {"origin": "http://127.0.0.1"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:{port}.evil.example"},
        {"origin": "https://evil.example", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "cross-site", "origin": "https://evil.example"},
    ],
)
def test_a_page_of_another_site_is_refused(
    anyone: Client, open_daemon: Daemon, headers: dict[str, str]
) -> None:
    port = open_daemon.port
    given = {name: value.format(port=port, other=port + 1) for name, value in headers.items()}
    for method, path in (("GET", "/v1/sessions"), ("POST", "/v1/sessions/made"), ("GET", "/v1/health")):
        answer = anyone.request(method, path, headers=given)
        assert refusal(answer) == (403, "permission_denied")
        assert not any(name.startswith("access-control") for name in answer.headers)
    assert refusal(anyone.get("/v1/sessions/made")) == (404, "session_not_found")


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_a_form_of_another_site_creates_nothing(anyone: Client, content_type: str) -> None:
    """What a browser sends without a preflight, even if it hid where it comes from."""
    answer = anyone.request(
        "POST", "/v1/sessions/forged", content=b'{"agent":"mock"}', headers={"content-type": content_type}
    )
    assert refusal(answer) == (415, "unsupported_media_type")
    assert refusal(anyone.get("/v1/sessions/forged")) == (404, "session_not_found")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "same-origin"},
        {"origin": "http://127.0.0.1:{port}"},
        {"origin": "http://127.0.0.1:{port}", "sec-fetch-site": "same-origin"},
    ],
)
def test_our_own_page_and_programs_are_answered(
    anyone: Client, open_daemon: Daemon, headers: dict[str, str]
) -> None:
    given = {name: value.format(port=open_daemon.port) for name, value in headers.items()}
    assert anyone.request("GET", "/v1/sessions", headers=given).status_code == 200


# -- CORS ---------------------------------------------------------------------------------------


def preflight(client: Client, origin: str, path: str = "/v1/sessions/x") -> httpx2.Response:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    return client.request("OPTIONS", path, headers={"origin": origin, **asked})


def cors(answer: httpx2.Response) -> dict[str, str]:
    prefix = "access-control-"
    return {
        name.removeprefix(prefix): value for name, value in answer.headers.items() if name.startswith(prefix)
    }


def test_without_cors_no_preflight_succeeds(anyone: Client) -> None:
    assert refusal(preflight(anyone, "https://evil.example")) == (403, "permission_denied")


@pytest.mark.parametrize("origin", [FRIEND, SPECIAL])
def test_a_preflight_of_an_allowed_origin_is_answered_without_a_token(
    cors_daemon: Daemon, origin: str
) -> None:
    with client_of(cors_daemon) as browser:
        answer = preflight(browser, origin)
    assert (answer.status_code, answer.content) == (204, b"")
    assert cors(answer) == {
        "allow-origin": origin,
        "allow-methods": "GET, POST, PUT, PATCH, DELETE",
        "allow-headers": "acp-connection-id, acp-session-id, authorization, content-type, idempotency-key, if-match, "
        "if-none-match, if-range, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, range, "
        "x-opencode-directory, x-sandbox-token",
        "max-age": "600",
    }
    assert answer.headers["vary"] == "Origin"


def test_an_allowed_origin_can_read_answers_problems_and_streams(friend: Client) -> None:
    given = {"origin": FRIEND, "sec-fetch-site": "cross-site"}
    for path in ("/v1/sessions", "/v1/nothing", "/v1/health", "/openapi.json"):
        answer = friend.request("GET", path, headers=given)
        assert (cors(answer), answer.headers["vary"]) == ({"allow-origin": FRIEND}, "Origin"), path
    with friend.reader("/v1/events/sse", given) as reader:
        assert reader.response.headers["access-control-allow-origin"] == FRIEND


def test_an_allowed_origin_still_needs_the_token(cors_daemon: Daemon) -> None:
    """CORS is not authentication."""
    with client_of(cors_daemon) as browser:
        answer = browser.request("GET", "/v1/sessions", headers={"origin": FRIEND})
    assert refusal(answer) == (401, "token_invalid")
    assert cors(answer) == {"allow-origin": FRIEND}


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        f"{FRIEND}.evil.example",
        f"{FRIEND}:8443",
        "http://app.example",
        "https://special.example",
    ],
)
def test_any_other_origin_is_refused(friend: Client, origin: str) -> None:
    for answer in (
        preflight(friend, origin),
        friend.request("GET", "/v1/sessions", headers={"origin": origin}),
    ):
        assert refusal(answer) == (403, "permission_denied")
        assert cors(answer) == {}


def test_cors_says_what_the_flags_say(tmp_path: Path) -> None:
    flags = ["--cors-allow-origin", FRIEND, "--cors-allow-method", "GET", "--cors-allow-header", "x-own"]
    daemon = Daemon(tmp_path / "data", "--token", TOKEN, *flags, "--cors-allow-credentials")
    with running(daemon), client_of(daemon, TOKEN) as client:
        assert cors(preflight(client, FRIEND)) == {
            "allow-origin": FRIEND,
            "allow-credentials": "true",
            "allow-methods": "GET",
            "allow-headers": "x-own",
            "max-age": "600",
        }


@pytest.mark.parametrize(("credentials", "shown"), [(False, "*"), (True, "https://any.example")])
def test_a_star_allows_every_origin(tmp_path: Path, credentials: bool, shown: str) -> None:
    flags = ["--token", TOKEN, "--cors-allow-origin", "*"]
    daemon = Daemon(tmp_path / "data", *flags, *(["--cors-allow-credentials"] if credentials else []))
    with running(daemon), client_of(daemon, TOKEN) as client:
        answer = client.request("GET", "/v1/sessions", headers={"origin": "https://any.example"})
    assert answer.status_code == 200
    assert cors(answer)["allow-origin"] == shown
