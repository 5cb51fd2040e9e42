"""Kernel functions between points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.kernels.distances import squared_distances

__all__ = ["Gaussian", "Kernel", "Linear"]


class Kernel(ABC):
    """A positive semidefinite function of two points."""

    @abstractmethod
    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values between the rows of A (m, d) and B (n, d), shape (m, n)."""

    @abstractmethod
    def diag(self, A: Array) -> Array:
        """Kernel of every row with itself, shape (m,)."""


@final
@attrs.frozen
class Gaussian(Kernel):
    """``exp(-gamma |x - y|²)``; ``gamma = 1 / (2 sigma²)`` is in units of an inverse squared distance."""

    gamma: float

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values, all in (0, 1] up to underflow."""
        D = squared_distances(A, B)
        D *= -self.gamma
        return np.exp(D, out=D)

    def diag(self, A: Array) -> Array:
        """Ones."""
        return np.ones(len(A), dtype=A.dtype)


@final
@attrs.frozen
class Linear(Kernel):
    """The inner product ``x · y``."""

    def __call__(self, A: Array, B: Array) -> Array:
        """Inner products."""
        return A @ B.T

    def diag(self, A: Array) -> Array:
        """Squared lengths."""
        return np.einsum("ij,ij->i", A, A)
