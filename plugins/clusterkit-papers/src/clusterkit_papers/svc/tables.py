"""Support vector clustering, tables 1 to 4: sizes of the data, indices with and without known classes, and times."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.svc.data_sets import DATA_SETS, SvcDataSet, taken
from clusterkit_papers.svc.fits import METHODS, GridPoint, SvcFits, SvcMethod, grid_points, grid_words, two_step_fit

__all__ = ["table1", "table2", "table3", "table4"]

EXTERNAL = (
    ("purity, formula as printed", "purity_by_class"),
    ("Rand", "rand"),
    ("NMI", "nmi"),
    ("purity", "purity"),
)
"""Columns and measures of the indices that compare with known classes (table 2). The paper defines purity by shares of
the classes, p_ij = N_ij / N_j (section 4.2.1), and is judged by that; the usual purity, by shares of the clusters,
stands beside it."""

INTERNAL = (("compactness", "compactness"), ("DB", "davies_bouldin"))
"""Columns and measures of the indices that need no classes (table 3)."""

Measured = Callable[[SvcFits, SvcMethod, GridPoint, int], Values]
"""The function that judges a fit: `SvcFits.external` or `SvcFits.internal`."""


def table1(plan: Plan) -> list[Job]:
    """Sizes of the data sets; a quick run has the same rows."""
    return [_sizes(data_set) for data_set in DATA_SETS]


def _sizes(data_set: SvcDataSet) -> Job:
    def run(step: Step) -> Measurements:
        X, y = data_set.load()
        step(data_set.name)
        sizes = {"samples": len(X), "attributes": X.shape[1], "classes": len(np.unique(y))}
        return Measurements([{**{name: float(size) for name, size in sizes.items()}, "seconds": 0.0}])

    cells = (Cell("N", "samples"), Cell("d", "attributes"), Cell("classes", "classes"))
    return Job(
        data_set.name,
        f"{data_set.name}: data set {data_set.dataset}",
        cells,
        run,
        1,
        note=data_set.remark,
        as_described=True,
    )


def table2(plan: Plan) -> list[Job]:
    """Purity, Rand index and NMI: best of the grid by labels, in two ways, and with parameters that see no labels."""
    jobs = []
    for data_set in taken(plan):
        fits = SvcFits(data_set)
        for method in METHODS:
            grid = MethodGrid(plan, fits, method)
            jobs += [
                grid.job("best of the grid, each index by itself", _cells(method, EXTERNAL), grid.each_index),
                grid.job(
                    "best Rand + NMI of the grid",
                    (*_cells(method, EXTERNAL), _clusters(method)),
                    partial(grid.best_sum, SvcFits.external),
                    as_described=method.as_described,
                ),
                _unlabelled(plan, fits, method, (*_cells(method, EXTERNAL), _clusters(method)), SvcFits.external),
            ]
    return jobs


def table3(plan: Plan) -> list[Job]:
    """Compactness and Davies-Bouldin index: where labels choose the best Rand + NMI, and where nothing sees labels."""
    jobs = []
    for data_set in taken(plan):
        fits = SvcFits(data_set)
        for method in METHODS:
            grid = MethodGrid(plan, fits, method)
            cells = (*_cells(method, INTERNAL), _clusters(method))
            jobs += [
                grid.job(
                    "best Rand + NMI of the grid",
                    cells,
                    partial(grid.best_sum, SvcFits.internal),
                    as_described=method.as_described,
                ),
                _unlabelled(plan, fits, method, cells, SvcFits.internal),
            ]
    return jobs


def table4(plan: Plan) -> list[Job]:
    """CPU seconds for the domain and for the labels, at one width for all methods."""
    jobs = []
    for data_set in taken(plan):
        fits = SvcFits(data_set)
        jobs += [_times(plan, fits, method) for method in METHODS]
    return jobs


class MethodGrid:
    """The grid of a method on a data set; its fits are computed when the first row needs them."""

    def __init__(self, plan: Plan, fits: SvcFits, method: SvcMethod) -> None:
        self.plan, self.fits, self.method = plan, fits, method
        self.seeds = _seeds(plan, fits.data_set, method)
        self.grid_points = list(grid_points(fits.data_set, method))

    def job(
        self, what: str, cells: tuple[Cell, ...], run: Callable[[Step], Measurements], *, as_described: bool = False
    ) -> Job:
        data_set, quick = self.fits.data_set, self.plan.quick
        remarks = [grid_words(data_set, self.method), "quick: a part of the grid" if quick else ""]
        remarks += [self.method.policy, data_set.remark]
        return Job(
            data_set.name,
            f"{data_set.name}: {self.method.recipe}, {what}",
            cells,
            run,
            len(self.grid_points) * len(self.seeds),
            uses_labels=True,
            note=f"best of {len(self.grid_points)} settings by labels: " + "; ".join(text for text in remarks if text),
            comparable=not quick,
            as_described=as_described,
        )

    def each_index(self, step: Step) -> Measurements:
        """The best value of each index by itself; they belong to different points of the grid."""
        indices = self._indices(step)
        runs: list[Values] = [{"seconds": 0.0} for _ in self.seeds]
        notes = []
        for name, measure in EXTERNAL:
            point, values = max(indices, key=lambda pair: statistics.fmean(run[measure] for run in pair[1]))
            for run, value in zip(runs, values, strict=True):
                run[measure] = value[measure]
                run["seconds"] += value["seconds"] / len(EXTERNAL)
            clusters = statistics.fmean(run["clusters"] for run in values)
            notes.append(f"{name}: {_with_budget(f'{point.text} ({round(clusters, 1):g} clusters)', values)}")
        return Measurements(runs, "; ".join(notes))

    def best_sum(self, measured: Measured, step: Step) -> Measurements:
        """The point of the grid with the highest Rand + NMI."""
        indices = self._indices(step)
        best, _ = max(indices, key=lambda pair: statistics.fmean(run["rand"] + run["nmi"] for run in pair[1]))
        runs = [measured(self.fits, self.method, best, seed) for seed in self.seeds]
        return Measurements(runs, _with_budget(best.text, runs))

    def _indices(self, step: Step) -> list[tuple[GridPoint, list[Values]]]:
        indices = []
        for point in self.grid_points:
            values = []
            for seed in self.seeds:
                values.append(self.fits.external(self.method, point, seed))
                step(f"{self.fits.data_set.name}: {self.method.recipe}, {point.text}, seed {seed}")
            indices.append((point, values))
        return indices


def _unlabelled(plan: Plan, fits: SvcFits, method: SvcMethod, cells: tuple[Cell, ...], measured: Measured) -> Job:
    data_set = fits.data_set
    seeds = _seeds(plan, data_set, method)

    def run(step: Step) -> Measurements:
        point = fits.unlabelled(method, plan.seed)
        runs = []
        for seed in seeds:
            runs.append(measured(fits, method, point, seed))
            step(f"{data_set.name}: {method.recipe}, seed {seed}")
        return Measurements(runs, _with_budget(point.text, runs))

    return Job(data_set.name, f"{data_set.name}: {method.recipe}", cells, run, len(seeds), note=data_set.remark)


def _with_budget(text: str, runs: Sequence[Values]) -> str:
    """The remark `text`, and in how many of the runs the labeler's budget of work ended its search for components."""
    ended = sum(run["ended"] > 0 for run in runs)
    many = f"{ended} of {len(runs)} runs" if len(runs) > 1 else "the run"
    return f"{text}, the budget of work ended the search for components in {many}" if ended else text


