"""Methods compared over data sets: mean ranks, and the difference that chance alone would seldom make."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np

from clusterkit.benchmarking.run import Cell
from clusterkit.core.errors import InvalidParameter

__all__ = ["Ranking", "rank"]


@attrs.frozen
class Ranking:
    """Mean ranks of methods over the same data sets; 1 is the best, ties share the mean of their places.

    Parameters
    ----------
    methods : tuple of str
        By mean rank, the best first.
    ranks, means : tuple of float
        Mean rank and mean index of each.
    n_sets : int
    critical_difference : float
        Two methods whose mean ranks are less apart than this do not differ at the level of 5 % (Nemenyi's test).
    p_value : float
        Of Friedman's test: the chance of ranks so unequal if all methods were alike.
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    means: tuple[float, ...]
    n_sets: int
    critical_difference: float
    p_value: float


def rank(
    cells: Sequence[Cell],
    *,
    k_known: bool,
    index: Literal["adjusted_rand", "asymmetric_accuracy"] = "adjusted_rand",
    level: float = 0.05,
) -> Ranking:
    """Rank the methods that have a value on every set.

    Parameters
    ----------
    cells : sequence of Cell
        A fit that failed counts as 0.
    k_known : bool
        The fits that were given the number of clusters, or those that found it.
    index : {"adjusted_rand", "asymmetric_accuracy"}, default "adjusted_rand"
    level : float, default 0.05
        Of the critical difference.

    Raises
    ------
    InvalidParameter
        If fewer than two methods have a value on every set.

    Notes
    -----
    ``CD = q √(m (m + 1) / (6 N))`` for m methods and N sets, q the studentised range over √2. Source: Demšar (2006),
    Statistical comparisons of classifiers over multiple data sets, JMLR 7.
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    chosen = [cell for cell in cells if cell.k_known == k_known]
    sets = sorted({cell.data_set for cell in chosen})
    values = {(cell.method, cell.data_set): getattr(cell, index) for cell in chosen}
    methods = [
        method
        for method in dict.fromkeys(cell.method for cell in chosen)
        if all((method, data_set) in values for data_set in sets)
    ]
    if len(methods) < 2:
        raise InvalidParameter(f"a ranking needs two methods with a value on every set, there are {len(methods)}")
    table = np.array([[values[method, data_set] for method in methods] for data_set in sets])
    # indices that differ by rounding only are tied
    mean_ranks = rankdata(-np.round(table, 9), axis=1).mean(axis=0)
    order = np.argsort(mean_ranks, kind="stable")
    m, n = len(methods), len(sets)
    q = float(studentized_range.ppf(1 - level, m, np.inf)) / math.sqrt(2)
    p_value = float(friedmanchisquare(*table.T).pvalue) if m > 2 and n > 1 else math.nan
    return Ranking(
        tuple(methods[place] for place in order),
        tuple(float(mean_ranks[place]) for place in order),
        tuple(float(table[:, place].mean()) for place in order),
        n,
        q * math.sqrt(m * (m + 1) / (6 * n)),
        p_value,
    )
