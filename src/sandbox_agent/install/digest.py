"""Checksums in the formats of the publishers."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any, Self

from msgspec import Struct

from .problems import SourceFailed


class Digest(Struct, frozen=True):
    algorithm: str
    hex: str

    @classmethod
    def sha256(cls, text: str) -> Self:
        """From hex digits: alone, after `sha256:`, or at the start of a line of `sha256sum`."""
        found = re.match(r"(?:sha256:)?([0-9a-fA-F]{64})(?![0-9a-fA-F])", text.strip())
        if found is None:
            raise SourceFailed(f"{text[:80]!r} is not a sha256 checksum")
        return cls("sha256", found[1].lower())

    @classmethod
    def integrity(cls, text: str) -> Self:
        """From npm's `integrity`: the strongest one it lists."""
        listed = dict(entry.partition("-")[::2] for entry in text.split())
        for algorithm in ("sha512", "sha384", "sha256", "sha1"):
            if encoded := listed.get(algorithm):
                try:
                    return cls(algorithm, base64.b64decode(encoded.partition("?")[0], validate=True).hex())
                except binascii.Error:
                    break
        raise SourceFailed(f"{text[:80]!r} is not an integrity value")

    def hasher(self) -> Any:
        return hashlib.new(self.algorithm)

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.hex}"


def from_sums(text: str, name: str) -> Digest | None:
    """The checksum of a file in the output of `sha256sum`."""
    for line in text.splitlines():
        digest, _, file = line.strip().partition(" ")
        if file.strip().lstrip("*").removeprefix("./") == name:
            return Digest.sha256(digest)
    return None
