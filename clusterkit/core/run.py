"""Runs a composition on data: map, prepare, start, loop; and what a fit leaves behind."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Sizes
from clusterkit.core import memory
from clusterkit.core.alternate import alternate, one_turn
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.compat import Composition
from clusterkit.core.contracts import During, check_instance, check_space
from clusterkit.core.errors import ClusterkitWarning, InvalidData
from clusterkit.core.first_labels import first_labels
from clusterkit.core.kernel_check import warn_of_degenerate_kernel
from clusterkit.core.namespaces import array_namespace, elsewhere
from clusterkit.core.ordering import along_principal_axis
from clusterkit.core.outcomes import Domain, Outcome
from clusterkit.core.row_graph import Node
from clusterkit.core.seeds import Seeds
from clusterkit.core.shortage import all_noise, n_with_samples, parted, shortage
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import Balancer, Codec, Predict, Prepared, Task
from clusterkit.core.starts import BalancedLabeling, StartResult, first_least
from clusterkit.numerics.distinct_count import n_distinct
from clusterkit.numerics.extremes import column_extremes
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = [
    "AllZero",
    "BoundComposition",
    "FitResult",
    "bind",
    "check_magnitude",
    "check_new",
    "check_range",
    "first_least",
    "fit",
    "reason_of",
    "run",
]


@attrs.frozen(eq=False)
class BoundComposition:
    """A composition bound to data: the space is fitted and the solver prepared."""

    composition: Composition
    X: Array
    space: Space
    prepared: Prepared
    task: Task
    seeds: Seeds
    # shared by all starts: "scaled" is computed when the first of them needs it
    _memo: dict[str, Array] = attrs.field(factory=dict, repr=False, kw_only=True)

    def scaled_points(self) -> Array:
        """What a start sees that asks for the input: the rows as the feature map scales them, (n, d)."""
        if "scaled" not in self._memo:
            self._memo["scaled"] = self.space.scaled_points()
        return self._memo["scaled"]

    def objective(self, labels: Labels) -> float:
        """Objective of a labelling after one solve."""
        codec = self.composition.labeler
        if not isinstance(codec, Codec):
            raise TypeError(f"labeler '{codec.name}' codes no labels")
        coded = codec.encode(labels, self.task.k, self.task.sample_weight)
        values = self.prepared.objective(coded, self.prepared.solve(coded, None, self.seeds.stream("solver")))
        if values is None:
            raise TypeError(f"solver '{self.composition.solver.name}' has no objective")
        return float(values[0])


@attrs.frozen(eq=False)
class FitResult:
    """What a fit leaves behind.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    n_iter : int
    converged : bool
    reason : str
        Why it stopped.
    objective : float
        Of the labels; nan if the solver has none.
    history : tuple of float
        Objective turn by turn, of the winning start.
    space : Space or None
        None if nothing had to be fitted (one cluster).
    outcome : Outcome or None
    predict : callable or None
        Raw rows to labels.
    exact : bool
        Whether `predict` on the training rows gives `labels`.
    resolved : mapping
        Slot to the parameters that the fit decided.
    objectives : tuple of float
        Final objective of every start.
    interrupted : bool
        Whether Ctrl-C ended the fit early.
    memberships : ndarray of shape (n, k) or None
    outlier_scores : ndarray of shape (n,) or None
    probabilities : ndarray of shape (n,) or None
        Of the labeler, where it gives them.
    shortage : str or None
        What is to be said if a number of clusters was asked for and fewer have samples. It is no warning yet: of a
        driver's fits only that of the answer counts, and where the number is left open nothing is missing.
    """

    labels: Labels
    n_iter: int
    converged: bool
    reason: str
    objective: float
    history: tuple[float, ...]
    space: Space | None
    outcome: Outcome | None
    predict: Predict | None
    exact: bool
    resolved: Mapping[str, Mapping[str, object]] = attrs.field(factory=dict)
    objectives: tuple[float, ...] = ()
    interrupted: bool = False
    memberships: Array | None = None
    outlier_scores: Array | None = None
    probabilities: Array | None = None
    shortage: str | None = None


@attrs.frozen
class AllZero:
    """Predicts the only cluster there is."""

    array_api: ClassVar[bool] = True

    def __call__(self, Y: Array) -> Labels:
        """Zeros."""
        if elsewhere(Y):
            xp = array_namespace(Y)
            zeros: Labels = xp.zeros(Y.shape[0], dtype=xp.int64, device=Y.device)
            return zeros
        return np.zeros(len(Y), dtype=np.intp)

    def onnx(self, rows: Node) -> Node:
        """Zeros."""
        return rows.columns([0]).argmin()


def bind(c: Composition, X: Array, seeds: Seeds) -> BoundComposition:
    """Fit the feature map to all rows, and prepare the solver on the rows of the composition."""
    n = len(X) if c.rows is None else len(c.rows)
    if c.n_clusters is not None and c.n_clusters > n:
        raise InvalidData(f"n_samples={n} should be >= n_clusters={c.n_clusters}: no cluster may be without a sample")
    equal = n > 1 and _all_equal(X)
    if equal:
        message = f"all {n} samples are equal: no labelling is better than another"
        warnings.warn(message, ClusterkitWarning, stacklevel=2)
    check_magnitude(X)
    if c.path is not None and c.path.square:
        # maps may look at all pairs of samples, which takes long where the matrix has no room in the end
        memory.require(
            n * n * X.dtype.itemsize,
            f"the {n} x {n} kernel matrix of solver '{c.solver.name}'",
            "Use fewer rows, or featuremap 'elm' with solver 'ridge', whose cost is linear in the number of rows.",
        )
    task = Task(n, c.n_clusters, _bounds(c, n), c.weights_of_fitted())
    with During(c.featuremap):
        of_all = task if c.rows is None else Task(len(X), c.n_clusters)
        space = c.featuremap.fit(X, of_all, seeds.stream("featuremap"))
    check_space(c.featuremap, space, c.featuremap.gives, X)
    if c.rows is not None:
        space, X = space.take(c.rows), X[c.rows]
    _check_sparse(c, X, space)
    # as many clusters as samples: all are alone anyway; a width that a tuner chose is not the user's
    if not equal and (c.n_clusters is None or c.n_clusters < n) and "featuremap" not in c.tuned:
        warn_of_degenerate_kernel(space)
    with During(c.solver):
        prepared = c.solver.prepare(space, task, seeds.stream("solver", "prepare"))
    check_instance(c.solver, "prepare", prepared, Prepared)
    return BoundComposition(c, X, space, prepared, task, seeds)


def _bounds(c: Composition, n: int) -> tuple[Sizes, Sizes] | None:
    """Cluster sizes passed to the solver; a solver that enforces sizes itself always finds some."""
    if c.n_clusters is None:
        return None
    balancer = c.balancer or c.limits
    if balancer is not None:
        return balancer.bounds(n, c.n_clusters)
    return (np.zeros(c.n_clusters), np.full(c.n_clusters, n)) if c.solver.own_balance else None


def run(bound: BoundComposition) -> FitResult:
    """Start, loop, and keep the best."""
    c, task = bound.composition, bound.task
    starts, interrupted = _starts(bound)
    best = starts[first_least([start.objective for start in starts], bound.space.dtype)]
    labeling = best.labeling
    assert labeling is not None
    labels = labeling.labels.astype(np.intp, copy=False)
    labels.flags.writeable = False
    status = labeling.outcome.status
    if status is not None and status.warning is not None:
        warnings.warn(status.warning, ClusterkitWarning, stacklevel=2)
    return FitResult(
        labels,
        best.n_iter,
        best.converged and not interrupted,
        reason_of(best.reason, best.index, c, len(starts), interrupted),
        best.objective,
        best.history,
        bound.space.lean(),
        labeling.outcome,
        labeling.predict,
        _predicts(bound, labeling, labels),
        _resolved(bound, labeling),
        tuple(start.objective for start in starts),
        interrupted,
        labeling.memberships,
        labeling.outlier_scores,
        labeling.probabilities,
        _shortage(labeling, labels, task, bound.X),
    )


def _starts(bound: BoundComposition) -> tuple[list[StartResult], bool]:
    """How every start ended, and whether Ctrl-C came in between."""
    c, task, seeds = bound.composition, bound.task, bound.seeds
    starts = c.n_init if c.solver.targets == "never" or (c.init is not None and c.init.varies) else 1
    if c.solver.targets != "every_turn":
        rngs = seeds.of_starts("solver", starts)
        targets = partial(_first_targets, bound)
        return one_turn(bound.prepared, c.labeler, c.balancer, bound.space, task, rngs, targets, c.solver)
    assert isinstance(c.labeler, Codec)
    return alternate(
        bound.prepared,
        c.labeler,
        c.balancer,
        bound.space,
        task,
        partial(starting_labels, bound),
        starts=starts,
        max_iter=c.max_iter,
        together=c.solver.columns,
        rng=seeds.stream("solver"),
        solver=c.solver,
        best_only=True,
    )


def _shortage(labeling: BalancedLabeling, labels: Labels, task: Task, X: Array) -> str | None:
    """What is said of clusters without samples: in the words of the solver, where it has some."""
    used, status = n_with_samples(labels), labeling.outcome.status
    if used == 0:
        return all_noise(len(labels), labeling.labeler_facts)
    if task.n_clusters is None or task.n == 1 or _all_equal(X):
        return None
    words = None if status is None else status.empty_clusters
    return shortage(used, task.n_clusters, task.n, partial(n_distinct, X, task.n_clusters), words)


def _predicts(bound: BoundComposition, labeling: BalancedLabeling, labels: Labels) -> bool:
    """Whether predicting the training rows gives the labels; tried out where products may round differently."""
    if labeling.predict is None or not labeling.exact or not bound.composition.featuremap.exact_on_training:
        return False
    return bound.space.same_products or bool(np.array_equal(labeling.predict(bound.X), labels))


def fit(c: Composition, X: Array, seeds: Seeds) -> FitResult:
    """Fit a composition. One cluster is answered without running anything."""
    if c.n_clusters == 1:
        _bounds(c, len(X))  # sizes that n rows cannot have
        return FitResult(
            np.zeros(len(X), dtype=np.intp),
            0,
            True,
            "one cluster: nothing to find",
            math.nan,
            (),
            None,
            None,
            AllZero(),
            True,
        )
    return run(bind(c, X, seeds))


def check_magnitude(X: Array) -> None:
    """Refuse values whose squared distances overflow; warn where all of them underflow."""
    check_range(*_extremes(X), X.dtype)


def check_new(X: Array) -> None:
    """Refuse new rows (m, d) whose squared distances overflow, as `check_magnitude` does where rows are fitted."""
    _refuse_overflow(*_extremes(X), X.dtype)


def _extremes(X: Array) -> tuple[Array, Array]:
    return X.extremes() if isinstance(X, SparseRows) else column_extremes(X)


def check_range(low: Array, high: Array, dtype: np.dtype) -> None:
    """The same for samples of which the extremes of the columns are known, (d,) each."""
    _refuse_overflow(low, high, dtype)
    spread = float((high.astype(np.float64) - low.astype(np.float64)).max())
    if 0 < spread < math.sqrt(float(np.finfo(dtype).tiny)):
        warnings.warn(
            f"the attributes of X spread over {spread:.3g} at most, squared distances that small are 0 in {dtype}; "
            "multiply the data by a constant or use featuremap 'minmax' first",
            ClusterkitWarning,
            stacklevel=4,
        )


def _refuse_overflow(low: Array, high: Array, dtype: np.dtype) -> None:
    low, high = low.astype(np.float64), high.astype(np.float64)
    largest = float(np.maximum(np.abs(high), np.abs(low)).max())
    most = math.sqrt(float(np.finfo(dtype).max) / (16.0 * len(low)))
    if largest > most:
        raise InvalidData(
            f"X has values up to {largest:.3g}, and squared distances above {most:.1g} overflow {dtype}; "
            "divide the data by a constant, or leave out the columns concerned"
        )


def _check_sparse(c: Composition, X: Array, space: Space) -> None:
    """Refuse stages that need coordinates where only sparse ones are kept."""
    unfit = []
    if space.sparse and (c.path is None or not c.path.sparse):
        unfit.append(f"solver '{c.solver.name}'")
    # a domain of features is a function of the points, which are sparse before a map that makes them dense
    of_features = isinstance(space, FeatureSpace) and isinstance(space.points, SparseRows)
    if issubclass(c.labeler.consumes, Domain) and (of_features or (space.sparse and not c.labeler.sparse)):
        unfit.append(f"labeler '{c.labeler.name}'")
    if isinstance(space.points, SparseRows) and c.init is not None and c.init.sees == "input" and not c.init.sparse:
        unfit.append(f"init '{c.init.name}'")
    if unfit:
        raise InvalidData(
            f"{' and '.join(unfit)} cannot work on {X.shape[0]} x {X.shape[1]} sparse samples. Make the attributes "
            "fewer first, by featuremap 'pca' in front of another one, or pass a dense array if it fits into memory."
        )


def _all_equal(X: Array) -> bool:
    """Whether all rows are the same; two looks settle it for nearly all data, without an n x d comparison."""
    if isinstance(X, SparseRows):
        return bool(np.all(X.squares() == X.squares()[0])) and len(X.distinct()[0]) == 1
    first = X[0]
    return bool((X[-1] == first).all() and (X[len(X) // 2] == first).all() and (first == X).all())


def _first_targets(bound: BoundComposition, start: int) -> Coded | None:
    """What a solver that makes one turn learns from: nothing, or the labels of one start."""
    c = bound.composition
    if c.solver.targets == "never":
        return None
    assert isinstance(c.labeler, Codec)
    return c.labeler.encode(starting_labels(bound, start), bound.task.k, bound.task.sample_weight)


def starting_labels(bound: BoundComposition, start: int) -> Labels:
    """Labels of one start, (n,), from the init stage."""
    c = bound.composition
    assert c.init is not None
    samples = bound.scaled_points() if c.init.sees == "input" else bound.space
    labels = first_labels(c, samples, bound.task, bound.seeds, start)
    if isinstance(c.labeler, Codec) and c.labeler.coding is Coding.ORDINAL:
        labels = along_principal_axis(bound.space, labels, bound.task.k, bound.task.sample_weight)
    return labels


def reason_of(reason: str, index: int, c: Composition, starts: int, interrupted: bool) -> str:
    """Why a fit of several starts stopped, from the reason and the number of the best start."""
    if interrupted:
        which = f"the best labels of {starts} of {c.n_init} starts" if c.n_init > 1 else "the best labels so far"
        return f"interrupted: {which} are kept"
    return reason if c.n_init == 1 else f"{reason} (best of {starts} starts: number {index})"


def _resolved(bound: BoundComposition, labeling: BalancedLabeling) -> dict[str, dict[str, Any]]:
    c, task = bound.composition, bound.task
    balancer: Balancer | None = c.balancer or c.limits
    by_slot: dict[str, dict[str, Any]] = {
        "featuremap": dict(bound.space.resolved),
        "solver": dict(bound.prepared.resolved),
        "labeler": dict(labeling.labeler_facts),
        "balancer": {} if balancer is None else {**balancer.resolved(task.n, task.k), **labeling.facts},
    }
    if not labeling.exact:
        by_slot["solver" if balancer is None else "balancer"] |= parted(bound.X, labeling.labels)
    return {slot: facts for slot, facts in by_slot.items() if facts}
