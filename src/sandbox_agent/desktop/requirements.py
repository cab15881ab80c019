"""The programs that the desktop needs, and how to install them with the package manager of this machine."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import NamedTuple


class Requirement(NamedTuple):
    name: str
    """The name shown to people."""
    programs: tuple[str, ...]
    """Any of these will do."""
    packages: Mapping[str, str]
    """By package manager."""


REQUIREMENTS = (
    Requirement("Xvfb", ("Xvfb",), {"apt": "xvfb", "dnf": "xorg-x11-server-Xvfb", "apk": "xvfb"}),
    Requirement("openbox", ("openbox",), {"apt": "openbox", "dnf": "openbox", "apk": "openbox"}),
    Requirement("ffmpeg", ("ffmpeg",), {"apt": "ffmpeg", "dnf": "ffmpeg-free", "apk": "ffmpeg"}),
    Requirement(
        "x0vncserver",
        # On Debian, `x0vncserver` is a script around the program, which leaves it in the background.
        ("X0tigervnc", "x0vncserver"),
        {"apt": "tigervnc-scraping-server", "dnf": "tigervnc-server", "apk": "tigervnc"},
    ),
    Requirement("xdg-open", ("xdg-open",), {"apt": "xdg-utils", "dnf": "xdg-utils", "apk": "xdg-utils"}),
)
EXTRA_PACKAGES = {
    "apt": ("xkb-data", "fonts-dejavu-core", "xterm"),
    "dnf": ("xkeyboard-config", "dejavu-sans-fonts", "xterm"),
    "apk": ("xkeyboard-config", "font-dejavu", "xterm"),
}
"""Not checked for: the keyboard's layout, a font for openbox, and a terminal as a first program to launch."""
INSTALL: dict[str, tuple[str, ...]] = {
    "apt": ("apt-get", "install", "-y", "--no-install-recommends"),
    "dnf": ("dnf", "install", "-y"),
    "apk": ("apk", "add"),
}
UPDATE: dict[str, tuple[str, ...]] = {"apt": ("apt-get", "update")}
"""Run before an install, because containers often have no package lists."""


def program(requirement: str) -> str | None:
    """The path of a program that meets a requirement."""
    (found,) = (each for each in REQUIREMENTS if each.name == requirement)
    return next((path for name in found.programs if (path := shutil.which(name)) is not None), None)


def missing() -> tuple[str, ...]:
    return tuple(each.name for each in REQUIREMENTS if program(each.name) is None)


def package_manager() -> str | None:
    return next((name for name, command in INSTALL.items() if shutil.which(command[0])), None)


def install_commands(manager: str) -> list[tuple[str, ...]]:
    """What to run, one after the other, to install everything that is missing."""
    absent = missing()
    packages = [each.packages[manager] for each in REQUIREMENTS if each.name in absent]
    if not packages:
        return []
    update = [UPDATE[manager]] if manager in UPDATE else []
    return [*update, (*INSTALL[manager], *packages, *EXTRA_PACKAGES[manager])]


INSTALL_COMMAND = "sandbox-agent install desktop --yes"
