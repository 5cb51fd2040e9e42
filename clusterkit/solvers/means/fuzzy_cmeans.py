"""Fuzzy c-means: memberships in all clusters at once, and the centres they weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.core import params
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.outcomes import Extension, Outcome, Scores, Status
from clusterkit.core.progress import Report, tell
from clusterkit.core.row_graph import Node
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.core.transform import block_plan
from clusterkit.solvers.means._geometry import FeatureMeans, KernelMeans, minus_distances

__all__ = ["FuzzyCMeans", "Memberships", "memberships"]


@final
@attrs.frozen
class FuzzyCMeans(Solver):
    """Minimises ``J = Σ_ij u_ij^φ d_ij`` over memberships u and centres; the scores are the memberships.

    For overlapping clusters, where the degree of membership of a sample matters. d_ij is the squared distance of sample
    i to centre j, and ``Σ_j u_ij = 1``. Two steps alternate: ``u_ij = d_ij^(-1/(φ-1)) / Σ_l d_il^(-1/(φ-1))``, and the
    centres become the means weighted by ``u_ij^φ``. Neither step can raise J. The mathematics is in `memberships`,
    `_FeatureCentres.centres` and `_KernelCentres.centres`.

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
    of the data per iteration. On a kernel the matrix K is kept and the centres are weighted sums of the samples,
    O(n² d) once and O(n² k) per iteration.

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
        return {FeatureSpace: Path(_features, Scores), KernelSpace: Path(_kernel, Scores)}


