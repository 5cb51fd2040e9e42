"""Maximum margin clustering of two or several classes by cutting planes.

The loop adds the most violated cut, linearises at the present winners, solves, and repeats. An iteration of the outer
loop is `CuttingPlaneLoop.advance`, the inner loop is `_concave_convex`; the program that both solve is in ``_cuts.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.iteration import Iteration, Iterations, Start, solve
from clusterkit.contracts.outcomes import Ending, Outcome, Scores, Status
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.margins._cuts import (
    GAP_ACCURACY,
    Cuts,
    CutVectors,
    FeatureCutVectors,
    KernelCutVectors,
    OffsetExtension,
    RestrictedProgram,
    RestrictedSolution,
    add_offset,
    margins,
    rivals,
    solve_cuts,
)
from clusterkit.samples import FeatureSpace, KernelSpace, Space
from clusterkit.samples.coding import Coded, Coding

CCCP_STEPS = 200
"""Largest number of linearisations between two cuts. Each lowers the objective by at least the share `cccp_tol`: few
are needed."""


def balance_slack(task: Task) -> float:
    """Largest allowed difference l of two sums of outputs, from the size bounds of the task; n if the task has none.

    For two clusters l is the upper bound minus the lower one; for one there is nothing to balance.
    """
    k = task.k
    if task.bounds is None or k == 1:
        return float(task.n)
    low, high = (np.asarray(bound, dtype=np.float64) for bound in task.bounds)
    if k == 2:
        return float((high - low).max())
    return float(max(0.0, (k * high - task.n).max(), (task.n - k * low).max()) / (k - 1))


@final
@attrs.define(eq=False)
class CuttingPlaneIterate:
    """The latest solution of the program over the cuts, feasible for these cuts.

    Parameters
    ----------
    W : ndarray of shape (m, q)
        Weights of the outputs, as features or as coefficients of the samples.
    offset : ndarray of shape (q,)
        Added to the outputs ``W'x``.
    F : ndarray of shape (n, q)
        Outputs of the samples, float64.
    solution : RestrictedSolution
    square : float
        ``|W|²``.
    """

    W: Array
    offset: Array
    F: Array
    solution: RestrictedSolution
    square: float


@final
@attrs.frozen(eq=False)
class PreparedCuttingPlanes(Prepared):
    """The problem of either solver on one space.

    Parameters
    ----------
    settings : Cpmmc or Cpm3c
    space : FeatureSpace or KernelSpace
    k : int
        Number of clusters.
    balance_slack : float
        l: largest difference of two sums of outputs, in samples.
    """

    settings: Cpmmc | Cpm3c
    space: FeatureSpace | KernelSpace
    k: int
    balance_slack: float

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The balance of outputs, from the size bounds of the task."""
        return {"balance_slack": self.balance_slack}

    @property
    def objective_factor(self) -> float:
        """C."""
        return self.settings.C

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        """The outputs after the cutting-plane loop from one labelling; only `_start` draws from `rng`."""
        assert targets is not None
        q, dtype = self._n_outputs, self.space.dtype
        vectors: CutVectors
        if isinstance(self.space, FeatureSpace):
            vectors = FeatureCutVectors(self.space, q)
        else:
            vectors = KernelCutVectors(self.space, q)
        cuts = Cuts.of(vectors, self._start(targets.labels[0], rng), self.k)
        iterate, status = CuttingPlaneLoop(self.settings, vectors, self._half_width, cuts).run()
        rows, extend = vectors.rows(iterate.W)
        rows = add_offset(rows, iterate.offset, dtype)
        status = self._with_certificate(rows, iterate, status)
        return Scores(rows, OffsetExtension(extend, iterate.offset, dtype), status=status)

    @property
    def _n_outputs(self) -> int:
        """q: 1 for two clusters that share an output, else k."""
        return 1 if Coding.SIGNED in self.settings.codings else self.k

    @property
    def _half_width(self) -> float:
        """Half width of the interval for the mean outputs: the means of any two of k clusters may differ by l/n."""
        return self.balance_slack / self.space.n / (1.0 if self._n_outputs == 1 else 2.0)

    def _start(self, labels: Labels, rng: Rng) -> Labels:
        """The labels, or a split along a random direction if they are all the same and so give no direction."""
        if self.k == 1 or (labels != labels[0]).any():
            return labels
        n = self.space.n
        if isinstance(self.space, FeatureSpace):
            F = self.space.apply(rng.standard_normal((self.space.width, 1)))[:, 0]
        else:
            F = self.space.apply(rng.standard_normal((n, 1)))[:, 0]
        split = np.empty(n, dtype=np.intp)
        split[np.argsort(F, kind="stable")] = np.arange(n) * self.k // n
        return split

    def _with_certificate(self, rows: Array, iterate: CuttingPlaneIterate, status: Status) -> Status:
        """The status with objective, violation and balance of the rows that are returned."""
        F, settings = rows.astype(np.float64, copy=False), self.settings
        violation = float(np.maximum(0.0, 1.0 - margins(F)).mean())
        sums = F.sum(axis=0)
        balance = abs(float(sums[0])) if len(sums) == 1 else float(sums.max() - sums.min())
        objective = 0.5 * iterate.square + settings.C * violation
        slack = iterate.solution.slack
        facts = {
            **status.facts,
            "violation": violation,
            "xi": slack,
            "tol": settings.tol,
            "balance": balance,
            "balance_slack": self.balance_slack,
        }
        if not status.converged and not status.interrupted:
            warnings.warn(
                f"solver '{settings.name}' stopped at max_iter = {settings.max_iter} cuts: the worst violation is "
                f"{violation:.3g}, above xi + tol = {slack + settings.tol:.3g}; raise max_iter or tol, or lower C",
                ClusterkitWarning,
                stacklevel=2,
            )
        return attrs.evolve(status, facts=facts, objective=objective)


