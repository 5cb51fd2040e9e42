"""Scalings of the attributes that the papers leave open, z-scores and [0, 1], and their names in rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

__all__ = ["SCALINGS", "SCALING_WORDS", "to_mean", "to_range"]


def to_mean(X: np.ndarray) -> np.ndarray:
    """Rows (n, d) with mean 0 and variance 1; a constant attribute is 0."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def to_range(X: np.ndarray, by: np.ndarray | None = None) -> np.ndarray:
    """Rows (n, d) with every attribute scaled linearly; a constant attribute is 0.

    The scaling maps the rows `by` to [0, 1]; by default these are the rows of X themselves.
    """
    by = X if by is None else by
    low, width = by.min(axis=0), np.ptp(by, axis=0)
    return (X - low) / np.where(width > 0, width, 1.0)


SCALINGS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "raw": lambda X: X,
    "zscore": to_mean,
    "minmax": to_range,
}
"""Scaling of an array (n, d), by name."""

SCALING_WORDS: Mapping[str, str] = {"raw": "raw", "zscore": "z-scores", "minmax": "attributes in [0, 1]"}
"""Names of the scalings in rows and notes."""
