"""The abstract stages: what a feature map, solver, labeler, balancer, partitioner, consensus and tuner must offer.

Every concrete stage is a frozen attrs class whose fields are hyper-parameters; arrays live in what it returns.
Nothing concrete is overridden: a method here is either abstract or final.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Protocol, Self, final, runtime_checkable

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter, UnknownName, nearest_names
from clusterkit.core.labelings import NOISE, Labelings, by_appearance, checked
from clusterkit.core.outcomes import Domain, Embedding, Outcome, Scores
from clusterkit.core.spaces import FeatureSpace, Space

__all__ = [
    "Assignment",
    "Balancer",
    "Codec",
    "Consensus",
    "FeatureMap",
    "Labeler",
    "Labeling",
    "Partitioner",
    "Path",
    "Prepared",
    "Resumable",
    "Solver",
    "Stage",
    "Task",
    "Tuned",
    "Tuner",
]


@attrs.frozen
class Stage(ABC):
    """One part of an algorithm: immutable, comparable, constructible without arguments."""

    kind: ClassVar[str]
    name: ClassVar[str]
    tunable: ClassVar[frozenset[str]] = frozenset()
    """parameters whose None a tuner may replace"""
    trial: ClassVar[Mapping[str, Any]] = {}
    """parameters that make a costly stage cheap enough for the many examples of the conformance kit"""

    @final
    def parameters(self) -> dict[str, Any]:
        """Hyper-parameters by name."""
        return {field.name: getattr(self, field.name) for field in attrs.fields(type(self)) if field.init}

    @final
    def with_parameters(self, **changes: Any) -> Self:
        """A copy with some parameters changed; unknown names are refused with the nearest ones."""
        known = self.parameters()
        for name in changes:
            if name not in known:
                raise UnknownName(f"{self.kind} '{self.name}' has no parameter {name!r}. {nearest_names(name, known)}")
        return attrs.evolve(self, **changes)


@attrs.frozen(eq=False)
class Task:
    """What a solver or labeler may know of the whole problem.

    Parameters
    ----------
    n : int
        Number of samples.
    n_clusters : int or None
        None where the labeler finds the number.
    bounds : (lo, hi) arrays of shape (k,), or None
        Cluster sizes that the balancer will enforce.
    """

    n: int
    n_clusters: int | None
    bounds: tuple[Array, Array] | None = None

    @property
    def k(self) -> int:
        """The number of clusters, where one was asked for."""
        if self.n_clusters is None:
            raise ValueError("this method needs n_clusters")
        return self.n_clusters


class FeatureMap(Stage):
    """Turns data into a space."""

    kind: ClassVar[str] = "featuremap"
    gives: ClassVar[type[Space]] = FeatureSpace
    nonnegative: ClassVar[bool | None] = None
    """whether no feature is negative; None if that depends on the data"""
    takes_negative: ClassVar[bool] = True
    """whether it takes data with negative values; if not, `fit` refuses them with `InvalidData`"""
    sparse: ClassVar[bool] = False
    """whether an estimator takes sparse samples for it; it gets them dense, or as `SparseRows` where that is large"""
    keeps_sparse: ClassVar[bool] = False
    """whether it gets sparse samples as `SparseRows` whatever their size"""
    makes_dense: ClassVar[bool] = False
    """whether its features of sparse samples are dense"""

    @abstractmethod
    def fit(self, X: Array, rng: Rng) -> Space:
        """The space of the samples X (n, d); it maps new rows with what was fitted here."""


class Prepared(ABC):
    """A solver bound to a space: whatever does not depend on targets has been done once."""

    @property
    @abstractmethod
    def resolved(self) -> Mapping[str, Any]:
        """Parameters that the preparation decided, for `resolved_`."""

    @abstractmethod
    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Outcome:
        """One turn. `targets` is None for a solver that learns from none."""

    @abstractmethod
    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """Objective of ``outcome = solve(targets)``, one value a start, lower is better; None if it has none."""


@runtime_checkable
class Resumable(Protocol):
    """A prepared solver that can go on from an outcome of other parameters, for paths of them.

    Not part of `Prepared`: few solvers can, and a driver asks ``isinstance(prepared, Resumable)``.
    """

    def resolve(self, spec: Any, previous: Outcome) -> Outcome:
        """What a solver of the same class with the parameters `spec` gives on the same space, from `previous`."""


@attrs.frozen
class Path:
    """How a solver works on one type of space.

    Parameters
    ----------
    prepare : callable
        ``prepare(solver, space, task, rng) -> Prepared``, a module-level function.
    gives : type of Outcome
    inductive : bool
        Whether the outcome extends to new samples.
    sparse : bool
        Whether it also works where the features, or the points of the kernel, are `SparseRows`.
    square : bool
        Whether it keeps a matrix of n x n inner products or kernel values, so that too many samples are refused
        before any work.
    """

    prepare: Callable[[Any, Any, Task, Rng], Prepared]
    gives: type[Outcome]
    inductive: bool = True
    sparse: bool = False
    square: bool = False


class Solver(Stage):
    """Finds scores, an embedding or a domain in a space."""

    kind: ClassVar[str] = "solver"
    codings: ClassVar[frozenset[Coding]] = frozenset()
    targets: ClassVar[Literal["never", "start", "every_turn"]] = "never"
    default_balancer: ClassVar[str | None] = None
    default_labeler: ClassVar[str | Mapping[str, Any] | None] = None
    """what labeler="auto" means where the type of outcome does not say"""
    own_balance: ClassVar[bool] = False
    """whether it keeps cluster sizes itself: `Task.bounds` always says which (those of `band` by default)"""
    columns: ClassVar[bool] = False
    """whether several starts are solved together as more columns"""
    has_objective: ClassVar[bool] = False
    """whether `Prepared.objective` gives values: needed for n_init > 1 and pooling"""
    nonnegative: ClassVar[bool] = False
    """whether it takes nonnegative features only"""
    accuracy: ClassVar[float] = 0.0
    """error that the tolerance of an iteration leaves in scores of size 1, with default parameters; 0: rounding"""
    monotone: ClassVar[bool] = False
    """whether the objective never rises over turns without a balancer: a law of the conformance kit"""

    max_clusters: ClassVar[int | None] = None
    """the most clusters it can tell apart, where there is such a number"""

    @property
    @abstractmethod
    def paths(self) -> Mapping[type[Space], Path]:
        """Spaces it works on."""

    @final
    def path(self, space: type[Space]) -> Path | None:
        """The path for a type of space, or None."""
        for kind in space.__mro__:
            if kind in self.paths:
                return self.paths[kind]
        return None

    @final
    def prepare(self, space: Space, task: Task, rng: Rng) -> Prepared:
        """Do all that does not depend on targets."""
        path = self.path(type(space))
        if path is None:
            raise TypeError(f"solver '{self.name}' has no path for a {type(space).__name__}")
        return path.prepare(self, space, task, rng)


@attrs.frozen(eq=False)
class Labeling:
    """What a labeler read from an outcome.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    predict : callable or None
        Raw rows to labels; None where the method is transductive.
    costs : ndarray of shape (n, k) or None
        Price of giving a sample a label, for balancers; only differences within a row have a meaning.
    exact : bool
        Whether `predict` on the training rows gives `labels`.
    interrupted : bool
        Whether Ctrl-C ended the labeling early: the labels are those found so far.
    """

    labels: Labels
    predict: Callable[[Array], Labels] | None
    costs: Array | None = None
    exact: bool = True
    interrupted: bool = False


class Labeler(Stage):
    """Reads labels from an outcome."""

    kind: ClassVar[str] = "labeler"
    consumes: ClassVar[type[Outcome]]
    finds_k: ClassVar[bool] = False
    takes_k: ClassVar[bool] = False
    """whether one that finds the number of clusters gives the number asked for where one is"""
    min_clusters: ClassVar[int] = 1
    max_clusters: ClassVar[int | None] = None
    inductive: ClassVar[bool] = True
    sparse: ClassVar[bool] = False
    """of one that reads domains: whether it works where the points are `SparseRows`"""

    @abstractmethod
    def label(self, outcome: Any, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the samples, and how to label new ones."""


