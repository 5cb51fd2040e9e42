"""The compiled loops of equal clustering: centres move by the sizes of their clusters until these are nearly equal.

Only cluster sizes enter the update, and they are integers that are counted exactly. So an iteration needs the sizes
alone, not the cluster of every row. This file has the update itself (`finish`, with `_coefficients` and `_move`) and
two of the three loops: centres on a line (`run_on_line`) and rows with few attributes (`run_with_tree`). The loop for
all other rows is `border_list_jit.run_with_tiles`. All three find the sizes that comparing every row with every centre
gives; the tests compare them with that plain loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts
from clusterkit.numerics.equal_size.tree_jit import BoxTree, TreeRoom, count

__all__ = [
    "COLLAPSED",
    "DOUBT",
    "FIXED",
    "GOING",
    "REACHED",
    "RUNAWAY",
    "DriftRecord",
    "DriftSettings",
    "UpdateRoom",
    "closest",
    "finish",
    "minus_distances",
    "run_on_line",
    "run_with_tree",
    "update_room",
]

GOING, REACHED, FIXED, COLLAPSED, RUNAWAY, DOUBT = 0, 1, 2, 3, 4, 5
"""Why a loop returned: it may go on; the sizes are balanced; the centres no longer move; two centres have nearly met;
a centre has run away; single precision decides too few rows, so the loop must go on in double precision."""

CHECK_INTERVAL = 10
"""Iterations between two checks of the distances between centres. A check costs O(d k²), as an update does, and centres
need hundreds of iterations to meet. Not sensitive: 5 and 20 gave the same sizes, with times within 9 %
(`tests/benchmarks/constants.py`)."""


class DriftSettings(NamedTuple):
    """The constants of a start.

    Parameters
    ----------
    step : float
        Factor of every move (the paper's alpha).
    max_ratio : float
        Bound of the quotient of sizes in the coefficients (the paper's l).
    original : bool
        True: the coefficients of GeoClust, which have no bound.
    tolerance : int
        The loop ends once the imbalance is below this (the paper's epsilon); -1: never.
    least_square : float
        The loop ends once two centres have a squared distance below this; 0: never.
    largest : float
        The loop ends once a coordinate of a centre is larger than this in absolute value.
    """

    step: float
    max_ratio: float
    original: bool
    tolerance: int
    least_square: float
    largest: float


class DriftRecord(NamedTuple):
    """Arrays in which a loop leaves its history; written in place.

    Parameters
    ----------
    best_centres : ndarray of shape (d, m)
        Centres of the iteration with the lowest imbalance so far.
    last_centres : ndarray of shape (d, m)
        Centres of the last iteration, before they moved.
    best : integer ndarray of shape (2,)
        The lowest imbalance and the number of its iteration, from 0.
    imbalances : integer ndarray of shape (max_iter,)
        Largest difference of a size from ``n // m``, one for each iteration.
    sizes : integer ndarray of shape (max_iter, m) or (0, m)
        Sizes of every iteration, unless it has no rows.
    """

    best_centres: Array
    last_centres: Array
    best: Counts
    imbalances: Counts
    sizes: Counts


class UpdateRoom(NamedTuple):
    """Work space of an update: coefficients (m, m), a row of moves (m,) and squared lengths of moves (m,)."""

    coefficients: Array
    moves: Array
    squares: Array


@njit
def update_room(m):
    """Work space for m centres."""
    return UpdateRoom(np.empty((m, m)), np.empty(m), np.empty(m))


@njit
def minus_distances(H, C, offsets, out):
    """``-|h_i - c_j|² + offset_j`` for rows H (b, d) and centres as columns C (d, m), into `out` (b, m)."""
    for i in range(H.shape[0]):
        _squared_distances(H, i, C, out[i])
        for j in range(C.shape[1]):
            out[i, j] = offsets[j] - out[i, j]


@njit
def _squared_distances(X, i, C, squares):
    for j in range(C.shape[1]):
        squares[j] = 0.0
    for f in range(C.shape[0]):
        x = X[i, f]
        for j in range(C.shape[1]):
            difference = x - C[f, j]
            squares[j] += difference * difference


@njit
def _coefficients(sizes, max_ratio, original, coefficients):
    """Factor r_ij of the move of centre i towards centre j, into ``coefficients[j, i]``."""
    m, bound = len(sizes), max_ratio - 1.0
    for j in range(m):
        for i in range(m):
            if original:
                coefficients[j, i] = sizes[j] / max(sizes[i], 1) - 1.0
            else:
                # 0 / 0 where both clusters are empty, or j is and the bound lets no centre move
                scale = sizes[j] + bound * sizes[i]
                coefficients[j, i] = bound * (sizes[j] - sizes[i]) / scale if scale > 0.0 else 0.0


@njit
def _move(C, step, room: UpdateRoom):
    """Move all centres at once; the squared lengths of the moves are left in ``room.squares``."""
    m = C.shape[1]
    coefficients, moves, squares = room.coefficients, room.moves, room.squares
    for j in range(m):
        squares[j] = 0.0
    for f in range(C.shape[0]):
        for j in range(m):
            moves[j] = 0.0
        for j in range(m):
            other = C[f, j]
            for i in range(m):
                moves[i] += coefficients[j, i] * (other - C[f, i])
        for i in range(m):
            before = C[f, i]
            C[f, i] = before + step * moves[i]
            squares[i] += (C[f, i] - before) ** 2


@njit
def _imbalance(sizes, mean):
    """Largest difference of a size from `mean`."""
    imbalance = 0
    for size in sizes:
        imbalance = max(imbalance, abs(size - mean))
    return imbalance


@njit
def closest(C):
    """Smallest squared distance between two centres, the columns of C (d, m)."""
    least = np.inf
    for i in range(C.shape[1]):
        for j in range(i):
            square = 0.0
            for f in range(C.shape[0]):
                square += (C[f, i] - C[f, j]) ** 2
            least = min(least, square)
    return least


@njit
def _copy(source, target):
    # (numba compiles loops several times faster than assignments of arrays)
    for f in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[f, j] = source[f, j]


@njit
def _largest(C):
    largest = 0.0
    for f in range(C.shape[0]):
        for j in range(C.shape[1]):
            largest = max(largest, abs(C[f, j]))
    return largest


@njit
def finish(turn, n, C, sizes, settings: DriftSettings, record: DriftRecord, room: UpdateRoom):
    """End an iteration whose sizes are counted: record them, test whether to stop, move the centres.

    C (d, m) is moved in place. Returns why the loop has to stop, `GOING` if it does not. O(d m²).
    """
    imbalance = _imbalance(sizes, n // len(sizes))
    record.imbalances[turn] = imbalance
    if turn < record.sizes.shape[0]:
        for j in range(len(sizes)):
            record.sizes[turn, j] = sizes[j]
    _copy(C, record.last_centres)
    if imbalance < record.best[0]:
        record.best[0], record.best[1] = imbalance, turn
        _copy(C, record.best_centres)
    if imbalance < settings.tolerance:
        return REACHED
    _coefficients(sizes, settings.max_ratio, settings.original, room.coefficients)
    _move(C, settings.step, room)
    longest = 0.0
    for square in room.squares:
        longest = max(longest, square)
    if longest == 0.0:
        return FIXED
    if _largest(C) > settings.largest:
        return RUNAWAY
    if settings.least_square > 0.0 and turn % CHECK_INTERVAL == 0 and closest(C) < settings.least_square:
        return COLLAPSED
    return GOING


@njit
def _interval_sizes(Q, P, order, sizes):
    """Count the sorted rows Q (n,) nearest to each centre P (m,) on a line, by binary search at the midpoints."""
    m = len(P)
    for a in range(1, m):  # insertion sort: the order hardly changes between iterations
        centre = order[a]
        b = a - 1
        while b >= 0 and (P[order[b]] > P[centre] or (P[order[b]] == P[centre] and order[b] > centre)):
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = centre
    sizes[:] = 0
    begin, left = 0, order[0]
    for a in range(1, m):
        right = order[a]
        if P[right] == P[left]:
            continue  # the first of coincident centres takes all rows
        middle = 0.5 * (P[left] + P[right])
        end = np.searchsorted(Q, middle, side="right") if left < right else np.searchsorted(Q, middle, side="left")
        sizes[left] = end - begin
        begin, left = end, right
    sizes[left] = len(Q) - begin


@njit
def run_on_line(Q, P, order, sizes, first, last, settings: DriftSettings, record: DriftRecord):
    """Iterations first..last - 1 for centres on one line: O(m log n + m²) each, after the rows are sorted once.

    Parameters
    ----------
    Q : ndarray of shape (n,)
        Positions of the rows, ascending.
    P : ndarray of shape (1, m)
        Positions of the centres; moved in place.
    order : integer ndarray of shape (m,)
        Any permutation at first; the order of the centres is maintained in it.
    sizes : integer ndarray of shape (m,)
        Sizes of the last iteration, written in place.
    first, last : int
    settings : DriftSettings
    record : DriftRecord

    Returns
    -------
    int
        Iterations finished since the start.
    int
        Why the loop stopped; `GOING` if it only reached `last`.
    """
    n, room = len(Q), update_room(P.shape[1])
    for turn in range(first, last):
        _interval_sizes(Q, P[0], order, sizes)
        why = finish(turn, n, P, sizes, settings, record, room)
        if why != GOING:
            return turn + 1, why
    return last, GOING


@njit
def run_with_tree(
    tree: BoxTree, C, sizes, tree_room: TreeRoom, first, last, settings: DriftSettings, record: DriftRecord
):
    """`run_on_line` for rows with few attributes and centres C (d, m): sizes are counted by a tree of boxes."""
    n, room = tree.rows.shape[0], update_room(C.shape[1])
    for turn in range(first, last):
        count(tree, C, sizes, tree_room)
        why = finish(turn, n, C, sizes, settings, record, room)
        if why != GOING:
            return turn + 1, why
    return last, GOING
