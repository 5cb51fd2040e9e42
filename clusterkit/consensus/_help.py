"""The docstring of a consensus function: the text of its stage with the parameters that all functions share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from clusterkit.core.stages import Consensus

__all__ = ["documented_by"]

F = TypeVar("F", bound=Callable[..., Any])

PARAMETERS = "Parameters\n----------\n"
"""The heading of the parameters of a stage."""

NOTES = "Notes\n-----\n"
"""The heading of the section that follows them."""

LABELINGS = """labelings : array-like of shape (M, n), or sequence of M array-likes of shape (n,)
    Whole numbers from 0; -1 is noise: the labeling does not know the sample. The names of clusters do not matter.
"""
"""What every consensus combines."""

RETURNS = """Returns
-------
ndarray of shape (n,), int64
    Labels numbered from 0 by first appearance; -1 for a sample that is noise in all labelings.

Raises
------
InvalidData
    If there is no labeling, one is empty or not of whole numbers, the lengths differ, or all samples are noise in all
    labelings.
InvalidParameter
    If a parameter or the number of clusters is wrong.
"""
"""What every consensus returns and refuses."""


def documented_by(stage: type[Consensus]) -> Callable[[F], F]:
    """Decorator that gives a function the full docstring of a stage, so that ``help`` shows it."""

    def decorate(function: F) -> F:
        function.__doc__ = _text(stage)
        return function

    return decorate


def _text(stage: type[Consensus]) -> str:
    """Description of the stage, all parameters, what is returned and refused, and the notes of the stage."""
    before, _, notes = inspect.cleandoc(stage.__doc__ or "").partition(NOTES)
    description, _, parameters = before.partition(PARAMETERS)
    every = "\n".join(
        part for part in (LABELINGS + _n_clusters(stage) + _random_state(stage), parameters.strip()) if part
    )
    module = stage.__module__
    return "\n\n".join([
        description.strip(),
        PARAMETERS + every,
        RETURNS.strip(),
        f"See Also\n--------\n{module}.{stage.__name__} : the same method as a stage.",
        NOTES + notes.strip(),
    ])  # fmt: skip


def _n_clusters(stage: type[Consensus]) -> str:
    if not stage.takes_k:
        text = "Only None: the method finds the number of clusters."
    elif stage.finds_k:
        text = "Number of clusters; None lets the method find it."
    else:
        text = "Number of clusters; the method needs it."
    return f"n_clusters : int, optional\n    {text}\n"


def _random_state(stage: type[Consensus]) -> str:
    text = "Seed of the random starts." if stage.varies else "Ignored: nothing in the method is random."
    return f"random_state : int, Generator, RandomState or None\n    {text}"
