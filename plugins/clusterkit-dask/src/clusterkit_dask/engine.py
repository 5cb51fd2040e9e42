"""The engine: passes over rows as graphs of Dask, on a cluster or on threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar, cast, final

import attrs
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

from clusterkit._typing import AnyArray, Array, Labels
from clusterkit.numerics.threads import limited_threads
from clusterkit.samples import sums
from clusterkit.samples.devices import Device
from clusterkit.samples.engines import Engine
from clusterkit.samples.rows import Rows
from clusterkit.samples.sums import Addable
from clusterkit.samples.transform import block_plan
from clusterkit_dask import tasks
from clusterkit_dask.computing import computed
from clusterkit_dask.pieces import Pieces, called, is_frame, pieces_of, pieces_of_tables
from clusterkit_dask.rows import DaskRows, literal

__all__ = ["DaskEngine"]

Part = TypeVar("Part", bound=Addable)
Value = TypeVar("Value")


MOST_BYTES = 16 * 1024**2
"""Bytes of totals that travel as one value: larger ones block the connection of a worker for too long."""


@final
@attrs.frozen
class DaskEngine(Engine):
    """Runs the passes of a fit by Dask: by the client of this process if there is one, else by Dask's own threads."""

    by_sample: ClassVar[str] = (
        "Or fit a sample and label the rest, lazily: model.fit(X[:100_000].compute()), of a frame "
        "model.fit(X.sample(frac=0.01).compute()), then model.predict(X)"
    )
    trains_pairs: ClassVar[bool] = True

    @property
    def in_process(self) -> bool:
        """False: workers may be other processes."""
        return False

    def rows(self, X: object) -> DaskRows:
        """A dask array, a dask frame, or what `clusterkit_dask.open` gives, as rows; nothing is computed."""
        return DaskRows(X.source if isinstance(X, DaskRows) else pieces_of(X))

    def are_tables(self, X: object) -> bool:
        """Whether X is a dask frame."""
        return is_frame(X)

    def of_tables(self, function: Callable[[object], Value], X: object) -> list[Value]:
        """A function of each partition of a dask frame, computed where the partition is."""
        frame: Any = X
        sent = literal(function)
        values = computed(*(delayed(called, pure=False)(sent, part) for part in frame.to_delayed()))
        return list(cast("tuple[Value, ...]", values))

    def rows_of_tables(
        self, function: Callable[[object], Array], X: object, width: int, sizes: Sequence[int] | None = None
    ) -> DaskRows:
        """The rows that a function makes of each partition of a dask frame."""
        return DaskRows(pieces_of_tables(literal(function), X, width, sizes))

    def reduce(self, part: Callable[[slice, Array], Part], rows: Rows, width: int) -> Part:
        """One pass: a task for each unit of groups, and the tree that adds them."""
        rows = _own(rows)
        rows.keep()
        if not rows.n:
            raise ValueError("no rows, so there is nothing to add up")
        sent, spans = literal(part), rows.spans(width, getattr(part, "block_rows", None))
        close = len(spans[0].groups) == sums.FAN_IN
        nodes = [
            delayed(tasks.sums_of_span, pure=False)(sent, source, span, close)
            for source, span in zip(rows.sources(), spans, strict=True)
        ]
        together = 1 if close else len(spans[0].groups)
        if (
            together > 1 and together * 4 * width**2 > MOST_BYTES
        ):  # totals of groups that may be triangles of Gram matrices
            nodes = [
                delayed(tasks.one_of, pure=False)(node, number)
                for node, span in zip(nodes, spans, strict=True)
                for number in range(len(span.groups))
            ]
            together = 1
        neighbours, add = sums.FAN_IN // together, _one_by_one if rows.made_again else _at_once
        while len(nodes) > 1:
            nodes = [add(nodes[first : first + neighbours]) for first in range(0, len(nodes), neighbours)]
            neighbours = sums.FAN_IN
        with limited_threads(0):  # no thread of Dask could set the limit while this one holds it
            (totals,) = computed(nodes[0])
        return sums.add_left_to_right(cast("list[Part]", totals))

    def there(self, function: Callable[[slice, Array], Value], device: Device) -> Callable[[slice, Array], Value]:
        """The function of a block as one that runs on a device of the worker: one device a worker."""
        return cast("Callable[[slice, Array], Value]", tasks.OnWorkersDevice(function, device))

    def blocks(self, rows: Rows, width: int) -> Iterator[tuple[slice, Array]]:
        """The rows of the blocks, group by group brought here."""
        rows = _own(rows)
        first, X = 0, np.empty((0, rows.d), dtype=rows.dtype)
        for block in block_plan(rows.n, width, rows.dtype):
            if block.start >= first + len(X):
                first = block.start
                X = rows.read(slice(first, min(rows.n, first + sums.GROUP)))
            yield block, X[block.start - first : block.stop - first]

    def labels(self, label: Callable[[slice, Array], Labels], rows: Rows, width: int) -> Labels:
        """Labels as a lazy dask array with the chunks of the samples; unknown chunks stay unknown."""
        rows, sent = _own(rows), literal(label)
        if isinstance(rows.source, Pieces) and not rows.counted:
            step = rows.step(width)
            labelled = [
                delayed(tasks.labels_of_piece, pure=False)(sent, part, step, rows.dtype, rows.names, number)
                for number, part in enumerate(rows.source.parts)
            ]
            return _holding(rows, _concatenated([(task, np.nan) for task in labelled]))
        spans = rows.spans(width, getattr(label, "block_rows", None)) if rows.n else ()
        lazy = _concatenated(
            [
                (delayed(tasks.labels_of_span, pure=False)(sent, source, span), span.stop - span.start)
                for source, span in zip(rows.sources(original=True), spans, strict=True)
            ]
        )
        return _holding(rows, _aligned(lazy, rows))

    def of_pairs(
        self, function: Callable[[Array, Array], Value], rows: Rows, part_of: Labels, pairs: Sequence[tuple[int, int]]
    ) -> list[Value]:
        """A function of the rows of every pair of parts (a, b), in their order.

        Each part is one task, whose value is sent at most once to a worker that has a pair of it, and is made again if
        it is lost.

        Parameters
        ----------
        function : callable
            Function of the rows of part a and of part b, as they were read.
        rows : DaskRows
        part_of : ndarray of shape (n,)
            Part of each row.
        pairs : sequence of (int, int)
        """
        rows, sent = _own(rows), literal(function)
        rows.keep()
        parts = rows.cut(part_of)
        values = computed(*(delayed(tasks.of_pair, pure=False)(sent, parts[a], parts[b]) for a, b in pairs))
        return cast("list[Value]", list(values))

    def named(self, labels: Labels, names: AnyArray) -> AnyArray:
        """The name of each label, (n,), as a lazy dask array."""
        lazy: AnyArray = da.map_blocks(names.take, labels, dtype=names.dtype, meta=names[:0])
        return lazy

    def placed(self, labels: Labels, rows: Rows) -> Labels:
        """Labels of a fit in memory as a dask array with the chunks of the samples."""
        return _aligned(da.from_array(labels, chunks=-1), _own(rows))


