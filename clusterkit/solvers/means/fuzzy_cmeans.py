"""Fuzzy c-means: memberships in all clusters at once, and the centres they weight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import params
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.iteration import Start, Turn, Turns, solve
from clusterkit.core.outcomes import Ending, Extension, Outcome, Scores, Status
from clusterkit.core.pass_solver import PassSolver
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.core.transform import block_plan
from clusterkit.solvers.means._fuzzy_turns import (
    ALL_EQUAL,
    FuzzySums,
    FuzzyTurns,
    Memberships,
    distinct,
    largest_change,
    memberships,
    tolerance_reached,
    weighted_sums,
)
from clusterkit.solvers.means._geometry import CentredFeatures, FeatureMeans, KernelMeans
from clusterkit.solvers.means._nearness import NearestMeans, minus_distances

__all__ = ["FuzzyCMeans", "Memberships", "memberships"]


@final
@attrs.frozen
class FuzzyCMeans(Solver):
    """Minimises ``J = Σ_ij u_ij^φ d_ij`` over memberships u and centres; the scores are the memberships.

    For overlapping clusters, where the degree of membership of a sample matters. d_ij is the squared distance of sample
    i to centre j, and ``Σ_j u_ij = 1``. Two steps alternate: ``u_ij = d_ij^(-1/(φ-1)) / Σ_l d_il^(-1/(φ-1))``, and the
    centres become the means weighted by ``u_ij^φ``. Neither step can raise J. The mathematics is in `FuzzyTurns` of
    means/_fuzzy_turns.py, and for kernels in `_KernelCentres.centres`.

    Parameters
    ----------
    fuzzifier : float, default 2
        φ > 1. For φ towards 1 the method becomes k-means; for large φ all memberships tend to 1/k.
    tol : float, default 1e-5
        Stop when no membership changed by more than this in one iteration.
    max_iter : int, default 300
        Maximum number of iterations; each updates the memberships and then the centres.

    Notes
    -----
    On features an iteration is one pass, O(n L k), with two (n, k) arrays in memory; streamed features cost one mapping
    of the data per iteration. Rows outside memory need none of these arrays: memberships are computed twice. On a
    kernel the matrix K is kept and the centres are weighted sums of the samples: O(n² d) once, O(n² k) per iteration.

    The iteration starts from k samples drawn at random, distinct as far as possible: each sample is assigned to the
    nearest of the k, and the means of these groups are the first centres. (The k samples themselves are not used as
    centres: a sample on a centre has weight 1 there, which for a large φ outweighs all other samples.) Squared
    distances within their rounding errors count as 0: a sample that lies on centres belongs to these alone, in equal
    shares. A centre whose weights all vanish keeps its place. If all samples are equal up to rounding, every
    membership is 1/k, and all labels are 0.

    The memberships returned belong to the centres returned. So the memberships of new samples follow the same rule,
    and predicting the training samples repeats their memberships.

    References
    ----------
    Bezdek (1981), Pattern Recognition with Fuzzy Objective Function Algorithms, Plenum, theorem 11.1.
    Dunn (1973), A fuzzy relative of the ISODATA process, Journal of Cybernetics 3(3): φ = 2.
    Wu, Xie, Yu (2003), Fuzzy c-means clustering algorithm based on kernel method, ICCIMA: the kernel path.
    """

    name: ClassVar[str] = "fuzzy_cmeans"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    has_objective: ClassVar[bool] = True

    fuzzifier: float = params.real(2.0, above=1.0)
    tol: float = params.real(1e-5, at_least=0.0)
    max_iter: int = params.integer(300, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        return {
            FeatureSpace: Path(_features, Scores, passes="anywhere", weighted=True),
            KernelSpace: Path(_kernel, Scores),
        }


def _features(spec: FuzzyCMeans, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """The mean of all samples and the distances from it: two passes."""
    if not space.in_memory:
        return PassSolver(space, fuzzy_turns(spec, space, task), weights=task.sample_weight)
    geometry = FeatureMeans.of(space, task.sample_weight)
    turns = _turns(spec, geometry.about, task)
    return _PreparedFuzzyCMeans(spec, task.k, _FeatureCentres(geometry, turns))


def fuzzy_turns(spec: FuzzyCMeans, space: FeatureSpace, task: Task) -> FuzzyTurns:
    """The turns of fuzzy c-means on features as sums; two passes."""
    return _turns(spec, CentredFeatures.of(space, task.sample_weight), task)


def _turns(spec: FuzzyCMeans, about: CentredFeatures, task: Task) -> FuzzyTurns:
    return FuzzyTurns(about, task.k, spec.fuzzifier, spec.tol, spec.max_iter, task.sample_weight)


def _kernel(spec: FuzzyCMeans, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The kernel matrix, if the memory cap allows it."""
    return _PreparedFuzzyCMeans(spec, task.k, _KernelCentres(KernelMeans.of(space)))


