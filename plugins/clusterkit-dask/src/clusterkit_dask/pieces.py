"""A collection of Dask as the engine sees it: partitions in order, of a known type and known columns."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, final

import attrs
import numpy as np
from dask.delayed import Delayed, delayed

from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit_dask.computing import LOGGER, computed

__all__ = ["Pieces", "called", "is_frame", "pieces_of", "pieces_of_tables"]


Value = TypeVar("Value")


@final
@attrs.frozen(eq=False)
class Pieces:
    """Partitions of samples, each a table of the same columns.

    Parameters
    ----------
    parts : tuple of Delayed
        Arrays, or frames of pandas.
    sizes : tuple of int or None
        Rows of each; None where only a pass would tell.
    d : int
    dtype : numpy dtype
        float32 where all columns are float32 or float16, else float64.
    names : tuple of str or None
        Names of the columns of a frame, where all are texts.
    counted : tuple of Delayed
        Collections with as many rows as each part, which are cheaper to compute.
    futures : dict
        Persisted futures of the parts, by key. Dask leaves futures out of the graph of a part; whoever computes it
        later must hold them, or the workers drop the rows together with the collection.
    """

    parts: tuple[Delayed, ...]
    sizes: tuple[int, ...] | None
    d: int
    dtype: np.dtype
    names: tuple[str, ...] | None
    counted: tuple[Delayed, ...]
    futures: dict[object, object] = attrs.field(repr=False)

    def sized(self) -> Pieces:
        """The pieces with the rows of each partition, which are counted in a pass if they are not known.

        Warns
        -----
        ClusterkitWarning
            If an array has unknown chunks: they could have been counted once for all fits. A frame never knows them,
            and only a logger tells.
        """
        if self.sizes is not None:
            return self
        if self.names is None and self.counted is self.parts:
            warnings.warn(
                "the chunks of this dask array have unknown sizes; its rows are counted by a pass in each fit. "
                "X.compute_chunk_sizes() counts them once",
                ClusterkitWarning,
                stacklevel=6,
            )
        else:
            LOGGER.info("counting the rows of %d partitions", len(self.parts))
        sizes = cast("tuple[int, ...]", computed(*(delayed(len, pure=False)(part) for part in self.counted)))
        return attrs.evolve(self, sizes=sizes)


def pieces_of(X: object) -> Pieces:
    """The partitions of a dask array (n, d) or of a dask frame.

    Raises
    ------
    InvalidData
        If X is another collection, has another shape, or a column that is no number; before anything is computed.
    """
    module = type(X).__module__
    if module.startswith("dask.array"):
        return _of_array(X)
    if is_frame(X):
        return _of_frame(X)
    raise InvalidData(
        f"a {type(X).__name__} of {module} is no table; pass a dask array of shape (n, d), a dask frame, or "
        "clusterkit_dask.open(path) for Parquet files"
    )


def is_frame(X: object) -> bool:
    """Whether a collection is a dask frame."""
    return type(X).__module__.startswith("dask.dataframe") and getattr(X, "ndim", 0) == 2


def pieces_of_tables(function: Delayed, X: object, width: int, sizes: Sequence[int] | None) -> Pieces:
    """The rows, (m, width), float64, that a function makes of each partition of a dask frame."""
    frame: Any = X
    partitions = tuple(frame.to_delayed())
    parts = tuple(delayed(called, pure=False)(function, part) for part in partitions)
    known = None if sizes is None else tuple(sizes)
    counted = tuple(frame[list(frame.columns)[:1]].to_delayed())
    return Pieces(parts, known, width, np.dtype(np.float64), None, counted, _futures(frame))


def called(function: Callable[[object], Value], part: object) -> Value:
    """A function of a partition, which runs where that is."""
    return function(part)


def _of_array(X: Any) -> Pieces:
    if X.ndim != 2:
        raise InvalidData(f"samples need a dask array of two dimensions (n, d), got {X.ndim}: reshape it first")
    if math.isnan(X.shape[1]):
        raise InvalidData("the number of columns of this dask array is unknown; X.compute_chunk_sizes() counts them")
    if type(X._meta) is not np.ndarray:
        kind = type(X._meta)
        raise InvalidData(
            f"the chunks of this dask array are {kind.__module__}.{kind.__name__}, not numpy arrays; convert them by "
            "X.map_blocks, for example to dense arrays without a mask"
        )
    if X.dtype.kind not in "fiub":
        raise InvalidData(f"rows must be numbers, got a dask array of type {X.dtype}; convert it by X.astype(float)")
    sizes = None if any(math.isnan(size) for size in X.chunks[0]) else tuple(int(size) for size in X.chunks[0])
    d = int(X.shape[1])
    if X.numblocks[1] > 1:
        X = X.rechunk({1: d}, method="tasks")  # not "p2p", which binds tasks to workers
    parts = tuple(X.to_delayed().ravel())
    return Pieces(parts, sizes, d, _common_type([X.dtype]), None, parts, _futures(X))


def _of_frame(X: Any) -> Pieces:
    columns = list(X.columns)
    types = dict(zip(columns, X.dtypes, strict=True))
    strange = [f"{name!r} ({kind})" for name, kind in types.items() if getattr(kind, "kind", "O") not in "fiub"]
    if strange:
        raise InvalidData(
            f"rows must be numbers, but not these columns: {', '.join(strange)[:300]}. Leave them out or convert them, "
            "X[[...]].astype(float), before the fit"
        )
    if not columns:
        raise InvalidData("this dask frame has no column")
    parts = tuple(X.to_delayed())
    names = tuple(columns) if all(isinstance(name, str) for name in columns) else None
    counted = tuple(X[columns[:1]].to_delayed())
    return Pieces(parts, None, len(columns), _common_type(list(X.dtypes)), names, counted, _futures(X))


def _futures(X: Any) -> dict[object, object]:
    """Persisted futures of a collection, by key."""
    return {key: value for key, value in dict(X.__dask_graph__()).items() if type(value).__name__ == "Future"}


def _common_type(kinds: Sequence[Any]) -> np.dtype:
    narrow = all(kind.kind == "f" and kind.itemsize <= 4 for kind in kinds)
    return np.dtype(np.float32 if narrow else np.float64)
