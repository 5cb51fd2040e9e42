"""The leading eigenvectors of a normalised affinity, orthogonal to those that its components determine."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import memory
from clusterkit.core.progress import Report, tell
from clusterkit.numerics.normalised_affinity import SHIFT, dense_leading, inverted_leading

__all__ = ["leading"]

DIRECT = 200
"""Number of samples up to which all eigenvectors are computed, which is then faster than the Lanczos iteration."""
RESTARTS = 300
"""Maximum number of restarts of the Lanczos iteration; where they do not suffice, another method is used."""
BASIS = 30
"""Smallest number of Lanczos vectors: a longer basis needs fewer restarts, and each costs more.

Not sensitive: 15 and 60 gave the same labels, in 0.97 and 1.12 of the time, on a graph of 4,000 rows with six clusters
(`tests/benchmarks/constants.py`).
"""


def leading(W: Any, roots: Array, known: Array, count: int, tol: float, rng: Rng) -> tuple[Array, Array, int, str]:
    """Eigenvectors of ``A = D^(-1/2) W D^(-1/2)`` that are orthogonal to known ones, largest eigenvalues first.

    Parameters
    ----------
    W : ndarray or scipy sparse array, (n, n)
    roots : ndarray of shape (n,)
        Square roots of the degrees, all positive.
    known : ndarray of shape (n, c)
        Orthonormal eigenvectors of eigenvalue 1, left out of the result.
    count : int
        Number of eigenvectors, at most n - c.
    tol : float
        Relative accuracy of the eigenvalues; 0 means machine precision.
    rng : Generator
        Draws the starting vector.

    Returns
    -------
    values : ndarray of shape (count,)
    vectors : ndarray of shape (n, count)
    products : int
        Number of products with W.
    method : str
        Description of the method used, for the report.

    Notes
    -----
    Lanczos iteration with implicit restarts. If it does not converge: for a sparse W the same iteration on
    ``(1 + s - A)^-1``, for a dense W all eigenvectors. O(nnz) per product and O(n b²) per restart for a basis of b
    vectors.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = len(roots)
    if count == 0:
        return np.empty(0), np.empty((n, 0)), 0, "components alone"
    if n <= max(DIRECT, count + known.shape[1] + 1):
        return *dense_leading(W, roots, known, count), 0, "all eigenvectors"
    products = 0

    def product(x: Array) -> Array:
        nonlocal products
        products += 1
        tell(Report("ncut", products, None))
        x = x.reshape(-1)
        return (W @ (x / roots)) / roots - SHIFT * (known @ (known.T @ x))

    start = rng.standard_normal(n)
    basis = min(n - 1, max(2 * count + 1, BASIS))
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, count, which="LA", v0=start, ncv=basis, maxiter=RESTARTS, tol=tol)
        method = "Lanczos"
    except ArpackError:
        if isinstance(W, np.ndarray):
            memory.require(
                3 * 8 * n * n, f"all eigenvectors of a {n} x {n} matrix", "Use n_neighbors=10 on the solver."
            )
            return *dense_leading(W, roots, known, count), products, "all eigenvectors, as Lanczos did not converge"
        values, vectors = inverted_leading(W, roots, known, count, start, tol)
        method = "shifted and inverted Lanczos"
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order], products, method
