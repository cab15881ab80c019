"""Failed asserts of the contract show their values, as in any test."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("sandbox_agent.testing.store_contract")