def _features(spec: FuzzyCMeans, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """The mean of all samples and the distances from it: two passes."""
    return _PreparedFuzzyCMeans(spec, task.k, _FeatureCentres(FeatureMeans.of(space)))


def _kernel(spec: FuzzyCMeans, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The kernel matrix, if the memory cap allows it."""
    return _PreparedFuzzyCMeans(spec, task.k, _KernelCentres(KernelMeans.of(space)))


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
    distances = distances.astype(np.float64, copy=False)
    # relative to the nearest centre: exactly 1 there, at most 1 elsewhere, and 0 beside a distance of 0
    if fuzzifier == 2.0:  # the usual value: a quotient, which cannot overflow
        nearest = distances.min(axis=1, keepdims=True)
        shares = np.divide(nearest, distances, out=np.ones_like(distances), where=distances > 0.0)
    else:
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            logs = np.log(distances)
            shares = np.exp((logs.min(axis=1, keepdims=True) - logs) / (fuzzifier - 1.0))
        shares[distances == 0.0] = 1.0
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


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
            status = Status(1, True, "all samples are equal, and so are their memberships", (0.0,))
        else:
            U, centres, status = self._iterate(self._start(rng))
        extend = Memberships(self.representation.extension(centres), phi, np.arange(self.k))
        return Scores(U, extend, status=status, are_memberships=True)

    def _start(self, rng: Rng) -> Array:
        """First centres: k random samples, each replaced by the mean of the samples nearest to it."""
        geometry = self.representation.geometry
        seeds = _distinct(geometry.space, self.k, rng)
        rows, _ = geometry.scores(geometry.samples(seeds))
        labels = np.argmax(rows, axis=1)
        labels[seeds] = np.arange(self.k)  # no cluster is empty
        coded = Coded(labels[None], Coding.ONEHOT, self.k, np.eye(self.k))
        return geometry.means(coded, coded.sizes()[0])

    def _iterate(self, centres: Array) -> tuple[Array, Array, Status]:
        """Alternate until the memberships no longer change; returns the memberships and the centres they belong to."""
        spec, n, dtype = self.spec, self.representation.geometry.space.n, self.representation.geometry.space.dtype
        U, spare = np.zeros((n, self.k), dtype=dtype), np.empty((n, self.k), dtype=dtype)
        current = centres
        history: list[float] = []
        change = np.inf
        converged, interrupted = False, False
        try:
            for turn in range(1, spec.max_iter + 1):
                update = _MembershipUpdate(spare, U, spec.fuzzifier)
                moved = self.representation.centres(centres, update)
                if turn > 1:
                    change = update.change
                U, spare, current, centres = spare, U, centres, moved
                history.append(update.objective)
                tell(Report("fuzzy_cmeans", turn, spec.max_iter, update.objective))
                if change <= spec.tol:
                    converged = True
                    break
        except KeyboardInterrupt:
            # an unfinished iteration has written to the spare array only
            if not history:
                raise
            interrupted = True
        if interrupted:
            reason = f"interrupted after {len(history)} iterations: the memberships so far are kept"
        elif converged:
            reason = f"tolerance reached: no membership changed by more than {change:.1e}"
        else:
            reason = f"max_iter = {spec.max_iter} reached, memberships still changed by up to {change:.1e}"
        return U, current, Status(len(history), converged, reason, tuple(history), interrupted=interrupted)


@attrs.define(eq=False)
class _MembershipUpdate:
    """Computes the memberships of one iteration block by block and returns the weights for the centres.

    Parameters
    ----------
    new, old : ndarray of shape (n, k)
        Memberships of this iteration, to be written, and of the previous iteration.
    fuzzifier : float
    change : float
        Largest change of a membership so far.
    objective : float
        Objective of the samples so far.
    """

    new: Array
    old: Array
    fuzzifier: float
    change: float = 0.0
    objective: float = 0.0

    def __call__(self, rows: slice, scores: Array) -> Array:
        """Weights ``u^φ`` of some samples, float64, from minus their squared distances."""
        U = memberships(-scores, self.fuzzifier)
        self.new[rows] = U
        self.change = max(self.change, float(np.abs(self.new[rows] - self.old[rows]).max()))
        with np.errstate(under="ignore"):
            weights = U**self.fuzzifier
        self.objective -= float(np.vdot(weights, scores.astype(np.float64, copy=False)))
        return weights


@final
@attrs.frozen(eq=False)
class _FeatureCentres:
    """Fuzzy centres as coordinates about the mean of all samples."""

    geometry: FeatureMeans

    def centres(self, centres: Array, update: Callable[[slice, Array], Array]) -> Array:
        """New centres, (L, k), in one pass."""
        geometry, dtype = self.geometry, self.geometry.space.dtype
        constants, rounding_error = geometry.constants(centres), geometry.rounding_error
        sums = np.zeros(centres.shape[1])

        def visit(rows: slice, products: Array) -> Array:
            scores = minus_distances(products, constants, geometry.radii[rows], rounding_error)
            # in the type of the product below, so that the sums are of the same weights
            weights = update(rows, scores).astype(dtype, copy=False)
            sums[:] += weights.sum(axis=0, dtype=np.float64)
            return weights

        total = geometry.space.sweep(centres, visit)
        means = np.divide(total, sums, out=np.zeros_like(total), where=sums > 0.0) - geometry.origin[:, None]
        return np.where(sums > 0.0, means, centres).astype(dtype, copy=False)

    def extension(self, centres: Array) -> Extension:
        """Minus squared distances of new samples."""
        return self.geometry.extension(centres, self.geometry.constants(centres))


@final
@attrs.frozen(eq=False)
class _KernelCentres:
    """Fuzzy centres as weighted sums of the samples."""

    geometry: KernelMeans

    def centres(self, centres: Array, update: Callable[[slice, Array], Array]) -> Array:
        """New centres, (n, k), by one product with K."""
        space = self.geometry.space
        scores, _ = self.geometry.scores(centres)
        weights = np.empty(centres.shape)
        for rows in block_plan(space.n, centres.shape[1], space.dtype):
            weights[rows] = update(rows, scores[rows])
        sums = weights.sum(axis=0)
        means = np.divide(weights, sums, out=centres.astype(np.float64), where=sums > 0.0)
        return means.astype(space.dtype, copy=False)

    def extension(self, centres: Array) -> Extension:
        """Minus squared distances of new samples; the norms of the centres cost a product with K."""
        return self.geometry.extension(centres, self.geometry.scores(centres)[1])


@final
@attrs.frozen(eq=False)
class Memberships:
    """Memberships of new samples in the clusters of a fit.

    Parameters
    ----------
    nearness : Extension
        Raw rows to minus their squared distances from the centres, (m, d) to (m, k).
    fuzzifier : float
    shown : ndarray of int
        Clusters to return; the memberships in all clusters sum to 1.
    """

    nearness: Extension
    fuzzifier: float
    shown: Indices

    def __call__(self, Y: Array) -> Array:
        """Memberships of raw rows, (m, d) to (m, len(shown)), in the type of the training data."""
        scores = self.nearness(Y)
        U = np.empty((len(scores), len(self.shown)), dtype=scores.dtype)
        for rows in block_plan(len(scores), scores.shape[1], np.float64):
            U[rows] = memberships(-scores[rows], self.fuzzifier)[:, self.shown]
        return U

    def onnx(self, rows: Node) -> Node:
        """Memberships of raw rows."""
        distances = -rows.through(self.nearness)
        on_centre, least = distances.equals(0.0), distances.least()
        if self.fuzzifier == 2.0:
            shares = least / distances
        else:  # 1 stands for a distance of 0, beside which no other centre has a share
            quotients = least.equals(0.0).where(1.0, least) / on_centre.where(1.0, distances)
            shares = least.equals(0.0).where(0.0, (quotients.log() / (self.fuzzifier - 1.0)).exp())
        shares = on_centre.where(1.0, shares)
        return (shares / shares.sum()).columns(self.shown)

    def columns(self, index: slice) -> Memberships:
        """The extension that returns some of the columns."""
        return attrs.evolve(self, shown=self.shown[index])


def _distinct(space: FeatureSpace | KernelSpace, k: int, rng: Rng) -> Indices:
    """k random samples, (k,), no two with equal values unless fewer than k samples are distinct."""
    order = rng.permutation(space.n)
    chosen, examined, more = order[:0], 0, k
    while examined < space.n and len(chosen) < k:
        pool = np.concatenate([chosen, order[examined : examined + more]])
        rows = space.rows(pool) if isinstance(space, FeatureSpace) else space.points[pool]
        chosen = pool[np.sort(np.unique(rows, axis=0, return_index=True)[1])[:k]]
        # one round is enough unless there are many duplicates
        examined, more = examined + more, 2 * more
    return np.concatenate([chosen, np.setdiff1d(order, chosen)[: k - len(chosen)]])
