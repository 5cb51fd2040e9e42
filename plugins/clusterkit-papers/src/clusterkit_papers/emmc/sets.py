"""EMMC, tables 7 to 10: accuracy, Rand index, time and iterations on all its data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from clusterkit_papers.emmc.baselines import Method, graphs, job, margins, times
from clusterkit_papers.emmc.settings import FEW, MANY, TWO, Setting
from clusterkit_papers.fits import DEGREES, best_by_labels, fit
from clusterkit_papers.jobs import Cell, Findings, Job, Plan, Step, Values

__all__ = ["table7", "table8", "table9", "table10"]

FEWER: dict[str, Any] = {"n_maps": 3, "n_init": 20}
GRID_LARGE = (12.0, 50.0, 150.0)
KNOWN_SIZES = 0.40
CAP_OF_PRINT = 0.30  # with l = 0.30 n the highest accuracy is what the paper prints for IterSVR
SMALL = ("Ionosphere", "Digits1-7", "Digits8-9", "Digits0689", "Digits1279")
"""What quick runs."""


def table7(plan: Plan) -> list[Job]:
    """Two clusters."""
    jobs = [each for setting in _taken(plan, TWO) for each in [*margins(plan, setting), *_accuracies(plan, setting)]]
    if not plan.quick:
        by_name = {setting.name: setting for setting in TWO}
        satellite, guide = by_name["SatelliteC1-C2"], by_name["Svmguide1-a"]
        wide = attrs.evolve(satellite, slack=KNOWN_SIZES, remark="l = 0.40 n: chosen knowing the sizes of the classes")
        jobs += [
            _plain(plan, wide, "emmc", row="SatelliteC1-C2: emmc, l = 0.40 n", uses_labels=True),
            *_accuracies(plan, attrs.evolve(guide, scale="minmax"), " (min-max)"),
            *margins(plan, attrs.evolve(guide, scale="minmax"), " (min-max)"),
        ]
        wide = attrs.evolve(satellite, slack=CAP_OF_PRINT, remark="l = 0.30 n: chosen knowing the sizes of the classes")
        method = Method("IterSVR", "itersvr", "itersvr, l = 0.30 n", "sizes")
        jobs.append(job(plan, wide, method, uses_labels=True))
    return jobs


def table8(plan: Plan) -> list[Job]:
    """More than two clusters; the paper used a single output here, `emmc` uses one a cluster."""
    jobs = [each for setting in _taken(plan, FEW) for each in [*margins(plan, setting), *_accuracies(plan, setting)]]
    if plan.quick:
        return jobs
    return [*jobs, *margins(plan, MANY), *_accuracies(plan, MANY, grid=GRID_LARGE, multistart=False)]


def table9(plan: Plan) -> list[Job]:
    """CPU seconds of the recipes as they stand, and iterations of `emmc`."""
    cells = (Cell("EMMC CPU (s)", "cpu"), Cell("EMMC iterations", "iterations"))
    settings = _taken(plan, (*TWO, *FEW, MANY))
    jobs = [_plain(plan, setting, "emmc", cells=cells) for setting in settings]
    jobs += [each for setting in settings for each in times(plan, setting)]
    return [*jobs, *(_plain(plan, setting, "kmeans", cells=(Cell("k-means CPU (s)", "cpu"),)) for setting in settings)]


def table10(plan: Plan) -> list[Job]:
    """Against methods that use a graph of the samples, which know no balance."""
    settings = _taken(plan, (*TWO, *FEW, MANY))
    return [each for setting in settings for each in [*graphs(plan, setting), _plain(plan, setting, "emmc")]]


def _taken(plan: Plan, settings: Sequence[Setting]) -> Sequence[Setting]:
    return [setting for setting in settings if setting.name in SMALL] if plan.quick else settings


def _accuracies(
    plan: Plan,
    setting: Setting,
    tag: str = "",
    *,
    grid: Sequence[float] = DEGREES,
    multistart: bool = True,
) -> list[Job]:
    """k-means, then EMMC without labels (C = 500 in `emmc-paper`), then with complexity chosen by labels."""

    def row(what: str) -> str:
        return f"{setting.name}: {what}{tag}"

    jobs = [_plain(plan, setting, "kmeans", row=row("kmeans")), _plain(plan, setting, "emmc", row=row("emmc"))]
    jobs.append(_plain(plan, setting, "emmc-paper", row=row("emmc-paper")))
    if multistart:
        jobs.append(_multistart(plan, setting, row("emmc-multistart")))
    if not plan.quick:
        jobs.append(_chosen_by_labels(plan, setting, row("emmc, df by labels"), grid))
    return jobs


def _cells(method: str) -> tuple[Cell, ...]:
    return Cell(f"{method} Acc", "accuracy"), Cell(f"{method} RI", "rand")


def _plain(
    plan: Plan,
    setting: Setting,
    name: str,
    *,
    row: str = "",
    cells: tuple[Cell, ...] = (),
    uses_labels: bool = False,
) -> Job:
    """A recipe as it stands."""
    margin = name != "kmeans"
    return _job(
        plan,
        setting,
        row or f"{setting.name}: {name}",
        cells or _cells("EMMC" if margin else "k-means"),
        lambda X, y, seed: fit(X, y, name, seed, **(setting.margin(X) if margin else {})),
        uses_labels=uses_labels,
    )


def _multistart(plan: Plan, setting: Setting, row: str) -> Job:
    large = setting.n_hidden is not None  # thousands of rows, so the paper takes L < n
    changes = FEWER if large else {}
    note = f"{changes['n_maps']} maps, {changes['n_init']} starts each" if changes else "the recipe as it stands"
    return _job(
        plan,
        setting,
        row,
        (*_cells("EMMC"), Cell("agreement of maps (%)", "agreement")),
        lambda X, y, seed: fit(X, y, "emmc-multistart", seed, **setting.margin(X), **changes),
        note=note,
    )


def _chosen_by_labels(plan: Plan, setting: Setting, row: str, grid: Sequence[float]) -> Job:
    seeds = plan.seeds(setting.runs)

    def run(step: Step) -> Findings:
        X, y = setting.load()

        def at(df: float) -> list[Values]:
            found = []
            for seed in seeds:
                found.append(fit(X, y, "emmc", seed, **setting.margin(X, solver__df=df)))
                step(f"{row}, df = {df:g}, seed {seed}")
            return found

        df, best = best_by_labels(grid, at)
        return Findings(best, f"df = {df:g} of {', '.join(f'{each:g}' for each in grid)}", setting.cap(y))

    units = len(seeds) * len(grid)
    return Job(setting.name, row, _cells("EMMC"), run, units, uses_labels=True, note=setting.remark)


def _job(
    plan: Plan,
    setting: Setting,
    row: str,
    cells: tuple[Cell, ...],
    fitted: Callable[[np.ndarray, np.ndarray, int], Values],
    *,
    note: str = "",
    uses_labels: bool = False,
) -> Job:
    seeds = plan.seeds(setting.runs)

    def run(step: Step) -> Findings:
        X, y = setting.load()
        found = []
        for seed in seeds:
            found.append(fitted(X, y, seed))
            step(f"{row}, seed {seed}")
        cap = setting.cap(y)
        capped = cap is not None and cap < 100 and any(cell.column.startswith("EMMC Acc") for cell in cells)
        return Findings(found, f"balance caps accuracy at {cap:.1f}" if capped else "", cap)

    notes = "; ".join(text for text in (note, setting.remark) if text)
    return Job(setting.name, row, cells, run, len(seeds), uses_labels, notes)
