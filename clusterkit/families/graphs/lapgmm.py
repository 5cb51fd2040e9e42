"""Gaussian mixtures whose posteriors are smooth over a graph of nearest neighbours.

`Mixture` has the two steps of EM in blocks of samples, `Posteriors` those of new samples. `Smoother` smooths posteriors
over the graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.iteration import Iteration, Iterations, Start, solve
from clusterkit.contracts.outcomes import Ending, Outcome, Scores, Status
from clusterkit.errors import InvalidParameter
from clusterkit.families.graphs._neighbour_graph import neighbour_pairs
from clusterkit.numerics.neighbour_graph import symmetric
from clusterkit.numerics.pair_products import PairProducts
from clusterkit.numerics.shapes import array
from clusterkit.numerics.threads import each_block, limited_threads
from clusterkit.samples import FeatureSpace, Space, memory
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.transform import Transform, block_plan

EPS = float(np.finfo(np.float64).eps)
"""Relative rounding error of float64; 10 of it, of a mean row, are added to each share, so that none is 0."""
NEGLIGIBLE = 1e-24
"""Posteriors below this fraction of a component's mean share change no digit of its moments and are skipped."""


@final
@attrs.frozen(eq=False)
class Mixture:
    """A Gaussian mixture in coordinates whose origin is the mean of the samples.

    Parameters
    ----------
    origin : ndarray of shape (d,)
    means : ndarray of shape (k, d)
    factors : ndarray of shape (k, d, d) or (k, d)
        Upper triangular ``U`` with ``covariance^-1 = U U'``; for diagonal covariances the diagonal of U.
    constants : ndarray of shape (k,)
        ``ln π_j + ln det U_j - (d/2) ln 2π``.
    """

    origin: Array = attrs.field(validator=array("d"))
    means: Array = attrs.field(validator=array("k d"))
    factors: Array = attrs.field(validator=array("k d d", "k d"))
    constants: Array = attrs.field(validator=array("k", finite=False))

    def logarithms(self, H: Array) -> Array:
        """``ln π_j N(h; μ_j, Σ_j)``, (m, k), float64, for rows H (m, d)."""
        H = H.astype(np.float64, copy=False) - self.origin
        logs = np.empty((len(H), len(self.means)))
        for j, (mean, factor) in enumerate(zip(self.means, self.factors, strict=True)):
            gaps = (H - mean) @ factor if factor.ndim == 2 else (H - mean) * factor
            logs[:, j] = self.constants[j] - 0.5 * np.einsum("ij,ij->i", gaps, gaps)
        return logs

    def _of_products(self, pairs: PairProducts) -> Array:
        """`logarithms` of rows less the origin, with full factors: one product of matrices for all components."""
        forms = self.factors @ self.factors.transpose(0, 2, 1)
        linear = np.einsum("jab,jb->ja", forms, self.means)
        return pairs.values(forms, linear, self.constants - 0.5 * (linear * self.means).sum(axis=1))

    def posteriors(self, H: Array | PairProducts) -> tuple[Array, Array]:
        """Probabilities of the components, (m, k), and the log-densities of the rows, (m,)."""
        logs = self._of_products(H) if isinstance(H, PairProducts) else self.logarithms(H)
        largest = logs.max(axis=1, keepdims=True)
        logs -= largest
        shares = np.exp(logs, out=logs)
        sums = shares.sum(axis=1, keepdims=True)
        shares /= sums
        return shares, (largest + np.log(sums))[:, 0]

    def expectation(self, H: Array, weights: Array, pairs: PairProducts | None = None) -> tuple[Array, float]:
        """Posteriors of all samples, (n, k), and their log-likelihood, by their products or in blocks of rows."""
        if pairs is not None:
            F, densities = self.posteriors(pairs)
            return F, float((densities * weights).sum())
        F, total = np.empty((len(H), len(self.means))), 0.0
        blocks = ((rows, H[rows]) for rows in block_plan(len(H), H.shape[1], np.float64))
        # a row takes a product with a matrix of every component
        work = len(self.means) * H.shape[1]
        for rows, (shares, densities) in each_block(lambda _, block: self.posteriors(block), blocks, len(H), work):
            F[rows] = shares
            total += float((densities * weights[rows]).sum())
        return F, total


