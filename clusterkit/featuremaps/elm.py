"""Random features of an extreme learning machine."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import params
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.spaces import FeatureSpace, build_space
from clusterkit.core.stages import FeatureMap, Task
from clusterkit.featuremaps._affine import Affine, to_range
from clusterkit.numerics.distances import EXPLICIT_DIMENSIONS, squared_distances

__all__ = ["Elm", "GaussianNodes", "RidgeNodes", "SigmoidNodes"]

MEDIAN_ROWS = 2000
VANISHED = 1e-300
TRIED_ROWS = 1024


@final
@attrs.frozen(eq=False)
class GaussianNodes:
    """``exp(-b_j |x - a_j|²)`` of rows scaled first.

    Parameters
    ----------
    scaling : Affine or None
    centers : ndarray of shape (L, d)
        a, in scaled coordinates.
    widths : ndarray of shape (L,)
        b, inverse squared distances.
    """

    scaling: Affine | None
    centers: Array
    widths: Array
    _origin: Array = attrs.field(init=False, repr=False)
    _exponent: Array = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        # |x - a|² is expanded about the mean of the centers, so that a common offset of the data cancels nothing; with
        # |x|² and 1 as two more features the whole exponent is one matrix product.
        origin = self.centers.mean(axis=0)
        centers = self.centers - origin
        rows = [2.0 * self.widths * centers.T, -self.widths[None], -self.widths * np.square(centers).sum(axis=1)[None]]
        object.__setattr__(self, "_origin", origin)
        object.__setattr__(self, "_exponent", np.concatenate(rows))  # (d + 2, L)

    @property
    def width(self) -> int:
        """Number of nodes, L."""
        return len(self.centers)

    def __call__(self, Y: Array) -> Array:
        """Features of raw rows, (m, d) to (m, L), in (0, 1]; one matrix product."""
        m, d = Y.shape
        rows = np.ones((m, d + 2), dtype=Y.dtype)
        rows[:, :d] = (Y if self.scaling is None else self.scaling(Y)) - self._origin
        rows[:, d] = np.einsum("ij,ij->i", rows[:, :d], rows[:, :d])
        Z = rows @ self._exponent.astype(Y.dtype, copy=False)
        np.minimum(Z, 0.0, out=Z)
        return np.exp(Z, out=Z)

    def __reduce__(self) -> tuple[Any, ...]:
        # the exponent follows from the rest
        return GaussianNodes, (self.scaling, self.centers, self.widths)


@attrs.frozen(eq=False)
class _AdditiveNodes:
    """Functions of ``a_j · x + b_j`` of rows scaled first.

    Parameters
    ----------
    scaling : Affine or None
    weights : ndarray of shape (L, d)
    biases : ndarray of shape (L,)
    """

    scaling: Affine | None
    weights: Array
    biases: Array

    @property
    def width(self) -> int:
        """Number of nodes, L."""
        return len(self.weights)

    def _sums(self, Y: Array) -> Array:
        Y = Y if self.scaling is None else self.scaling(Y)
        Z = Y @ self.weights.T.astype(Y.dtype, copy=False)
        Z += self.biases.astype(Y.dtype, copy=False)
        return Z


@final
@attrs.frozen(eq=False)
class SigmoidNodes(_AdditiveNodes):
    """``1 / (1 + exp(-(a_j · x + b_j)))`` of rows scaled first."""

    def __call__(self, Y: Array) -> Array:
        """Features of raw rows, (m, d) to (m, L), in (0, 1)."""
        Z = self._sums(Y)
        # 1 / (1 + e^-z) by tanh: one pass, no overflow on either side
        Z *= 0.5
        np.tanh(Z, out=Z)
        Z += 1.0
        Z *= 0.5
        return Z


@final
@attrs.frozen(eq=False)
class RidgeNodes(_AdditiveNodes):
    """``exp(-(a_j · x + b_j)²)`` of rows scaled first: near 1 along a hyperplane, as "radbas" of ELM programs is."""

    def __call__(self, Y: Array) -> Array:
        """Features of raw rows, (m, d) to (m, L), in (0, 1]."""
        Z = self._sums(Y)
        np.square(Z, out=Z)
        np.negative(Z, out=Z)
        return np.exp(Z, out=Z)


ADDITIVE: dict[str, type[SigmoidNodes | RidgeNodes]] = {"sigmoid": SigmoidNodes, "radbas": RidgeNodes}


@final
@attrs.frozen
class Elm(FeatureMap):
    """Random nonlinear features of an extreme learning machine.

    For margin clustering, k-means and NMF of data that are not linearly separable, at a cost linear in n: O(n d L)
    time, O(n L) memory, or that of a block when streamed. Features are nonnegative.

    Parameters
    ----------
    n_hidden : int, optional
        Number of nodes, L. Default min(n, 1000).
    activation : {"gaussian", "sigmoid", "radbas"}, default "gaussian"
        Gaussian: ``exp(-b |x - a|²)``. Sigmoid: ``1 / (1 + exp(-(a · x + b)))``. Radbas, the radial basis function of
        ELM programs: ``exp(-(a · x + b)²)``; of many attributes it keeps more than Gaussian nodes with uniform centers.
    centers : {"data", "uniform"}, default "data"
        Where the a of Gaussian nodes come from: random rows of the data (all of them once if L = n), or
        U[-1, 1]^d, the papers' way, which suits low dimension only. The a of the others are always U[-1, 1]^d.
    width : float, default 0.5
        With data centers ``b = width * U(0, 1) / median²``, median over the pairwise distances of at most 2,000 rows;
        with uniform centers ``b = width * U(0, 1)`` (1 is the papers' value); scales the weights and biases
        of the others.
    scale : {"minmax", None}, default "minmax"
        Stretch each attribute to [-1, 1] first, with ranges of the clustered data. None takes the data as they are.
    storage : {"auto", "dense", "streamed"}, default "auto"
        Keep the features, or compute them in each pass; auto decides by the memory cap. The labels are the same.

    Warns
    -----
    ClusterkitWarning
        If features underflow to 0: the data are not scaled, or their dimension is too high for uniform centers.

    References
    ----------
    Huang, Zhu, Siew (2006), Extreme learning machine, Neurocomputing 70; Zhang, Xia, Liu, Zhang (2013), Extreme maximum
    margin clustering, IEICE Trans.; He et al. (2014), Neurocomputing.
    """

    name: ClassVar[str] = "elm"
    nonnegative: ClassVar[bool | None] = True
    n_hidden: int | None = params.integer(None, at_least=1, optional=True)
    activation: str = params.choice("gaussian", ("gaussian", "sigmoid", "radbas"))
    centers: str = params.choice("data", ("data", "uniform"))
    width: float = params.real(0.5, above=0)
    scale: str | None = params.choice("minmax", ("minmax",), optional=True)
    storage: str = params.choice("auto", ("auto", "dense", "streamed"))

    def fit(self, X: Array, task: Task, rng: Rng) -> FeatureSpace:
        """The space of the random features of the rows of X (n, d)."""
        n, d = X.shape
        L = min(n, 1000) if self.n_hidden is None else int(self.n_hidden)
        scaling = None if self.scale is None else to_range(X, -1.0, 1.0)
        nodes: GaussianNodes | SigmoidNodes | RidgeNodes
        if self.activation in ADDITIVE:
            weights = self.width * rng.uniform(-1.0, 1.0, size=(L, d))
            nodes = ADDITIVE[self.activation](scaling, weights, self.width * rng.uniform(0.0, 1.0, size=L))
        elif self.centers == "uniform":
            A = rng.uniform(-1.0, 1.0, size=(L, d))
            nodes = GaussianNodes(scaling, A, self.width * _open_unit(rng, L))
        else:
            rows = X[rng.permutation(n)[:L]] if n >= L else X[rng.integers(n, size=L)]
            A = (rows if scaling is None else scaling(rows)).astype(np.float64)
            nodes = GaussianNodes(scaling, A, self.width * _open_unit(rng, L) / _median(X, scaling, rng))
        space = build_space(X, nodes, storage=self.storage, resolved=self._decided(L))
        _warn_of_underflow(nodes, X)
        return space

    def _decided(self, L: int) -> dict[str, Any]:
        return {"n_hidden": L} if self.n_hidden is None else {}


def _open_unit(rng: Rng, size: int) -> Array:
    """U(0, 1) without 0, which would make a constant node."""
    return 1.0 - rng.random(size)


def _median(X: Array, scaling: Affine | None, rng: Rng) -> float:
    """Median squared distance of distinct rows; 1 if there is none."""
    n = len(X)
    rows = X if n <= MEDIAN_ROWS else X[np.sort(rng.choice(n, MEDIAN_ROWS, replace=False))]
    rows = (rows if scaling is None else scaling(rows)).astype(np.float64)
    D = squared_distances(rows, rows)
    D = np.concatenate([D[i, :i] for i in range(len(rows))])  # each pair once
    # the expanded distances of equal rows are rounding noise, not distances
    noise = (rows.shape[1] + 8) * np.finfo(np.float64).eps * D.max(initial=0.0)
    D = D[(noise if rows.shape[1] > EXPLICIT_DIMENSIONS else 0.0) < D]
    return float(np.median(D)) if len(D) else 1.0


def _warn_of_underflow(nodes: GaussianNodes | SigmoidNodes | RidgeNodes, X: Array) -> None:
    H = nodes(X[:: max(1, len(X) // TRIED_ROWS)])
    tiny = float(np.mean(VANISHED > H))
    empty = int(np.sum(~H.any(axis=1)))
    if tiny > 0.5 or empty:
        advice = "use centers='data', or a smaller width" if isinstance(nodes, GaussianNodes) else "use a smaller width"
        warnings.warn(
            f"featuremap 'elm': {100 * tiny:.0f} % of the features vanish and {empty} of {len(H)} rows tried have none "
            f"left; scale the data (scale='minmax'), or {advice}",
            ClusterkitWarning,
            stacklevel=2,
        )
