"""Passes over a nonnegative matrix during its factorisation, and the embedding of new samples with the basis fixed.

On a block of another library than numpy, `_descended` updates whole columns. The updates are those of `_updates_jit`,
where each row takes steps until it has converged; here all rows of a block take a step together, and a row that has
converged stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.contracts.outcomes import Extension, KernelRows, LinearRows, Status
from clusterkit.errors import InvalidData
from clusterkit.numerics.shapes import array, scalar
from clusterkit.numerics.threads import available
from clusterkit.samples import KernelSpace
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    has_array_api,
    is_device_array,
    to_device_of,
)
from clusterkit.samples.transform import block_plan

COMPILED_COLUMNS = 32
"""Number of columns up to which the compiled products are at least as fast as BLAS on one core (500 attributes)."""
ROWS_PER_JOB = 512
"""Rows of one job; constant, so that sums have the same order for every number of threads."""
THREADED_PRODUCTS = 2_000_000
"""Multiplications of a pass below which a second thread costs more time than it saves."""
FOLD_IN_UPDATES = 200
"""Updates of a new row with the basis fixed; constant, because a row must not depend on the other new rows."""
FOLD_IN_CHANGE = 1e-6
"""Coordinate descent ends for a new row after a pass that moved it by less than this times the first pass."""

TABLES = 4
"""Tables of k columns that the updates have at once on a device, in the unit by which blocks are planned: a block that
is planned for one table has seven, of float64 numbers whatever the rows are."""

Blocks = Callable[[], Iterator[tuple[slice, Any]]]
"""Function that starts a pass: row slices with their rows of H, dense or sparse."""


@final
@attrs.frozen
class RowUpdate:
    """The update of the rows of one factor while the other factor is fixed.

    Parameters
    ----------
    kind : {"multiplicative", "hals"}
    delta : float
        Added to numerator and denominator of multiplicative updates, absolute.
    max_passes : int
        Maximum number of updates of a row.
    stop_ratio : float
        Coordinate descent ends for a row after a pass that moved it by less than this times the first pass.
    """

    kind: Literal["multiplicative", "hals"]
    delta: float = attrs.field(default=0.0, validator=scalar(least=0))
    max_passes: int = attrs.field(default=1, validator=scalar(least=1))
    stop_ratio: float = attrs.field(default=0.0, validator=scalar())

    def advance(self, A: Array, N: Array, G: Array) -> float:
        """Update the rows of A (b, q) in place for a fixed factor W, from ``N = X W`` (b, q) and ``G = W'W`` (q, q).

        Returns the sum of the squared changes of A.
        """
        from clusterkit.families.factors._updates_jit import advance

        N = np.ascontiguousarray(N)
        if not (A.shape == N.shape and G.shape == (A.shape[1], A.shape[1])):
            raise ValueError(f"products of shape {N.shape} for rows of shape {A.shape} and a basis of {len(G)} columns")
        return float(advance(self.code, A, N, G, self.delta, self.max_passes, self.stop_ratio))

    @property
    def code(self) -> int:
        """Number of this kind in the compiled loops."""
        from clusterkit.families.factors._updates_jit import MULTIPLICATIVE

        return MULTIPLICATIVE if self.kind == "multiplicative" else MULTIPLICATIVE + 1


def workers(n: int, width: int, columns: int) -> ThreadPoolExecutor | None:
    """Pool of threads for passes over an (n, width) matrix; None where one thread is as fast."""
    threads = available()
    if threads == 1 or columns > COMPILED_COLUMNS or n * width * columns < THREADED_PRODUCTS:
        return None
    return ThreadPoolExecutor(threads)


def nonnegative_kernel(solver: str, space: KernelSpace) -> Array:
    """The kernel matrix (n, n), if the memory cap allows it and no value is negative."""
    K = space.gram()
    smallest = float(K.min())
    if smallest < 0:
        raise InvalidData(
            f"solver {solver!r} needs a nonnegative kernel, its smallest value is {smallest:.6g}. "
            "The Gaussian kernel of 'rbf' is one."
        )
    return K


def blocks_of(K: Array) -> Blocks:
    """Passes over the blocks of rows of an array."""

    def blocks() -> Iterator[tuple[slice, Array]]:
        for rows in block_plan(len(K), K.shape[1], K.dtype):
            yield rows, K[rows]

    return blocks


def update_rows(
    blocks: Blocks, W: Array, A: Array, update: RowUpdate, pool: ThreadPoolExecutor | None
) -> tuple[Array, Array, float]:
    """One pass over H: update A from ``H W``, and sum the products with the new A.

    The update of a row is `_multiply` or `_descend` of _updates_jit.py.

    Parameters
    ----------
    blocks : callable
        Row slices with their rows of H, dense or sparse.
    W : ndarray of shape (L, q)
    A : ndarray of shape (n, q)
        Updated in place.
    update : RowUpdate
    pool : ThreadPoolExecutor or None

    Returns
    -------
    P : ndarray of shape (L, q), float64
        ``H'A``.
    gram : ndarray of shape (q, q), float64
        ``A'A``.
    moved : float
        Sum of the squared changes of A.
    """
    Wt, G = np.ascontiguousarray(W.T), factor_gram(W)
    P, AA = np.zeros(Wt.shape), np.zeros_like(G)
    moved = 0.0

    def job(H: Any, part: Array) -> tuple[Array, Array, float]:
        if isinstance(H, np.ndarray) and len(G) <= COMPILED_COLUMNS:
            from clusterkit.families.factors._updates_jit import update_block

            Pt, gram = np.zeros(Wt.shape, dtype=H.dtype), np.empty_like(G)
            limits = (update.delta, update.max_passes, update.stop_ratio)
            change = update_block(np.ascontiguousarray(H), Wt, G, part, Pt, gram, update.code, *limits)
            return Pt, gram, change
        change = update.advance(part, H @ W, G)
        return np.asarray(H.T @ part).T, factor_gram(part), change

    for Pt, gram, change in _in_order(blocks, job, A, pool):
        P += Pt
        AA += gram
        moved += change
    return P.T, AA, moved


def _in_order(
    blocks: Blocks, job: Callable[[Any, Array], Any], A: Array, pool: ThreadPoolExecutor | None
) -> Iterator[Any]:
    """Results of ``job(rows of H, same rows of A)`` in the order of the rows; at most two blocks are in memory."""
    waiting: list[Future[Any]] = []
    try:
        for rows, H in blocks():
            if isinstance(H, np.ndarray):
                parts = [slice(s, min(s + ROWS_PER_JOB, len(H))) for s in range(0, len(H), ROWS_PER_JOB)]
            else:
                parts = [slice(0, rows.stop - rows.start)]  # cutting a sparse block copies it
            block = A[rows]
            if pool is None:
                for part in parts:
                    yield job(H if len(parts) == 1 else H[part], block[part])
                continue
            submitted = [pool.submit(job, H if len(parts) == 1 else H[part], block[part]) for part in parts]
            waiting, previous = submitted, waiting
            for future in previous:
                yield future.result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()


def factor_gram(A: Array) -> Array:
    """``A'A`` in float64; for thin factors by a compiled loop, because the threads of BLAS cost more than they save."""
    from clusterkit.families.factors._updates_jit import gram

    if A.shape[1] > COMPILED_COLUMNS:
        wide = A.astype(np.float64, copy=False)
        return np.asarray(wide.T @ wide)
    G = np.empty((A.shape[1], A.shape[1]))
    gram(np.ascontiguousarray(A), G)
    return G


