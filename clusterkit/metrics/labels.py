"""Checks of label vectors and their noise, each with one clear error."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clusterkit._typing import AnyArray, Mask
from clusterkit.core.labelings import NOISE

Noise = Literal["exclude", "singletons", "cluster"]
"""How a metric treats samples that the clustering labels as noise (-1): see the package docstring."""


def check_labels(labels: ArrayLike, name: str) -> AnyArray:
    """Labels as a 1-D array of ints, floats, bools or strings.

    Parameters
    ----------
    labels : array-like of shape (n,)
        One label per sample.
    name : str
        Name of the argument in errors.

    Returns
    -------
    ndarray of shape (n,)
        The labels, values unchanged.

    Raises
    ------
    ValueError
        If the labels are not 1-D, are empty, or contain a missing value or a value that is no label.
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
        # numpy turned a list such as ["a", nan] into ["a", "nan"]: look at the original values
        array = np.asarray(labels, dtype=object)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        position = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name}[{position}] is {array[position]}; a label must be a finite value")
    if array.dtype.kind == "O":
        _check_objects(array, name)
    elif array.dtype.kind not in "biufUS":
        raise ValueError(f"{name} has values of type {array.dtype}; labels are ints, strings or bools")
    return array


def check_pair(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[AnyArray, AnyArray]:
    """Both label vectors, checked to have the same length.

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


def check_noise(noise: str) -> Noise:
    """The noise mode, checked.

    Parameters
    ----------
    noise : str
        The argument of the caller.

    Returns
    -------
    {"exclude", "singletons", "cluster"}
        The same value.

    Raises
    ------
    ValueError
        If it is none of the three.
    """
    for mode in get_args(Noise):
        if noise == mode:
            return mode
    raise ValueError(f"noise={noise!r} is not one of {', '.join(get_args(Noise))}")


def is_noise(labels: AnyArray) -> Mask:
    """Which samples have the label -1, as an int or a float; strings and bools are never noise.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels checked by `check_labels`.

    Returns
    -------
    ndarray of shape (n,), bool
        True for noise.
    """
    if labels.dtype.kind in "if":
        return np.asarray(labels == NOISE)
    if labels.dtype.kind == "O":
        flags = (not isinstance(label, (str, bytes)) and bool(label == NOISE) for label in labels)
        return np.fromiter(flags, dtype=bool, count=labels.size)
    return np.zeros(labels.size, dtype=bool)


def number_clusters(labels: AnyArray, noise: Noise) -> tuple[AnyArray, NDArray[np.int64], Mask | None]:
    """Names of the clusters, the cluster number of each sample, and which samples remain.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels checked by `check_labels`.
    noise : {"exclude", "singletons", "cluster"}
        How samples labelled -1 are treated.

    Returns
    -------
    names : ndarray of shape (J,)
        Sorted names; for "singletons" preceded by one -1 for each noise sample.
    numbers : ndarray of shape (m,), int64
        Cluster numbers of the remaining samples, in their order.
    remaining : ndarray of shape (n,), bool, or None
        Which samples remain; None if all do.
    """
    lost = None if noise == "cluster" else is_noise(labels)
    if lost is None or not lost.any():
        names, numbers = np.unique(labels, return_inverse=True)
        return names, numbers.astype(np.int64, copy=False), None
    names, rest = np.unique(labels[~lost], return_inverse=True)
    if noise == "exclude":
        return names, rest.astype(np.int64, copy=False), ~lost
    alone = int(np.count_nonzero(lost))
    numbers = np.empty(labels.size, dtype=np.int64)
    numbers[lost] = np.arange(alone)
    numbers[~lost] = rest + alone
    return np.concatenate([labels[lost], names]), numbers, None


def _check_objects(array: AnyArray, name: str) -> None:
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
