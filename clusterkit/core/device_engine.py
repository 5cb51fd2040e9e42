"""The engine of a device: blocks go there, what is written for it computes there, and small sums come back.

It stands in front of another engine, which reads the rows. What is not written against the namespace of its block
(`clusterkit.core.namespaces.has_array_api`) runs as before, on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, Indices, Labels
from clusterkit.core.device_transfer import sent_ahead
from clusterkit.core.devices import Device
from clusterkit.core.engine_protocol import Engine
from clusterkit.core.errors import InvalidData
from clusterkit.core.local_engine import LocalEngine, room_for_labels
from clusterkit.core.namespaces import has_array_api, table_columns, to_host
from clusterkit.core.rows import Rows
from clusterkit.core.sums import Addable, total
from clusterkit.core.transform import device_plan

__all__ = ["ArrayRows", "DeviceEngine"]

A = TypeVar("A", bound=AnyArray)
Part = TypeVar("Part", bound=Addable)
Value = TypeVar("Value")

DENSE = "torch.strided"
"""What PyTorch calls the layout of dense tensors; arrays of other libraries have none."""


@final
@attrs.frozen(eq=False)
class ArrayRows:
    """The rows of an array that lies on a device.

    Parameters
    ----------
    source : array of shape (n, d)
        Of a library of the array API standard, float32 or float64.
    device : Device
    """

    source: AnyArray
    device: Device

    @classmethod
    def of(cls, samples: object) -> ArrayRows:
        """The rows of an array of numbers; all types but float32 become float64.

        Raises
        ------
        InvalidData
            If it is no table of real numbers.
        """
        X: Any = samples
        if (layout := str(getattr(X, "layout", DENSE))) != DENSE:
            raise InvalidData(
                f"X has the layout {layout}, and sparse samples have no path on a device; pass X.to_dense(), or a "
                "sparse matrix of scipy, which is fitted on the host"
            )
        if len(X.shape) != 2:
            raise InvalidData(
                f"Expected 2D array, got an array of shape {tuple(X.shape)} instead. Reshape your data: one row for "
                "each sample"
            )
        if X.shape[1] == 0:
            raise InvalidData(
                f"Found array with 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required"
            )
        device = Device.of(X)
        xp = device.xp
        if (reason := device.why_not()) is not None:
            raise InvalidData(f"X lies on the device {device}, which makes no sums in float64 ({reason}); move it")
        if hasattr(X, "detach"):  # of torch: no gradients are asked for
            X = X.detach()
        if xp.isdtype(X.dtype, "complex floating"):
            raise InvalidData("Complex data not supported: the samples must be real numbers")
        if X.dtype not in (xp.float32, xp.float64):
            X = xp.astype(X, xp.float64)
        return cls(X, device)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.source.shape[0])

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.source.shape[1])

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64."""
        return np.dtype(np.float32 if self.source.dtype == self.device.xp.float32 else np.float64)

    @property
    def names(self) -> None:
        """None: arrays have no names of columns."""
        return

    def block(self, rows: slice) -> Array:
        """Neighbouring rows where they lie."""
        return cast("Array", self.source[rows.start : rows.stop, :])

    def read(self, rows: slice) -> Array:
        """A copy of neighbouring rows on the host, (b, d)."""
        return np.ascontiguousarray(to_host(self.block(rows)))

    def gather(self, index: Indices) -> Array:
        """A copy of some rows on the host, (m, d)."""
        numbers = self.device.put(np.array(index, dtype=np.int64))
        return np.ascontiguousarray(to_host(self.device.xp.take(self.source, numbers, axis=0)))

    def columns(self, index: Indices) -> ArrayRows:
        """A copy of some columns on the device."""
        numbers = self.device.put(np.array(index, dtype=np.int64))
        return ArrayRows(self.device.xp.take(self.source, numbers, axis=1), self.device)


