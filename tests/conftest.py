"""Shared test setting: pictures without a screen, a registry that forgets, settings of hypothesis for one test."""

from __future__ import annotations

import signal

import matplotlib
import pytest

matplotlib.use("Agg")

# A shell lets what it starts in the background ignore Ctrl-C, which tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def fresh_registry():
    """Forget the stages that a test registered, so that the next one does not know them."""
    from clusterkit.core.registry import registry

    yield
    registry.forget()


@pytest.fixture
def change_settings():
    """A function that changes settings of hypothesis until the test ends."""
    from hypothesis import settings

    settings.register_profile("before-the-test", parent=settings.default)

    def change(**changes):
        settings.register_profile("of-the-test", parent=settings.default, **changes)
        settings.load_profile("of-the-test")

    yield change
    settings.load_profile("before-the-test")
