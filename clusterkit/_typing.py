"""Array aliases shared by the typed parts of clusterkit."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""A floating-point array; shapes are given where a matrix is born."""

Labels: TypeAlias = NDArray[Any]
"""Integer labels, shape (n,); -1 is noise."""

Rng: TypeAlias = np.random.Generator

__all__ = ["Array", "Labels", "Rng"]
