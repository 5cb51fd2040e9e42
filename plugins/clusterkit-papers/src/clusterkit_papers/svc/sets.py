"""The data sets of the support vector clustering paper, and the part of the parameter grid that each one gets."""

from __future__ import annotations

from typing import Any, Literal

import attrs
import numpy as np

from clusterkit_papers.jobs import Plan

__all__ = ["GRID", "SETTINGS", "Scaling", "Setting", "taken"]

Scaling = Literal["raw", "zscore", "minmax"]

GRID = tuple(2.0**power for power in (-5, -3, -1, 1, 3, 5))
"""What the paper searches, for gamma and for C."""
NARROW_C = (2.0**-5, 2.0**-3, 2.0**-1, 1.0)
"""The same C for a sphere, whose weights sum to 1: all C from 1 on are one problem."""
FRACTIONS, RADII = (0.2, 0.5, 1.0), (0.5,)


@attrs.frozen
class Setting:
    """A data set as the tables use it.

    Parameters
    ----------
    name : str
        As printed.
    dataset : str
        As `clusterkit.datasets.load` knows it.
    rows : int or None
        Only so many of the first rows.
    scalings : tuple of {"raw", "zscore", "minmax"}
        What the grid tries; times are taken with the last.
    unlabelled : {"raw", "zscore", "minmax"}
        What fits without labels take: "raw" for points of a plane, whose coordinates have one unit.
    gammas : tuple of float
    sphere_gammas : tuple of float or None
        Of `svdd` with the complete graph, where fewer: it is slow where nearly all samples are clusters.
    sphere_C, plane_C : tuple of float
        Of `svdd`, and of `lmsvc`.
    fractions, radii : tuple of float
        p and ε of `fsvc`.
    timed : float
        The gamma of the table of times.
    runs : int
        Seeds of the methods that draw at random.
    remark : str
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
        """Samples as they are, missing values replaced by the median of their attribute; and their classes."""
        from clusterkit.datasets import load

        found = load(self.dataset)
        X, y = found.data[: self.rows], found.target[: self.rows]
        if np.isnan(X).any():
            X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
        return np.ascontiguousarray(X), y


FEW_C: dict[str, Any] = {"sphere_C": (2.0**-5, 1.0), "plane_C": (2.0, 8.0)}

SETTINGS = (
    Setting("Aggregation", "aggregation"),
    Setting(
        "Breast cancer",
        "breast-cancer-699",
        unlabelled="zscore",
        remark="missing values: median of the attribute",
    ),
    Setting("Compound", "compound"),
    Setting("Flame", "flame"),
    Setting("Glass", "glass", unlabelled="zscore"),
    Setting("Iris", "iris", unlabelled="zscore"),
    Setting("Jain", "jain"),
    Setting("Pathbased", "pathbased"),
    Setting("R15", "r15"),
    Setting("Spiral", "spiral"),
    Setting("D31", "d31", sphere_C=FEW_C["sphere_C"], runs=1),
    Setting(
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
    Setting(
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
    Setting(
        "Musk",
        "musk2",
        # z-scores of 166 attributes are all far from each other at every gamma of the grid
        scalings=("minmax",),
        unlabelled="minmax",
        gammas=GRID[:4],
        sphere_gammas=GRID[:3],
        fractions=(0.2,),
        timed=2.0**-3,
        runs=1,
        **FEW_C,
    ),
    Setting(
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

SMALL = ("Flame", "Iris")
"""What quick runs, with a part of the grid."""
QUICK: dict[str, Any] = {"scalings": ("zscore",), "gammas": GRID[2:], "fractions": (0.5,), **FEW_C}


def taken(plan: Plan) -> tuple[Setting, ...]:
    """The data sets of a run."""
    if not plan.quick:
        return SETTINGS
    return tuple(attrs.evolve(setting, **QUICK) for setting in SETTINGS if setting.name in SMALL)
