"""What counts as a vector of labels, and one clear error for what does not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_labels(labels: ArrayLike, name: str) -> NDArray[Any]:
    """Labels as a 1-D array of ints, floats, bools or strings.

    Parameters
    ----------
    labels : array-like of shape (n,)
        One label per sample. Every value, -1 included, is a label like any other.
    name : str
        How to call the argument in an error.

    Returns
    -------
    ndarray of shape (n,)
        The labels; unchanged values.

    Raises
    ------
    ValueError
        If the labels are not 1-D, are empty, or hold a missing value or a value that is no label.
    """
    if isinstance(labels, np.ma.MaskedArray) and np.ma.is_masked(labels):
        raise ValueError(f"{name} has masked values; drop those samples from both label vectors")
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise ValueError(f"{name} must be one-dimensional: {error}") from error
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} is empty; at least one sample is needed")
    if array.dtype.kind in "US" and not hasattr(labels, "dtype"):
        # A list such as ["a", nan] became ["a", "nan"]: look at the values as they were given.
        array = np.asarray(labels, dtype=object)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        position = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name}[{position}] is {array[position]}; a label must be a finite value")
    if array.dtype.kind == "O":
        _check_objects(array, name)
    elif array.dtype.kind not in "biufUS":
        raise ValueError(f"{name} has values of type {array.dtype}; labels are ints, strings or bools")
    return array


def check_pair(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both label vectors, checked, and of one length.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        The classes and the clusters.

    Returns
    -------
    tuple of ndarray
        Both vectors.

    Raises
    ------
    ValueError
        If one of them is no label vector or their lengths differ.
    """
    true = check_labels(labels_true, "labels_true")
    pred = check_labels(labels_pred, "labels_pred")
    if true.size != pred.size:
        raise ValueError(f"labels_true has {true.size} labels but labels_pred has {pred.size}")
    return true, pred


def _check_objects(array: NDArray[Any], name: str) -> None:
    for position, value in enumerate(array):
        if _is_missing(value):
            raise ValueError(f"{name}[{position}] is {value!r}; a label must not be missing")
        if isinstance(value, str) != isinstance(array[0], str):
            raise ValueError(f"{name} mixes strings with other values: {array[0]!r} and {value!r} (at {position})")
        if not isinstance(value, (str, bytes, bool, int, float, np.generic)):
            raise ValueError(f"{name}[{position}] is {value!r}; labels are ints, strings or bools")


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value) or value in (float("inf"), float("-inf"))
    except (TypeError, ValueError):  # pandas.NA has no truth value; an array has many
        return not isinstance(value, (np.ndarray, list, tuple))
