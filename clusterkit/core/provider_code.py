"""Whose code runs while plugins are imported and asked: a plugin must not register stages in the user's name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["BUILTIN", "SESSION", "code_of", "running_distribution"]

BUILTIN = "clusterkit-toolkit"
"""Name of the distribution that provides the library's own stages."""
SESSION = "this session"
"""What stands for a distribution where the user registered a stage."""

_running: ContextVar[str | None] = ContextVar("running", default=None)
"""The distribution whose modules are being imported or whose hooks are being called, for each thread its own."""


def running_distribution() -> str | None:
    """The distribution whose code runs now; None for the library and the user."""
    return _running.get()


@contextmanager
def code_of(distribution: str) -> Iterator[None]:
    """While code of a distribution runs that is neither the library's nor the user's."""
    token = _running.set(None if distribution in (BUILTIN, SESSION) else distribution)
    try:
        yield
    finally:
        _running.reset(token)
