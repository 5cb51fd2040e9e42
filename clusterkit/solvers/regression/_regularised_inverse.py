"""One factorisation of ``M + I/C``, with C as a parameter or from the effective degrees of freedom.

`factorise` is for a matrix, `factorise_gram` for the Gram matrix of the features of a space, which it adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.spaces import FeatureSpace
from clusterkit.numerics.triangles import packed_upper, upper_of

__all__ = ["RegularisedInverse", "factorise", "factorise_gram", "trade_off"]

TINY_C = 1e-8
"""C below which the system is multiplied by C: with C = 1e-100, ``I/C`` would hide M in rounding errors or overflow."""
ILL_CONDITIONED = 1e12
"""C times the trace of M above which rounding errors of M, multiplied by C, would reach the scores."""
BISECTIONS = 200
"""Bound on the bisection steps for log C; 60 suffice for 1e-12, the bound only keeps the loop finite."""
LOG_C_TOLERANCE = 1e-12
"""Width of the interval of log C at which the bisection stops: about the rounding error of the eigenvalues."""


@final
@attrs.frozen(eq=False)
class RegularisedInverse:
    """Solves ``(M + I/C) x = b``.

    Parameters
    ----------
    C : float
    matrix : ndarray
        Inverse of the lower Cholesky factor of ``scale M + (scale / C) I``, or the eigenvectors of M.
    weights : ndarray or None
        ``1 / (w + 1/C)`` for the eigenvalues w; None for Cholesky.
    scale : float
        Factor by which the system was multiplied.
    resolved : mapping
        Values chosen by the factorisation, for `resolved_`.
    """

    C: float
    matrix: Array
    weights: Array | None
    scale: float
    resolved: Mapping[str, Any]

    def solve(self, b: Array) -> Array:
        """x (m, q) for right-hand sides b (m, q)."""
        if self.weights is not None:
            return self.matrix @ (self.weights[:, None] * (self.matrix.T @ b))
        # Two products with the inverse triangle instead of two substitutions: this runs in every iteration between
        # products with the features, and scipy's BLAS is another library than numpy's, whose waiting threads slow
        # those products down (38 ms an iteration against 14 on two cores).
        return self.matrix.T @ (self.matrix @ (self.scale * b))


def trade_off(eigenvalues: Array, df: float) -> tuple[float, float]:
    """C that gives `df` effective degrees of freedom, and the df actually used.

    A df above half the numerical rank is lowered to half the rank: C would diverge otherwise.

    Examples
    --------
    >>> C, df = trade_off(np.array([1.0, 1.0, 1.0, 1.0]), 2.0)
    >>> round(C, 6), df
    (1.0, 2.0)
    """
    w = np.maximum(eigenvalues, 0.0)
    largest = float(w.max(initial=0.0))
    rank = int(np.sum(w > len(w) * np.finfo(np.float64).eps * largest)) if largest > 0 else 0
    if rank == 0:
        return 1.0, 0.0
    used = min(df, rank / 2)
    # df(C) = sum w / (w + 1/C) rises with C; bisect on log C between values that bracket the solution
    low, high = np.log(used / (w.sum() + 1e-300)) - 1.0, np.log(1.0 / w[w > 0].min()) + 40.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if np.sum(w / (w + np.exp(-middle))) < used:
            low = middle
        else:
            high = middle
        if high - low < LOG_C_TOLERANCE:
            break
    return float(np.exp(0.5 * (low + high))), float(used)


def factorise(M: Array, C: float | None, df: float) -> RegularisedInverse:
    """Cholesky factor of ``M + I/C``, or its eigenvectors where Cholesky would lose digits.

    The eigenvectors of eigenvalues that are rounding errors are left out.

    Parameters
    ----------
    M : ndarray of shape (m, m)
        Positive semidefinite.
    C : float or None
        None determines C from `df`, which costs the eigenvalues of M.
    df : float
        Effective degrees of freedom (`Ridge`); used only if C is None.
    """
    return _factorise(M, C, df, lambda: _spectrum(M))


def factorise_gram(space: FeatureSpace, C: float | None, df: float, weights: Array | None = None) -> RegularisedInverse:
    """The same for the Gram matrix H'H of the features, or H'WH for weights (n,) of the samples, in one pass.

    Where Cholesky would lose digits, a second pass computes singular values of H, because these have twice as many
    correct digits as the eigenvalues of H'H.
    """
    return _factorise(space.gram(weights), C, df, lambda: space.reduce(_Triangles(weights)).spectrum())


def _factorise(M: Array, C: float | None, df: float, spectrum: Callable[[], tuple[Array, Array]]) -> RegularisedInverse:
    from scipy.linalg.lapack import dtrtri

    resolved: dict[str, Any] = {}
    if C is None:
        C, used = trade_off(np.linalg.eigvalsh(M), df)
        resolved["C"] = C
        if used < df:
            resolved["df"] = used
    C = float(C)
    # keep the identity on the scale of the matrix when C is tiny
    scale = C if TINY_C > C else 1.0
    try:
        if np.trace(M) * C > ILL_CONDITIONED:
            raise np.linalg.LinAlgError("C is too large for a Cholesky factorisation")
        system = M * scale
        system[np.diag_indices_from(system)] += scale / C
        inverse, failed = dtrtri(np.linalg.cholesky(system), lower=1)
        if failed or not np.isfinite(inverse[-1, -1]):
            raise np.linalg.LinAlgError("not finite")
        return RegularisedInverse(C, inverse, None, scale, resolved)
    except np.linalg.LinAlgError:
        w, V = spectrum()
        resolved["factorisation"] = "eigenvectors: the matrix is too ill-conditioned for Cholesky at this C"
        noise = max(M.shape) * np.finfo(np.float64).eps * w.max(initial=0.0)
        weights = np.divide(1.0, w + 1.0 / C, out=np.zeros_like(w), where=w > noise)
        return RegularisedInverse(C, V, weights, 1.0, resolved)


def _spectrum(M: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of M."""
    w, V = np.linalg.eigh(M)
    return np.maximum(w, 0.0), V


