from __future__ import annotations
import http.client
from tests.daemons import X


def test_x() -> None:
    y: str = X
    assert X == 1
    print(y, http.client.HTTPConnection)
