"""Class sums above one group of rows: exact on a grid, so that all ways to the same labels give the same centres."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.solvers.means._geometry import CentredFeatures

__all__ = ["ExactSums"]


@final
@attrs.frozen
class ExactSums:
    """Class sums on two grids, as of `clusterkit.numerics.exact_sums_jit`.

    Parameters
    ----------
    coarse, fine : float
        Numbers whose addition and subtraction round to the grids.
    """

    coarse: float
    fine: float

    @classmethod
    def of(cls, about: CentredFeatures) -> ExactSums:
        """Grids for samples that spread so much about their mean."""
        from clusterkit.numerics.exact_sums_jit import grids

        radius = float(np.sqrt(about.radii.largest)) * (1.0 + 1e-3)  # (room for the rounding errors of distances)
        largest = radius + float(np.abs(about.origin).max(initial=0.0))
        return cls(*grids(largest, int(about.radii.count)))

    def zeros(self, k: int, width: int) -> list[Array]:
        """Empty sums: a table (k, L) for each grid."""
        return [np.zeros((k, width)), np.zeros((k, width))]

    def add(self, parts: list[Array], H: Array, labels: Labels) -> None:
        """Add the rows of H (b, L) to the sums of their classes."""
        from clusterkit.numerics.exact_sums_jit import add_rows

        add_rows(np.ascontiguousarray(H), labels, self.coarse, self.fine, *parts)

    def move(self, parts: list[Array], H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """Take rows of H from their old classes to their new ones."""
        from clusterkit.numerics.exact_sums_jit import move_rows

        move_rows(np.ascontiguousarray(H), index, old, new, self.coarse, self.fine, *parts)

    @staticmethod
    def sums(parts: list[Array]) -> Array:
        """The class sums, (L, k), of both tables."""
        high, low = parts
        return (high + low).T