@final
@attrs.frozen(eq=False)
class _PreparedFuzzyCMeans(Prepared):
    """Fuzzy c-means in a feature space or in the space of a kernel."""

    spec: FuzzyCMeans
    k: int
    representation: _FeatureCentres | _KernelCentres

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {}

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        assert outcome.status is not None
        return np.array([outcome.status.history[-1]])

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        geometry, phi = self.representation.geometry, self.spec.fuzzifier
        if geometry.all_equal:
            centres = geometry.overall(self.k)
            U = np.full((geometry.space.n, self.k), 1.0 / self.k, dtype=geometry.space.dtype)
            status = Status(1, Ending.CONVERGED, ALL_EQUAL, (0.0,))
        else:
            turns = _TurnsInMemory(self.spec, self.k, self.representation)
            (U, centres), status = solve(turns, Start(0, self._start(rng), keeps_best=False), self.spec.max_iter)
        extend = Memberships(self.representation.extension(centres), phi, np.arange(self.k))
        return Scores(U, extend, status=status, are_memberships=True)

    def _start(self, rng: Rng) -> Array:
        """First centres: k random samples, each replaced by the mean of the samples nearest to it."""
        return self.representation.start(self.k, rng)


@attrs.define(eq=False)
class _TurnsInMemory(Turns[tuple[Array, Array]]):
    """Memberships and the centres they belong to, turn by turn; a turn writes into the memberships before the last."""

    spec: FuzzyCMeans
    k: int
    representation: _FeatureCentres | _KernelCentres
    _U: Array = attrs.field(init=False)
    _spare: Array = attrs.field(init=False)

    name = "fuzzy_cmeans"
    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.INTERRUPTED: "interrupted after {n} iterations: the memberships so far are kept"
    }

    def __attrs_post_init__(self) -> None:
        space = self.representation.geometry.space
        self._U, self._spare = (
            np.zeros((space.n, self.k), dtype=space.dtype),
            np.empty((space.n, self.k), dtype=space.dtype),
        )

    def advance(self, active: list[Start[tuple[Array, Array]]]) -> Iterator[Turn[tuple[Array, Array]]]:
        """Update the memberships, and then the centres."""
        [start] = active
        update = _MembershipUpdate(self._spare, self._U, self.spec.fuzzifier, self.representation.weights)
        moved, objective, change = self.representation.centres(start.state, update)
        change = change if start.history else np.inf
        self._U, self._spare = self._spare, self._U
        start.judge(objective)
        settled = change <= self.spec.tol
        detail = tolerance_reached(change) if settled else f", memberships still changed by up to {change:.1e}"
        yield Turn((self._U, start.state), moved, Ending.SETTLED if settled else None, detail)


