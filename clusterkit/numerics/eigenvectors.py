"""Leading eigenvectors of a normalised sparse affinity ``A = D^(-1/2) W D^(-1/2)``, orthogonal to known ones.

The feature map `graph` and the solver `ncut` share this code: three methods (a dense solver, an iteration on A, an
iteration with a factor), one result with checked residuals, and one basis that does not depend on rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.numerics.threads import limited_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import SuperLU

SHIFT = 3.0
"""Subtracted from the known eigenvalues 1: they become -2, below all others, which lie in [-1, 1]."""

ABOVE_ONE = 1.0 + 1e-6
"""Shift of the inverted iteration, just above the largest eigenvalue 1, so that the system is positive definite."""


def _dense_leading(W: Array | csr_array, roots: Array, known: Array, count: int) -> tuple[Array, Array]:
    """The `count` largest eigenvalues, falling, and their eigenvectors (n, count) by a dense solver, O(n³).

    Parameters
    ----------
    W : ndarray or scipy sparse array, (n, n)
    roots : ndarray of shape (n,)
        Square roots of the degrees, all positive.
    known : ndarray of shape (n, c)
        Orthonormal eigenvectors of eigenvalue 1, left out.
    count : int
    """
    from scipy.linalg import eigh

    n = len(roots)
    A = np.array(W if isinstance(W, np.ndarray) else W.toarray())
    A /= roots
    A /= roots[:, None]
    A -= SHIFT * (known @ known.T)
    values, vectors = eigh(A, subset_by_index=[n - count, n - 1], overwrite_a=True)
    return values[::-1], vectors[:, ::-1]


def inverse_factor(W: csr_array, roots: Array) -> SuperLU:
    """Factorisation of ``1 + s - A`` for the systems of `_inverted`, with the same parameters W and roots."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    scaled = diags_array(1.0 / roots)
    A = (scaled @ W @ scaled).tocsc()
    # positive definite: no pivoting is needed, and the ordering for symmetric patterns keeps the factor sparse
    return splu(
        (ABOVE_ONE * diags_array(np.ones(len(roots))) - A).tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


DENSE = 300
"""Number of rows up to which all eigenvectors are computed, which is then faster than any iteration."""
PLANAR = 3
"""Number of attributes up to which the factor of the shifted matrix stays sparse, so that the inverted iteration comes
first: it needs some tens of steps where the iteration without a factor needs thousands."""
RESTARTS = 300
"""Largest number of restarts of the iteration without a factor."""
BASIS = 30
"""Smallest number of Lanczos vectors: a longer basis needs fewer restarts, and each costs more."""
ACCURACY = 1e-8
"""Accuracy at which the iteration without a factor ends: labels read off vectors to two digits, and the square of
this is the error of an eigenvalue."""
RESIDUAL = 1e-6
"""Largest norm of A u - λ u of an accepted eigenvector u of length 1; the eigenvalues lie in [-1, 1]."""
SAME = 1e-8
"""Eigenvalues that differ by less than this share their eigenvectors: only the space that these span is determined."""

Solution = tuple[Array, Array, str]
"""Eigenvalues, eigenvectors and the method in words."""


@final
@attrs.frozen(eq=False)
class Eigenvectors:
    """The leading eigenvectors.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, falling.
    vectors : ndarray of shape (n, r)
        Orthonormal.
    residual : float
        Largest norm of A u - λ u.
    method : str
    """

    values: Array
    vectors: Array
    residual: float
    method: str

    @property
    def accurate(self) -> bool:
        """Whether the residual is small enough."""
        return self.residual <= RESIDUAL


@limited_threads(0)  # products with single vectors: a second thread gains nothing, and loses much where no core is idle
def leading_eigenvectors(
    W: Array | csr_array,
    roots: Array,
    known: Array,
    count: int,
    n_attributes: int,
    rng: Rng,
    factor: Callable[[], SuperLU] | None = None,
) -> Eigenvectors:
    """Eigenvectors of ``A = W / (roots roots')`` of largest eigenvalue, the known ones first.

    Parameters
    ----------
    W : ndarray or scipy sparse array, (n, n)
        Symmetric, not negative.
    roots : ndarray of shape (n,)
        Square roots of the degrees, all positive.
    known : ndarray of shape (n, c)
        Orthonormal eigenvectors of eigenvalue 1, to which the others are orthogonal; c = 0 is possible.
    count : int
        Number of eigenvectors besides the known ones, at most n - c.
    n_attributes : int
        Attributes of the points that the graph joins: in few, a factor of the matrix is sparse.
    rng : Generator
        Draws the starting vector and the basis that equal eigenvalues are turned to.
    factor : callable, optional
        Gives `inverse_factor` of W and roots, for callers that need several numbers of eigenvectors.

    Notes
    -----
    O(n³) up to `DENSE` rows. Above, a Lanczos iteration with implicit restarts: on ``(1 + s - A)^-1`` by a sparse
    factor where that is likely to be sparse, else on A, O(nnz + n b) a step for a basis of b vectors. If the residual
    is too large the other of the two is tried, and the better result is returned; the caller looks at
    `Eigenvectors.accurate`.

    Raises
    ------
    ArithmeticError
        If neither iteration converges.
    """
    n, (_, c) = len(roots), known.shape
    drawn = rng.standard_normal((n, c + count))
    if count == 0:
        return _checked(W, roots, np.ones(c), known, "components alone")
    inverted = partial(_inverted, factor=factor)
    methods: list[Callable[[Any, Array, Array, int, Array], Solution | None]]
    if n <= max(DENSE, 2 * (count + c) + 2):
        methods = [_dense]
    elif isinstance(W, np.ndarray):
        methods = [_iterated, _dense]
    elif n_attributes <= PLANAR:
        methods = [inverted, _iterated]
    else:
        methods = [_iterated, inverted]
    best: Eigenvectors | None = None
    for method in methods:
        solution = method(W, roots, known, count, drawn[:, 0])
        if solution is None:
            continue
        values, vectors, words = solution
        order = np.argsort(-values, kind="stable")
        vectors = fixed_basis(values[order], vectors[:, order], drawn[:, c:])
        values = np.concatenate([np.ones(c), values[order]])
        candidate = _checked(W, roots, values, np.concatenate([known, vectors], axis=1), words)
        if best is None or candidate.residual < best.residual:
            best = candidate
        if best.accurate:
            break
    if best is None:
        raise ArithmeticError("no iteration found the eigenvectors")
    return best


def fixed_basis(values: Array, vectors: Array, drawn: Array) -> Array:
    """Eigenvectors whose signs, and whose rotation among equal eigenvalues, do not depend on how they were computed.

    Of all orthonormal bases of the space of equal eigenvalues the one nearest to some drawn vectors is taken
    (orthogonal Procrustes); for a single eigenvector this fixes the sign.

    Parameters
    ----------
    values : ndarray of shape (r,)
        In descending order.
    vectors : ndarray of shape (n, r)
    drawn : ndarray of shape (n, r)
        Random vectors.
    """
    fixed = np.empty_like(vectors)
    breaks = np.flatnonzero(-np.diff(values) > SAME) + 1
    for columns in np.split(np.arange(len(values)), breaks):
        space = vectors[:, columns]
        left, _, right = np.linalg.svd(space.T @ drawn[:, columns])
        fixed[:, columns] = space @ (left @ right)
    return fixed


def _checked(W: Array | csr_array, roots: Array, values: Array, vectors: Array, method: str) -> Eigenvectors:
    products = (W @ (vectors / roots[:, None])) / roots[:, None]
    residual = float(np.linalg.norm(products - vectors * values, axis=0).max(initial=0.0))
    return Eigenvectors(values, vectors, residual, method)


def _dense(W: Array | csr_array, roots: Array, known: Array, count: int, start: Array) -> Solution:
    """All eigenvectors, O(n³)."""
    return *_dense_leading(W, roots, known, count), "all eigenvectors"


def _product(W: Array | csr_array, roots: Array) -> Callable[[Array], Array]:
    """The product of A with a vector."""
    if isinstance(W, np.ndarray):
        return lambda x: (W @ (x / roots)) / roots
    from scipy.sparse import diags_array

    from clusterkit.numerics.structures_jit import row_products

    scaled = diags_array(1.0 / roots)
    A = (scaled @ W @ scaled).tocsr()
    sparse = A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)

    def product(x: Array) -> Array:
        # scipy's product, to the bit, but other fits may run meanwhile
        products = np.empty(len(roots))
        row_products(*sparse, x, products)
        return products

    return product


