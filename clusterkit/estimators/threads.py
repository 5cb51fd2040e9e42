"""Numbers of threads of a fit: how large its matrices are, and what joblib takes as a number of workers."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import FeatureMap
from clusterkit.numerics.thread_limit import suited

__all__ = ["elements", "is_jobs", "suited"]


def is_jobs(value: Any) -> bool:
    """Whether joblib takes the value as a number of workers."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return value is None or (whole and value != 0)


def elements(n: int, featuremap: FeatureMap) -> int:
    """Size of the matrix a fit works on: features are at most some thousand, a kernel matrix is n x n."""
    return n * (min(n, 1000) if issubclass(featuremap.gives, FeatureSpace) else n)
