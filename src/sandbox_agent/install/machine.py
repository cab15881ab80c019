"""The platform of this machine, in the names that publishers use."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Literal

from msgspec import Struct

ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class Machine(Struct, frozen=True):
    os: str
    """`linux`, `darwin`, or another name reported by the system."""
    arch: str
    libc: Literal["glibc", "musl"] | None = None
    """Only on Linux."""

    @property
    def key(self) -> str:
        """The key in the table of builds."""
        return f"{self.os}-{self.arch}{'-musl' if self.libc == 'musl' else ''}"

    @property
    def napi(self) -> str:
        """The name in npm packages with native add-ons."""
        return f"{self.os}-{self.arch}" + {"glibc": "-gnu", "musl": "-musl", None: ""}[self.libc]


def this_machine() -> Machine:
    system = platform.system().lower()
    arch = ARCHITECTURES.get(platform.machine().lower(), platform.machine().lower())
    return Machine(system, arch, _libc() if system == "linux" else None)


def _libc(loaders: Path = Path("/lib")) -> Literal["glibc", "musl"]:
    """The C library of the machine. A Python with its own (static, or musl on a glibc machine) does not count."""
    try:
        if os.confstr("CS_GNU_LIBC_VERSION"):
            return "glibc"
    except (ValueError, OSError):
        pass
    has_glibc = any(loaders.glob("ld-linux-*")) or Path("/lib64/ld-linux-x86-64.so.2").exists()
    return "glibc" if has_glibc and not any(loaders.glob("ld-musl-*")) else "musl"
