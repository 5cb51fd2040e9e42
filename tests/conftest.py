"""Shared test setting: pictures without a screen, a registry that forgets, settings of hypothesis for one test."""

import gc
import os
import signal

# A thread of OpenBLAS that waits for work spins for about 30 ms, on a core that the other test process or scipy's own
# OpenBLAS needs: forced to two threads, a fit of small matrices took twelve times as long. It changes no result.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "18")

# a thousand laws of stages are tried in every change, and with more examples in `.ci/deep`
os.environ.setdefault("HYPOTHESIS_PROFILE", "brief")

# before anything imports matplotlib, which takes half a second
os.environ["MPLBACKEND"] = "Agg"

import pytest

# A shell lets what it starts in the background ignore Ctrl-C, which tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Let processes of pytest-xdist take tests from each other: some take a millisecond, some half a minute."""
    if config.getoption("dist", "no") == "load":
        config.option.dist = "worksteal"


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """Let the garbage collector leave out what is collected: millions of objects, all of which stay till the end."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.hookimpl(hookwrapper=True)
def pytest_collect_file(file_path):
    """Leave out the look for examples in the docstrings of tests, which takes as long as the import of all of them."""
    collectors = yield
    if file_path.name.startswith("test_"):
        named = [each for each in collectors.get_result() if type(each).__name__ != "DoctestModule"]
        collectors.force_result(named)


@pytest.fixture(scope="session")
def clean_registry():
    """What is found where no test has changed anything: the installed plugins, and the modules that hooks call."""
    from clusterkit.contracts.registry import registry

    registry.forget()
    registry.plugins()
    return registry._scanned, registry._hooks.manager.get_plugins()


@pytest.fixture(autouse=True)
def fresh_registry(request, clean_registry):
    """Forget what a test registered or scanned, so that the next one does not know it.

    What is found where nothing has changed stays: to look for plugins takes 17 ms, and with every fit of ten thousand
    tests would take minutes. A test that changes something of Python, as what is installed, begins with nothing
    scanned.
    """
    from clusterkit.contracts.registry import registry

    if "monkeypatch" in request.fixturenames:
        registry.forget()
    yield
    scan, modules = clean_registry
    as_before = registry._scanned in (None, scan) and registry._hooks.manager.get_plugins() <= modules
    if registry._session or registry._warned or registry._silenced or not as_before:
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
