"""A warning where columns are in different units and the composition does not scale them."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import UnitsWarning, first_names
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.units import LARGEST_RATIO, differing_units

if TYPE_CHECKING:
    from clusterkit.core.spaces import Space

__all__ = ["SCALE_FIRST", "warn_of_units"]

MOST_ROWS = 10_000
"""Rows from which spreads are estimated: their standard error is then below one per cent."""

SHOWN = 5
"""Columns that the warning names."""

SCALE_FIRST = (
    "If their units have no meaning, scale them: put the feature map 'zscore' or 'minmax' first, as in "
    "featuremap=['zscore', ...]."
)
"""What to do about it where there are feature maps."""

PASSED_ON = ("sklearn.", "joblib.")
"""Packages whose functions call `fit` for somebody else, as ``fit_predict`` does."""

OF_MANY = "_fit_and_score"
"""The function of scikit-learn that fits to a part of the rows; the fit to all rows afterwards warns."""


def warn_of_units(estimator: object, X: Array, space: Space | None, remedy: str) -> None:
    """Warn if the spreads of the columns differ by more than a factor of ten, and still do where the method sees them.

    The warning is for those who call `fit`: fits inside the library, such as those of a search, are silent.

    Parameters
    ----------
    estimator : object
        Its `feature_names_in_`, if there are any, name the columns.
    X : ndarray or SparseRows of shape (n, d)
    space : Space or None
        The fitted feature map; None where there is none.
    remedy : str
        What to do about it; ends the message.
    """
    if isinstance(X, SparseRows) or not len(X):
        return
    level = _level_of_caller()
    if level is None:
        return
    pair, spread = _differing(X)
    if pair is None:
        return
    if space is not None and not space.sparse:
        seen = space.scaled_points()
        if seen.ndim == 2 and seen.shape[1] == X.shape[1] and _differing(seen)[0] is None:
            return
    wide, thin = pair
    names = getattr(estimator, "feature_names_in_", [str(j + 1) for j in range(X.shape[1])])
    small = [j for j in np.argsort(spread, kind="stable") if 0 < spread[j] < spread[wide] / LARGEST_RATIO]
    shown = first_names([str(names[j]) for j in small], SHOWN)
    subject, count = (f"column {shown}", "counts") if len(small) == 1 else (f"columns {shown}", "count")
    warnings.warn(
        f"columns are in different units: the standard deviation of column {names[wide]} is {spread[wide]:.3g}, that "
        f"of column {names[thin]} {spread[thin]:.3g}, so that {subject} hardly {count}. {remedy}",
        UnitsWarning,
        stacklevel=level + 1,
    )


def _differing(X: Array) -> tuple[tuple[int, int] | None, Array]:
    """The columns of most and least spread if they differ too much, and the spreads of all."""
    rows = X[:: -(-len(X) // MOST_ROWS)].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = rows.std(axis=0)
    return differing_units(rows.min(axis=0), rows.max(axis=0), spread), spread


def _level_of_caller() -> int | None:
    """How many calls above `warn_of_units` somebody outside of the library called `fit`; None for the library."""
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