def maximise(
    H: Array,
    origin: Array,
    F: Array,
    floor: float,
    covariance: Literal["full", "tied", "diag"],
    pooling: float,
    stage: str,
    pairs: PairProducts | None = None,
) -> Mixture:
    """M step: the mixture of weighted means and covariances, O(n d² k) for full covariances.

    Parameters
    ----------
    H : ndarray of shape (n, d)
    origin : ndarray of shape (d,)
        Mean of the samples.
    F : ndarray of shape (n, k)
        Share of each component in each sample, times its weight.
    floor : float
        Added to all variances.
    covariance : {"full", "tied", "diag"}
        "tied": one full covariance for all components, the mean of theirs weighted by their shares.
    pooling : float
        Rows that this mean counts for in the covariance of each component.
    stage : str
        Name of the calling stage, for the error.
    pairs : PairProducts, optional
        Of the samples less the origin, for full matrices of few rows.

    Raises
    ------
    InvalidParameter
        If a covariance is singular in spite of the floor.
    """
    k, d = F.shape[1], H.shape[1]
    sizes = F.sum(axis=0)
    shares = sizes + 10.0 * EPS * sizes.sum() / len(F)
    if pairs is None:
        means, spreads = _moments(H, origin, F, shares, is_diagonal=covariance == "diag")
    else:
        first, second = pairs.sums(F)
        means = first / shares[:, None]
        spreads = second / shares[:, None, None] - means[:, :, None] * means[:, None]
    constants = np.log(shares / shares.sum()) - 0.5 * d * math.log(2.0 * math.pi)
    with limited_threads(0):  # of small matrices
        pooled = np.tensordot(shares / shares.sum(), spreads, axes=1)
        if pooling:
            wide = shares.reshape(k, *[1] * (spreads.ndim - 1))
            spreads = (wide * spreads + pooling * pooled) / (wide + pooling)
        if covariance == "diag":
            factors = 1.0 / np.sqrt(spreads + floor)
            logarithms = np.log(factors).sum(axis=1)
        else:
            factors, logarithms = _factors(pooled[None] if covariance == "tied" else spreads, floor, stage)
    return Mixture(origin, means, np.broadcast_to(factors, spreads.shape).copy(), constants + logarithms)


def _moments(H: Array, origin: Array, F: Array, shares: Array, *, is_diagonal: bool) -> tuple[Array, Array]:
    """Weighted means (k, d), and variances (k, d) or covariances (k, d, d), in blocks of the rows that count."""
    (n, d), k = H.shape, F.shape[1]
    means, spreads = np.zeros((k, d)), np.zeros((k, d) if is_diagonal else (k, d, d))

    def moments(j: int, share: Array) -> None:
        """Write the mean and the spread of a component."""
        members = np.flatnonzero(share > NEGLIGIBLE * shares[j] / n)
        weights = share[members] / shares[j]
        plan = block_plan(len(members), d, np.float64)
        for rows in plan:
            means[j] += weights[rows] @ (H[members[rows]] - origin)
        for rows in plan:
            gaps = (H[members[rows]] - origin - means[j]) * np.sqrt(weights[rows])[:, None]
            spreads[j] += np.einsum("ij,ij->j", gaps, gaps) if is_diagonal else gaps.T @ gaps

    for _ in each_block(moments, ((j, F[:, j]) for j in range(k)), n, d * k):
        pass
    return means, spreads


