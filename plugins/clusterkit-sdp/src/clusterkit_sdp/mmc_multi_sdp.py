"""Multi-class maximum margin clustering as a semidefinite program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Outcome, Scores
from clusterkit.numerics.lloyd import kmeans
from clusterkit.samples import KernelSpace, Space
from clusterkit.samples.coding import Coded, Coding
from clusterkit_sdp import _cvx
from clusterkit_sdp._margin import without_bias
from clusterkit_sdp._moments import spectral
from clusterkit_sdp._multiclass import MulticlassProgram, factor, labelling_objective

__all__ = ["MmcMultiSdp"]

INSTEAD = "Recipe 'cpm3c' finds many clusters of large margin among more rows, recipe 'emmc-multi' is linear in n."
"""Recipes for more samples, for the same message."""

CLARABEL_UP_TO = 20
"""Most samples for which Clarabel is tried where SCS fails; its time grows like n⁶."""

STARTS = 10
"""k-means++ starts of the rounding."""


@final
@attrs.frozen
class MmcMultiSdp(Solver):
    """The largest margin between two or more balanced clusters, relaxed to a semidefinite program: small data.

    Choose it to know how far a labelling into many clusters is from the best one, for some dozens of samples: the
    optimum of the relaxation bounds the objective of every labelling with sizes in the bounds from below. The program
    is in clusterkit_sdp/_multiclass.py (MulticlassProgram.of). The objective of a labelling is that of the multi-class
    support vector machine of Crammer and Singer, ``|W|²/2 + C Σ ξ``, in which labels occur through the matrix M of
    pairs with the same label alone; the relaxation takes every M ⪰ 0 with M_ii = 1, M >= 0 and row sums within the
    smallest and the largest size. M is rounded as in spectral clustering: k-means on its k leading eigenvectors, each
    times the root of its eigenvalue; the score of a label is the mean of M over its samples, and the label is the
    largest. There is no bias, so a kernel whose diagonal is not 1 is centred first. The sizes come from the balancer,
    by default those of ``band(0.03)``; labels may miss them by a few samples, and an explicit balancer repairs that.
    With ``balancer=None`` the optimum is the trivial cluster of all samples. Transductive.

    O(n⁴) an iteration of SCS for a kernel of full rank, some hundred iterations; Clarabel is O(n⁶) and too slow above
    n = 20. ``outcome_.status.facts`` holds `value`, `bound`, `gap`, `rounded`, `smallest_eigenvalue`, `residual`,
    `solver`, `solver_status` and `seconds` as for `mmc_sdp`, and `tightness`, the k largest eigenvalues of M over n: 1
    where M has rank k.

    Parameters
    ----------
    C : float, default 1.0
        Price of a sample inside the margin; the inverse of the paper's β.
    solver : {"auto", "SCS", "CLARABEL"}, default "auto"
        "auto" is SCS, and Clarabel if SCS fails on at most 20 samples.
    tol : float, default 1e-4
        Absolute and relative tolerance of the conic solver. Labels need no more; 1e-6 for objectives.
    max_iter : int or None, default None
        Most iterations; None means 100,000 of SCS, 200 of Clarabel.
    max_size : int, default 100
        More samples are refused.

    References
    ----------
    Xu, Schuurmans (2005), Unsupervised and semi-supervised multi-class support vector machines, AAAI 20.
    """

    name: ClassVar[str] = "mmc_multi_sdp"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    own_balance: ClassVar[bool] = True
    has_objective: ClassVar[bool] = True
    trial: ClassVar[Mapping[str, object]] = {"max_iter": 5000}

    C: float = params.real(1.0, above=0.0)
    solver: str = params.choice("auto", _cvx.SOLVERS)
    tol: float = params.real(1e-4, above=0.0, below=1.0)
    max_iter: int | None = params.integer(None, at_least=1, optional=True)
    max_size: int = params.integer(100, at_least=2)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels only."""
        return {KernelSpace: Path(_prepare, gives=Scores, inductive=False)}


def _prepare(solver: MmcMultiSdp, space: KernelSpace, task: Task, rng: np.random.Generator) -> PreparedMmcMultiSdp:
    """The factor of the kernel matrix, which is centred if its diagonal is not 1, and the sizes."""
    _cvx.load(solver.name)
    _cvx.require_size(solver.name, space.n, solver.max_size, solver.solver == "CLARABEL", INSTEAD)
    K, centred = without_bias(space)
    low, high = (0, task.n) if task.bounds is None else (min(task.bounds[0]), max(task.bounds[1]))
    return PreparedMmcMultiSdp(solver, factor(K), task.k, (float(low), float(high)), centred)


@final
@attrs.frozen(eq=False)
class PreparedMmcMultiSdp(Prepared):
    """The factor of the kernel matrix with the sizes.

    Parameters
    ----------
    solver : MmcMultiSdp
    L : ndarray of shape (n, r)
    k : int
    sizes : tuple of float
        The smallest and the largest size of a cluster.
    centred : bool
        Whether the kernel matrix was centred.
    """

    solver: MmcMultiSdp
    L: np.ndarray
    k: int
    sizes: tuple[float, float]
    centred: bool

    @property
    def resolved(self) -> Mapping[str, object]:
        """The sizes, the order of the solvers, and whether the kernel was centred."""
        return {"sizes": self.sizes, "centred": self.centred, "solver": self.candidates[0]}

    @property
    def objective_factor(self) -> float:
        """C."""
        return self.solver.C

    @property
    def candidates(self) -> tuple[str, ...]:
        """Conic solvers in the order they are tried."""
        return _cvx.candidates(self.solver.solver, ("SCS", "CLARABEL"), len(self.L) <= CLARABEL_UP_TO)

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: np.random.Generator) -> Scores:
        """Solve the relaxation and round it; only the starts of k-means are random."""
        spec = self.solver
        program = MulticlassProgram.of(self.L, spec.C, *self.sizes)
        run = _cvx.solve(program.problem, spec.name, self.candidates, spec.tol, spec.max_iter)
        solution = program.solution()
        rows, tightness = spectral(solution.M, self.k)
        labels, _, _ = kmeans(rows, self.k, n_init=STARTS, max_iter=300, seed=int(rng.integers(2**31 - 1)))
        members = np.eye(self.k)[labels]  # (n, k)
        scores = solution.M @ members / np.maximum(members.sum(axis=0), 1.0)
        rounded = labelling_objective(self.L, scores.argmax(axis=1), spec.C)
        status = _cvx.status_of(spec.name, spec.tol, run, solution, rounded, tightness)
        return Scores(scores, None, status=status)

    def objective(self, targets: Coded | None, outcome: Outcome) -> np.ndarray | None:
        """The optimum of the relaxation."""
        return None if outcome.status is None else np.array(outcome.status.history)