@final
@attrs.frozen(eq=False)
class DeviceEngine:
    """Runs the passes of a fit on a device, over rows that lie there or that another engine reads.

    Parameters
    ----------
    device : Device
    base : Engine
        What reads the rows, and computes what is not written for a device.
    """

    device: Device
    base: Engine = attrs.field(factory=LocalEngine)

    by_sample = (
        "Or compute on the host: clusterkit.config(device='cpu'), and for arrays of other libraries numpy.asarray(X)"
    )
    """What to do with a composition that has no path here."""

    @property
    def in_process(self) -> bool:
        """Whether all blocks are computed by this process, where numbers of every row can stay between the passes."""
        return not hasattr(self.base, "there")

    @classmethod
    def of(cls, X: object) -> DeviceEngine:
        """The engine of an array that lies on a device."""
        return cls(Device.of(X))

    def rows(self, X: object) -> Rows:
        """The rows of an array of the device's library, or of what the other engine takes."""
        if type(X).__module__.partition(".")[0] == self.device.library:
            return ArrayRows.of(X)
        return self.base.rows(X)

    def placed(self, labels: Labels, rows: Rows) -> Labels:
        """Labels of a fit in memory where the rows lie."""
        if isinstance(rows, ArrayRows):
            return self.device.put(labels)
        placed: Callable[[Labels, Rows], Labels] | None = getattr(self.base, "placed", None)
        return labels if placed is None else placed(labels, rows)

    def reduce(self, part: Callable[[slice, Array], Part], rows: Rows, width: int) -> Part:
        """One pass; on the device if `part` is written for it."""
        if not has_array_api(part):
            return self.base.reduce(part, rows, width)
        if (there := getattr(self.base, "there", None)) is not None:
            return self.base.reduce(there(part, self.device), rows, width)
        return total(self._computed(part, rows, width))

    def blocks(self, rows: Rows, width: int) -> Iterator[tuple[slice, Array]]:
        """The blocks of a pass on the host."""
        return self.base.blocks(rows, width)

    def labels(self, label: Callable[[slice, Array], Labels], rows: Rows, width: int) -> Labels:
        """Labels (n,): on the device for rows that lie there, else on the host."""
        if isinstance(rows, ArrayRows):
            return self.values(label, rows, width)
        if not has_array_api(label):
            return self.base.labels(label, rows, width)
        if (there := getattr(self.base, "there", None)) is not None:
            return self.base.labels(there(label, self.device), rows, width)
        labels = room_for_labels(rows.n)
        for block, values in self._computed(label, rows, width):
            labels[block] = to_host(values)
        return labels

    def values(self, function: Callable[[slice, Array], A], rows: Rows, width: int) -> A:
        """The values of all rows, where these lie: labels (n,) as int64, or a table (n, q)."""
        if not isinstance(rows, ArrayRows):
            computed = (
                self._computed(function, rows, width)
                if has_array_api(function)
                else self._on_host(function, rows, width)
            )
            return cast("A", np.concatenate([np.asarray(to_host(part)) for _, part in computed]))
        xp, parts = self.device.xp, []
        for _, values in self._computed(
            function if has_array_api(function) else _ByHost(function, self.device), rows, width
        ):
            whole = not xp.isdtype(values.dtype, "real floating")
            parts.append(xp.astype(values, xp.int64, copy=False) if whole else values)
        joined: A = xp.concat(parts, axis=0)
        return joined

    def _on_host(
        self, function: Callable[[slice, Array], Value], rows: Rows, width: int
    ) -> Iterator[tuple[slice, Value]]:
        """The function of every block on the host, in the order of the blocks."""
        for block, X in self.base.blocks(rows, width):
            yield block, function(block, X)

    def _computed(
        self, function: Callable[[slice, Array], Value], rows: Rows, width: int
    ) -> Iterator[tuple[slice, Value]]:
        """The function of every block, in the order of the blocks; while one is computed, the next one comes."""
        plan = device_plan(rows.n, max(width, rows.d, table_columns(function)), rows.dtype)
        with self.device.active():
            if isinstance(rows, ArrayRows):
                for block in plan:
                    yield block, function(block, rows.block(block))
                return
            for block, X in sent_ahead(self.device, rows.read, plan):
                value = function(block, X)
                del X  # its memory is for the block that is sent next
                yield block, value


@final
@attrs.frozen(eq=False)
class _ByHost:
    """The values of a block by a function that is not written for devices: on the host, and then put back."""

    function: Callable[[slice, Array], Any]
    device: Device

    def __call__(self, rows: slice, X: Array) -> Any:
        """The values where the block lies."""
        return self.device.put(np.asarray(self.function(rows, to_host(X))))
