"""Nonnegative matrix factorisation by multiplicative updates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import params
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.errors import InvalidData
from clusterkit.core.outcomes import Outcome, Scores, Status
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.core.transform import Transform

__all__ = ["Nmf"]

# Updates of a new row with the basis fixed: fixed, so that a prediction depends on its own row alone.
FOLD_ITERATIONS = 200


@final
@attrs.frozen
class Nmf(Solver):
    """Minimises ``F = |H - A W'|² / 2``` over nonnegative A (n, k) and W (L, k); the rows of A embed the samples.

    For nonnegative features whose clusters are additive parts. On features `_features` makes one pass over H an
    iteration, O(n L k + (n + L) k²), and holds A and W beside it; streamed features cost one mapping of the data an
    iteration. F never rises in exact arithmetic; it is known to about ``1e-15 |H|²`` and clipped at 0.

    Parameters
    ----------
    max_iter : int, default 500
        Most iterations, each an update of A and then of W.
    tol : float, default 1e-4
        Stop once the root mean square change of the entries of A, and of W, in one iteration is below it. In the
        units of the factors, the square root of those of the features: it depends on scale.
    delta : float, default 1e-12
        Times mean(H): added to numerator and denominator of the updates, which keeps 0/0 out, F monotone and the
        stationary points where they are.
    normalize : bool, default False
        Give the columns of W unit length at the end and A the inverse factors. Changes what k-means on the rows of
        A sees; without it the scale of each column of A is left to chance.

    Raises
    ------
    InvalidData
        If a feature is negative.

    Notes
    -----
    New samples are folded in: W fixed, a fixed number of updates of their own rows from a deterministic start.
    Training rows stopped elsewhere, so predicting them need not give `labels_` (`exact_on_training` is False).
    Negative features of new samples outside the training range act as zero correlations. After Ctrl-C the factors so
    far are kept, once an iteration is complete.

    References
    ----------
    Lee, Seung (2001), Algorithms for non-negative matrix factorization, NIPS 13, eq. (4), row-wise.
    He, Jin, Du, Zhuang, Shi (2014), Clustering in extreme learning machine feature space, Neurocomputing 128,
    algorithm 2 (NMF of ELM features).
    """

    name: ClassVar[str] = "nmf"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    default_labeler: ClassVar[str | None] = "rows_kmeans"
    has_objective: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    max_iter: int = params.integer(500, at_least=1)
    tol: float = params.real(1e-4, at_least=0)
    delta: float = params.real(1e-12, at_least=0)
    normalize: bool = params.flag(False)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features."""
        return {FeatureSpace: Path(_features, Scores)}