@final
@attrs.frozen(eq=False)
class Triangle:
    """The factor R of a QR decomposition of rows of features, or a block of rows that is not decomposed yet.

    Two of them add up to the factor of all their rows, so that dense and streamed features give the same digits.
    """

    rows: Array
    decomposed: bool = False

    def __add__(self, following: Triangle) -> Triangle:
        """The factor of both."""
        return _decomposed([self.factor().rows, following.rows])

    def __reduce__(self) -> tuple[Callable[..., Triangle], tuple[object, ...]]:
        """A factor without its zeros, half as many bytes."""
        rows = self.rows
        return (_of_entries, (packed_upper(rows), *rows.shape)) if self.decomposed else (Triangle, (rows,))

    def factor(self) -> Triangle:
        """The factor itself."""
        return self if self.decomposed else _decomposed([self.rows])

    def spectrum(self) -> tuple[Array, Array]:
        """Squared singular values and right singular vectors of the rows."""
        _, s, Vt = np.linalg.svd(self.factor().rows, full_matrices=False)
        return s**2, Vt.T


def _of_entries(packed: Array, rows: int, columns: int) -> Triangle:
    return Triangle(upper_of(packed, rows, columns), True)


def _decomposed(rows: list[Array]) -> Triangle:
    return Triangle(np.asarray(np.linalg.qr(np.concatenate(rows), mode="r")), True)


@final
@attrs.frozen(eq=False)
class _Triangles:
    """Part of a QR decomposition: the rows of a block, times the roots of their weights."""

    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> Triangle:
        block = H.astype(np.float64, copy=False)
        return Triangle(block if self.weights is None else block * np.sqrt(self.weights[rows, None]))
