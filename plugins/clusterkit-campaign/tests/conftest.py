"""Tests here register broken stages, which the next test must not know."""

from __future__ import annotations

import pytest

from clusterkit.contracts.registry import registry


@pytest.fixture(autouse=True)
def fresh_registry():
    """Forget what a test registered; a scan takes 17 ms."""
    yield
    if registry._session:
        registry.forget()
