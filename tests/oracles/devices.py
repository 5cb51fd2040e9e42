"""Arrays on the simulated devices of array-api-strict, which refuse to be mixed and have nothing but the standard."""

from __future__ import annotations

import pytest

DEVICES = ("CPU_DEVICE", "device1")


def strict(array, device="device1"):
    """The same array, of array-api-strict, on a simulated device."""
    xp = pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    return xp.asarray(array, device=xp.Device(device))
