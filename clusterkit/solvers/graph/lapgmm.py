"""Gaussian mixtures whose posteriors are smooth over a neighbour graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core import params
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.outcomes import Outcome, Scores, Status
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.solvers.graph._mixture import Mixture, Posteriors, maximise
from clusterkit.solvers.graph._neighbour_graph import neighbour_pairs
from clusterkit.solvers.graph._smoothing import Smoother

__all__ = ["LapGmm"]

SHRINK, LEAST = 0.9, 1e-4
"""What γ is multiplied by where a turn did not lower the objective, and where that ends."""


@final
@attrs.frozen
class LapGmm(Solver):
    """Minimises ``-Σ_i ln Σ_j π_j N(x_i; μ_j, Σ_j) + λ/2 Σ_il W_il |f_i - f_l|²``; the scores are the posteriors f.

    For elliptic clusters whose borders should run where few neighbours are joined. W joins nearest neighbours. A turn
    of EM: posteriors of the mixture, smoothed over the graph by γ, and the mixture they weight. A turn that does not
    lower the objective is taken back and repeated with 0.9 γ, so accepted objectives fall. O(n d² k) a turn for full
    covariances, the graph O(n² d) once; needs all features in memory.

    Parameters
    ----------
    n_neighbors : int, default 5
        Neighbours of a sample in the graph; two are joined if either is a neighbour of the other.
    weights : {"binary", "heat"}, default "binary"
        W is 1 for joined samples, or ``exp(-|x_i - x_l|² / m)`` with m the mean over all joined pairs.
    lam : float, default 0.1
        λ. With 0 this is EM of the plain mixture.
    gamma : float, default 0.9
        γ < 1, the first share of the neighbours in a smoothed posterior. With 0 this is EM of the plain mixture.
    smoothing : {"step", "fixed_point"}, default "step"
        One step ``F = (1-γ) P + γ D^-1 W P`` from the posteriors P, or the solution of ``F = (1-γ) P + γ D^-1 W F``.
    covariance : {"full", "diag"}, default "full"
        Of the components.
    reg : float, default 1e-6
        Times the mean variance of the features: added to every variance.
    tol : float, default 1e-7
        Stop once the objective falls by less than this times (its absolute value + n).
    max_iter : int, default 100
        Most turns that are accepted.

    Raises
    ------
    InvalidParameter
        If a covariance is singular in spite of `reg`.

    Notes
    -----
    It starts from one run of k-means, each sample wholly in its own cluster. Smoothed posteriors sum to 1 and are not
    negative. Samples without weight to any other keep their posterior. Where all samples are equal every posterior
    is 1/k, and all labels are 0. Everything is computed in float64.

    New samples have no place in the graph: they get the posterior of the mixture. Smoothing may have moved those of
    the training samples, so predicting them need not give `labels_` (``exact_on_training`` is False), except for the
    plain mixture. ``status.facts`` has ``gamma``, its last value, and ``log_likelihood``. After Ctrl-C the last
    accepted turn is kept.

    References
    ----------
    He, Cai, Shao, Bao, Han (2011), Laplacian regularized Gaussian mixture model for data clustering, IEEE
    Transactions on Knowledge and Data Engineering 23(9).
    """

    name: ClassVar[str] = "lapgmm"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    has_objective: ClassVar[bool] = True

    n_neighbors: int = params.integer(5, at_least=1)
    weights: Literal["binary", "heat"] = params.choice("binary", ("binary", "heat"))
    lam: float = params.real(0.1, at_least=0.0)
    gamma: float = params.real(0.9, at_least=0.0, below=1.0)
    smoothing: Literal["step", "fixed_point"] = params.choice("step", ("step", "fixed_point"))
    covariance: Literal["full", "diag"] = params.choice("full", ("full", "diag"))
    reg: float = params.real(1e-6, above=0.0)
    tol: float = params.real(1e-7, at_least=0.0)
    max_iter: int = params.integer(100, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features."""
        return {FeatureSpace: Path(_features, Scores)}


