"""Gaussian mixtures on plain arrays: the two steps of EM in blocks of samples, and posteriors of new samples."""

from __future__ import annotations

import math
from typing import Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.row_graph import Node
from clusterkit.core.transform import Transform, block_plan

__all__ = ["Mixture", "Posteriors", "maximise"]

EPS = float(np.finfo(np.float64).eps)
"""Relative rounding error of float64; 10 of it are added to each share, so that no component has weight 0."""
NEGLIGIBLE = 1e-24
"""Posteriors below this fraction of a component's mean share change no digit of its moments and are skipped."""


@final
@attrs.frozen(eq=False)
class Mixture:
    """A Gaussian mixture in coordinates whose origin is the mean of the samples.

    Parameters
    ----------
    origin : ndarray of shape (d,)
    means : ndarray of shape (k, d)
    factors : ndarray of shape (k, d, d) or (k, d)
        Upper triangular ``U`` with ``covariance^-1 = U U'``; for diagonal covariances the diagonal of U.
    constants : ndarray of shape (k,)
        ``ln π_j + ln det U_j - (d/2) ln 2π``.
    """

    origin: Array
    means: Array
    factors: Array
    constants: Array

    def logarithms(self, H: Array) -> Array:
        """``ln π_j N(h; μ_j, Σ_j)``, (m, k), float64, for rows H (m, d)."""
        H = H.astype(np.float64, copy=False) - self.origin
        logs = np.empty((len(H), len(self.means)))
        for j, (mean, factor) in enumerate(zip(self.means, self.factors, strict=True)):
            gaps = (H - mean) @ factor if factor.ndim == 2 else (H - mean) * factor
            logs[:, j] = self.constants[j] - 0.5 * np.einsum("ij,ij->i", gaps, gaps)
        return logs

    def onnx(self, rows: Node) -> Node:
        """`logarithms` of rows."""
        H = rows - self.origin
        logs = []
        for mean, factor, constant in zip(self.means, self.factors, self.constants, strict=True):
            gaps = (H - mean) @ factor if factor.ndim == 2 else (H - mean) * factor
            logs.append(float(constant) - gaps.square().sum() * 0.5)
        return logs[0].joined(*logs[1:])

    def posteriors(self, H: Array) -> tuple[Array, Array]:
        """Probabilities of the components, (m, k), and the log-densities of the rows, (m,)."""
        logs = self.logarithms(H)
        largest = logs.max(axis=1, keepdims=True)
        logs -= largest
        shares = np.exp(logs, out=logs)
        sums = shares.sum(axis=1, keepdims=True)
        shares /= sums
        return shares, (largest + np.log(sums))[:, 0]

    def expectation(self, H: Array) -> tuple[Array, float]:
        """Posteriors of all samples, (n, k), and their log-likelihood, in blocks of rows."""
        F, total = np.empty((len(H), len(self.means))), 0.0
        for rows in block_plan(len(H), H.shape[1], np.float64):
            F[rows], densities = self.posteriors(H[rows])
            total += float(densities.sum())
        return F, total


