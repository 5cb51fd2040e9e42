"""Class sums that follow the labels: the samples that change their class are moved, and nothing is added up anew."""

from __future__ import annotations

from typing import Protocol, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.coding import Coded
from clusterkit.core.spaces import FeatureSpace
from clusterkit.solvers.means._exact_sums import ExactSums

__all__ = ["ExactlyMoved", "MovedByLoops", "MovedByProducts", "MovingSums", "transfers"]


class MovingSums(Protocol):
    """Sums of the features of each class, for labels that change a little from turn to turn."""

    @property
    def total(self) -> Array:
        """(L, k), float64, as of the last `settle`."""

    def renew(self, labels: Labels) -> None:
        """Add up all samples."""

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """Note that the rows `index` of H change from the classes `old` to `new`, (r,) each."""

    def settle(self) -> None:
        """Take in what was noted in this turn."""


class _Noted:
    """What both forms of rounded sums share: changes of a turn are added up first, and then to the sums."""

    def __init__(self, space: FeatureSpace, targets: Coded) -> None:
        self.space, self.targets, self.k = space, targets, targets.k
        self.total: Array = np.zeros((space.width, targets.k))
        self.change = np.zeros((targets.k, space.width))

    def renew(self, labels: Labels) -> None:
        """Add up all samples, in the order of `clusterkit.core.sums`."""
        self.total = self.space.adjoint(attrs.evolve(self.targets, labels=labels[None]))

    def settle(self) -> None:
        """Take in the changes of this turn."""
        self.total = self.total + self.change.T
        self.change[:] = 0.0


@final
class MovedByProducts(_Noted):
    """Rounded sums, moved by a product with one column for each class."""

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """As of `MovingSums`."""
        self.change += (H[index].T @ transfers(old, new, self.k, H.dtype)).T


@final
class MovedByLoops(_Noted):
    """Rounded sums, moved by compiled loops in float64."""

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """As of `MovingSums`."""
        from clusterkit.numerics.nearest_jit import transfer

        transfer(H, index, old, new, self.change)


@final
class ExactlyMoved:
    """Sums without rounding errors of their own: those of the labels, bit for bit, however they came about."""

    def __init__(self, space: FeatureSpace, k: int, exact: ExactSums) -> None:
        self.space, self.exact, self.parts = space, exact, exact.zeros(k, space.width)
        self.fresh = True

    @property
    def total(self) -> Array:
        """(L, k)."""
        return self.exact.sums(self.parts)

    def renew(self, labels: Labels) -> None:
        """Add up all samples; needed once."""
        if self.fresh:
            for rows, H in self.space.pieces():
                self.exact.add(self.parts, H, labels[rows])
            self.fresh = False

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """As of `MovingSums`."""
        self.exact.move(self.parts, H, index, old, new)

    def settle(self) -> None:
        """Nothing is noted apart from the sums."""


def transfers(old: Labels, new: Labels, k: int, dtype: np.dtype) -> Array:
    """One row per sample that changes its class: -1 for the old class, +1 for the new, (r, k)."""
    steps = np.zeros((len(old), k), dtype=dtype)
    movers = np.arange(len(old))
    steps[movers, old] = -1.0
    steps[movers, new] = 1.0
    return steps
