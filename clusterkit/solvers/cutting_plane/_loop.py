"""Cutting planes for margins without labels: add the most violated cut, linearise at the present winners, repeat."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.coding import Coded
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import Outcome, Scores, Status
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import FeatureSpace, KernelSpace
from clusterkit.core.stages import Prepared, Task
from clusterkit.solvers.cutting_plane._cuts import (
    Cuts,
    FeatureVectors,
    KernelVectors,
    Shifted,
    Vectors,
    margins,
    rivals,
    shift,
)
from clusterkit.solvers.cutting_plane._restricted_dual import Plane, solve_cuts

__all__ = ["CuttingPlanes", "Rule", "slack_of"]

CCCP_STEPS = 200
"""Most linearisations between two cuts; each lowers the objective by the share `cccp_tol`, so few are needed."""


@final
@attrs.frozen
class Rule:
    """What the two solvers set.

    Parameters
    ----------
    name : str
    C, eps, cccp_tol : float
    max_iter : int
    outputs : int
        q: 1 for two clusters that share an output, else k.
    intercept : bool
    """

    name: str
    C: float
    eps: float
    cccp_tol: float
    max_iter: int
    outputs: int
    intercept: bool = True


def slack_of(task: Task) -> float:
    """The l for which sizes that differ by at most l have the bounds of the task; n where it has none.

    For two clusters it is the upper bound minus the lower one.
    """
    k = task.k
    if task.bounds is None:
        return float(task.n)
    low, high = (np.asarray(bound, dtype=np.float64) for bound in task.bounds)
    if k == 2:
        return float((high - low).max())
    return float(max(0.0, (k * high - task.n).max(), (task.n - k * low).max()) / (k - 1))


@final
@attrs.define(eq=False)
class _State:
    """What an interruption leaves."""

    W: Array
    offset: Array
    F: Array
    plane: Plane
    square: float


@final
@attrs.frozen(eq=False)
class CuttingPlanes(Prepared):
    """The problem on one space."""

    rule: Rule
    space: FeatureSpace | KernelSpace
    k: int
    slack: float

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The balance in outputs."""
        return {"l": self.slack}

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """``|W|²/2 + (C/n) Σ max(0, 1 - margin)``."""
        assert outcome.status is not None
        return np.array([outcome.status.objective])

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        """All cuts, from one labelling."""
        assert targets is not None
        q = self.rule.outputs
        vectors: Vectors = (
            FeatureVectors(self.space, q) if isinstance(self.space, FeatureSpace) else KernelVectors(self.space, q)
        )
        cuts = Cuts.of(vectors, self._start(targets.labels[0], rng), self.k)
        state, status = _Run(self.rule, vectors, self._half, cuts).loop()
        rows, extend = vectors.rows(state.W)
        rows = shift(rows, state.offset, self.space.dtype)
        return Scores(rows, Shifted(extend, state.offset, self.space.dtype), status=self._finish(rows, state, status))

    @property
    def _half(self) -> float:
        """Mean outputs of any two of k clusters differ by l/n if all are within l/2n of one value."""
        return self.slack / self.space.n / (1.0 if self.rule.outputs == 1 else 2.0)

    def _start(self, labels: Labels, rng: Rng) -> Labels:
        """The labels, or a split along a random direction if they are all the same, which says nothing."""
        if (labels != labels[0]).any():
            return labels
        n = self.space.n
        if isinstance(self.space, FeatureSpace):
            F = self.space.apply(rng.standard_normal((self.space.width, 1)))[:, 0]
        else:
            F = self.space.apply(rng.standard_normal((n, 1)))[:, 0]
        split = np.empty(n, dtype=np.intp)
        split[np.argsort(F, kind="stable")] = np.arange(n) * self.k // n
        return split

    def _finish(self, rows: Array, state: _State, status: Status) -> Status:
        """The certificate, of the rows returned."""
        F = rows.astype(np.float64, copy=False)
        violation = float(np.maximum(0.0, 1.0 - margins(F)).mean())
        sums = F.sum(axis=0)
        balance = abs(float(sums[0])) if len(sums) == 1 else float(sums.max() - sums.min())
        objective = 0.5 * state.square + self.rule.C * violation
        facts = {
            **status.facts,
            "violation": violation,
            "xi": state.plane.slack,
            "eps": self.rule.eps,
            "balance": balance,
            "l": self.slack,
        }
        if not status.converged and not status.interrupted:
            warnings.warn(
                f"solver '{self.rule.name}' stopped at max_iter = {self.rule.max_iter} cuts: the worst violation is "
                f"{violation:.3g}, above xi + eps = {state.plane.slack + self.rule.eps:.3g}; "
                "raise max_iter or eps, or lower C",
                ClusterkitWarning,
                stacklevel=2,
            )
        return attrs.evolve(status, facts=facts, objective=objective)


