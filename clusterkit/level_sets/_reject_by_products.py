"""Kernel sums at one sample point of every segment, as matrix products.

For points i, j and a position λ the identity ``|x(λ) - x_s|² = (1-λ) d_is + λ d_js - λ(1-λ) d_ij`` gives the sums on
all segments at once, ``exp(λ(1-λ) d_ij) Σ_s β_s e^{-(1-λ) d_is} e^{-λ d_js}``. If there are many components, that
rejects most pairs with a few operations for each. Scaled coordinates as in `_segments_jit`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.work import spend
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import from_mean

__all__ = ["pairs_not_rejected"]

ROWS = 512
"""Points in a block: its matrices of 512 x 512 numbers, 2 MiB each, stay in the cache."""
LARGEST_EXPONENT = 300.0
"""Largest exponent of the factor of a pair: a larger factor would multiply a sum that may have been rounded to 0."""
PRODUCTS = 60
"""Terms of a product of matrices that cost as much as a kernel evaluation."""
FEW = 0.02
"""Fraction of undecided pairs of a block at which further positions cost more than the test of single segments."""


def pairs_not_rejected(
    points: Array, component: Labels, centres: Array, weights: Array, level: float, positions: Array
) -> Iterator[Indices]:
    """Pairs of different components whose segments may be inside, (e, 2), block by block.

    Parameters
    ----------
    points : ndarray or sparse rows of shape (u, d)
    component : ndarray of shape (u,)
    centres : ndarray or sparse rows of shape (s, d)
    weights : ndarray of shape (s,)
    level : float
        A pair is rejected if the sum at one position is below it by more than rounding.
    positions : ndarray
        Positions on the segment from the point of smaller index, between 0 and 1; those after the first are only used
        while many pairs of a block are left.

    Yields
    ------
    ndarray of shape (e, 2)
        Pairs that are not rejected, the shortest first; they have to be tested by other means.

    Notes
    -----
    O(u² s) operations for a position, memory of a block. The expanded form of distances is used above four
    attributes; it loses about ``1e-15 |x|²`` in the exponent, which the margin below the level covers.
    """
    low = level * (1.0 - max(1e-6, 1e-13 * float(from_mean(points, centres.mean(axis=0)).max())))
    positive = np.flatnonzero(weights > 0)
    centres, logs = centres[positive], np.log(weights[positive])
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
                spend(A.size + B.size + sums.size + sums.size * A.shape[1] // PRODUCTS)
                undecided &= ~safe | (sums >= low)
                if undecided.sum() <= FEW * total:
                    break
            if undecided.any():
                # shortest first: pairs of components joined by them need no further test
                first, second = np.nonzero(undecided)
                order = np.argsort(between[first, second], kind="stable")
                yield np.stack([first[order] + rows.start, second[order] + columns.start], axis=1)
