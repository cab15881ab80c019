"""An agent more touches what AGENTS.md says, and nothing else: a toy is added to a copy of the project, and the checks pass there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

ADAPTER = '''"""The toy: the mock's process, with every line in an envelope of its own."""

from __future__ import annotations

import msgspec

from ...schema.inputs import Settings
from ...schema.world import World
from ..base import Agent, Launch, Place, Wire
from ..credentials import KeyVariable, Sources
from ..frames import InFrame
from ..mock import Mock, MockWire


class ToyWire(MockWire):
    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        super().feed(bytes(msgspec.json.decode(frame, type=dict[str, msgspec.Raw])["toy"]))


class Toy(Agent):
    name = "toy"
    title = "Wooden Toy"
    capabilities = Mock.capabilities
    tested_version = "1.0.0"
    executables = ("toy",)
    env_families = ("TOY_",)
    credentials = Sources((KeyVariable("TOY_API_KEY"),))
    reads_from_workspace = "`.toy/settings.json`"
    reports_tokens = "after each model call"
    reports_cost = "never: use `maxTokens`"
    mcp_timeout = "yes"
    mcp_reports = "nothing"
    finds_skills = "`--skills`"
    commands_from = "none"
    carries = "nothing"
    gaps = {"subagent": "it plays alone"}

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        return Launch([str(place.executable), "--conversation", str(native_id)])

    def wire(self, world: World) -> Wire:
        return ToyWire(world)
'''

SCRIPTED = '''"""The toy on the scripted model."""

from __future__ import annotations

from pathlib import Path

from ..scripted import KEY, Offline, Scripted


def offline(model: str, home: Path) -> Offline:
    return Offline({"TOY_URL": model, "TOY_API_KEY": KEY, "TOY_HOME": str(home / ".toy")})


SCRIPTED = Scripted(offline)
'''

RECIPE = """    "toy": Recipe(
        program="toy",
        builds=_same(*MAIN_MACHINES),
        downloads=None,
        npm=(Tree((Package("toy-{name}", "{version}"),), "toy"),),
    ),
"""

RECORDING = """\
{"dir":"cmd","t":0.0,"msg":["toy","--conversation","talk"]}
{"dir":"out","t":0.1,"msg":{"toy":{"type":"ready","conversation":"talk"}}}
{"dir":"in","t":0.2,"msg":{"type":"prompt","text":"hello"}}
{"dir":"out","t":0.3,"msg":{"toy":{"type":"text","id":"text-1","delta":"You said "}}}
{"dir":"out","t":0.4,"msg":{"toy":{"type":"text","id":"text-1","delta":"hello"}}}
{"dir":"out","t":0.5,"msg":{"toy":{"type":"text_end","id":"text-1","text":"You said hello"}}}
{"dir":"out","t":0.6,"msg":{"toy":{"type":"turn_end","stop_reason":"end_turn"}}}
"""

FOLDER = "src/sandbox_agent/agents/toy"
REGISTRY = "src/sandbox_agent/agents/__init__.py"
PUBLISHERS = "src/sandbox_agent/install/publishers.py"
CASE = "tests/transcripts/toy/hello"

CHECKS = (
    ("ruff", "format", "--check", FOLDER, REGISTRY, PUBLISHERS),
    ("ruff", "check", FOLDER, REGISTRY, PUBLISHERS),
    ("mypy", "--cache-dir", os.devnull, "--follow-imports", "silent", FOLDER),
    ("lint-imports", "--no-cache"),
    ("python", "-m", "tools.gen", "--check"),
)
"""As `make check` does, but for files that the toy does not touch: the types of all take a minute."""

TESTS = (
    "tests/test_docs.py",
    "tests/test_surfaces.py",
    "tests/test_transcripts.py::test_every_agent_has_a_recording",
    "tests/install/test_machine.py",
    "tests/runtime/test_credentials.py",
    "tests/testing/test_offline.py",
    "tests/testing/test_agent_cache.py",
    "tests/live/test_features.py",
)
"""What looks at every agent and needs no daemon."""


class Copy:
    """A copy of the project, and what it takes to run its tools there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode()
        for name in names.split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def add_toy(self) -> None:
        """As AGENTS.md says, but for the recording."""
        self.write(f"{FOLDER}/__init__.py", ADAPTER)
        self.write(f"{FOLDER}/scripted.py", SCRIPTED)
        self.replace(REGISTRY, "from .pi import Pi\n", "from .pi import Pi\nfrom .toy import Toy\n")
        self.replace(REGISTRY, "Pi())", "Pi(), Toy())")
        self.replace(PUBLISHERS, '    "pi": Recipe(\n', f'{RECIPE}    "pi": Recipe(\n')

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert text.count(old) == 1
        self.write(name, text.replace(old, new))

    def run(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A program of our own environment, with the copy's code."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        # The other plugins of pytest take longer to load than all else here.
        own = {"PYTHONPATH": str(self.folder / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(
            [Path(sys.executable).with_name(program), *words],
            cwd=self.folder,
            env={**kept, **own},
            capture_output=True,
            text=True,
            timeout=100,
        )

    def failures(self, *words: str) -> set[str]:
        """The names of the tests that fail."""
        quick = ("-q", "-p", "no:cacheprovider", "-p", "timeout", "-m", "not live and not slow")
        run = self.run("pytest", *quick, *words)
        assert run.returncode in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), run.stdout + run.stderr
        return set(re.findall(r"^(?:FAILED|ERROR) .*::(\w+)", run.stdout, re.MULTILINE))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    copy = Copy(tmp_path_factory.mktemp("project"))
    copy.add_toy()
    written = copy.run("python", "-m", "tools.gen")
    assert written.returncode == 0, written.stderr
    return copy


@pytest.mark.slow
def test_a_toy_passes_the_checks(copy: Copy) -> None:
    failed = [run.stdout + run.stderr for check in CHECKS if (run := copy.run(*check)).returncode]
    assert failed == []


@pytest.mark.slow
def test_a_toy_lacks_nothing_but_its_recording(copy: Copy) -> None:
    assert copy.failures(*TESTS) == {"test_every_agent_has_a_recording"}
    copy.write(f"{CASE}/native.jsonl", RECORDING)
    copy.failures("tests/test_transcripts.py", "-k", "toy", "--accept")
    assert copy.failures("tests/test_transcripts.py", "-k", "toy or recording") == set()


def test_the_guide_names_all_that_a_toy_touches() -> None:
    guide = (ROOT / "AGENTS.md").read_text()
    [row] = [line for line in guide.splitlines() if line.startswith("| add an agent |")]
    touched = [FOLDER, REGISTRY, PUBLISHERS, str(Path(CASE).parent)]
    names = [f"{name.removeprefix('src/sandbox_agent/').replace('toy', '<name>/')}" for name in touched]
    assert [name for name in names if f"`{name}`" not in row] == []
