"""Labels that are read on the host from the scores of all rows, of a fit whose turns run on a device."""

from __future__ import annotations

import attrs
import numpy as np

from clusterkit.core.compat import Composition
from clusterkit.core.device_engine import DeviceEngine
from clusterkit.core.iterating import Iterating
from clusterkit.core.iteration import first_least
from clusterkit.core.label_turns import one_turn
from clusterkit.core.pass_solver import PassSolver
from clusterkit.core.run import FitResult, result_of
from clusterkit.core.seeds import Seeds
from clusterkit.core.shortage import n_with_samples, shortage
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import Task

__all__ = ["labelled_on_host"]


def labelled_on_host(
    c: Composition, space: RowsSpace, turns: Iterating, engine: DeviceEngine, task: Task, seeds: Seeds
) -> FitResult:
    """The fit of a solver that learns from no labels, with a labeler that looks at its scores alone.

    The scores (n, q) of each start are brought to the host and labelled there as in memory; labels lie where the
    samples lie.
    """
    rngs = seeds.of_starts("solver", c.n_init)
    prepared = PassSolver(space, turns, weights=task.sample_weight)
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
