"""Publishers' downloads: the right file is installed completely, and a wrong one is refused with a reason."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import httpx2
import msgspec
import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.errors import InstallFailed, InvalidRequest
from sandbox_agent.install import fetcher
from sandbox_agent.install.machine import Machine
from sandbox_agent.install.problems import SourceFailed
from sandbox_agent.install.progress import Progress
from sandbox_agent.install.publishers import RECIPES, Bucket, Releases
from sandbox_agent.schema.answers import Installed

from .conftest import MakeInstaller
from .site import (
    File,
    Site,
    program,
    publish_claude,
    publish_release,
    sha256,
    tarball,
    zipped,
)

CLAUDE, CODEX = AGENTS["claude"], AGENTS["codex"]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder; of links, where they lead."""
    return {
        str(path.relative_to(folder)): os.fsencode(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


# -- the right one ----------------------------------------------------------------------------


def test_a_lone_binary_is_verified_and_put_in_place(
    site: Site, installer: MakeInstaller, folder: Path
) -> None:
    body = program("2.1.325")
    publish_claude(site, "2.1.325", body)
    installed = installer(site.address).install(CLAUDE)
    assert installed == Installed(False, "2.1.325", str(folder / "bin" / "claude"), "mirror")
    receipt = {
        "agent": "claude",
        "version": "2.1.325",
        "program": "claude",
        "source": "mirror",
        "size": len(body),
        "checksum": f"sha256:{sha256(body)}",
    }
    assert tree(folder) == {
        "agents/claude.lock": b"",
        "agents/claude/2.1.325/claude": body,
        "agents/claude/2.1.325/receipt.json": msgspec.json.encode(receipt),
        "bin/claude": b"../agents/claude/2.1.325/claude",
    }
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_tree_is_kept_together(site: Site, installer: MakeInstaller, folder: Path) -> None:
    name = "codex-package-x86_64-unknown-linux-musl.tar.gz"
    files = {"bin/codex": program("0.166.0"), "codex-resources/bwrap": b"the sandbox"}
    publish_release(site, "codex", "rust-v0.166.0", name, tarball(files))
    installed = installer(site.address).install(CODEX)
    assert (installed.version, installed.source) == ("0.166.0", "mirror")
    placed = tree(folder / "agents" / "codex" / "0.166.0")
    placed.pop("receipt.json")
    assert placed == files


@pytest.mark.parametrize(
    "agent, tag, name, body",
    [
        ("opencode", "v1.18.33", "opencode-linux-x64.tar.gz", tarball({"opencode": program("1.18.33")})),
        ("opencode", "v1.18.33", "opencode-linux-x64.zip", zipped({"opencode": program("1.18.33")})),
        ("pi", "v1.5.0", "pi-linux-x64", program("1.5.0")),
        ("pi", "v1.5.0", "pi-linux-x64.tar.gz", tarball({"pi/pi": program("1.5.0"), "pi/docs/pi": b""})),
        (
            "codex",
            "rust-v0.166.0",
            "codex-x86_64-unknown-linux-musl.tar.gz",
            tarball({"codex-x86_64-unknown-linux-musl": program("0.166.0")}),
        ),
    ],
)
def test_every_kind_of_asset_is_understood(
    site: Site, installer: MakeInstaller, agent: str, tag: str, name: str, body: bytes
) -> None:
    publish_release(site, agent, tag, name, body)
    assert installer(site.address).install(AGENTS[agent]).version == AGENTS[agent].tested_version


def test_a_release_is_found_without_the_api_that_tells_its_checksums(
    site: Site, installer: MakeInstaller
) -> None:
    body = tarball({"pi/pi": program("1.5.0")})
    site.put("/pi/releases/tags/v1.5.0", "too many questions", status=429)
    site.put("/pi/releases/download/v1.5.0/SHA256SUMS", f"{sha256(body)}  pi-linux-x64.tar.gz\n")
    site.put("/pi/releases/download/v1.5.0/pi-linux-x64.tar.gz", body)
    assert installer(site.address).install(AGENTS["pi"]).version == "1.5.0"
    site.put("/pi/releases/download/v1.5.0/SHA256SUMS", f"{sha256(b'')}  pi-linux-x64.tar.gz\n")
    with pytest.raises(InstallFailed, match="wrong checksum"):
        installer(site.address).install(AGENTS["pi"], reinstall=True)


def test_a_checksum_beside_the_file_counts_where_no_list_names_one(
    site: Site, installer: MakeInstaller
) -> None:
    version = str(AGENTS["amp"].tested_version)
    body = program(version)
    site.put(f"/amp/{version}/amp-linux-x64", body)
    assert installer(site.address).install(AGENTS["amp"]).version == version
    site.put(f"/amp/{version}/amp-linux-x64.sha256", sha256(b"something else"))
    with pytest.raises(InstallFailed, match="wrong checksum"):
        installer(site.address).install(AGENTS["amp"], reinstall=True)


def test_redirects_are_followed(site: Site, installer: MakeInstaller) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    site.put("/elsewhere", file.body)
    site.put("/claude/2.1.325/linux-x64/claude", b"", status=302, headers={"Location": "/elsewhere"})
    assert installer(site.address).install(CLAUDE).version == "2.1.325"


def test_musl_is_recognized(site: Site, installer: MakeInstaller) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"), "linux-x64-musl")
    musl = Machine("linux", "x64", "musl")
    assert installer(site.address, musl).install(CLAUDE).version == "2.1.325"
    assert site.asked[-1] == "/claude/2.1.325/linux-x64-musl/claude"


def test_a_folder_is_a_mirror_too(tmp_path: Path, installer: MakeInstaller) -> None:
    body = program("2.1.325")
    place = tmp_path / "mirror" / "claude" / "2.1.325"
    (place / "linux-x64").mkdir(parents=True)
    (place / "linux-x64" / "claude").write_bytes(body)
    manifest = {"platforms": {"linux-x64": {"checksum": sha256(body)}}}
    (place / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    for mirror in (str(tmp_path / "mirror"), f"file://{tmp_path / 'mirror'}"):
        assert installer(mirror).install(CLAUDE, reinstall=True).version == "2.1.325"


def test_the_publishers_are_asked_when_there_is_no_mirror(
    site: Site, installer: MakeInstaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"))
    monkeypatch.setitem(RECIPES, "claude", _moved("claude", site))
    assert installer().install(CLAUDE).source == "publisher"


def _moved(agent: str, site: Site) -> object:
    downloads = RECIPES[agent].downloads
    assert isinstance(downloads, Bucket)
    moved = msgspec.structs.replace(downloads, base=f"{site.address}/{agent}")
    return msgspec.structs.replace(RECIPES[agent], downloads=moved)


def test_github_is_asked_at_its_own_addresses() -> None:
    downloads = RECIPES["codex"].downloads
    assert isinstance(downloads, Releases)
    assert (downloads.base, downloads.api) == (
        "https://github.com/openai/codex",
        "https://api.github.com/repos/openai/codex",
    )


# -- the wrong one ----------------------------------------------------------------------------


def refused(site: Site, installer: MakeInstaller, version: str | None = None) -> str:
    """The error reported about the mirror."""
    with pytest.raises(InstallFailed) as failed:
        installer(site.address).install(CLAUDE, version)
    facts = failed.value.facts
    assert (facts["agent"], facts["version"]) == ("claude", version or "2.1.325")
    downloads, packages = facts["sources"]
    assert (downloads["source"], packages["source"]) == ("mirror", "mirror")
    assert downloads["reason"] in failed.value.detail
    reason: str = downloads["reason"]
    return reason.replace(site.address, "")


def nothing_of(folder: Path) -> bool:
    """Nothing is half installed: there is only the lock."""
    return tree(folder).keys() == {"agents/claude.lock"}


def test_a_wrong_checksum_is_refused(site: Site, installer: MakeInstaller, folder: Path) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    published, file.body = sha256(file.body), program("2.1.325") + b"# and something more\n"
    assert refused(site, installer) == (
        f"/claude/2.1.325/linux-x64/claude has the wrong checksum: sha256:{sha256(file.body)}, "
        f"expected sha256:{published}"
    )
    assert nothing_of(folder)
    assert site.downloads("/claude") == 1


def test_a_download_that_breaks_off_is_tried_again(
    site: Site, installer: MakeInstaller, folder: Path
) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    file.sent = 20
    assert refused(site, installer).startswith("/claude/2.1.325/linux-x64/claude was cut off")
    assert site.downloads("/claude") == fetcher.TRIES
    assert nothing_of(folder)


def test_a_download_whose_connection_is_reset_is_tried_again(site: Site, installer: MakeInstaller) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    file.sent, file.resets = 20, True
    assert refused(site, installer).startswith("/claude/2.1.325/linux-x64/claude was cut off")
    assert site.downloads("/claude") == fetcher.TRIES


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "ftp://127.0.0.1:1"])
def test_a_proxy_that_cannot_be_used_is_reported(
    site: Site, installer: MakeInstaller, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    publish_claude(site, "2.1.325", program("2.1.325"))
    assert "the proxy settings cannot be used" in refused(site, installer)


def test_the_credentials_of_a_mirror_are_used_and_not_shown(site: Site, installer: MakeInstaller) -> None:
    told: list[Progress] = []
    mirror = site.address.replace("://", "://me:planted@")
    with pytest.raises(InstallFailed) as failed:
        installer(mirror).install(CLAUDE, tell=told.append)
    assert site.seen["/claude/2.1.325/manifest.json"]["authorization"].startswith("Basic ")
    assert f"{site.address}/claude/2.1.325/manifest.json answered 404" in failed.value.detail
    assert "planted" not in f"{failed.value.problem()} {told}"


def test_no_step_of_a_redirect_is_unencrypted() -> None:
    passed = [
        httpx2.Response(302, request=httpx2.Request("GET", f"{scheme}://a")) for scheme in ("https", "http")
    ]
    answer = httpx2.Response(200, request=httpx2.Request("GET", "https://b"), history=passed)
    with pytest.raises(SourceFailed, match="redirects to http://a, which is not encrypted"):
        fetcher._check("https://a", answer)


def test_a_download_that_stalls_is_given_up(
    site: Site, installer: MakeInstaller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(fetcher, "TRIES", 1)
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    file.sent, file.gate = 20, threading.Event()
    assert refused(site, installer) == (
        "/claude/2.1.325/linux-x64/claude did not answer in time (ReadTimeout)"
    )
    file.gate.set()
    assert nothing_of(folder)


def test_a_slow_download_is_not_given_up(
    site: Site, installer: MakeInstaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    file.sent, file.gate = 20, threading.Event()
    steps: list[Progress] = []

    def tell(progress: Progress) -> None:
        steps.append(progress)
        # The rest is sent only once a part of it has arrived.
        if site.standing.is_set() and file.gate:
            file.gate.set()

    threading.Timer(0.3, file.gate.set).start()
    assert installer(site.address).install(CLAUDE, tell=tell).version == "2.1.325"
    size = len(file.body)
    assert (steps[0], steps[-1]) == (Progress("asking", "mirror"), Progress("checking", "mirror"))
    assert Progress("downloading", "mirror", "claude", size, size) in steps


def test_a_missing_version_is_reported_with_the_newest(site: Site, installer: MakeInstaller) -> None:
    publish_claude(site, "2.2.0", program("2.2.0"))
    assert refused(site, installer) == (
        "there is no version 2.1.325, the newest is 2.2.0 (/claude/2.1.325/manifest.json answered 404)"
    )
    assert refused(site, installer, "9.9.9").startswith("there is no version 9.9.9, the newest is 2.2.0")


def test_a_missing_build_is_reported_with_the_existing_ones(site: Site, installer: MakeInstaller) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"), "darwin-arm64")
    assert refused(site, installer) == "version 2.1.325 has no build linux-x64; it has darwin-arm64"


@pytest.mark.parametrize("machine", [Machine("linux", "x64", "musl"), Machine("freebsd", "x64")])
def test_an_unsupported_machine_is_reported_with_the_existing_builds(
    installer: MakeInstaller, tmp_path: Path, machine: Machine
) -> None:
    with pytest.raises(InstallFailed) as failed:
        installer(str(tmp_path), machine).install(AGENTS["amp"])
    assert failed.value.facts["sources"][0] == {
        "source": "mirror",
        "reason": f"there is no build for {machine.key}, only for linux-x64, linux-arm64, darwin-x64, darwin-arm64",
    }


def test_a_release_without_the_asset_is_reported_with_its_assets(
    site: Site, installer: MakeInstaller
) -> None:
    publish_release(site, "opencode", "v1.18.33", "opencode-windows-x64.zip", b"")
    with pytest.raises(InstallFailed) as failed:
        installer(site.address).install(AGENTS["opencode"])
    assert failed.value.facts["sources"][0]["reason"] == (
        "release v1.18.33 has no opencode-linux-x64.tar.gz or opencode-linux-x64.zip; it has opencode-windows-x64.zip"
    )


@pytest.mark.parametrize(
    "body, message",
    [
        (program("2.1.324"), "the download of 2.1.325 reports version 2.1.324; this machine is linux-x64"),
        (
            b"#!/bin/sh\nexit 127\n",
            "the download of 2.1.325 does not report its version; this machine is linux-x64",
        ),
        (
            b"\x7fELF nonsense",
            "the download of 2.1.325 does not report its version; this machine is linux-x64",
        ),
    ],
)
def test_a_program_must_tell_its_version_before_it_counts(
    site: Site, installer: MakeInstaller, folder: Path, body: bytes, message: str
) -> None:
    publish_claude(site, "2.1.325", body)
    assert refused(site, installer) == message
    assert nothing_of(folder)


@pytest.mark.parametrize("version", ["../../etc", "a/b", "..", "", "-rf", "1.0.0\n", "x" * 100])
def test_a_path_is_not_a_version(installer: MakeInstaller, version: str) -> None:
    with pytest.raises(InvalidRequest):
        installer("/nowhere").install(CLAUDE, version)


def test_a_newest_version_that_is_a_path_is_refused_too(
    site: Site, installer: MakeInstaller, folder: Path
) -> None:
    site.files["/claude/latest"] = File(b"../../../somewhere\n")
    with pytest.raises(InstallFailed) as failed:
        installer(site.address).install(CLAUDE, "latest")
    assert "the newest version is '../../../somewhere', which is not a valid version" in failed.value.detail
    assert nothing_of(folder)
