"""Generalised maximum margin clustering: two clusters by a semidefinite program, with a bound on the optimum."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Ending, KernelRows, Outcome, Scores, Status
from clusterkit.errors import ClusterkitWarning
from clusterkit.numerics.shapes import scalar
from clusterkit.samples import KernelSpace, Space, memory
from clusterkit.samples.coding import Coded, Coding

if TYPE_CHECKING:
    from clusterkit.families.margins._programs import MaxCutProblem

MATRICES = 12
"""Largest number of n x n float64 matrices in memory at the same time."""

SMALLEST_PRICE = 1e-150
"""Smallest price of a margin that falls short: the multipliers are of its size, and their squares must not vanish."""

NEAR_TIE = 1e-3
"""Relative difference up to which the moduli of two scores count as equal where the sign of all scores is chosen."""


@final
@attrs.frozen
class Gmmc(Solver):
    """The function of largest margin over all labellings into two, relaxed to a semidefinite program.

    Choose it for two clusters of similar size that a kernel separates, up to one or two thousand samples. The problem
    is convex: nothing depends on a start, and the distance of the fit from the optimum is known.

    The margins ``f_i`` of a function with free offset minimise ``f'S f`` over ``f_i² >= 1``;
    ``S - bias_penalty ee'`` is the pseudo-inverse of the centred kernel matrix plus ``delta``. With ``W`` for ``ff'``
    this is ``min <S, W>`` over ``W ⪰ 0``, ``W_ii >= 1``, the program of maximum cuts. The score is the leading vector
    of W. The step is in _programs.py (_next_point).

    Parameters
    ----------
    delta : float, default 0.1
        Added to the diagonal of the kernel matrix; the price of squared slack is its inverse. For kernels whose
        diagonal is 1.
    bias_penalty : float, default 1
        C_e of the paper, the weight of ``(Σ f_i)²``: it favours clusters of equal size.
    slack_penalty : float or None, default None
        C_δ of the paper, the price of margins that fall short, ``Σ max(0, 1 - W_ii)``; None forbids these. It has no
        effect from ``max S_ii`` on, which is below ``1/delta + bias_penalty``.
    tol : float, default 1e-4
        Relative gap between the primal and the dual value.
    max_iter : int, default 100
        Most iterations, of which it needs some 20. A warning with the gap is issued if the fit ends there.

    Raises
    ------
    NeedsMemory
        If the matrices exceed the memory cap.

    Notes
    -----
    It works on kernels only. The matrix S costs O(n³), and so does an iteration, with a dozen n x n matrices.
    ``S⁻¹ = JKJ + delta J + ee'/(bias_penalty n²)`` with ``J = I - ee'/n`` is exact, so a singular kernel matrix does no
    harm.

    ``status.facts``: ``value`` and ``bound``, between which the optimum lies; ``gap``; ``rounded``, the value of the
    labels, which is above both; ``tightness``, the largest eigenvalue of W over its trace: 1 means that the labels are
    the optimum over all labellings; ``runner_up``, the second eigenvalue over the trace: if it is close to
    ``tightness``, a small change of the data may exchange the leading vectors and with them the labels; ``shortest``,
    the least W_ii.

    The sign of the scores is chosen so that of the entries of largest modulus (within 0.1 %) the first
    is positive.

    New samples are scored by the function of least norm that takes the scores at the samples up to the slack,
    ``Σ α_i k(x_i, x) + b`` with ``α = (S - bias_penalty ee') f``. Its values at the samples are ``f - delta α``, which
    differ from f in size and seldom in sign.

    Where all samples are equal all scores are 0.

    References
    ----------
    Valizadegan, Jin (2006), Generalized maximum margin clustering and unsupervised kernel learning, NIPS 19: the
    problem, here with the offset eliminated.
    Helmberg, Rendl, Vanderbei, Wolkowicz (1996), An interior-point method for semidefinite programming, SIAM Journal
    on Optimization 6: the interior point method.
    """

    name: ClassVar[str] = "gmmc"
    synonyms: ClassVar[tuple[str, ...]] = ("sdp", "semidefinite", "max_cut")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    max_clusters: ClassVar[int | None] = 2
    has_objective: ClassVar[bool] = True

    delta: float = params.real(0.1, above=0.0)
    bias_penalty: float = params.real(1.0, above=0.0)
    slack_penalty: float | None = params.real(None, at_least=SMALLEST_PRICE, optional=True)
    tol: float = params.real(1e-4, above=0.0)
    max_iter: int = params.integer(100, at_least=1)

    saved_schema: ClassVar[int] = 2
    saved_before: ClassVar[frozenset[str]] = frozenset({"method", "rank"})  # they chose among two methods

    @classmethod
    def migrated(cls, fields: Mapping[str, object], schema: int) -> Mapping[str, object]:
        """Fields of files with a `max_iter` of None."""
        return {**fields, "max_iter": fields["max_iter"] or 100}

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels."""
        return {KernelSpace: Path(_prepare, Scores, square=True)}


def _prepare(spec: Gmmc, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The matrix of the program, unless all samples are equal."""
    memory.require(
        8 * MATRICES * space.n**2, f"solver 'gmmc' with {MATRICES} matrices of {space.n} x {space.n}", "Use fewer rows."
    )
    centred = _centred(space.gram())
    rounding = 8.0 * space.n * float(np.finfo(space.dtype).eps) * float(space.diag().max())
    constant = float(np.abs(centred).max()) <= rounding
    return PreparedGmmc(spec, space, None if constant else _max_cut_problem(spec, centred))


def _centred(K: Array) -> Array:
    """``JKJ`` in float64."""
    A = K.astype(np.float64)
    means = A.mean(axis=0)
    A -= means
    A -= (means - means.mean())[:, None]
    return A


def _max_cut_problem(spec: Gmmc, centred: Array) -> MaxCutProblem:
    """S and its inverse; the direction of e is treated separately, because both are known there."""
    from scipy.linalg import lapack

    from clusterkit.families.margins._programs import MaxCutProblem

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
    S += float(spec.bias_penalty) - 1.0 / (n * delta)
    inverse += 1.0 / (float(spec.bias_penalty) * n * n) - delta / n
    return MaxCutProblem(S, inverse, np.inf if spec.slack_penalty is None else float(spec.slack_penalty))


@final
@attrs.frozen(eq=False)
class PreparedGmmc(Prepared):
    """The program of a space.

    Parameters
    ----------
    spec : Gmmc
    space : KernelSpace
    problem : MaxCutProblem or None
        None if all samples are equal.
    """

    spec: Gmmc
    space: KernelSpace
    problem: MaxCutProblem | None

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        """The leading vector of W; nothing is random."""
        if self.problem is None:
            zeros = np.zeros(self.space.n)
            status = Status(0, Ending.CONVERGED, "all samples are equal, and so are their scores", (0.0,))
            return Scores(zeros[:, None], self._extension(zeros, 0.0), status=status)
        from clusterkit.families.margins._programs import interior_point

        solution = interior_point(self.problem, self.spec.tol, self.spec.max_iter)
        status = solution.status
        if not status.converged and not status.interrupted:
            warnings.warn(f"solver 'gmmc': {status.reason}", ClusterkitWarning, stacklevel=2)
        f = _oriented(solution.leading)
        S = self.problem.S
        alpha = S @ f - self.spec.bias_penalty * f.sum()
        alpha -= alpha.mean()
        # the function takes the values f up to the slack: K alpha + b = f - delta alpha, and alpha sums to 0
        offset = float(f.mean() - (self.space.gram().astype(np.float64, copy=False) @ alpha).mean())
        signs = np.where(f > 0.0, 1.0, -1.0)
        facts = {
            "value": solution.value,
            "bound": solution.bound,
            "gap": solution.gap,
            "rounded": float(signs @ S @ signs),
            "tightness": float(solution.shares[0]),
            "runner_up": float(solution.shares[1]),
            "shortest": float(solution.lengths.min()),
        }
        status = attrs.evolve(status, facts=facts, predicts_labels=False)
        return Scores(f[:, None], self._extension(alpha, offset), status=status)

    def _extension(self, alpha: Array, offset: float) -> MarginFunction:
        space = self.space
        return MarginFunction(KernelRows(space.coordinates, space.points, space.kernel, alpha[:, None]), offset)


@final
@attrs.frozen(eq=False)
class MarginFunction:
    """Scores of new samples: a kernel sum plus an offset.

    Parameters
    ----------
    sums : KernelRows
    offset : float
    """

    sums: KernelRows
    offset: float = attrs.field(validator=scalar())

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, 1)."""
        return np.asarray(self.sums(Y) + self.offset)

    def columns(self, index: slice | Indices) -> MarginFunction:
        """The extension of the single column, or of none."""
        return attrs.evolve(self, sums=self.sums.columns(index))


def _oriented(f: Array) -> Array:
    """f or -f: of the entries of largest modulus, up to `NEAR_TIE`, the first is positive, whatever the rounding."""
    size = np.abs(f)
    first = int(np.argmax(size >= (1.0 - NEAR_TIE) * size.max()))
    return -f if f[first] < 0.0 else f
