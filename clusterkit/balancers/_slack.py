"""The slack l of the band ``|N_p - N_q| <= l``: rows or a fraction of n, raised to the least possible value."""

from __future__ import annotations

import numbers
from typing import Any

from clusterkit.core.params import LARGEST, as_float

__all__ = ["rows_of", "slack_problem"]


def slack_problem(value: Any) -> str | None:
    """What a slack must be, or None if the value is valid."""
    valid = f"a fraction of n (float >= 0) or a number of rows (integer >= 0), and at most {LARGEST:g}"
    return None if 0 <= as_float(value) <= LARGEST else valid


def rows_of(slack: float, n: int, k: int) -> tuple[float, float]:
    """The slack in rows, as stated and as used: at least 1 unless the clusters can be exactly equal."""
    rows = float(slack) if isinstance(slack, numbers.Integral) else float(slack) * n
    # products such as 0.03 * 400 = 12.000000000000002 mean whole numbers
    rows = round(rows) if abs(rows - round(rows)) < 1e-9 else rows
    return rows, (rows if n % k == 0 else max(rows, 1.0))
