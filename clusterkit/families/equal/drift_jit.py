"""The compiled loops of equal clustering: centres move by the sizes of their clusters until these are nearly equal.

Only cluster sizes enter the update, and they are integers that are counted exactly. So an iteration needs the sizes
alone, not the cluster of every row. This file has the update itself (`finish`, with `_coefficients` and `_move`), the
loop for centres on a line (`run_on_line`) and that for all other rows (`run_with_tiles`). Both find the sizes that
comparing every row with every centre gives; the tests compare them with that plain loop.

**Sweeps over tiles** count rows with several attributes. A tile holds its rows side by side, so that the scores
``|c|² / 2 - x · c`` of its rows and all centres are sums over whole vector registers, in single precision. Where the
two lowest scores of a row differ by less than rounding errors may amount to, distances in double precision decide, so
that the sizes equal those of the plain loop.

`lay` and `pack` change coordinates, `scores_of` is the inner loop, and `tally` counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts

TILE = 256
"""Rows of a tile: the scores of one tile and some twenty centres stay in the first-level cache."""
LOOSE = {"nnan", "nsz", "contract", "reassoc"}
"""Freedom of the compiler in these loops: sums in any order, no NaN. Not "ninf": infinite scores mark rows."""


class TiledRows(NamedTuple):
    """Rows in tiles, in scaled coordinates about an origin.

    Parameters
    ----------
    tiles : ndarray of shape (b, ceil(d / 4), 4, TILE)
        The d coordinates of each row, padded with zeros.
    origin : ndarray of shape (d,)
    scale : float
        Factor of all coordinates, a power of 2.
    unit : float
        Largest relative rounding error of the tiles' type.
    norms : ndarray of shape (b,)
        Largest norm of the rows of each tile.
    """

    tiles: Array
    origin: Array
    scale: float
    unit: float
    norms: Array


@njit(fastmath=LOOSE)
def lay(X, origin, scale, tiles, norms):
    """Write rows X (n, d) into `tiles` and their largest norms into `norms`; the arguments as in `TiledRows`."""
    n, d = X.shape
    squares = np.zeros(TILE, dtype=tiles.dtype)
    for b in range(tiles.shape[0]):
        tile = tiles[b].reshape((-1, TILE))
        begin = b * TILE
        filled = min(TILE, n - begin)
        for f in range(tile.shape[0]):
            for r in range(TILE):
                tile[f, r] = 0.0
        for r in range(filled):
            for f in range(d):
                tile[f, r] = (X[begin + r, f] - origin[f]) * scale
        for r in range(TILE):
            squares[r] = 0.0
        for f in range(d):
            x = tile[f]
            for r in range(TILE):
                squares[r] += x[r] * x[r]
        # (before it was rounded, a row may have been a little longer)
        longest = squares[0]
        for r in range(TILE):
            longest = max(longest, squares[r])
        norms[b] = np.sqrt(float(longest)) * (1.0 + 1e-5)


@njit
def pack(C, rows: TiledRows, weights, offsets):
    """Arrange the centres C (d, m) for `tally`, by pairs of centres and fours of coordinates; return the largest norm.

    ``weights`` (ceil(m / 2), ceil(d / 4), 2, 4) take the coordinates of the tiles, ``offsets`` (m made even,) half the
    squared norms.
    """
    d, m = C.shape
    longest = 0.0
    for j in range(len(offsets)):
        offsets[j] = np.inf
    for j in range(m):
        square = 0.0
        for f in range(d):
            value = (C[f, j] - rows.origin[f]) * rows.scale
            weights[j // 2, f // 4, j % 2, f % 4] = value
            square += value * value
        offsets[j] = 0.5 * square
        longest = max(longest, square)
    return np.sqrt(longest)


@njit(fastmath=LOOSE)
def scores_of(tile, D, weights, offsets, scores, best, second):
    """Write the scores (m made even, TILE) of a tile with D coordinates, and the two lowest scores of every row.

    ``weights`` and ``offsets`` are those of `pack`.
    """
    for j in range(weights.shape[0]):
        a, b = scores[2 * j], scores[2 * j + 1]
        for f in range(weights.shape[1]):
            x0, x1, x2, x3 = tile[f, 0], tile[f, 1], tile[f, 2], tile[f, 3]
            a0, a1, a2, a3 = weights[j, f, 0, 0], weights[j, f, 0, 1], weights[j, f, 0, 2], weights[j, f, 0, 3]
            b0, b1, b2, b3 = weights[j, f, 1, 0], weights[j, f, 1, 1], weights[j, f, 1, 2], weights[j, f, 1, 3]
            if f == 0:
                of_a, of_b = offsets[2 * j], offsets[2 * j + 1]
                for r in range(TILE):
                    a[r] = of_a - (a0 * x0[r] + a1 * x1[r] + a2 * x2[r] + a3 * x3[r])
                    b[r] = of_b - (b0 * x0[r] + b1 * x1[r] + b2 * x2[r] + b3 * x3[r])
            elif D - 4 * f == 1:
                for r in range(TILE):
                    a[r] -= a0 * x0[r]
                    b[r] -= b0 * x0[r]
            elif D - 4 * f == 2:
                for r in range(TILE):
                    a[r] -= a0 * x0[r] + a1 * x1[r]
                    b[r] -= b0 * x0[r] + b1 * x1[r]
            else:
                for r in range(TILE):
                    a[r] -= a0 * x0[r] + a1 * x1[r] + a2 * x2[r] + a3 * x3[r]
                    b[r] -= b0 * x0[r] + b1 * x1[r] + b2 * x2[r] + b3 * x3[r]
        if j == 0:
            for r in range(TILE):
                best[r], second[r] = min(a[r], b[r]), max(a[r], b[r])
        else:
            for r in range(TILE):
                low, high, least = min(a[r], b[r]), max(a[r], b[r]), best[r]
                second[r] = min(min(second[r], max(least, low)), high)
                best[r] = min(least, low)


@njit(fastmath=LOOSE)
def _mark_unsure(best, second, marks):
    """Set the lowest score of rows to ``marks[1]`` = -inf if the second is within ``marks[0]``; return their number."""
    near, low, unsure_rows = marks[0], marks[1], np.int32(0)
    for r in range(TILE):
        unsure = second[r] - best[r] <= near
        unsure_rows += np.int32(unsure)
        best[r] = low if unsure else best[r]
    return unsure_rows


@njit(fastmath=LOOSE)
def _equal_entries(scores, best):
    entries = np.int32(0)
    for r in range(TILE):
        entries += np.int32(scores[r] == best[r])
    return entries


@njit
def _nearest(X, i, C):
    """Number of the centre nearest to row i by distances in double precision; ties go to the lowest number."""
    least, nearest = np.inf, 0
    for j in range(C.shape[1]):
        square = 0.0
        for f in range(C.shape[0]):
            difference = X[i, f] - C[f, j]
            square += difference * difference
        if square < least:
            least, nearest = square, j
    return nearest


@njit
def tally(tiles, X, C, weights, offsets, near, sizes, room):
    """Add the rows nearest to each centre to sizes (m,), and return how many rows needed double precision.

    Parameters
    ----------
    tiles : ndarray of shape (b, ceil(d / 4), 4, TILE)
    X : ndarray of shape (n, d)
    C : ndarray of shape (d, m)
        Centres.
    weights, offsets : ndarray
        The same centres as `pack` arranges them.
    near : ndarray of shape (b,)
        Two scores in tile b that differ by at most ``near[b]`` are computed again in double precision.
    sizes : integer ndarray of shape (m,)
    room : ndarray of shape (2 more than m made even, TILE)
        Work space.
    """
    scores, best, second = room[2:], room[0], room[1]
    n, d = X.shape
    marks = np.empty(2, dtype=room.dtype)
    marks[1] = -np.inf
    unsure = 0
    for b in range(len(tiles)):
        scores_of(tiles[b], d, weights, offsets, scores, best, second)
        filled = min(TILE, n - b * TILE)
        for r in range(filled, TILE):
            best[r], second[r] = -np.inf, np.inf
        marks[0] = near[b]
        unsure_here = _mark_unsure(best, second, marks)
        for j in range(len(sizes)):
            sizes[j] += _equal_entries(scores[j], best)
        if unsure_here:
            unsure += unsure_here
            for r in range(filled):
                if best[r] == -np.inf:
                    sizes[_nearest(X, b * TILE + r, C)] += 1
    return unsure


GOING, REACHED, FIXED, COLLAPSED, RUNAWAY, DOUBT = 0, 1, 2, 3, 4, 5
"""Why a loop returned: it may go on; the sizes are balanced; the centres no longer move; two centres have nearly met;
a centre has run away; single precision decides too few rows, so the loop must go on in double precision."""

CHECK_INTERVAL = 10
"""Iterations between two checks of the distances between centres. A check costs O(d k²), as an update does, and centres
need hundreds of iterations to meet. Not sensitive: 5 and 20 gave the same sizes, with times within 9 %."""


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
def finish(iteration, n, C, sizes, settings: DriftSettings, record: DriftRecord, room: UpdateRoom):
    """End an iteration whose sizes are counted: record them, test whether to stop, move the centres.

    C (d, m) is moved in place. Returns why the loop has to stop, `GOING` if it does not. O(d m²).
    """
    imbalance = _imbalance(sizes, n // len(sizes))
    record.imbalances[iteration] = imbalance
    if iteration < record.sizes.shape[0]:
        for j in range(len(sizes)):
            record.sizes[iteration, j] = sizes[j]
    _copy(C, record.last_centres)
    if imbalance < record.best[0]:
        record.best[0], record.best[1] = imbalance, iteration
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
    if settings.least_square > 0.0 and iteration % CHECK_INTERVAL == 0 and closest(C) < settings.least_square:
        return COLLAPSED
    return GOING


@njit
def _rows_before(Q, position, equal):
    """How many of the sorted rows Q (n,) are below a position, or at it if `equal`."""
    low, high = 0, len(Q)
    while low < high:
        half = (low + high) // 2
        if Q[half] < position or (equal and Q[half] == position):
            low = half + 1
        else:
            high = half
    return low


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
        end = _rows_before(Q, middle, left < right)
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
        Any permutation at first; updated to the order of the centres.
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
    for iteration in range(first, last):
        _interval_sizes(Q, P[0], order, sizes)
        why = finish(iteration, n, P, sizes, settings, record, room)
        if why != GOING:
            return iteration + 1, why
    return last, GOING


EPS = float(np.finfo(np.float64).eps)
"""Relative rounding error of double precision."""
MOST = 1e15
"""Largest norm of a row or a centre in single precision: its square stays far below the largest number, 3e38."""


@njit
def _rounding(longest, d, unit, size):
    """Bound on the rounding error of the difference of two scores, or of two half squared distances in `tally`.

    `longest` is the largest norm of a row, `unit` the rounding error of the tiles' numbers, `size` the largest norm of
    a centre.
    """
    far = longest + size
    return 4.0 * unit * size * (size + longest * (d + 10)) + 4.0 * (d + 16) * EPS * far * far + 1e-36


@njit
def run_with_tiles(
    X, C, sizes, rows: TiledRows, weights, offsets, scores, unsure, first, last, settings: DriftSettings,
    record: DriftRecord,
):  # fmt: skip
    """`run_on_line` for centres anywhere: sizes are counted by sweeps over all rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    C : ndarray of shape (d, m)
        Centres; moved in place.
    sizes : integer ndarray of shape (m,)
        Sizes of the last iteration, written in place.
    rows : TiledRows
    weights, offsets, scores : ndarray
        Work space of `pack` and `tally`.
    unsure : ndarray of shape (1,)
        Rows counted in double precision so far, written in place.
    first, last : int
    settings : DriftSettings
    record : DriftRecord

    Returns
    -------
    int
        Iterations finished since the start.
    int
        Why the loop stopped. `DOUBT`: more than one row per row and 2 % of the rows per iteration needed double
        precision, or the centres have left the range of single precision.
    """
    n, d = X.shape
    near, update = np.empty(len(rows.norms)), update_room(len(sizes))
    for iteration in range(first, last):
        size = pack(C, rows, weights, offsets)
        if size > MOST and rows.unit > 2.0 * EPS:
            return iteration, DOUBT
        for b in range(len(near)):
            near[b] = _rounding(rows.norms[b], d, rows.unit, size)
        for j in range(len(sizes)):
            sizes[j] = 0
        unsure[0] += tally(rows.tiles, X, C, weights, offsets, near, sizes, scores)
        why = finish(iteration, n, C, sizes, settings, record, update)
        if why != GOING:
            return iteration + 1, why
        if unsure[0] > n + 0.02 * n * iteration:
            return iteration + 1, DOUBT
    return last, GOING
