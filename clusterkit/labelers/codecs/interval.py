"""Clusters by the interval of a line that a score falls in."""

from __future__ import annotations

from typing import ClassVar, Self, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core import params
from clusterkit.core.coding import Coding
from clusterkit.core.namespaces import array_namespace
from clusterkit.core.row_graph import Node
from clusterkit.core.stages import Codec, Task

__all__ = ["Interval"]


@final
@attrs.frozen
class Interval(Codec):
    """k clusters from one score, by the interval that it falls in.

    The single-output coding of the EMMC paper. Clusters with neighbouring numbers are neighbours on the line, so the
    result depends on the numbering of the initial clusters, which are numbered along their principal axis. Prefer
    `argmax` for more than two clusters, except to reproduce the published tables. O(n k).

    Parameters
    ----------
    rule : {"nearest", "midpoint", "paper"}, default "nearest"
        Targets and boundaries. "nearest": targets 1..k, boundaries at half-integers, which minimises the squared
        error. "midpoint": targets 1/2, 3/2, …, boundaries at integers; the same up to a shift of the targets. "paper":
        targets 1..k with boundaries at integers as printed, which moves half of each cluster to a higher number in
        every iteration, so that all clusters but one become empty without a balancer.

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., Proposition 1 (the printed rule).
    """

    name: ClassVar[str] = "interval"
    coding: ClassVar[Coding] = Coding.ORDINAL
    rowwise: ClassVar[bool] = True
    array_api: ClassVar[bool] = True
    rule: str = params.choice("nearest", ("nearest", "midpoint", "paper"))

    def codebook(self, k: int) -> Array:
        """The targets on the line, (k, 1)."""
        shift = 0.5 if self.rule == "midpoint" else 1.0
        return (np.arange(k, dtype=np.float64) + shift)[:, None]

    def costs(self, rows: Array, k: int) -> Array:
        """Squared distance to the middle of each interval, (n, k); a score on a boundary goes to the lower cluster."""
        xp = array_namespace(rows)
        if xp is np:
            return (rows - self._middles(k)) ** 2
        costs: Array = (rows - (xp.arange(k, dtype=xp.float64, device=rows.device) + self._first_middle)) ** 2
        return costs

    def onnx(self, rows: Node, k: int) -> Node:
        """Squared distances to the middles."""
        return (rows - self._middles(k)).square()

    def _middles(self, k: int) -> Array:
        """The middle of each interval, (k,)."""
        return np.arange(k) + self._first_middle

    @property
    def _first_middle(self) -> float:
        return 1.0 if self.rule == "nearest" else 0.5

    def calibrate(self, rows: Array, task: Task) -> Self:
        """This codec itself: it has nothing to fit."""
        return self
