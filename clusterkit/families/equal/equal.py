"""Equal clustering and GeoClust: clusters of nearly equal size, each of the rows nearest to its centre.

GeoClust moves centres by quotients of cluster sizes; equal clustering bounds these quotients. Both are
solvers, whose scores are minus squared distances to the final centres (`_PreparedDrift`), and partitioners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import Partitioner, Path, Prepared, Solver, Stage, Task, params
from clusterkit.contracts.outcomes import Ending, Outcome, Scores, Status
from clusterkit.errors import InvalidData
from clusterkit.families.equal.drift import MOST_ITERATIONS, DriftRule, Parts, even_out, minus_distances
from clusterkit.families.equal.fade import find_even_parts
from clusterkit.numerics.shapes import array
from clusterkit.samples import FeatureSpace, Space, memory
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.limits import Report, notify
from clusterkit.samples.transform import Transform


@attrs.frozen
class _OfEqual:
    """Parameters of equal clustering."""

    step: float | None = params.real(None, above=0.0, optional=True)
    max_ratio: float = params.real(3.0, at_least=1.0)
    size_tol: int | None = params.integer(None, at_least=0, optional=True)
    max_iter: int = params.integer(6000, at_least=1, at_most=MOST_ITERATIONS)
    restarts: int = params.integer(1, at_least=0, at_most=params.MOST_REPEATS)
    fade: bool = params.flag(True)
    repair: bool = params.flag(False)
    strict: bool = params.flag(False)


@attrs.frozen
class _OfGeoClust:
    """Parameters of GeoClust."""

    step: float | None = params.real(None, above=0.0, optional=True)
    size_tol: int | None = params.integer(None, at_least=0, optional=True)
    max_iter: int = params.integer(6000, at_least=1, at_most=MOST_ITERATIONS)
    restarts: int = params.integer(0, at_least=0, at_most=params.MOST_REPEATS)
    repair: bool = params.flag(False)


def _rule_of(stage: Stage) -> DriftRule:
    return DriftRule.of(stage.parameters(), original=stage.name == "geoclust")


def _notifying(name: str, rule: DriftRule) -> Callable[[int, float], None]:
    """Reports the number of iterations and the lowest imbalance."""
    return lambda iterations, imbalance: notify(Report(name, iterations, rule.max_iter, imbalance))


class _DriftSolver(Solver):
    """A solver that moves centres by a rule, in features."""

    linked_balancer: ClassVar[str] = "transport"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    has_objective: ClassVar[bool] = True

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The solver works on features."""
        return {FeatureSpace: Path(_prepare, Scores)}