@attrs.frozen
class Codec(Labeler):
    """A labeler of scores: labels to targets, scores to costs; between solver and labels stands a cost table."""

    consumes: ClassVar[type[Outcome]] = Scores
    coding: ClassVar[Coding]
    largest: ClassVar[bool] = False
    """whether the label is always the column of the largest score, ties the lowest: then a solver may find it itself"""

    @abstractmethod
    def codebook(self, k: int) -> Array:
        """Targets of the labels, (k, q)."""

    @abstractmethod
    def costs(self, rows: Array, k: int) -> Array:
        """Price of each label for each row of scores, (n, k); the label is the cheapest, ties the lowest."""

    @abstractmethod
    def calibrate(self, rows: Array, task: Task) -> Codec:
        """This codec fitted to the scores (a bias, for example); a new object, or itself."""

    @final
    def encode(self, labels: Labels, k: int) -> Coded:
        """Labels (n,) or (R, n) in coded form."""
        return Coded(np.atleast_2d(labels), self.coding, k, self.codebook(k))

    @final
    def decode(self, rows: Array, k: int) -> Labels:
        """Labels of rows of scores."""
        return np.argmin(self.costs(rows, k), axis=1)

    @final
    def label(self, outcome: Scores, space: Space, task: Task, rng: Rng) -> Labeling:
        """Cheapest label for each sample."""
        codec = self.calibrate(outcome.rows, task)
        rows = outcome.rows if outcome.scale is None else outcome.rows * outcome.scale
        costs = codec.costs(rows, task.k)
        predict = None
        if outcome.extend is not None:
            predict = Decoder(codec, outcome.extend, outcome.scale, task.k)
        return Labeling(np.argmin(costs, axis=1), predict, costs, outcome.exact_on_training)


