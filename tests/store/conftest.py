"""The contract's asserts are shown with their values, as those of any test."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("sandbox_agent.testing.store_contract")
