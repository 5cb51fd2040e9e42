"""Labels that are read on the host from the scores of all rows, of a fit whose turns run on a device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import memory
from clusterkit.core.coding import Coded
from clusterkit.core.compat import Composition
from clusterkit.core.device_engine import DeviceEngine
from clusterkit.core.iterating import Iterating, Stored, Storing, solve_by_turns
from clusterkit.core.iteration import first_least
from clusterkit.core.label_turns import one_turn
from clusterkit.core.namespaces import BlockFunction, to_host
from clusterkit.core.outcomes import Outcome, Scores
from clusterkit.core.run import FitResult, result_of
from clusterkit.core.seeds import Seeds
from clusterkit.core.shortage import n_with_samples, shortage
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import Prepared, Task
from clusterkit.core.summing import RowFunction
from clusterkit.core.transform import Transform

__all__ = ["labelled_on_host"]


def labelled_on_host(
    c: Composition, space: RowsSpace, turns: Iterating, engine: DeviceEngine, task: Task, seeds: Seeds
) -> FitResult:
    """The fit of a solver that learns from no labels, with a labeler that looks at its scores alone.

    The scores (n, q) of each start are brought to the host and labelled there as in memory; labels lie where the
    samples lie.
    """
    rngs = seeds.of_starts("solver", c.n_init)
    prepared = _PreparedElsewhere(turns, space, engine, task)
    ends, interrupted = one_turn(prepared, c.labeler, c.balancer, space, task, rngs, solver=c.solver)
    best = ends[first_least([end.objective for end in ends], space.dtype)]
    labeling = best.labeling
    assert labeling is not None
    labels = labeling.labels.astype(np.intp, copy=False)
    placed = attrs.evolve(labeling, labels=engine.placed(labels, space.source), outcome=None)

    def missing() -> str | None:
        return None if task.n_clusters is None else shortage(n_with_samples(labels), task.n_clusters, task.n)

    c = attrs.evolve(c, balancer=None, limits=None)
    return result_of(c, task, space, turns.resolved, (ends, interrupted), best, placed, missing)


@final
@attrs.frozen(eq=False)
class _PreparedElsewhere(Prepared):
    """A solver whose turns run on a device, and whose scores come to the host."""

    turns: Iterating
    space: RowsSpace
    engine: DeviceEngine
    task: Task

    @property
    def resolved(self) -> Mapping[str, Any]:
        return self.turns.resolved

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        assert outcome.status is not None
        return np.array([outcome.status.history[-1]])

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        space = self.space
        function, status = solve_by_turns(self.turns, space, rng, self.task.sample_weight)
        if isinstance(self.turns, Storing):
            stored: Stored = self.turns.stored(function)
            self._require(stored.rows.d)
            table = to_host(stored.rows.read(slice(0, space.n))).astype(space.dtype, copy=False)
            status = attrs.evolve(status, predicts_labels=False)  # new rows do not end where the stored ones did
            return Scores(table, stored.extend, scale=stored.scale, status=status)
        self._require(self.task.k)
        scores = self.engine.values(_ScoresOf(space.reading, function), space.source, space.width)
        return Scores(np.asarray(to_host(scores)), function, status=status)

    def _require(self, columns: int) -> None:
        n = self.space.n
        memory.require(
            n * columns * self.space.dtype.itemsize,
            f"the {n} x {columns} scores of all rows, which the labeler needs on the host",
            "Use labeler='argmax', which reads the label of each row by itself.",
        )


@final
@attrs.frozen(eq=False)
class _ScoresOf(BlockFunction):
    """The scores of a block of raw rows."""

    transform: Transform
    function: RowFunction

    def __call__(self, rows: slice, X: Array) -> Array:
        return self.function.on(self.transform(X))
