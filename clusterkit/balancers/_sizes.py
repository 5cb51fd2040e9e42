"""Allowed cluster sizes: bounds in rows or fractions of n for every cluster, or a list with one size for each."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from clusterkit._typing import Labels
from clusterkit.core.errors import Infeasible
from clusterkit.core.params import is_count

__all__ = ["limit_problem", "limits", "ranked", "sizes_problem"]


def limit_problem(value: Any) -> str | None:
    """What a lowest or highest size must be, or None if the value is valid."""
    if value is None:
        return None
    if is_count(value, 0):
        return None
    if isinstance(value, float | np.floating) and 0 <= float(value) <= 1:
        return None
    return "a number of rows (integer >= 0), a fraction of n (float from 0 to 1) or None"


def sizes_problem(value: Any) -> str | None:
    """What the list of sizes must be, or None if the value is valid."""
    if value is None:
        return None
    whole = isinstance(value, tuple) and all(is_count(size, 0) for size in value)
    return None if whole and value else "one integer >= 0 for each cluster, or None"


def limits(least: float | None, most: float | None, n: int, k: int) -> tuple[int, int]:
    """Lowest and highest size in rows; raises `Infeasible` if no sizes obey both.

    If a fraction is impossible only because it is rounded to rows, it is replaced by n / k, rounded.
    """
    if least is None and most is None:
        return n // k, -(-n // k)
    low, high = 0, n
    if least is not None:
        low = int(least) if isinstance(least, numbers.Integral) else math.ceil(_rows(least, n))
        if low > n // k and not isinstance(least, numbers.Integral) and float(least) * k <= 1 + 1e-9:
            low = n // k
    if most is not None:
        high = int(most) if isinstance(most, numbers.Integral) else math.floor(_rows(most, n))
        if high < -(-n // k) and not isinstance(most, numbers.Integral) and float(most) * k >= 1 - 1e-9:
            high = -(-n // k)
    if low > high:
        raise Infeasible(
            f"balancer 'transport': size_min = {least!r} is {low} rows, more than size_max = {most!r}, {high} rows"
        )
    if k * low > n:
        raise Infeasible(
            f"balancer 'transport': size_min = {least!r} requires {low} rows in each of {k} clusters, "
            f"{k * low} in all, but there are {n}; at most {n // k} rows each are possible"
        )
    if k * high < n:
        raise Infeasible(
            f"balancer 'transport': size_max = {most!r} allows {high} rows in each of {k} clusters, "
            f"{k * high} in all, but there are {n}; at least {-(-n // k)} rows each are needed"
        )
    return low, min(high, n)


def ranked(sizes: tuple[int, ...], n: int, k: int, initial: Labels) -> Labels:
    """The sizes in the order of the clusters: the largest for the largest cluster; ties go to the lowest number."""
    if len(sizes) != k:
        raise Infeasible(f"balancer 'transport': sizes has {len(sizes)} numbers, but there are {k} clusters")
    if sum(sizes) != n:
        raise Infeasible(f"balancer 'transport': sizes {sizes} add up to {sum(sizes)}, but there are {n} samples")
    matched = np.empty(k, dtype=np.int64)
    matched[np.argsort(-initial, kind="stable")] = np.sort(np.asarray(sizes, dtype=np.int64))[::-1]
    return matched


def _rows(fraction: float, n: int) -> float:
    rows = float(fraction) * n
    # products such as 0.03 * 400 = 12.000000000000002 mean whole numbers
    return round(rows) if abs(rows - round(rows)) < 1e-9 * max(n, 1) else rows
