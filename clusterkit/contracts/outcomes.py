"""Outcomes of a solver, the input of a labeler: an embedding of the samples (scores are one), a domain, or trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from enum import Enum
from typing import ClassVar, Protocol, final

import attrs
import numpy as np

from clusterkit._typing import Array, Floats, Indices, Labels
from clusterkit.numerics.shapes import array, is_tree, scalar
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    device_product,
    to_device_of,
)
from clusterkit.samples.features import NeighbourGraph
from clusterkit.samples.kernels import Kernel
from clusterkit.samples.transform import Transform, block_plan, product

__all__ = [
    "Domain",
    "Embedding",
    "Ending",
    "Extension",
    "FunctionDomain",
    "KernelDomain",
    "KernelRows",
    "LinearRows",
    "MergeTree",
    "MergeTrees",
    "MixtureScores",
    "Outcome",
    "Scores",
    "Status",
    "SupportCounts",
    "Tree",
]


class Ending(Enum):
    """How iterations end: those of a solver inside one iteration, or those of a start of the loop over labels."""

    CONVERGED = "converged"
    """One more iteration would change nothing, or the solution is exact."""
    SETTLED = "settled"
    """The solver regards the answer as final, because a tolerance is reached."""
    CYCLED = "cycled"
    """Labels came back that had been there before."""
    STALLED = "stalled"
    """No iteration leads on, short of the tolerance: rounding, or numbers out of range."""
    INTERRUPTED = "interrupted"
    """Ctrl-C came."""
    OUT_OF_ITERATIONS = "out of iterations"
    """The largest allowed number of iterations was reached."""

    @property
    def converged(self) -> bool:
        """Whether the answer is final."""
        return self in (Ending.CONVERGED, Ending.SETTLED)


@attrs.frozen
class Status:
    """End of a solver that iterates inside one iteration.

    Parameters
    ----------
    n_iter : int
    ending : Ending
        After `Ending.INTERRUPTED` further starts are not begun.
    reason : str
        Reason in words: "tolerance reached", "max_iter reached with gap 3e-4".
    history : tuple of float
        Objective after each of its iterations.
    facts : mapping
        Anything else worth reporting, such as the duality gap. Nothing in the library depends on it.
    warning : str or None
        Warned once if this outcome is returned.
    empty_clusters : str or None
        Warned if the returned labels miss a cluster.
    predicts_labels : bool
        Whether extending the outcome to the training rows gives back the rows that it has.
    objective : float or None
        Objective of the outcome, for a solver that computes it while it solves.
    settled : bool
        Whether the loop over labels may end with the labels read from this outcome, because they hardly change any
        more; `reason` then says why. Only for a solver that solves for one start at a time.
    """

    saved_schema: ClassVar[int] = 2

    n_iter: int = attrs.field(validator=scalar(least=0))
    ending: Ending = attrs.field()
    reason: str
    history: tuple[float, ...] = ()
    facts: Mapping[str, object] = attrs.field(factory=dict)
    warning: str | None = attrs.field(default=None, kw_only=True)
    empty_clusters: str | None = attrs.field(default=None, kw_only=True)
    predicts_labels: bool = attrs.field(default=True, kw_only=True)
    objective: float | None = attrs.field(default=None, kw_only=True)
    settled: bool = attrs.field(default=False, kw_only=True)

    @ending.validator
    def _check_ending(self, attribute: object, value: object) -> None:
        if not isinstance(value, Ending):
            raise TypeError(f"Status.ending is {value!r}, which is none of {', '.join(map(str, Ending))}")

    @property
    def converged(self) -> bool:
        """Whether the outcome is final."""
        return self.ending.converged

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the iterations."""
        return self.ending is Ending.INTERRUPTED

    @property
    def last_objective(self) -> float | None:
        """The objective, or else the last of the history; None without any."""
        return self.history[-1] if self.objective is None and self.history else self.objective

    @classmethod
    def migrated(cls, fields: Mapping[str, object], schema: int) -> Mapping[str, object]:
        """The fields of a file that knew no `Ending`, which does not tell what else ended than convergence did."""
        fields = dict(fields)
        interrupted, converged = fields.pop("interrupted", False), fields.pop("converged", False)
        rest = Ending.CONVERGED if converged else Ending.OUT_OF_ITERATIONS
        return {**fields, "ending": Ending.INTERRUPTED if interrupted else rest}


