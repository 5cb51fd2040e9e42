"""EMMC, tables 5 and 6: one output against one a cluster, for growing L."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clusterkit_papers.emmc.settings import MANY, SETTINGS, Setting
from clusterkit_papers.fits import best_by_labels, fit
from clusterkit_papers.jobs import Cell, Findings, Job, Plan, Step, Values

__all__ = ["table5", "table6"]

LETTERS = (100, 150, 200, 300, 500, 1000)
DIGITS = (200, 400, 600, 800, 1000, 1200, 1500)
QUICK = 2  # so many of the smallest L
GRID_LETTERS = (12.0, 25.0, 50.0, 100.0)
GRID_DIGITS = (12.0, 50.0, 150.0)


def table5(plan: Plan) -> list[Job]:
    """LetterABCD."""
    return _against_L(plan, SETTINGS["LetterABCD"], LETTERS, GRID_LETTERS, {})


def table6(plan: Plan) -> list[Job]:
    """USPS, with one k-means start instead of ten: ten take longer than everything else."""
    return _against_L(plan, MANY, DIGITS, GRID_DIGITS, {"init__n_init": 1})


def _against_L(
    plan: Plan, setting: Setting, widths: Sequence[int], grid: Sequence[float], changes: dict[str, Any]
) -> list[Job]:
    widths = widths[:QUICK] if plan.quick else widths
    jobs = []
    for L in widths:
        for outputs in ("single", "multi"):
            jobs.append(_job(plan, setting, L, outputs, None, changes))
            if not plan.quick:
                jobs.append(_job(plan, setting, L, outputs, grid, changes))
    return jobs


def _job(
    plan: Plan,
    setting: Setting,
    L: int,
    outputs: str,
    grid: Sequence[float] | None,
    changes: dict[str, Any],
) -> Job:
    seeds, name = plan.seeds(setting.runs), f"emmc-{outputs}"

    def run(step: Step) -> Findings:
        X, y = setting.load()
        margin = setting.margin(X, featuremap__n_hidden=L, **changes)

        def at(df: float | None) -> list[Values]:
            found = []
            for seed in seeds:
                given = margin if df is None else {**margin, "solver__df": df}
                found.append(fit(X, y, name, seed, **given))
                step(f"{name}, L = {L}, seed {seed}")
            return found

        if grid is None:
            return Findings(at(None))
        df, best = best_by_labels(grid, at)
        return Findings(best, f"df = {df:g} by labels")

    cells = (Cell(f"{outputs} Acc", "accuracy"), Cell(f"{outputs} CPU (s)", "cpu"))
    row = f"L = {L}: {name}" + (", df by labels" if grid else "")
    return Job(f"L = {L}", row, cells, run, len(seeds) * len(grid or (1,)), uses_labels=grid is not None)
