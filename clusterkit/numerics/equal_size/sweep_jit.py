"""Sizes of nearest-centre cells by sweeps over tiles of rows: what equal clustering needs of more than few attributes.

A tile has its rows side by side, so that the scores ``|c|² / 2 - x · c`` of its rows and all centres are sums over
whole vectors of the processor, in single precision. Rows of which the two lowest scores are nearer than rounding can
tell are decided by distances in double precision, so the sizes are those of the plain loop. Centres stay in the flat
through their seeds; with few of them rows have their coordinates in that flat.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit

__all__ = ["LOOSE", "TILE", "count", "flatten", "lay", "pack", "scores_of"]

TILE = 256
# Sums may be taken in any order, and nothing is not a number; infinities are.
LOOSE = {"nnan", "nsz", "contract", "reassoc"}


@njit(fastmath=LOOSE)
def lay(X: Any, origin: Any, axes: Any, scale: Any, tiles: Any, norms: Any) -> None:
    """Rows X (n, d), from `origin` (d,), times `scale`, into tiles (b, ceil(D / 4), 4, TILE), padded with zeros.

    ``axes`` (D, d) are orthonormal rows, or there are none and D is d. ``norms`` (b, 2) takes the largest norm of a
    tile's rows and of these in the flat.
    """
    n, d = X.shape
    lines = (d + 3) // 4 * 4
    tile = np.zeros((lines, TILE), dtype=tiles.dtype)
    squares = np.zeros(TILE, dtype=tiles.dtype)
    turned = np.zeros((axes.shape[0], lines), dtype=tiles.dtype)
    for g in range(len(axes)):
        for f in range(d):
            turned[g, f] = axes[g, f]
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
                    a0, a1, a2, a3 = turned[g, f], turned[g, f + 1], turned[g, f + 2], turned[g, f + 3]
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
def _longest(tile: Any, squares: Any) -> Any:
    for r in range(TILE):
        squares[r] = 0.0
    for f in range(tile.shape[0]):
        x = tile[f]
        for r in range(TILE):
            squares[r] += x[r] * x[r]
    # (what was rounded may have been a little longer)
    return np.sqrt(float(squares.max())) * (1.0 + 1e-5)


@njit
def flatten(C: Any, origin: Any, axes: Any, scale: Any, F: Any, rest: Any) -> Any:
    """Centres C (d, m) in the coordinates of the tiles, into F (D, m).

    Returns how far apart they are outside the flat, by rounding, and how far the origin is from the flat.
    ``axes`` (d, d) are orthonormal rows of which the first D span the flat, or there are none; ``rest`` (d, m) is room.
    """
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
def pack(F: Any, weights: Any, offsets: Any) -> Any:
    """Centres F (D, m) as `count` wants them, by pairs and fours of coordinates; returns the largest norm."""
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
def scores_of(tile: Any, D: Any, weights: Any, offsets: Any, scores: Any, best: Any, second: Any) -> None:
    """Scores (m, TILE) of a tile with D coordinates, and the two lowest of every row."""
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
def _strike(best: Any, second: Any, marks: Any) -> Any:
    """Put -inf for the lowest score where the second is no more than ``marks[0]`` above; returns how often."""
    near, low, found = marks[0], marks[1], np.int32(0)
    for r in range(TILE):
        unsure = second[r] - best[r] <= near
        found += np.int32(unsure)
        best[r] = low if unsure else best[r]
    return found


@njit(fastmath=LOOSE)
def _equal(scores: Any, best: Any) -> Any:
    found = np.int32(0)
    for r in range(TILE):
        found += np.int32(scores[r] == best[r])
    return found


@njit
def _nearest(X: Any, i: Any, C: Any) -> Any:
    """The nearest centre of row i by distances in double precision, ties the lowest."""
    least, own = np.inf, 0
    for j in range(C.shape[1]):
        square = 0.0
        for f in range(C.shape[0]):
            difference = X[i, f] - C[f, j]
            square += difference * difference
        if square < least:
            least, own = square, j
    return own


@njit
def count(
    tiles: Any, D: Any, rows: Any, n: Any, X: Any, C: Any, weights: Any, offsets: Any, near: Any, sizes: Any, room: Any
) -> Any:
    """Add the sizes of cells of the first n rows in `tiles`, ``X[rows]``, to sizes (m,); how many rows were unsure.

    ``tiles`` have D coordinates and zeros; ``room`` is (3 more than m made even, TILE). In tile b scores are not
    trusted where they differ by ``near[b]`` or less.
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
        struck = _strike(best, second, marks)
        for j in range(len(sizes)):
            sizes[j] += _equal(scores[j], best)
        if struck:
            unsure += struck
            for r in range(filled):
                if best[r] == -np.inf:
                    sizes[_nearest(X, rows[b * TILE + r], C)] += 1
    return unsure
