"""Ids. The daemon generates random ones; recordings use counters, so that their translation is stable."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable

MakeId = Callable[[str], str]


def random_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(10)}"


def counting_ids() -> MakeId:
    """Ids from counters: `itm_1`, `itm_2`, `perm_1`."""
    seen: Counter[str] = Counter()

    def make(prefix: str) -> str:
        seen[prefix] += 1
        return f"{prefix}_{seen[prefix]}"

    return make
