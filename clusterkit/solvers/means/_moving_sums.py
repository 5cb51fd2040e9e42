"""Class sums that follow the labels: the samples that change their class are moved, and nothing is added up anew."""

from __future__ import annotations

from typing import Protocol, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.core.coding import Coded
from clusterkit.core.spaces import FeatureSpace
from clusterkit.solvers.means._exact_sums import ExactSums

__all__ = ["ExactlyMoved", "MovedByLoops", "MovedByProducts", "MovingSums", "transfers"]


class MovingSums(Protocol):
    """Sums of the features of each class, for labels that change a little from turn to turn."""

    sizes: Counts
    """(k,), as of the last `settle`"""

    @property
    def total(self) -> Array:
        """(L, k), float64, as of the last `settle`."""

    def renew(self, labels: Labels) -> None:
        """Add up all samples."""

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """Note that the rows `index` of H change from the classes `old` to `new`, (r,) each."""

    def settle(self) -> None:
        """Take in what was noted in this turn."""


class _MovingSizes:
    """What all forms share: class sizes that follow the labels."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.sizes: Counts = np.zeros(k, dtype=np.intp)
        self.growth: Counts = np.zeros(k, dtype=np.intp)

    def count(self, labels: Labels) -> None:
        """Count all samples."""
        self.sizes, self.growth = np.bincount(labels, minlength=self.k), np.zeros(self.k, dtype=np.intp)

    def note(self, old: Labels, new: Labels) -> None:
        """Note samples that change their class."""
        self.growth += np.bincount(new, minlength=self.k) - np.bincount(old, minlength=self.k)

    def settle(self) -> None:
        """Take in what was noted."""
        self.sizes, self.growth = self.sizes + self.growth, np.zeros_like(self.growth)


class _Rounded(_MovingSizes):
    """Sums with rounding errors: the changes of a turn are added up first, and then to the sums."""

    def __init__(self, space: FeatureSpace, targets: Coded) -> None:
        super().__init__(targets.k)
        self.space, self.targets = space, targets
        self.total: Array = np.zeros((space.width, targets.k))
        self.change = np.zeros((targets.k, space.width))

    def renew(self, labels: Labels) -> None:
        """Add up all samples, in the order of `clusterkit.core.sums`."""
        self.count(labels)
        self.total = self.space.adjoint(attrs.evolve(self.targets, labels=labels[None]))

    def settle(self) -> None:
        """Take in the changes of this turn."""
        super().settle()
        self.total = self.total + self.change.T
        self.change[:] = 0.0


@final
class MovedByProducts(_Rounded):
    """Rounded sums, moved by a product with one column for each class."""

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """As of `MovingSums`."""
        self.note(old, new)
        self.change += (H[index].T @ transfers(old, new, self.k, H.dtype)).T


@final
class MovedByLoops(_Rounded):
    """Rounded sums, moved by compiled loops in float64."""

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """As of `MovingSums`."""
        from clusterkit.numerics.nearest_jit import transfer

        self.note(old, new)
        transfer(H, index, old, new, self.change)


@final
class ExactlyMoved(_MovingSizes):
    """Sums without rounding errors of their own: those of the labels, bit for bit, however they came about."""

    def __init__(self, space: FeatureSpace, k: int, exact: ExactSums) -> None:
        super().__init__(k)
        self.space, self.exact, self.tables = space, exact, exact.zeros(k, space.width)
        self.fresh = True

    @property
    def total(self) -> Array:
        """(L, k)."""
        return self.exact.sums(self.tables)

    def renew(self, labels: Labels) -> None:
        """Add up all samples; needed once."""
        if self.fresh:
            self.count(labels)
            for rows, H in self.space.pieces():
                self.exact.add(self.tables, H, labels[rows])
            self.fresh = False

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """As of `MovingSums`, but the sums change at once."""
        self.note(old, new)
        self.exact.move(self.tables, H, index, old, new)


def transfers(old: Labels, new: Labels, k: int, dtype: np.dtype) -> Array:
    """One row per sample that changes its class: -1 for the old class, +1 for the new, (r, k)."""
    steps = np.zeros((len(old), k), dtype=dtype)
    movers = np.arange(len(old))
    steps[movers, old] = -1.0
    steps[movers, new] = 1.0
    return steps
