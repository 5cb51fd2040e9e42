"""pytest plugin: ``--processor-limit SECONDS`` skips what is left of a test after so much processor time.

Compiled functions are a hundred times slower as plain Python. A test of a large instance then takes an hour and reaches
the same lines as a small one; it is stopped there, and reported as skipped. What that costs shows in the coverage.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

SOON = 0.01
"""Seconds until the next look: a test is stopped only inside a compiled module, because elsewhere an exception could
leave a lock behind, of coverage or of a pool of threads."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--processor-limit", type=float, default=0.0, help="seconds for each test; 0 for no limit")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Stop the test when its time is over."""
    seconds = item.config.getoption("--processor-limit")

    def stop(number: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename.endswith("_jit.py"):
            pytest.skip(f"stopped after {seconds:g} s of processor time")
        signal.setitimer(signal.ITIMER_PROF, SOON)

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    signal.signal(signal.SIGPROF, before)
