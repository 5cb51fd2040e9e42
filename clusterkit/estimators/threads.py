"""Numbers of threads of a fit: how large its matrices are, and what joblib takes as a number of workers."""

from __future__ import annotations

import sys

from clusterkit.core.params import is_count
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import FeatureMap
from clusterkit.numerics.thread_limit import suited

__all__ = ["elements", "is_jobs", "suited"]


def is_jobs(value: object) -> bool:
    """Whether joblib takes a value as a number of workers: None, or an integer other than 0 (-1 means all cores)."""
    return value is None or (is_count(value, -sys.maxsize) and value != 0)


def elements(n: int, featuremap: FeatureMap) -> int:
    """Elements of the matrix of a fit of n rows: n times at most 1000 features (their default), or n² kernel values."""
    return n * (min(n, 1000) if issubclass(featuremap.gives, FeatureSpace) else n)
