"""Blocks on the devices of workers: one device a worker."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.samples import sums
from clusterkit.samples.array_libraries import table_columns, to_host
from clusterkit.samples.devices import Device
from clusterkit.samples.transform import device_plan

__all__ = ["OnWorkersDevice", "device_of_worker"]

VISIBLE = "CUDA_VISIBLE_DEVICES"
"""Variable by which whoever starts the workers gives each of them devices, its own first."""


@final
@attrs.frozen(eq=False)
class OnWorkersDevice:
    """The function of a block, which is sent to the device of the worker; what it gives comes back to the worker.

    Parameters
    ----------
    function : callable
        Row slice and rows to a part or to labels; written for devices.
    device : Device
        Device of the workers; without a number each worker has its own.
    """

    function: Callable[[slice, Array], object]
    device: Device

    def __call__(self, rows: slice, X: Array) -> object:
        """A part with all its sums on the host, or labels there."""
        answer: Any = self.function(rows, device_of_worker(self.device).put(X))
        return to_host(answer)

    def block_rows(self, width: int, dtype: np.dtype) -> int:
        """Rows of a block of so many features: more than a processor has at once."""
        first = next(iter(device_plan(sums.GROUP, max(width, table_columns(self.function)), dtype)))
        return int(first.stop - first.start)


def device_of_worker(device: Device) -> Device:
    """A device without a number, as the one of this worker: by its number, unless somebody else has dealt them out."""
    if device.name != "cuda" or os.environ.get(VISIBLE):
        return device
    try:
        from distributed import get_worker

        number = int(get_worker().name)
    except (ImportError, ValueError, TypeError):  # the threads of this process, or a worker with a name in words
        return device
    count = _count(device)
    return attrs.evolve(device, name=f"cuda:{number % count}") if count else device


def _count(device: Device) -> int:
    """How many devices the library sees."""
    from importlib import import_module

    library = import_module(device.library)
    counted = library.cuda.device_count() if device.library == "torch" else library.cuda.runtime.getDeviceCount()
    return int(counted)
