"""Some of many: the smallest values, a random sample of rows, and distinct rows, where all of them would cost too much.

`n_distinct` counts distinct rows only as far as it matters, `sets_of_equal_rows` says which rows are equal. `mixed` is
the generator SplitMix64, which can be entered anywhere: the number of a row follows from a seed and its place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Rng
from clusterkit.numerics.sparse_rows import SparseRows


def smallest(values: Array, size: int) -> Indices:
    """Indices of the `size` smallest values, ascending; of equal values the first.

    Examples
    --------
    >>> smallest(np.array([3.0, 1.0, 2.0, 1.0]), 2).tolist()
    [1, 3]
    """
    if len(values) <= size:
        return np.arange(len(values))
    among = np.flatnonzero(values <= np.partition(values, size - 1)[size - 1])
    return np.sort(among[np.argsort(values[among], kind="stable")[:size]])


def sample_rows(n: int, max_rows: int, rng: Rng) -> Indices:
    """Indices of rows, ascending: all n, or `max_rows` of them at random; nothing is drawn where all are taken."""
    return np.arange(n) if n <= max_rows else np.sort(rng.choice(n, max_rows, replace=False))


PRIME, SHIFT = np.uint64(1099511628211), np.uint64(29)
"""Constants of the hash of the bits of a row (FNV), column by column."""


def n_distinct(X: Array | SparseRows, enough: int) -> int:
    """The number of distinct rows of X (n, d), or a smaller number of them that is at least `enough`.

    Examples
    --------
    >>> n_distinct(np.array([[1.0], [2.0], [1.0]]), 3)
    2
    """
    if isinstance(X, SparseRows):
        return len(X.distinct()[0])
    size, count = 0, 0
    while count < enough and size < len(X):
        size = max(2 * enough, 8 * size)
        count = len(np.unique(X[:size], axis=0))
    return count


def distinct_rows(X: Array | SparseRows) -> tuple[Indices, Indices]:
    """First row of each set of equal rows, in order of appearance, and the number of the set of every row.

    O(n d + n log n), without the compiler, whose import takes longer than many a fit. A compiled table of hashes took a
    fifth to two thirds of the time up to 5,000 rows, where that is some hundredths of a fit, and up to four times as
    long for 300,000 rows.

    Parameters
    ----------
    X : ndarray or sparse rows of shape (n, d)
        Finite numbers. 0.0 and -0.0 are equal.

    Returns
    -------
    first : ndarray of shape (u,)
    inverse : ndarray of shape (n,)

    Examples
    --------
    >>> first, inverse = distinct_rows(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]))
    >>> first.tolist(), inverse.tolist()
    ([0, 1], [0, 1, 0])
    """
    if isinstance(X, SparseRows):
        return X.distinct()
    codes, every = np.zeros(len(X), dtype=np.uint64), np.arange(len(X))
    for column in X.T:
        codes = (codes ^ (column.astype(np.float64) + 0.0).view(np.uint64)) * PRIME  # 0.0 and -0.0 are equal
        codes ^= codes >> SHIFT
    ordered = np.sort(codes)
    if (ordered[1:] != ordered[:-1]).all():
        return every, every.copy()
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    repeated = np.flatnonzero(first[inverse] != every)
    if (X[repeated] != X[first[inverse[repeated]]]).any():  # of different rows with one hash
        _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return first[order], number[inverse]


def sets_of_equal_rows(X: Array | SparseRows) -> Indices | None:
    """The number of the set of equal rows of each row of X (n, d), as (n,); None if no two rows are equal.

    Examples
    --------
    >>> sets_of_equal_rows(np.array([[2.0], [1.0], [2.0]])).tolist()
    [0, 1, 0]
    >>> sets_of_equal_rows(np.array([[2.0], [1.0]])) is None
    True
    """
    first, inverse = distinct_rows(X)
    return None if len(first) == X.shape[0] else inverse


STEP = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, by which the states of the generator are apart."""

FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""Factors of `mixed`."""


def mixed(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """States with every bit spread over all 64, in an array of their own.

    Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators, OOPSLA, with the constants of Stafford's
    variant 13.
    """
    states = (states ^ (states >> np.uint64(30))) * FIRST_FACTOR
    states = (states ^ (states >> np.uint64(27))) * SECOND_FACTOR
    return states ^ (states >> np.uint64(31))


def uniforms(seed: int, rows: slice) -> Array:
    """Numbers in [0, 1) on a grid of 2^-53, one for each row of a block: the same in whatever blocks rows are seen.

    Examples
    --------
    >>> bool((uniforms(7, slice(3, 9))[2:] == uniforms(7, slice(5, 9))).all())
    True
    """
    places = np.arange(rows.start + 1, rows.stop + 1, dtype=np.uint64)
    states = mixed(np.uint64(seed) + places * STEP)
    return (states >> np.uint64(11)) * 2.0**-53


MOST_POINTS, REPEATS = 20, 5
"""Largest number of distinct points, and least average number of rows a point, of data that are no sample of a density.
Neither test can see anything there, since the projections are a few steps and most distances to neighbours are 0."""


def few_points(X: Array) -> int | None:
    """The number of distinct rows of X, (n, d), if they are few and mostly repeated; None otherwise.

    O(n d) where there are many: 21 distinct ones settle it.

    Examples
    --------
    >>> few_points(np.repeat([[0.0], [1.0]], 40, axis=0)), few_points(np.arange(80.0)[:, None])
    (2, None)
    """
    if len(X) < 2 * REPEATS:
        return None
    points = n_distinct(X, MOST_POINTS + 1)
    return points if are_few(points, len(X)) else None


def are_few(points: int, n: int) -> bool:
    """Whether n rows at so many distinct points are no sample of a density."""
    return points <= min(MOST_POINTS, n // REPEATS)


ROUNDING = 5e-7
"""Gap along a line between two rows of length 1 that may be one: in single precision the raw numbers, the length and
the quotient move a row by 1e-7 at most, and the lines are a few times as long."""

LINES = 4
"""Random lines along which rows must be equal: unrelated rows are so along one or two of them."""


def without_rounding(X: Array) -> Array:
    """Rows X (n, d) of length 1, in which those that are equal up to `ROUNDING` are one and the same.

    Rows are sorted along random lines, again and again among those between which there was no gap. A set that is wider
    than rounding makes it is a chain of different rows, which stay what they are. O(n d + n log n).

    Examples
    --------
    >>> X = np.array([[0.6, 0.8], [0.6, 0.80000005], [0.8, 0.6]], dtype=np.float32)
    >>> len(np.unique(X, axis=0)), len(np.unique(without_rounding(X), axis=0))
    (3, 2)
    """
    lines = np.random.default_rng(0).standard_normal((X.shape[1], LINES))
    along = np.concatenate([X[i : i + 512].astype(np.float64) @ lines for i in range(0, len(X), 512)])
    number, starts = np.zeros(len(X), dtype=np.intp), np.ones(len(X), dtype=bool)
    for places in along.T:
        order = np.lexsort((places, number))
        starts[1:] = (np.diff(number[order]) > 0) | (np.diff(places[order]) > ROUNDING)
        number[order] = np.cumsum(starts) - 1
    first = np.flatnonzero(starts)
    widths = np.maximum.reduceat(along[order], first) - np.minimum.reduceat(along[order], first)
    is_one = np.all(widths <= 4 * ROUNDING, axis=1)[number]
    return X[np.where(is_one, order[first][number], np.arange(len(X)))]
