"""The data sets of the EMMC paper: sizes (table 2), preprocessing, and the parameters that all methods share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs
import numpy as np

from clusterkit_papers.data_tables import sizes_job
from clusterkit_papers.jobs import Cell, Job, Plan
from clusterkit_papers.verdicts import accuracy_cap

__all__ = ["DATA_SETS", "FEW", "MANY", "PRINTED_C", "TWO", "EmmcDataSet", "table2"]

PRINTED_C = tuple(2.0**power for power in range(-10, 11))
"""The values of C that the paper chooses from."""


@attrs.frozen
class EmmcDataSet:
    """A data set as a table uses it.

    Parameters
    ----------
    name : str
        Printed name.
    dataset : str
        Name for `clusterkit_papers.datasets.load`.
    scale : {"minmax", "sixteenths", "raw"}
        Scaling of the attributes for all methods: to [-1, 1], divided by 16 (grey levels of digits), or not at all;
        with "raw" the random maps do not scale them either.
    slack : float
        l / n of the paper's table 2: the largest difference of the cluster sizes, as a fraction of n.
    n_hidden : int or None
        L of the paper, the number of hidden nodes; None means n.
    runs : int, default 20
        Number of runs per cell, as in the paper.
    slow_runs : int or None
        Number of runs of the methods beside EMMC whose fits take minutes here; None means `runs`.
    paper_runs : int, default 20
        Number of runs of EMMC as the paper describes it, where 20 take many minutes.
    grid : tuple of float
        The values of C that known classes choose from, for EMMC as the paper describes it.
    one_start : bool
        Whether it starts from one k-means in the feature space instead of the best of ten.
    remark : str
        A note for all its rows.
    classes : int, default 2
    """

    name: str
    dataset: str
    scale: Literal["minmax", "sixteenths", "raw"]
    slack: float
    n_hidden: int | None
    runs: int = 20
    slow_runs: int | None = None
    paper_runs: int = 20
    grid: tuple[float, ...] = PRINTED_C
    one_start: bool = False
    remark: str = ""
    classes: int = 2

    @property
    def small(self) -> bool:
        """Whether the data set has fewer than a thousand rows; the paper takes L = n for these."""
        return self.n_hidden is None

    def load(self) -> tuple[np.ndarray, np.ndarray]:
        """Scaled samples and their classes."""
        from clusterkit_papers.datasets import load

        dataset = load(self.dataset)
        return SCALINGS[self.scale](dataset.data), dataset.target

    def margin(self, X: np.ndarray, **changes: object) -> dict[str, object]:
        """Parameters of an EMMC recipe on the samples X: number of nodes, slack and scaling, with `changes`."""
        parameters: dict[str, Any] = {
            "featuremap__n_hidden": len(X) if self.n_hidden is None else self.n_hidden,
            "balancer__slack": self.slack,
        }
        if self.scale == "raw":
            parameters["featuremap__scale"] = None
        return parameters | changes

    def published(self, X: np.ndarray, **changes: object) -> dict[str, object]:
        """Parameters of `emmc-paper` on the samples X, with `changes`."""
        return self.margin(X, **({"init__n_init": 1} if self.one_start else {}), **changes)

    def cap(self, y: np.ndarray) -> float | None:
        """Highest accuracy (%) that the balance allows; None for more than two classes."""
        sizes = np.unique(y, return_counts=True)[1]
        return accuracy_cap(sizes, self.slack) if len(sizes) == 2 else None


def _to_range(X: np.ndarray) -> np.ndarray:
    """Rows (n, d) with attributes in [-1, 1]."""
    low, high = X.min(axis=0), X.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    # a constant attribute goes to the middle
    return np.where(high > low, 2.0 * (X - low) / width - 1.0, 0.0)


SCALINGS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "minmax": _to_range,
    "sixteenths": lambda X: X / 16.0,
    "raw": lambda X: X,
}
"""Scaling of an array (n, d), by name; grey levels of the digits run from 0 to 16."""

# The paper does not say how it scales. The units of ringnorm and svmguide1 carry the scale of the clusters: they stay.
TWO = (
    EmmcDataSet("Ionosphere", "ionosphere", "minmax", 0.15, None),
    EmmcDataSet("Digits1-7", "digits-1-7", "sixteenths", 0.03, None),
    EmmcDataSet("Digits8-9", "digits-8-9", "sixteenths", 0.03, None),
    EmmcDataSet("LetterA-B", "letter-ab", "minmax", 0.03, 300),
    EmmcDataSet("SatelliteC1-C2", "satellite-c1-c2", "minmax", 0.15, 300),
    EmmcDataSet("Svmguide1-a", "svmguide1", "raw", 0.15, 300),
    EmmcDataSet("Ringnorm", "ringnorm", "raw", 0.03, 300, slow_runs=3, remark="7400 rows, 7000 in the paper"),
)
FEW = (
    EmmcDataSet("Digits0689", "digits-0689", "sixteenths", 0.03, None, classes=4),
    EmmcDataSet("Digits1279", "digits-1279", "sixteenths", 0.03, None, classes=4),
    EmmcDataSet("LetterABCD", "letter-abcd", "minmax", 0.03, 300, classes=4),
)
"""The data sets with two classes (table 7) and with four (table 8)."""

MANY = EmmcDataSet(
    "USPS",
    "usps",
    "raw",
    0.15,
    1000,
    slow_runs=3,
    paper_runs=3,
    grid=PRINTED_C[::5],
    one_start=True,
    classes=10,
)
"""The data set with ten classes (table 8). EMMC as described has fewer runs, starts and values of C on it: with ten
starts a fit takes twenty seconds, and 21 values of C take minutes a run."""

DATA_SETS = {data_set.name: data_set for data_set in (*TWO, *FEW, MANY)}
"""All data sets by printed name."""


CAP = Cell("highest accuracy that l allows (%)", "cap")
"""Column for two classes of different sizes: l bounds the difference of the sizes of the clusters."""

ABSENT = "the paper uses it and has no row for it in this table"
"""A remark on the pairs of digits."""


def table2(plan: Plan) -> list[Job]:
    """All data sets of the paper; a quick run has the same rows."""
    three_nine = attrs.evolve(DATA_SETS["Digits1-7"], name="Digits3-9", dataset="digits-3-9")
    return [_sizes(data_set) for data_set in (*DATA_SETS.values(), three_nine)]


def _sizes(data_set: EmmcDataSet) -> Job:
    capped = data_set.classes == 2
    notes = [f"l = {data_set.slack:g} n", ABSENT if "-" in data_set.name and data_set.name[0] == "D" else ""]
    return sizes_job(
        data_set.name,
        f"{data_set.name}: data set {data_set.dataset}",
        data_set.load,
        more=(lambda y: {"cap": data_set.cap(y) or 100.0}) if capped else None,
        cells=(CAP,) if capped else (),
        note="; ".join(note for note in notes if note),
    )
