"""The abstract balancer, the costs that it reads, and what it decides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Sizes
from clusterkit.core import memory
from clusterkit.core.coding import Coding
from clusterkit.core.stages.partitioner import BlockLabels
from clusterkit.core.stages.stage import Stage, Task
from clusterkit.core.sums import Addable, RowsInOrder, total
from clusterkit.core.transform import block_plan

__all__ = ["BalanceDecision", "Balancer", "CostTable", "Costs"]

Part = TypeVar("Part", bound=Addable)


class Costs(ABC):
    """What each of k labels costs for each of n samples: a table in memory, elsewhere computed anew in each pass."""

    in_memory: ClassVar[bool] = False
    """Whether `table` and `labels` are at hand; else they take a pass, and memory for all costs."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of samples."""

    @property
    @abstractmethod
    def k(self) -> int:
        """Number of clusters."""

    @abstractmethod
    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """One pass: the sum of ``part(rows, costs of these rows)`` over all blocks."""

    def table(self) -> Array:
        """All costs on the host, (n, k).

        Raises
        ------
        NeedsMemory
            If they exceed the memory cap.
        """
        memory.require(
            8 * self.n * self.k, f"the costs of {self.n} rows", "Take balancer=None, or fit a sample of the rows."
        )
        joined: Any = self.reduce(_Table())
        costs: Array = joined.arrays[0]
        return costs

    @property
    def labels(self) -> Labels:
        """The labels before they are balanced, (n,): for each sample the cheapest."""
        labels: Labels = np.argmin(self.table(), axis=1)
        return labels


@final
@attrs.frozen(eq=False)
class _Table:
    """Part of a pass: the costs of a block, to be put behind each other."""

    def __call__(self, rows: slice, costs: Array) -> RowsInOrder:
        return RowsInOrder((costs,))


@final
@attrs.frozen(eq=False)
class CostTable(Costs):
    """Costs in memory; neither they nor their labels may be changed.

    Parameters
    ----------
    costs : ndarray of shape (n, k)
    labels : ndarray of shape (n,), optional
        The labels that were read with them; by default the cheapest.

    Examples
    --------
    >>> table = CostTable(np.array([[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]]))
    >>> table.n, table.k, table.labels.tolist()
    (3, 2, [0, 1, 0])
    """

    in_memory: ClassVar[bool] = True

    costs: Array
    labels: Labels = attrs.field()

    @labels.default
    def _cheapest(self) -> Labels:
        labels: Labels = np.argmin(self.costs, axis=1)
        return labels

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.costs.shape[0])

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.costs.shape[1])

    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """One pass in blocks, as outside memory."""
        blocks = block_plan(self.n, self.k, self.costs.dtype)
        return total((rows, part(rows, self.costs[rows])) for rows in blocks)

    def table(self) -> Array:
        """The costs themselves."""
        return self.costs


@final
@attrs.frozen(eq=False)
class BalanceDecision:
    """How balanced labels follow from costs.

    Parameters
    ----------
    labels : ndarray of shape (n,), callable or None
        The labels; or row slice and costs of these rows, (b, k), to their labels, (b,): a frozen callable that pickles.
        None: labels stay as they are (`Costs.labels`).
    offsets : ndarray of shape (k,) or None
        Added to the costs they make new samples follow the same balance.
    exact : bool
        Whether predicting the training rows gives the labels.
    facts : mapping
        What is worth reporting about these labels, for `resolved_`.
    """

    labels: Labels | BlockLabels | None = None
    offsets: Array | None = None
    exact: bool = True
    facts: Mapping[str, object] = attrs.field(factory=dict)

    def labels_of(self, costs: Costs) -> Labels:
        """The labels of all samples, (n,), whose costs are in memory."""
        if self.labels is None:
            return costs.labels
        return self.labels(slice(0, costs.n), costs.table()) if callable(self.labels) else self.labels


class Balancer(Stage):
    """Keeps cluster sizes within bounds."""

    kind: ClassVar[str] = "balancer"
    codings: ClassVar[frozenset[Coding]] = frozenset(Coding)

    @abstractmethod
    def bounds(self, n: int, k: int) -> tuple[Sizes, Sizes]:
        """Necessary cluster sizes, lowest and highest, arrays of shape (k,); raises `Infeasible`."""

    @abstractmethod
    def reads(self, k: int) -> str:
        """What it needs of the costs of k clusters: "passes", or "all" of them in memory at once.

        Other words say why it needs all, for an error, where they follow the name of the balancer. Asked before any
        work.
        """

    @abstractmethod
    def balance(self, costs: Costs, task: Task) -> BalanceDecision:
        """Feasible labels near the cheapest ones, at little extra cost; raises `Infeasible` where there are none.

        With "all" the costs are in memory; with "passes" they may be anywhere, and the labels are the same.
        """

    @abstractmethod
    def resolved(self, n: int, k: int) -> Mapping[str, object]:
        """Parameters changed to make the sizes possible, for `resolved_`."""
