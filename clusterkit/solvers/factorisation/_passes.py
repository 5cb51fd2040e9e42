"""Passes over a nonnegative matrix that is being factorised, and the rows of new samples with the basis fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import InvalidData
from clusterkit.core.outcomes import Extension, KernelRows, LinearRows
from clusterkit.core.spaces import KernelSpace
from clusterkit.core.transform import block_plan
from clusterkit.numerics.threads import available

__all__ = [
    "Blocks",
    "FoldIn",
    "Rule",
    "blocks_of",
    "factor_gram",
    "fold",
    "inner",
    "nonnegative_kernel",
    "sweep",
    "thin_product",
    "workers",
]

COLUMNS = 32
"""Columns up to which the compiled products are no slower than those of BLAS on one core (500 attributes)."""
ROWS = 512
"""Rows of one job: sums have the same order whatever the number of threads."""
SMALLEST = 2_000_000
"""Multiplications of a pass below which a second thread costs more than it gives."""
FOLD_UPDATES = 200
"""Of a new row with the basis fixed: so many whatever the other rows, on which its result must not depend."""

Blocks = Callable[[], Iterator[tuple[slice, Any]]]


@final
@attrs.frozen
class Rule:
    """How rows of a factor move towards their minimum while the other factor is fixed.

    Parameters
    ----------
    kind : {"multiplicative", "hals"}
    delta : float
        Of multiplicative updates, absolute.
    most : int
        Updates of a row at most.
    enough : float
        Coordinate descent ends for a row after a pass that moved it by less than this times the first one.
    """

    kind: Literal["multiplicative", "hals"]
    delta: float = 0.0
    most: int = 1
    enough: float = 0.0

    def advance(self, A: Array, N: Array, G: Array) -> float:
        """Update the rows of A in place, given N (b, q) and G (q, q); the sum of squared changes."""
        from clusterkit.solvers.factorisation._updates_jit import advance

        return float(advance(self.code, A, np.ascontiguousarray(N), G, self.delta, self.most, self.enough))

    @property
    def code(self) -> int:
        """For the compiled loops."""
        from clusterkit.solvers.factorisation._updates_jit import MULTIPLICATIVE

        return MULTIPLICATIVE if self.kind == "multiplicative" else MULTIPLICATIVE + 1


def workers(n: int, width: int, columns: int) -> ThreadPoolExecutor | None:
    """Threads for passes over an (n, width) matrix, where they are worth it."""
    threads = available()
    if threads == 1 or columns > COLUMNS or n * width * columns < SMALLEST:
        return None
    return ThreadPoolExecutor(threads)


def nonnegative_kernel(solver: str, space: KernelSpace) -> Array:
    """The kernel matrix (n, n), if the memory cap allows it and no value is negative."""
    K = space.gram()
    smallest = float(K.min())
    if smallest < 0:
        raise InvalidData(
            f"solver '{solver}' needs a nonnegative kernel, its smallest value is {smallest:.6g}. "
            "The Gaussian kernel of 'rbf' is one."
        )
    return K


def blocks_of(K: Array) -> Blocks:
    """Blocks of rows of an array."""

    def blocks() -> Iterator[tuple[slice, Array]]:
        for rows in block_plan(len(K), K.shape[1], K.dtype):
            yield rows, K[rows]

    return blocks


def sweep(
    blocks: Blocks, W: Array, A: Array, rule: Rule, pool: ThreadPoolExecutor | None
) -> tuple[Array, Array, float]:
    """One pass over H: update A by ``H W``, and sum up the products with the new A.

    Parameters
    ----------
    blocks : callable
        Row slices with their rows of H, dense or sparse.
    W : ndarray of shape (L, q)
    A : ndarray of shape (n, q)
        Updated in place.
    rule : Rule
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
        own = np.empty_like(G)
        if isinstance(H, np.ndarray) and len(G) <= COLUMNS:
            from clusterkit.solvers.factorisation._updates_jit import turn

            Pt = np.zeros(Wt.shape, dtype=H.dtype)
            change = turn(np.ascontiguousarray(H), Wt, G, part, Pt, own, rule.code, rule.delta, rule.most, rule.enough)
            return Pt, own, change
        change = rule.advance(part, H @ W, G)
        return np.asarray(H.T @ part).T, factor_gram(part), change

    for Pt, own, change in _in_order(blocks, job, A, pool):
        P += Pt
        AA += own
        moved += change
    return P.T, AA, moved