def _prepare(spec: _DriftSolver, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Bind the rule to the space; the features are computed when a start begins."""
    return _PreparedDrift(spec.name, _rule_of(spec), space, task.k)


class _DriftParts(Partitioner[FeatureSpace]):
    """A partitioner that moves centres by a rule."""

    sees: ClassVar[Literal["input", "space"]] = "input"

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels:
        """Labels of the rows (n, d); every part gets a row if there are k rows.

        Raises
        ------
        InvalidData
            If there are fewer rows than parts.
        KeyboardInterrupt
            If the search was interrupted.
        """
        X, k, rule = samples.points, task.k, _rule_of(self)
        if len(X) < k:
            raise InvalidData(f"partitioner '{self.name}': {len(X)} rows cannot make {k} parts")
        if k == 1:
            return np.zeros(len(X), dtype=np.intp)
        parts = find_even_parts(X, k, rule, rng, _notifying(self.name, rule))
        if parts.interrupted:
            raise KeyboardInterrupt
        scores = minus_distances(X, parts.centres, np.zeros(k))
        labels = np.argmax(even_out(scores)[0] if rule.repair else scores, axis=1)
        _fill_empty_parts(labels, scores, k)
        return labels


@final
@attrs.frozen
class Equal(_OfEqual, _DriftSolver):
    """Move centres until their clusters are of nearly equal size; scores are minus squared distances to the centres.

    Choose it for parts that should be compact and even: modules of a classifier, batches, territories. It does not look
    for gaps between clusters. In every iteration all centres move at once. With the sizes W of the clusters, the rows
    nearest to each centre::

        c_i ← c_i + α Σ_j r_ij (c_j - c_i),   r_ij = (l - 1) (W_j - W_i) / (W_j + (l - 1) W_i)

    So a centre moves towards the centres of larger clusters, and the centres of larger clusters move away from it. The
    iteration ends once every size differs from ``n // k`` by less than ε.

    The update is in drift_jit.py (`_coefficients`, `_move`), the fading of weights in
    fade.py, the repair in drift.py (`even_out`).

    Parameters
    ----------
    step : float or None, default None
        Factor of every move, the paper's α. None: 0.01 for up to 10 clusters, 0.001 for up to 20, and so on; beyond 40
        clusters this default hardly moves the centres.
    max_ratio : float, default 3
        Bound of the quotient of two sizes in the coefficients, the paper's l: ``r_ij + 1`` grows with ``W_j / W_i``,
        and is 0 for an empty cluster j, 1 for equal sizes and `max_ratio` for an empty cluster i. With 1 the centres
        stay where they are.
    size_tol : int or None, default None
        Tolerance in rows, the paper's ε. None: ``n // (50 k)``. It is raised to the least value that sizes can fall
        below: 1, or 2 if k does not divide n.
    max_iter : int, default 6000
        Most iterations of a start.
    restarts : int, default 1
        Most new starts; one is made if the starts before have not reached the tolerance. A start that may be followed
        by another ends once two centres are closer than 5 % of the smallest distance between two seeds.
    fade : bool, default True
        Where no start reaches the tolerance, go on from cells with weights, which make the sizes equal, and let the
        weights fade to zero while the centres follow. It ends where it is without progress; the better centres count.
    repair : bool, default False
        Move the rows that cost least at the end, until sizes differ by at most 1.
    strict : bool, default False
        The rule as printed: ε is never raised, there is one start, nothing fades, and the last iteration is returned
        instead of the best. A `repair` comes after it all the same.

    Warns
    -----
    ClusterkitWarning
        If there are fewer distinct samples than clusters.

    Notes
    -----
    The seeds are k random samples, distinct in value if there are k distinct samples. The imbalance, the largest
    difference of a size from ``n // k``, need not fall from one iteration to the next: the centres of the iteration
    with the lowest imbalance are returned. The imbalance is the objective, and `history_` has its value in every
    iteration; fading adds one entry if it is better than all iterations before. Balance is impossible if more than
    ``n / k + ε`` samples are equal; without `repair` these stay together.

    A repair is the cheapest assignment of rows to clusters of equal sizes (±1). It adds an offset for each cluster to
    the squared distances, so that `predict` follows the same borders. If a border runs through equal samples, no offset
    separates them, and ``exact_on_training_`` is False.

    An iteration costs O(n k L + k² L), in single precision; for two clusters or one attribute O(k log n + k²), after
    sorting. Sizes are those of distances in double precision in every iteration, up to ties.
    Memory: the features in float64 and the (n, k) scores; features are not streamed. The solver works on features only.

    References
    ----------
    Aurenhammer, Hoffmann, Aronov (1998), Minkowski-type theorems and least-squares clustering, Algorithmica: weights
    with which cells have given sizes.

    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing: the rule and the values of α, l and ε.
    """

    name: ClassVar[str] = "equal"
    synonyms: ClassVar[tuple[str, ...]] = ("equal_clustering", "m3_svm")


@final
@attrs.frozen
class GeoClust(_OfGeoClust, _DriftSolver):
    """Move centres by ``c_i ← c_i + α Σ_j (W_j / W_i - 1) (c_j - c_i)``; scores are minus squared distances to them.

    Choose it for comparisons with `equal`. It is often quicker on benign data, but if a cluster is nearly empty the
    coefficients have no bound, and centres may run away. W are the sizes of the clusters, the rows nearest to each
    centre; an empty cluster counts 1. All `max_iter` iterations are made unless the centres stand still (all sizes
    equal) or run away. The centres of the iteration with the lowest imbalance are returned.

    The update is in drift_jit.py (`_coefficients` with ``original=True``, `_move`).

    Parameters
    ----------
    step : float or None, default None
        Factor of every move, the paper's α; None: as in `equal`.
    size_tol : int or None, default None
        Tolerance in rows, the paper's ε, with the default of `equal`. The fit has converged if the imbalance is below
        it, but the iteration does not end there.
    max_iter : int, default 6000
        Number of iterations of a start.
    restarts : int, default 0
        Most new starts; one is made if the starts before have not converged.
    repair : bool, default False
        Move rows at the end until sizes differ by at most 1, as in `equal`.

    Warns
    -----
    ClusterkitWarning
        If there are fewer distinct samples than clusters.

    Notes
    -----
    The start, objective, repair, cost and memory are as described for `equal`.

    References
    ----------
    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing, which describes it as the rule that it modifies.
    """

    name: ClassVar[str] = "geoclust"


@final
@attrs.frozen(eq=False)
class _PreparedDrift(Prepared):
    """A rule for moving centres, bound to a feature space.

    Parameters
    ----------
    name : str
        Name of the solver.
    rule : DriftRule
    space : FeatureSpace
    m : int
        Number of clusters.
    """

    name: str
    rule: DriftRule
    space: FeatureSpace
    m: int

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {"step": self.rule.step_for(self.m), "size_tol": self.rule.tolerance_for(self.space.n, self.m)}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        n, m = self.space.n, self.m
        if m == 1:
            return self._single_cluster()
        memory.require(8 * n * self.space.width, f"the {n} x {self.space.width} feature matrix", "Use fewer features.")
        parts = find_even_parts(self.space.rows(), m, self.rule, rng, _notifying(self.name, self.rule))
        extend = Nearness(self.space.transform, parts.centres, np.zeros(m))
        rows: Array = np.empty((n, m))
        for block, H in self.space.blocks():
            rows[block] = extend.of_features(H)
        facts: dict[str, Any] = {}
        tied = 0
        if self.rule.repair:
            rows, offsets, moved, tied = even_out(rows)
            extend = attrs.evolve(extend, offsets=offsets)
            facts = {"repaired": True, "moved": moved, "tied": tied}
        return Scores(rows, extend, status=self._status(parts, rows, facts, exact=tied == 0))

    def _single_cluster(self) -> Scores:
        centre: Array = self.space.rows().astype(np.float64).mean(axis=0)[None]
        extend = Nearness(self.space.transform, centre, np.zeros(1))
        facts = {"sizes": (self.space.n,), "imbalance": 0, "best_iteration": 0, "starts": 0}
        status = Status(0, Ending.CONVERGED, "one cluster: there is nothing to divide", (), facts, objective=0.0)
        return Scores(extend.of_features(self.space.rows()), extend, status=status)

    def _status(self, parts: Parts, rows: Array, repair: Mapping[str, Any], exact: bool) -> Status:
        """The status of a fit. Sizes are counted from the labels; the sizes in the loop agree with them up to ties."""
        n, m = rows.shape
        sizes = np.bincount(np.argmax(rows, axis=1), minlength=m)
        facts: dict[str, Any] = {
            "sizes": tuple(sizes.tolist()),
            "imbalance": int(np.abs(sizes - n // m).max()),
            "best_iteration": parts.iteration,
            "starts": parts.starts,
            **repair,
        }
        history = tuple(parts.imbalances.astype(float).tolist())
        if parts.converged:
            ending = Ending.SETTLED
        elif parts.interrupted:
            ending = Ending.INTERRUPTED
        else:
            ending = Ending.STALLED if len(history) < self.rule.max_iter else Ending.OUT_OF_ITERATIONS
        return Status(
            len(history),
            ending,
            parts.reason,
            history,
            facts,
            predicts_labels=exact,
            objective=float(facts["imbalance"]),
        )


@final
@attrs.frozen(eq=False)
class Nearness:
    """Scores of new samples: minus squared distances to the centres, plus the offsets of a repair.

    Parameters
    ----------
    transform : Transform
        Maps raw rows to features.
    centres : ndarray of shape (k, L)
    offsets : ndarray of shape (k,)
        Zeros unless the sizes were repaired.
    """

    transform: Transform
    centres: Array = attrs.field(validator=array("k L"))
    offsets: Array = attrs.field(validator=array("k"))

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, k), float64, in blocks."""
        rows = np.empty((len(Y), len(self.centres)))
        for block, H in self.transform.blocks(Y):
            rows[block] = self.of_features(H)
        return rows

    def of_features(self, H: Array) -> Array:
        """Scores of features, (m, L) to (m, k)."""
        return minus_distances(H, self.centres, self.offsets)

    def columns(self, index: slice | Indices) -> Nearness:
        """Scores of a part of the centres."""
        return attrs.evolve(self, centres=self.centres[index], offsets=self.offsets[index])


def _fill_empty_parts(labels: Labels, scores: Array, k: int) -> None:
    """Move one row to every empty part: the row farthest from its centre, out of a part with several rows."""
    sizes = np.bincount(labels, minlength=k)
    closeness = scores[np.arange(len(labels)), labels]
    for part in np.flatnonzero(sizes == 0):
        row = int(np.argmin(np.where(sizes[labels] > 1, closeness, np.inf)))
        sizes[labels[row]] -= 1
        sizes[part] = 1
        labels[row], closeness[row] = part, 0.0


@final
@attrs.frozen
class EqualParts(_OfEqual, _DriftParts):
    """Parts of nearly equal size, each of the rows nearest to its centre, by the rule of the solver `equal`.

    Choose it for the modules of a min-max modular classifier, or as a start of methods with a balance. The cost is that
    of the solver. The update is in drift_jit.py (`_coefficients`, `_move`).

    Parameters
    ----------
    step : float or None, default None
    max_ratio : float, default 3
    size_tol : int or None, default None
    max_iter : int, default 6000
    restarts : int, default 1
    fade : bool, default True
    repair : bool, default False
    strict : bool, default False
        Parameters of the solver `equal`; the paper calls the first three α, l and ε.

    Notes
    -----
    An empty part receives the row that is farthest from its centre, out of the parts with more than one row.

    References
    ----------
    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing.
    """

    name: ClassVar[str] = "equal"


@final
@attrs.frozen
class GeoClustParts(_OfGeoClust, _DriftParts):
    """Parts of the rows, each of the rows nearest to its centre, by the rule of the solver `geoclust`.

    Choose it for comparisons with `equal`. The cost is that of the solver. The update is in
    drift_jit.py (`_coefficients` with ``original=True``, `_move`).

    Parameters
    ----------
    step : float or None, default None
    size_tol : int or None, default None
    max_iter : int, default 6000
    restarts : int, default 0
    repair : bool, default False
        Parameters of the solver `geoclust`; the paper calls the first two α and ε.

    Notes
    -----
    An empty part receives the row that is farthest from its centre, out of the parts with more than one row.

    References
    ----------
    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing.
    """

    name: ClassVar[str] = "geoclust"
