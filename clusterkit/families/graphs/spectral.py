"""Spectral embedding of a self-tuned graph of nearest neighbours, and its Nyström extension.

The extension gives features of new rows from those of their nearest vertices.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import FeatureMap, Task, params
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.numerics.eigenvectors import RESIDUAL, Eigenvectors, inverse_factor, leading_eigenvectors
from clusterkit.numerics.neighbour_graph import (
    TREE_DIMENSIONS,
    Search,
    centred_rows,
    components,
    indicators,
    join_nearest,
    large_components,
    neighbour_search,
    self_tuned_graph,
    with_degrees,
)
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples import EmbeddedSpace, FeatureSpace, memory
from clusterkit.samples.limits import Report, notify, reuse
from clusterkit.samples.transform import block_plan

if TYPE_CHECKING:
    pass

LEAST_EIGENVALUE = 0.1
"""Smallest divisor in the extension: eigenvectors of smaller eigenvalues alternate between neighbours, so that an
average over neighbours says little about them, and dividing by nearly 0 would only enlarge the noise."""


@final
@attrs.frozen(eq=False)
class NystromMap:
    """Row map ``f_l(y) = (1 / λ_l) Σ_j w(y, x_j) f_l(x_j) / Σ_j w(y, x_j)`` over the nearest vertices x_j of y.

    The weights are those of the graph, ``exp(-|y - x_j|² / (s(y) s_j))``, computed relative to the largest of them, so
    that a row far from all vertices gets the features of the nearest ones.

    Parameters
    ----------
    origin : ndarray of shape (d,)
        Subtracted from the rows.
    size : float
        The rows are then divided by it.
    vertices : ndarray of shape (v, d)
        Distinct, with origin and size taken off.
    scales : ndarray of shape (v,)
        The local scales s_j.
    features : ndarray of shape (v, r)
        ``f(x_j)``, the rows of ``(D + τ)^(-1/2) U``, scaled.
    eigenvalues : ndarray of shape (r,)
    n_neighbors : int
        Number of nearest vertices, at most v.
    scale_neighbor : int
        s(y) is the distance to the vertex of this rank.
    regularization : float
        τ, added to the degree of a new row.
    unit : bool
        Whether features are divided by their length.
    """

    origin: Array = attrs.field(validator=array("d"))
    size: float = attrs.field(validator=scalar(least=0))
    vertices: Array = attrs.field(validator=array("v d"))
    scales: Array = attrs.field(validator=array("v", least=0))
    features: Array = attrs.field(validator=array("v r"))
    eigenvalues: Array = attrs.field(validator=array("r"))
    n_neighbors: int = attrs.field(validator=scalar(least=1, most="v"))
    scale_neighbor: int = attrs.field(validator=scalar(least=1, most="v"))
    regularization: float
    unit: bool
    # the search tree, made on first use and not pickled
    _memo: dict[str, Search] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def width(self) -> int:
        """Number of features, r."""
        return int(self.features.shape[1])

    def __call__(self, Y: Array) -> Array:
        """Features of raw rows, (m, d) to (m, r), in the type of Y."""
        H = np.empty((len(Y), self.width), dtype=Y.dtype)
        for rows in block_plan(len(Y), self.n_neighbors * max(self.width, Y.shape[1]), np.float64):
            H[rows] = self._extend((Y[rows].astype(np.float64) - self.origin) / self.size)
        return H

    def _extend(self, points: Array) -> Array:
        if "search" not in self._memo:
            self._memo["search"] = neighbour_search(self.vertices)
        count = max(self.n_neighbors, self.scale_neighbor)
        squared, index = self._memo["search"](points, count)
        scale = np.maximum(np.sqrt(squared[:, self.scale_neighbor - 1]), self.scales.min())
        squared, index = squared[:, : self.n_neighbors], index[:, : self.n_neighbors]
        exponents = squared / (scale[:, None] * self.scales[index])
        least = exponents.min(axis=1, keepdims=True)
        weights = np.exp(least - exponents)
        sums = weights.sum(axis=1)
        means = np.einsum("ij,ijl->il", weights, self.features[index]) / sums[:, None]
        H = means / np.maximum(self.eigenvalues, LEAST_EIGENVALUE)
        if self.unit:
            return unit_rows(H)
        degrees = sums * np.exp(-least[:, 0])
        share = degrees / (degrees + self.regularization) if self.regularization > 0.0 else np.ones(len(H))
        return cast("Array", H * share[:, None])

    def __reduce__(self) -> tuple[object, ...]:
        return NystromMap, (
            self.origin, self.size, self.vertices, self.scales, self.features, self.eigenvalues, self.n_neighbors,
            self.scale_neighbor, self.regularization, self.unit,
        )  # fmt: skip


def unit_rows(rows: Array) -> Array:
    """Rows scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0.0)


