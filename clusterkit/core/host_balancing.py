"""Balancing of few rows that are computed on a device: their costs are brought to the host, as in memory."""

from __future__ import annotations

from typing import cast, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.contracts import During, check_assignment
from clusterkit.core.cost_passes import CostPasses, RowDecision
from clusterkit.core.first_labels import GivenLabels
from clusterkit.core.stages import Balancer, Task
from clusterkit.core.sums import RowsInOrder

__all__ = ["HostBalance"]


@final
@attrs.frozen
class HostBalance:
    """Any balancer, as one that decides by passes: by one, which collects the costs (n, k) of all rows.

    Parameters
    ----------
    balancer : Balancer
    """

    balancer: Balancer

    def why_not_by_passes(self, k: int) -> str | None:
        """None: every balancer works on costs in memory."""
        return None

    def decide(self, costs: CostPasses, task: Task) -> RowDecision:
        """The assignment of all rows."""
        (joined,) = costs.reduce(_Table()).arrays
        table = cast("Array", joined)
        with During(self.balancer):
            assignment = self.balancer.assign(table, np.argmin(table, axis=1), task)
        check_assignment(self.balancer, assignment, task.n, task.k)
        return RowDecision(GivenLabels(assignment.labels), assignment.offsets, assignment.exact, assignment.facts)


@final
@attrs.frozen
class _Table:
    """The costs of a block, to be put behind each other."""

    def __call__(self, rows: slice, costs: Array) -> RowsInOrder:
        return RowsInOrder((costs,))