@final
@attrs.define(eq=False)
class CuttingPlaneLoop(Iterations[CuttingPlaneIterate]):
    """The cutting-plane loop from one labelling.

    Parameters
    ----------
    settings : Cpmmc or Cpm3c
    vectors : CutVectors
    half_width : float
        Half width of the interval that holds the mean outputs.
    cuts : Cuts
        Without cuts; its winners are the labelling.
    iterate : CuttingPlaneIterate or None
        None before the first program is solved.
    history : list of float
        Objective of each program.
    n_cuts : list of int
        Number of cuts of each program.
    """

    settings: Cpmmc | Cpm3c
    vectors: CutVectors
    half_width: float
    cuts: Cuts
    iterate: CuttingPlaneIterate | None = None
    history: list[float] = attrs.field(factory=list)
    n_cuts: list[int] = attrs.field(factory=list)

    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.SETTLED: "no constraint is violated by more than xi + tol: {detail} with {n} cuts",
        Ending.INTERRUPTED: "interrupted with {n} cuts: the last iterate is returned",
        Ending.OUT_OF_ITERATIONS: "max_iter = {most} cuts reached with a violation of {detail}",
    }

    @property
    def name(self) -> str:  # type: ignore[override] # a property for a class attribute
        """Name of the solver, for progress reports."""
        return self.settings.name

    def run(self) -> tuple[CuttingPlaneIterate, Status]:
        """Add cuts until none is violated by more than ξ + tol, `max_iter` or Ctrl-C; returns the last iterate."""
        # an iteration solves several programs, and all of them are in the history
        start: Start[CuttingPlaneIterate] = Start(0, None, keeps_best=False, history=self.history)
        iterate, status = solve(self, start, self.settings.max_iter)
        reason = status.reason
        if len(self.history) > 1:
            reason += "; the history has the values of the programs with the cuts so far, which rise"
        facts = {"cuts": self.cuts.p, "programs": len(self.history), "cuts_of_each": tuple(self.n_cuts)}
        empty = self._empty_clusters(iterate.F)
        return iterate, attrs.evolve(status, reason=reason, facts=facts, empty_clusters=empty)

    def advance(self, active: list[Start[CuttingPlaneIterate]]) -> Iterator[Iteration[CuttingPlaneIterate]]:
        """Add the most violated cut, and solve for all cuts; the first cuts are made from the labels of the start."""
        [start] = active
        settings, cuts = self.settings, self.cuts
        if start.answer is None:
            cuts.add(rivals(self._nearness(), cuts.z))
            if self.vectors.V.shape[2] > 2:
                self._fit_start_labels()
        else:
            cuts.add(cuts.most_violated(start.answer.F))
        iterate = self._concave_convex()
        violation = float(np.maximum(0.0, 1.0 - margins(iterate.F)).mean())
        start.n_iter = cuts.p
        settled = violation <= iterate.solution.slack + settings.tol
        yield Iteration(iterate, None, Ending.SETTLED if settled else None, f"{violation:.3g}")

    def recover(self, start: Start[CuttingPlaneIterate]) -> None:
        """The iterate of the last program, with the cuts so far."""
        start.answer, start.n_iter = self.iterate, self.cuts.p

    def _empty_clusters(self, F: Array) -> str | None:
        """Warning that some clusters have no sample; None if all have one or two clusters share an output."""
        k = F.shape[1]
        used = len(np.unique(np.argmax(F, axis=1)))
        if k == 1 or used == k:
            return None
        return (
            f"solver '{self.settings.name}': {k - used} of {k} clusters have no sample; its balance bounds outputs, "
            "not sizes. A balancer ('band'), a kernel ('rbf') or a larger C may help"
        )

    def _fit_start_labels(self) -> None:
        """Add cuts with the winners fixed at the labels of the start until these are fitted within ξ + tol.

        The outputs of a single cut separate several clusters so badly that some of them would be lost at once.
        """
        settings, cuts = self.settings, self.cuts
        for _ in range(max(1, settings.max_iter // 2)):
            iterate, _ = self._solve_program(update_winners=False)
            short = np.maximum(0.0, 1.0 - cuts.leads(iterate.F))
            if float(short.mean()) <= iterate.solution.slack + settings.tol or cuts.p >= settings.max_iter:
                break
            cuts.add(cuts.most_violated(iterate.F))

    def _concave_convex(self) -> CuttingPlaneIterate:
        """Linearise and solve until the objective falls by less than the share `cccp_tol`."""
        value: float | None = None
        for _ in range(CCCP_STEPS):
            iterate, changed = self._solve_program()
            small = value is not None and value - iterate.solution.value <= self.settings.cccp_tol * abs(value)
            value = iterate.solution.value
            if small or not changed:
                break
        return iterate

    def _solve_program(self, update_winners: bool = True) -> tuple[CuttingPlaneIterate, int]:
        """Solve for the present cuts; with `update_winners` the winners follow. Also the number of winners changed."""
        solution = self._restricted_solution()
        W, WP, offset, square = self._weights(solution)
        F, changed = self.cuts.update(W, WP, offset, update_winners)
        self.iterate = CuttingPlaneIterate(W, offset, F, solution, square)
        self.history.append(solution.value)
        self.n_cuts.append(self.cuts.p)
        return self.iterate, changed

    def _nearness(self) -> Array:
        """Minus half the squared distances to the class means, up to a constant: they give the first rivals."""
        q = self.vectors.V.shape[2]
        if q == 1:
            return np.zeros((len(self.cuts.z), 1))
        T = np.equal(self.cuts.z[:, None], np.arange(q)).astype(np.int8)
        class_shares = T.mean(axis=0)
        present = class_shares > 0.0
        divisors = np.where(present, class_shares, 1.0)
        W, WP = (
            form / divisors - np.outer(mean, present)
            for form, mean in zip(self.vectors.vector(T), self.vectors.mean, strict=True)
        )
        offset = -self._at_mean(W) - 0.5 * np.einsum("aq,aq->q", W, WP)
        nothing = np.empty(0, dtype=np.intp)
        F = self.vectors.update(W, WP, offset, lambda rows, F: (nothing, nothing))
        F[:, ~present] = -np.inf
        return F

    def _at_mean(self, W: Array) -> Array:
        """Outputs ``W'x`` of the mean sample, (q,)."""
        return self.vectors.mean[1] @ W

    def _centred(self) -> tuple[Array, Array]:
        """Vectors and partners of samples minus their mean: translations drop out, and so do their rounding errors."""
        V, P = self.vectors.V, self.vectors.partner
        mean, mean_partner = self.vectors.mean
        centred = V - mean[:, None, None] * self.cuts.means
        return centred, (centred if P is V else P - mean_partner[:, None, None] * self.cuts.means)

    def _restricted_solution(self) -> RestrictedSolution:
        """The solution of the program over the present cuts, from the inner products of their centred vectors."""
        V, P = self._centred()
        gram = np.einsum("apq,abq->pb", V, P, optimize=True)
        gram = 0.5 * (gram + gram.T)
        centre = None
        if not self.settings.intercept:
            mean, mean_partner = self.vectors.mean
            centre = np.tensordot(mean_partner, V, axes=1), float(mean @ mean_partner)
        return solve_cuts(
            RestrictedProgram(gram, self.cuts.shares, self.cuts.means, self.settings.C, self.half_width, centre)
        )

    def _weights(self, solution: RestrictedSolution) -> tuple[Array, Array, Array, float]:
        """W, its partner, the offset of the outputs and ``|W|²``."""
        V, P = self._centred()
        W, WP = (np.einsum("apq,p->aq", form, solution.weights) for form in (V, P))
        if self.settings.intercept:
            offset = solution.bias - self._at_mean(W)
        else:
            mean, mean_partner = self.vectors.mean
            W, WP = W - np.outer(mean, solution.mean_weight), WP - np.outer(mean_partner, solution.mean_weight)
            offset = np.zeros(self.vectors.V.shape[2])
        return W, WP, offset, max(0.0, float(np.einsum("aq,aq->", W, WP)))


@attrs.frozen
class _CuttingPlanes(Solver):
    """What both solvers have in common."""

    targets: ClassVar[Literal["never", "start", "every_iteration"]] = "start"
    own_balance: ClassVar[bool] = True
    has_objective: ClassVar[bool] = True
    accuracy: ClassVar[float] = GAP_ACCURACY

    C: float = params.real(1.0, above=0)
    tol: float = params.real(0.01, above=0)
    cccp_tol: float = params.real(0.001, above=0)
    max_iter: int = params.integer(100, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features and kernels."""
        return {FeatureSpace: Path(_prepare, Scores), KernelSpace: Path(_prepare, Scores)}


def _prepare(spec: Cpmmc | Cpm3c, space: FeatureSpace | KernelSpace, task: Task, rng: Rng) -> Prepared:
    k = 2 if Coding.SIGNED in spec.codings else task.k
    return PreparedCuttingPlanes(spec, space, k, balance_slack(task))


@final
@attrs.frozen
class Cpmmc(_CuttingPlanes):
    """The hyperplane with the widest soft margin over all labellings into two classes.

    Minimises ``|w|²/2 + (C/n) Σ_i max(0, 1 - |f(x_i)|)``, ``f(x) = w·x + b``, subject to ``|Σ_i f(x_i)| <= l``. The
    constraint balances outputs, not cluster sizes: sizes may differ by more than l. The loop is in
    cutting_plane.py (CuttingPlaneLoop.advance), the program over the cuts in
    _cuts.py (solve_cuts).

    Parameters
    ----------
    C : float, default 1
        Weight of margin violations. It has the units of an inverse squared length: below the inverse of the largest
        squared distance from the mean sample no sample reaches its margin.
    tol : float, default 0.01
        Stop once no constraint is violated by more than ξ + tol: ε of the paper.
    cccp_tol : float, default 0.001
        Relative decrease of the objective below which the next cut is added.
    max_iter : int, default 100
        Most cuts.

    Warns
    -----
    ClusterkitWarning
        If `max_iter` cuts do not suffice, with the violation that remains.

    Notes
    -----
    A constraint requires ``Σ |f| >= size - n ξ`` of a set of samples, the cut; the most violated set is that of all
    samples with ``|f| < 1``. ``|f|`` is linearised at the present signs (a concave-convex procedure: the objective
    falls or stays until the next cut is added). The quadratic program over the cuts is solved by its dual, which has
    one variable a cut. Each program costs one pass over the features, O(n L), and a new cut another; on a kernel
    O(n) and O(n²), with the n x n matrix in memory. Besides the features, memory is one byte a sample and cut.

    The solver starts from the signs of the labels it receives: the first hyperplane is normal to the difference of the
    class means. Random labels therefore give a random direction. Labels that are all the same are replaced by a random
    split. The outcome is a local optimum; `n_init` compares starts by the objective.

    `l`, reported as ``balance_slack``, is the largest size minus the smallest in ``Task.bounds``. Features are centred
    inside, so that translations of the data change nothing; the balance is then ``|b| <= l/n`` on the bias at the mean
    sample.

    References
    ----------
    Zhao, Wang, Zhang (2008), Efficient maximum margin clustering via cutting plane algorithm, SIAM SDM.
    Wang, Zhao, Zhang (2010), Linear time maximum margin clustering, IEEE Transactions on Neural Networks 21(2).
    """

    name: ClassVar[str] = "cpmmc"
    synonyms: ClassVar[tuple[str, ...]] = ("cutting_plane",)
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    intercept: ClassVar[bool] = True


@final
@attrs.frozen
class Cpm3c(_CuttingPlanes):
    """One output for each cluster such that the largest output of a sample exceeds the next by a soft margin of 1.

    Minimises ``Σ_p |w_p|²/2 + (C/n) Σ_i max(0, 1 - (f_z(x_i) - f_r(x_i)))`` where z has the largest and r the next
    output, ``f_p(x) = w_p·x + b_p``, subject to ``|Σ_i f_p(x_i) - Σ_i f_q(x_i)| <= l`` for all p, q. The constraint
    balances outputs, not cluster sizes. The loop is in cutting_plane.py
    (CuttingPlaneLoop.advance), the program over the cuts in _cuts.py (solve_cuts).

    Parameters
    ----------
    C : float, default 1
        Weight of margin violations, 1/β of the paper. It has the units of an inverse squared length.
    tol : float, default 0.01
        Stop once no constraint is violated by more than ξ + tol: ε of the paper.
    cccp_tol : float, default 0.001
        Relative decrease of the objective below which the next cut is added.
    max_iter : int, default 100
        Most cuts.
    intercept : bool, default True
        Whether outputs have biases, which are not penalised. The published method has no biases, and its balance then
        has no effect on centred features: all samples in one cluster are allowed.

    Warns
    -----
    ClusterkitWarning
        If `max_iter` cuts do not suffice, with the violation that remains.

    Notes
    -----
    Cost as of `cpmmc` with k outputs: O(n L k) for each program and each cut, O(n k) and O(n² k) on a kernel, one byte
    a sample and cut. The dual has one variable a cut and k for the balance instead of k (k - 1), because the amounts by
    which the outputs are lowered sum to 0.

    One change to the published method makes the objective fall or stay between two cuts, as it does for two clusters:
    where the rival of a sample in a cut becomes the winner, it changes places with the old winner; as published, the
    sample leaves the cut until the rival loses again.

    With two clusters it is `cpmmc` with twice the C: ``f_1 = -f_0`` at the optimum.

    The solver starts from the labels it receives: cuts are added at these labels, first with the second nearest mean as
    rival, until the labels are fitted within tol, as by a multiclass support vector machine; from then on the winners
    follow the outputs. (The outputs of a single cut would lose clusters at once.) Random labels give nearly equal
    means, so n_init should be large for them. Labels that are all the same are replaced by a random split.

    For more than two clusters the balance does not forbid an empty cluster: an output that is 0 everywhere has the same
    sum as balanced outputs.

    References
    ----------
    Zhao, Wang, Zhang (2008), Efficient multiclass maximum margin clustering, ICML.
    """

    name: ClassVar[str] = "cpm3c"
    synonyms: ClassVar[tuple[str, ...]] = ("multi_class_cutting_plane",)
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})

    intercept: bool = params.flag(True)
