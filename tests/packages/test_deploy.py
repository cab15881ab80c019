"""The files for engines, clusters, service managers and the forge agree with the image and the Makefile."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from sandbox_agent.ops import OPERATIONS

ROOT = Path(__file__).parents[2]
VALIDATORS = ROOT / ".cache" / "validators" / "bin"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DOCKERFILE = (ROOT / "Dockerfile").read_text()
WORST_EXPOSURE = 5.0
"""Of 10, as systemd rates it: agents compile and debug, so not everything can be taken from them."""


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    found = {part["kind"]: part for part in yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text())}
    assert set(found) == {"Service", "StatefulSet"}
    return found


@pytest.fixture(scope="module")
def pod(manifest: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = manifest["StatefulSet"]["spec"]["template"]["spec"]
    return spec


def test_probes_ask_for_health_and_readiness(pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    paths = {
        name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")
    }
    assert paths == {
        "startup": OPERATIONS["system.health"].path,
        "liveness": OPERATIONS["system.health"].path,
        "readiness": OPERATIONS["system.ready"].path,
    }


def test_the_pod_is_the_user_of_the_image_on_a_read_only_root(pod: dict[str, Any]) -> None:
    users = set(re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)) - {"root"}
    who = pod["securityContext"]
    assert users == {f"{who['runAsUser']}:{who['runAsGroup']}"}
    assert who["runAsNonRoot"] is True
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_the_state_is_a_claim_and_the_token_a_secret(manifest: dict[str, Any], pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    claims = {claim["metadata"]["name"] for claim in manifest["StatefulSet"]["spec"]["volumeClaimTemplates"]}
    (volume,) = re.findall(r"^VOLUME (.+)$", DOCKERFILE, re.MULTILINE)
    assert mounts["state"] == volume
    assert "state" in claims
    (secret,) = [volume["secret"]["secretName"] for volume in pod["volumes"] if volume["name"] == "token"]
    assert secret == "sandbox-agent"
    assert container["args"] == ["server", "--token-file", f"{mounts['token']}/token"]


def test_compose_starts_nothing_without_a_token() -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["sandbox-agent"]
    assert service["environment"]["SANDBOX_AGENT_TOKEN"].startswith("${SANDBOX_AGENT_TOKEN:?")
    assert service["ports"] == ["127.0.0.1:2468:2468"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_unit_and_finds_it_well_confined(tmp_path: Path) -> None:
    unit = tmp_path / "sandbox-agent.service"
    text = (ROOT / "deploy/sandbox-agent.service").read_text()
    program = re.findall(r"^ExecStart=(\S+)", text, re.MULTILINE)[0]
    unit.write_text(text.replace(program, "/bin/sh"))
    checked = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (checked.returncode, [line for line in checked.stderr.splitlines() if unit.name in line]) == (
        0,
        [],
    )
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", unit], capture_output=True, text=True
    )
    found = re.search(r"exposure level for \S+ ([\d.]+)", rated.stdout)
    assert found is not None, rated.stderr
    assert float(found[1]) <= WORST_EXPOSURE


def test_workflows_run_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = {
        target
        for file in WORKFLOWS
        for job in yaml.safe_load(file.read_text())["jobs"].values()
        for step in job["steps"]
        for line in step.get("run", "").splitlines()
        if line.startswith("make ")
        for target in line.split()[1:]
    }
    assert called >= {"check", "test", "packages", "package-test", "image-test"}
    assert called <= targets


@pytest.mark.package
@pytest.mark.parametrize(
    "command",
    [
        ("kubernetes-validate", "--strict", "deploy/kubernetes.yaml"),
        ("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"),
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS)),
    ],
    ids=["kubernetes", "compose", "workflows"],
)
def test_the_published_schema_accepts_it(command: tuple[str, ...]) -> None:
    program, *words = command
    checked = subprocess.run([VALIDATORS / program, *words], cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