def maximise(
    H: Array,
    origin: Array,
    F: Array,
    floor: float,
    covariance: Literal["full", "tied", "diag"],
    pooling: float,
    stage: str,
) -> Mixture:
    """M step: the mixture of weighted means and covariances, O(n d² k) for full covariances.

    Parameters
    ----------
    H : ndarray of shape (n, d)
    origin : ndarray of shape (d,)
        Mean of the samples.
    F : ndarray of shape (n, k)
        Share of each component in each sample.
    floor : float
        Added to all variances.
    covariance : {"full", "tied", "diag"}
        "tied": one full covariance for all components, the mean of theirs weighted by their shares.
    pooling : float
        Rows that this mean counts for in the covariance of each component.
    stage : str
        Name of the calling stage, for the error.

    Raises
    ------
    InvalidParameter
        If a covariance is singular in spite of the floor.
    """
    (n, d), k = H.shape, F.shape[1]
    shares = F.sum(axis=0) + 10.0 * EPS
    means = np.empty((k, d))
    factors = np.empty((k, d) if covariance == "diag" else (k, d, d))
    spreads = np.zeros(factors.shape)
    constants = np.log(shares / shares.sum()) - 0.5 * d * math.log(2.0 * math.pi)
    for j in range(k):
        members = np.flatnonzero(F[:, j] > NEGLIGIBLE * shares[j] / n)
        weights = F[members, j] / shares[j]
        plan = list(block_plan(len(members), d, np.float64))
        # one block is gathered once, several are gathered again for the second pass
        only = H[members] - origin if len(plan) == 1 else None
        mean = np.zeros(d)
        for rows in plan:
            mean += weights[rows] @ (H[members[rows]] - origin if only is None else only)
        means[j] = mean
        for rows in plan:
            gaps = (H[members[rows]] - origin if only is None else only) - mean
            gaps *= np.sqrt(weights[rows])[:, None]
            spreads[j] += np.einsum("ij,ij->j", gaps, gaps) if covariance == "diag" else gaps.T @ gaps
    pooled = np.tensordot(shares / shares.sum(), spreads, axes=1)
    if covariance == "tied":
        factors[:], logarithms = _factors(pooled[None], floor, stage)
        return Mixture(origin, means, factors, constants + logarithms)
    if pooling:
        wide = shares.reshape(k, *[1] * (spreads.ndim - 1))
        spreads = (wide * spreads + pooling * pooled) / (wide + pooling)
    if covariance == "diag":
        factors[:] = 1.0 / np.sqrt(spreads + floor)
        logarithms = np.log(factors).sum(axis=1)
    else:
        factors[:], logarithms = _factors(spreads, floor, stage)
    return Mixture(origin, means, factors, constants + logarithms)


def _factors(covariances: Array, floor: float, stage: str) -> tuple[Array, Array]:
    """Upper triangular ``U`` with ``(covariance + floor I)^-1 = U U'``, (b, d, d), and ``ln det U``, (b,)."""
    from scipy.linalg.lapack import dtrtrs

    identity = np.eye(covariances.shape[1])
    try:
        lower = np.asarray_chkfinite(np.linalg.cholesky(covariances + floor * identity))
    except np.linalg.LinAlgError:
        raise InvalidParameter(
            f"{stage}: the covariance of a component is singular for covariance_floor = {floor:.3g} in the "
            "units of the features; raise covariance_floor, use covariance='diag', or map to fewer features first"
        ) from None
    factors = np.empty_like(lower)
    for factor, triangle in zip(factors, lower, strict=True):
        # LAPACK itself: with few columns the checks of solve_triangular took ten times as long as the solution
        factor[:] = dtrtrs(triangle.T, identity, lower=0, trans=1)[0].T
    return factors, -np.log(np.ascontiguousarray(np.diagonal(lower, axis1=1, axis2=2))).sum(axis=1)


@final
@attrs.frozen(eq=False)
class Posteriors:
    """Probabilities of the components for new samples.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    mixture : Mixture
    shown : ndarray of int
        Components to return; the posteriors of all components sum to 1.
    """

    transform: Transform
    mixture: Mixture
    shown: Indices

    def __call__(self, Y: Array) -> Array:
        """Posteriors of raw rows, (m, d) to (m, len(shown)), float64."""
        H = self.transform(Y)
        return self.mixture.expectation(H)[0][:, self.shown]

    @property
    def means(self) -> Array:
        """The means of the components as features, (len(shown), L)."""
        return (self.mixture.means + self.mixture.origin)[self.shown]

    def onnx(self, rows: Node) -> Node:
        """Posteriors of raw rows."""
        return rows.through(self.transform).through(self.mixture).op("Softmax", axis=1).columns(self.shown)

    def columns(self, index: slice) -> Posteriors:
        """The extension that returns some of the columns."""
        return attrs.evolve(self, shown=self.shown[index])
