"""pytest plugin: ``--processor-limit SECONDS`` skips what is left of a test after so much processor time.

Compiled functions are a hundred times slower as plain Python. A test of a large instance then takes an hour and reaches
the same lines as a small one; it is stopped, and reported as skipped. What that costs shows in the coverage.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--processor-limit", type=float, default=0.0, help="seconds for each test; 0 for no limit")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Stop the test when its time is over."""
    seconds = item.config.getoption("--processor-limit")

    def stop(number: int, frame: Any) -> None:
        pytest.skip(f"stopped after {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    signal.signal(signal.SIGPROF, before)
