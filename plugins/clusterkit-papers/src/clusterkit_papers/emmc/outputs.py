"""EMMC, tables 5 and 6: a single output against one output per cluster, for growing L."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clusterkit_papers.emmc.complexity import CHOSEN_ON, accuracies, best_complexity, by_labels
from clusterkit_papers.emmc.data_sets import DATA_SETS, MANY, EmmcDataSet
from clusterkit_papers.emmc.readings import READINGS, RECIPE, Reading
from clusterkit_papers.fits import DEGREES, judged_fit
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step

__all__ = ["table5", "table6"]

LETTERS = (100, 150, 200, 300, 500, 1000)
DIGITS = (200, 400, 600, 800, 1000, 1200, 1500)
"""Numbers of hidden nodes L in print, for the letters (table 5) and the digits (table 6)."""

QUICK = 2
"""Number of the smallest L that a quick run takes."""

GRID_DIGITS = (12.0, 50.0, 150.0)
"""Degrees of freedom that known classes may choose from on the digits: fewer, because an iteration takes long there."""


def table5(plan: Plan) -> list[Job]:
    """LetterABCD."""
    return _against_L(plan, DATA_SETS["LetterABCD"], LETTERS, DEGREES, {})


def table6(plan: Plan) -> list[Job]:
    """USPS, with one k-means start instead of ten, because ten take longer than all the rest."""
    return _against_L(plan, MANY, DIGITS, GRID_DIGITS, {"init__n_init": 1})


def _against_L(
    plan: Plan, data_set: EmmcDataSet, numbers_of_nodes: Sequence[int], grid: Sequence[float], changes: dict[str, Any]
) -> list[Job]:
    numbers_of_nodes = numbers_of_nodes[:QUICK] if plan.quick else numbers_of_nodes
    jobs = []
    for L in numbers_of_nodes:
        jobs += [_published(plan, data_set, L, reading) for reading in READINGS]
        for outputs in ("single", "multi"):
            jobs.append(_job(plan, data_set, L, outputs, None, changes))
            if not plan.quick:
                jobs.append(_job(plan, data_set, L, outputs, grid, changes))
    return jobs


def _published(plan: Plan, data_set: EmmcDataSet, L: int, reading: Reading) -> Job:
    """A reading of the paper at C = 500: with fixed degrees of freedom L could have no effect."""
    seeds, row = plan.seeds(data_set.paper_runs), f"L = {L}: {reading.words}"

    def run(step: Step) -> Measurements:
        X, y = data_set.load()
        parameters: dict[str, Any] = data_set.published(X, featuremap__n_hidden=L, **reading.changes)
        runs = []
        for seed in seeds:
            runs.append(judged_fit(X, y, RECIPE, seed, **parameters))
            step(f"{row}, seed {seed}")
        return Measurements(runs)

    described = reading.words in (RECIPE, f"{RECIPE}, an output each")
    note = "C = 500" + (f", {len(seeds)} runs from one start of k-means each" if data_set.one_start else "")
    return Job(f"L = {L}", row, _cells(reading.outputs), run, len(seeds), note=note, as_described=described)


def _cells(outputs: str) -> tuple[Cell, ...]:
    return Cell(f"{outputs} Acc", "accuracy"), Cell(f"{outputs} CPU (s)", "cpu")


def _job(
    plan: Plan,
    data_set: EmmcDataSet,
    L: int,
    outputs: str,
    grid: Sequence[float] | None,
    changes: dict[str, Any],
) -> Job:
    usual = data_set.runs if grid is None or data_set.slow_runs is None else data_set.slow_runs
    seeds, name = plan.seeds(usual), f"emmc-{outputs}"

    def run(step: Step) -> Measurements:
        X, y = data_set.load()
        parameters: dict[str, Any] = data_set.margin(X, featuremap__n_hidden=L, **changes)
        note = ""
        if grid is not None:

            def measured(seed: int) -> list[float]:
                step(f"{name}, L = {L}, {len(grid)} values of df, seed {seed}")
                return accuracies(X, y, name, seed, "df", grid, **parameters)

            df = best_complexity(grid, seeds, measured)
            note, parameters["solver__df"] = f"df = {df:g} {by_labels('df', grid, len(seeds))}", df
        runs = []
        for seed in seeds:
            runs.append(judged_fit(X, y, name, seed, **parameters))
            step(f"{name}, L = {L}, seed {seed}")
        return Measurements(runs, note)

    row = f"L = {L}: {name}" + (", df by labels" if grid else "")
    units = len(seeds) + (len(seeds[:CHOSEN_ON]) if grid else 0)
    return Job(f"L = {L}", row, _cells(outputs), run, units, uses_labels=grid is not None)
