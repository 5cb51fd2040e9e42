"""Who looks on while new rows are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clusterkit.tables.frames import Column

if TYPE_CHECKING:
    from clusterkit.tables.plans import CategoryColumn, NumberColumn

__all__ = ["Watch"]


class Watch:
    """Sees what a preparation reads in new rows; this one looks away."""

    def odd(self, what: str, cells: NDArray[np.bool_], column: Column, done: str) -> None:
        """See cells that a fit did not have.

        Parameters
        ----------
        what : str
            What they are.
        cells : ndarray of shape (n,), bool
        column : Column
        done : str
            What becomes of them.
        """

    def numbers(self, plan: NumberColumn, column: Column, values: NDArray[np.float64]) -> None:
        """See the numbers of a column, nan for gaps and cells that are none, before they are scaled."""

    def levels(self, plan: CategoryColumn, column: Column, new: NDArray[np.bool_]) -> None:
        """See which cells of a category have none of its levels."""
