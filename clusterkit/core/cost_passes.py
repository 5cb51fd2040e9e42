"""Costs of rows outside memory as a balancer reads them, and what it decides: labels as a function of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar, final, runtime_checkable

import attrs

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.stages import Task
from clusterkit.core.sums import Addable

__all__ = ["BalancesByPasses", "CostPasses", "RowDecision"]

Part = TypeVar("Part", bound=Addable)


class CostPasses(Protocol):
    """The costs (n, k) of all rows, which are computed anew in each pass."""

    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """One pass: the sum of ``part(rows, costs of these rows)`` over all blocks."""

    def gather(self, index: Indices) -> Array:
        """Costs of some rows, (m, k), up to rounding."""


@final
@attrs.frozen(eq=False)
class RowDecision:
    """How balanced labels follow from costs, row by row.

    Parameters
    ----------
    label : callable or None
        Row slice and costs of these rows, (b, k), to labels; a frozen callable that pickles. None: the cheapest label.
    offsets : ndarray of shape (k,) or None
        Added to the costs they make new samples follow the same balance.
    exact : bool
        Whether predicting the rows gives the labels.
    facts : mapping
        For `resolved_`.
    """

    label: Callable[[slice, Array], Labels] | None = None
    offsets: Array | None = None
    exact: bool = True
    facts: Mapping[str, object] = attrs.field(factory=dict)


@runtime_checkable
class BalancesByPasses(Protocol):
    """A balancer that decides by passes over the costs, wherever the rows lie, with the labels of `assign`."""

    def why_not_by_passes(self, k: int) -> str | None:
        """Why it cannot balance k clusters in this way, or None; asked before any work."""

    def decide(self, costs: CostPasses, task: Task) -> RowDecision:
        """The decision; raises `Infeasible` where no labels have such sizes."""
