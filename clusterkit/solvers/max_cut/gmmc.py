"""Generalised maximum margin clustering: two clusters by a semidefinite program, with a bound on the optimum."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import memory, params
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import KernelRows, Outcome, Scores, Status
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task

if TYPE_CHECKING:
    from clusterkit.solvers.max_cut._low_rank import MaxCut, Solution

__all__ = ["Gmmc", "Margin"]

INTERIOR_ROWS = 1000
MATRICES = {"interior": 12, "descent": 5}
"""n x n matrices of 8 bytes at a time."""
ITERATIONS = {"interior": 100, "descent": 3000}
NEAR_TIE = 1e-3


@final
@attrs.frozen
class Gmmc(Solver):
    """The function of largest margin over all labellings into two, its labels relaxed to a semidefinite matrix.

    For two clusters of some similarity in size, with a separation that a kernel sees, up to one or two thousand
    samples. Nothing depends on a start: the problem is convex, and how far from its optimum the fit ended is known.

    The margins ``f_i`` of a function with free offset minimise ``f'S f`` over ``f_i² >= 1``; ``S - C_e ee'`` is the
    pseudo-inverse of the centred kernel matrix plus ``delta``. With ``W`` for ``ff'`` this is
    ``min <S, W>`` over ``W ⪰ 0``, ``W_ii >= 1``, the program of maximum cuts. The score is the leading vector of W.

    Parameters
    ----------
    delta : float, default 0.1
        Added to the diagonal of the kernel matrix; the price of slack is its inverse. For kernels whose diagonal
        is 1.
    C_e : float, default 1
        Weight of ``(Σ f_i)²``: pulls towards clusters of equal size.
    C_delta : float or None, default None
        Price of a margin that falls short, ``Σ max(0, 1 - W_ii)``; None forbids it. Without effect from
        ``max S_ii`` on, which is below ``1/delta + C_e``.
    method : {"auto", "interior", "descent"}, default "auto"
        "interior": an interior point method, some 20 iterations of O(n³), about a dozen n x n matrices. "descent":
        low-rank coordinate descent, O(n² r) a sweep, five matrices; quick to a rough solution, and slow to a good one
        on hard problems. "auto": the first up to 1000 samples.
    rank : int or None, default None
        Columns r of the factor in the descent; None means ``ceil(sqrt(2 n)) + 1``, enough for some optimum.
    tol : float, default 1e-4
        Relative gap between the primal and the dual value.
    max_iter : int or None, default None
        Most iterations (None: 100) or sweeps (None: 3000). A warning tells the gap if it ends there.

    Raises
    ------
    NeedsMemory
        If the matrices exceed the memory cap.

    Notes
    -----
    `_prepare`, on kernels only: the matrix S, O(n³). ``S⁻¹ = JKJ + delta J + ee'/(C_e n²)`` with
    ``J = I - ee'/n`` is exact, so a kernel matrix that is singular does no harm.

    ``status.facts``: ``value`` and ``bound``, between which the optimum lies; ``gap``; ``rounded``, the value of the
    labels, which is above both; ``tightness``, the largest eigenvalue of W over its trace: 1 means that the labels are
    the optimum over all labellings; ``runner_up``, the second one: close to the first, the leading vector, and with
    it the labels, are chosen by little; ``shortest``, the least W_ii; ``method``.

    The bound of the descent takes ``g_i = v_i'(SV)_i / |v_i|²`` and scales it until ``S - diag(g)`` is positive
    semidefinite. The sign of the scores: of the entries of largest modulus (within 0.1 %) the first is positive.

    New samples are scored by the function itself: that of least norm which passes the scores of the samples up to the
    slack, ``Σ α_i k(x_i, x) + b`` with ``α = (S - C_e ee') f``. It gives the samples ``f - delta α``, which
    differs from f in size and seldom in sign.

    Where all samples are equal all scores are 0.

    References
    ----------
    Valizadegan, Jin (2006), Generalized maximum margin clustering and unsupervised kernel learning, NIPS 19: the
    problem, here with the offset eliminated.
    Burer, Monteiro (2003), A nonlinear programming algorithm for solving semidefinite programs via low-rank
    factorization, Mathematical Programming 95; Wang, Chang, Kolter (2017), The mixing method: the descent.
    Helmberg, Rendl, Vanderbei, Wolkowicz (1996), An interior-point method for semidefinite programming, SIAM Journal
    on Optimization 6: the interior point method.
    """

    name: ClassVar[str] = "gmmc"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    max_clusters: ClassVar[int | None] = 2
    has_objective: ClassVar[bool] = True

    delta: float = params.real(0.1, above=0.0)
    C_e: float = params.real(1.0, above=0.0)
    C_delta: float | None = params.real(None, above=0.0, optional=True)
    method: str = params.choice("auto", ("auto", "interior", "descent"))
    rank: int | None = params.integer(None, at_least=2, optional=True)
    tol: float = params.real(1e-4, above=0.0)
    max_iter: int | None = params.integer(None, at_least=1, optional=True)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels."""
        return {KernelSpace: Path(_prepare, Scores, square=True)}


def _prepare(spec: Gmmc, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The matrix of the program, unless all samples are equal."""
    method = spec.method
    if method == "auto":
        method = "interior" if space.n <= INTERIOR_ROWS else "descent"
    memory.require(
        8 * MATRICES[method] * space.n**2,
        f"method '{method}' with {MATRICES[method]} matrices of {space.n} x {space.n}",
        "Use fewer rows" + (", or method='descent'." if method == "interior" else "."),
    )
    centred = _centred(space.gram())
    flat = float(np.abs(centred).max()) <= 8.0 * space.n * float(np.finfo(space.dtype).eps) * float(space.diag().max())
    return _Prepared(spec, space, method, None if flat else _problem(spec, centred))


def _centred(K: Array) -> Array:
    """``JKJ`` in float64."""
    A = K.astype(np.float64)
    means = A.mean(axis=0)
    A -= means
    A -= (means - means.mean())[:, None]
    return A


def _problem(spec: Gmmc, centred: Array) -> MaxCut:
    """S and its inverse; the direction of e apart, where both are known."""
    from scipy.linalg import lapack

    from clusterkit.solvers.max_cut._low_rank import MaxCut

    n, delta = len(centred), float(spec.delta)
    inverse = centred
    inverse[np.diag_indices(n)] += delta
    factor, failed = lapack.dpotrf(inverse, lower=1, clean=1)
    if failed:  # delta is below the rounding errors of the kernel
        weights, vectors = np.linalg.eigh(inverse)
        weights = np.maximum(weights, delta)
        S = (vectors / weights) @ vectors.T
        inverse = (vectors * weights) @ vectors.T
    else:
        half = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
        S = np.tril(half) + np.tril(half, -1).T
    S = np.ascontiguousarray(0.5 * (S + S.T))
    S += float(spec.C_e) - 1.0 / (n * delta)
    inverse += 1.0 / (float(spec.C_e) * n * n) - delta / n
    return MaxCut(S, inverse, np.inf if spec.C_delta is None else float(spec.C_delta))


@final
@attrs.frozen(eq=False)
class _Prepared(Prepared):
    """The program of a space; None if all samples are equal."""

    spec: Gmmc
    space: KernelSpace
    method: str
    problem: MaxCut | None

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {"method": self.method} if self.spec.method == "auto" else {}

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        assert outcome.status is not None
        return np.array([outcome.status.history[-1]])

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        if self.problem is None:
            zeros = np.zeros(self.space.n)
            status = Status(0, True, "all samples are equal, and so are their scores", (0.0,))
            return Scores(zeros[:, None], self._extension(zeros, 0.0), status=status)
        found = self._minimise(rng)
        if not found.converged and not found.interrupted:
            warnings.warn(f"solver 'gmmc': {found.reason}", ClusterkitWarning, stacklevel=2)
        f = _oriented(found.leading)
        S = self.problem.S
        alpha = S @ f - self.spec.C_e * f.sum()
        alpha -= alpha.mean()
        # the function passes f up to the slack: K alpha + b = f - delta alpha, and alpha sums to 0
        offset = float(f.mean() - (self.space.gram().astype(np.float64, copy=False) @ alpha).mean())
        signs = np.where(f > 0.0, 1.0, -1.0)
        facts = {
            "value": found.value,
            "bound": found.bound,
            "gap": found.gap,
            "rounded": float(signs @ S @ signs),
            "tightness": float(found.shares[0]),
            "runner_up": float(found.shares[1]),
            "shortest": float(found.lengths.min()),
            "method": self.method,
        }
        status = Status(
            found.n_iter, found.converged, found.reason, found.history, facts, found.interrupted, predicts_labels=False
        )
        return Scores(f[:, None], self._extension(alpha, offset), status=status)

    def _minimise(self, rng: Rng) -> Solution:
        from clusterkit.solvers.max_cut._interior_point import interior
        from clusterkit.solvers.max_cut._low_rank import default_rank, descend

        assert self.problem is not None
        spec = self.spec
        most = ITERATIONS[self.method] if spec.max_iter is None else int(spec.max_iter)
        if self.method == "interior":
            return interior(self.problem, float(spec.tol), most)
        rank = default_rank(self.space.n) if spec.rank is None else int(spec.rank)
        return descend(self.problem, rank, float(spec.tol), most, rng)

    def _extension(self, alpha: Array, offset: float) -> Margin:
        space = self.space
        return Margin(KernelRows(space.coordinates, space.points, space.kernel, alpha[:, None]), offset)


@final
@attrs.frozen(eq=False)
class Margin:
    """Scores of new samples by a kernel sum and an offset.

    Parameters
    ----------
    sums : KernelRows
    offset : float
    """

    sums: KernelRows
    offset: float

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, 1)."""
        return np.asarray(self.sums(Y) + self.offset)

    def columns(self, index: slice) -> Margin:
        """There is one column; the whole of it or none."""
        return attrs.evolve(self, sums=self.sums.columns(index))


def _oriented(f: Array) -> Array:
    """f or -f. Rounding must not decide between entries of nearly the same modulus: the first of them does."""
    size = np.abs(f)
    first = int(np.argmax(size >= (1.0 - NEAR_TIE) * size.max()))
    return -f if f[first] < 0.0 else f
