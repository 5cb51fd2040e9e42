"""The first labels of rows outside memory in a canonical numbering, for codings that put the clusters on a line."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.class_sums import class_totals
from clusterkit.core.coding import Coded, Coding, unit_vectors
from clusterkit.core.namespaces import BlockFunction, array_namespace, is_device_array, to_device_of, to_host
from clusterkit.core.ordering import principal_numbers
from clusterkit.core.rows_loop import Decide
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import BlockLabels, Task
from clusterkit.core.sums import Sums

__all__ = ["numbered_along_axis"]


def numbered_along_axis(space: RowsSpace, begin: Decide, task: Task) -> Decide:
    """The same first labels, numbered as `clusterkit.core.ordering.along_principal_axis` does: one pass."""
    # what adds up has the type of its parts, which the type of the engine does not say
    classes: _Classes = space.engine.reduce(_ClassesOf(begin, task.k, task.sample_weight), space.source, space.width)
    class_sums, sizes = classes.sums.arrays
    sizes = np.where(sizes > 0, sizes, 1)
    # a cluster without rows appears nowhere; in memory it counts as appearing in the first row
    appears = np.where(classes.appears < task.n, classes.appears, 0)
    assert begin.start is not None
    numbers = principal_numbers((class_sums / sizes).T, sizes, appears)
    return attrs.evolve(begin, start=_Numbered(begin.start, numbers))


@final
@attrs.frozen(eq=False)
class _Numbered(BlockFunction):
    """The labels of a block under other numbers."""

    labels: BlockLabels
    numbers: Labels

    def __call__(self, rows: slice, H: Array) -> Labels:
        labels = self.labels(rows, H)
        if is_device_array(labels):
            return array_namespace(labels).take(to_device_of(self.numbers, labels), labels, axis=0)
        return self.numbers[labels]


@final
@attrs.frozen(eq=False)
class _Classes:
    """Class sums and sizes, and the first row of each class."""

    sums: Sums
    appears: Indices

    def to_host(self) -> _Classes:
        """The same on the host."""
        return _Classes(self.sums.to_host(), self.appears)

    def __add__(self, following: _Classes) -> _Classes:
        return _Classes(self.sums + following.sums, np.minimum(self.appears, following.appears))


@final
@attrs.frozen(eq=False)
class _ClassesOf(BlockFunction):
    """The part of a block of raw rows."""

    begin: Decide
    k: int
    weights: Array | None

    def __call__(self, rows: slice, X: Array) -> _Classes:
        H = self.begin.transform(X)
        labels, _ = self.begin.on(rows, X, H)
        weights = None if self.weights is None else self.weights[rows]
        coded = Coded(labels[None, :], Coding.ONEHOT, self.k, unit_vectors(self.k), weights)
        appears = np.full(self.k, np.iinfo(np.intp).max, dtype=np.intp)
        present, first = np.unique(to_host(labels), return_index=True)
        appears[present] = first + rows.start
        return _Classes(Sums.of(*class_totals(H, coded)), appears)
