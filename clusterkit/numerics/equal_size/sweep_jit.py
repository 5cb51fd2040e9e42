"""Cluster sizes by sweeps over tiles of rows: how equal clustering counts rows with more than a few attributes.

A tile holds its rows side by side, so that the scores ``|c|² / 2 - x · c`` of its rows and all centres are sums over
whole vector registers, in single precision. Where the two lowest scores of a row differ by less than rounding errors
may amount to, distances in double precision decide, so the sizes equal those of the plain loop. The centres stay in the
affine hull of their seeds; if these are few, the rows are given by their coordinates in that hull.

`lay` and `flatten` change coordinates, `scores_of` is the inner loop, and `count` counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices

__all__ = ["LOOSE", "TILE", "TiledRows", "count", "flatten", "lay", "pack", "scores_of"]

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
        ``0..n-1``: the number of each row in tile order.
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
    """

    tiles: Array
    numbers: Indices
    origin: Array
    axes: Array
    scale: float
    unit: float
    norms: Array


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
    """Arrange the centres F (D, m) for `count`, by pairs of centres and fours of coordinates; return the largest norm.

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
    """Set the lowest score to ``marks[1]`` = -inf where the second is at most ``marks[0]`` above; return how often."""
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
def count(tiles, D, numbers, n, X, C, weights, offsets, near, sizes, room):
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
        In tile b scores that differ by at most ``near[b]`` are not trusted.
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