@final
@attrs.frozen(eq=False)
class Decoder:
    """Predicts by scores and a codec; a frozen callable, so that a fit pickles."""

    codec: Codec
    extend: Callable[[Array], Array]
    scale: Array | None
    k: int
    offsets: Array | None = None

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows."""
        rows = self.extend(Y)
        costs = self.codec.costs(rows if self.scale is None else rows * self.scale, self.k)
        return np.argmin(costs if self.offsets is None else costs + self.offsets, axis=1)


@attrs.frozen(eq=False)
class Assignment:
    """Balanced labels.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    offsets : ndarray of shape (k,) or None
        Added to the costs they make new samples follow the same balance.
    exact : bool
        Whether predicting the training rows gives `labels`.
    facts : mapping
        What is worth reporting about these labels, for `resolved_`.
    """

    labels: Labels
    offsets: Array | None
    exact: bool
    facts: Mapping[str, Any] = attrs.field(factory=dict)


class Balancer(Stage):
    """Keeps cluster sizes within bounds."""

    kind: ClassVar[str] = "balancer"
    codings: ClassVar[frozenset[Coding]] = frozenset(Coding)

    @abstractmethod
    def bounds(self, n: int, k: int) -> tuple[Array, Array]:
        """Necessary cluster sizes, lowest and highest, arrays of shape (k,); raises `Infeasible`."""

    @abstractmethod
    def assign(self, costs: Array, labels: Labels, task: Task) -> Assignment:
        """Feasible labels near the given ones, at little extra cost."""

    @abstractmethod
    def resolved(self, n: int, k: int) -> Mapping[str, Any]:
        """Parameters changed to make the sizes possible, for `resolved_`."""


class Partitioner(Stage):
    """Splits samples into k parts: initial labels, or the modules of a classifier."""

    kind: ClassVar[str] = "partitioner"
    sees: ClassVar[Literal["input", "space"]] = "space"
    spaces: ClassVar[tuple[type[Space], ...]] = (Space,)
    """types of space it works on"""
    varies: ClassVar[bool] = True
    """whether another random stream may give another partition; if not, several starts are one"""
    sparse: ClassVar[bool] = False
    """of one that sees the input: whether it takes `SparseRows`"""

    @abstractmethod
    def partition(self, samples: Any, k: int, rng: Rng) -> Labels:
        """Labels 0..k-1 of the samples: a space, or for ``sees = "input"`` the raw rows (n, d)."""


class Consensus(Stage):
    """Makes one labeling of several labelings of the same samples."""

    kind: ClassVar[str] = "consensus"
    finds_k: ClassVar[bool] = False
    """whether it finds the number of clusters where none is asked for"""
    takes_k: ClassVar[bool] = False
    """whether it gives the number asked for where one is"""
    varies: ClassVar[bool] = False
    """whether another random stream may give another labeling"""
    ordered: ClassVar[bool] = False
    """whether ties are so common that the order of members and samples matters"""

    @final
    def combine(self, members: Any, k: int | None, rng: Rng) -> Labels:
        """One labeling of M labelings, numbered by first appearance.

        What is the same for every consensus is done here: a sample that no member labels is noise, a member that labels
        none is left out, and equal members are the answer themselves where that has as many clusters as asked for.

        Parameters
        ----------
        members : array-like of shape (M, n), int
            Labels from 0; -1 where a member says nothing about a sample. The names of clusters do not matter.
        k : int or None
            Clusters wanted; None if the method finds the number. If there are fewer distinct label columns, each is a
            cluster, with a warning.
        rng : Generator

        Returns
        -------
        ndarray of shape (n,), int64
            Labels from 0; -1 exactly where all members say -1.

        Raises
        ------
        InvalidData
            If the members are no labelings of the same samples.
        InvalidParameter
            If k is missing, or given to a method that takes none.
        """
        self.check_k(k)
        given = checked(members)
        known, speaks = ((given != NOISE).any(axis=axis) for axis in (0, 1))
        labels = np.full(len(known), NOISE, dtype=np.int64)
        if known.any():
            labels[known] = self._combine_known(given[np.ix_(speaks, known)], k, rng)
        return labels

    @final
    def check_k(self, k: int | None) -> None:
        """Refuse a number of clusters that is missing, or that the method does not take."""
        if k is None and not self.finds_k:
            raise InvalidParameter(f"consensus '{self.name}' needs the number of clusters (n_clusters)")
        if k is not None and not self.takes_k:
            raise InvalidParameter(
                f"consensus '{self.name}' finds the number of clusters itself; leave n_clusters out, got {k!r}"
            )
        if k is not None and (isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1):
            raise InvalidParameter(f"n_clusters must be an integer >= 1 or None, got {k!r}")

    @final
    def _combine_known(self, members: Array, k: int | None, rng: Rng) -> Labels:
        labelings = Labelings.of(members)
        u, columns = len(labelings.counts), labelings.column_of
        if k == 1 or u == 1:
            return np.zeros(members.shape[1], dtype=np.int64)
        if labelings.unanimous and k in (None, u):
            return labelings.members[0]
        if k is not None and k >= u:
            if k > u:
                warnings.warn(
                    f"consensus '{self.name}': {k} clusters were asked for, but the members tell only {u} groups of "
                    "samples apart; these are the clusters",
                    ClusterkitWarning,
                    stacklevel=4,
                )
            return columns
        return by_appearance(np.asarray(self.merge(labelings, k, rng)))

    @abstractmethod
    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Labels (n,) of all samples, numbered anyhow, none of them -1.

        `labelings` has at least two distinct columns and labels every sample somewhere; its members are not all equal,
        unless another number of clusters than theirs is asked for. ``1 < k < u`` where k is given.
        """