@final
@attrs.frozen(eq=False)
class _MembershipUpdate:
    """Computes the memberships of one iteration block by block, by several threads above one group.

    Parameters
    ----------
    new, old : ndarray of shape (n, k)
        Memberships of this iteration, to be written, and of the previous iteration.
    fuzzifier : float
    counts : ndarray of shape (n,) or None
        How much each sample counts.
    """

    new: Array
    old: Array
    fuzzifier: float
    counts: Array | None = None

    def __call__(self, rows: slice, scores: Array) -> tuple[Array, float, float]:
        """Weights ``u^φ`` of some samples, float64, from minus their squared distances.

        Also their objective, and the largest change of a membership.
        """
        U = memberships(-scores, self.fuzzifier)
        self.new[rows] = U
        counts = None if self.counts is None else self.counts[rows]
        change = largest_change(self.new[rows] - self.old[rows], counts)
        with np.errstate(under="ignore"):
            weights = U**self.fuzzifier
        if counts is not None:
            weights *= counts[:, None]
        # not the negative number, which could be -0
        return weights, 0.0 - float(np.vdot(weights, scores.astype(np.float64, copy=False))), change


@final
@attrs.frozen(eq=False)
class _FeatureCentres:
    """Fuzzy centres as coordinates about the mean of all samples: `FuzzyTurns`, which keeps the memberships here.

    The memberships of the turn before are then there, and those of a block are computed once and not twice.
    """

    geometry: FeatureMeans
    turns: FuzzyTurns

    @property
    def weights(self) -> Array | None:
        """How much each sample counts."""
        return self.turns.weights

    def start(self, k: int, rng: Rng) -> Array:
        """First centres, (L, k)."""
        nearness = self.turns.begin(self.geometry.space, rng).nearness
        assert isinstance(nearness, NearestMeans)
        return nearness.centres

    def centres(self, centres: Array, update: _MembershipUpdate) -> tuple[Array, float, float]:
        """New centres, (L, k), the objective, and the largest change of a membership, in one pass."""
        geometry, dtype = self.geometry, self.geometry.space.dtype
        constants, rounding_error = geometry.constants(centres), geometry.rounding_error
        C = centres.astype(dtype, copy=False)

        def part(rows: slice, H: Array) -> FuzzySums:
            scores = minus_distances(H @ C, constants, geometry.radii[rows], rounding_error)
            weights, objective, change = update(rows, scores)
            return FuzzySums(weighted_sums(H, weights), objective, change)

        total = geometry.space.reduce(part)
        return self.turns.moved(total.sums, centres), total.objective, total.change

    def extension(self, centres: Array) -> Extension:
        """Minus squared distances of new samples."""
        return self.geometry.extension(centres, self.geometry.constants(centres))


@final
@attrs.frozen(eq=False)
class _KernelCentres:
    """Fuzzy centres as weighted sums of the samples."""

    geometry: KernelMeans
    weights: ClassVar[None] = None

    def start(self, k: int, rng: Rng) -> Array:
        """First centres, (n, k)."""
        geometry = self.geometry
        seeds = distinct(geometry.space, k, rng)
        rows, _ = geometry.scores(geometry.samples(seeds))
        labels = np.argmax(rows, axis=1)
        labels[seeds] = np.arange(k)  # no cluster is empty
        coded = Coded(labels[None], Coding.ONEHOT, k, np.eye(k))
        return geometry.means(coded, coded.sizes()[0])

    def centres(self, centres: Array, update: _MembershipUpdate) -> tuple[Array, float, float]:
        """New centres, (n, k), the objective, and the largest change of a membership, by one product with K."""
        space = self.geometry.space
        scores, _ = self.geometry.scores(centres)
        weights, objective, change = np.empty(centres.shape), 0.0, 0.0
        for rows in block_plan(space.n, centres.shape[1], space.dtype):
            weights[rows], part, changed = update(rows, scores[rows])
            objective, change = objective + part, max(change, changed)
        sums = weights.sum(axis=0)
        means = np.divide(weights, sums, out=centres.astype(np.float64), where=sums > 0.0)
        return means.astype(space.dtype, copy=False), objective, change

    def extension(self, centres: Array) -> Extension:
        """Minus squared distances of new samples; the norms of the centres cost a product with K."""
        return self.geometry.extension(centres, self.geometry.scores(centres)[1])
