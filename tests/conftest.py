"""Shared test setting: oracles on the path, no third-party plugins unless a test wants them."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import pytest

sys.path.insert(0, str(Path(__file__).parent))
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def fresh_registry():
    """Stages registered by one test are unknown to the next."""
    from clusterkit.core.registry import registry

    yield
    registry.forget()
