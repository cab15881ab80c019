"""The publishers' downloads, or a mirror with the same layout."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from .archive import is_archive, unpack
from .digest import Digest, from_sums
from .fetcher import Fetcher
from .machine import Machine
from .problems import NotThere, SourceFailed
from .progress import Progress, Tell
from .publishers import Bucket, Recipe, Releases


class Download(Struct, frozen=True):
    """A file to download."""

    address: str
    digest: Digest | None

    @property
    def file(self) -> str:
        return self.address.rpartition("/")[2]


class Fetched(Struct, frozen=True):
    """A complete tree."""

    entry: Path
    """The program's path in the tree."""
    checksum: str | None


class Manifest(Struct):
    platforms: dict[str, ManifestEntry]


class ManifestEntry(Struct):
    checksum: str


class Release(Struct):
    tag_name: str
    assets: list[Asset] = []


class Asset(Struct):
    name: str
    digest: str | None = None


class Downloads:
    """The downloads of one agent. `mirror` is an address with a directory per agent."""

    def __init__(
        self, agent: str, recipe: Recipe, machine: Machine, fetcher: Fetcher, mirror: str | None
    ) -> None:
        assert recipe.downloads is not None
        self.name = "mirror" if mirror else "publisher"
        self._recipe = recipe
        self._where = recipe.downloads
        self._machine = machine
        self._fetcher = fetcher
        self._base = f"{mirror}/{agent}" if mirror else self._where.base
        self._api = self._where.api if isinstance(self._where, Releases) and not mirror else self._base

    def newest(self) -> str:
        """The version that the publisher lists as the newest."""
        match self._where:
            case Bucket(newest=file):
                return self._fetcher.text(f"{self._base}/{file}").strip()
            case Releases(tag=tag):
                found = self._fetcher.json(f"{self._api}/releases/latest", Release).tag_name
                return found.removeprefix(tag.partition("{")[0])

    def fetch(self, version: str, into: Path, tell: Tell) -> Fetched:
        """Download a version into an empty directory."""
        build = self._build()
        candidates = self._candidates(version, build)
        for position, candidate in enumerate(candidates, 1):
            file = into / candidate.file
            try:
                self._fetcher.download(candidate.address, file, candidate.digest, tell, self.name)
                break
            except NotThere as missing:
                if position == len(candidates):
                    raise NotThere(self._without(version, missing)) from None
        if is_archive(file.name):
            tell(Progress("unpacking", self.name, file.name))
            unpack(file, into)
            file.unlink()
        else:
            file.rename(into / self._recipe.program)
        return Fetched(self._entry(into, build), str(candidate.digest) if candidate.digest else None)

    def _build(self) -> str:
        """The publisher's name of the build for this machine."""
        builds = self._recipe.builds
        if self._machine.key not in builds:
            raise NotThere(f"there is no build for {self._machine.key}, only for {', '.join(builds)}")
        return builds[self._machine.key]

    def _entry(self, tree: Path, build: str) -> Path:
        """The program in an unpacked tree. Its depth differs between archives."""
        names = (self._recipe.program, f"{self._recipe.program}-{build}")
        files = (path for path in tree.rglob("*") if path.name in names and path.is_file())
        program = min(files, key=lambda path: (len(path.parts), str(path)), default=None)
        if program is None:
            raise SourceFailed(f"the download does not contain {self._recipe.program}")
        program.chmod(0o755)
        return program.relative_to(tree)

    def _without(self, version: str, missing: NotThere) -> str:
        """The message for a version that does not exist."""
        try:
            return f"there is no version {version}, the newest is {self.newest()} ({missing})"
        except SourceFailed:
            return f"there is no version {version} ({missing})"

    # -- the file and its checksum --

    def _candidates(self, version: str, build: str) -> list[Download]:
        try:
            match self._where:
                case Bucket() as bucket:
                    return [self._in_bucket(bucket, version, build)]
                case Releases() as releases:
                    return self._in_releases(releases, version, build)
        except NotThere as missing:
            raise NotThere(self._without(version, missing)) from None

    def _in_bucket(self, bucket: Bucket, version: str, build: str) -> Download:
        address = f"{self._base}/{bucket.file.format(version=version, name=build)}"
        if bucket.manifest is None:
            return Download(address, self._beside(address))
        manifest = self._fetcher.json(f"{self._base}/{bucket.manifest.format(version=version)}", Manifest)
        if build not in manifest.platforms:
            there = ", ".join(manifest.platforms)
            raise SourceFailed(f"version {version} has no build {build}; it has {there}")
        return Download(address, Digest.sha256(manifest.platforms[build].checksum))

    def _in_releases(self, releases: Releases, version: str, build: str) -> list[Download]:
        tag = releases.tag.format(version=version)
        folder = f"{self._base}/releases/download/{tag}"
        names = [asset.format(name=build) for asset in releases.assets]
        try:
            release = self._fetcher.json(f"{self._api}/releases/tags/{tag}", Release)
        except SourceFailed:
            # The API has a low rate limit; the files can be downloaded without it.
            return self._by_name(folder, names, releases.sums)
        assets = {asset.name: asset for asset in release.assets}
        name = next((name for name in names if name in assets), None)
        if name is None:
            raise SourceFailed(f"release {tag} has no {' or '.join(names)}; it has {', '.join(assets)}")
        digest = assets[name].digest
        address = f"{folder}/{name}"
        return [Download(address, Digest.sha256(digest) if digest else self._beside(address))]

    def _by_name(self, folder: str, names: list[str], sums: str) -> list[Download]:
        listed = self._text_or_nothing(f"{folder}/{sums}")
        addresses = {name: f"{folder}/{name}" for name in names}
        return [
            Download(address, from_sums(listed, name) or self._beside(address))
            for name, address in addresses.items()
        ]

    def _beside(self, address: str) -> Digest | None:
        """The checksum in the file's `.sha256`, if there is one."""
        text = self._text_or_nothing(f"{address}.sha256")
        return Digest.sha256(text) if text else None

    def _text_or_nothing(self, address: str) -> str:
        try:
            return self._fetcher.text(address)
        except NotThere:
            return ""
