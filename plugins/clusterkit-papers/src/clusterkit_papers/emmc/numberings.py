"""EMMC with one output, table 8: every numbering of the first clusters, which decides which clusters are neighbours."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar, Self, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts import Codec, Task
from clusterkit.families.shared.codecs import Interval
from clusterkit.samples.coding import Coding
from clusterkit_papers.emmc.complexity import DecomposedRidge, bound_at_start
from clusterkit_papers.emmc.data_sets import EmmcDataSet
from clusterkit_papers.emmc.readings import RECIPE
from clusterkit_papers.fits import averaged, judge, timed_fit
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values

__all__ = ["numbered_fits", "numberings"]

C = 500.0
"""The C of the text; the best numbering is a choice by labels, and C by labels would be a second one."""

SUMMARIES: Mapping[str, str] = {"worst": "the worst", "mean": "the mean", "best": "the best"}
"""Ends of the names of rows, and what they have of the fits of a run."""


@final
@attrs.frozen
class NumberedInterval(Codec):
    """The intervals of one score, with the clusters along the principal axis in another order on the line.

    Parameters
    ----------
    places : tuple of int
        The place on the line of each cluster.
    """

    name: ClassVar[str] = "numbered_interval"
    coding: ClassVar[Coding] = Coding.ORDINAL
    places: tuple[int, ...]

    def codebook(self, k: int) -> Array:
        """The targets on the line, (k, 1)."""
        return Interval("signed").codebook(k)[list(self.places)]

    def costs(self, rows: Array, k: int) -> Array:
        """Squared distance to the middle of each interval, (n, k)."""
        return Interval("signed").costs(rows, k)[:, list(self.places)]

    def calibrate(self, rows: Array, task: Task) -> Self:
        """This codec itself: it has nothing to fit."""
        return self


def numberings(plan: Plan, data_set: EmmcDataSet) -> list[Job]:
    """Jobs with the worst, mean and best accuracy over all numberings of the same first clusters."""
    count = len(_orders(data_set.classes))
    seeds = plan.seeds(data_set.paper_runs)

    def job(which: str) -> Job:
        row = f"{data_set.name}: {RECIPE}, {which} of {count} numberings"

        def run(step: Step) -> Measurements:
            runs = []
            for seed in seeds:
                runs.append(_summary(which, _fits(data_set, seed)))
                step(f"{row}, seed {seed}")
            return Measurements(runs)

        note = f"C = {C:g}; {SUMMARIES[which]} of a fit from each numbering of the same first clusters"
        cells = (Cell("EMMC Acc", "accuracy"), Cell("EMMC RI", "rand"))
        return Job(data_set.name, row, cells, run, len(seeds), which != "mean", note)

    return [job(which) for which in SUMMARIES]


def numbered_fits(X: np.ndarray, y: np.ndarray, seed: int, **parameters: object) -> list[Values]:
    """The measures of a fit of `emmc-paper` at C = 500 from each numbering, with one map and one start for all.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Known classes, which judge the labels.
    seed : int
    **parameters
        Parameters of the recipe.
    """
    from clusterkit.fitting.fit import run

    bound, vectors, eigenvalues = bound_at_start(X, y, RECIPE, seed, **parameters)
    prepared = DecomposedRidge(bound.space, vectors, 1.0 / (eigenvalues + 1.0 / C), C)
    values = []
    for places in _orders(bound.task.k):
        composition = attrs.evolve(bound.composition, labeler=NumberedInterval(places))
        numbered = attrs.evolve(bound, composition=composition, prepared=prepared)
        timed = timed_fit(lambda numbered=numbered: run(numbered))
        values.append({**judge(y, timed.fitted.labels), "seconds": timed.seconds})
    return values


@cache
def _fits(data_set: EmmcDataSet, seed: int) -> Sequence[Values]:
    X, y = data_set.load()
    return numbered_fits(X, y, seed, **data_set.published(X))


def _orders(k: int) -> Sequence[tuple[int, ...]]:
    return list(itertools.permutations(range(k)))


def _summary(which: str, fits: Sequence[Values]) -> Values:
    """The mean over the fits, or the fit of lowest or highest accuracy."""
    if which == "mean":
        return averaged(fits)
    return (min if which == "worst" else max)(fits, key=lambda values: values["accuracy"])
