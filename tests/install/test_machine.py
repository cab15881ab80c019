"""Machines and the table of builds; why something does not run on one."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.install import machine
from sandbox_agent.install.diagnosis import why_it_does_not_run, why_not_here
from sandbox_agent.install.machine import Machine, this_machine
from sandbox_agent.install.publishers import RECIPES

MUSL = Machine("linux", "x64", "musl")


def test_the_table_knows_every_agent_that_has_a_program() -> None:
    assert RECIPES.keys() == {agent.name for agent in AGENTS.values() if agent.executables}
    for name, recipe in RECIPES.items():
        assert AGENTS[name].executables[0] == recipe.program
        assert AGENTS[name].tested_version is not None
        assert recipe.builds.keys() >= {"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"}


@pytest.mark.parametrize(
    "system, processor, key",
    [
        ("Linux", "x86_64", "linux-x64"),
        ("Linux", "aarch64", "linux-arm64"),
        ("Darwin", "arm64", "darwin-arm64"),
        ("Darwin", "x86_64", "darwin-x64"),
    ],
)
def test_machines_have_the_publishers_names(
    monkeypatch: pytest.MonkeyPatch, system: str, processor: str, key: str
) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: processor)
    monkeypatch.setattr("os.confstr", lambda name: "glibc 2.36")
    assert this_machine().key == key


def test_musl_is_recognized_by_its_loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> str:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr("os.confstr", unknown)
    (tmp_path / "ld-musl-x86_64.so.1").touch()
    assert machine._libc(tmp_path) == "musl"
    monkeypatch.setattr("os.confstr", lambda name: "glibc 2.36")
    assert machine._libc(tmp_path) == "glibc"


def test_the_reason_why_an_agent_is_missing_is_reported(environ: dict[str, str]) -> None:
    there = "there is no build for linux-x64-musl, only for linux-x64, linux-arm64, darwin-x64, darwin-arm64"
    node = "and the JavaScript version needs Node.js 22.19 or newer"
    expected = {
        "amp": f"{there}, {node}",
        "claude": None,
        "codex": None,
        "opencode": None,
        "pi": f"{there}, {node}",
    }
    assert {name: why_not_here(name, MUSL, environ) for name in expected} == expected


def elf(loader: str) -> bytes:
    """The beginning of a program for a dynamic loader."""
    name = loader.encode() + b"\0"
    head = (
        b"\x7fELF\x02\x01"
        + bytes(26)
        + struct.pack("<Q", 64)
        + bytes(14)
        + struct.pack("<HH", 56, 1)
        + bytes(6)
    )
    return head + struct.pack("<IIQQQQQQ", 3, 0, 120, 0, 0, len(name), 0, 0) + name


@pytest.mark.parametrize(
    "content, why",
    [
        (
            elf("/lib/ld-musl-none.so.1"),
            "it is built for musl, but /lib/ld-musl-none.so.1 does not exist",
        ),
        (elf("/lib64/ld-none.so.2"), "it is built for glibc, but /lib64/ld-none.so.2 does not exist"),
        (elf("/dev/null"), None),
        (b"#!/usr/bin/env node\n", "it needs node, which is not installed"),
        (b"#!/opt/none/python\n", "it needs /opt/none/python, which is not installed"),
        (b"#!/bin/sh\n", None),
        (b"MZ", None),
    ],
)
def test_the_reason_why_a_program_does_not_run_is_reported(
    tmp_path: Path, environ: dict[str, str], content: bytes, why: str | None
) -> None:
    (tmp_path / "program").write_bytes(content)
    assert why_it_does_not_run(tmp_path / "program", environ) == why


def test_a_node_that_is_too_old_is_reported(
    tmp_path: Path, environ: dict[str, str], bare_machine: Path
) -> None:
    (bare_machine / "node").write_text("#!/bin/sh\necho v20.0.0\n")
    (bare_machine / "node").chmod(0o755)
    (tmp_path / "program").write_bytes(b"#!/usr/bin/env node\n")
    assert why_it_does_not_run(tmp_path / "program", environ) == "it needs Node.js 22.19 or newer"
