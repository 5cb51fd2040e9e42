"""Who runs the passes over rows: the protocol of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from clusterkit._typing import Array, Labels
from clusterkit.core.rows import Rows
from clusterkit.core.sums import Addable

__all__ = ["Engine"]

Part = TypeVar("Part", bound=Addable)


class Engine(Protocol):
    """Runs passes over rows; constructed without arguments, and registered by the hook ``clusterkit_engines``.

    Its name is that of the package whose collections it takes: an engine ``dask`` gets what ``dask.array`` and
    ``dask.dataframe`` make, and is imported for these only.

    An engine may have more members. ``by_sample`` is a sentence for compositions that need all rows at once: how to
    fit a sample of the engine's collections. ``placed(labels, rows)`` gives the labels (n,) of rows that were so few
    that they were fitted in memory as the engine's kind of array. An engine whose blocks are computed by other
    processes has ``there(function, device)``: the function of a block as one that sends the block to the device of that
    process first. Its rows may have ``place(row)``: where a row lies, in words that begin with a space, for the error
    about a value that is no number.
    """

    def rows(self, X: object) -> Rows:
        """The collection as rows."""

    def reduce(self, part: Callable[[slice, Array], Part], rows: Rows, width: int) -> Part:
        """One pass: the sum of ``part(slice, rows of the slice)`` over all blocks.

        Blocks are those of ``block_plan(rows.n, width, rows.dtype)``, and they are added in the one order of
        `clusterkit.core.sums`, whoever computes them. `part` is a frozen callable that pickles.
        """

    def blocks(self, rows: Rows, width: int) -> Iterator[tuple[slice, Array]]:
        """The rows of the same blocks, one after the other: for what cannot be added."""

    def labels(self, label: Callable[[slice, Array], Labels], rows: Rows, width: int) -> Labels:
        """The labels of all rows, (n,), block by block; in the engine's kind of array, and lazy where it has such."""