def average_equal_rows(A: Array, sets: Indices | None, gram: Array) -> float:
    """Give equal samples the same row of A (n, k), in place: the mean of theirs.

    A factorisation with more parts than the samples have dimensions is not unique: rows of equal samples may differ,
    depending on their random starts. The error ``|H - A W'|² / 2`` is convex in a row, so that the mean is no worse.

    Parameters
    ----------
    A : ndarray of shape (n, k)
    sets : ndarray of shape (n,) or None
        The set of equal samples of each sample, as `sets_of_equal_rows` gives it.
    gram : ndarray of shape (k, k)
        ``W'W``.

    Returns
    -------
    decrease : float
        Amount by which the error falls.
    """
    if sets is None:
        return 0.0
    repeated = np.flatnonzero(np.bincount(sets)[sets] > 1)
    number, place = np.unique(sets[repeated], return_inverse=True)
    before = A[repeated].astype(np.float64)
    sums = np.zeros((len(number), A.shape[1]))
    np.add.at(sums, place.reshape(-1), before)
    A[repeated] = (sums / np.bincount(place.reshape(-1))[:, None])[place.reshape(-1)]
    moved = before - A[repeated]
    return 0.5 * float(inner(moved @ gram, moved))


def lowered(status: Status, decrease: float) -> Status:
    """The status with the last objective lowered, after the fit improved the rows once more."""
    return attrs.evolve(status, history=(*status.history[:-1], max(0.0, status.history[-1] - decrease)))


def inner(A: Array, B: Array) -> float:
    """``Σ_ij A_ij B_ij`` in float64."""
    return float(np.einsum("ij,ij->", A, B, dtype=np.float64))


def fold_in(N: Array, G: Array, update: RowUpdate) -> Array:
    """Nonnegative rows a that (nearly) minimise ``a G a' / 2 - a N'``, (m, q), float64.

    The start is the best row whose entries are all equal, so a row depends on nothing but its products N and G.
    """
    if is_device_array(N):
        return _fold_in_on_device(N, G)
    N = np.maximum(N, 0.0).astype(np.float64, copy=False)
    total = float(G.sum())
    start = N.sum(axis=1, keepdims=True) / total if total > 0 else np.zeros((len(N), 1))
    A = np.repeat(start, len(G), axis=1)
    attrs.evolve(update, max_passes=FOLD_IN_UPDATES, stop_ratio=FOLD_IN_CHANGE).advance(A, N, G)
    return A