def _at_once(nodes: list[Delayed]) -> Delayed:
    """A node of the tree as one task."""
    return delayed(tasks.sum_of_nodes, pure=False)(nodes)


def _one_by_one(nodes: list[Delayed]) -> Delayed:
    """The sum of `_at_once`, as a chain with a task for each neighbour.

    Dask takes the neighbours of one task in an order of its own, and then holds the partitions that reach into units
    it has left out, a dozen at a time. A chain it follows from its first link on.
    """
    node = _at_once(nodes[:2])
    for following in nodes[2:]:
        node = _at_once([node, following])
    return node


def _own(rows: Rows) -> DaskRows:
    if not isinstance(rows, DaskRows):
        raise TypeError(f"the engine of Dask runs over its own rows, not {type(rows).__name__}")
    return rows


def _concatenated(parts: list[tuple[Delayed, float]]) -> Labels:
    """A dask array of labels from tasks and their numbers of rows."""
    arrays = [da.from_delayed(task, shape=(rows,), dtype=np.intp) for task, rows in parts]
    labels: Labels = da.concatenate(arrays, allow_unknown_chunksizes=True) if arrays else da.zeros(0, dtype=np.intp)
    return labels


def _holding(rows: DaskRows, labels: Any) -> Labels:
    """Lazy labels whose graph holds what is persisted of the samples, so that it stays as long as they do."""
    futures = rows.source.futures if isinstance(rows.source, Pieces) else {}
    lazy: Labels = labels
    if futures:
        graph = HighLevelGraph.merge(
            labels.dask, HighLevelGraph.from_collections(f"persisted-{labels.name}", futures, dependencies=())
        )
        lazy = da.Array(graph, labels.name, labels.chunks, dtype=labels.dtype, meta=labels._meta)
    return lazy


def _aligned(labels: Any, rows: DaskRows) -> Labels:
    """Labels in the chunks of the partitions, so that they can stand beside the samples."""
    if rows.sizes and labels.chunks != (rows.sizes,):
        labels = labels.rechunk((rows.sizes,), method="tasks")
    lazy: Labels = labels
    return lazy
