"""One factorisation of ``M + I/C``, with C given or found from the degrees of freedom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.spaces import FeatureSpace

__all__ = ["Factor", "complexity", "factorise"]

TINY_C = 1e-8
# C times the trace above which rounding noise in M, multiplied by C, would reach the scores.
ILL_CONDITIONED = 1e12
BISECTIONS = 200


@final
@attrs.frozen(eq=False)
class Factor:
    """Solves ``(M + I/C) x = b``.

    Parameters
    ----------
    C : float
    matrix : ndarray
        Inverse of the lower Cholesky factor of ``scale M + (scale / C) I``, or the eigenvectors of M.
    weights : ndarray or None
        ``1 / (w + 1/C)`` for the eigenvectors; None for Cholesky.
    scale : float
        What the system was multiplied by.
    resolved : mapping
    """

    C: float
    matrix: Array
    weights: Array | None
    scale: float
    resolved: Mapping[str, Any]

    def solve(self, b: Array) -> Array:
        """x for right-hand sides b (m, q)."""
        if self.weights is not None:
            return self.matrix @ (self.weights[:, None] * (self.matrix.T @ b))
        # Two products with the inverse triangle instead of two substitutions: this runs every turn between products
        # with the features, and scipy's BLAS is another library than numpy's, whose waiting threads slow those down
        # (38 ms a turn against 14 on two cores).
        return self.matrix.T @ (self.matrix @ (self.scale * b))


def complexity(eigenvalues: Array, df: float) -> tuple[float, float]:
    """C that gives `df` effective degrees of freedom, and the df used.

    A df above half the numerical rank is lowered to it: C would run off to infinity.

    Examples
    --------
    >>> C, used = complexity(np.array([1.0, 1.0, 1.0, 1.0]), 2.0)
    >>> round(C, 6), used
    (1.0, 2.0)
    """
    w = np.maximum(eigenvalues, 0.0)
    largest = float(w.max(initial=0.0))
    rank = int(np.sum(w > len(w) * np.finfo(np.float64).eps * largest)) if largest > 0 else 0
    if rank == 0:
        return 1.0, 0.0
    used = min(df, rank / 2)
    # df(C) = sum w / (w + 1/C) rises with C; bisect on log C between values that bracket it
    low, high = np.log(used / (w.sum() + 1e-300)) - 1.0, np.log(1.0 / w[w > 0].min()) + 40.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if np.sum(w / (w + np.exp(-middle))) < used:
            low = middle
        else:
            high = middle
        if high - low < 1e-12:
            break
    return float(np.exp(0.5 * (low + high))), float(used)


def factorise(M: Array, C: float | None, df: float, space: FeatureSpace | None = None) -> Factor:
    """Cholesky of ``M + I/C``; eigenvectors without the directions of rounding noise where that would lose digits.

    Parameters
    ----------
    M : ndarray of shape (m, m)
        Positive semidefinite.
    C : float or None
        None finds it from `df`, which costs the eigenvalues of M.
    space : FeatureSpace, optional
        If M is a Gram matrix H'H: where the fallback takes singular values from, because those of H keep twice the
        digits that the eigenvalues of H'H have.
    """
    from scipy.linalg.lapack import dtrtri

    resolved: dict[str, Any] = {}
    if C is None:
        C, used = complexity(np.linalg.eigvalsh(M), df)
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
        return Factor(C, inverse, None, scale, resolved)
    except np.linalg.LinAlgError:
        w, V = _spectrum(M, space)
        resolved["factorisation"] = "eigenvectors: the matrix is too ill-conditioned for Cholesky at this C"
        noise = max(M.shape) * np.finfo(np.float64).eps * w.max(initial=0.0)
        weights = np.divide(1.0, w + 1.0 / C, out=np.zeros_like(w), where=w > noise)
        return Factor(C, V, weights, 1.0, resolved)


def _spectrum(M: Array, space: FeatureSpace | None) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of M."""
    if space is not None:
        # by QR over the blocks, so that dense and streamed features give the same digits
        R: Array = np.zeros((0, space.width))
        for _, H in space.blocks():
            R = np.asarray(np.linalg.qr(np.concatenate([R, H]), mode="r"))
        _, s, Vt = np.linalg.svd(R, full_matrices=False)
        return s**2, Vt.T
    w, V = np.linalg.eigh(M)
    return np.maximum(w, 0.0), V
