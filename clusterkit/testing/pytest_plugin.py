"""pytest plugin: the hypothesis profiles and the fixture that keeps installed plugins out.

The profile is chosen by ``pytest --hypothesis-profile=NAME`` or by the environment variable ``HYPOTHESIS_PROFILE``:

- ``fast``, the default, for every change: 25 examples a law, the same in every run;
- ``few``, for compiled functions that run as plain Python: 4 examples;
- ``deep``, for a release: 1,000 examples, new ones in every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

__all__ = ["no_external_plugins"]


def pytest_configure(config: pytest.Config) -> None:
    """Register the profiles, and load the chosen one."""
    try:
        from hypothesis import HealthCheck, settings
    except ImportError:  # pragma: no cover - the kit then has only its plain checks
        return
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    settings.register_profile("fast", deadline=None, max_examples=25, derandomize=True, suppress_health_check=slow)
    settings.register_profile("few", deadline=None, max_examples=4, derandomize=True, suppress_health_check=slow)
    settings.register_profile("deep", deadline=None, max_examples=1000, suppress_health_check=slow)
    profile = config.getoption("--hypothesis-profile", default=None)
    settings.load_profile(profile or os.environ.get("HYPOTHESIS_PROFILE", "fast"))


def deep() -> bool:
    """Whether the deep profile runs."""
    from hypothesis import settings

    return settings.get_current_profile_name() == "deep"


@pytest.fixture
def no_external_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Only built-in stages and those the test registers."""
    from clusterkit.core.registry import VARIABLE, registry

    monkeypatch.setenv(VARIABLE, "")
    registry.forget()
    yield
    registry.forget()
