"""Sums of a Gaussian domain at one sample of every line, as matrix products.

For points i, j and a position λ the identity ``|x(λ) - x_s|² = (1-λ) d_is + λ d_js - λ(1-λ) d_ij`` makes the sums at
all lines at once ``exp(λ(1-λ) d_ij) Σ_s β_s e^{-(1-λ) d_is} e^{-λ d_js}``. Where components are many, that rejects most
pairs for the price of a few operations each. Scaled coordinates as in `_lines_jit`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clusterkit._typing import Array
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import from_mean

__all__ = ["pairs_not_rejected"]

ROWS = 512
# Above this exponent the factor of a pair would multiply what has been rounded to 0.
LARGEST_EXPONENT = 300.0
FEW = 0.02


def pairs_not_rejected(
    points: Array, component: Array, centres: Array, weights: Array, level: float, positions: Array
) -> Iterator[Array]:
    """Pairs of different components whose samples may all be inside, (e, 2), block by block.

    Parameters
    ----------
    points : ndarray or sparse rows of shape (u, d)
    component : ndarray of shape (u,)
    centres : ndarray or sparse rows of shape (s, d)
    weights : ndarray of shape (s,)
    level : float
        A pair is rejected if a sample is below it by more than rounding.
    positions : ndarray
        Of the samples on the line from the point of smaller index; those after the first are only tried where many
        pairs of a block are left.

    Notes
    -----
    O(u² s) operations for a position, memory of a block. The expanded form of distances is used above four
    attributes; it loses about ``1e-15 |x|²`` in the exponent, which the margin below the level covers. What is not
    rejected is to be tested by other means.
    """
    low = level * (1.0 - max(1e-6, 1e-13 * float(from_mean(points, centres.mean(axis=0)).max())))
    kept = np.flatnonzero(weights > 0)
    centres, logs = centres[kept], np.log(weights[kept])
    blocks = [slice(start, min(len(points), start + ROWS)) for start in range(0, len(points), ROWS)]
    for at, rows in enumerate(blocks):
        D_rows = squared_distances(points[rows], centres)
        for columns in blocks[at:]:
            undecided = component[rows, None] != component[None, columns]
            if columns is rows:
                undecided &= np.arange(rows.start, rows.stop)[:, None] < np.arange(rows.start, rows.stop)[None]
            total = int(undecided.sum())
            if not total:
                continue
            D_columns = squared_distances(points[columns], centres)
            between = squared_distances(points[rows], points[columns])
            for position in positions:
                share = position * (1.0 - position)
                A = np.exp(logs - (1.0 - position) * D_rows)
                B = np.exp(-position * D_columns)
                exponent = share * between
                safe = exponent <= LARGEST_EXPONENT
                sums = (A @ B.T) * np.exp(np.where(safe, exponent, 0.0))
                undecided &= ~safe | (sums >= low)
                if undecided.sum() <= FEW * total:
                    break
            if undecided.any():
                # shortest first: what they join needs no further test
                first, second = np.nonzero(undecided)
                order = np.argsort(between[first, second], kind="stable")
                yield np.stack([first[order] + rows.start, second[order] + columns.start], axis=1)
