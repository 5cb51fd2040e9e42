"""pytest plugin: the hypothesis profiles, the marker of dear tests and the fixture that keeps installed plugins out.

The profile is chosen by ``pytest --hypothesis-profile=NAME`` or by the environment variable ``HYPOTHESIS_PROFILE``:

- ``fast``, the default, for every change: 25 examples a law, the same in every run;
- ``brief``, where there are very many stages, as in clusterkit itself: 5 examples, the same in every run;
- ``few``, for compiled functions that run as plain Python: 4 examples;
- ``deep``, for a release: 200 examples, new ones in every run;
- ``thousand``, for functions that must be exact and are fast: 1,000 examples, new ones in every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hypothesis import settings

DEEP = 200
"""Examples of the profile ``deep``: most laws cost a fit for each, and all of them together should take an hour."""


@pytest.hookimpl(tryfirst=True)  # before hypothesis looks for the profile that its option names
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and the profiles, and load the chosen profile."""
    config.addinivalue_line("markers", "deep: dear; a suite may leave it out of most runs by -m 'not deep'")
    try:
        from hypothesis import HealthCheck, settings
    except ImportError:  # pragma: no cover - the kit then has only its plain checks
        return
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    settings.register_profile("fast", deadline=None, max_examples=25, derandomize=True, suppress_health_check=slow)
    settings.register_profile("brief", deadline=None, max_examples=5, derandomize=True, suppress_health_check=slow)
    settings.register_profile("few", deadline=None, max_examples=4, derandomize=True, suppress_health_check=slow)
    settings.register_profile("deep", deadline=None, max_examples=DEEP, suppress_health_check=slow)
    settings.register_profile("thousand", deadline=None, max_examples=1000, suppress_health_check=slow)
    profile = config.getoption("--hypothesis-profile", default=None)
    settings.load_profile(profile or os.environ.get("HYPOTHESIS_PROFILE", "fast"))


def deep() -> bool:
    """Whether the profile asks for as many examples as ``deep``, or more."""
    from hypothesis import settings

    return settings.default is not None and settings.default.max_examples >= DEEP


def share_of_examples(share: float) -> settings:
    """Settings with a share of the examples that the profile asks for, at least one: where an example costs much."""
    from hypothesis import settings

    return settings(max_examples=max(1, round(share * settings().max_examples)))


@pytest.fixture
def no_external_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Only built-in stages and those the test registers."""
    from clusterkit.contracts.providers import VARIABLE
    from clusterkit.contracts.registry import registry

    monkeypatch.setenv(VARIABLE, "")
    registry.forget()
    yield
    registry.forget()
