"""Arrays on a simulated device of array-api-strict, which has nothing but the standard and refuses to mix devices."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, TypeVar, cast

import attrs
import numpy as np

from clusterkit._typing import AnyArray
from clusterkit.core.devices import Device
from clusterkit.core.namespaces import host_dtype, is_device_array, to_host
from clusterkit.testing.compare import close

__all__ = ["DEVICE", "installed", "numbers_of", "put", "same_there"]

A = TypeVar("A", bound=AnyArray)

DEVICE = Device("array_api_strict", "device1")
"""Not the library's first device, which numpy would read."""

EXACT = 1e-12
"""Relative difference of float64 sums of a block on a device from those of numpy: rounding in another order."""


def installed() -> bool:
    """Whether array-api-strict is there."""
    return find_spec(DEVICE.library) is not None


def put(array: A) -> A:
    """A copy of an array on the simulated device."""
    return cast("A", DEVICE.put(np.array(array)))


def same_there(there: AnyArray, here: AnyArray, what: str, *, digits: int = 0, scale: float = 0.0) -> None:
    """An array of the device that has the type and, up to rounding, the values of an array of numpy."""
    assert is_device_array(there), f"{what} left the device: {type(there).__name__}"
    assert Device.of(there) == DEVICE, f"{what} lies on {there.device}"
    assert host_dtype(there) == here.dtype, f"{what}: {there.dtype} on the device, {here.dtype} on the host"
    close(to_host(there), here, what, digits=digits, scale=scale)


def numbers_of(addend: object) -> list[AnyArray]:
    """All arrays and numbers of what a block adds up, in the order of its fields; on the host."""
    if is_device_array(addend):
        return [np.asarray(to_host(addend))]
    if isinstance(addend, np.ndarray | np.generic | float | int):
        return [np.asarray(addend)]
    if isinstance(addend, tuple):
        return [number for each in addend for number in numbers_of(each)]
    cls: Any = type(addend)
    if attrs.has(cls):
        fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
        return [number for field in fields for number in numbers_of(getattr(addend, field.name.lstrip("_")))]
    return []
