"""The sizes of clusters before balancing, by a pass over the costs."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts
from clusterkit.errors import Infeasible, InvalidData
from clusterkit.samples.array_libraries import array_namespace, class_counts, to_host
from clusterkit.samples.sums import Sums

__all__ = ["CheapestSizes", "Present"]


@final
@attrs.frozen(eq=False)
class CheapestSizes:
    """Part of a pass: how many rows have each label as their cheapest.

    Parameters
    ----------
    k : int
    """

    array_api: ClassVar[bool] = True

    k: int

    def __call__(self, rows: slice, costs: Array) -> Sums:
        """Sizes of a block, (k,)."""
        return Sums.of(class_counts(array_namespace(costs).argmin(costs, axis=1), self.k))


@final
@attrs.frozen(eq=False)
class Present:
    """Summary of the cheapest labels of all rows, before any of them is changed.

    Parameters
    ----------
    sizes : ndarray of shape (k,)
        Number of rows for which each label is the cheapest.
    lowest : float
        The least cost; nan if any cost is nan.
    forbidden : int
        Index of the first row whose labels all cost inf; -1 if there is none.
    """

    array_api: ClassVar[bool] = True

    sizes: Counts
    lowest: float
    forbidden: int

    @classmethod
    def of(cls, rows: slice, costs: Array) -> Present:
        """The summary of a block of costs, (b, k)."""
        xp = array_namespace(costs)
        sizes = to_host(class_counts(xp.argmin(costs, axis=1), costs.shape[1]))
        least = to_host(xp.min(costs, axis=1)) if costs.shape[0] else np.empty(0)
        none = np.flatnonzero(least == np.inf)
        return cls(sizes, float(least.min(initial=np.inf)), rows.start + int(none[0]) if len(none) else -1)

    def __add__(self, following: Present) -> Present:
        forbidden = self.forbidden if self.forbidden >= 0 else following.forbidden
        return Present(self.sizes + following.sizes, float(np.minimum(self.lowest, following.lowest)), forbidden)

    def check(self) -> None:
        """Refuse costs that no labels can have.

        Raises
        ------
        InvalidData
            If a cost is NaN or -inf.
        Infeasible
            If a row can have no label.
        """
        if np.isnan(self.lowest) or self.lowest == -np.inf:
            raise InvalidData(
                "balancer 'transport': costs must be numbers above -inf (inf forbids a label), got NaN or -inf"
            )
        if self.forbidden >= 0:
            raise Infeasible(
                f"balancer 'transport': every label of row {self.forbidden} costs inf, so the row can have no label"
            )
