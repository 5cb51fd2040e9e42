"""pytest plugin: ``--dear SECONDS`` fails a test that takes more processor time and lacks the marker ``deep``.

Processor time is that of the process and of the subprocesses that it has waited for. The first test that meets a
compiled function or an import pays for it, so a test above the limit runs a second time, and only that time counts.
Fixtures count where each test has its own; those of a module or a session are shared, and belong to nobody.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

SPENT = pytest.StashKey[float]()
"""Seconds of a test, so far."""


def _processor_time() -> float:
    return sum(os.times()[:4])


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--dear", type=float, default=0.0, help="seconds for a test without the marker deep; 0: no limit")


def _measured(item: pytest.Item) -> Iterator[None]:
    before = _processor_time()
    yield
    item.stash[SPENT] = item.stash.get(SPENT, 0.0) + _processor_time() - before


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Measure a test."""
    yield from _measured(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[None]:
    """Measure a fixture that each test has for itself."""
    if fixturedef.scope == "function" and isinstance(request.node, pytest.Item):
        yield from _measured(request.node)
    else:
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After a test that took too long, run it once more, and report an error if it takes too long again."""
    limit = item.config.getoption("--dear")
    yield
    if not limit or item.get_closest_marker("deep") or item.stash.get(SPENT, 0.0) <= limit:
        return
    item.stash[SPENT] = 0.0
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if item.stash[SPENT] > limit:
        report = reports[-1]
        report.outcome = "failed"
        report.longrepr = (
            f"{item.nodeid} takes {item.stash[SPENT]:.1f} s of processor time, and {limit:g} s are the limit: "
            f"let it try less, or mark it `deep` and write a test beside it that tries the same on less"
        )
        item.ihook.pytest_runtest_logreport(report=report)
