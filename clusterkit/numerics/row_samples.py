"""A random sample of rows, where all of them would cost too much."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Indices, Rng

__all__ = ["sample_rows"]


def sample_rows(n: int, max_rows: int, rng: Rng) -> Indices:
    """Indices of rows, ascending: all n, or `max_rows` of them at random; nothing is drawn where all are taken."""
    return np.arange(n) if n <= max_rows else np.sort(rng.choice(n, max_rows, replace=False))
