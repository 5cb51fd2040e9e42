"""The transportation problem with k sinks: prices from samples of the rows, then cheapest paths on all of them."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.balancers._paths_jit import IMPOSSIBLE, WINDOW, move_along_paths
from clusterkit.balancers._prices_jit import audit, cheapest, moves, widest
from clusterkit.core.errors import Infeasible, InvalidData
from clusterkit.core.stages import Assignment

__all__ = ["balanced"]

FEW = 2000
"""twice so many rows are solved from prices of 0; more start at the prices of one row in `RATIO`"""
RATIO = 16
MANY = 100_000
"""so many costs are all candidates for a move; of more only those near the border are"""


def balanced(C: Array, given: Labels, low: Labels, high: Labels) -> Assignment:
    """Labels of least total cost with sizes in [low, high], with the prices that give them.

    Parameters
    ----------
    C : ndarray of shape (n, k)
        float32 or float64, row by row in memory.
    given : ndarray of shape (n,)
        Kept if no labels are cheaper.
    low, high : integer ndarray of shape (k,)
        Can add up to n.
    """
    n, k = C.shape
    _check(C)
    sizes = np.bincount(given, minlength=k)
    if (sizes >= low).all() and (sizes <= high).all() and np.isfinite(C[np.arange(n), given]).all():
        least, _ = moves(C, given)
        if np.nanmin(least, initial=0.0) >= 0 and np.array_equal(np.argmin(C, axis=1), given):
            return Assignment(given, None, True, {"gap": 0.0})
        prices, _, cycle = widest(least, low, high, sizes)
        if not len(cycle):
            return _report(C, given, prices, low, high, sizes)
    found = _solve(C, low, high)
    if found is None:
        raise Infeasible(
            f"balancer 'transport': no labels with sizes between {low.tolist()} and {high.tolist()} have a finite cost"
        )
    labels, sizes, _ = found
    while True:
        least, mover = moves(C, labels)
        prices, _, cycle = widest(least, low, high, sizes)
        if not len(cycle):
            return _report(C, labels, prices, low, high, sizes)
        # what rounding of the prices left: every pass lowers the cost
        for u, v in zip(cycle, np.roll(cycle, -1), strict=True):
            if u < k and v < k:
                labels[mover[u, v]] = v
        sizes = np.bincount(labels, minlength=k)


def _check(C: Array) -> None:
    lowest, highest = float(C.min()), float(C.max())
    if np.isnan(lowest) or np.isnan(highest) or lowest == -np.inf:
        raise InvalidData(
            "balancer 'transport': costs must be numbers above -inf (inf forbids a label), got NaN or -inf"
        )
    if highest == np.inf and (C.min(axis=1) == np.inf).any():
        row = int(np.argmax(C.min(axis=1) == np.inf))
        raise Infeasible(f"balancer 'transport': every label of row {row} costs inf, so it can have none")


def _report(C: Array, labels: Labels, prices: Array, low: Labels, high: Labels, sizes: Labels) -> Assignment:
    gap, scale, others = audit(C, labels, prices, low, high, sizes)
    relative = gap / scale if scale > 0 else float(gap > 0)
    facts = {"gap": float(relative)}
    if others:
        facts["tied_rows"] = int(others)
    return Assignment(labels, prices, others == 0, facts)


def _solve(C: Array, low: Labels, high: Labels) -> tuple[Labels, Labels, Array] | None:
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


def _loss(C: Array, prices: Array, labels: Labels, part: float) -> float:
    """What a part of the rows lose at most by their second best label at these prices, judged by some rows."""
    rows = _spread(len(C), 5000)
    priced = C[rows] + prices
    own = np.take_along_axis(priced, labels[rows, None], axis=1)[:, 0]
    priced[np.arange(len(rows)), labels[rows]] = np.inf
    loss = priced.min(axis=1) - own
    loss = loss[np.isfinite(loss)]
    return float(np.quantile(loss, part)) if len(loss) else np.inf


def _spread(n: int, m: int) -> Labels:
    """About m of n indices, spread by the golden ratio: always the same, and in step with no period of the rows."""
    return np.unique((np.arange(m) * 0.6180339887498949 % 1.0 * n).astype(np.int64))
