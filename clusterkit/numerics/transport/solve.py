"""The transportation problem with k sinks: prices from samples of the rows, then cheapest paths on all of them."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit.numerics.transport.paths_jit import IMPOSSIBLE, WINDOW, move_along_paths
from clusterkit.numerics.transport.prices_jit import audit, cheapest, moves, widest

__all__ = ["Transport", "transport"]

Array = NDArray[Any]

FEW = 2000
"""twice so many rows are solved from prices of 0; more start at the prices of one row in `RATIO`"""
RATIO = 16
MANY = 100_000
"""so many costs are all candidates for a move; of more only those near the border are"""


@final
@attrs.frozen(eq=False)
class Transport:
    """Labels of least total cost.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    prices : ndarray of shape (k,)
        Added to the costs they make each row's label its cheapest.
    gap : float
        How far the cost is from the least at most, relative to that of random labels above that of free ones.
    tied : int
        Rows that have another label at these prices: no prices tell them apart.
    """

    labels: Array
    prices: Array
    gap: float
    tied: int


def transport(C: Array, given: Array, low: Array, high: Array) -> Transport | None:
    """Labels of least total cost with sizes in [low, high], with the prices that give them; None if there are none.

    Parameters
    ----------
    C : ndarray of shape (n, k)
        float32 or float64, row by row in memory; inf forbids a label, and every row has a finite cost.
    given : ndarray of shape (n,)
        Kept if no labels are cheaper.
    low, high : integer ndarray of shape (k,)
        Can add up to n.
    """
    n, k = C.shape
    sizes = np.bincount(given, minlength=k)
    if (sizes >= low).all() and (sizes <= high).all() and np.isfinite(C[np.arange(n), given]).all():
        least, _ = moves(C, given)
        if np.nanmin(least, initial=0.0) >= 0 and np.array_equal(np.argmin(C, axis=1), given):
            return Transport(given, np.zeros(k), 0.0, 0)
        prices, _, cycle = widest(least, low, high, sizes)
        if not len(cycle):
            return _certified(C, given, prices, low, high, sizes)
    found = _solve(C, low, high)
    if found is None:
        return None
    labels, sizes, _ = found
    while True:
        least, mover = moves(C, labels)
        prices, _, cycle = widest(least, low, high, sizes)
        if not len(cycle):
            return _certified(C, labels, prices, low, high, sizes)
        # what rounding of the prices left: every pass lowers the cost
        for u, v in zip(cycle, np.roll(cycle, -1), strict=True):
            if u < k and v < k:
                labels[mover[u, v]] = v
        sizes = np.bincount(labels, minlength=k)


def _certified(C: Array, labels: Array, prices: Array, low: Array, high: Array, sizes: Array) -> Transport:
    gap, scale, others = audit(C, labels, prices, low, high, sizes)
    return Transport(labels, prices, float(gap / scale if scale > 0 else gap > 0), int(others))


def _solve(C: Array, low: Array, high: Array) -> tuple[Array, Array, Array] | None:
    """Labels, sizes and prices: those of a part of the rows first, whose sizes obey the bounds in proportion."""
    n, k = C.shape
    prices = np.zeros(k + 1)
    if n > 2 * FEW:
        rows = _spread(n, max(FEW, n // RATIO))
        part = len(rows) / n
        few = _solve(C[rows], np.floor(low * part).astype(np.int64), np.ceil(high * part).astype(np.int64))
        if few is not None:
            prices[:k] = few[2]
    labels, sizes = cheapest(C, prices[:k], (low + high) / 2)
    window = np.inf
    if n * k > MANY:
        off = np.abs(sizes - np.clip(sizes, low, high)).sum()
        window = _loss(C, prices[:k], labels, min(0.3, (4.0 * off + 20.0 * k) / n))
    for _ in range(12):
        state = move_along_paths(C, labels, sizes, prices, low, high, window)
        if state != WINDOW:
            break
        window = max(3.0 * window, _loss(C, prices[:k], labels, 0.05))
    else:
        state = move_along_paths(C, labels, sizes, prices, low, high, np.inf)
    return None if state == IMPOSSIBLE else (labels, sizes, prices[:k] - prices[k])


def _loss(C: Array, prices: Array, labels: Array, part: float) -> float:
    """What a part of the rows lose at most by their second best label at these prices, judged by some rows."""
    rows = _spread(len(C), 5000)
    priced = C[rows] + prices
    own = np.take_along_axis(priced, labels[rows, None], axis=1)[:, 0]
    priced[np.arange(len(rows)), labels[rows]] = np.inf
    loss = priced.min(axis=1) - own
    loss = loss[np.isfinite(loss)]
    return float(np.quantile(loss, part)) if len(loss) else np.inf


def _spread(n: int, m: int) -> Array:
    """About m of n indices, spread by the golden ratio: always the same, and in step with no period of the rows."""
    return np.unique((np.arange(m) * 0.6180339887498949 % 1.0 * n).astype(np.int64))
