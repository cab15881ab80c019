"""Many sessions created at once: early output of an agent is not lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.daemons import Client, done


@pytest.mark.slow
def test_of_twelve_creates_at_once_none_hangs(client: Client) -> None:
    with ThreadPoolExecutor(12) as pool:
        for number in range(8):
            names = [f"r{number}-{place}" for place in range(12)]
            answers = pool.map(lambda name: client.post(f"/v1/sessions/{name}", {"agent": "mock"}), names)
            assert [done(answer)["healthy"] for answer in answers] == [True] * 12
            ended = pool.map(lambda name: client.delete(f"/v1/sessions/{name}").status_code, names)
            assert list(ended) == [204] * 12
