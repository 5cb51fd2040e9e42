"""The abstract balancer and the labels it gives."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import attrs

from clusterkit._typing import Array, Labels, Sizes
from clusterkit.core.coding import Coding
from clusterkit.core.stages.stage import Stage, Task

__all__ = ["Assignment", "Balancer"]


@attrs.frozen(eq=False)
class Assignment:
    """Balanced labels.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    offsets : ndarray of shape (k,) or None
        Added to the costs they make new samples follow the same balance.
    exact : bool
        Whether predicting the training rows gives `labels`.
    facts : mapping
        What is worth reporting about these labels, for `resolved_`.
    """

    labels: Labels
    offsets: Array | None
    exact: bool
    facts: Mapping[str, object] = attrs.field(factory=dict)


class Balancer(Stage):
    """Keeps cluster sizes within bounds."""

    kind: ClassVar[str] = "balancer"
    codings: ClassVar[frozenset[Coding]] = frozenset(Coding)

    @abstractmethod
    def bounds(self, n: int, k: int) -> tuple[Sizes, Sizes]:
        """Necessary cluster sizes, lowest and highest, arrays of shape (k,); raises `Infeasible`."""

    @abstractmethod
    def assign(self, costs: Array, labels: Labels, task: Task) -> Assignment:
        """Feasible labels near the given ones, at little extra cost."""

    @abstractmethod
    def resolved(self, n: int, k: int) -> Mapping[str, object]:
        """Parameters changed to make the sizes possible, for `resolved_`."""
