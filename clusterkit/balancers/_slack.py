"""The slack l of the band ``|N_p - N_q| <= l``: rows or a fraction of n, promoted to the least possible value."""

from __future__ import annotations

import numbers
from typing import Any

__all__ = ["rows_of", "slack_problem"]


def slack_problem(value: Any) -> str | None:
    """What a slack must be, or None if it is fine."""
    wanted = "a fraction of n (float >= 0) or a number of rows (integer >= 0)"
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) < float("inf"):
        return wanted
    return None


def rows_of(slack: float, n: int, k: int) -> tuple[float, float]:
    """Slack in rows as asked, and as used: at least 1 unless the clusters can be exactly equal."""
    asked = float(slack) if isinstance(slack, numbers.Integral) else float(slack) * n
    # guard products such as 0.03 * 400 = 12.000000000000002
    asked = round(asked) if abs(asked - round(asked)) < 1e-9 else asked
    return asked, (asked if n % k == 0 else max(asked, 1.0))
