"""Patterns at the ends of the range of numbers: scales, offsets, denormals, values one rounding apart."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit_campaign.patterns import Pattern, blobs

__all__ = ["EXTREMES", "SHIFTED"]

DENORMAL = 5e-324
"""The smallest positive number: its half is 0."""


def _scaled(scale: float) -> Pattern:
    return lambda rng: blobs(rng) * scale


def _moved(offset: float) -> Pattern:
    return lambda rng: blobs(rng) + offset


def _neighbours(rng: Rng) -> Array:
    """Numbers that differ in the last bits."""
    return 1.0 + np.spacing(1.0) * rng.integers(8, size=(24, 2))


def _outlier(rng: Rng, value: float) -> Array:
    X = blobs(rng)
    X[0, 0] = value
    return X


SHIFTED: Mapping[str, Pattern] = {
    "offset 1e3": _moved(1e3),
    "offset 1e6": _moved(1e6),
    "offset 1e8 in one column": lambda rng: blobs(rng) + np.array([1e8, 0.0]),
    "offset -1e6": _moved(-1e6),
    "scale 1e-6": _scaled(1e-6),
    "scale 1e-30": _scaled(1e-30),
    "scale 1e6": _scaled(1e6),
    "scale 1e30": _scaled(1e30),
    "columns of scales 1e-6 and 1e6": lambda rng: blobs(rng) * np.array([1e-6, 1e6]),
}
"""Numbers far from 1 that ordinary data have; a refusal needs a reason that is in the data."""

EXTREMES: Mapping[str, Pattern] = {
    "offset 1e12": _moved(1e12),
    "offset 1e15": _moved(1e15),
    "offset 1e100": _moved(1e100),
    "scale 1e-100": _scaled(1e-100),
    "scale 1e-150": _scaled(1e-150),
    "scale 1e-200": _scaled(1e-200),
    "scale 1e-300": _scaled(1e-300),
    "scale 1e100": _scaled(1e100),
    "scale 1e153": _scaled(1e153),
    "scale 1e200": _scaled(1e200),
    "scale 1e300": _scaled(1e300),
    "largest numbers": lambda rng: np.where(rng.random((20, 2)) < 0.5, 1.0, -1.0) * np.finfo(float).max,
    "smallest normal numbers": lambda rng: rng.integers(1, 5, size=(20, 2)) * np.finfo(float).tiny,
    "denormal numbers": lambda rng: rng.integers(0, 9, size=(20, 2)) * DENORMAL,
    "denormal differences": lambda rng: (
        np.repeat([[0.0], [1.0]], 10, axis=0) + rng.integers(3, size=(20, 2)) * DENORMAL
    ),
    "one rounding apart": _neighbours,
    "two rows 1e-15 apart": lambda rng: np.repeat([[1.0, 1.0], [1.0 + 1e-15, 1.0]], 8, axis=0),
    "columns of scales 1e-150 and 1e150": lambda rng: blobs(rng) * np.array([1e-150, 1e150]),
    "an outlier at 1e100": lambda rng: _outlier(rng, 1e100),
    "an outlier at 1e153": lambda rng: _outlier(rng, 1e153),
    "an outlier at 1e300": lambda rng: _outlier(rng, 1e300),
    "magnitudes from 1e-300 to 1e300": lambda rng: 10.0 ** rng.uniform(-300.0, 300.0, size=(24, 2)),
    "integers above 2**53": lambda rng: 2.0**53 + 2.0 * rng.integers(50, size=(24, 2)),
}
"""Numbers whose squares overflow or vanish, or whose differences are rounding: a refusal is an answer too."""
