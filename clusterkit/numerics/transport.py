"""The transportation problem with k sinks: labels of least total cost under lowest and highest cluster sizes.

It solves ``min_y Σ_i c_{i y_i}`` subject to ``low_j <= |{i : y_i = j}| <= high_j`` exactly, for n rows and k clusters.

`solve_transport` checks whether the present labels are optimal already; if not, `_solve` finds labels by prices from a
sample of the rows and then moves with all rows, and rounding errors of the prices are removed by negative cycles. The
mathematics is in `transport_jit`: the moves (`move_along_paths`) and the duals (`cheapest`, `widest`, `audit`).

Sources: Ahuja, Magnanti, Orlin (1993), Network Flows, section 9.7; Tokuyama, Nakano (1995), Efficient algorithms for
the Hitchcock transportation problem, SIAM J. Comput. 24.
"""

from __future__ import annotations

from functools import lru_cache
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.numerics.transport_jit import (
    IMPOSSIBLE,
    WINDOW,
    audit,
    cheapest,
    losses,
    move_along_paths,
    moves,
    widest,
)

SAMPLE_LEAST = 2000
"""Smallest number of rows of a sample. Up to twice as many rows are solved directly, from prices of 0."""
SAMPLE_RATIO = 16
"""Number of rows for each row of a sample. Larger samples cost more time; smaller ones leave more rows to move.

Not sensitive, and the optimum does not depend on it: 8 and 32 took 0.96 and 1.07 of the time for 200,000 rows and ten
clusters.
"""
ALL_CANDIDATES = 100_000
"""Number of costs up to which all rows are candidates for every move; with more, only rows near a border are."""
WIDENINGS = 12
"""Attempts with a wider and wider window of candidates, at least three times as wide each; then all rows become
candidates."""
QUANTILE_ROWS = 5000
"""Number of rows that estimate a quantile of the losses, to within about one per cent of the rows."""
GOLDEN = 0.6180339887498949
"""The golden ratio less 1, (√5 - 1) / 2: its multiples modulo 1 are spread most evenly."""


@final
@attrs.frozen(eq=False)
class TransportSolution:
    """Labels of least total cost.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    prices : ndarray of shape (k,)
        Added to the costs they make the label of each row its cheapest.
    gap : float
        Bound on the distance of the cost from the optimum, relative to the difference between random labels and each
        row's cheapest label (`transport_jit.audit`).
    tied : int
        Rows that have another label at these prices: no prices can separate them.
    """

    labels: Labels
    prices: Array
    gap: float
    tied: int


def solve_transport(C: Array, start: Labels, low: Counts, high: Counts) -> TransportSolution | None:
    """Labels of least total cost with sizes from `low` to `high`, and their prices; None if no labels have such sizes.

    Parameters
    ----------
    C : ndarray of shape (n, k)
        float32 or float64, row by row in memory; inf forbids a label, and every row has a finite cost.
    start : ndarray of shape (n,)
        Present labels: returned unchanged if no labels are cheaper.
    low, high : integer ndarray of shape (k,)
        Lowest and highest sizes; ``sum(low) <= n <= sum(high)``.

    Notes
    -----
    O(n k + moves (k² + k log n)) time, O(n k) memory. Sources: see the module.
    """
    solved = cheapest_allowed(C, start, low, high)
    if solved is None:
        return None
    labels, best, sizes = solved
    gap, scale, others = audit(C, labels, best, low, high, sizes)
    return TransportSolution(labels, best, float(gap / scale if scale > 0 else gap > 0), int(others))


def cheapest_allowed(
    C: Array, start: Labels, low: Counts, high: Counts, prices: Array | None = None
) -> tuple[Labels, Array, Counts] | None:
    """`solve_transport` without its certificate: labels, prices and sizes.

    The search begins at `prices` (k,), which are likely to be near the best ones; None: at those of a sample.
    """
    n, k = C.shape
    sizes: Counts = np.bincount(start, minlength=k)
    if (sizes >= low).all() and (sizes <= high).all() and np.isfinite(C[np.arange(n), start]).all():
        least, _ = moves(C, start)
        if np.nanmin(least, initial=0.0) >= 0 and np.array_equal(np.argmin(C, axis=1), start):
            return start, np.zeros(k), sizes
        best, _, cycle = widest(least, low, high, sizes)
        if not len(cycle):
            return start, best, sizes
    solved = _solve(C, low, high, prices)
    if solved is None:
        return None
    labels, sizes, _ = solved
    while True:
        least, mover = moves(C, labels)
        best, _, cycle = widest(least, low, high, sizes)
        if not len(cycle):
            return labels, best, sizes
        # rounding of the prices left a negative cycle: moving along it lowers the cost
        for u, v in zip(cycle, np.roll(cycle, -1), strict=True):
            if u < k and v < k:
                labels[mover[u, v]] = v
        sizes = np.bincount(labels, minlength=k)


def _solve(C: Array, low: Counts, high: Counts, begin: Array | None = None) -> tuple[Labels, Counts, Array] | None:
    """Labels, sizes and prices; these start at the solution of a sample of the rows, unless others are known."""
    n, k = C.shape
    prices = np.zeros(k + 1)
    if begin is not None:
        prices[:k] = begin
    elif n > 2 * SAMPLE_LEAST:
        rows = spread(n, max(SAMPLE_LEAST, n // SAMPLE_RATIO))
        share = len(rows) / n
        sample = _solve(C[rows], np.floor(low * share).astype(np.int64), np.ceil(high * share).astype(np.int64))
        if sample is not None:
            prices[:k] = sample[2]
    labels, sizes, more = cheapest(C, prices[:k], (low + high) / 2)
    window, few = np.inf, spread(n, QUANTILE_ROWS)
    if n * k > ALL_CANDIDATES:
        # four times the rows that have to move, and some for every cluster: most windows then suffice at once
        excess = np.abs(sizes - np.clip(sizes, low, high)).sum()
        window = _quantile(more[few], min(0.3, (4.0 * excess + 150.0 * k) / n))
    for _ in range(WIDENINGS):
        state = move_along_paths(C, labels, sizes, prices, low, high, np.flatnonzero(more <= window), window)
        if state != WINDOW:
            break
        more = losses(C, labels, prices[:k])
        window = max(3.0 * window, _quantile(more[few], 0.05))
    else:
        state = move_along_paths(C, labels, sizes, prices, low, high, np.arange(n), np.inf)
    return None if state == IMPOSSIBLE else (labels, sizes, prices[:k] - prices[k])


def _quantile(more: Array, share: float) -> float:
    """Quantile of the losses that are finite."""
    more = more[np.isfinite(more)]
    place = int(share * (len(more) - 1))
    return float(np.partition(more, place)[place]) if len(more) else np.inf


@lru_cache(maxsize=8)
def spread(n: int, m: int) -> Indices:
    """About m of n indices at multiples of the golden ratio: always the same, in step with no period of the rows."""
    chosen = np.zeros(n, dtype=bool)  # marks are read in order: no sort
    chosen[(np.arange(m) * GOLDEN % 1.0 * n).astype(np.int64)] = True
    rows = np.flatnonzero(chosen)
    rows.flags.writeable = False  # the next problem of this size has the same
    return rows
