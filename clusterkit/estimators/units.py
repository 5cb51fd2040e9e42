"""A warning where columns are in different units and the composition does not scale them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts.arguments import SamplesLike
from clusterkit.errors import UnitsWarning, first_names
from clusterkit.estimators.base import FittedAttributes
from clusterkit.numerics.distances import LARGEST_RATIO, differing_units
from clusterkit.numerics.sparse_rows import SparseRows, column_extremes

if TYPE_CHECKING:
    from clusterkit.samples import Space

FEW_COLUMNS = 32
"""Columns up to which numpy adds up each of them faster where it is in one piece of memory."""

MOST_ROWS, MOST_NUMBERS = 10_000, 2_000_000
"""Largest number of rows and of entries from which spreads are estimated. The standard error is below one per cent with
so many rows, and two per cent with so many entries in 768 columns, too little to matter for a factor of ten."""

FEW_ROWS = 20
"""Rows below which chance alone may make the spreads of columns in one unit differ by the factor that is warned of."""

SHOWN = 5
"""Columns that the warning names."""

SCALE_FIRST = (
    "If their units have no meaning, scale them: put the feature map 'zscore' or 'minmax' first, as in "
    "featuremap=['zscore', ...]."
)
"""Advice where there are feature maps."""

SCALE_OR_FRAME = "If their units have no meaning, scale them first, or pass a data frame, whose columns are scaled."
"""Advice about columns of an array in different units where there are no feature maps."""

PASSED_ON = ("sklearn.", "joblib.")
"""Packages whose functions call `fit` for the user, as ``fit_predict`` does."""

OF_MANY = "_fit_and_score"
"""The function of scikit-learn that fits to a part of the rows; the fit to all rows afterwards warns."""


def warn_of_units(estimator: object, X: Array, space: Space | None, remedy: str) -> None:
    """Warn if the spreads of the columns differ by more than a factor of ten, and still do where the method sees them.

    The warning is for those who call `fit`: fits inside the library are silent; `warn_of_units_of` is for functions
    that make many of them.

    Parameters
    ----------
    estimator : object
        Estimator whose `feature_names_in_`, if there are any, name the columns.
    X : ndarray or SparseRows of shape (n, d)
    space : Space or None
        The fitted feature map; None where there is none.
    remedy : str
        Advice at the end of the message.
    """
    if isinstance(X, SparseRows) or not len(X):
        return
    level = _level_of_caller()
    if level is None:
        return
    message = _message(estimator, X, space, remedy)
    if message is not None:
        warnings.warn(message, UnitsWarning, stacklevel=level + 1)


def warn_of_units_of(models: Iterable[object], X: SamplesLike, stacklevel: int) -> None:
    """Warn once, if units trouble one of several models that a function fitted to the same samples.

    Parameters
    ----------
    models : iterable of object
        Models; those that are not fitted models of this library, or that prepared a table, are passed over.
    X : array-like of shape (n, d)
    stacklevel : int
        Level for `warnings.warn`: 2 is the caller of this function.
    """
    for each in models:
        model: Any = each
        if not isinstance(model, FittedAttributes) or not hasattr(model, "labels_") or hasattr(model, "preparation_"):
            continue
        if not hasattr(model, "_rows_of") or getattr(model, "metric", "euclidean") != "euclidean":
            continue  # other metrics compare whole rows
        rows = model._rows_of(X)
        if isinstance(rows, SparseRows) or not len(rows):
            continue
        chosen = model._planned() is None  # `Auto` has no feature map of its own
        space, remedy = (None, SCALE_OR_FRAME) if chosen else (model.space_, SCALE_FIRST)
        message = _message(model, rows, space, remedy)
        if message is not None:
            warnings.warn(message, UnitsWarning, stacklevel=stacklevel + 1)
            return


def _message(estimator: object, X: Array, space: Space | None, remedy: str) -> str | None:
    """The words of the warning; None where there is no reason for it."""
    pair, spread = _differing(X)
    if pair is None:
        return None
    if space is not None and not space.sparse:
        seen = space.scaled_points()
        if seen.ndim == 2 and seen.shape[1] == X.shape[1] and _differing(seen)[0] is None:
            return None
    wide, thin = pair
    names = getattr(estimator, "feature_names_in_", [str(j + 1) for j in range(X.shape[1])])
    small = [j for j in np.argsort(spread, kind="stable") if j == thin or 0 < spread[j] < spread[wide] / LARGEST_RATIO]
    shown = first_names([str(names[j]) for j in small], SHOWN)
    subject, count = (f"column {shown}", "counts") if len(small) == 1 else (f"columns {shown}", "count")
    return (
        f"columns are in different units: the standard deviation of column {names[wide]} is {spread[wide]:.3g}, that "
        f"of column {names[thin]} {spread[thin]:.3g}, so that {subject} hardly {count}. {remedy}"
    )


def _differing(X: Array) -> tuple[tuple[int, int] | None, Array]:
    """The columns of most and least spread if they differ too much, and the spreads of all."""
    step = max(-(-len(X) // MOST_ROWS), X.size // MOST_NUMBERS)
    rows = X[::step].astype(np.float64, order="F" if X.shape[1] <= FEW_COLUMNS else "C")
    with np.errstate(over="ignore", invalid="ignore"):
        spread = rows.std(axis=0)
    pair = differing_units(*column_extremes(rows), spread)
    if pair is not None and len(rows) < FEW_ROWS and spread[pair[0]] <= _by_chance(*rows.shape) * spread[pair[1]]:
        pair = None
    return pair, spread


def _by_chance(n: int, d: int) -> float:
    """Ratio of two of d standard deviations of n normal numbers that is reached by chance with a probability of .05.

    The quantile of the F distribution at the level of all pairs (Bonferroni).
    """
    from scipy.special import fdtri

    return float(np.sqrt(fdtri(n - 1, n - 1, 1 - 0.05 / (d * (d - 1))))) if n > 1 else np.inf


def _level_of_caller() -> int | None:
    """Number of calls from `warn_of_units` up to the caller of `fit` outside of the library; None for the library."""
    frame = sys._getframe(2)  # the method fit
    level = 1
    while True:
        caller = frame.f_back
        if caller is None:
            return level
        name = str(caller.f_globals.get("__name__", ""))
        level += 1
        if caller.f_code.co_name == OF_MANY:
            return None
        if name.startswith(PASSED_ON):
            frame = caller
            continue
        inside_fit = name.startswith("clusterkit.estimators.") and caller.f_code.co_name in ("fit", "fit_predict")
        if inside_fit and caller.f_locals.get("self") is frame.f_locals.get("self"):
            frame = caller
            continue
        return None if name.startswith("clusterkit.") else level
