"""Support vector clustering, tables 1 to 4: sizes of the data, indices with and without known classes, and times."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from clusterkit_papers.jobs import Cell, Findings, Job, Plan, Step, Values
from clusterkit_papers.svc.bench import METHODS, Bench, Fitted, Method, Trial, fitted, grid_words, trials
from clusterkit_papers.svc.sets import SETTINGS, Setting, taken

__all__ = ["table1", "table2", "table3", "table4"]

EXTERNAL = (("purity", "purity"), ("Rand", "rand"), ("NMI", "nmi"))
INTERNAL = (("compactness", "compactness"), ("DB", "davies_bouldin"))

Measured = Callable[[Bench, Method, Trial, int], Values]


def table1(plan: Plan) -> list[Job]:
    """Sizes of the files; quick takes the same."""
    return [_sizes(setting) for setting in SETTINGS]


def _sizes(setting: Setting) -> Job:
    def run(step: Step) -> Findings:
        X, y = setting.load()
        step(setting.name)
        sizes = {"samples": len(X), "attributes": X.shape[1], "classes": len(np.unique(y))}
        return Findings([{**{name: float(size) for name, size in sizes.items()}, "seconds": 0.0}])

    cells = (Cell("N", "samples"), Cell("d", "attributes"), Cell("classes", "classes"))
    return Job(setting.name, f"{setting.name}: data set {setting.dataset}", cells, run, 1, note=setting.remark)


def table2(plan: Plan) -> list[Job]:
    """Purity, Rand index and NMI: of the grid, chosen by labels in two ways, and of settings that see no labels."""
    jobs = []
    for setting in taken(plan):
        bench = Bench(setting)
        for method in METHODS:
            grid = _Grid(plan, bench, method)
            jobs += [
                grid.job("best of the grid, each index by itself", _cells(method, EXTERNAL), grid.each_index),
                grid.job(
                    "best Rand + NMI of the grid",
                    (*_cells(method, EXTERNAL), *_more(method)),
                    partial(grid.best_sum, Bench.external),
                ),
                _unlabelled(plan, bench, method, (*_cells(method, EXTERNAL), *_more(method)), Bench.external),
            ]
    return jobs


def table3(plan: Plan) -> list[Job]:
    """Compactness and Davies-Bouldin index where labels find the best Rand + NMI, and where nothing sees labels."""
    jobs = []
    for setting in taken(plan):
        bench = Bench(setting)
        for method in METHODS:
            grid = _Grid(plan, bench, method)
            cells = (*_cells(method, INTERNAL), Cell(f"{method.name} clusters", "clusters"))
            jobs += [
                grid.job("best Rand + NMI of the grid", cells, partial(grid.best_sum, Bench.internal)),
                _unlabelled(plan, bench, method, cells, Bench.internal),
            ]
    return jobs


def table4(plan: Plan) -> list[Job]:
    """CPU seconds for the domain and for the labels, at one width for all methods."""
    jobs = []
    for setting in taken(plan):
        bench = Bench(setting)
        jobs += [_times(plan, bench, method) for method in METHODS]
        strip = {"labeler__start": "strip"}
        jobs.append(_times(plan, bench, METHODS[1], "sgd-lmsvc, start strip", **strip))
    return jobs


class _Grid:
    """The grid of a method on a data set, fitted when the first row asks for it."""

    def __init__(self, plan: Plan, bench: Bench, method: Method) -> None:
        self.plan, self.bench, self.method = plan, bench, method
        self.seeds = _seeds(plan, bench.setting, method)
        self.trials = list(trials(bench.setting, method))

    def job(self, what: str, cells: tuple[Cell, ...], run: Callable[[Step], Findings]) -> Job:
        setting, quick = self.bench.setting, self.plan.quick
        said = [grid_words(setting, self.method), "quick: a part of the grid" if quick else ""]
        said += [self.method.policy, setting.remark]
        return Job(
            setting.name,
            f"{setting.name}: {self.method.recipe}, {what}",
            cells,
            run,
            len(self.trials) * len(self.seeds),
            uses_labels=True,
            note=f"best of {len(self.trials)} settings by labels: " + "; ".join(text for text in said if text),
            comparable=not quick,
        )

    def each_index(self, step: Step) -> Findings:
        """The best of each index; they come from different settings."""
        indices = self._indices(step)
        runs: list[Values] = [{"seconds": 0.0} for _ in self.seeds]
        said = []
        for name, measure in EXTERNAL:
            trial, values = max(indices, key=lambda pair: statistics.fmean(run[measure] for run in pair[1]))
            for run, value in zip(runs, values, strict=True):
                run[measure] = value[measure]
                run["seconds"] += value["seconds"] / len(EXTERNAL)
            clusters = statistics.fmean(run["clusters"] for run in values)
            said.append(f"{name}: {trial.text} ({round(clusters, 1):g} clusters)")
        return Findings(runs, "; ".join(said))

    def best_sum(self, measured: Measured, step: Step) -> Findings:
        """The setting with the highest Rand + NMI."""
        indices = self._indices(step)
        best, _ = max(indices, key=lambda pair: statistics.fmean(run["rand"] + run["nmi"] for run in pair[1]))
        return Findings([measured(self.bench, self.method, best, seed) for seed in self.seeds], best.text)

    def _indices(self, step: Step) -> list[tuple[Trial, list[Values]]]:
        found = []
        for trial in self.trials:
            values = []
            for seed in self.seeds:
                values.append(self.bench.external(self.method, trial, seed))
                step(f"{self.bench.setting.name}: {self.method.recipe}, {trial.text}, seed {seed}")
            found.append((trial, values))
        return found


def _unlabelled(plan: Plan, bench: Bench, method: Method, cells: tuple[Cell, ...], measured: Measured) -> Job:
    setting = bench.setting
    seeds = _seeds(plan, setting, method)

    def run(step: Step) -> Findings:
        trial = bench.unlabelled(method, plan.seed)
        found = []
        for seed in seeds:
            found.append(measured(bench, method, trial, seed))
            step(f"{setting.name}: {method.recipe}, seed {seed}")
        return Findings(found, trial.text)

    return Job(setting.name, f"{setting.name}: {method.recipe}", cells, run, len(seeds), note=setting.remark)


def _times(plan: Plan, bench: Bench, method: Method, what: str = "", **changes: str) -> Job:
    setting = bench.setting
    parameters = {"featuremap__gamma": setting.timed, **({"tuner": None} if method.name == "SVC" else {}), **changes}
    words = {"SVC": "C = 1", "SGD-LMSVC": "C = 8", "FSVC": "p = 0.5, ε = 0.5"}[method.name]
    trial = Trial.of(setting.scalings[-1], f"gamma = {setting.timed:g}, {words}", parameters)
    seeds = plan.seeds(setting.runs)

    def run(step: Step) -> Findings:
        X = bench.X(trial.scaling)
        found = []
        for seed in seeds:
            once: Fitted = fitted(X, method.recipe, seed, **dict(trial.parameters))
            found.append(
                {
                    "training": once.training,
                    "labelling": once.labelling,
                    "clusters": float(once.clusters),
                    "seconds": once.seconds,
                }
            )
            step(f"{setting.name}: {what or method.recipe}, seed {seed}")
        return Findings(found)

    cells = (
        Cell(f"{method.name} training (s)", "training"),
        Cell(f"{method.name} labelling (s)", "labelling"),
        Cell(f"{method.name} clusters", "clusters"),
    )
    note = "; ".join(text for text in (trial.text, method.policy, setting.remark) if text)
    return Job(setting.name, f"{setting.name}: {what or method.recipe}", cells, run, len(seeds), note=note)


def _seeds(plan: Plan, setting: Setting, method: Method) -> Sequence[int]:
    seeds = plan.seeds(setting.runs)
    return seeds if method.random else seeds[:1]


def _cells(method: Method, indices: Sequence[tuple[str, str]]) -> tuple[Cell, ...]:
    return tuple(Cell(f"{method.name} {name}", measure) for name, measure in indices)


def _more(method: Method) -> tuple[Cell, ...]:
    printed_formula = Cell(f"{method.name} purity, formula as printed", "purity_by_class")
    return (printed_formula, Cell(f"{method.name} clusters", "clusters"))
