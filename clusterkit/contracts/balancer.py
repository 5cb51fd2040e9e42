"""The abstract balancer, the costs that it reads, and what it decides.

`limit_of` selects the r-th smallest of many values exactly and in a few passes, by histograms of their digits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Counts, Indices, Labels, Mask, Sizes
from clusterkit.contracts.partitioner import BlockLabels
from clusterkit.contracts.stage import Stage, Task
from clusterkit.samples import memory
from clusterkit.samples.coding import Coding
from clusterkit.samples.sums import Addable, RowsInOrder, Sums, total
from clusterkit.samples.transform import block_plan

Part = TypeVar("Part", bound=Addable)


class Costs(ABC):
    """Costs of k labels for n samples, (n, k): a table in memory, or computed anew in each pass."""

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
    """Part of a pass: the costs of a block, which are concatenated."""

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
    """Decision of a balancer: how balanced labels follow from costs.

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
        The balancer's report about these labels, for `resolved_`.
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
    """Codings whose costs the balancer can read."""
    linked: ClassVar[bool] = False
    """True if the labels keep the links of the task (`Task.links`)."""
    weighted: ClassVar[bool] = False
    """True if sizes are counted by `Task.sample_weight`, or could make no difference."""

    @abstractmethod
    def bounds(self, n: int, k: int) -> tuple[Sizes, Sizes]:
        """Necessary cluster sizes, lowest and highest, arrays of shape (k,); raises `Infeasible`."""

    @abstractmethod
    def reads(self, k: int) -> str:
        """How a balancer reads the costs of k clusters: in "passes", or "all" of them in memory at once.

        Any other text says why it needs all, for an error, where it follows the name of the balancer. Asked before
        any work.
        """

    @abstractmethod
    def balance(self, costs: Costs, task: Task) -> BalanceDecision:
        """Feasible labels near the cheapest ones, at little extra cost; raises `Infeasible` where there are none.

        With "all" the costs are in memory; with "passes" they may be anywhere, and the labels are the same.
        """

    @abstractmethod
    def resolved(self, n: int, k: int) -> Mapping[str, object]:
        """Parameters changed to make the sizes possible, for `resolved_`."""


DIGIT_BITS = 16
"""Bits of a digit: 65,536 counts, half a megabyte, for each pass."""
VALUE_DIGITS = 4
"""Digits of the key of a float64; the digits of the row number follow, so that ties are told apart."""
DIGITS = VALUE_DIGITS + 3
"""Digits in all: row numbers below 2^48."""
GATHERED = 2**17
"""Values that are gathered instead of counted: they are sorted in memory, and the selection ends."""

Losses = Callable[[slice, Array], tuple[Array, Indices]]
"""Row slice and costs to the values of the rows that take part, (m,), and to their row numbers, (m,), ascending."""


class Reduce(Protocol):
    """A pass over costs, such as `Costs.reduce`."""

    def __call__(self, part: Callable[[slice, Array], Part], /) -> Part:
        """The sum of ``part(rows, costs of these rows)`` over all blocks."""


@final
@attrs.frozen
class Limit:
    """The r-th smallest pair of value and row number.

    Parameters
    ----------
    value : float
    row : int
    """

    value: float
    row: int

    def below(self, values: Array, rows: Indices) -> Mask:
        """Mask of the values that are among the r smallest."""
        return (values < self.value) | ((values == self.value) & (rows <= self.row))


def ordered_keys(values: Array) -> NDArray[np.uint64]:
    """Unsigned integers in the order of float64 values; equal values, 0 and -0 among them, have equal keys.

    Examples
    --------
    >>> keys = ordered_keys(np.array([-np.inf, -1.0, -0.0, 0.0, 1e-300, 2.0]))
    >>> bool((keys[1:] >= keys[:-1]).all()), bool(keys[2] == keys[3])
    (True, True)
    """
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    sign = np.uint64(1) << np.uint64(63)
    return np.where(bits & sign, ~bits, bits | sign)


def limit_of(reduce: Reduce, losses: Losses, r: int) -> Limit:
    """The r-th smallest value, r >= 1, ties in the order of the rows; at most `DIGITS` passes, usually two.

    Each pass counts one digit of the values that share the digits of the limit so far, until few enough are left.
    """
    prefix: tuple[int, ...] = ()
    left = r
    while True:
        counts: Counts = reduce(_DigitCounts(losses, prefix)).arrays[0].astype(np.int64)
        upto = np.cumsum(counts)
        digit = int(np.searchsorted(upto, left))
        left -= int(upto[digit] - counts[digit])
        prefix = (*prefix, digit)
        if counts[digit] <= GATHERED or len(prefix) == DIGITS:
            values, rows = reduce(_Gather(losses, prefix)).arrays
            order = np.lexsort((rows, values))
            return Limit(float(values[order[left - 1]]), int(rows[order[left - 1]]))


def _digit(keys: NDArray[np.uint64], rows: Indices, place: int) -> NDArray[np.uint64]:
    numbers, last = (keys, VALUE_DIGITS) if place < VALUE_DIGITS else (rows.astype(np.uint64), DIGITS)
    return (numbers >> np.uint64(DIGIT_BITS * (last - 1 - place))) & np.uint64(2**DIGIT_BITS - 1)


def _sharing(values: Array, rows: Indices, prefix: tuple[int, ...]) -> Mask:
    """Mask of the values whose first digits are `prefix`."""
    keys, share = ordered_keys(values), np.ones(len(values), dtype=bool)
    for place, digit in enumerate(prefix):
        share &= _digit(keys, rows, place) == digit
    return share


@final
@attrs.frozen(eq=False)
class _DigitCounts:
    """Part of a pass: how many values have each next digit."""

    losses: Losses
    prefix: tuple[int, ...]

    def __call__(self, rows: slice, costs: Array) -> Sums:
        values, numbers = self.losses(rows, costs)
        share = _sharing(values, numbers, self.prefix)
        digits = _digit(ordered_keys(values[share]), numbers[share], len(self.prefix))
        return Sums.of(np.bincount(digits.astype(np.intp), minlength=2**DIGIT_BITS))


@final
@attrs.frozen(eq=False)
class _Gather:
    """Part of the last pass: the values that are left, and the numbers of their rows."""

    losses: Losses
    prefix: tuple[int, ...]

    def __call__(self, rows: slice, costs: Array) -> RowsInOrder:
        values, numbers = self.losses(rows, costs)
        share = _sharing(values, numbers, self.prefix)
        return RowsInOrder((values[share].astype(np.float64), numbers[share]))
