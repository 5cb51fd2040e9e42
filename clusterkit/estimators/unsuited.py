"""Samples that would silently become something else: computed in full, without their mask, or on another device."""

from __future__ import annotations

import contextlib

import numpy as np

from clusterkit.core import devices, memory
from clusterkit.core.device_paths import with_device_path
from clusterkit.core.errors import IncompatibleStages, InvalidData
from clusterkit.core.first_party import where
from clusterkit.core.plugin_hooks import VARIABLE
from clusterkit.core.registry import registry
from clusterkit.core.rows import Rows

__all__ = ["refuse_device", "refuse_unsuited"]

LAZY_FRAMES = ("polars", "pyspark", "dask", "ibis", "duckdb", "narwhals", "vaex", "modin")
"""Packages whose frames or relations may stand for a table that is not in memory yet."""


ON_HOST = ("cpu", "CPU_DEVICE")
"""Devices of other libraries whose arrays scikit-learn can convert without the array API dispatch."""


def refuse_unsuited(X: object) -> None:
    """Refuse samples that scikit-learn's validation would convert without a word.

    Raises
    ------
    InvalidData
        If X is a Dask collection or a lazy frame (it would be computed and pulled into memory), an array with masked
        values (the mask would be lost), an array of dates or durations (they would become numbers of an arbitrary
        unit), or, with scikit-learn's array API dispatch switched on, an array of another library (it would stay on
        its device, where the compiled loops cannot work).
    """
    if isinstance(X, Rows) and not isinstance(X, np.ndarray):
        raise InvalidData(
            f"rows that are read block by block ({type(X).__name__}) are for `fit` and `predict` of recipes that make "
            "one fit. Other methods and estimators take arrays: rows.read(slice(0, rows.n)) if all "
            "fit into memory, or a part of the rows, and `predict` for the others."
        )
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.vstack(X)  # what is made of a list of rows keeps no mask
    if isinstance(X, np.ma.MaskedArray):
        if np.ma.getmaskarray(X).any():
            count = int(np.ma.getmaskarray(X).sum())
            raise InvalidData(
                f"X has {count} masked values, and a mask says that they are missing. Fill them (X.filled(value)) or "
                "leave out their rows or columns first."
            )
        return
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "mM":
            raise InvalidData(
                f"X has the type {X.dtype}, whose values would become counts of days or of fractions of a second. If "
                "that is meant, pass X.astype(float), after a choice of the unit."
            )
        return
    kind = type(X)
    package = kind.__module__.partition(".")[0]
    if hasattr(X, "__dask_graph__"):
        if registry.find("engine", package) is None:
            plugin = where("engine", package, VARIABLE) or "A plugin may provide one."
            hint = f"To fit it where it lies needs an engine. {plugin}"
        else:
            hint = "`fit` and `predict` take it as it is, for recipes that make one fit and for MinMaxModularSVC."
        raise InvalidData(
            f"X is a Dask {kind.__name__}, which would be computed{_size(X)} and kept in memory. If that is meant, "
            f"pass X.compute(); otherwise a part of the rows, and label the others by predict. {hint}"
        )
    if package == "pyarrow" and hasattr(X, "to_table"):
        raise InvalidData(
            f"X is a {kind.__name__} of pyarrow, whose files would be read and kept in memory. If that is meant, pass "
            "X.to_table(); otherwise the path: clusterkit.open('part-*.parquet') is read block by block."
        )
    if package in LAZY_FRAMES and (hasattr(X, "collect") or hasattr(X, "execute")) and not hasattr(X, "__array__"):
        raise InvalidData(
            f"X is a {kind.__name__} of {package}, a query that would be run and kept in memory. If that is meant, "
            "pass its result (X.collect()); otherwise a part of the rows, and label the others by predict."
        )
    if package in devices.LIBRARIES and hasattr(X, "device") and not _dispatches():
        place = devices.Device.of(X)
        if place.name not in ON_HOST:
            raise InvalidData(
                f"X lies on the device {place}, and scikit-learn's array API dispatch is switched off. To fit it where "
                "it lies: SCIPY_ARRAY_API=1 in the environment, and sklearn.set_config(array_api_dispatch=True). Or "
                "pass a copy in memory."
            )
    if (hasattr(X, "__array_namespace__") or package in devices.LIBRARIES) and _dispatches():
        raise InvalidData(
            f"X is a {kind.__name__} of {package}, and scikit-learn's array API dispatch is switched on; this "
            "computes with numpy, and single fits of `recipe` or `Pipeline` take arrays of "
            f"{', '.join(devices.LIBRARIES)} as they are. Pass numpy.asarray(X), from a device after moving it to the "
            "host, or switch the dispatch off: sklearn.set_config(array_api_dispatch=False)."
        )


def refuse_device(what: str) -> None:
    """Refuse a fit of many parts while a device is chosen for this process.

    Raises
    ------
    IncompatibleStages
        With what has a path on a device.
    """
    if (device := devices.current()) is not None:
        raise IncompatibleStages(
            f"{what} has no path on the device {device}; fits of `Pipeline`, `Pooled` and `AutoPooled` have one with "
            f"these stages: {with_device_path()}. Or compute on the host: clusterkit.config(device='cpu')"
        )


def _size(X: object) -> str:
    """The size of a Dask array in words, where it is known."""
    n_bytes = None
    with contextlib.suppress(Exception):  # frames of Dask have the attribute, which raises an error
        n_bytes = X.nbytes  # type: ignore[attr-defined] # an object without it has no size here
    return f" ({memory.human(n_bytes)})" if isinstance(n_bytes, int) else ""


def _dispatches() -> bool:
    return devices.dispatches()
