"""Random features of an extreme learning machine."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import FeatureMap, FittedMap, Task, params
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.shared.scaling import Affine, to_range
from clusterkit.numerics.distances import EXPLICIT_DIMENSIONS, squared_distances
from clusterkit.numerics.selection import sample_rows
from clusterkit.numerics.shapes import array
from clusterkit.samples import FeatureSpace, memory
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    device_product,
    host_dtype,
    is_device_array,
    row_squares,
    to_device_of,
)
from clusterkit.samples.survey import draw_rows
from clusterkit.samples.transform import product

MEDIAN_ROWS = 2000
"""Number of random rows whose pairwise distances give the median; 2,000 rows are 2 million pairs, 32 MB."""
VANISHED = 1e-300
"""Features below this have underflowed: near the smallest normal float64, with digits lost."""
TRIED_ROWS = 1024
"""Number of rows whose features are checked for underflow."""


@final
@attrs.frozen(eq=False)
class GaussianNodes(BlockFunction):
    """Row map ``exp(-b_j |x - a_j|²)`` of scaled rows x.

    Parameters
    ----------
    scaling : Affine or None
    centers : ndarray of shape (L, d)
        The points a_j, in scaled coordinates.
    widths : ndarray of shape (L,)
        The factors b_j, in units of an inverse squared distance.
    """

    array_api: ClassVar[bool] = True

    scaling: Affine | None
    centers: Array = attrs.field(validator=array("L d"))
    widths: Array = attrs.field(validator=array("L"))
    _origin: Array = attrs.field(init=False, repr=False)
    _exponent: Array = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        # |x - a|² is expanded about the median of the centers, so that neither a common offset of the data nor far rows
        # cost digits; with |x|² and 1 as two more features the whole exponent is one matrix product.
        origin = np.median(self.centers, axis=0)
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
        if is_device_array(Y):
            return self._on_device(Y)
        m, d = Y.shape
        rows = np.ones((m, d + 2), dtype=Y.dtype)
        rows[:, :d] = self._scaled(Y) - self._origin
        rows[:, d] = np.einsum("ij,ij->i", rows[:, :d], rows[:, :d])
        Z = product(rows, self._exponent.astype(Y.dtype, copy=False))
        np.minimum(Z, 0.0, out=Z)
        return np.exp(Z, out=Z)

    def _scaled(self, Y: Any) -> Any:
        """Scaled rows in float64: in float32 they would lose what they differ in where others are far."""
        Y = as_type(Y, np.float64)
        return Y if self.scaling is None else self.scaling(Y)

    def _on_device(self, Y: Any) -> Any:
        """Features of rows of another library, by the same product."""
        xp = array_namespace(Y)
        rows = as_type(self._scaled(Y) - to_device_of(self._origin, Y, np.float64), host_dtype(Y))
        squares, ones = row_squares(rows)[:, None], xp.ones((Y.shape[0], 1), dtype=Y.dtype, device=Y.device)
        Z = device_product(xp.concat([rows, squares, ones], axis=1), to_device_of(self._exponent, Y))
        return xp.exp(xp.minimum(Z, xp.zeros((), dtype=Y.dtype, device=Y.device)))

    def __reduce__(self) -> tuple[object, ...]:
        # the exponent follows from the rest
        return GaussianNodes, (self.scaling, self.centers, self.widths)


@attrs.frozen(eq=False)
class _AdditiveNodes(BlockFunction):
    """Functions of ``a_j · x + b_j`` of scaled rows x.

    Parameters
    ----------
    scaling : Affine or None
    weights : ndarray of shape (L, d)
    biases : ndarray of shape (L,)
    """

    array_api: ClassVar[bool] = True

    scaling: Affine | None
    weights: Array = attrs.field(validator=array("L d"))
    biases: Array = attrs.field(validator=array("L"))

    @property
    def width(self) -> int:
        """Number of nodes, L."""
        return len(self.weights)

    def _sums(self, Y: Array) -> Array:
        """``a_j · x + b_j``, (m, L), in the type of Y."""
        Y = Y if self.scaling is None else self.scaling(Y)
        if is_device_array(Y):
            sums = device_product(Y, to_device_of(self.weights, Y).T)
            sums += to_device_of(self.biases, Y)
            return sums
        Z = Y @ self.weights.T.astype(Y.dtype, copy=False)
        Z += self.biases.astype(Y.dtype, copy=False)
        return Z


@final
@attrs.frozen(eq=False)
class SigmoidNodes(_AdditiveNodes):
    """Row map ``1 / (1 + exp(-(a_j · x + b_j)))`` of scaled rows x."""

    def __call__(self, Y: Array) -> Array:
        """Features of raw rows, (m, d) to (m, L), in (0, 1)."""
        Z = self._sums(Y)
        # 1 / (1 + e^-z) = (1 + tanh(z / 2)) / 2: no overflow on either side
        Z *= 0.5
        if is_device_array(Z):
            return 0.5 * (array_namespace(Z).tanh(Z) + 1.0)
        np.tanh(Z, out=Z)
        Z += 1.0
        Z *= 0.5
        return Z


@final
@attrs.frozen(eq=False)
class RidgeNodes(_AdditiveNodes):
    """Row map ``exp(-(a_j · x + b_j)²)`` of scaled rows x, the "radbas" of ELM programs: near 1 along a hyperplane."""

    def __call__(self, Y: Array) -> Array:
        """Features of raw rows, (m, d) to (m, L), in (0, 1]."""
        Z = self._sums(Y)
        if is_device_array(Z):
            return array_namespace(Z).exp(-(Z * Z))
        with np.errstate(over="ignore"):  # far from its hyperplane a node is 0
            np.square(Z, out=Z)
        np.negative(Z, out=Z)
        return np.exp(Z, out=Z)


ADDITIVE: dict[str, type[SigmoidNodes | RidgeNodes]] = {"sigmoid": SigmoidNodes, "radbas": RidgeNodes}
"""Activations whose nodes are functions of ``a · x + b``; Gaussian nodes are functions of a distance."""


@final
@attrs.frozen
class Elm(FeatureMap):
    """Random nonlinear features of an extreme learning machine.

    For margin clustering, k-means and NMF of data that are not linearly separable, at a cost linear in n: O(n d L)
    time, and O(n L) memory or, when streamed, the memory of one block. All features are nonnegative.

    Parameters
    ----------
    n_hidden : int, optional
        Number of nodes, L. Default min(n, 1000).
    activation : {"gaussian", "sigmoid", "radbas"}, default "gaussian"
        Gaussian: ``exp(-b |x - a|²)``. Sigmoid: ``1 / (1 + exp(-(a · x + b)))``. Radbas, the radial basis function of
        ELM programs: ``exp(-(a · x + b)²)``; with many attributes its features vanish less than those of Gaussian
        nodes with uniform centers.
    centers : {"data", "uniform"}, default "data"
        Distribution of the points a of Gaussian nodes: random rows of the data (each row once if L = n), or
        U[-1, 1]^d as in the papers, which suits low dimensions only. The weights a of the other activations are
        always drawn from U[-1, 1]^d.
    width : float, default 0.5
        With data centers ``b = width * U(0, 1) / median²``, where the median is over the pairwise distances of at most
        2,000 rows; with uniform centers ``b = width * U(0, 1)`` (the papers use width 1). For the other activations a
        factor of the weights and biases.
    scale : {"minmax", None}, default "minmax"
        "minmax" scales each attribute to [-1, 1] first, by its range in the clustered data; None does not scale.
    storage : {"auto", "dense", "streamed"}, default "auto"
        Keep the features in memory, or compute them in each pass; "auto" decides by the memory cap. The labels are the
        same.

    Warns
    -----
    ClusterkitWarning
        If features underflow to 0, because the data are not scaled or have too many attributes for uniform centers.

    References
    ----------
    Huang, Zhu, Siew (2006), Extreme learning machine, Neurocomputing 70; Zhang, Xia, Liu, Zhang (2013), Extreme maximum
    margin clustering, IEICE Trans.; He et al. (2014), Neurocomputing.
    """

    name: ClassVar[str] = "elm"
    synonyms: ClassVar[tuple[str, ...]] = ("extreme_learning_machine", "random_hidden_nodes")
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    nonnegative: ClassVar[bool | None] = True
    n_hidden: int | None = params.integer(None, at_least=1, optional=True)
    activation: str = params.choice("gaussian", ("gaussian", "sigmoid", "radbas"))
    centers: str = params.choice("data", ("data", "uniform"))
    width: float = params.real(0.5, above=0)
    scale: str | None = params.choice("minmax", ("minmax",), optional=True)
    storage: str = params.choice("auto", ("auto", "dense", "streamed"))

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The nodes, from the extremes (one pass) and at most 4,000 rows besides those at which nodes lie."""
        n, d = samples.n, samples.width
        L = min(n, 1000) if self.n_hidden is None else int(self.n_hidden)
        memory.require(8 * L * (d + 1), f"featuremap 'elm' with {L:,} nodes", "Use fewer nodes (n_hidden).")
        scaling = None if self.scale is None else to_range(samples, -1.0, 1.0)
        nodes: GaussianNodes | SigmoidNodes | RidgeNodes
        if self.activation in ADDITIVE:
            weights = self.width * rng.uniform(-1.0, 1.0, size=(L, d))
            nodes = ADDITIVE[self.activation](scaling, weights, self.width * rng.uniform(0.0, 1.0, size=L))
        elif self.centers == "uniform":
            A = rng.uniform(-1.0, 1.0, size=(L, d))
            nodes = GaussianNodes(scaling, A, self.width * _open_unit(rng, L))
        else:
            rows = samples.rows(draw_rows(rng, n, L) if n >= L else rng.integers(n, size=L)).astype(np.float64)
            A = np.asarray(rows if scaling is None else scaling(rows), dtype=np.float64)
            nodes = GaussianNodes(scaling, A, self.width * _open_unit(rng, L) / _median(samples, scaling, rng))
        _warn_of_underflow(nodes, samples.rows(np.arange(0, n, max(1, n // TRIED_ROWS))))
        return FittedMap(nodes, {"n_hidden": L} if self.n_hidden is None else {}, storage=self.storage)


def _open_unit(rng: Rng, size: int) -> Array:
    """Random numbers from (0, 1]: a factor of 0 would make a constant node."""
    return 1.0 - rng.random(size)


def _median(samples: FeatureSpace, scaling: Affine | None, rng: Rng) -> float:
    """Median squared distance of distinct rows; 1 if all rows are equal."""
    rows: Array = samples.rows(sample_rows(samples.n, MEDIAN_ROWS, rng)).astype(np.float64)
    rows = rows if scaling is None else scaling(rows)
    D = squared_distances(rows, rows)
    D = np.concatenate([D[i, :i] for i in range(len(rows))])  # every pair once
    # distances of equal rows that are computed from expanded squares are rounding errors, not 0
    noise = (rows.shape[1] + 8) * np.finfo(np.float64).eps * D.max(initial=0.0)
    D = D[(noise if rows.shape[1] > EXPLICIT_DIMENSIONS else 0.0) < D]
    return float(np.median(D)) if len(D) else 1.0


def _warn_of_underflow(nodes: GaussianNodes | SigmoidNodes | RidgeNodes, X: Array) -> None:
    """Warn if more than half of the features of some rows X vanish, or all features of one row."""
    H = nodes(X)
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
