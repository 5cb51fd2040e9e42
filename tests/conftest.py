"""Shared test setting: pictures without a screen, a registry that forgets."""

from __future__ import annotations

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def fresh_registry():
    """Forget the stages that a test registered, so that the next one does not know them."""
    from clusterkit.core.registry import registry

    yield
    registry.forget()
