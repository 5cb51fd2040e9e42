"""Transport of rows outside memory: prices from samples, and an exact solution for the rows near a border.

The prices of independent samples differ by about the error of each. A row whose cheapest label is cheaper than every
other by more than twice that error keeps it under the right prices too. The rows that are left, the border, are few;
their costs are gathered and solved exactly, with the sizes that the others leave. A last pass bounds the distance of
all labels from the optimum by weak duality. It is 0 up to rounding unless a row outside the border has a wrong label:
then the error was larger than taken, and the border is widened.
"""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Mask
from clusterkit.core import memory
from clusterkit.core.stages import Costs
from clusterkit.core.sums import RowsInOrder, Sums
from clusterkit.numerics.split_mix import uniforms

__all__ = ["Priced", "are_many", "cheapest_by_passes"]

GATHERED = 2**23
"""Costs that are gathered and solved at once: 64 MB."""
SAMPLED = 2**19
"""Costs of a sample of rows."""
SAMPLES = 4
"""Samples that are drawn for each level of the border: two may agree by chance, four seldom do."""
SAFETY = 1.5
"""Factor of the largest difference of two prices that is taken as the error of their mean: about six times it."""
WIDENED = 2.0
"""Factor by which the error is enlarged after a contradiction."""
ROUNDING = 1e-9
"""Relative distance from the optimum that is rounding: of float32 costs in sums over many rows."""
LEVELS = 20
"""Most levels and contradictions together, after which all costs are gathered. Each level leaves a small share of the
rows, and two or three are usual."""


def are_many(n: int, k: int) -> bool:
    """Whether the costs of n rows and k clusters are more than are solved at once."""
    return n * k > GATHERED


@final
@attrs.frozen(eq=False)
class Level:
    """Prices, and the difference of reduced costs above which a row has its label for good."""

    prices: Array
    margin: float

    def sure(self, costs: Array) -> tuple[Mask, Labels]:
        """Which rows have their label for good, and the label of each row."""
        from clusterkit.numerics.transport.prices_jit import margins

        labels, more = margins(costs, self.prices)
        return more > self.margin, labels


def split(levels: tuple[Level, ...], costs: Array) -> tuple[Mask, Labels]:
    """Which rows are in the border of the last level, and the labels of the others, of the first level that is sure."""
    border, labels = np.ones(len(costs), dtype=bool), np.zeros(len(costs), dtype=np.intp)
    for level in levels:
        sure, here = level.sure(costs)
        labels = np.where(border & sure, here, labels)
        border &= ~sure
    return border, labels


@final
@attrs.frozen(eq=False)
class Priced:
    """The label of least cost plus price, but for some rows that no prices separate.

    Parameters
    ----------
    prices : ndarray of shape (k,)
    rows : ndarray of shape (t,)
        Those rows, ascending.
    labels : ndarray of shape (t,)
        Their labels.
    """

    prices: Array
    rows: Indices
    labels: Labels

    def __call__(self, rows: slice, costs: Array) -> Labels:
        """Labels of a block."""
        from clusterkit.numerics.transport.prices_jit import margins

        labels, _ = margins(costs, self.prices)
        first, last = np.searchsorted(self.rows, [rows.start, rows.stop])
        labels[self.rows[first:last] - rows.start] = self.labels[first:last]
        return labels


def cheapest_by_passes(costs: Costs, low: Counts, high: Counts) -> tuple[Priced, float] | None:
    """Labels of least total cost with sizes from `low` to `high`, and a bound on their distance from the optimum.

    Returns
    -------
    (labels, gap), the gap relative as in `TransportSolution`; None if no labels have such sizes at a finite cost.
    """
    levels: tuple[Level, ...] = ()
    n = costs.n
    left, fixed = n, np.zeros(len(low), dtype=np.int64)
    for attempt in range(LEVELS):
        if left * len(low) <= GATHERED:
            priced = _solve_border(costs, levels, low - fixed, high - fixed)
            gap = math.inf if priced is None else _gap(costs, priced, low, high)
            if priced is not None and (gap <= ROUNDING or not levels):
                return priced, gap
            if not levels:
                return None
            # the error of the prices was larger than taken: every border becomes wider
            levels = tuple(attrs.evolve(level, margin=WIDENED * level.margin) for level in levels)
        else:
            drawn: Any = costs.reduce(_Samples(levels, SAMPLED / (len(low) * left), attempt))
            levels = (*levels, _level(drawn.arrays, low - fixed, high - fixed, left))
        fixed = costs.reduce(_Counts(levels, len(low))).arrays[0].astype(np.int64)
        left = n - int(fixed.sum())
    memory.require(8 * n * len(low), f"the costs of {n} rows", "Take balancer=None, or fit a sample of the rows.")
    priced = _solve_border(costs, (), low, high)
    return None if priced is None else (priced, _gap(costs, priced, low, high))


