"""Everything follows the samples: fitted arrays and answers lie where the samples of the fit lie."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from clusterkit._typing import AnyArray
from clusterkit.core import devices
from clusterkit.core.devices import Device
from clusterkit.core.errors import InvalidData
from clusterkit.core.namespaces import is_device_array
from clusterkit.core.rows import Rows

__all__ = ["beside_labels", "check_same_place"]

A = TypeVar("A", bound=AnyArray)


def beside_labels(model: object, values: A) -> A:
    """Values of a fitted model where its labels lie: itself, or a copy on their device."""
    labels = cast("Any", model).labels_
    return Device.of(labels).put(values) if is_device_array(labels) else values


def check_same_place(model: object, X: object, method: str) -> None:
    """Refuse new samples of another place than those of the fit, if these lay on a device and the dispatch is on.

    A model that was fitted in memory, or comes from a file, takes samples of any library.

    Raises
    ------
    InvalidData
        In the words of scikit-learn, whose checks look for them.
    """
    labels = cast("Any", model).labels_
    if not is_device_array(labels) or not devices.dispatches() or isinstance(X, Rows):
        return  # rows of files are sent to the device block by block
    there, here = Device.of(labels), Device.of(X) if is_device_array(X) else None
    if there != here:
        raise InvalidData(
            f"Inputs passed to {type(model).__name__}.{method}() must use the same namespace and the same device as "
            f"those passed to fit(): the fit was on {there}, and {_where(X, here)}. Move them there"
        )


def _where(X: object, device: Device | None) -> str:
    """Where samples are, as a clause."""
    if device is not None:
        return f"these samples are on {device}"
    library, kind = type(X).__module__.partition(".")[0], type(X).__name__
    return f"these samples are a {kind} on the host" if library == "builtins" else f"these samples are of {library}"
