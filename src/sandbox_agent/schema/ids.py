"""Ids. The daemon draws them at random; a recording counts them, so that its translation is stable."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable

MakeId = Callable[[str], str]


def random_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(10)}"


def counting_ids() -> MakeId:
    """Ids that depend only on how many were asked for before: `itm_1`, `itm_2`, `perm_1`."""
    seen: Counter[str] = Counter()

    def make(prefix: str) -> str:
        seen[prefix] += 1
        return f"{prefix}_{seen[prefix]}"

    return make
