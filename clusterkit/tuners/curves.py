"""The table of all candidates of an ``edsvc`` search, for reports and plots."""

from __future__ import annotations

from typing import final

import attrs

from clusterkit._typing import Array, Counts, Labels, Mask

__all__ = ["BOUND_STEP", "COLUMNS", "CURVES", "GRID_STEP", "WIDTH_STEP", "EdSvcCurves"]

WIDTH_STEP, BOUND_STEP, GRID_STEP = 0, 1, 2
"""Values of `EdSvcCurves.step`: a bandwidth at the first bound, a bound at the best bandwidth, a pair of the grid."""

CURVES = "curves"
"""Key of the table in ``resolved_["tuner"]``, where the plot finds it."""

COLUMNS = ("step", "gamma", "C", "score", "n_clusters", "n_bounded", "qualified")
"""The fields of `EdSvcCurves` with one value for each candidate."""


@final
@attrs.frozen(eq=False)
class EdSvcCurves:
    """All candidates of a search with their scores, in the order of the search; arrays of shape (t,).

    Parameters
    ----------
    step : ndarray of int
        0 for a bandwidth at the first bound, 1 for a bound at the best bandwidth, 2 for a pair of the grid.
    gamma, C : ndarray
        `C` is nan where the solver has a fixed `nu` or `C`. If the search used a sample of the rows, `C` is the bound
        on that sample.
    score : ndarray
        Mean agreement with the ensemble.
    n_clusters : ndarray of int
    n_bounded : ndarray of int
        Rows whose weight is at the bound; -1 where the solver does not report them.
    qualified : ndarray of bool
        Whether the number of clusters lies within the limits of the search.
    chosen : int
        Index of the winner; -1 if no candidate qualified.
    singletons : float
        Score of the partition in which every row is a cluster of its own.
    measure : {"nmi", "ami"}
    """

    step: Labels
    gamma: Array
    C: Array
    score: Array
    n_clusters: Counts
    n_bounded: Counts
    qualified: Mask
    chosen: int
    singletons: float
    measure: str

    def __repr__(self) -> str:
        return f"<{len(self.gamma)} candidates, see clusterkit.plots.edsvc_curves>"

    def __len__(self) -> int:
        """Number of candidates."""
        return len(self.gamma)

    def tolist(self) -> list[dict[str, object]]:
        """A dictionary of plain numbers for each candidate."""
        columns = [getattr(self, name).tolist() for name in COLUMNS]
        return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]
