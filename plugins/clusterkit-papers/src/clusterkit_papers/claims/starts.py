"""EMMC and its starting labels: how far the results of 20 starts differ, beside k-means, IterSVM and IterSVR."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from clusterkit_papers.emmc.data_sets import DATA_SETS, EmmcDataSet
from clusterkit_papers.fits import fit_recipe, judge, warm_up
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values

__all__ = ["starts"]

RUNS, QUICK_RUNS = 20, 5
"""Starts of a row, as many as the paper has runs, and of a quick run, since one start says nothing of a difference."""

SETS = ("Ionosphere", "Digits1-7", "Digits8-9", "Digits3-9")
"""The small data sets with two classes, and the pair of the paper's table 3."""

QUICK_SETS = ("Digits1-7", "Digits8-9")
"""The data sets of a quick run."""

METHODS: Mapping[str, str] = {"itersvm": "IterSVM", "itersvr": "IterSVR", "emmc": "EMMC"}
"""The methods that begin with labels, by recipe."""

STARTS: Mapping[str, object] = {
    "random labels": "random",
    "one k-means": {"name": "kmeans", "n_init": 1},
    "the best of ten k-means": {"name": "kmeans", "n_init": 10},
}
"""The starting labels by name; those of k-means follow the seed too."""

CELLS = (
    Cell("error (%)", "error"),
    Cell("largest error (%)", "largest"),
    Cell("difference between two runs (%)", "difference"),
)
"""The error against the classes, its largest value, and how many labels differ between two runs, which needs no
classes."""


def starts(plan: Plan) -> list[Job]:
    """Every method with every kind of start on every data set, and k-means itself."""
    jobs = []
    for name in QUICK_SETS if plan.quick else SETS:
        data_set = DATA_SETS.get(name) or attrs.evolve(DATA_SETS["Digits8-9"], name=name, dataset="digits-3-9")
        jobs.append(_job(plan, data_set, "kmeans", "one k-means", "kmeans alone", {"n_init": 1}))
        for recipe in METHODS:
            for start, init in STARTS.items():
                jobs.append(_job(plan, data_set, recipe, start, f"{recipe} from {start}", {"init": init}))
    return jobs


def _job(plan: Plan, data_set: EmmcDataSet, recipe: str, start: str, what: str, changes: Mapping[str, Any]) -> Job:
    n_runs = plan.runs or (QUICK_RUNS if plan.quick else RUNS)
    seeds, row = range(plan.seed, plan.seed + n_runs), f"{data_set.name}: {what}"

    def run(step: Step) -> Measurements:
        X, y = data_set.load()
        warm_up(recipe, n_rows=30, n_clusters=2)
        runs: list[Values] = []
        labels: list[np.ndarray] = []
        for seed in seeds:
            timed = fit_recipe(X, recipe, seed, n_clusters=2, **_sizes(data_set, X, recipe), **changes)
            labels.append(timed.fitted.labels_)
            runs.append(judge(y, labels[-1]) | {"seconds": timed.seconds})
            step(f"{row}, seed {seed}")
        whole = {"largest": max(values["error"] for values in runs), "difference": _difference(labels)}
        return Measurements([runs[0] | whole, *runs[1:]])  # a value for all runs together has no spread

    note = "EMMC draws another map in each run too, so a part of its spread is not that of the start"
    return Job(data_set.name, row, CELLS, run, len(seeds), note=note if recipe == "emmc" else "")


def _sizes(data_set: EmmcDataSet, X: np.ndarray, recipe: str) -> dict[str, Any]:
    """The balance of the paper for the methods that have one."""
    if recipe == "kmeans":
        return {}
    return data_set.margin(X) if recipe == "emmc" else {"balancer__slack": data_set.slack}


def _difference(labels: list[np.ndarray]) -> float:
    """Mean share (%) of the samples on which two runs disagree, clusters matched; nan for one run."""
    from clusterkit.metrics import clustering_accuracy

    pairs = list(itertools.combinations(labels, 2))
    return 100.0 * statistics.fmean(1.0 - clustering_accuracy(*pair) for pair in pairs) if pairs else math.nan