def _gap(costs: Costs, priced: Priced, low: Counts, high: Counts) -> float:
    """A bound on the distance from the optimum by weak duality, over all rows; infinite if sizes are out of bounds."""
    totals, sizes = costs.reduce(_Duality(priced)).arrays
    if (sizes < low).any() or (sizes > high).any():
        return math.inf
    saved, scale = map(float, totals)
    # what the prices take at most from sizes within the bounds that add up to n
    takes, free = float(priced.prices @ low), int(sizes.sum()) - int(low.sum())
    for j in np.argsort(-priced.prices, kind="stable"):
        more = min(free, int(high[j] - low[j]))
        takes, free = takes + more * float(priced.prices[j]), free - more
    gap = max(0.0, saved + takes - float(priced.prices @ sizes))
    return gap / scale if scale > 0 else float(gap > 0)


def _level(samples: tuple[Array, ...], low: Counts, high: Counts, left: int) -> Level:
    """Prices from samples of the border, and twice their error."""
    from clusterkit.numerics.transport.solve import solve_transport

    prices = []
    for sample in samples:
        share = len(sample) / left
        bounds = np.floor(np.maximum(low, 0) * share), np.ceil(np.maximum(high, 0) * share)
        solution = solve_transport(
            sample, np.argmin(sample, axis=1), bounds[0].astype(np.int64), bounds[1].astype(np.int64)
        )
        prices.append(np.zeros(len(low)) if solution is None else solution.prices - solution.prices.mean())
    largest = max(float(np.abs(sample[np.isfinite(sample)]).max(initial=0.0)) for sample in samples)
    error = max(SAFETY * float(np.ptp(prices, axis=0).max()), ROUNDING * largest)
    return Level(np.mean(prices, axis=0), 2.0 * error)


def _solve_border(costs: Costs, levels: tuple[Level, ...], low: Counts, high: Counts) -> Priced | None:
    """The exact labels of the border rows, as prices and the rows that these do not separate; None without any."""
    from clusterkit.numerics.transport.solve import solve_transport

    border: Any = costs.reduce(_Border(levels))
    rows, C = border.arrays[0], np.ascontiguousarray(border.arrays[1])
    if (high < 0).any() or low.sum() > len(C) or np.maximum(low, 0).sum() > len(C) or high.sum() < len(C):
        return None
    solution = solve_transport(C, np.argmin(C, axis=1), low, high)
    if solution is None:
        return None
    tied = np.flatnonzero(np.argmin(C + solution.prices, axis=1) != solution.labels)
    return Priced(solution.prices, rows[tied], solution.labels[tied])


@final
@attrs.frozen(eq=False)
class _Counts:
    """Part of a pass: how many rows have each label for good."""

    levels: tuple[Level, ...]
    k: int

    def __call__(self, rows: slice, costs: Array) -> Sums:
        border, labels = split(self.levels, costs)
        return Sums.of(np.bincount(labels[~border], minlength=self.k))


@final
@attrs.frozen(eq=False)
class _Duality:
    """Part of the certificate: what the rows could save at the prices, the scale of that, and the sizes."""

    priced: Priced

    def __call__(self, rows: slice, costs: Array) -> Sums:
        from clusterkit.numerics.transport.prices_jit import audit

        labels, none = self.priced(rows, costs), np.zeros(costs.shape[1], dtype=np.int64)
        saved, scale, _ = audit(costs, labels, self.priced.prices, none, none, none)
        return Sums.of(np.array([saved, scale]), np.bincount(labels, minlength=costs.shape[1]))


@final
@attrs.frozen(eq=False)
class _Border:
    """Part of a pass: the numbers of the rows of the border, and their costs."""

    levels: tuple[Level, ...]

    def __call__(self, rows: slice, costs: Array) -> RowsInOrder:
        border, _ = split(self.levels, costs)
        inside = np.flatnonzero(border)
        return RowsInOrder((inside + rows.start, costs[inside]))


@final
@attrs.frozen(eq=False)
class _Samples:
    """Part of a pass: costs of samples of the border, each row with the same probability and in one of them at most.

    Which rows are drawn follows from their places, not from a seed of the fit: a balancer draws nothing, and any sample
    leads to the same labels but for ties, which the same samples decide alike in whatever blocks.
    """

    levels: tuple[Level, ...]
    share: float
    attempt: int

    def __call__(self, rows: slice, costs: Array) -> RowsInOrder:
        border, _ = split(self.levels, costs)
        sample = np.where(border, uniforms(self.attempt, rows) / min(self.share, 1.0 / SAMPLES), np.inf)
        return RowsInOrder(tuple(costs[(sample >= j) & (sample < j + 1)] for j in range(SAMPLES)))
