"""Installs npm packages without npm: reads metadata from the registry, verifies and unpacks tarballs."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from .archive import unpack
from .digest import Digest
from .fetcher import Fetcher
from .machine import Machine
from .npm_settings import NpmSettings, package_address
from .problems import NotThere, SourceFailed
from .progress import Progress, Tell
from .publishers import Package, Tree

METADATA = {"Accept": "application/vnd.npm.install-v1+json, application/json"}


class Tarball(Struct, frozen=True):
    address: str
    digest: Digest | None
    headers: Mapping[str, str] = {}


class Dist(Struct):
    tarball: str
    integrity: str | None = None
    shasum: str | None = None


class PackageVersion(Struct):
    dist: Dist


class Metadata(Struct):
    versions: dict[str, PackageVersion] = {}
    tags: dict[str, str] = field(default_factory=dict, name="dist-tags")


class Registry:
    """The registries in the npm settings."""

    name = "npm"

    def __init__(self, settings: NpmSettings, stopped: threading.Event) -> None:
        self._settings = settings
        through_proxy = Fetcher(stopped, proxy=settings.proxy, cafile=settings.cafile)
        self._fetchers = {
            False: through_proxy,
            True: Fetcher(stopped, cafile=settings.cafile) if settings.proxy else through_proxy,
        }
        self._known: dict[str, Metadata] = {}

    def close(self) -> None:
        for fetcher in self._fetchers.values():
            fetcher.close()

    def newest(self, package: str) -> str:
        tags = self._metadata(package).tags
        if "latest" not in tags:
            raise NotThere(f"{package} has no newest version")
        return tags["latest"]

    def tarball(self, package: str, version: str) -> Tarball:
        metadata = self._metadata(package)
        if version not in metadata.versions:
            newest = metadata.tags.get("latest", "unknown")
            raise NotThere(f"{package} has no version {version}, the newest is {newest}")
        dist = metadata.versions[version].dist
        headers = self._settings.headers_for(dist.tarball)
        return Tarball(dist.tarball, _digest(dist), headers)

    def download(self, tarball: Tarball, to: Path, tell: Tell) -> None:
        fetcher = self._fetcher(tarball.address)
        fetcher.download(tarball.address, to, tarball.digest, tell, self.name, tarball.headers)

    def _metadata(self, package: str) -> Metadata:
        if package not in self._known:
            registry = self._settings.registry_of(package)
            if registry is None:
                raise SourceFailed(
                    "no npm settings: no npmrc and no npm_config_registry names a registry, and npm is not on PATH"
                )
            address = package_address(registry, package)
            headers = {**METADATA, **self._settings.headers_for(address)}
            self._known[package] = self._fetcher(address).json(address, Metadata, headers)
        return self._known[package]

    def _fetcher(self, address: str) -> Fetcher:
        return self._fetchers[self._settings.is_direct(address)]


class PackedFolder:
    """Tarballs with the names that `npm pack` gives them, in the directory `npm` of a mirror."""

    name = "mirror"

    def __init__(self, mirror: str, fetcher: Fetcher) -> None:
        self._base = f"{mirror}/npm"
        self._fetcher = fetcher

    def newest(self, package: str) -> str:
        raise NotThere("the packages of a mirror do not list a newest version")

    def tarball(self, package: str, version: str) -> Tarball:
        file = f"{package.removeprefix('@').replace('/', '-')}-{version}.tgz"
        address = f"{self._base}/{file}"
        try:
            return Tarball(address, Digest.sha256(self._fetcher.text(f"{address}.sha256")))
        except NotThere:
            return Tarball(address, None)

    def download(self, tarball: Tarball, to: Path, tell: Tell) -> None:
        self._fetcher.download(tarball.address, to, tarball.digest, tell, self.name)


Packages = Registry | PackedFolder


def names(machine: Machine, build: str | None, version: str) -> dict[str, str]:
    """The values of the placeholders in the table."""
    return {
        "version": version,
        "name": build or machine.key,
        "os": machine.os,
        "arch": machine.arch,
        "napi": machine.napi,
    }


def fetch_tree(
    packages: Packages, tree: Tree, words: Mapping[str, str], into: Path, tell: Tell
) -> str | None:
    """Unpack a tree's packages into a directory. Returns the checksum of the first, which is the agent itself."""
    tarballs = [(package, _tarball(packages, package, words)) for package in tree.packages]
    for package, tarball in tarballs:
        place = into / package.into.format(**words)
        place.mkdir(parents=True, exist_ok=True)
        file = into / ".package.tgz"
        packages.download(tarball, file, tell)
        tell(Progress("unpacking", packages.name, tarball.address.rpartition("/")[2]))
        # npm puts everything into one top-level directory.
        unpack(file, place, below=1, without=package.without)
        file.unlink()
    digest = tarballs[0][1].digest
    return str(digest) if digest else None


def _tarball(packages: Packages, package: Package, words: Mapping[str, str]) -> Tarball:
    return packages.tarball(package.name.format(**words), package.version.format(**words))


def _digest(dist: Dist) -> Digest | None:
    if dist.integrity:
        return Digest.integrity(dist.integrity)
    return Digest("sha1", dist.shasum.lower()) if dist.shasum else None