def thin_product(blocks: Blocks, W: Array, out: Array, pool: ThreadPoolExecutor | None) -> Array:
    """``H W`` into `out`, (n, q)."""
    W = W.astype(out.dtype, copy=False)
    Wt = np.ascontiguousarray(W.T)

    def job(H: Any, part: Array) -> None:
        if isinstance(H, np.ndarray) and len(Wt) <= COLUMNS:
            from clusterkit.solvers.factorisation._updates_jit import products

            products(np.ascontiguousarray(H), Wt, part)
        else:
            part[:] = H @ W

    for _ in _in_order(blocks, job, out, pool):
        pass
    return out


def _in_order(
    blocks: Blocks, job: Callable[[Any, Array], Any], A: Array, pool: ThreadPoolExecutor | None
) -> Iterator[Any]:
    """Results of ``job(rows of H, the same rows of A)``, in the order of the rows; at most two blocks are alive."""
    waiting: list[Future[Any]] = []
    try:
        for rows, H in blocks():
            if isinstance(H, np.ndarray):
                parts = [slice(s, min(s + ROWS, len(H))) for s in range(0, len(H), ROWS)]
            else:
                parts = [slice(0, rows.stop - rows.start)]  # cutting a sparse block copies it
            own = A[rows]
            if pool is None:
                for part in parts:
                    yield job(H if len(parts) == 1 else H[part], own[part])
                continue
            begun = [pool.submit(job, H if len(parts) == 1 else H[part], own[part]) for part in parts]
            waiting, before = begun, waiting
            for future in before:
                yield future.result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()


def factor_gram(A: Array) -> Array:
    """``A'A`` in float64, without the threads of BLAS for thin factors, which cost more than they give."""
    from clusterkit.solvers.factorisation._updates_jit import gram

    if A.shape[1] > COLUMNS:
        wide = A.astype(np.float64, copy=False)
        return np.asarray(wide.T @ wide)
    G = np.empty((A.shape[1], A.shape[1]))
    gram(np.ascontiguousarray(A), G)
    return G


def inner(A: Array, B: Array) -> float:
    """``Σ_ij A_ij B_ij`` in float64."""
    return float(np.einsum("ij,ij->", A, B, dtype=np.float64))


def fold(N: Array, G: Array, rule: Rule) -> Array:
    """Nonnegative rows a that (nearly) minimise ``a G a' / 2 - a N'``, (m, q), float64.

    From the best of the rows whose entries are all equal, so that a row depends on its own products alone.
    """
    N = np.maximum(N, 0.0).astype(np.float64, copy=False)
    total = float(G.sum())
    start = N.sum(axis=1, keepdims=True) / total if total > 0 else np.zeros((len(N), 1))
    A = np.repeat(start, len(G), axis=1)
    attrs.evolve(rule, most=FOLD_UPDATES, enough=1e-6).advance(A, N, G)
    return A


@final
@attrs.frozen(eq=False)
class FoldIn:
    """Rows of A for new samples with the basis fixed.

    Parameters
    ----------
    products : LinearRows or KernelRows
        Raw rows to N, (m, q): features times W, or kernel values times weights of the samples.
    gram : ndarray of shape (q, q)
        Inner products of the columns of the basis.
    rule : Rule
    dtype : numpy dtype
        Of the result.
    shown : ndarray of int
        Columns of A to return.
    """

    products: LinearRows | KernelRows
    gram: Array
    rule: Rule
    dtype: np.dtype
    shown: Array

    @property
    def basis(self) -> Array:
        """W, (L, q), or weights of the samples, (n, q)."""
        return self.products.coefficients

    def __call__(self, Y: Array) -> Array:
        """Rows for Y, (m, d) to (m, q); O(q²) an update beside the products."""
        return fold(self.products(Y), self.gram, self.rule)[:, self.shown].astype(self.dtype, copy=False)

    def columns(self, index: slice) -> Extension:
        """The same factors, some columns returned."""
        return attrs.evolve(self, shown=self.shown[index])
