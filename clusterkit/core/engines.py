"""Who runs the passes over rows: an engine, which is found by the type of the samples without importing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from clusterkit._typing import Array, Labels
from clusterkit.core import devices
from clusterkit.core.registry import registry
from clusterkit.core.rows import Rows
from clusterkit.core.sums import Addable

__all__ = ["Engine", "engine_for", "on_device"]

Part = TypeVar("Part", bound=Addable)

ORDINARY = frozenset({"builtins", "numpy", "pandas", "scipy", "polars", "pyarrow", "narwhals"})
"""Packages whose collections are in memory already and become arrays; no engine is looked for."""

LOCAL = "clusterkit"
"""Name of the engine for rows on this machine: engines are named after the package whose collections they take."""


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


def engine_for(X: object) -> Engine | None:
    """The engine for samples of this type; None where they are in memory, or where no engine is installed for them.

    Arrays of other libraries have one where scikit-learn's array API dispatch is on; with a device chosen for this
    process (`clusterkit.config`) the blocks of all others are computed there.

    Examples
    --------
    >>> import numpy as np
    >>> engine_for(np.zeros((3, 2))) is None
    True
    """
    package = type(X).__module__.partition(".")[0]
    if package in ORDINARY:
        return None
    if package in devices.LIBRARIES:
        if not devices.dispatches():
            return None
        from clusterkit.core.device_engine import DeviceEngine

        return DeviceEngine.of(X)
    name = LOCAL if registry.find("engine", package) is None else package
    if name == LOCAL and not isinstance(X, Rows):
        return None
    engine: Callable[[], Engine] = registry.get("engine", name)  # type: ignore[assignment] # of any registered class
    return on_device(engine())


def on_device(engine: Engine) -> Engine:
    """The engine, or in front of it that of the device that is chosen for this process."""
    if (device := devices.current()) is None:
        return engine
    from clusterkit.core.device_engine import DeviceEngine

    return DeviceEngine(device, engine)
