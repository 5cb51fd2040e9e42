"""Which distribution a stage class is from; asked by errors, answered by the registry, which imports the stages."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["answer_by", "provider"]

_answers: list[Callable[[type], str]] = []
"""The registry's answer, once it is imported."""


def answer_by(function: Callable[[type], str]) -> None:
    """Let a function answer from now on."""
    _answers[:] = [function]


def provider(stage: type) -> str:
    """The distribution of a stage class, or its module where nobody knows.

    Examples
    --------
    >>> from clusterkit.solvers.regression.ridge import Ridge
    >>> provider(Ridge)
    'clusterkit-toolkit'
    """
    return _answers[0](stage) if _answers else f"module {stage.__module__}"
