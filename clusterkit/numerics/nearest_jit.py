"""Squared distances from many rows to few centres, without a table of them: which centre is nearest, and by how much.

Rows are taken in batches that are transposed first, so that the loops over the rows of a batch become vector
instructions whatever the number of attributes is. What is written for a row depends on that row and the centres alone,
not on the batch, the thread or the block that contains it: parts of a pass may be done anywhere, and anew, with the
same bits. Distances are computed from differences, in the type of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Labels
from clusterkit.numerics.gaussian_jit import FAST, distances_to
from clusterkit.numerics.threads import over_rows

__all__ = [
    "adopt",
    "approach",
    "compare",
    "cumulate",
    "examine",
    "gains",
    "reachable",
    "transfer",
    "used_up",
]

BATCH = 64
"""Rows of a batch: their attributes stay in the first-level cache up to about 60 attributes in float64."""


def approach(H: Array, centres: Array, first: int, distances: Array, nearest: Labels) -> None:
    """Take further centres into account in the squared distances of rows to the nearest centre, and its number.

    Parameters
    ----------
    H : ndarray of shape (b, L)
    centres : ndarray of shape (c, L)
    first : int
        Number of the first of these centres.
    distances : ndarray of shape (b,)
        Of the type of H; infinite before the first centre. Overwritten, as is `nearest`.
    nearest : ndarray of shape (b,)
        Of centres at the same distance the one with the lowest number.
    """
    H, centres = np.ascontiguousarray(H), np.ascontiguousarray(centres, dtype=H.dtype)
    over_rows(lambda start, stop: _approach(H, start, stop, centres, first, distances, nearest), len(H), centres.size)


def compare(H: Array, first: int, index: Indices, centres: Array, distances: Array) -> None:
    """Squared distances of some rows to all centres.

    Parameters
    ----------
    H : ndarray of shape (b, L)
    first : int
        Index of the first row of H.
    index : ndarray of shape (r,)
        Indices of the rows to compare, all in H.
    centres : ndarray of shape (c, L)
    distances : ndarray of shape (c, r)
        float64, written.
    """
    H, centres = np.ascontiguousarray(H), np.ascontiguousarray(centres, dtype=H.dtype)
    over_rows(lambda start, stop: _compare(H, first, index, start, stop, centres, distances), len(index), centres.size)


def examine(
    H: Array, first: int, index: Indices, centres: Array, labels: Labels, rounding_error: float, gap: Array
) -> tuple[Labels, Array, Array]:
    """The nearest centre of some rows, their squared distances to the centre of their label and to the nearest one.

    Parameters
    ----------
    H : ndarray of shape (b, L)
    first : int
        Index of the first row of H.
    index : ndarray of shape (r,)
        Indices of the rows to look at, all in H.
    centres : ndarray of shape (k, L)
    labels : ndarray of shape (n,)
    rounding_error : float
        Squared distances below this value count as 0, so that duplicates stay together.
    gap : ndarray of shape (n,)
        Overwritten for these rows: a lower bound of how much farther the second nearest centre is than the nearest.

    Returns
    -------
    nearest : ndarray of shape (r,)
        The lowest number on ties.
    current, best : ndarray of shape (r,)
        Squared distances, float64.
    """
    H, centres = np.ascontiguousarray(H), np.ascontiguousarray(centres, dtype=H.dtype)
    nearest, current, best = np.empty(len(index), dtype=np.intp), np.empty(len(index)), np.empty(len(index))
    over_rows(
        lambda start, stop: _examine(
            H, first, index, start, stop, centres, labels, H.dtype.type(rounding_error), nearest, current, best, gap
        ),
        len(index),
        centres.size,
    )
    return nearest, current, best


@njit
def used_up(gap: Array, labels: Labels, shrinkage: Array, safe: float, index: Indices) -> int:
    """Lower the gaps by the shrinkage of the class of each row; write where they are then at most `safe`, count it."""
    count = 0
    for i in range(len(gap)):
        gap[i] -= shrinkage[labels[i]]
        if gap[i] <= safe:
            index[count] = i
            count += 1
    return count


@njit
def transfer(H: Array, first: int, index: Indices, nearest: Labels, labels: Labels, change: Array) -> int:
    """Relabel the rows whose nearest centre is another one, and add them up.

    Each row is added to `change` (k, L), float64, at its new class and subtracted at its old one, in the order of the
    rows. Returns how many there are.
    """
    count = 0
    for position in range(len(index)):
        i, new = index[position], nearest[position]
        old = labels[i]
        if new != old:
            row = H[i - first]
            for c in range(len(row)):
                change[old, c] -= row[c]
                change[new, c] += row[c]
            labels[i] = new
            count += 1
    return count


@njit
def cumulate(distances: Array, noise: float, sums: Array) -> None:
    """Write the sums of all distances up to each one, without those up to `noise`."""
    total = 0.0
    for i in range(len(distances)):
        if distances[i] > noise:
            total += distances[i]
        sums[i] = total


@njit
def reachable(best: Array, labels: Labels, reach: Array, index: Indices) -> int:
    """Write which rows are farther from the centre of their label than its reach, all squared; count them."""
    count = 0
    for i in range(len(best)):
        index[count] = i
        count += best[i] > reach[labels[i]]
    return count


@njit
def gains(distances: Array, index: Indices, best: Array) -> Array:
    """By how much each of c centres lowers the squared distances `best`, (c,), from those of r rows to it, (c, r)."""
    total = np.zeros(len(distances))
    for position in range(len(index)):
        for j in range(len(distances)):
            gain = best[index[position]] - distances[j, position]
            total[j] += gain if gain > 0.0 else 0.0
    return total


@njit
def adopt(distances: Array, index: Indices, number: int, best: Array, labels: Labels) -> None:
    """Give some rows the label of a further centre where that is nearer than `best`, and lower this."""
    for position in range(len(index)):
        i = index[position]
        if distances[position] < best[i]:
            best[i], labels[i] = distances[position], number


@njit
def _approach(H: Any, start: Any, stop: Any, centres: Any, first: Any, distances: Any, nearest: Any) -> None:
    columns, out = np.zeros((H.shape[1], BATCH), dtype=H.dtype), np.empty(BATCH, dtype=H.dtype)
    best, number = np.zeros(BATCH, dtype=H.dtype), np.zeros(BATCH, dtype=np.int64)
    for begin in range(start, stop, BATCH):
        size = min(BATCH, stop - begin)
        for s in range(size):
            for c in range(H.shape[1]):
                columns[c, s] = H[begin + s, c]
            best[s], number[s] = distances[begin + s], nearest[begin + s]
        for j in range(len(centres)):
            distances_to(centres[j], columns, 0, BATCH, out)
            _nearer(out, first + j, best, number)
        for s in range(size):
            distances[begin + s], nearest[begin + s] = best[s], number[s]


@njit
def _nearer(out: Any, j: Any, best: Any, number: Any) -> None:
    for s in range(len(out)):
        lower = out[s] < best[s]
        best[s] = out[s] if lower else best[s]
        number[s] = j if lower else number[s]


@njit
def _compare(H: Any, first: Any, index: Any, start: Any, stop: Any, centres: Any, distances: Any) -> None:
    columns, out = np.zeros((H.shape[1], BATCH), dtype=H.dtype), np.empty(BATCH, dtype=H.dtype)
    for begin in range(start, stop, BATCH):
        size = min(BATCH, stop - begin)
        for s in range(size):
            row = H[index[begin + s] - first]
            for c in range(len(row)):
                columns[c, s] = row[c]
        for j in range(len(centres)):
            distances_to(centres[j], columns, 0, BATCH, out)
            for s in range(size):
                distances[j, begin + s] = out[s]


@njit
def _examine(
    H: Any,
    first: Any,
    index: Any,
    start: Any,
    stop: Any,
    centres: Any,
    labels: Any,
    rounding_error: Any,
    nearest: Any,
    current: Any,
    best: Any,
    gap: Any,
) -> None:
    columns, out = np.zeros((H.shape[1], BATCH), dtype=H.dtype), np.empty(BATCH, dtype=H.dtype)
    least, second, of_label = np.empty(BATCH, H.dtype), np.empty(BATCH, H.dtype), np.empty(BATCH, H.dtype)
    number, old = np.empty(BATCH, dtype=np.int64), np.zeros(BATCH, dtype=np.int64)
    for begin in range(start, stop, BATCH):
        size = min(BATCH, stop - begin)
        for s in range(size):
            i = index[begin + s]
            for c in range(H.shape[1]):
                columns[c, s] = H[i - first, c]
            old[s] = labels[i]
        least[:] = np.inf
        second[:] = np.inf
        number[:] = 0
        for j in range(len(centres)):
            distances_to(centres[j], columns, 0, BATCH, out)
            _two_nearest(out, j, rounding_error, old, least, second, of_label, number)
        for s in range(size):
            i = index[begin + s]
            nearest[begin + s], current[begin + s], best[begin + s] = number[s], of_label[s], least[s]
            beyond = max(np.float64(second[s]) - rounding_error, 0.0)
            gap[i] = np.sqrt(beyond) - np.sqrt(np.float64(least[s]) + rounding_error)


@njit(fastmath=FAST)
def _two_nearest(
    out: Any, j: Any, rounding_error: Any, old: Any, least: Any, second: Any, of_label: Any, number: Any
) -> None:
    for s in range(len(out)):
        distance = out[s] if out[s] >= rounding_error else 0 * out[s]
        lower = distance < least[s]
        runner_up = least[s] if lower else distance
        second[s] = runner_up if runner_up < second[s] else second[s]
        least[s] = distance if lower else least[s]
        number[s] = j if lower else number[s]
        of_label[s] = distance if old[s] == j else of_label[s]
