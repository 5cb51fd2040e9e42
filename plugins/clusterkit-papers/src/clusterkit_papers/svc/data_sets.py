"""The data sets of the support vector clustering paper, and the part of the parameter grid that is run on each."""

from __future__ import annotations

from typing import Literal, TypedDict

import attrs
import numpy as np

from clusterkit_papers.jobs import Plan

__all__ = ["DATA_SETS", "GRID", "Scaling", "SvcDataSet", "taken"]

Scaling = Literal["raw", "zscore", "minmax"]
"""A key of `clusterkit_papers.scalings.SCALINGS`."""

GRID = tuple(2.0**power for power in (-5, -3, -1, 1, 3, 5))
"""The values that the paper tries, for gamma and for C."""

NARROW_C = (2.0**-5, 2.0**-3, 2.0**-1, 1.0)
"""The values of C for the sphere, whose weights sum to 1: all C from 1 on give the same problem."""

FRACTIONS, RADII = (0.2, 0.5, 1.0), (0.5,)
"""p and ε of fsvc: a part of the paper's 0.1, ..., 1."""


@attrs.frozen
class SvcDataSet:
    """A data set as the tables use it.

    Parameters
    ----------
    name : str
        Printed name.
    dataset : str
        Its name for `clusterkit_papers.datasets.load`.
    rows : int or None
        Use only so many of the first rows.
    scalings : tuple of {"raw", "zscore", "minmax"}
        The scalings in the grid; times are measured with the last one.
    unlabelled : {"raw", "zscore", "minmax"}
        The scaling of the fits that see no labels: "raw" for points of a plane, whose coordinates have one unit.
    gammas : tuple of float
        Widths in the grid.
    sphere_gammas : tuple of float or None
        Widths for `svdd` with the complete graph, where they are fewer: the graph is slow where nearly every sample is
        a cluster.
    sphere_C, plane_C : tuple of float
        Values of C for `svdd`, and for `lmsvc`.
    fractions, radii : tuple of float
        p and ε of `fsvc`.
    timed : float
        The gamma of the table of times.
    runs : int
        Number of seeds of the methods that draw at random.
    remark : str
        A note for all its rows.
    """

    name: str
    dataset: str
    rows: int | None = None
    scalings: tuple[Scaling, ...] = ("raw", "zscore")
    unlabelled: Scaling = "raw"
    gammas: tuple[float, ...] = GRID
    sphere_gammas: tuple[float, ...] | None = None
    sphere_C: tuple[float, ...] = NARROW_C
    plane_C: tuple[float, ...] = GRID
    fractions: tuple[float, ...] = FRACTIONS
    radii: tuple[float, ...] = RADII
    timed: float = 2.0
    runs: int = 3
    remark: str = ""

    def load(self) -> tuple[np.ndarray, np.ndarray]:
        """Unscaled samples (n, d), missing values replaced by the median of their attribute, and their classes (n,)."""
        from clusterkit_papers.datasets import load

        dataset = load(self.dataset)
        X, y = dataset.data[: self.rows], dataset.target[: self.rows]
        if np.isnan(X).any():
            X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
        return np.ascontiguousarray(X), y


class CValues(TypedDict):
    """Values of C that a data set tries, for spheres and for planes."""

    sphere_C: tuple[float, ...]
    plane_C: tuple[float, ...]


class QuickGrid(CValues):
    """Values that a quick run tries in place of those of any data set."""

    scalings: tuple[Scaling, ...]
    gammas: tuple[float, ...]
    fractions: tuple[float, ...]


FEW_C: CValues = {"sphere_C": (2.0**-5, 1.0), "plane_C": (2.0, 8.0)}
"""The part of the values of C that is tried on large sets, whose fits take long."""

DATA_SETS = (
    SvcDataSet("Aggregation", "aggregation"),
    SvcDataSet(
        "Breast cancer",
        "breast-cancer-699",
        unlabelled="zscore",
        remark="missing values: median of the attribute",
    ),
    SvcDataSet("Compound", "compound"),
    SvcDataSet("Flame", "flame"),
    SvcDataSet("Glass", "glass", unlabelled="zscore"),
    SvcDataSet("Iris", "iris", unlabelled="zscore"),
    SvcDataSet("Jain", "jain"),
    SvcDataSet("Pathbased", "pathbased"),
    SvcDataSet("R15", "r15"),
    SvcDataSet("Spiral", "spiral"),
    SvcDataSet("D31", "d31", sphere_C=FEW_C["sphere_C"], runs=1),
    SvcDataSet(
        "Abalone",
        "abalone",
        scalings=("zscore",),
        unlabelled="zscore",
        sphere_gammas=GRID[:4],
        fractions=(0.2,),
        timed=0.5,
        runs=1,
        **FEW_C,
    ),
    SvcDataSet(
        "Car",
        "car",
        scalings=("zscore",),
        unlabelled="zscore",
        sphere_gammas=GRID[:4],
        sphere_C=FEW_C["sphere_C"],
        timed=0.5,
        runs=1,
        remark="attributes as the ordinal codes of the file",
    ),
    SvcDataSet(
        "Musk",
        "musk2",
        # with z-scores of 166 attributes all samples are far from each other at every gamma of the grid
        scalings=("minmax",),
        unlabelled="minmax",
        gammas=GRID[:4],
        sphere_gammas=GRID[:3],
        fractions=(0.2,),
        timed=2.0**-3,
        runs=1,
        **FEW_C,
    ),
    SvcDataSet(
        "Shuttle",
        "shuttle",
        rows=43_500,
        scalings=("zscore",),
        unlabelled="zscore",
        gammas=GRID[2:5],
        fractions=(0.1,),
        timed=0.5,
        runs=1,
        remark="the training part",
        **FEW_C,
    ),
)
"""The data sets of table 1, the large ones with a part of the grid."""

SMALL = ("Flame", "Iris")
"""The data sets of a quick run."""

QUICK: QuickGrid = {"scalings": ("zscore",), "gammas": GRID[2:], "fractions": (0.5,), **FEW_C}
"""The part of the grid of a quick run."""


def taken(plan: Plan) -> tuple[SvcDataSet, ...]:
    """The data sets of a run: all, or the small ones with a part of the grid if it is quick."""
    if not plan.quick:
        return DATA_SETS
    return tuple(attrs.evolve(data_set, **QUICK) for data_set in DATA_SETS if data_set.name in SMALL)
