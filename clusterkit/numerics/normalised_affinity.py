"""Leading eigenvectors of ``A = D^(-1/2) W D^(-1/2)``, orthogonal to known ones, by a dense solver or by a factor.

What the eigenvectors of the feature map `graph` and of the solver `ncut` have in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import SuperLU

__all__ = ["SHIFT", "dense_leading", "inverse_factor", "inverted_leading"]

SHIFT = 3.0
"""Subtracted from the known eigenvalues 1: they become -2, below all others, which lie in [-1, 1]."""

ABOVE_ONE = 1.0 + 1e-6
"""Shift of the inverted iteration, just above the largest eigenvalue 1, so that the system is positive definite."""


def dense_leading(W: Array | csr_array, roots: Array, known: Array, count: int) -> tuple[Array, Array]:
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
    """The factor of ``1 + s - A`` that `inverted_leading` solves with; W and roots as there."""
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


def inverted_leading(
    W: csr_array,
    roots: Array,
    known: Array,
    count: int,
    start: Array,
    tol: float,
    max_restarts: int | None = None,
    factor: SuperLU | None = None,
) -> tuple[Array, Array]:
    """The same, in any order, by a Lanczos iteration on ``(1 + s - A)^-1`` in the complement of the known vectors.

    Parameters
    ----------
    W : scipy sparse array, (n, n)
    roots, known, count
        As in `dense_leading`.
    start : ndarray of shape (n,)
        Starting vector.
    tol : float
        Relative accuracy of the eigenvalues; 0 means machine precision.
    max_restarts : int, optional
        By default scipy's, ten for each row.
    factor : SuperLU, optional
        Of `inverse_factor`, where it is at hand: it does not depend on the number of eigenvectors.

    Raises
    ------
    scipy.sparse.linalg.ArpackError
        If the iteration does not converge.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    n = len(roots)
    solve = (inverse_factor(W, roots) if factor is None else factor).solve

    def product(x: Array) -> Array:
        x = x.reshape(-1)
        x = x - known @ (known.T @ x)
        y = solve(x)
        return y - known @ (known.T @ y)

    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    inverse, vectors = eigsh(operator, count, which="LA", v0=start, maxiter=max_restarts, tol=tol)
    return ABOVE_ONE - 1.0 / inverse, vectors
