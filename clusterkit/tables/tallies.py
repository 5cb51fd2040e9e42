"""Sums of what distinct texts are, by reading, each counted as often as it occurs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clusterkit.tables.moments import Moments
from clusterkit.tables.plans import HOURS

__all__ = ["add", "add_by_mark", "first_days", "on_circles"]

MOST_MARKS = 20
"""Different marks beside the numbers of a column up to which each is counted; more are words and no units."""


def on_circles(seconds: NDArray[np.float64], weights: NDArray[np.generic]) -> NDArray[np.complex128]:
    """Sums of the first two harmonics of each part of dates."""
    sums = np.zeros((len(HOURS), 2), dtype=np.complex128)
    for i, period in enumerate(HOURS.values()):
        angle = 2j * np.pi * (seconds / 3600.0 % period) / period
        sums[i] = (weights * np.exp(angle)).sum(), (weights * np.exp(2 * angle)).sum()
    return sums


def first_days(seconds: NDArray[np.float64], weights: NDArray[np.generic]) -> int:
    """How many moments are the beginning of a month."""
    moments = seconds.astype("datetime64[s]")
    return int(weights[(moments == moments.astype("datetime64[M]")) & (seconds % 86400.0 == 0.0)].sum())


def add(readings: dict[str, Moments], name: str, values: Sequence[float | None], counts: NDArray[np.int_]) -> None:
    """Add a reading of distinct texts, if it reads any."""
    legible = np.array([value is not None for value in values])
    if legible.any():
        readings[name] = Moments.of(np.array([v for v in values if v is not None]), counts[legible])


def add_by_mark(
    readings: dict[str, Moments], name: str, values: Sequence[float | None], beside: Sequence[str],
    counts: NDArray[np.int_],
) -> None:  # fmt: skip
    """Add a reading of distinct texts for each of the marks beside the numbers, most of them if they are many."""
    places: dict[str, list[int]] = {}
    for i, (mark, value) in enumerate(zip(beside, values, strict=True)):
        if value is not None:
            places.setdefault(mark, []).append(i)
    for mark in sorted(places, key=lambda mark: (-len(places[mark]), mark))[:MOST_MARKS]:
        add(readings, name + mark, [values[i] for i in places[mark]], counts[places[mark]])
