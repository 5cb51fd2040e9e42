"""Labels of least cost for rows of which some belong together and some apart, without bounds of the sizes.

`cheapest_labels` sums the costs of each group of rows that belong together and finds the cheapest labels of groups that
are apart (`apart_jit.cheapest_apart`); all other rows have their cheapest label.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels

__all__ = ["BUDGET", "LinkedLabels", "cheapest_labels"]

BUDGET = 5e7
"""Largest number of costs that the branch and bound reads: some tenths of a second."""


@final
@attrs.frozen(eq=False)
class LinkedLabels:
    """Labels of groups.

    Parameters
    ----------
    labels : ndarray of shape (m,)
        The label of each group.
    cost, lower : float
        Their cost, and a lower bound of the least possible cost.
    state : int
        How the search ended, a value of `apart_jit`.
    where : int
        A group of the component that ended so.
    """

    labels: Labels
    cost: float
    lower: float
    state: int
    where: int


def cheapest_labels(D: Array, apart: Indices, budget: float = BUDGET) -> LinkedLabels:
    """Labels of least cost of groups with costs D (m, k), where the pairs `apart` (c, 2) have different ones.

    Examples
    --------
    >>> import numpy as np
    >>> D = np.array([[0.0, 1.0], [0.0, 3.0], [2.0, 0.0]])
    >>> found = cheapest_labels(D, np.array([[0, 1], [1, 2]]))
    >>> found.labels.tolist(), found.cost, found.lower
    ([1, 0, 1], 1.0, 1.0)
    """
    from clusterkit.numerics.linked.apart_jit import BUDGET_OVER, IMPOSSIBLE, OPTIMAL, cheapest_apart

    if not len(apart):
        labels: Labels = np.argmin(D, axis=1) if len(D) else np.empty(0, np.int64)
        cost = float(D[np.arange(len(D)), labels].sum())
        where = int(np.argmax(D.min(axis=1))) if len(D) else -1
        return LinkedLabels(labels, cost, cost, OPTIMAL if np.isfinite(cost) else IMPOSSIBLE, where)
    table, pairs = np.ascontiguousarray(D, dtype=np.float64), np.ascontiguousarray(apart, dtype=np.int64)
    labels, lower, state, where = cheapest_apart(table, pairs, budget)
    if state in (IMPOSSIBLE, BUDGET_OVER):
        return LinkedLabels(labels, np.inf, float(lower), int(state), int(where))
    cost = float(D[np.arange(len(D)), labels].sum())
    return LinkedLabels(labels, cost, cost if state == OPTIMAL else float(lower), int(state), int(where))
