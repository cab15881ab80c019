"""The snippets of the SDK's page, each as a program of its own."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "sdk-python.mdx").read_text()
SNIPPETS: list[str] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
PREFACE = """\
from sandbox_agent import SandboxAgent
base_url, token = {address!r}
"""
THE_REST_BEGINS_WITH = 2
"""The snippet that those after it begin with, as the page says."""


def programs(endpoint: str, token: str) -> list[str]:
    preface = PREFACE.format(address=(endpoint, token))
    base = SNIPPETS[THE_REST_BEGINS_WITH]
    assert base.startswith("client = SandboxAgent.connect(base_url, token)\nsession = ")
    first = [preface + snippet for snippet in SNIPPETS[:THE_REST_BEGINS_WITH]]
    rest = [f"{base}\n{snippet}" for snippet in ["", *SNIPPETS[THE_REST_BEGINS_WITH + 1 :]]]
    return [*first, *(f"{preface}{part}\nclient.close()\n" for part in rest)]