def _times(plan: Plan, fits: SvcFits, method: SvcMethod) -> Job:
    data_set = fits.data_set
    parameters = {"featuremap__gamma": data_set.timed, **({"tuner": None} if method.name == "SVC" else {})}
    words = {"SVC": "C = 1", "SGD-LMSVC": "C = 8", "FSVC": "p = 0.5, ε = 0.5"}[method.name]
    point = GridPoint.of(data_set.scalings[-1], f"gamma = {data_set.timed:g}, {words}", parameters)
    seeds = plan.seeds(data_set.runs)

    def run(step: Step) -> Measurements:
        X = fits.X(point.scaling)
        runs = []
        for seed in seeds:
            fit = two_step_fit(X, method.recipe, seed, **dict(point.parameters))
            runs.append(
                {
                    "training": fit.training,
                    "labelling": fit.labelling,
                    "clusters": float(fit.clusters),
                    "seconds": fit.seconds,
                    "ended": float(fit.ended),
                }
            )
            step(f"{data_set.name}: {method.recipe}, seed {seed}")
        return Measurements(runs, _with_budget("", runs).removeprefix(", "))

    cells = (
        Cell(f"{method.name} training (s)", "training"),
        Cell(f"{method.name} labelling (s)", "labelling"),
        _clusters(method),
    )
    note = "; ".join(text for text in (point.text, method.policy, data_set.remark) if text)
    return Job(
        data_set.name,
        f"{data_set.name}: {method.recipe}",
        cells,
        run,
        len(seeds),
        note=note,
        as_described=method.as_described,
    )


def _seeds(plan: Plan, data_set: SvcDataSet, method: SvcMethod) -> Sequence[int]:
    seeds = plan.seeds(data_set.runs)
    return seeds if method.random else seeds[:1]


def _cells(method: SvcMethod, indices: Sequence[tuple[str, str]]) -> tuple[Cell, ...]:
    return tuple(Cell(f"{method.name} {name}", measure) for name, measure in indices)


def _clusters(method: SvcMethod) -> Cell:
    return Cell(f"{method.name} clusters", "clusters")
