"""Fuzzy c-means: memberships in all clusters at once, and the centres they weight.

On features an iteration is a sum over the rows (`FuzzySums`): weighted sums of features, weights, objective, change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.iteration import Iteration, Iterations, Start, solve
from clusterkit.contracts.outcomes import Ending, Outcome, Scores, Status
from clusterkit.contracts.pass_solver import PassSolver, RowFunction, Step
from clusterkit.families.means._geometry import FeatureGeometry, FeatureMeans, NearestMeans
from clusterkit.numerics.shapes import scalar
from clusterkit.samples import FeatureSpace, Space, sums
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    is_device_array,
    move_to,
    table_columns,
    to_host,
)
from clusterkit.samples.coding import Coded, Coding, unit_vectors
from clusterkit.samples.sums import Sums, class_totals, products_of_rows
from clusterkit.samples.survey import draw_rows, draw_weighted
from clusterkit.samples.transform import block_plan

ALL_EQUAL = "all samples are equal, and so are their memberships"
"""Why the iteration ends before it begins where no sample differs from another."""


TABLES = 4
"""Tables of k columns that an iteration has at once on a device, in the unit by which blocks are planned: a block that
is planned for one table has five to nine, of float64 numbers whatever the rows are."""


def tolerance_reached(change: float) -> str:
    """Why the iteration ended."""
    return f"tolerance reached: no membership changed by more than {change:.1e}"


def memberships(distances: Array, fuzzifier: float) -> Array:
    """Memberships in k clusters for squared distances to their centres.

    Parameters
    ----------
    distances : ndarray of shape (n, k)
        Nonnegative; exactly 0 on a centre.
    fuzzifier : float
        φ > 1.

    Returns
    -------
    ndarray of shape (n, k), float64
        Rows sum to 1.

    Notes
    -----
    Computed as a softmax of ``-ln d / (φ - 1)``, because the powers themselves overflow for φ near 1.

    Examples
    --------
    >>> memberships(np.array([[1.0, 4.0], [0.0, 4.0], [0.0, 0.0]]), 2.0).tolist()
    [[0.8, 0.2], [1.0, 0.0], [0.5, 0.5]]
    """
    if is_device_array(distances):
        return _memberships_on_device(distances, fuzzifier)
    distances = distances.astype(np.float64, copy=False)
    # shares relative to the nearest centre: exactly 1 there, at most 1 elsewhere; 0 for all others if it is at 0
    if fuzzifier == 2.0:  # the usual value: a quotient, which cannot overflow
        nearest = distances.min(axis=1, keepdims=True)
        shares = np.divide(nearest, distances, out=np.ones_like(distances), where=distances > 0.0)
    else:
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            logs = np.log(distances)
            shares = np.exp((logs.min(axis=1, keepdims=True) - logs) / (fuzzifier - 1.0))
        shares[distances == 0.0] = 1.0
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _memberships_on_device(distances: Any, fuzzifier: float) -> Any:
    """`memberships` of a block of another library, float64, without a division by 0, of which some libraries warn."""
    xp = array_namespace(distances)
    distances = as_type(distances, np.float64)
    one = xp.ones((), dtype=xp.float64, device=distances.device)
    nearest, on_centre = xp.min(distances, axis=1, keepdims=True), distances == 0.0
    shares = nearest / xp.where(on_centre, one, distances)
    if fuzzifier != 2.0:
        somewhere = xp.where(nearest == 0.0, one, shares)
        shares = xp.where(nearest == 0.0, 0.0 * one, xp.exp(xp.log(somewhere) / (fuzzifier - 1.0)))
    shares = xp.where(on_centre, one, shares)
    return shares / xp.sum(shares, axis=1, keepdims=True)


@final
@attrs.frozen(eq=False)
class Memberships(BlockFunction):
    """Memberships of new samples in the clusters of a fit.

    Parameters
    ----------
    nearness : NearestMeans
        Raw rows to minus their squared distances from the centres, (m, d) to (m, k).
    fuzzifier : float
    """

    saved_schema: ClassVar[int] = 2

    nearness: NearestMeans
    fuzzifier: float = attrs.field(validator=scalar(least=1))

    @classmethod
    def migrated(cls, fields: Mapping[str, object], schema: int) -> Mapping[str, object]:
        """Fields of files with `shown`, the clusters to return."""
        present: dict[str, Any] = dict(fields)
        shown = present.pop("shown")
        if not np.array_equal(shown, np.arange(present["nearness"].centres.shape[1])):
            present["nearness"] = present["nearness"].columns(shown)
        return present

    def __call__(self, Y: Array) -> Array:
        """Memberships of raw rows, (m, d) to (m, k), float64."""
        return self._of(self.nearness(Y))

    def terms(self, Y: Array) -> Array | None:
        """Terms of the squared distances, by which the memberships are ordered."""
        return self.nearness.terms(Y)

    @property
    def table_columns(self) -> int:
        """Columns of the temporary arrays of a block: `TABLES` arrays of the distances and of their powers."""
        return TABLES * table_columns(self.nearness)

    def on(self, H: Array) -> Array:
        """Memberships of a block of features, (b, L) to (b, k)."""
        return self._of(self.nearness.on(H))

    def _of(self, scores: Array) -> Array:
        if is_device_array(scores):
            return memberships(-scores, self.fuzzifier)
        U = np.empty_like(scores)
        for rows in block_plan(len(scores), scores.shape[1], np.float64):
            U[rows] = memberships(-scores[rows], self.fuzzifier)
        return U

    def columns(self, index: slice | Indices) -> Memberships:
        """Memberships in some of the clusters, which sum to 1 among these."""
        return attrs.evolve(self, nearness=self.nearness.columns(index))


@final
@attrs.frozen(eq=False)
class FuzzySums:
    """The sums over the rows of one or more blocks that an iteration needs.

    Parameters
    ----------
    sums : Sums
        Features weighted by ``u^φ``, (L, k), and the weights, (k,).
    objective : float
    change : float
        Largest change of a membership.
    """

    sums: Sums
    objective: float
    change: float

    def to_host(self) -> FuzzySums:
        """A copy of the sums on the host."""
        return FuzzySums(self.sums.to_host(), self.objective, self.change)

    def __add__(self, following: FuzzySums) -> FuzzySums:
        """The sums of both."""
        objective = self.objective + following.objective
        return FuzzySums(self.sums + following.sums, objective, max(self.change, following.change))


@final
@attrs.frozen(eq=False)
class FuzzyIterations(BlockFunction):
    """The iterations of fuzzy c-means on features; each yields the `Memberships` of its centres.

    Parameters
    ----------
    about : FeatureGeometry
    k : int
    fuzzifier, tol, max_iter
        Parameters of the solver `fuzzy_cmeans`.
    weights : ndarray of shape (n,) or None
        How much each sample counts in the first centres.
    """

    array_api: ClassVar[bool] = True

    about: FeatureGeometry
    k: int
    fuzzifier: float
    tol: float
    max_iter: int
    weights: Array | None = None

    @property
    def name(self) -> str:
        """Name of the solver, for progress reports."""
        return "fuzzy_cmeans"

    @property
    def table_columns(self) -> int:
        """Columns of the temporary arrays of a block, in the type of the samples: `TABLES` of k float64 numbers."""
        return TABLES * self.k * 8 // self.about.transform.dtype.itemsize

    def function(self, centres: Array) -> Memberships:
        """Memberships for centres (L, k)."""
        return Memberships(self.about.extension(centres), self.fuzzifier)

    def begin(self, space: FeatureSpace, rng: Rng) -> Memberships:
        """The means of the samples nearest to each of k random ones: one pass, and k single rows."""
        if self.about.all_equal:
            return self.function(self.about.overall(self.k))
        seeds = distinct(space, self.k, rng, self.weights)
        nearness = self.about.extension(self.about.centred(space.rows(seeds)))
        class_sums, sizes = space.reduce(_StartSums(nearness, seeds, self.weights)).arrays
        return self.function(self.about.centres(class_sums, sizes))

    def part(self, H: Array, function: RowFunction, before: RowFunction | None, weights: Array | None) -> FuzzySums:
        """The sums of a block; memberships are computed anew under both functions, so that none is kept."""
        assert isinstance(function, Memberships)
        if is_device_array(H):
            return self._part_on_device(H, function, before, weights)
        scores = function.nearness.on(H)
        U = memberships(-scores, self.fuzzifier) if len(H) else np.empty(scores.shape)
        change = np.inf if before is None else largest_change(U - before.on(H), weights)
        return self.summed(H, scores, U, weights, change)

    def summed(self, H: Array, scores: Array, U: Array, weights: Array | None, change: float) -> FuzzySums:
        """The sums of a block with these scores and memberships, (b, k) each."""
        with np.errstate(under="ignore"):
            powers = U**self.fuzzifier
        if weights is not None:
            powers *= weights[:, None]
        # not the negative number, which could be -0
        return FuzzySums(weighted_sums(H, powers), 0.0 - float(np.vdot(powers, scores)), change)

    def _part_on_device(
        self, H: Any, function: Memberships, before: RowFunction | None, weights: Array | None
    ) -> FuzzySums:
        """`part` of a block of another library, in float64."""
        xp, H = array_namespace(H), as_type(H, np.float64)
        scores = function.nearness.on(H)
        U = memberships(-scores, self.fuzzifier)
        change = np.inf
        if before is not None:
            changes = xp.abs(U - before.on(H))
            if weights is not None:
                counted = move_to(weights > 0, H)[:, None]
                changes = xp.where(counted, changes, xp.zeros_like(changes))
            change = float(xp.max(changes)) if H.shape[0] else 0.0
        powers = U**self.fuzzifier
        if weights is not None:
            powers = powers * move_to(weights, H, np.float64)[:, None]
        objective = -float(xp.sum(powers * scores))
        return FuzzySums(weighted_sums(H, powers), objective, change)

    def finish(self, total: FuzzySums, function: RowFunction) -> Step:
        """The means weighted by the memberships."""
        assert isinstance(function, Memberships)
        settled = ALL_EQUAL if self.about.all_equal else None
        if total.change <= self.tol:
            settled = tolerance_reached(total.change)
        return Step(
            self.function(self.moved(total.sums, function.nearness.centres)),
            total.objective,
            settled,
            f", memberships still changed by up to {total.change:.1e}",
        )

    def moved(self, total: Sums, centres: Array) -> Array:
        """The weighted means, (L, k), from the sums over all rows; a centre without weight keeps its place."""
        products, weights = total.arrays
        means = np.divide(products, weights, out=np.zeros_like(products), where=weights > 0.0)
        return np.where(weights > 0.0, means - self.about.origin[:, None], centres)


def weighted_sums(H: Array, weights: Array) -> Sums:
    """Features times weights, (L, k), and the sums of the weights, (k,)."""
    if is_device_array(H):
        return Sums.of(products_of_rows(H, weights), array_namespace(H).sum(weights, axis=0))
    return Sums.of(H.T @ weights, weights.sum(axis=0))


def largest_change(changes: Array, weights: Array | None) -> float:
    """Largest change of a membership of a sample that counts."""
    if weights is not None:
        changes = changes[weights > 0]
    return float(np.abs(changes).max(initial=0.0))


@final
@attrs.frozen(eq=False)
class _StartSums(BlockFunction):
    """Part of the first centres: class sums and sizes of the rows by the nearest seed; a seed has its own label."""

    nearness: NearestMeans
    seeds: Indices
    weights: Array | None

    def __call__(self, rows: slice, H: Array) -> Sums:
        k = len(self.seeds)
        H = as_type(H, np.float64)
        scores = self.nearness.on(H)
        labels = array_namespace(scores).argmax(scores, axis=1)
        inside = np.flatnonzero((self.seeds >= rows.start) & (self.seeds < rows.stop))
        if len(inside):  # a few blocks only: their labels come to the host
            labels = to_host(labels)
            labels = labels if labels.flags.writeable else labels.copy()
            labels[self.seeds[inside] - rows.start] = inside
        weights = None if self.weights is None else self.weights[rows]
        return Sums.of(*class_totals(H, Coded(labels[None, :], Coding.ONEHOT, k, unit_vectors(k), weights)))


def distinct(space: FeatureSpace, k: int, rng: Rng, weights: Array | None = None) -> Indices:
    """k random samples, (k,), no two with equal values unless fewer than k samples are distinct.

    Above one group of rows (`clusterkit.samples.sums.GROUP`) they are looked for among 8 k drawn ones, at least 64.
    """
    most = space.n if space.n <= sums.GROUP else max(64, 8 * k)
    if weights is not None:
        order = draw_weighted(rng, weights, most)
    else:
        order = rng.permutation(space.n) if most == space.n else draw_rows(rng, space.n, most)
    chosen, examined, more = order[:0], 0, k
    while examined < len(order) and len(chosen) < k:
        pool = np.concatenate([chosen, order[examined : examined + more]])
        chosen = pool[np.sort(np.unique(space.rows(pool), axis=0, return_index=True)[1])[:k]]
        # one round is enough unless there are many duplicates
        examined, more = examined + more, 2 * more
    return np.concatenate([chosen, np.setdiff1d(order, chosen)[: k - len(chosen)]])


@final
@attrs.frozen
class FuzzyCMeans(Solver):
    """Minimises ``J = Σ_ij u_ij^φ d_ij`` over memberships u and centres; the scores are the memberships.

    For overlapping clusters, where the degree of membership of a sample matters. d_ij is the squared distance of sample
    i to centre j, and ``Σ_j u_ij = 1``. Two steps alternate: ``u_ij = d_ij^(-1/(φ-1)) / Σ_l d_il^(-1/(φ-1))``, and the
    centres become the means weighted by ``u_ij^φ``. Neither step can raise J. The mathematics is in `FuzzyIterations`
    of fuzzy_cmeans.py.

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
    of the data per iteration. Rows outside memory need none of these arrays: memberships are computed twice.

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
    """

    name: ClassVar[str] = "fuzzy_cmeans"
    synonyms: ClassVar[tuple[str, ...]] = ("cmeans", "c_means", "fcm")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    has_objective: ClassVar[bool] = True

    fuzzifier: float = params.real(2.0, above=1.0)
    tol: float = params.real(1e-5, at_least=0.0)
    max_iter: int = params.integer(300, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        return {FeatureSpace: Path(_features, Scores, passes="anywhere", weighted=True)}


def _features(spec: FuzzyCMeans, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """The mean of all samples and the distances from it: two passes."""
    if not space.in_memory:
        return PassSolver(space, fuzzy_iterations(spec, space, task), weights=task.sample_weight)
    geometry = FeatureMeans.of(space, task.sample_weight)
    return _PreparedFuzzyCMeans(geometry, _iterations(spec, geometry.about, task))


def fuzzy_iterations(spec: FuzzyCMeans, space: FeatureSpace, task: Task) -> FuzzyIterations:
    """The iterations of fuzzy c-means on features as sums; two passes."""
    return _iterations(spec, FeatureGeometry.of(space, task.sample_weight), task)


def _iterations(spec: FuzzyCMeans, about: FeatureGeometry, task: Task) -> FuzzyIterations:
    return FuzzyIterations(about, task.k, spec.fuzzifier, spec.tol, spec.max_iter, task.sample_weight)


@final
@attrs.frozen(eq=False)
class _PreparedFuzzyCMeans(Prepared):
    """Fuzzy c-means of features in memory."""

    geometry: FeatureMeans
    iterations: FuzzyIterations

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        n, k = self.geometry.space.n, self.iterations.k
        if self.geometry.all_equal:
            U, centres = np.full((n, k), 1.0 / k), self.geometry.overall(k)
            status = Status(1, Ending.CONVERGED, ALL_EQUAL, (0.0,))
        else:
            iterations = _FuzzyIterationsInMemory(self.geometry, self.iterations, np.zeros((n, k)), np.empty((n, k)))
            start: Start[tuple[Array, Array]] = Start(0, self._start(rng), keeps_best=False)
            (U, centres), status = solve(iterations, start, self.iterations.max_iter)
        return Scores(U, self.iterations.function(centres), status=status, are_memberships=True)

    def _start(self, rng: Rng) -> Array:
        """First centres, (L, k): k random samples, each replaced by the mean of the samples nearest to it."""
        return self.iterations.begin(self.geometry.space, rng).nearness.centres


@attrs.define(eq=False)
class _FuzzyIterationsInMemory(Iterations[tuple[Array, Array]]):
    """Memberships and the centres they belong to; an iteration writes into the memberships before the last.

    The memberships of the iteration before are there, so that those of a block are computed once and not twice.
    """

    geometry: FeatureMeans
    of: FuzzyIterations
    _U: Array
    _spare: Array

    name = "fuzzy_cmeans"
    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.INTERRUPTED: "interrupted after {n} iterations: the memberships so far are kept"
    }

    def advance(self, active: list[Start[tuple[Array, Array]]]) -> Iterator[Iteration[tuple[Array, Array]]]:
        """Update the memberships, and then the centres, in one pass."""
        [start] = active
        geometry, of, new, old = self.geometry, self.of, self._spare, self._U
        centres = cast("Array", start.state)
        constants = geometry.constants(centres)

        def part(rows: slice, H: Array) -> FuzzySums:
            H = H.astype(np.float64, copy=False)
            scores = geometry.block_scores(H, rows, centres, constants)
            new[rows] = U = memberships(-scores, of.fuzzifier)
            weights = None if of.weights is None else of.weights[rows]
            return of.summed(H, scores, U, weights, largest_change(U - old[rows], weights))

        total = geometry.space.reduce(part)
        change = total.change if start.history else np.inf
        self._U, self._spare = new, old
        start.judge(total.objective)
        settled = change <= of.tol
        detail = tolerance_reached(change) if settled else f", memberships still changed by up to {change:.1e}"
        moved = of.moved(total.sums, centres)
        yield Iteration((new, centres), moved, Ending.SETTLED if settled else None, detail)