class Extension(Protocol):
    """New raw rows to rows of an embedding; a frozen callable, so that a fit pickles.

    Where each score is a sum over the columns, a method ``terms`` gives the terms, (m, d + 1, k), from which
    `clusterkit.explain` says which columns decide; the last one belongs to the cluster and to no column. It may be None
    for some maps.
    """

    def __call__(self, Y: Array) -> Array:
        """Rows for Y, (m, r)."""

    def columns(self, index: slice | Indices) -> Extension:
        """The extension of some columns; `index` may be anything that numpy takes, an order of the columns too.

        Memberships are those among these columns: their rows sum to 1.
        """


@final
@attrs.frozen(eq=False)
class LinearRows(BlockFunction):
    """Features times coefficients."""

    transform: Transform
    coefficients: Array = attrs.field(validator=array("L q"))

    @property
    def table_columns(self) -> int:
        """Number of columns of the products, q."""
        return int(self.coefficients.shape[1])

    def __call__(self, Y: Array) -> Array:
        """h(Y) B, in blocks."""
        return self.transform.apply(Y, self.coefficients)

    def on(self, H: Array) -> Array:
        """H B for a block of features, (b, L) to (b, q), in its type and on its device."""
        xp = array_namespace(H)
        if xp is np:
            return product(H, self.coefficients.astype(H.dtype, copy=False))
        return device_product(H, to_device_of(self.coefficients, H))

    def columns(self, index: slice | Indices) -> LinearRows:
        """Some columns of the coefficients."""
        return attrs.evolve(self, coefficients=self.coefficients[:, index])


@final
@attrs.frozen(eq=False)
class KernelRows:
    """Kernel with the training points times coefficients."""

    coordinates: Transform
    points: Array = attrs.field(validator=array("n d"))
    kernel: Kernel
    coefficients: Array = attrs.field(validator=array("n q"))

    def __call__(self, Y: Array) -> Array:
        """k(Y, points) A, in blocks."""
        points = self.coordinates(Y)
        F = np.empty((len(points), self.coefficients.shape[1]))
        for rows in block_plan(len(points), len(self.points), self.points.dtype):
            F[rows] = self.kernel(points[rows], self.points) @ self.coefficients
        return F

    def columns(self, index: slice | Indices) -> KernelRows:
        """Some columns of the coefficients."""
        return attrs.evolve(self, coefficients=self.coefficients[:, index])


@attrs.frozen(eq=False)
class Outcome(ABC):  # noqa: B024 (a sum type: its members are below)
    """Result of one iteration of a solver."""

    status: Status | None = attrs.field(default=None, kw_only=True)

    @property
    def reads_features(self) -> bool:
        """False if new rows do not go through the last feature map, but are compared in the coordinates before it."""
        return True

    @property
    def exact_on_training(self) -> bool:
        """Whether extending to the training rows gives back what they have here."""
        return self.status is None or self.status.predicts_labels


@attrs.frozen(eq=False)
class Embedding(Outcome):
    """A row of numbers for each sample.

    Parameters
    ----------
    rows : ndarray of shape (n, r)
    extend : Extension or None
        Rows of new samples; None where the method is transductive.
    """

    rows: Array = attrs.field(validator=array("n r"))
    extend: Extension | None


@attrs.frozen(eq=False)
class Scores(Embedding):
    """An embedding whose columns are in the labeler's coding: larger means "more so".

    Parameters
    ----------
    rows : ndarray of shape (n, R q)
        Scores of R starts solved together: start r owns the columns r q … (r + 1) q - 1.
    starts : int
        R.
    scale : ndarray of shape (q,) or None
        Factors that make the columns comparable with each other, where they are not as they stand (NMF).
    carry : object
        Private state of the solver for its next iteration.
    are_memberships : bool
        Whether the rows are degrees of membership in the clusters, which sum to 1.
    """

    starts: int = attrs.field(default=1, validator=scalar(least=1), kw_only=True)
    scale: Array | None = attrs.field(default=None, validator=array("q"), kw_only=True)
    carry: object = attrs.field(default=None, validator=array("R", finite=False), kw_only=True)
    are_memberships: bool = attrs.field(default=False, kw_only=True)

    @property
    def q(self) -> int:
        """Columns of one start."""
        return int(self.rows.shape[1]) // self.starts

    def start(self, index: int) -> Scores:
        """The scores of one start, copied so that the others can be freed."""
        if self.starts == 1:
            return self
        columns = slice(index * self.q, (index + 1) * self.q)
        extend = None if self.extend is None else self.extend.columns(columns)
        return attrs.evolve(self, rows=self.rows[:, columns].copy(), extend=extend, starts=1, carry=None)

    def take(self, starts: list[int]) -> Scores:
        """The scores of some starts, for the next iteration of those that go on; they cannot predict."""
        if len(starts) == self.starts:
            return self
        columns = np.concatenate([np.arange(s * self.q, (s + 1) * self.q) for s in starts])
        return attrs.evolve(self, rows=self.rows[:, columns], extend=None, starts=len(starts))


