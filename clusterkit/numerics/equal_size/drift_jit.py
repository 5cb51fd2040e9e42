"""The compiled loops of equal clustering: centres move by the sizes of their clusters until these are nearly equal.

Only cluster sizes enter the update, and they are integers that are counted exactly. So an iteration needs the sizes
alone, not the cluster of every row. This file has the update itself (`finish`, with `_coefficients` and `_move`) and
the loop for centres on a line (`run_on_line`). The loop for all other rows is `border_list_jit.run_with_tiles`. Both
find the sizes that comparing every row with every centre gives; the tests compare them with that plain loop.

**Sweeps over tiles** count rows with several attributes. A tile holds its rows side by side, so that the scores
``|c|² / 2 - x · c`` of its rows and all centres are sums over whole vector registers, in single precision. Where the
two lowest scores of a row differ by less than rounding errors may amount to, distances in double precision decide, so
that the sizes equal those of the plain loop. The centres stay in the affine hull of their seeds; if these are few, the
rows are given by their coordinates in that hull.

`lay` and `flatten` change coordinates, `scores_of` is the inner loop, and `tally` counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices

__all__ = [
    "COLLAPSED",
    "DOUBT",
    "FIXED",
    "GOING",
    "LOOSE",
    "REACHED",
    "RUNAWAY",
    "TILE",
    "DriftRecord",
    "DriftSettings",
    "TiledRows",
    "UpdateRoom",
    "closest",
    "finish",
    "flatten",
    "lay",
    "minus_distances",
    "pack",
    "run_on_line",
    "scores_of",
    "tally",
    "update_room",
]


TILE = 256
"""Rows of a tile: the scores of one tile and some twenty centres stay in the first-level cache."""
LOOSE = {"nnan", "nsz", "contract", "reassoc"}
"""Freedom of the compiler in these loops: sums in any order, no NaN. Not "ninf": infinite scores mark rows."""


class TiledRows(NamedTuple):
    """Rows in tiles, in scaled coordinates about an origin.

    Parameters
    ----------
    tiles : ndarray of shape (b, ceil(D / 4), 4, TILE)
        D coordinates of each row, padded with zeros.
    numbers : int32 ndarray of shape (n,)
        The number of each row in tile order: ``0..n-1``, or an order in which neighbours share tiles (`together`).
    origin : ndarray of shape (d,)
    axes : ndarray of shape (d, d) or (0, d)
        Orthonormal rows, of which the first D span the affine hull of the centres. Without rows the coordinates are the
        attributes, and D is d.
    scale : float
        Factor of all coordinates, a power of 2.
    unit : float
        Largest relative rounding error of the tiles' type.
    norms : ndarray of shape (b, 2)
        Largest norm of the rows of each tile, before and after the projection on the hull.
    middles : ndarray of shape (b, D) or (0, D)
        A point near the rows of each tile, where neighbours share tiles.
    reach : ndarray of shape (b,) or (0,)
        Largest distance of a row of the tile from it.
    """

    tiles: Array
    numbers: Indices
    origin: Array
    axes: Array
    scale: float
    unit: float
    norms: Array
    middles: Array
    reach: Array


@njit
def surround(tiles, n, middles, reach):
    """Write a point near the rows of each tile, (b, D), and the largest distance of a row from it, (b,)."""
    D = middles.shape[1]
    for b in range(len(tiles)):
        filled = min(TILE, n - b * TILE)
        for f in range(D):
            total = 0.0
            for r in range(filled):
                total += tiles[b, f // 4, f % 4, r]
            middles[b, f] = total / filled
        largest = 0.0
        for r in range(filled):
            square = 0.0
            for f in range(D):
                square += (tiles[b, f // 4, f % 4, r] - middles[b, f]) ** 2
            largest = max(largest, square)
        reach[b] = np.sqrt(largest) * (1.0 + 1e-6)  # room for the rounding of the bounds that it makes


@njit
def _reachable(middle, reach, centres, apart, near, values, some):
    """Write to `some` the centres that a row of a tile may have the lowest score of; return their number.

    From the middle of the tile to a row the difference of two scores changes by at most the reach of the tile times the
    distance of the centres, whose squares are in `apart` (m, m).
    """
    D, m = centres.shape
    for j in range(m):
        values[j] = 0.0
    for f in range(D):
        for j in range(m):
            values[j] += (0.5 * centres[f, j] - middle[f]) * centres[f, j]
    lowest = np.argmin(values)
    count, limit, square = 0, values[lowest] + near, reach * reach
    for j in range(m):
        more = values[j] - limit
        some[count] = j
        count += not (more > 0.0 and more * more > square * apart[lowest, j])
    return count


@njit
def _squares_between(centres):
    D, m = centres.shape
    apart = np.zeros((m, m))
    for f in range(D):
        for i in range(m):
            for j in range(m):
                apart[i, j] += (centres[f, i] - centres[f, j]) ** 2
    return apart


@njit(fastmath=LOOSE)
def _scores_near(tile, weights, of_all, score, best, second):
    """Write the scores (TILE,) of a tile of at most three coordinates and one centre, and the two lowest so far."""
    x, y, z = tile[0], tile[1], tile[2]
    a, b, c = weights[0], weights[1], weights[2]
    for r in range(TILE):
        value = of_all - (a * x[r] + b * y[r] + c * z[r])
        score[r] = value
        least = best[r]
        second[r] = min(second[r], max(least, value))
        best[r] = min(least, value)


@njit
def tally_near(rows, centres, X, C, weights, offsets, near, sizes, room):
    """`tally` of all rows where neighbours share tiles: a tile is compared with the centres near it, mostly one or two.

    Parameters
    ----------
    rows : TiledRows
    centres : ndarray of shape (D, m)
        The centres in the coordinates of the tiles.
    X, C, weights, offsets, near, sizes, room
        As in `tally`.
    """
    scores, best, second = room[3:], room[0], room[1]
    tiles, n, m = rows.tiles, len(rows.numbers), len(sizes)
    marks, values, some = np.empty(2, dtype=room.dtype), np.empty(m), np.empty(m + 1, dtype=np.int64)
    marks[1] = -np.inf
    unsure, apart = 0, _squares_between(centres)
    for b in range((n + TILE - 1) // TILE):
        filled = min(TILE, n - b * TILE)
        count = _reachable(rows.middles[b], rows.reach[b], centres, apart, 2.0 * near[b], values, some)
        if count == 1:
            sizes[some[0]] += filled
            continue
        best[:] = np.inf
        second[:] = np.inf
        for position in range(count):
            j = some[position]
            _scores_near(tiles[b, 0], weights[j // 2, 0, j % 2], offsets[j], scores[position], best, second)
        for r in range(filled, TILE):
            best[r], second[r] = -np.inf, np.inf
        marks[0] = near[b]
        unsure_here = _mark_unsure(best, second, marks)
        for position in range(count):
            sizes[some[position]] += _equal_entries(scores[position], best)
        if unsure_here:
            unsure += unsure_here
            for r in range(filled):
                if best[r] == -np.inf:
                    sizes[_nearest(X, rows.numbers[b * TILE + r], C)] += 1
    return unsure


@njit(fastmath=LOOSE)
def lay(X, origin, axes, scale, tiles, norms):
    """Write rows X (n, d) into `tiles` and their largest norms into `norms`; the arguments as in `TiledRows`.

    ``axes`` (D, d) are only the axes that span the hull; without axes D is d.
    """
    n, d = X.shape
    lines = (d + 3) // 4 * 4
    tile = np.zeros((lines, TILE), dtype=tiles.dtype)
    squares = np.zeros(TILE, dtype=tiles.dtype)
    rotated = np.zeros((axes.shape[0], lines), dtype=tiles.dtype)
    for g in range(len(axes)):
        for f in range(d):
            rotated[g, f] = axes[g, f]
    for b in range(tiles.shape[0]):
        begin = b * TILE
        filled = min(TILE, n - begin)
        for r in range(filled):
            for f in range(d):
                tile[f, r] = (X[begin + r, f] - origin[f]) * scale
        for f in range(d):
            for r in range(filled, TILE):
                tile[f, r] = 0.0
        norms[b, 0] = _longest(tile, squares)
        norms[b, 1] = norms[b, 0]
        if len(axes):
            for g in range(len(axes)):
                out = tiles[b, g // 4, g % 4]
                for r in range(TILE):
                    out[r] = 0.0
                for f in range(0, lines, 4):
                    x0, x1, x2, x3 = tile[f], tile[f + 1], tile[f + 2], tile[f + 3]
                    a0, a1, a2, a3 = rotated[g, f], rotated[g, f + 1], rotated[g, f + 2], rotated[g, f + 3]
                    for r in range(TILE):
                        out[r] += a0 * x0[r] + a1 * x1[r] + a2 * x2[r] + a3 * x3[r]
            for g in range(len(axes), 4 * tiles.shape[1]):
                for r in range(TILE):
                    tiles[b, g // 4, g % 4, r] = 0.0
            norms[b, 1] = _longest(tiles[b].reshape((-1, TILE)), squares)
        else:
            for f in range(lines):
                for r in range(TILE):
                    tiles[b, f // 4, f % 4, r] = tile[f, r]


@njit(fastmath=LOOSE)
def _longest(tile, squares):
    for r in range(TILE):
        squares[r] = 0.0
    for f in range(tile.shape[0]):
        x = tile[f]
        for r in range(TILE):
            squares[r] += x[r] * x[r]
    # (before it was rounded, a row may have been a little longer)
    return np.sqrt(float(squares.max())) * (1.0 + 1e-5)


@njit
def flatten(C, rows: TiledRows, F, rest):
    """Write the centres C (d, m) into F (D, m), in the coordinates of the tiles; ``rest`` (d, m) is work space.

    Returns the largest distance between two centres perpendicular to the hull, which only rounding makes positive, and
    the distance of the origin from the hull.
    """
    origin, axes, scale = rows.origin, rows.axes, rows.scale
    d, m = C.shape
    D = F.shape[0]
    if len(axes) == 0:
        for f in range(d):
            for j in range(m):
                F[f, j] = (C[f, j] - origin[f]) * scale
        return 0.0, 0.0
    for g in range(d):
        out = F[g] if g < D else rest[g]
        for j in range(m):
            out[j] = 0.0
        for f in range(d):
            share = axes[g, f] * scale
            for j in range(m):
                out[j] += share * (C[f, j] - origin[f])
    stray, off = 0.0, 0.0
    for g in range(D, d):
        off += rest[g, 0] ** 2
    for j in range(1, m):
        square = 0.0
        for g in range(D, d):
            square += (rest[g, j] - rest[g, 0]) ** 2
        stray = max(stray, square)
    return 2.0 * np.sqrt(stray), np.sqrt(off) + np.sqrt(stray)


@njit
def pack(F, weights, offsets):
    """Arrange the centres F (D, m) for `tally`, by pairs of centres and fours of coordinates; return the largest norm.

    ``weights`` (ceil(m / 2), ceil(D / 4), 2, 4) take the coordinates, ``offsets`` (m made even,) half the squared
    norms.
    """
    D, m = F.shape
    longest = 0.0
    for j in range(len(offsets)):
        offsets[j] = np.inf
    for j in range(m):
        square = 0.0
        for f in range(D):
            weights[j // 2, f // 4, j % 2, f % 4] = F[f, j]
            square += F[f, j] * F[f, j]
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
def tally(tiles, D, numbers, n, X, C, weights, offsets, near, sizes, room):
    """Add the rows nearest to each centre to sizes (m,), and return how many rows needed double precision.

    Parameters
    ----------
    tiles : ndarray of shape (b, ceil(D / 4), 4, TILE)
        Rows with D coordinates; the first n are counted.
    D, n : int
    numbers : int32 ndarray of shape (n,)
        The rows' numbers in X.
    X : ndarray of shape (N, d)
    C : ndarray of shape (d, m)
        Centres.
    weights, offsets : ndarray
        The same centres as `pack` arranges them.
    near : ndarray of shape (b,)
        Two scores in tile b that differ by at most ``near[b]`` are computed again in double precision.
    sizes : integer ndarray of shape (m,)
    room : ndarray of shape (3 more than m made even, TILE)
        Work space.
    """
    scores, best, second = room[3:], room[0], room[1]
    marks = np.empty(2, dtype=room.dtype)
    marks[1] = -np.inf
    unsure = 0
    for b in range((n + TILE - 1) // TILE):
        scores_of(tiles[b], D, weights, offsets, scores, best, second)
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
                    sizes[_nearest(X, numbers[b * TILE + r], C)] += 1
    return unsure


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
