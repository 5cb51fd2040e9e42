"""The labels of a fitted model, or labels given in its place."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Labels
from clusterkit.core.errors import InvalidData, InvalidParameter

__all__ = ["is_model", "labels_of", "not_fitted"]


def is_model(value: object) -> bool:
    """Whether a value is an estimator, and not labels or a class of estimators."""
    return hasattr(value, "fit") and not isinstance(value, type)


def labels_of(model: Any, n: int, caller: str) -> Labels:
    """Labels of the n rows, from a fitted model or an array.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    InvalidParameter
        If there are no labels.
    InvalidData
        If there is another number of them.
    """
    if is_model(model):
        if not hasattr(model, "labels_"):
            raise not_fitted(model, caller)
        labels = np.asarray(model.labels_)
    else:
        try:
            labels = np.asarray(model)
        except ValueError as error:  # a ragged list
            raise InvalidParameter(f"{caller}: labels must be one integer a row") from error
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise InvalidParameter(
            f"{caller}: needs a fitted model or an array of one integer label a row (-1 is noise), got "
            f"{type(model).__name__}" + (f" of shape {labels.shape} and type {labels.dtype}" if labels.ndim else "")
        )
    if len(labels) != n:
        raise InvalidData(
            f"{caller}: X has {n} rows and there are {len(labels)} labels; give the rows that were fitted"
        )
    return labels.astype(np.intp)


def not_fitted(model: object, caller: str) -> Exception:
    """The error for a model without labels."""
    from sklearn.exceptions import NotFittedError

    return NotFittedError(f"{caller}: this {type(model).__name__} is not fitted; call its fit(X) first")