@final
@attrs.frozen(eq=False)
class MixtureScores(Scores):
    """Posteriors of the components of a mixture, one column each, of which the solver may have chosen the number."""


@final
@attrs.frozen
class SupportCounts:
    """How many samples shape a domain; each of several equal samples counts.

    Parameters
    ----------
    n_support : int
        Number of samples with a weight that is not 0.
    n_bounded : int or None
        Number of these whose weight is at its upper bound: the outliers. None if the weights have no upper bound.
    bound : float or None
        The upper bound C where it is the same for all weights, else None.
    """

    n_support: int = attrs.field(validator=scalar(least=0))
    n_bounded: int | None = attrs.field(default=None, validator=scalar(least=0))
    bound: float | None = None


@attrs.frozen(eq=False)
class Domain(Outcome):
    """The region ``value(x) >= level``, in the coordinates of the space's points.

    Parameters
    ----------
    level : float
    support_counts : SupportCounts or None
        None where the solver does not report them.
    """

    level: float = attrs.field(kw_only=True)
    support_counts: SupportCounts | None = attrs.field(default=None, kw_only=True)

    @property
    def array_api(self) -> bool:
        """Whether `value` takes coordinates of any library (`clusterkit.samples.array_libraries`)."""
        return False

    @property
    def supports(self) -> Array | None:
        """Coordinates of the samples that shape the contour, (s, d); None if the domain does not know them."""
        return None

    @abstractmethod
    def value(self, Y: Array) -> Array:
        """Value at coordinates Y, (m, d) to (m,); larger is further inside.

        With the mark ``array_api`` of a domain, Y may belong to any library, and the values are float64 on the device
        of Y.
        """


@final
@attrs.frozen(eq=False)
class FunctionDomain(BlockFunction, Domain):
    """A domain known through a function only (no kernel expansion, hence no gradient).

    Parameters
    ----------
    function : callable
        Coordinates (m, d) to values (m,).
    supports : ndarray of shape (s, d) or None
        Coordinates of the samples that shape the contour, where the solver knows them.
    """

    function: Callable[[Array], Array]
    supports: Array | None = attrs.field(default=None, validator=array("s d"), kw_only=True)

    def value(self, Y: Array) -> Array:
        """The function."""
        return self.function(Y)


@final
@attrs.frozen(eq=False)
class KernelDomain(BlockFunction, Domain):
    """A domain bounded by a weighted kernel sum ``sum_s weights_s kernel(centres_s, x)``.

    Parameters
    ----------
    centres : ndarray of shape (s, d)
    weights : ndarray of shape (s,)
    kernel : Kernel
    """

    centres: Array = attrs.field(validator=array("s d"))
    weights: Array = attrs.field(validator=array("s"))
    kernel: Kernel

    @property
    def array_api(self) -> bool:
        """Whether the kernel has the mark; sparse centres stay on the host."""
        return super().array_api and not isinstance(self.centres, SparseRows)

    @property
    def supports(self) -> Array:
        """The centres whose weight is not 0, (s, d)."""
        return self.centres[self.weights != 0]

    def value(self, Y: Array) -> Array:
        """The kernel sum."""
        return self.kernel.weighted_sum(Y, self.centres, self.weights)


