"""Shared test setting: pictures without a screen, a registry that forgets, settings of hypothesis for one test."""

from __future__ import annotations

import os
import signal

# A thread of OpenBLAS that waits for work spins for about 30 ms, on a core that the other test process or scipy's own
# OpenBLAS needs: forced to two threads, a fit of small matrices took twelve times as long. It changes no result.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "18")

import matplotlib
import pytest

matplotlib.use("Agg")

# A shell lets what it starts in the background ignore Ctrl-C, which tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Let processes of pytest-xdist take tests from each other: some take a millisecond, some half a minute."""
    if config.getoption("dist", "no") == "load":
        config.option.dist = "worksteal"


def forget_what_is_new(clean: list) -> None:
    """Forget what a test registered or scanned, unless it is what every process of the suite finds.

    To look for plugins takes 17 ms, and with every fit of ten thousand tests would take minutes.
    """
    from clusterkit.core.registry import registry

    if not clean:
        registry.forget()
        registry.plugins()
        clean += [registry._scanned, registry._hooks.manager.get_plugins()]
        return
    of_the_test = registry._session or registry._warned or registry._silenced
    modules = registry._hooks.manager.get_plugins()
    if of_the_test or registry._scanned not in (None, clean[0]) or not modules <= clean[1]:
        registry.forget()


@pytest.fixture(scope="session")
def clean_registry():
    """What is found where no test has changed anything."""
    clean: list = []
    forget_what_is_new(clean)
    return clean


@pytest.fixture(autouse=True)
def fresh_registry(request, clean_registry):
    """Forget the stages that a test registered, so that the next one does not know them.

    A test that changes something of Python, as what is installed, begins with nothing scanned.
    """
    from clusterkit.core.registry import registry

    if "monkeypatch" in request.fixturenames:
        registry.forget()
    yield
    forget_what_is_new(clean_registry)


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
