"""The solvers `equal` and `geoclust` bound to features: scores are minus squared distances to the final centres."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Prepared
from clusterkit.contracts.outcomes import Ending, Outcome, Scores, Status
from clusterkit.families.equal.drift import DriftRule, Parts, even_out, minus_distances
from clusterkit.families.equal.fade import find_even_parts
from clusterkit.numerics.shapes import array
from clusterkit.samples import FeatureSpace, memory
from clusterkit.samples.coding import Coded
from clusterkit.samples.limits import Report, notify
from clusterkit.samples.transform import Transform

__all__ = ["Nearness", "PreparedDrift"]


@final
@attrs.frozen(eq=False)
class PreparedDrift(Prepared):
    """A rule for moving centres, bound to a feature space.

    Parameters
    ----------
    name : str
        Name of the solver.
    rule : DriftRule
    space : FeatureSpace
    m : int
        Number of clusters.
    """

    name: str
    rule: DriftRule
    space: FeatureSpace
    m: int

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {"step": self.rule.step_for(self.m), "size_tol": self.rule.tolerance_for(self.space.n, self.m)}

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """Imbalance of the labels: the largest difference of a cluster size from ``n // k``."""
        assert outcome.status is not None
        return np.array([outcome.status.objective])

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        n, m = self.space.n, self.m
        if m == 1:
            return self._single_cluster()
        memory.require(8 * n * self.space.width, f"the {n} x {self.space.width} feature matrix", "Use fewer features.")

        def report(iterations: int, imbalance: float) -> None:
            notify(Report(self.name, iterations, self.rule.max_iter, imbalance))

        parts = find_even_parts(self.space.rows(), m, self.rule, rng, report)
        extend = Nearness(self.space.transform, parts.centres, np.zeros(m))
        rows: Array = np.empty((n, m))
        for block, H in self.space.blocks():
            rows[block] = extend.of_features(H)
        facts: dict[str, Any] = {}
        tied = 0
        if self.rule.repair:
            rows, offsets, moved, tied = even_out(rows)
            extend = attrs.evolve(extend, offsets=offsets)
            facts = {"repaired": True, "moved": moved, "tied": tied}
        return Scores(rows, extend, status=self._status(parts, rows, facts, exact=tied == 0))

    def _single_cluster(self) -> Scores:
        centre: Array = self.space.rows().astype(np.float64).mean(axis=0)[None]
        extend = Nearness(self.space.transform, centre, np.zeros(1))
        facts = {"sizes": (self.space.n,), "imbalance": 0, "best_iteration": 0, "starts": 0}
        status = Status(0, Ending.CONVERGED, "one cluster: there is nothing to divide", (), facts, objective=0.0)
        return Scores(extend.of_features(self.space.rows()), extend, status=status)

    def _status(self, parts: Parts, rows: Array, repair: Mapping[str, Any], exact: bool) -> Status:
        """The status of a fit. Sizes are counted from the labels; the sizes in the loop agree with them up to ties."""
        n, m = rows.shape
        sizes = np.bincount(np.argmax(rows, axis=1), minlength=m)
        facts: dict[str, Any] = {
            "sizes": tuple(sizes.tolist()),
            "imbalance": int(np.abs(sizes - n // m).max()),
            "best_iteration": parts.iteration,
            "starts": parts.starts,
            **repair,
        }
        history = tuple(parts.imbalances.astype(float).tolist())
        if parts.converged:
            ending = Ending.SETTLED
        elif parts.interrupted:
            ending = Ending.INTERRUPTED
        else:
            ending = Ending.STALLED if len(history) < self.rule.max_iter else Ending.OUT_OF_ITERATIONS
        return Status(
            len(history),
            ending,
            parts.reason,
            history,
            facts,
            predicts_labels=exact,
            objective=float(facts["imbalance"]),
        )


@final
@attrs.frozen(eq=False)
class Nearness:
    """Scores of new samples: minus squared distances to the centres, plus the offsets of a repair.

    Parameters
    ----------
    transform : Transform
        Maps raw rows to features.
    centres : ndarray of shape (k, L)
    offsets : ndarray of shape (k,)
        Zeros unless the sizes were repaired.
    """

    transform: Transform
    centres: Array = attrs.field(validator=array("k L"))
    offsets: Array = attrs.field(validator=array("k"))

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, k), float64, in blocks."""
        rows = np.empty((len(Y), len(self.centres)))
        for block, H in self.transform.blocks(Y):
            rows[block] = self.of_features(H)
        return rows

    def of_features(self, H: Array) -> Array:
        """Scores of features, (m, L) to (m, k)."""
        return minus_distances(H, self.centres, self.offsets)

    def columns(self, index: slice | Indices) -> Nearness:
        """Scores of a part of the centres."""
        return attrs.evolve(self, centres=self.centres[index], offsets=self.offsets[index])