@final
@attrs.frozen(eq=False)
class Tree(Outcome):
    """A minimum spanning tree of the samples, as merges of clusters by ascending height.

    Each merge joins the clusters of two samples, which the merges before it have made. Merges of equal height have no
    order among each other: a labeler reads them as one merge of more than two clusters, so that its labels do not
    depend on the order of the samples.

    Parameters
    ----------
    merges : ndarray of shape (n - 1, 2)
        Indices of the two samples that an edge of the tree joins.
    heights : ndarray of shape (n - 1,)
        Lengths of the edges, ascending: ``max(|x_i - x_j|, core_i, core_j)``.
    core_distances : ndarray of shape (n,)
        Distance of each sample to its `n_neighbors`-th nearest one, itself counted as the first; 0 for 1.
    rows : ndarray of shape (n, L)
        The samples in the coordinates in which the distances are measured.
    n_neighbors : int
    transform : Transform
        Maps raw rows to these coordinates. A new row follows the sample that is nearest by mutual reachability.
    precomputed : bool
        Whether `rows` are the distances between the samples, (n, n), and those of a new row to them.
    """

    merges: Indices = attrs.field(validator=array("n-1 2", below="n"))
    heights: Array = attrs.field(validator=array("n-1", least=0, ascending=True))
    core_distances: Array = attrs.field(validator=array("n", least=0))
    rows: Array = attrs.field(validator=array("n L"))
    n_neighbors: int = attrs.field(validator=scalar(least=1, most="n"))
    transform: Transform
    precomputed: bool = False

    def check_saved(self) -> None:
        """Raise ValueError unless the merges are a tree, and distances are those between all samples."""
        if not is_tree(self.merges):
            raise ValueError("Tree: merges join samples that are joined already")
        if self.precomputed and self.rows.shape[0] != self.rows.shape[1]:
            raise ValueError(f"Tree: rows of the shape {self.rows.shape} are no distances between all samples")


@attrs.frozen(eq=False)
class MergeTree:
    """Communities of the vertices, and the merges that join all of them.

    Parameters
    ----------
    community : ndarray of int, shape (u,)
        The community of each vertex, 0..m-1.
    merges : ndarray of int, shape (m - 1, 2)
        What is joined, in falling order of similarity: communities, and from m on earlier merges.
    similarity : ndarray of shape (m - 1,)
        ``W_ab Σ_ij W_ij / (vol_a vol_b)`` of the two: 1 if they are joined as often as by chance.
    sizes : ndarray of shape (m,)
        Vertices of each community, or where groups of equal rows are several vertices its rows.
    top : float
        Similarity at which such a group would part, which it never does; infinite without such groups.
    """

    community: Labels = attrs.field(validator=array("u", below="m"))
    merges: Indices = attrs.field(validator=array("m-1 2", least=0, distinct=True))
    similarity: Array = attrs.field(validator=array("m-1"))
    sizes: Floats = attrs.field(validator=array("m", least=0))
    top: float = np.inf

    def check_saved(self) -> None:
        """Raise ValueError unless every community has a vertex, and merges join what there is before them."""
        m = len(self.merges) + 1
        if (self.merges >= m + np.arange(m - 1)[:, None]).any() or len(np.unique(self.community)) < m:
            raise ValueError("MergeTree: merges is no tree of the communities")

    @property
    def n(self) -> int:
        """Number of vertices, or of rows."""
        return int(self.sizes.sum())


@final
@attrs.frozen(eq=False)
class MergeTrees(Outcome):
    """Trees in which the communities of a graph of nearest neighbours merge, one for each layout of the graph.

    Parameters
    ----------
    trees : tuple of MergeTree
    graph : NeighbourGraph
    rows : ndarray of shape (n, L)
        The samples in the coordinates in which neighbours are searched.
    transform : Transform
        Maps raw rows to these coordinates. A new row follows the samples that are nearest to it.
    before_last_map : bool, default False
        Whether these are the coordinates before the last feature map, not the features.
    """

    trees: tuple[MergeTree, ...]
    graph: NeighbourGraph
    rows: Array = attrs.field(validator=array("n L"))
    transform: Transform
    before_last_map: bool = False

    def check_saved(self) -> None:
        """Raise ValueError unless graph and trees are of these rows."""
        sizes = {len(tree.community) for tree in self.trees}
        if len(self.graph.place) != len(self.rows) or sizes - {self.graph.n}:
            raise ValueError("MergeTrees: rows, graph and trees are not of the same samples")

    @property
    def reads_features(self) -> bool:
        """False if new rows are compared in the coordinates before the last map."""
        return not self.before_last_map