MOST_VERTICES = 200_000
"""Largest number of distinct rows of which all become vertices without being asked for, in up to 20 attributes: the
neighbours and eigenvectors of so many take about ten seconds on one core."""
MOST_PAIRED = 50_000
"""Largest number of distinct rows of which all become vertices in more than 20 attributes, where the distances of all
pairs are computed: 2.5 billion of them."""
LANDMARKS = 20_000
"""Vertices that are drawn where there are more rows: enough for the shape of clusters of some hundred rows each."""
GAP_EIGENVALUES = 20
"""Number of eigenvalues among which the largest gap is looked for; more clusters are found by a number given."""


def _columns(value: object) -> str | None:
    if value is None or value == "gap" or params.is_count(value):
        return None
    return "an integer >= 1, 'gap' or None"


def _landmarks(value: object) -> str | None:
    if value is None or value == "all" or params.is_count(value, 2):
        return None
    return "an integer >= 2, 'all' or None"


@final
@attrs.frozen
class Graph(FeatureMap):
    """Leading eigenvectors of a graph of nearest neighbours, the rows scaled to length 1.

    For clusters of any shape with gaps between them: rows that are connected by short steps get nearly equal features,
    so that k-means or a margin method on the features finds the connected parts. Each distinct row is joined to its
    nearest neighbours with the weights ``w_ij = exp(-|x_i - x_j|² / (s_i s_j))``, s_i the distance of row i to its
    neighbour number `scale_neighbor`, so that dense and sparse parts are joined alike (half of
    that where only one of the two is a neighbour of the other). The features are the rows of
    ``D^(-1/2) U`` for the leading eigenvectors U of ``D^(-1/2) W D^(-1/2)``, D = diag(W e).

    O(n log n) for the neighbours in up to 20 attributes, O(n² d) in more; some tens of solutions of a sparse system in
    up to 3 attributes, some hundreds to thousands of sparse products in more. The graph is in
    numerics/neighbour_graph, new rows in spectral.py.

    Parameters
    ----------
    n_components : int, "gap" or None, default None
        Number of eigenvectors. None takes one for each cluster asked for, and acts as "gap" where no number of clusters
        is given. "gap" takes those before the largest gap of the first 20 eigenvalues, but no fewer than 2.
    n_neighbors : int, default 10
        Neighbours that each row is joined to; two rows are joined if either is a neighbour of the other.
    scale_neighbor : int, default 7
        Rank of the neighbour whose distance is the scale of a row.
    normalize : bool, default True
        Scale the features of each row to length 1. Without it ``Σ d_i f_i² = Σ d_i`` holds for each column.
    diffusion_time : float, default 0
        Each column is multiplied by the power t of its eigenvalue (0 for negative ones): the coordinates of a diffusion
        map. For t = 0 all columns count alike.
    regularization : float, default 0
        This times the mean degree, τ, is added to all degrees, ``(D + τ)^(-1/2) W (D + τ)^(-1/2)``; it keeps small,
        weakly joined groups of outliers from having eigenvectors of their own.
    landmarks : int, "all" or None, default None
        Number of rows drawn as vertices of the graph; all others get their features as new rows do. None takes all
        distinct rows up to 200,000 (50,000 with more than 20 attributes), and 20,000 landmarks above, with a
        `ClusterkitWarning`.

    Raises
    ------
    NeedsMemory
        If neighbours or features exceed the memory cap.

    Warns
    -----
    ClusterkitWarning
        If landmarks are drawn without being asked for, or the residual of an eigenvector is above 1e-6.

    Notes
    -----
    Equal rows are one vertex. A connected component with no more rows than a row has neighbours, or with less than a
    tenth of the mean size of the clusters asked for, consists of outliers, which get features as new rows do. If there
    are more other components than eigenvectors, small and near ones are joined to others first (`join_nearest` in
    numerics/neighbour_graph.py); the eigenvectors then are the indicators of the groups. `resolved_` reports
    `n_components` and `components`, and, where they are not trivial, `distinct_rows`, `outliers`, `landmarks` and
    `residual`.

    New rows are mapped by the Nyström extension, the mean over their nearest vertices divided by the eigenvalues. It
    only approximates the features of the vertices themselves, so `exact_on_training` is False: `predict` of the
    training rows may differ from `labels_` near borders.

    Signs, and the rotation among equal eigenvalues, follow vectors drawn from the generator, so that they do not depend
    on rounding.

    References
    ----------
    Zelnik-Manor, Perona (2004), Self-tuning spectral clustering, NIPS 17. Ng, Jordan, Weiss (2002), On spectral
    clustering, NIPS 14: rows of length 1. Bengio et al. (2004), Out-of-sample extensions, NIPS 16. Coifman, Lafon
    (2006), Diffusion maps, Applied and Computational Harmonic Analysis 21. Qin, Rohe (2013), Regularized spectral
    clustering under the degree-corrected stochastic blockmodel, NIPS 26.
    """

    name: ClassVar[str] = "graph"
    synonyms: ClassVar[tuple[str, ...]] = ("spectral_embedding", "nystrom")
    nonnegative: ClassVar[bool | None] = False
    exact_on_training: ClassVar[bool] = False
    small: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = True

    n_components: int | Literal["gap"] | None = params.free(None, _columns, invalid=(0, -1, 1.5, "many"))
    n_neighbors: int = params.integer(10, at_least=1)
    scale_neighbor: int = params.integer(7, at_least=1)
    normalize: bool = params.flag(True)
    diffusion_time: float = params.real(0.0, at_least=0.0)
    regularization: float = params.real(0.0, at_least=0.0)
    landmarks: int | Literal["all"] | None = params.free(None, _landmarks, invalid=(0, 1, 1.5, "some"))

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FeatureSpace:
        """The space of the embedding of the samples."""
        X = samples.points
        # what does not depend on the number of clusters is the same for all fits to these rows
        first, inverse, rows, origin, size = reuse(X, "centred distinct rows", lambda: centred_rows(X))
        resolved: dict[str, Any] = {}
        if len(first) < len(X):
            resolved["distinct_rows"] = len(first)
        chosen = self._vertices(len(first), X.shape[1], rng, resolved)
        points = rows if len(chosen) == len(rows) else rows[chosen]
        mapping, features, kept_rows = self._embed(points, origin, size, task, rng, resolved)
        H = np.empty((len(first), mapping.width), dtype=X.dtype)
        H[chosen[kept_rows]] = features
        others = np.setdiff1d(np.arange(len(first)), chosen[kept_rows])
        if len(others):
            H[others] = mapping(X[first[others]])
        return EmbeddedSpace(X.copy(), mapping, H[inverse], resolved=resolved)

    def _vertices(self, u: int, d: int, rng: Rng, resolved: dict[str, Any]) -> Indices:
        """Distinct rows that become vertices, ascending."""
        most = MOST_VERTICES if d <= TREE_DIMENSIONS else MOST_PAIRED
        count = u if self.landmarks == "all" or (self.landmarks is None and u <= most) else self.landmarks or LANDMARKS
        if count >= u:
            return np.arange(u)
        resolved["landmarks"] = count
        if self.landmarks is None:
            warnings.warn(
                f"featuremap 'graph': with {u} distinct rows of {d} attributes, above {most}, the graph joins {count} "
                "random landmarks, and the other rows are mapped as new rows; landmarks='all' takes all rows",
                ClusterkitWarning,
                stacklevel=3,
            )
        return np.sort(rng.choice(u, count, replace=False))

    def _embed(
        self, points: Array, origin: Array, size: float, task: Task, rng: Rng, resolved: dict[str, Any]
    ) -> tuple[NystromMap, Array, Indices]:
        """The map of new rows, features of the vertices that are no outliers, and the numbers of these."""
        u = len(points)
        n_neighbors, scale_neighbor = min(self.n_neighbors, max(1, u - 1)), min(self.scale_neighbor, max(1, u - 1))
        resolved.update({"n_neighbors": n_neighbors} if n_neighbors < self.n_neighbors else {})
        rng.integers(2**31 - 1)  # once the seed of a search; the draws that follow stay the same
        if u == 1:
            resolved["n_components"] = 1
            ones = np.ones((1, 1))
            alone = NystromMap(origin, size, points, ones[0], ones, ones[0], 1, 1, 0.0, self.normalize)
            return alone, ones, np.zeros(1, dtype=np.intp)
        ranks = (n_neighbors, scale_neighbor)
        memory.require(
            8 * 6 * u * (max(ranks) + 1), f"the {max(ranks)} neighbours of {u} rows",
            "Use fewer n_neighbors, or landmarks.",
        )  # fmt: skip
        W, scales, component = reuse(points, ("graph", *ranks), lambda: self_tuned_graph(points, *ranks))
        joined = large_components(component, n_neighbors, task.n_clusters)
        if len(joined) < u:
            resolved["outliers"] = u - len(joined)
            which = ("without outliers", joined.tobytes())
            W, points, scales = reuse(W, which, lambda: (W[joined][:, joined], points[joined], scales[joined]))
        basis, degrees = self._eigenvectors(W, points, scales, task, rng, resolved)
        tau = self.regularization * float(degrees.mean())
        F = basis.vectors * np.sqrt((degrees + tau).sum() / (degrees + tau))[:, None]
        F = F * np.maximum(basis.values, 0.0) ** self.diffusion_time
        v = len(points)
        mapping = NystromMap(
            origin, size, points, scales, F, basis.values, min(n_neighbors, v), min(scale_neighbor, v), tau,
            self.normalize,
        )  # fmt: skip
        return mapping, unit_rows(F) if self.normalize else F, joined

    def _eigenvectors(
        self, W: Any, points: Array, scales: Array, task: Task, rng: Rng, resolved: dict[str, Any]
    ) -> tuple[Eigenvectors, Array]:
        """Leading eigenvectors, and the degrees; writes chosen quantities to `resolved`."""
        v = len(points)
        W, degrees = with_degrees(W)
        component = components(W)
        c = int(component.max()) + 1
        resolved["components"] = c
        by_gap = self.n_components == "gap" or (self.n_components is None and task.n_clusters is None)
        wanted = max(GAP_EIGENVALUES, c + 1) if by_gap else int(self.n_components or task.k)
        count = min(wanted, v)
        memory.require(
            8 * v * (count + max(2 * count, 30)), f"{count} eigenvectors of {v} rows", "Ask for fewer n_components."
        )
        roots = np.sqrt(degrees + self.regularization * degrees.mean())
        known: Array = np.zeros((v, 0))
        if self.regularization == 0.0:
            group = join_nearest(points, scales, component, count) if c > count else component
            known = indicators(group, degrees)
        factor = partial(reuse, W, ("factor", self.regularization), partial(inverse_factor, W, roots))
        notify(Report("graph", 1, None))
        try:
            leading = leading_eigenvectors(W, roots, known, count - known.shape[1], points.shape[1], rng, factor)
        except ArithmeticError as error:
            raise InvalidData(
                f"featuremap 'graph': {error} of the graph of {v} vertices; take more n_neighbors, or landmarks"
            ) from None
        if not leading.accurate:
            resolved["residual"] = leading.residual
            warnings.warn(
                f"featuremap 'graph': the eigenvectors have a residual of {leading.residual:.1g}, above {RESIDUAL:g}: "
                "a larger n_neighbors connects the graph better",
                ClusterkitWarning,
                stacklevel=4,
            )
        if by_gap and count > 2:
            # the gap after the first eigenvalue would leave one column, of no use to a clustering
            columns = 2 + int(np.argmax(-np.diff(leading.values)[1:]))
            leading = attrs.evolve(leading, values=leading.values[:columns], vectors=leading.vectors[:, :columns])
        if len(leading.values) != self.n_components:
            resolved["n_components"] = len(leading.values)
        return leading, degrees
