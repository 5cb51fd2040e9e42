"""A solver whose turns are sums over the rows, bound to a space in memory or to rows that an engine reads."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core.coding import Coded
from clusterkit.core.iterating import Iterating, Storing, solve_by_turns
from clusterkit.core.namespaces import to_host
from clusterkit.core.outcomes import Outcome, Scores
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import Prepared
from clusterkit.core.summing import RowFunction, Summing, solve_by_sums

__all__ = ["PassSolver"]

SCORES = "scores of all rows, which the labeler needs on the host"
"""What a table of scores is called in errors."""


@attrs.frozen(eq=False)
class PassSolver(Prepared):
    """A solver by passes over the features of its space, in every place.

    In memory it may have a faster way of its own to the same outcome.

    Parameters
    ----------
    space : FeatureSpace
    turns : Summing or Iterating
        What a turn adds up: of labels, or of a state of the solver's own.
    weights : ndarray of shape (n,) or None
        How much each sample counts, for turns of a state.
    """

    space: FeatureSpace
    turns: Summing | Iterating
    weights: Array | None = attrs.field(default=None, kw_only=True)

    @property
    def resolved(self) -> Mapping[str, object]:
        """What the turns decided."""
        return self.turns.resolved

    @property
    def objective_factor(self) -> float:
        """That of the turns, where they have one."""
        factor: float = getattr(self.turns, "objective_factor", 1.0)
        return factor

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        """The scores of all samples after one turn over labels, or after all turns of a solver with its own state."""
        if isinstance(self.turns, Iterating):
            return self._solve_by_turns(self.turns, rng)
        assert targets is not None
        before = previous.extend if isinstance(previous, Scores) else None
        finished = solve_by_sums(self.turns, self.space, targets, before)  # type: ignore[arg-type] # it made that one
        table = self._table(finished.extend, targets.starts * targets.codebook.shape[1])
        return Scores(table, finished.extend, starts=targets.starts, status=finished.status, carry=finished.objective)

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """From the sums of the turn."""
        if isinstance(self.turns, Iterating):
            assert outcome.status is not None
            return np.array([outcome.status.history[-1]])
        assert isinstance(outcome, Scores)
        assert isinstance(outcome.carry, np.ndarray)
        return outcome.carry

    def _solve_by_turns(self, turns: Iterating, rng: Rng) -> Scores:
        function, status = solve_by_turns(turns, self.space, rng, self.weights)
        if not isinstance(turns, Storing):
            return Scores(self._table(function, turns.k), function, status=status)
        stored = turns.stored(function)
        self.space.require_table(stored.rows.d, SCORES)
        rows = to_host(stored.rows.read(slice(0, self.space.n))).astype(self.space.dtype, copy=False)
        status = attrs.evolve(status, predicts_labels=False)  # new rows do not end where the stored ones did
        return Scores(rows, stored.extend, scale=stored.scale, status=status)

    def _table(self, function: RowFunction, columns: int) -> Array:
        return self.space.table(function.on, columns, SCORES)
