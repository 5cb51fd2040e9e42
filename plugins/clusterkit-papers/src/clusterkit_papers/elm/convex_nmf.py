"""Convex nonnegative matrix factorisation: the basis vectors are weighted sums of samples known through a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.iteration import Iteration, Iterations, Start, solve
from clusterkit.contracts.outcomes import Ending, KernelRows, Outcome, Scores, Status
from clusterkit.families.factors.updates import (
    FoldIn,
    RowUpdate,
    average_equal_rows,
    inner,
    lowered,
    nonnegative_kernel,
)
from clusterkit.numerics.selection import sets_of_equal_rows
from clusterkit.samples import KernelSpace, Space
from clusterkit.samples.coding import Coded, Coding

__all__ = ["ConvexNmf"]


@final
@attrs.frozen
class ConvexNmf(Solver):
    """Minimises ``F = |Φ - R (A'Φ)|² / 2`` over nonnegative R and A (n, k), for samples Φ in a kernel's space.

    The k basis vectors ``A'Φ`` are nonnegative sums of samples, so they lie among the samples in every space; the rows
    of R embed the samples. Unlike in `nmf` of the kernel matrix, F is the error in feature space:
    ``2 F = tr (I - R A') K (I - A R')``. The matrix K is kept, O(n² d) once, and an iteration takes two products with
    it, O(n² k). An iteration is `_ConvexIterations.advance`.

    Parameters
    ----------
    max_iter : int, default 500
        Maximum number of iterations, each an update of R and then of A.
    tol : float, default 1e-3
        Stop when R and A both changed by less than this in one iteration, relative to their Frobenius norms.
    delta : float, default 1e-12
        This times mean(K) is added to numerator and denominator of the updates. It prevents 0/0, keeps F monotone and
        does not move the stationary points.

    Raises
    ------
    InvalidData
        If a kernel value is negative.

    Notes
    -----
    ``R <- R ∘ (K A + δ) / (R A'K A + δ)``, then ``A <- A ∘ (K R + δ) / (K A R'R + δ)``. Neither update can raise F,
    which is computed to about ``1e-15 tr K``. The start is a pair of random factors, scaled to the best multiple of
    their product. Equal samples get the mean of their rows of R at the end, so that they share a label. New samples are
    folded in: with A fixed, their rows get a fixed number of updates from a deterministic start. The rows of the
    training samples ended elsewhere, so predicting the training samples need not give `labels_` (`exact_on_training` is
    False). After Ctrl-C the factors of the last complete iteration are kept.

    References
    ----------
    Ding, Li, Jordan (2010), Convex and semi-nonnegative matrix factorizations, IEEE Transactions on Pattern Analysis
    and Machine Intelligence 32(1), section 5 (kernel form) with ``K⁻ = 0``; there the updates have a square root,
    which a nonnegative kernel does not need: Lee, Seung (2001), NIPS 13.
    """

    name: ClassVar[str] = "convex_nmf"
    synonyms: ClassVar[tuple[str, ...]] = ("kernel_nmf", "semi_nmf")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    default_labeler: ClassVar[str | None] = "rows_kmeans"
    has_objective: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    max_iter: int = params.integer(500, at_least=1)
    tol: float = params.real(1e-3, at_least=0)
    delta: float = params.real(1e-12, at_least=0)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        return {KernelSpace: Path(_kernel, Scores, sparse=True, square=True)}


def _kernel(spec: ConvexNmf, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The kernel matrix, if the memory cap allows it and no value is negative."""
    K = nonnegative_kernel("convex_nmf", space)
    return _PreparedConvexNmf(spec, space, task.k, K, sets_of_equal_rows(space.points))


@final
@attrs.define(eq=False)
class _ConvexFactors:
    """The factors R and A, and the products ``K A`` and ``A'K A`` that the next update of R needs."""

    R: Array
    A: Array
    KA: Array
    AKA: Array


@final
@attrs.frozen(eq=False)
class _PreparedConvexNmf(Prepared):
    """Convex NMF of a kernel matrix, with the sets of equal samples, if any are."""

    spec: ConvexNmf
    space: KernelSpace
    k: int
    K: Array
    sets: Indices | None

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {}

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        assert outcome.status is not None
        return np.array([outcome.status.history[-1]])

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        n, k, dtype = self.space.n, self.k, self.space.dtype
        mean = float(self.K.mean(dtype=np.float64))
        update = RowUpdate("multiplicative", delta=self.spec.delta * mean)
        # 1 - U is never 0, which would be a fixed point of the updates
        R, A = 1.0 - rng.random((n, k)), 1.0 - rng.random((n, k))
        if mean == 0.0:
            factors = _ConvexFactors(np.zeros((n, k)), A, np.zeros((n, k)), np.zeros((k, k)))
            status = Status(1, Ending.CONVERGED, "all kernel values are zero, and so are the rows", (0.0,))
        else:
            factors, status = self._iterate(R, A, update)
            status = lowered(status, average_equal_rows(factors.R, self.sets, factors.AKA))
        status = attrs.evolve(status, predicts_labels=False)
        space = self.space
        products = KernelRows(space.coordinates, space.points, space.kernel, factors.A)
        extend = FoldIn(products, factors.AKA, update, dtype, np.arange(k))
        lengths = np.sqrt(np.maximum(np.diag(factors.AKA), 0.0))
        return Scores(factors.R.astype(dtype), extend, scale=lengths, status=status)

    def _iterate(self, R: Array, A: Array, update: RowUpdate) -> tuple[_ConvexFactors, Status]:
        """Alternate until the factors no longer change."""
        KA = self.K @ A
        # scale A so that the random product has the smallest error
        factor = inner(R, KA) / max(inner(A.T @ KA, R.T @ R), np.finfo(np.float64).tiny)
        A *= factor
        first = _ConvexFactors(R, A, KA * factor, A.T @ KA * factor)
        iterations = _ConvexIterations(self.K, update, float(self.K.trace(dtype=np.float64)), self.spec.tol)
        return solve(iterations, Start(0, first, keeps_best=False), self.spec.max_iter)


@attrs.frozen(eq=False)
class _ConvexIterations(Iterations[_ConvexFactors]):
    """Updates of R and A from the products that the update before has left."""

    K: Array
    update: RowUpdate
    trace: float
    tol: float

    name = "convex_nmf"
    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.SETTLED: "tolerance reached: the factors changed by {detail}, relative",
        Ending.INTERRUPTED: "interrupted after {n} iterations: the factors so far are kept",
        Ending.OUT_OF_ITERATIONS: "max_iter = {most} reached, the factors still changed by {detail}, relative",
    }

    def advance(self, active: list[Start[_ConvexFactors]]) -> Iterator[Iteration[_ConvexFactors]]:
        """One iteration."""
        [start] = active
        current = cast("_ConvexFactors", start.state)
        R = current.R.copy()
        changes = [self.update.advance(R, current.KA, current.AKA) / inner(R, R)]
        RR, KR = R.T @ R, self.K @ R
        A = current.A * _ratio(KR, current.KA @ RR, self.update.delta)
        changes.append(inner(A - current.A, A - current.A) / inner(A, A))
        KA = self.K @ A
        current = _ConvexFactors(R, A, KA, A.T @ KA)
        start.judge(max(0.0, 0.5 * (self.trace - 2.0 * inner(R, KA) + inner(current.AKA, RR))))
        change = float(np.sqrt(max(changes)))
        yield Iteration(current, current, Ending.SETTLED if change < self.tol else None, f"{change:.1e}")


def _ratio(numerator: Array, denominator: Array, delta: float) -> Array:
    """``(N + δ) / (D + δ)``, and 0 where δ = D = 0: the entry it multiplies is 0 there, or may be set to 0."""
    D = denominator + delta
    return np.divide(numerator + delta, D, out=np.zeros_like(D), where=D > 0)
