"""What `pip` builds this package with: hatchling, but an old Python is refused first.

`pip` compares `requires-python` only after it has downloaded the requirements, and fails earlier if one of them has no
version for that Python. Old Pythons must be able to read this file.
"""

import os
import re
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))

with open(os.path.join(HERE, os.pardir, "pyproject.toml"), encoding="utf-8") as project:
    OLDEST = re.findall(r'requires-python = ">=([\d.]+)"', project.read())[0]

if sys.version_info < tuple(int(number) for number in OLDEST.split(".")):
    this = ".".join(str(number) for number in sys.version_info[:3])
    raise SystemExit(f"sandbox-agent needs Python {OLDEST} or newer, and {sys.executable} is {this}")

REQUIRED = ["hatchling>=1.27"]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return REQUIRED


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    return REQUIRED


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    return [*REQUIRED, "editables>=0.5"]


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    from hatchling import build

    return build.build_wheel(wheel_directory)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    from hatchling import build

    return build.build_sdist(sdist_directory)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    from hatchling import build

    return build.build_editable(wheel_directory)