def _features(spec: LapGmm, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """The features, their mean and variance, and the graph where it is needed."""
    H = space.rows().astype(np.float64, copy=False)
    origin = H.mean(axis=0)
    variance = float(np.mean([np.square(column - centre).mean() for column, centre in zip(H.T, origin, strict=True)]))
    rounding = np.finfo(space.dtype).eps * np.abs(H).max(initial=0.0)
    flat = variance <= rounding**2
    smoother = None
    if not flat and spec.lam > 0.0 and spec.gamma > 0.0:
        i, j, squared = neighbour_pairs(H, spec.n_neighbors)
        smoother = Smoother.of(i, j, _weights(squared, spec.weights), space.n)
    resolved = {"n_neighbors": space.n - 1} if smoother and spec.n_neighbors > space.n - 1 else {}
    return _Mixtures(spec, space, task.k, H, origin, variance, flat, smoother, resolved)


def _weights(squared: Array, kind: str) -> Array:
    mean = squared.mean()
    return np.exp(-squared / mean) if kind == "heat" and mean > 0.0 else np.ones(len(squared))


@attrs.frozen(eq=False)
class _Turn:
    """Shares, the mixture they weight, its posteriors, and the objective."""

    F: Array
    mixture: Mixture
    posteriors: Array
    likelihood: float
    objective: float


@final
@attrs.frozen(eq=False)
class _Mixtures(Prepared):
    """The samples and their graph."""

    spec: LapGmm
    space: FeatureSpace
    k: int
    H: Array
    origin: Array
    variance: float
    flat: bool
    smoother: Smoother | None
    resolved_facts: Mapping[str, Any]

    @property
    def resolved(self) -> Mapping[str, Any]:
        return self.resolved_facts

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        assert outcome.status is not None
        return np.array([outcome.status.history[-1]])

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        from clusterkit.numerics.lloyd import kmeans

        n, k = self.space.n, self.k
        if self.flat:
            one = Mixture(self.origin, np.zeros((k, len(self.origin))), np.zeros((k, len(self.origin))), np.zeros(k))
            extend = Posteriors(self.space.transform, one, np.arange(k))
            status = Status(1, True, "all samples are equal, and so are their posteriors", (0.0,))
            return Scores(np.full((n, k), 1.0 / k), extend, status=status)
        seed = int(rng.integers(2**31 - 1))
        labels, _, _ = kmeans(self.H - self.origin, k, n_init=1, max_iter=300, seed=seed)
        return self.fit(labels)

    def fit(self, labels: Labels) -> Scores:
        """EM from a labelling, (n,)."""
        turn, status = self._iterate(self._turn(np.eye(self.k)[labels]))
        extend = Posteriors(self.space.transform, turn.mixture, np.arange(self.k))
        plain = self.smoother is None
        facts = {**status.facts, "log_likelihood": turn.likelihood}
        rows = turn.posteriors if plain else turn.F
        used = len(np.unique(np.argmax(rows, axis=1)))
        empty = None
        if used < self.k:
            empty = (
                f"solver 'lapgmm': {self.k - used} of {self.k} components are nowhere the most likely; fewer clusters, "
                "a smaller lam or another random_state may help"
            )
        status = attrs.evolve(status, facts=facts, empty_clusters=empty, predicts_labels=plain)
        return Scores(rows, extend, status=status)

    def _turn(self, F: Array) -> _Turn:
        """An M step, and the E step that judges it."""
        spec = self.spec
        mixture = maximise(self.H, self.origin, F, spec.reg * self.variance, spec.covariance, "solver 'lapgmm'")
        posteriors, likelihood = mixture.expectation(self.H)
        rough = 0.0 if self.smoother is None else spec.lam * self.smoother.roughness(F)
        return _Turn(F, mixture, posteriors, likelihood, rough - likelihood)

    def _iterate(self, turn: _Turn) -> tuple[_Turn, Status]:
        """Turns that lower the objective, until they hardly do."""
        spec, smoother = self.spec, self.smoother
        gamma = spec.gamma if smoother else 0.0
        history = [turn.objective]
        converged, interrupted = False, False
        reason = f"max_iter = {spec.max_iter} reached"
        try:
            while len(history) <= spec.max_iter:
                P = turn.posteriors
                trial = self._turn(P if smoother is None else smoother(P, gamma, spec.smoothing))
                fall = turn.objective - trial.objective
                if fall < 0.0:
                    gamma *= SHRINK
                    if gamma < LEAST:
                        converged, reason = True, f"no turn lowers the objective {turn.objective:.6g}"
                        break
                    continue
                turn = trial
                history.append(turn.objective)
                tell(Report("lapgmm", len(history) - 1, spec.max_iter, turn.objective))
                if fall <= spec.tol * (abs(turn.objective) + len(P)):
                    converged, reason = True, f"tolerance reached: the objective fell by {fall:.1e}"
                    break
        except KeyboardInterrupt:
            interrupted = True
            reason = f"interrupted after {len(history) - 1} turns: the last one is kept"
        facts = {"gamma": gamma}
        turns = max(1, len(history) - 1)
        return turn, Status(turns, converged, reason, tuple(history), facts, interrupted=interrupted)