@final
@attrs.define(eq=False)
class _Run:
    """One start."""

    rule: Rule
    vectors: Vectors
    half: float
    cuts: Cuts
    state: _State | None = None
    history: list[float] = attrs.field(factory=list)
    sizes: list[int] = attrs.field(factory=list)

    def loop(self) -> tuple[_State, Status]:
        """From winners without cuts to the certificate."""
        rule, cuts = self.rule, self.cuts
        converged = interrupted = False
        violation = np.inf
        try:
            cuts.add(rivals(self._nearness(), cuts.z))
            if rule.outputs > 2:
                self._keep_winners()
            while True:
                state = self._concave_convex()
                violation = float(np.maximum(0.0, 1.0 - margins(state.F)).mean())
                tell(Report(rule.name, cuts.p, rule.max_iter, state.plane.value))
                converged = violation <= state.plane.slack + rule.eps
                if converged or cuts.p >= rule.max_iter:
                    break
                cuts.add(cuts.most_violated(state.F))
        except KeyboardInterrupt:
            interrupted = True
        if self.state is None:
            raise KeyboardInterrupt
        if interrupted:
            reason = f"interrupted with {cuts.p} cuts: the last plane is kept"
        elif converged:
            reason = f"no constraint is violated by more than xi + eps: {violation:.3g} with {cuts.p} cuts"
        else:
            reason = f"max_iter = {rule.max_iter} cuts reached with a violation of {violation:.3g}"
        facts = {"cuts": cuts.p, "programs": len(self.history), "cuts_of_each": tuple(self.sizes)}
        k = self.state.F.shape[1]
        used = len(np.unique(np.argmax(self.state.F, axis=1)))
        empty = None
        if k > 1 and used < k:
            empty = (
                f"solver '{rule.name}': {k - used} of {k} clusters have no sample; its balance bounds outputs, "
                "not sizes. A balancer ('band'), a kernel ('rbf') or a larger C may help"
            )
        status = Status(cuts.p, converged, reason, tuple(self.history), facts, interrupted, empty_clusters=empty)
        return self.state, status

    def _keep_winners(self) -> None:
        """Cuts at the labels given, until those are fitted; then the winners follow the outputs.

        The plane of a single cut tells several clusters apart so badly that some of them would be lost at once.
        """
        for _ in range(max(1, self.rule.max_iter // 2)):
            state, _ = self._program(free=False)
            short = np.maximum(0.0, 1.0 - self.cuts.leads(state.F))
            if float(short.mean()) <= state.plane.slack + self.rule.eps or self.cuts.p >= self.rule.max_iter:
                break
            self.cuts.add(self.cuts.most_violated(state.F))

    def _concave_convex(self) -> _State:
        """Linearise and solve until the objective falls by less than `cccp_tol` of it."""
        value: float | None = None
        for _ in range(CCCP_STEPS):
            state, changed = self._program()
            still = value is not None and value - state.plane.value <= self.rule.cccp_tol * abs(value)
            value = state.plane.value
            if still or not changed:
                break
        return state

    def _program(self, free: bool = True) -> tuple[_State, int]:
        """Solve for the present cuts; the winners follow if free. Also how many changed."""
        plane = self._plane()
        W, WP, offset, square = self._weights(plane)
        F, changed = self.cuts.turn(W, WP, offset, free)
        self.state = _State(W, offset, F, plane, square)
        self.history.append(plane.value)
        self.sizes.append(self.cuts.p)
        return self.state, changed

    def _nearness(self) -> Array:
        """Minus half the squared distances to the class means, up to a constant of the sample: for the first rivals."""
        q = self.rule.outputs
        if q == 1:
            return np.zeros((len(self.cuts.z), 1))
        T = np.equal(self.cuts.z[:, None], np.arange(q)).astype(np.int8)
        shares = T.mean(axis=0)
        present = shares > 0.0
        safe = np.where(present, shares, 1.0)
        W, WP = (
            form / safe - np.outer(mean, present)
            for form, mean in zip(self.vectors.vector(T), self.vectors.mean, strict=True)
        )
        offset = -self._at_mean(W) - 0.5 * np.einsum("aq,aq->q", W, WP)
        nothing = np.empty(0, dtype=np.intp)
        F = self.vectors.turn(W, WP, offset, lambda rows, F: (nothing, nothing))
        F[:, ~present] = -np.inf
        return F

    def _at_mean(self, W: Array) -> Array:
        """Outputs of the mean sample, (q,)."""
        return self.vectors.mean[1] @ W

    def _centred(self) -> tuple[Array, Array]:
        """Vectors and partners of samples minus their mean: translations drop out, and so do their rounding errors."""
        V, P = self.vectors.V, self.vectors.partner
        one, other = self.vectors.mean
        first = V - one[:, None, None] * self.cuts.means
        return first, (first if P is V else P - other[:, None, None] * self.cuts.means)

    def _plane(self) -> Plane:
        V, P = self._centred()
        gram = np.einsum("apq,abq->pb", V, P, optimize=True)
        gram = 0.5 * (gram + gram.T)
        centre = None
        if not self.rule.intercept:
            one, other = self.vectors.mean
            centre = np.tensordot(other, V, axes=1), float(one @ other)
        return solve_cuts(gram, self.cuts.heights, self.cuts.means, self.rule.C, self.half, centre)

    def _weights(self, plane: Plane) -> tuple[Array, Array, Array, float]:
        """W, its partner, the offset of the outputs and |W|²."""
        V, P = self._centred()
        W, WP = (np.einsum("apq,p->aq", form, plane.weights) for form in (V, P))
        if self.rule.intercept:
            offset = plane.bias - self._at_mean(W)
        else:
            one, other = self.vectors.mean
            W, WP = W - np.outer(one, plane.pull), WP - np.outer(other, plane.pull)
            offset = np.zeros(self.rule.outputs)
        return W, WP, offset, max(0.0, float(np.einsum("aq,aq->", W, WP)))
