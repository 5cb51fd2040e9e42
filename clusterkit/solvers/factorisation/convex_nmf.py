"""Convex nonnegative matrix factorisation: the basis is made of weighted sums of samples, known through a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import params
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.outcomes import KernelRows, Outcome, Scores, Status
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.solvers.factorisation._passes import (
    FoldIn,
    Rule,
    blocks_of,
    inner,
    nonnegative_kernel,
    thin_product,
    workers,
)

__all__ = ["ConvexNmf"]


@final
@attrs.frozen
class ConvexNmf(Solver):
    """Minimises ``F = |Φ - R (A'Φ)|² / 2`` over nonnegative R and A (n, k), for samples Φ in a kernel's space.

    The k basis vectors ``A'Φ`` are nonnegative sums of samples, so they lie where the samples are, whatever the space;
    the rows of R embed the samples. Unlike `nmf` of the kernel matrix F is the error in feature space:
    ``2 F = tr (I - R A') K (I - A R')``. On a kernel `_kernel` keeps K, O(n² d) once and two products with it, O(n² k),
    an iteration.

    Parameters
    ----------
    max_iter : int, default 500
        Most iterations, each an update of R and then of A.
    tol : float, default 1e-3
        Stop once R, and A, changed in one iteration by less than this, relative to their Frobenius norm.
    delta : float, default 1e-12
        Times mean(K): added to numerator and denominator of the updates, which keeps 0/0 out, F monotone and the
        stationary points where they are.

    Raises
    ------
    InvalidData
        If a kernel value is negative.

    Notes
    -----
    ``R <- R ∘ (K A + δ) / (R A'K A + δ)``, then ``A <- A ∘ (K R + δ) / (K A R'R + δ)``. Neither update can raise F,
    which is known to about ``1e-15 tr K``. It starts from random factors, scaled to the best product of their shape.
    New samples are folded in: A fixed, a fixed number of updates of their own rows from a deterministic start.
    Training rows stopped elsewhere, so predicting them need not give `labels_` (`exact_on_training` is False). After
    Ctrl-C the factors of the last complete iteration are kept.

    References
    ----------
    Ding, Li, Jordan (2010), Convex and semi-nonnegative matrix factorizations, IEEE Transactions on Pattern Analysis
    and Machine Intelligence 32(1), section 5 (kernel form) with ``K⁻ = 0``; there the updates have a square root,
    which a nonnegative kernel does not need: Lee, Seung (2001), NIPS 13.
    """

    name: ClassVar[str] = "convex_nmf"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    default_labeler: ClassVar[str | None] = "rows_kmeans"
    has_objective: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    max_iter: int = params.integer(500, at_least=1)
    tol: float = params.real(1e-3, at_least=0)
    delta: float = params.real(1e-12, at_least=0)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels."""
        return {KernelSpace: Path(_kernel, Scores, sparse=True, square=True)}


def _kernel(spec: ConvexNmf, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The kernel matrix, if the memory cap allows it and no value is negative."""
    return _Convex(spec, space, task.k, nonnegative_kernel("convex_nmf", space))


@final
@attrs.define(eq=False)
class _Factors:
    """R and A with what the updates need of A."""

    R: Array
    A: Array
    KA: Array
    AKA: Array


@final
@attrs.frozen(eq=False)
class _Convex(Prepared):
    """The kernel matrix."""

    spec: ConvexNmf
    space: KernelSpace
    k: int
    K: Array

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {}

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        assert outcome.status is not None
        return np.array([outcome.status.history[-1]])

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        n, k, dtype = self.space.n, self.k, self.space.dtype
        mean = float(self.K.mean(dtype=np.float64))
        rule = Rule("multiplicative", delta=self.spec.delta * mean)
        # 1 - U is never 0, which would be a fixed point of the updates
        R, A = 1.0 - rng.random((n, k)), 1.0 - rng.random((n, k))
        if mean == 0.0:
            factors = _Factors(np.zeros((n, k)), A, np.zeros((n, k)), np.zeros((k, k)))
            status = Status(1, True, "all kernel values are zero, and so are the rows", (0.0,))
        else:
            factors, status = self._iterate(R, A, rule)
        status = attrs.evolve(status, predicts_labels=False)
        space = self.space
        products = KernelRows(space.coordinates, space.points, space.kernel, factors.A)
        extend = FoldIn(products, factors.AKA, rule, dtype, np.arange(k))
        lengths = np.sqrt(np.maximum(np.diag(factors.AKA), 0.0))
        return Scores(factors.R.astype(dtype), extend, scale=lengths, status=status)

    def _iterate(self, R: Array, A: Array, rule: Rule) -> tuple[_Factors, Status]:
        """Alternate until the factors stand still."""
        spec, trace = self.spec, float(self.K.trace(dtype=np.float64))
        blocks, pool = blocks_of(self.K), workers(len(R), len(R), self.k)
        # contracted K A in the type of K: its rounding is that of K itself
        thin = np.empty((len(R), self.k), dtype=self.K.dtype)

        def times(M: Array) -> Array:
            return np.array(thin_product(blocks, M, thin, pool), dtype=np.float64)

        history: list[float] = []
        converged, reason, interrupted = False, "", False
        with nullcontext() if pool is None else pool:
            KA = times(A)
            # the best multiple of the random product
            A *= (factor := inner(R, KA) / max(inner(A.T @ KA, R.T @ R), np.finfo(np.float64).tiny))
            now = _Factors(R, A, KA * factor, A.T @ KA * factor)
            try:
                for turn in range(1, spec.max_iter + 1):
                    R = now.R.copy()
                    changes = [rule.advance(R, now.KA, now.AKA) / inner(R, R)]
                    RR, KR = R.T @ R, times(R)
                    A = now.A * _ratio(KR, now.KA @ RR, rule.delta)
                    changes.append(inner(A - now.A, A - now.A) / inner(A, A))
                    KA = times(A)
                    now = _Factors(R, A, KA, A.T @ KA)
                    history.append(max(0.0, 0.5 * (trace - 2.0 * inner(R, KA) + inner(now.AKA, RR))))
                    change = float(np.sqrt(max(changes)))
                    tell(Report("convex_nmf", turn, spec.max_iter, history[-1]))
                    if change < spec.tol:
                        converged, reason = True, f"tolerance reached: the factors changed by {change:.1e}, relative"
                        break
                else:
                    reason = f"max_iter = {spec.max_iter} reached, the factors still changed by {change:.1e}, relative"
            except KeyboardInterrupt:
                if not history:
                    raise
                interrupted = True
                reason = f"interrupted after {len(history)} iterations: the factors so far are kept"
        return now, Status(len(history), converged, reason, tuple(history), interrupted=interrupted)


def _ratio(numerator: Array, denominator: Array, delta: float) -> Array:
    """``(N + δ) / (D + δ)``; 0 where δ = 0 and D = 0, where the entry it multiplies is 0 or may as well be."""
    D = denominator + delta
    return np.divide(numerator + delta, D, out=np.zeros_like(D), where=D > 0)
