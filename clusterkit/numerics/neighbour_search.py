"""The nearest rows of all rows in single precision, by blocks of products: exact, or from a sketch and ranked again.

Up to `EXACT_WORK` products all pairs of rows are compared. Beyond it candidates come from the coordinates on leading
principal axes (the sketch), and are ranked by all coordinates; from `CELLS_FROM` rows on each row is compared with
those of the nearest cells of a k-means only. How many of the true neighbours are found is measured on some rows.
"""

from __future__ import annotations

from functools import partial

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Rng
from clusterkit.numerics.lloyd import nearest, quick_centres
from clusterkit.numerics.threads import CHUNK, limited_threads, over_rows, thread_pool

METHODS = ("auto", "exact", "sketch")
"""What may be asked for, see `method_for`."""

EXACT_WORK = 15_000_000_000
"""Products ``n² d / 2`` up to which all pairs of rows are compared, less than half a second of a core: 6,000 rows of
768 numbers, 10,000 of 256."""

CELLS_FROM = 30_000
"""Rows from which on not all pairs are compared, even in the sketch."""

BLOCK = 512
"""Rows of a block of products: 1 MB of similarities, which a core works off while they are in its cache."""

SKETCHES = (64, 128)
"""Numbers of principal axes that are tried for the sketch, the second where the first does not find `WANTED`."""

CANDIDATES = (3, 4, 6, 8)
"""Candidates from the sketch for each neighbour that is asked for: the fewest that find `WANTED`, else the most."""

WANTED = 0.96
"""Share of the true neighbours that the candidates must have on the rows that they are tried on: the recall is then
.95 in spite of the error of so few rows."""

FEW = 25
"""Tried rows that are compared with the sketch of all rows at once, for the sake of the memory."""

SKETCH_ROWS = 5000
"""Rows from which the axes of the sketch are computed."""

TRIED_ROWS = 200
"""Rows whose true neighbours are computed, for the estimate of the recall: its standard error is below .01."""

CELL_ROWS, PROBED_CELLS, CELL_TURNS, ROWS_A_CELL = 400, 20, 4, 60
"""Mean size of a cell; nearest cells that a row is compared with; iterations of k-means, on so many rows for a cell."""

LEVELS = 4096
"""Levels of the distance from the mean by which rows are ordered, see `canonical_order`."""


@attrs.frozen(eq=False)
class Neighbours:
    """The nearest other rows of each row.

    Parameters
    ----------
    index : ndarray of int32, shape (n, k)
        Nearest first; of equally near ones the lowest number.
    squared : ndarray of float32, shape (n, k)
        Squared distances.
    method : str
        "exact", "sketch" or "cells".
    recall : float
        Share of the true neighbours that were found, on some rows; 1 where all pairs are compared.
    sketch : int or None
        Number of axes of the sketch, where there is one.
    """

    index: NDArray[np.int32]
    squared: Array
    method: str
    recall: float
    sketch: int | None