@attrs.frozen(eq=False)
class Tuned:
    """What a tuner decided.

    Parameters
    ----------
    stages : mapping
        Slot to stage: the slots that were given, parameters left at None replaced.
    facts : mapping
        How the decision was made, for `resolved_`: the rule, rows used, runs, seconds.
    """

    stages: Mapping[str, Stage]
    facts: Mapping[str, Any] = attrs.field(factory=dict)


class Tuner(Stage):
    """Turns parameters left at None into values, without labels, before the fit."""

    kind: ClassVar[str] = "tuner"

    @abstractmethod
    def tune(self, stages: Mapping[str, Stage], X: Array, rng: Rng) -> Tuned:
        """The stages by slot with tunable parameters that are None replaced, and how that was decided.

        Stages it knows nothing about, and parameters that were given, stay as they are. Where the data allow no
        decision (a single row, for example) every parameter may stay None.
        """


def outcome_labeler(gives: type[Outcome], codings: frozenset[Coding], k: int | None) -> str:
    """What labeler="auto" means for a type of outcome."""
    if issubclass(gives, Scores) and codings:
        two = k is None or k <= 2
        if two and Coding.SIGNED in codings:
            return "threshold"
        if codings != {Coding.SIGNED}:
            return "argmax"
    if issubclass(gives, Embedding):
        return "rows_kmeans"
    assert issubclass(gives, Domain)
    return "complete_graph"