def _iterated(W: Array | csr_array, roots: Array, known: Array, count: int, start: Array) -> Solution | None:
    """The `count` leading eigenvectors by a Lanczos iteration on A; None if not all converge within `RESTARTS`."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n, times = len(roots), _product(W, roots)

    def product(x: Array) -> Array:
        x = np.ascontiguousarray(x.reshape(-1))
        return times(x) - SHIFT * (known @ (known.T @ x))

    basis = min(n - 1, max(2 * count + 1, BASIS))
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, count, which="LA", v0=start, ncv=basis, maxiter=RESTARTS, tol=ACCURACY)
    except ArpackError:
        return None
    return values, vectors, "Lanczos"


def _inverted(
    W: csr_array, roots: Array, known: Array, count: int, start: Array, factor: Callable[[], SuperLU] | None
) -> Solution | None:
    """The `count` leading eigenvectors by a Lanczos iteration on ``(1 + s - A)^-1`` beside the known ones.

    None if not all converge within `RESTARTS`.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = len(roots)
    solve = (inverse_factor(W, roots) if factor is None else factor()).solve

    def product(x: Array) -> Array:
        x = x.reshape(-1)
        x = x - known @ (known.T @ x)
        y = solve(x)
        return y - known @ (known.T @ y)

    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    try:
        inverse, vectors = eigsh(operator, count, which="LA", v0=start, maxiter=RESTARTS, tol=ACCURACY)
    except ArpackError:
        return None
    return ABOVE_ONE - 1.0 / inverse, vectors, "shifted and inverted Lanczos"