def canonical_order(X: Array) -> tuple[Indices, Indices]:
    """Distinct rows of X (n, d) in an order of their own, (u,), and the place of every row in it, (n,).

    Algorithms whose answer depends on the order of the rows then do not depend on the order in which these came. The
    key is the distance from the mean, cut into levels that are shuffled by a hash; it is nearly the same for rotated
    rows. Equal rows have one place.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [3.0, 0.0], [0.0, 1.0]])
    >>> first, place = canonical_order(X)
    >>> len(first), bool((X[first][place] == X).all())
    (2, True)
    """
    from clusterkit.numerics.selection import mixed

    n = len(X)
    mean = X.mean(axis=0, dtype=np.float64)
    key = np.empty(n)

    def measure(begin: int, end: int) -> None:
        for block in range(begin, end):
            rows = slice(block * BLOCK, (block + 1) * BLOCK)
            gaps = X[rows] - mean
            key[rows] = np.einsum("ij,ij->i", gaps, gaps)

    with thread_pool() as over:
        over(measure, 0, -(-n // BLOCK), BLOCK * X.shape[1])
    by_key = np.argsort(key, kind="stable")
    # rounding of the mean differs with the order of the rows: the key is cut to what all orders agree on
    ordered = key[by_key]
    scale = float(ordered[-1]) or 1.0
    new = np.diff(ordered, prepend=-np.inf) > 1e-12 * scale
    group = np.cumsum(new) - 1
    sizes = np.bincount(group)
    if (sizes > 1).any():  # rows at one distance from the mean: equal ones, or by their numbers
        among = by_key[sizes[group] > 1]
        _, rank = np.unique(X[among] + 0.0, axis=0, return_inverse=True)
        ranks = np.zeros(n, dtype=np.intp)
        ranks[among] = rank.reshape(-1)
        by_key = by_key[np.lexsort((ranks[by_key], group))]
        same = (np.diff(group, prepend=-1) == 0) & (np.diff(ranks[by_key], prepend=-1) == 0)
    else:
        same = np.zeros(n, dtype=bool)
    level = np.floor(key[by_key] * (LEVELS / scale)).astype(np.uint64)
    first = np.flatnonzero(~same)
    shuffled = np.argsort(mixed(level[first]), kind="stable")
    place = np.empty(len(first), dtype=np.intp)
    place[shuffled] = np.arange(len(first))
    inverse = np.empty(n, dtype=np.intp)
    inverse[by_key] = place[np.cumsum(~same) - 1]
    return by_key[first][shuffled], inverse


def method_for(u: int, d: int, search: str = "auto") -> str:
    """How the nearest of u rows of d numbers are searched: "exact", "sketch" or "cells".

    Parameters
    ----------
    u, d : int
    search : str
        One of `METHODS`. "auto" compares all pairs up to `EXACT_WORK`, and takes the sketch beyond.

    Examples
    --------
    >>> [method_for(u, 768) for u in (5_000, 20_000, 100_000)]
    ['exact', 'sketch', 'cells']
    """
    small = u * u * d / 2 <= EXACT_WORK or d <= SKETCHES[0] or u <= BLOCK
    if search == "exact" or (search == "auto" and small):
        return "exact"
    return "cells" if u >= CELLS_FROM else "sketch"


def nearest_rows(X: Array, order: Indices, k: int, rng: Rng, search: str = "auto") -> Neighbours:
    """The k nearest others of the rows ``X[order]``, numbered by their place in the order; k < u.

    Parameters
    ----------
    X : ndarray of float32, shape (n, d), C-contiguous
    order : ndarray of int, shape (u,)
        Distinct rows, as by `canonical_order`.
    k : int
    rng : Generator
        Draws the rows of the sketch, of the cells and of the estimate of the recall.
    search : str
        As in `method_for`.

    Notes
    -----
    Of equal bits for every number of threads: blocks of products do not depend on it.
    """
    from clusterkit.numerics.neighbour_search_jit import rank_again

    u, d = len(order), X.shape[1]
    method = method_for(u, d, search)
    centre = X.mean(axis=0, dtype=np.float64).astype(np.float32)
    with limited_threads(0):
        if method == "exact":
            points = X[order] - centre
            index, similar = _of_all_pairs(points, k, np.einsum("ij,ij->i", points, points))
            return Neighbours(index, np.maximum(-2.0 * similar, 0.0), "exact", 1.0, None)
        tried = np.sort(rng.choice(u, min(TRIED_ROWS, u), replace=False))
        truth = _exact_of(X, order, tried, k, centre)
        sketch = _sketch(X, order, tried, truth, centre, rng)
        axes = sketch.Z.shape[1]
        visit: Indices = np.arange(u)
        if method == "cells":
            candidates, visit = _of_cells(sketch, rng)
        else:
            candidates, _ = _of_all_pairs(sketch.Z, sketch.count, sketch.squares)
        del sketch
        short = np.flatnonzero((candidates >= 0).sum(axis=1) < k)
        for start in range(0, len(short), TRIED_ROWS):
            rows = short[start : start + TRIED_ROWS]
            candidates[rows, :k] = _exact_of(X, order, rows, k, centre)
        similar = np.full((u, k), -np.inf, dtype=np.float32)
        index = np.full((u, k), -1, dtype=np.int32)
        work = candidates.shape[1] * d // 8
        over_rows(lambda i, j: rank_again(X, order, visit, candidates, similar, index, i, j), u, work)
    recall = _shared(truth, index[tried])
    return Neighbours(index, -similar, method, recall, axes)


@attrs.frozen(eq=False)
class _Sketch:
    """Coordinates from which candidates are drawn.

    Parameters
    ----------
    Z : ndarray of shape (u, r)
        Coordinates on the leading principal axes.
    squares : ndarray of shape (u,)
        What stands for the squared length in the distance ``s_i + s_j - 2 z_i z_j``: that of Z; or that of the whole
        row, which is the right one where what the axes leave out of two rows is at right angles, as noise is.
    count : int
        Number of candidates of a row.
    """

    Z: Array
    squares: Array
    count: int


def _sketch(X: Array, order: Indices, tried: Indices, truth: Indices, centre: Array, rng: Rng) -> _Sketch:
    """The cheapest sketch of ``X[order]`` whose candidates have `WANTED` of the true neighbours of the tried rows."""
    u, k = len(order), truth.shape[1]
    axes = _axes(X[order[np.sort(rng.choice(u, min(u, SKETCH_ROWS), replace=False))]] - centre, rng)
    Z = np.empty((u, axes.shape[1]), dtype=np.float32)
    whole = np.empty(u, dtype=np.float32)

    def project(begin: int, end: int) -> None:
        for block in range(begin, end):
            some = slice(block * BLOCK, (block + 1) * BLOCK)
            rows = X[order[some]] - centre
            Z[some] = rows @ axes
            whole[some] = np.einsum("ij,ij->i", rows, rows)

    with thread_pool() as over:
        over(project, 0, -(-u // BLOCK), BLOCK * X.shape[1])
    counts = np.unique(np.minimum(np.array(CANDIDATES) * k, u - 1))
    best, most = _Sketch(Z, whole, int(counts[-1])), -1.0
    for width in sorted({min(width, axes.shape[1]) for width in SKETCHES}):
        part = np.ascontiguousarray(Z[:, :width])
        answers = []
        for squares in (whole, np.einsum("ij,ij->i", part, part)):
            shares = _shares_of_sketch(part, squares, tried, truth, counts)
            enough = np.flatnonzero(shares >= WANTED)
            place = int(enough[0]) if len(enough) else len(counts) - 1
            answers.append((len(enough) > 0, -place, float(shares[place]), squares))
        sufficient, place, share, squares = max(answers, key=lambda answer: answer[:3])
        if sufficient or share > most:
            best, most = _Sketch(part, squares, int(counts[-place])), share
        if sufficient:
            break
    return best


def _shares_of_sketch(Z: Array, squares: Array, tried: Indices, truth: Indices, counts: Indices) -> Array:
    """Shares of the true neighbours of the tried rows among so many candidates, (len(counts),)."""
    shares = np.empty((len(tried), len(counts)))

    def try_rows(begin: int, end: int) -> None:
        for part in range(begin, end):
            some = slice(part * FEW, (part + 1) * FEW)
            distances = (-2.0 * Z[tried[some]]) @ Z.T
            distances += squares
            distances[np.arange(len(distances)), tried[some]] = np.inf
            values = np.take_along_axis(distances, truth[some], axis=1)
            distances.partition(counts[-1] - 1, axis=1)
            limits = np.sort(distances[:, : counts[-1]], axis=1)[:, counts - 1]
            shares[some] = (values[:, :, None] <= limits[:, None, :]).mean(axis=1)

    with thread_pool() as over:
        over(try_rows, 0, -(-len(tried) // FEW), FEW * len(Z))
    return np.asarray(shares.mean(axis=0))


def _shared(truth: Indices, lists: Indices) -> float:
    """Share of the entries of each row of `truth` that are in the same row of `lists`."""
    return float((truth[:, :, None] == lists[:, None, :]).any(axis=2).mean())


def _exact_of(X: Array, order: Indices, rows: Indices, k: int, centre: Array | np.float32) -> Indices:
    """The k nearest others of some rows of ``X[order]``, (m, k)."""
    queries = X[order[rows]] - centre
    u, m = len(order), len(rows)
    width = max(BLOCK, k)
    blocks = -(-u // width)
    distances = np.full((blocks, m, k), np.inf, dtype=np.float32)
    index = np.zeros((blocks, m, k), dtype=np.intp)

    def compare(begin: int, end: int) -> None:
        for b in range(begin, end):
            start, stop = b * width, min(u, (b + 1) * width)
            block = X[order[start:stop]] - centre
            D = queries @ block.T
            D *= -2.0
            D += np.einsum("ij,ij->i", block, block)
            itself = np.flatnonzero((rows >= start) & (rows < stop))
            D[itself, rows[itself] - start] = np.inf
            few = min(k, stop - start)
            best = np.argpartition(D, few - 1, axis=1)[:, :few]
            distances[b, :, :few] = np.take_along_axis(D, best, axis=1)
            index[b, :, :few] = best + start

    with thread_pool() as over:
        over(compare, 0, blocks, m * width)
    D = np.moveaxis(distances, 1, 0).reshape(m, -1)
    best = np.argpartition(D, k - 1, axis=1)[:, :k]
    return np.take_along_axis(np.moveaxis(index, 1, 0).reshape(m, -1), best, axis=1)


def _axes(Y: Array, rng: Rng) -> Array:
    """Leading principal axes of centred rows Y (m, d), (d, r), by subspace iteration."""
    d = Y.shape[1]
    C = Y.T @ Y
    Q = rng.standard_normal((d, min(d, SKETCHES[-1] + 16))).astype(np.float32)
    for _ in range(4):
        Q = np.linalg.qr(C @ Q)[0]
    _, V = np.linalg.eigh(Q.T @ C @ Q)
    return np.ascontiguousarray((Q @ V[:, ::-1])[:, : min(d, SKETCHES[-1])])


def _augmented(points: Array, squares: Array) -> tuple[Array, Array]:
    """Two tables whose products are ``-(s_x + s_y - 2 x y) / 2``, (n, d + 2) each."""
    half = (-0.5 * squares)[:, None]
    ones = np.ones_like(half)
    return np.hstack([points, half, ones]), np.hstack([points, ones, half])


def _of_all_pairs(points: Array, k: int, squares: Array) -> tuple[NDArray[np.int32], Array]:
    """The k nearest others and half of their negative squared distances, from the products of all pairs of blocks."""
    from clusterkit.numerics.neighbour_search_jit import insert_block

    n = len(points)
    index = np.full((n, k), -1, dtype=np.int32)
    similar = np.full((n, k), -np.inf, dtype=np.float32)
    left, right = _augmented(points, squares)
    blocks = -(-n // BLOCK)

    def compare(pairs: list[tuple[int, int]], begin: int, end: int) -> None:
        for a, b in pairs[begin:end]:
            i, j = a * BLOCK, b * BLOCK
            insert_block(left[i : i + BLOCK] @ right[j : j + BLOCK].T, i, j, similar, index)

    with thread_pool() as over:
        for pairs in _rounds(blocks):
            over(partial(compare, pairs), 0, len(pairs), CHUNK)  # one pair at a time, so that no thread waits long
    return index, similar


def _rounds(count: int) -> list[list[tuple[int, int]]]:
    """All pairs of `count` blocks in rounds in which no block occurs twice: threads write to rows of their own.

    Examples
    --------
    >>> _rounds(3)
    [[(0, 0), (1, 1), (2, 2)], [(1, 2)], [(0, 2)], [(0, 1)]]
    """
    rounds = [[(a, a) for a in range(count)]]
    seats = [*range(count), *([-1] if count % 2 else [])]
    half = len(seats) // 2
    for _ in range(len(seats) - 1):
        pairs = zip(seats[:half], seats[: half - 1 : -1], strict=True)
        rounds.append([(min(pair), max(pair)) for pair in pairs if min(pair) >= 0])
        seats.insert(1, seats.pop())
    return [pairs for pairs in rounds if pairs]


def _of_cells(sketch: _Sketch, rng: Rng) -> tuple[NDArray[np.int32], Indices]:
    """Candidates of each row among the rows of the nearest cells of k-means, (n, count), and the rows cell by cell.

    A candidate of -1 is none. Rows of a cell share candidates, which stay in the cache if these rows are ranked one
    after the other: 100,000 rows of 768 numbers take a third of the time.
    """
    from clusterkit.numerics.neighbour_search_jit import insert_rows

    Z, k = sketch.Z, sketch.count
    n = len(Z)
    m = n // CELL_ROWS
    sample = Z[np.sort(rng.choice(n, min(n, ROWS_A_CELL * m), replace=False))]
    centres = quick_centres(sample, m, turns=CELL_TURNS, seed=int(rng.integers(2**31 - 1)))
    cell = _nearest_centre(Z, centres)
    rows = np.argsort(cell, kind="stable").astype(np.int32)
    bounds = np.searchsorted(cell[rows], np.arange(m + 1))
    near = np.argsort(np.square(centres).sum(axis=1)[None] - 2.0 * centres @ centres.T, axis=1, kind="stable")
    near = near[:, :PROBED_CELLS]
    similar = np.full((n, k), -np.inf, dtype=np.float32)
    index = np.full((n, k), -1, dtype=np.int32)

    def compare(begin: int, end: int) -> None:
        for c in range(begin, end):
            inside = slice(bounds[c], bounds[c + 1])
            if inside.start == inside.stop:
                continue
            members = rows[inside]
            others = np.concatenate([rows[bounds[q] : bounds[q + 1]] for q in near[c]])
            left, _ = _augmented(Z[members], sketch.squares[members])
            _, right = _augmented(Z[others], sketch.squares[others])
            for start in range(0, len(members), BLOCK // 4):  # a cell may have thousands of rows
                some = slice(start, start + BLOCK // 4)
                insert_rows(left[some] @ right.T, members[some], others, similar, index)

    with thread_pool() as over:
        over(compare, 0, m, CELL_ROWS * CELL_ROWS * PROBED_CELLS)
    return index, rows


def _nearest_centre(Z: Array, centres: Array) -> Indices:
    """The nearest centre of each row, (n,)."""
    cell = np.empty(len(Z), dtype=np.intp)

    def assign(begin: int, end: int) -> None:
        for block in range(begin, end):
            rows = slice(block * BLOCK, (block + 1) * BLOCK)
            cell[rows] = nearest(Z[rows], centres)

    # every block is the same whatever the threads: they share blocks, not rows
    with thread_pool() as over:
        over(assign, 0, -(-len(Z) // BLOCK), BLOCK * len(centres) * 4)
    return cell


SPARE = 9
"""Candidates beyond the neighbours asked for, whose distances are computed from differences."""


def nearest_of(rows: Array, Y: Array, k: int) -> tuple[Array, Indices]:
    """Squared distances and numbers of the k nearest of `rows` (n, d) to rows Y (m, d), (m, k) each, ascending.

    Candidates come from products in single precision; their distances are computed from differences, so that they are 0
    for equal rows, and equal ones are in the order of their numbers. O(m n d), in blocks.
    """
    k = min(k, len(rows))
    count = min(len(rows), k + SPARE)
    centre = rows[:QUERIES].mean(axis=0).astype(np.float32)
    squared, index = np.empty((len(Y), k)), np.empty((len(Y), k), dtype=np.intp)
    for begin in range(0, len(Y), QUERIES):
        queries = Y[begin : begin + QUERIES]
        centred = queries.astype(np.float32) - centre
        near = np.empty((len(queries), 0), dtype=np.intp)
        values = np.empty((len(queries), 0), dtype=np.float32)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            block = rows[start : start + ROWS_AT_ONCE].astype(np.float32) - centre
            D = centred @ (-2.0 * block.T)
            D += np.einsum("ij,ij->i", block, block)
            few = min(count, D.shape[1])
            best = np.argpartition(D, few - 1, axis=1)[:, :few]
            values = np.hstack([values, np.take_along_axis(D, best, axis=1)])
            near = np.hstack([near, best + start])
        if near.shape[1] > count:
            best = np.argpartition(values, count - 1, axis=1)[:, :count]
            near = np.take_along_axis(near, best, axis=1)
        near = np.sort(near, axis=1)
        distances = np.empty(near.shape)
        for c in range(count):  # one candidate of all queries at a time: no table of (m, c, d)
            gaps = rows[near[:, c]] - queries
            distances[:, c] = np.einsum("ij,ij->i", gaps, gaps, dtype=np.float64)
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        squared[begin : begin + QUERIES] = np.take_along_axis(distances, order, axis=1)
        index[begin : begin + QUERIES] = np.take_along_axis(near, order, axis=1)
    return squared, index


QUERIES, ROWS_AT_ONCE = 1024, 8192
"""New rows, and rows that they are compared with, of a block of products: 32 MB."""