def _factors(covariances: Array, floor: float, stage: str) -> tuple[Array, Array]:
    """Upper triangular ``U`` with ``(covariance + floor I)^-1 = U U'``, (b, d, d), and ``ln det U``, (b,)."""
    from scipy.linalg.lapack import dtrtrs

    identity = np.eye(covariances.shape[1])
    try:
        lower = np.asarray_chkfinite(np.linalg.cholesky(covariances + floor * identity))
    except np.linalg.LinAlgError:
        raise InvalidParameter(
            f"{stage}: the covariance of a component is singular for covariance_floor = {floor:.3g} in the "
            "units of the features; raise covariance_floor, use covariance='diag', or map to fewer features first"
        ) from None
    factors = np.empty_like(lower)
    for factor, triangle in zip(factors, lower, strict=True):
        # LAPACK itself: with few columns the checks of solve_triangular took ten times as long as the solution
        factor[:] = dtrtrs(triangle.T, identity, lower=0, trans=1)[0].T
    return factors, -np.log(np.ascontiguousarray(np.diagonal(lower, axis1=1, axis2=2))).sum(axis=1)


@final
@attrs.frozen(eq=False)
class Posteriors:
    """Probabilities of the components for new samples.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    mixture : Mixture
    are_logarithms : bool
        Whether they are logarithms, up to a constant of the row: where probabilities are 0 and 1, these still differ.
    """

    saved_schema: ClassVar[int] = 2

    transform: Transform
    mixture: Mixture
    are_logarithms: bool = False

    @classmethod
    def migrated(cls, fields: Mapping[str, object], schema: int) -> Mapping[str, object]:
        """Fields of files with `shown`, the components to return."""
        present: dict[str, Any] = dict(fields)
        shown = present.pop("shown")
        if not np.array_equal(shown, np.arange(len(present["mixture"].means))):
            present["mixture"] = cls(**present).columns(shown).mixture
        return present

    def __call__(self, Y: Array) -> Array:
        """Posteriors of raw rows, (m, d) to (m, k), float64."""
        return self.on(self.transform(Y))

    def on(self, H: Array) -> Array:
        """Posteriors of rows of features, (m, d) to (m, k), float64."""
        return self.mixture.logarithms(H) if self.are_logarithms else self.mixture.expectation(H, np.ones(len(H)))[0]

    @property
    def logarithms(self) -> Posteriors:
        """The logarithms, by which balancers price labels."""
        return attrs.evolve(self, are_logarithms=True)

    def terms(self, Y: Array) -> Array | None:
        """Logarithms of the shares and densities of rows by column, (m, d + 1, k); None for other coordinates.

        The quadratic form ``z' P z`` of a covariance has the terms ``z_j (P z)_j``; determinants are of no column.
        """
        H, U = self.transform(Y), self.mixture.factors
        if not self.transform.scales or H.shape != Y.shape:
            return None
        Z = H - self.means[:, None]
        squares = np.square(Z * U[:, None]) if U.ndim == 2 else Z * (Z @ U @ U.transpose(0, 2, 1))
        last = np.broadcast_to(self.mixture.constants, (len(H), 1, len(U)))
        return np.concatenate([-0.5 * squares.transpose(1, 2, 0), last], axis=1)

    @property
    def means(self) -> Array:
        """The means of the components as features, (k, L)."""
        return self.mixture.means + self.mixture.origin

    def columns(self, index: slice | Indices) -> Posteriors:
        """Posteriors of some of the components, which sum to 1 among these."""
        means, factors, constants = (
            each[index] for each in (self.mixture.means, self.mixture.factors, self.mixture.constants)
        )
        return attrs.evolve(self, mixture=Mixture(self.mixture.origin, means, factors, constants))


