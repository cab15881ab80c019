from __future__ import annotations

import pytest

from sandbox_agent.agents.files import bytes_in
from sandbox_agent.agents.opencode.tools import data_of


@pytest.mark.parametrize("data", ["é", "a", "%"])
def test_base64_that_cannot_be_decoded_is_left_out(data: str) -> None:
    assert bytes_in(data) is None
    assert not data_of(f"data:image/png;base64,{data}")
