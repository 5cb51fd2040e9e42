"""The engine for samples, found by their type without importing it, and the device chosen for this process."""

from __future__ import annotations

from collections.abc import Callable

from clusterkit.core import devices
from clusterkit.core.device_engine import DeviceEngine
from clusterkit.core.local_engine import Engine
from clusterkit.core.registry import registry
from clusterkit.core.rows import Rows

__all__ = ["Engine", "engine_for", "on_device"]

ORDINARY = frozenset({"builtins", "numpy", "pandas", "scipy", "polars", "pyarrow", "narwhals"})
"""Packages whose collections are in memory already and become arrays; no engine is looked for."""

LOCAL = "clusterkit"
"""Name of the engine for rows on this machine: engines are named after the package whose collections they take."""


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
    return DeviceEngine(device, engine)
