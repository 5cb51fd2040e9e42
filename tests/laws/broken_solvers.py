"""Solvers that each break one law: a sound solver with one fault."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np

from clusterkit.contracts import Path, Prepared, Solver
from clusterkit.contracts.outcomes import Embedding, Ending, LinearRows, Scores, Status
from clusterkit.contracts.pass_solver import Finished, PassSolver
from clusterkit.samples import FeatureSpace
from clusterkit.samples.coding import Coding
from clusterkit.samples.sums import Sums, class_totals


@attrs.define(eq=False)
class FaultyPrepared(Prepared):
    """Scores by class means, with one fault."""

    space: FeatureSpace
    fault: str
    iterations: int = 0
    resolved: ClassVar[dict] = {}

    def solve(self, targets, previous, rng):
        B = self.space.adjoint(targets) / np.maximum(targets.sizes().ravel(), 1)  # (L, k)
        rows = self.space.apply(B)
        self.iterations += 1
        if self.fault == "stacks":
            rows = rows * targets.starts
        if self.fault == "remembers":
            rows = rows + self.iterations
        if self.fault == "unseeded":
            rows = rows + np.random.default_rng().standard_normal(rows.shape)
        if self.fault == "nan":
            rows = rows / np.where(rows == 0, np.nan, 1.0)
        if self.fault == "order":
            rows = rows * np.arange(1, len(rows) + 1)[:, None]
        if self.fault == "peeks":
            # all rows at once instead of the blocks of the plan
            rows = rows + float(sum(np.sum(H, dtype=H.dtype) for _, H in self.space.blocks())) * (
                type(self.space).__name__ == "StreamedSpace"
            )
        extend = LinearRows(self.space.transform, B)
        if self.fault == "columns":
            extend = EveryColumn(extend)
        if self.fault == "extends":
            extend = LinearRows(self.space.transform, B + 1.0)
        if self.fault == "closure":
            return Scores(rows, lambda Y: LinearRows(self.space.transform, B)(Y))
        if self.fault == "type":
            return Embedding(rows, extend)
        if self.fault == "transductive":
            extend = None
        return Scores(rows, extend, starts=targets.starts)

    def objective(self, targets, outcome):
        sign = {"near": -1.0, "far": 1.0}.get(self.fault)
        if sign is not None:
            return np.array([sign * outcome.rows[np.arange(len(outcome.rows)), targets.labels[0]].sum()])
        return np.array([float(self.iterations)]) if self.fault in ("objective", "rises") else None


@attrs.frozen(eq=False)
class EveryColumn:
    """An extension that gives all columns, whichever are chosen."""

    extend: LinearRows

    def __call__(self, Y):
        return self.extend(Y)

    def columns(self, index):
        return self


def _faulty(solver, space, task, rng):
    return FaultyPrepared(space, solver.fault)


class Faulty(Solver):
    """Parameters: fault."""

    name: ClassVar[str] = "faulty"
    codings: ClassVar[frozenset] = frozenset({Coding.ONEHOT})
    targets: ClassVar[str] = "every_iteration"
    fault: str = ""

    @property
    def paths(self):
        return {FeatureSpace: Path(_faulty, Scores)}


def solver(fault: str, **promises: Any) -> Solver:
    cls = attrs.frozen(type("Faulty", (Faulty,), {"__annotations__": {"fault": str}, "fault": fault, **promises}))
    return cls()


@attrs.frozen(eq=False)
class FaultySums:
    """Scores by class means from sums over the rows, with one fault."""

    transform: Any
    fault: str
    resolved: ClassVar[dict] = {}

    def part(self, H, targets, scores):
        if self.fault == "unweighted":
            targets = attrs.evolve(targets, weights=None)
        sums, sizes = class_totals(H, targets)
        return Sums.of(sums, sizes + (self.fault == "empty" and not len(H)))

    def finish(self, total, previous):
        sums, sizes = total.arrays
        return Finished(LinearRows(self.transform, sums / np.maximum(sizes, 1)), np.array([float(sizes.sum())]))


def _faulty_sums(solver, space, task, rng):
    return PassSolver(space, FaultySums(space.transform, solver.fault))


class FaultyPasses(Faulty):
    """Parameters: fault."""

    name: ClassVar[str] = "faulty_passes"

    @property
    def paths(self):
        return {FeatureSpace: Path(_faulty_sums, Scores, passes="anywhere", weighted=True)}


def by_passes(fault: str) -> Solver:
    return attrs.frozen(type("FaultyPasses", (FaultyPasses,), {"__annotations__": {"fault": str}, "fault": fault}))()


class Silent(Solver):
    """One iteration, and no status."""

    name: ClassVar[str] = "silent"
    history: ClassVar[tuple] = ()

    @property
    def paths(self):
        return {FeatureSpace: Path(_silent, Embedding)}


class Climbing(Silent):
    """A history of one sign, and an objective of the other."""

    name: ClassVar[str] = "climbing"
    has_objective: ClassVar[bool] = True
    history: ClassVar[tuple] = (2.0, 1.0)


class Ascending(Climbing):
    """An objective that is maximised."""

    name: ClassVar[str] = "ascending"
    history: ClassVar[tuple] = (-1e9, -1.0)


@attrs.frozen(eq=False)
class SilentPrepared(Prepared):
    space: FeatureSpace
    history: tuple
    resolved: ClassVar[dict] = {}

    def solve(self, targets, previous, rng):
        B = np.ones((self.space.width, 1))
        status = Status(1, Ending.CONVERGED, "made for the laws", self.history) if self.history else None
        return Embedding(self.space.apply(B), LinearRows(self.space.transform, B), status=status)

    def objective(self, targets, outcome):
        return np.array([-1.0]) if self.history else None


def _silent(solver, space, task, rng):
    return SilentPrepared(space, solver.history)
