"""Minimum and maximum over the values of Gaussian modules, evaluating only modules that can matter.

A module separates two parts. Its value at a row is a sum over the support vectors of both parts. All modules of a part
share the kernel values of its support vectors, which are computed when its first module is evaluated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clusterkit._jit import njit
from clusterkit._typing import Array, Labels
from clusterkit.numerics.gaussian_jit import CENTRES, FAST, distances_to, fast_exp, product
from clusterkit.numerics.threads import over_rows

__all__ = ["ALPHA_BETA", "ROW_BREAK", "STAIRCASE", "search"]

ALPHA_BETA, ROW_BREAK, STAIRCASE = 0, 1, 2
"""Rules of `search`: exact value, exact sign, or a guess of the sign from fewer modules."""


class ModuleArrays(NamedTuple):
    """All modules of a classifier, with a Gaussian kernel.

    Parameters
    ----------
    columns : ndarray of shape (d, s)
        Support vectors as columns, part after part.
    gamma : float
    offsets : ndarray of shape (P + 1,)
        Where the support vectors of each part begin.
    coefficients : ndarray of shape (P, s)
        ``[b, i]``: coefficient of support vector i in the module of its part and part b.
    intercepts : ndarray of shape (P, P)
        Symmetric.
    """

    columns: Array
    gamma: float
    offsets: Labels
    coefficients: Array
    intercepts: Array


def search(
    Y: Array,
    columns: Array,
    gamma: float,
    offsets: Labels,
    coefficients: Array,
    intercepts: Array,
    first: Labels,
    order: Labels,
    rule: int,
) -> tuple[Array, NDArray[np.intp]]:
    """Min-max of every pair of classes p < q at every row: the maximum over parts of q of the minimum over parts of p.

    Parameters
    ----------
    Y : ndarray of shape (n, d)
    columns : ndarray of shape (d, s)
    gamma : float
    offsets : ndarray of shape (P + 1,)
    coefficients : ndarray of shape (P, s)
    intercepts : ndarray of shape (P, P)
        As in `ModuleArrays`.
    first : ndarray of shape (c + 1,)
        Where the parts of each class begin.
    order : ndarray of shape (n, P)
        The parts, class by class, in the order in which to evaluate them at each row.
    rule : int
        ALPHA_BETA: the value. ROW_BREAK: its sign as 1.0 or -1.0; the sign of 0 is -1. STAIRCASE: a guess of that sign
        from at most one module for each part, in that order.

    Returns
    -------
    values : ndarray of shape (n, c (c - 1) / 2)
        Pairs in the order (0, 1), (0, 2), ..., (1, 2), ...
    evaluated : ndarray of shape (n,)
        Number of modules evaluated at each row.

    Notes
    -----
    For each row at most s kernel values, and as many products as all modules have support vectors. The values of a row
    depend on that row alone.
    """
    if Y.shape[1] != len(columns):  # compiled loops would read beyond the end
        raise ValueError(f"rows of {Y.shape[1]} attributes for support vectors of {len(columns)}")
    c = len(first) - 1
    values = np.empty((len(Y), c * (c - 1) // 2))
    evaluated = np.empty(len(Y), dtype=np.intp)
    modules = ModuleArrays(columns, gamma, offsets, coefficients, intercepts)
    over_rows(
        lambda start, stop: _rows(Y, start, stop, modules, first, order, rule, values, evaluated),
        len(Y),
        columns.size + coefficients.size // 4,
    )
    return values, evaluated


@njit(fastmath=FAST)
def _rows(
    Y: Any, start: Any, stop: Any, modules: ModuleArrays, first: Any, order: Any, rule: Any, values: Any, evaluated: Any
) -> Any:
    columns, gamma, offsets = modules.columns, modules.gamma, modules.offsets
    coefficients, intercepts = modules.coefficients, modules.intercepts
    kernel = np.empty(columns.shape[1])
    known = np.empty(len(offsets) - 1, dtype=np.bool_)
    distances = np.empty(CENTRES)
    for r in range(start, stop):
        known[:] = False
        count, pair = 0, 0
        for p in range(len(first) - 1):
            negatives = order[r, first[p] : first[p + 1]]
            for q in range(p + 1, len(first) - 1):
                positives = order[r, first[q] : first[q + 1]]
                i, j = 0, 0
                best, lowest = -np.inf, np.inf
                while i < len(positives):
                    a, b = positives[i], negatives[j]
                    if not known[a]:
                        _fill(Y[r], columns, gamma, offsets[a], offsets[a + 1], kernel, distances)
                        known[a] = True
                    if not known[b]:
                        _fill(Y[r], columns, gamma, offsets[b], offsets[b + 1], kernel, distances)
                        known[b] = True
                    value = intercepts[a, b]
                    value += product(coefficients[b, offsets[a] : offsets[a + 1]], kernel[offsets[a] : offsets[a + 1]])
                    value += product(coefficients[a, offsets[b] : offsets[b + 1]], kernel[offsets[b] : offsets[b + 1]])
                    count += 1
                    if (
                        rule == STAIRCASE
                    ):  # one step along the staircase: to the next column if positive, else to the next row
                        if value > 0.0:
                            j += 1
                        else:
                            i += 1
                        if j == len(negatives):
                            best = 1.0
                            break
                        continue
                    lowest = min(lowest, value)
                    j += 1
                    cut = lowest <= 0.0 if rule == ROW_BREAK else lowest <= best
                    if cut or j == len(negatives):
                        best = max(best, lowest)
                        if rule == ROW_BREAK and best > 0.0:
                            break
                        i, j, lowest = i + 1, 0, np.inf
                if rule != ALPHA_BETA:
                    best = 1.0 if best > 0.0 else -1.0
                values[r, pair] = best
                pair += 1
        evaluated[r] = count


@njit(fastmath=FAST)
def _fill(y: Any, columns: Any, gamma: Any, start: Any, stop: Any, kernel: Any, distances: Any) -> Any:
    for begin in range(start, stop, CENTRES):
        size = min(CENTRES, stop - begin)
        distances_to(y, columns, begin, size, distances)
        for s in range(size):
            kernel[begin + s] = fast_exp(-gamma * distances[s])
