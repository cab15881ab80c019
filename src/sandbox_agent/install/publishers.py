"""Where agents are downloaded from: addresses, names of builds, npm packages.

Placeholders: `{version}`, `{name}` (the publisher's name of the build), `{os}`, `{arch}`, `{napi}` (of the machine).
A mirror has the same layout, with `<mirror>/<agent>` in place of the publisher's address.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Bucket(Struct, frozen=True):
    """A directory per version, and a text file that names the newest."""

    base: str
    newest: str
    file: str
    manifest: str | None = None
    """Contains a sha256 per build: `{"platforms": {name: {"checksum": ...}}}`."""


class Releases(Struct, frozen=True):
    """The releases of a GitHub repository."""

    repo: str
    tag: str
    assets: tuple[str, ...]
    """The first one that exists in a release is used."""
    sums: str
    """The asset with checksums, used if the API does not answer."""

    @property
    def base(self) -> str:
        return f"https://github.com/{self.repo}"

    @property
    def api(self) -> str:
        return f"https://api.github.com/repos/{self.repo}"


class Package(Struct, frozen=True):
    """One npm package, and where its files go in the tree."""

    name: str
    version: str
    into: str = ""
    without: str | None = None
    """Members whose path contains this are left out."""


class Tree(Struct, frozen=True):
    """npm packages that together make a program. The first one's version is the agent's."""

    packages: tuple[Package, ...]
    entry: str
    runs_on_node: bool = False


class Recipe(Struct, frozen=True):
    """How to install one agent."""

    program: str
    builds: Mapping[str, str]
    """The platforms that the publisher builds for, and the names of the builds."""
    downloads: Bucket | Releases | None
    """None if only npm has it."""
    npm: tuple[Tree, ...]
    """The first one that has the version is used."""


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


MAIN_MACHINES = ("linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64")
MUSL_MACHINES = ("linux-x64-musl", "linux-arm64-musl")

NODE_VERSION = "22.23.3"
NODE_OLDEST = (22, 19)
NODE = Tree((Package("node-{os}-{arch}", NODE_VERSION),), "bin/node")
"""For agents written in JavaScript. Built for glibc and macOS; other platforms use the machine's own."""

RECIPES: dict[str, Recipe] = {
    "amp": Recipe(
        program="amp",
        builds=_same(*MAIN_MACHINES),
        downloads=Bucket(
            "https://storage.googleapis.com/amp-public-assets-prod-0/cli",
            newest="cli-version.txt",
            file="{version}/amp-{name}",
        ),
        npm=(
            Tree((Package("@ampcode/cli-{name}", "{version}"),), "amp"),
            # Older versions are JavaScript.
            Tree(
                (
                    Package("@sourcegraph/amp", "{version}", "node_modules/@sourcegraph/amp"),
                    Package("@napi-rs/keyring", "1.1.10", "node_modules/@napi-rs/keyring"),
                    Package("@napi-rs/keyring-{napi}", "1.1.10", "node_modules/@napi-rs/keyring-{napi}"),
                ),
                "node_modules/@sourcegraph/amp/dist/main.js",
                runs_on_node=True,
            ),
        ),
    ),
    "claude": Recipe(
        program="claude",
        builds=_same(*MAIN_MACHINES, *MUSL_MACHINES),
        downloads=Bucket(
            "https://storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases",
            newest="latest",
            file="{version}/{name}/claude",
            manifest="{version}/manifest.json",
        ),
        npm=(Tree((Package("@anthropic-ai/claude-code-{name}", "{version}"),), "claude"),),
    ),
    "codex": Recipe(
        program="codex",
        # One static build works with both C libraries.
        builds={
            "linux-x64": "x86_64-unknown-linux-musl",
            "linux-x64-musl": "x86_64-unknown-linux-musl",
            "linux-arm64": "aarch64-unknown-linux-musl",
            "linux-arm64-musl": "aarch64-unknown-linux-musl",
            "darwin-x64": "x86_64-apple-darwin",
            "darwin-arm64": "aarch64-apple-darwin",
        },
        downloads=Releases(
            "openai/codex",
            tag="rust-v{version}",
            # The bare binary lacks the sandbox and the code mode host; it is used only for old releases.
            assets=("codex-package-{name}.tar.gz", "codex-{name}.tar.gz"),
            sums="codex-package_SHA256SUMS",
        ),
        npm=(
            Tree(
                (Package("@openai/codex", "{version}-{os}-{arch}", without="codex-resources/voice/"),),
                "vendor/{name}/bin/codex",
            ),
        ),
    ),
    "opencode": Recipe(
        program="opencode",
        builds=_same(*MAIN_MACHINES, *MUSL_MACHINES),
        downloads=Releases(
            "anomalyco/opencode",
            tag="v{version}",
            assets=("opencode-{name}.tar.gz", "opencode-{name}.zip"),
            sums="SHA256SUMS",
        ),
        npm=(Tree((Package("opencode-{name}", "{version}"),), "bin/opencode"),),
    ),
    "pi": Recipe(
        program="pi",
        builds=_same(*MAIN_MACHINES),
        downloads=Releases(
            "earendil-works/pi",
            tag="v{version}",
            assets=("pi-{name}", "pi-{name}.tar.gz"),
            sums="SHA256SUMS",
        ),
        npm=(
            Tree(
                (
                    Package("@earendil-works/pi-coding-agent", "{version}", "package"),
                    # Loaded by its bundle: TypeScript extensions, images, code mode.
                    Package("jiti", "2.7.0", "node_modules/jiti"),
                    Package("@silvia-odwyer/photon-node", "0.3.4", "node_modules/@silvia-odwyer/photon-node"),
                    Package("quickjs-wasi", "3.6.2", "node_modules/quickjs-wasi"),
                ),
                "package/dist/bundle/cli.js",
                runs_on_node=True,
            ),
        ),
    ),
}