@final
@attrs.frozen(eq=False)
class Smoother:
    """Averages posteriors over the neighbours in a graph.

    Parameters
    ----------
    W : scipy sparse array, (n, n)
        Symmetric weights with an empty diagonal.
    degrees : ndarray of shape (n,)
        Row sums; samples of degree 0 keep their posteriors.
    pairs : tuple of ndarray
        Rows, columns and weights above the diagonal.
    """

    W: Any
    degrees: Array
    pairs: tuple[Indices, Indices, Array]

    @classmethod
    def of(cls, i: Indices, j: Indices, weights: Array, n: int) -> Smoother:
        """The graph of some pairs; weights below the smallest normal number count as 0."""
        normal = weights >= np.finfo(np.float64).tiny
        W = symmetric(i[normal], j[normal], weights[normal], n)
        entries = W.tocoo()
        above = entries.row < entries.col
        pairs = entries.row[above], entries.col[above], entries.data[above]
        return cls(W, np.asarray(W.sum(axis=1)).reshape(-1), pairs)

    def __call__(self, P: Array, gamma: float) -> Array:
        """``(1-γ) P + γ D^-1 W P``, (n, k); samples without neighbours keep their row of P. O(edges k)."""
        isolated = self.degrees == 0.0
        averages = (self.W @ P) / np.where(isolated, 1.0, self.degrees)[:, None]
        averages[isolated] = P[isolated]
        return (1.0 - gamma) * P + gamma * averages

    def roughness(self, F: Array) -> float:
        """``1/2 Σ_il W_il |f_i - f_l|²``, summed over pairs, so that a constant F gives exactly 0."""
        i, j, weights = self.pairs
        total = 0.0
        for column in F.T:
            total += float(weights @ np.square(column[i] - column[j]))
        return total


SHRINK = 0.9
"""Factor by which γ is multiplied after an iteration that did not lower the objective, as published."""
SMALLEST_GAMMA = 1e-4
"""Value of γ below which the fit ends, because smoothing no longer changes the posteriors noticeably."""

TABLES = {"full": (6, 3), "tied": (3, 6)}
"""Tables of d x d numbers that an iteration has at once, of each component and of all together."""