def _features(spec: Nmf, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Check the sign, and sum up H once."""
    smallest = space.minimum()
    if smallest < 0:
        raise InvalidData(
            f"solver 'nmf' needs nonnegative features, the smallest is {smallest:.6g}. Feature maps that give "
            "nonnegative ones: 'minmax' (with limits=(0, 1)) and 'elm'; 'rbf' is not applicable, it gives a kernel."
        )
    mean = float(space.adjoint(np.ones((space.n, 1))).sum()) / (space.n * space.width)
    return _Factorisation(spec, space, task.k, mean, float(space.squared_norms().sum()))


@final
@attrs.frozen(eq=False)
class _Factorisation(Prepared):
    """The features with their mean and squared Frobenius norm."""

    spec: Nmf
    space: FeatureSpace
    k: int
    mean: float
    norm: float

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {}

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        assert outcome.status is not None
        return np.array([outcome.status.history[-1]])

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        spec, dtype = self.spec, self.space.dtype
        scale = np.sqrt(self.mean / self.k)
        # 1 - U is never 0, which would be a fixed point of the updates
        A = ((1.0 - rng.random((self.space.n, self.k))) * scale).astype(dtype)
        W = ((1.0 - rng.random((self.space.width, self.k))) * scale).astype(dtype)
        if self.mean == 0.0:
            status = Status(1, True, "all features are zero, and so are the factors", (0.0,))
        else:
            W, status = self._iterate(A, W)
        status = attrs.evolve(status, facts={"exact_on_training": False})
        norms = np.linalg.norm(W.astype(np.float64, copy=False), axis=0)
        if spec.normalize:
            A = (A * norms).astype(dtype, copy=False)
            W = np.divide(W, norms, out=np.zeros_like(W), where=norms > 0)
            norms = (norms > 0).astype(np.float64)
        extend = FoldIn(self.space.transform, W, spec.delta * self.mean, np.arange(self.k))
        return Scores(A, extend, scale=norms, status=status)

    def _iterate(self, A: Array, W: Array) -> tuple[Array, Status]:
        """Update A in place, and W, until they stand still; only the products of one pass over H are used."""
        spec = self.spec
        delta = spec.delta * self.mean
        history: list[float] = []
        converged, reason, interrupted = False, "", False
        try:
            for turn in range(1, spec.max_iter + 1):
                basis = W.astype(np.float64, copy=False)
                update = _RowUpdate(A, basis.T @ basis, delta)
                P = self.space.sweep(W, update)  # H'A with the new A, (L, k)
                moved = _ratio(P, basis @ update.gram, delta) * basis
                W = moved.astype(W.dtype, copy=False)
                new = W.astype(np.float64, copy=False)
                # F from the traces: A W' is never formed
                fit = np.vdot(new.T @ new, update.gram) - 2.0 * np.vdot(new, P)
                history.append(max(0.0, 0.5 * (self.norm + float(fit))))
                change = max(np.sqrt(update.moved / A.size), np.sqrt(np.mean((new - basis) ** 2)))
                tell(Report("nmf", turn, spec.max_iter, history[-1]))
                if change < spec.tol:
                    converged, reason = True, f"tolerance reached: the factors changed by {change:.1e}"
                    break
            else:
                reason = f"max_iter = {spec.max_iter} reached, the factors still changed by {change:.1e}"
        except KeyboardInterrupt:
            # Some rows of A may be one update ahead of the others: still nonnegative, and F no higher than reported.
            if not history:
                raise
            interrupted = True
            reason = f"interrupted after {len(history)} iterations: the factors so far are kept"
        return W, Status(len(history), converged, reason, tuple(history), interrupted=interrupted)


@attrs.define(eq=False)
class _RowUpdate:
    """Updates the rows of A as their block of H W passes by."""

    A: Array
    G: Array
    delta: float
    gram: Array = attrs.field(init=False)
    moved: float = 0.0

    def __attrs_post_init__(self) -> None:
        self.gram = np.zeros_like(self.G)

    def __call__(self, rows: slice, N: Array) -> Array:
        """The new rows; their sums of products and of squared changes are added up on the way."""
        old = self.A[rows].astype(np.float64, copy=False)
        self.A[rows] = new = old * _ratio(N, old @ self.G, self.delta)
        self.gram += new.T @ new
        self.moved += float(np.sum((new - old) ** 2))
        return self.A[rows]


def _ratio(numerator: Array, denominator: Array, delta: float) -> Array:
    """``(N + δ) / (D + δ)``; 0 where δ = 0 and D = 0, where the entry it multiplies is 0 or may as well be."""
    D = denominator + delta
    return np.divide(numerator + delta, D, out=np.zeros_like(D), where=D > 0)


@final
@attrs.frozen(eq=False)
class FoldIn:
    """Rows of A for new samples with W fixed.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    basis : ndarray of shape (L, k)
        W.
    delta : float
        Of the updates, absolute.
    shown : ndarray of int
        Columns of A to return.
    """

    transform: Transform
    basis: Array
    delta: float
    shown: Array

    def __call__(self, Y: Array) -> Array:
        """Rows for Y, (m, d) to (m, k); O(m L k) and then O(m k²) an update."""
        basis = self.basis.astype(np.float64, copy=False)
        G = basis.T @ basis
        A = np.empty((len(Y), len(self.shown)), dtype=self.transform.dtype)
        for rows, H in self.transform.blocks(Y):
            N = np.maximum(H @ self.basis, 0.0).astype(np.float64, copy=False)
            # the best of the rows whose entries are all equal
            start = N.sum(axis=1, keepdims=True) / G.sum() if G.any() else np.zeros((len(N), 1))
            new = np.repeat(start, len(G), axis=1)
            for _ in range(FOLD_ITERATIONS):
                new *= _ratio(N, new @ G, self.delta)
            A[rows] = new[:, self.shown]
        return A

    def columns(self, index: slice) -> FoldIn:
        """The same factors, some columns returned."""
        return attrs.evolve(self, shown=self.shown[index])