def _fold_in_on_device(N: Any, G: Array) -> Any:
    """`fold_in` by coordinate descent, of products that are a block of another library."""
    xp = array_namespace(N)
    N = as_type(N, np.float64)
    N = xp.maximum(N, xp.zeros((), dtype=xp.float64, device=N.device))
    total = float(G.sum())
    start = xp.sum(N, axis=1, keepdims=True) / total if total > 0 else xp.zeros_like(N[:, :1])
    A = start + xp.zeros_like(N)
    return _descended(A, N, G, FOLD_IN_UPDATES, FOLD_IN_CHANGE)


@final
@attrs.frozen(eq=False)
class FoldIn(BlockFunction):
    """Rows of the factor A for new samples, with the basis fixed.

    Parameters
    ----------
    products : LinearRows or KernelRows
        Raw rows to N, (m, q): features times W, or kernel values times weights of the samples.
    gram : ndarray of shape (q, q)
        Inner products of the columns of the basis.
    update : RowUpdate
    dtype : numpy dtype
        Type of the rows returned.
    shown : ndarray of int
        Columns of A to return.
    """

    products: LinearRows | KernelRows
    gram: Array = attrs.field(validator=array("q q"))
    update: RowUpdate
    dtype: np.dtype
    shown: Indices = attrs.field(validator=array("p", below="q"))

    @property
    def array_api(self) -> bool:
        """Whether rows are folded in on their device: by coordinate descent, of features that are computed there."""
        return self.update.kind == "hals" and has_array_api(self.products)

    @property
    def basis(self) -> Array:
        """W, (L, q), or weights of the samples, (n, q)."""
        return self.products.coefficients

    @property
    def table_columns(self) -> int:
        """Columns of the temporary arrays of a block: `TABLES` arrays of q columns, the rows of A and their updates."""
        return TABLES * len(self.gram)

    def __call__(self, Y: Array) -> Array:
        """Rows of A for raw rows Y, (m, d) to (m, q); O(q²) per row and update besides the products."""
        return self._of(self.products(Y))

    def on(self, H: Array) -> Array:
        """Rows of A for a block of features, (b, L) to (b, q)."""
        assert isinstance(self.products, LinearRows)
        return self._of(self.products.on(H))

    def _of(self, N: Array) -> Array:
        A = fold_in(N, self.gram, self.update)
        if is_device_array(A):
            A = array_namespace(A).take(A, to_device_of(self.shown, A), axis=1)
            return as_type(A, self.dtype)
        return A[:, self.shown].astype(self.dtype, copy=False)

    def columns(self, index: slice | Indices) -> Extension:
        """The extension that returns some of the columns."""
        return attrs.evolve(self, shown=self.shown[index])


NEGLIGIBLE_COLUMN = 1e-32
"""Squared length of a column, relative to the sum over all columns, below which coordinate descent skips it; the value
of the compiled loops."""


def _descended(A: Any, N: Any, G: Array, max_passes: int, stop_ratio: float) -> Any:
    """Rows a moved towards the minimum of ``a G a' / 2 - a N'`` over a >= 0 by coordinate descent, (b, q), float64.

    Parameters
    ----------
    A, N : array of shape (b, q), float64
        The rows to begin with, and their products with the basis.
    G : ndarray of shape (q, q), float64
    max_passes : int
        Most passes over the coordinates.
    stop_ratio : float
        A row ends after a pass that moved it by less than this times its first pass.
    """
    xp = array_namespace(A)
    there = to_device_of(G, A, np.float64)
    rows = [A[:, column] for column in range(A.shape[1])]
    residual = N - xp.matmul(A, there)
    slope = xp.stack([residual[:, column] for column in range(A.shape[1])])  # (q, b): a step takes whole columns
    zero = xp.zeros((), dtype=xp.float64, device=A.device)
    active = xp.ones(A.shape[0], dtype=xp.float64, device=A.device)
    allowed = active
    movable = np.flatnonzero(np.diag(G) > NEGLIGIBLE_COLUMN * np.trace(G)).tolist()
    for sweep in range(max_passes):
        change = xp.zeros(A.shape[0], dtype=xp.float64, device=A.device)
        for b in movable:
            step = xp.maximum(slope[b, :] * (1.0 / float(G[b, b])), -rows[b]) * active
            rows[b] = rows[b] + step
            change = change + step * step
            slope -= there[:, b][:, None] * step[None, :]
        if sweep == 0:
            allowed = stop_ratio**2 * change
        active = xp.where(change > allowed, active, zero)
        if not bool(xp.any(active > 0.0)):
            break
    return xp.stack(rows, axis=1)