@final
@attrs.frozen
class LapGmm(Solver):
    """Minimises ``-Σ_i ln Σ_j π_j N(x_i; μ_j, Σ_j) + λ/2 Σ_il W_il |f_i - f_l|²``; the scores are the posteriors f.

    For elliptic clusters whose borders should run through regions with few neighbours. W joins nearest neighbours. An
    iteration of EM computes the posteriors of the mixture, smooths them over the graph by γ, and fits the mixture to
    the smoothed posteriors. An iteration that does not lower the objective is undone and repeated with 0.9 γ, so
    accepted objectives fall; the scores are memberships. O(n d² k) per iteration for full covariances, O(n² d) once
    for the graph; all features are kept in memory. An iteration is `_LapGmmIterations.advance`, its steps are
    beside it in lapgmm.py.

    Parameters
    ----------
    n_neighbors : int, default 5
        Number of neighbours in the graph; two samples are joined if either is a neighbour of the other.
    smoothness : float, default 0.1
        λ, the weight of the differences between neighbours. With 0 the method is EM of the plain mixture.
    gamma : float, default 0.9
        γ < 1, the initial share of the neighbours in smoothed posteriors ``F = (1-γ) P + γ D^-1 W P``. With 0 the
        method is EM of the plain mixture.
    covariance : {"full", "tied", "diag"}, default "full"
        Form of the covariance matrices of the components; "tied" is one full matrix for all of them.
    covariance_floor : float, default 1e-6
        This times the mean variance of the features is added to every variance.
    covariance_pooling : float, default 0
        The mean covariance of the components, weighted by their shares, counts as this times d + 2 rows in the
        covariance of each. It keeps a component of few rows from becoming thin, and one from growing wide across
        several clusters.
    tol : float, default 1e-7
        Stop when the objective falls by less than this times (its absolute value + the sum of the weights).
    max_iter : int, default 100
        Maximum number of accepted iterations.

    Raises
    ------
    InvalidParameter
        If a covariance is singular in spite of `covariance_floor`.
    NeedsMemory
        If the covariances do not fit under the memory cap.

    Notes
    -----
    The fit starts from the labels of one run of k-means. Smoothed posteriors are nonnegative and sum to 1. Samples
    without a weight to any other sample keep their posteriors. If all samples are equal, every posterior is 1/k, and
    all labels are 0. All computations are in float64. With `covariance_pooling` a step of the mixture need not raise
    the likelihood; the fit ends before the first that does not lower the objective.

    New samples are not in the graph; their scores are the posteriors of the mixture. Because smoothing may have changed
    the posteriors of the training samples, predicting the training samples need not give `labels_`
    (``exact_on_training`` is False), except for the plain mixture. ``status.facts`` contains ``gamma``, the last value
    of γ, and ``log_likelihood``. After Ctrl-C the last accepted iteration is kept.

    References
    ----------
    He, Cai, Shao, Bao, Han (2011), Laplacian regularized Gaussian mixture model for data clustering, IEEE
    Transactions on Knowledge and Data Engineering 23(9). Friedman (1989), Regularized discriminant analysis, Journal of
    the American Statistical Association 84, equation 16, for the pooling of covariances.
    """

    name: ClassVar[str] = "lapgmm"
    synonyms: ClassVar[tuple[str, ...]] = ("gmm", "gaussian_mixture", "em")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    has_objective: ClassVar[bool] = True

    n_neighbors: int = params.integer(5, at_least=1)
    smoothness: float = params.real(0.1, at_least=0.0)
    gamma: float = params.real(0.9, at_least=0.0, below=1.0)
    covariance: Literal["full", "tied", "diag"] = params.choice("full", ("full", "tied", "diag"))
    covariance_floor: float = params.real(1e-6, above=0.0)
    covariance_pooling: float = params.real(0.0, at_least=0.0)
    tol: float = params.real(1e-7, at_least=0.0)
    max_iter: int = params.integer(100, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        is_plain = not (self.smoothness and self.gamma)
        return {FeatureSpace: Path(_features, Scores, weighted=is_plain)}


def _features(spec: LapGmm, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """The features, their mean and variance, and the graph if it has an effect."""
    d, k = space.width, task.k
    if spec.covariance != "diag":
        of_each, of_all = TABLES[spec.covariance]
        memory.require(
            8 * d * d * (of_each * k + of_all),
            f"the {d} x {d} covariance matrices of {k} components, {spec.covariance} ones, with their factors,",
            "Use solver__covariance='diag', or fewer attributes by featuremap 'pca'.",
        )
    H = space.rows().astype(np.float64, copy=False)
    weights = np.ones(len(H)) if task.sample_weight is None else task.sample_weight
    if not weights.all():  # the others get posteriors at the end, and are nowhere else
        H, weights = H[weights > 0.0], weights[weights > 0.0]
    origin = np.average(H, axis=0, weights=weights)
    squares = (np.square(column - centre) for column, centre in zip(H.T, origin, strict=True))
    variance = float(np.mean([np.average(of_column, weights=weights) for of_column in squares]))
    rounding = np.finfo(space.dtype).eps * np.abs(H).max(initial=0.0)
    all_equal = variance <= rounding**2
    smoother = None
    if not all_equal and spec.smoothness > 0.0 and spec.gamma > 0.0:
        i, j, _ = neighbour_pairs(H, spec.n_neighbors)
        smoother = Smoother.of(i, j, np.ones(len(i)), space.n)
    resolved = {"n_neighbors": space.n - 1} if smoother and spec.n_neighbors > space.n - 1 else {}
    pairs = PairProducts(H - origin)
    return _PreparedLapGmm(
        spec, space, task.k, H, weights, origin, variance, all_equal, smoother, resolved,
        pairs if spec.covariance != "diag" and pairs.are_kept else None,
    )  # fmt: skip


@attrs.frozen(eq=False)
class _Iterate:
    """One iterate of EM.

    Parameters
    ----------
    F : ndarray of shape (n, k)
        Smoothed posteriors, which weight the samples.
    mixture : Mixture
        The mixture fitted with these weights.
    posteriors : ndarray of shape (n, k)
        Posteriors of this mixture.
    likelihood : float
        Logarithm of its likelihood.
    objective : float
    """

    F: Array
    mixture: Mixture
    posteriors: Array
    likelihood: float
    objective: float


@final
@attrs.frozen(eq=False)
class _PreparedLapGmm(Prepared):
    """The samples that count, their graph, and EM on them."""

    spec: LapGmm
    space: FeatureSpace
    k: int
    H: Array
    weights: Array
    origin: Array
    variance: float
    all_equal: bool
    smoother: Smoother | None
    resolved: Mapping[str, Any]
    pairs: PairProducts | None

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        from clusterkit.numerics.lloyd import kmeans

        n, k = self.space.n, self.k
        if self.all_equal:
            zeros = np.zeros((k, len(self.origin)))
            extend = Posteriors(self.space.transform, Mixture(self.origin, zeros, zeros, np.zeros(k)))
            status = Status(1, Ending.CONVERGED, "all samples are equal, and so are their posteriors", (0.0,))
            return Scores(np.full((n, k), 1.0 / k), extend, status=status, are_memberships=True)
        seed = int(rng.integers(2**31 - 1))
        labels, _, _ = kmeans(self.H - self.origin, k, n_init=1, max_iter=300, seed=seed, weights=self.weights)
        return self.fit(labels)

    def fit(self, labels: Labels) -> Scores:
        """EM from a labelling, (n,)."""
        plain = self.smoother is None
        iterations, first = (
            _LapGmmIterations(self, 0.0 if plain else self.spec.gamma),
            self.step(np.eye(self.k)[labels]),
        )
        start = Start(0, first, keeps_best=False, answer=first, history=[first.objective])
        last, status = solve(iterations, start, self.spec.max_iter)
        extend = Posteriors(self.space.transform, last.mixture)
        facts = {"gamma": iterations.gamma, "log_likelihood": last.likelihood}
        # by rows, not by products, so that equal new samples have equal bits
        rows = extend.on(self.space.rows()) if plain else last.F
        used = len(np.unique(np.argmax(rows, axis=1)))
        empty = None
        if used < self.k:
            empty = (
                f"solver 'lapgmm': {self.k - used} of {self.k} components are nowhere the most likely; fewer clusters, "
                "a smaller smoothness or another random_state may help"
            )
        n_iter = max(1, status.n_iter)
        status = attrs.evolve(status, n_iter=n_iter, facts=facts, empty_clusters=empty, predicts_labels=plain)
        return Scores(rows, extend, status=status, are_memberships=True)

    def step(self, F: Array) -> _Iterate:
        """The M step with the weights F, and the E step that gives its objective."""
        spec = self.spec
        floor = spec.covariance_floor * self.variance
        pooling = spec.covariance_pooling * (self.H.shape[1] + 2)
        F = F * self.weights[:, None]
        mixture = maximise(self.H, self.origin, F, floor, spec.covariance, pooling, "solver 'lapgmm'", self.pairs)
        posteriors, likelihood = mixture.expectation(self.H, self.weights, self.pairs)
        roughness = 0.0 if self.smoother is None else spec.smoothness * self.smoother.roughness(F)
        return _Iterate(F, mixture, posteriors, likelihood, roughness - likelihood)


@attrs.define(eq=False)
class _LapGmmIterations(Iterations[_Iterate]):
    """Iterations that lower the objective; those that do not are undone, and lower γ, the share of the neighbours."""

    of: _PreparedLapGmm
    gamma: float

    name = "lapgmm"
    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.CONVERGED: "no iteration lowers the objective {detail}",
        Ending.SETTLED: "tolerance reached: the objective fell by {detail}",
        Ending.INTERRUPTED: "interrupted after {n} iterations: the last one is kept",
        Ending.OUT_OF_ITERATIONS: "max_iter = {most} reached",
    }

    def advance(self, active: list[Start[_Iterate]]) -> Iterator[Iteration[_Iterate]]:
        """One iteration, tried until γ is so small that smoothing changes nothing."""
        [start] = active
        spec, smoother = self.of.spec, self.of.smoother
        current = cast("_Iterate", start.state)
        P = current.posteriors
        while True:
            candidate = self.of.step(P if smoother is None else smoother(P, self.gamma))
            decrease = current.objective - candidate.objective
            if not decrease < 0.0:
                break
            self.gamma *= SHRINK
            if self.gamma < SMALLEST_GAMMA:
                yield Iteration(current, current, Ending.CONVERGED, f"{current.objective:.6g}")
                return
        start.judge(candidate.objective)
        settled = decrease <= spec.tol * (abs(candidate.objective) + self.of.weights.sum())
        yield Iteration(candidate, candidate, Ending.SETTLED if settled else None, f"{decrease:.1e}")
