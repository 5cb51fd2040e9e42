"""Clustering in ELM feature space, tables 2 to 7: purity and NMI of plain, kernel and ELM methods."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial

from clusterkit_papers.elm.bench import Bench, Method, Nodes
from clusterkit_papers.elm.sets import SETTINGS, Setting
from clusterkit_papers.jobs import Cell, Findings, Job, Plan, Step, Values
from clusterkit_papers.printed_tables import printed

__all__ = ["baseline_doubt", "kmeans_jobs", "nmf_jobs", "table2", "table3", "table4", "table5", "table6", "table7"]

NEAR = {"purity_percent": 5.0, "nmi": 0.05}
"""How far our plain method may be from the printed one for the other columns of that row to be comparable."""
QUICK = {"control": (2, 6), "libras": (3, 15), "tdt2": (10,)}

NODES: dict[Nodes, str] = {
    "distance": "nodes exp(-b |x - a|²) as printed",
    "ridge": "nodes exp(-(a · x + b)²), what ELM programs call radial basis",
}


def table2(plan: Plan) -> list[Job]:
    """Synthetic Control, k-means."""
    return kmeans_jobs(plan, 2, "control")


def table3(plan: Plan) -> list[Job]:
    """Libras Movement, k-means."""
    return kmeans_jobs(plan, 3, "libras")


def table4(plan: Plan) -> list[Job]:
    """TDT2, k-means."""
    return kmeans_jobs(plan, 4, "tdt2")


def table5(plan: Plan) -> list[Job]:
    """Synthetic Control, NMF."""
    return nmf_jobs(plan, 5, "control")


def table6(plan: Plan) -> list[Job]:
    """Libras Movement, NMF."""
    return nmf_jobs(plan, 6, "libras")


def table7(plan: Plan) -> list[Job]:
    """TDT2, NMF."""
    return nmf_jobs(plan, 7, "tdt2")


def kmeans_jobs(plan: Plan, number: int, key: str, setting: Setting | None = None) -> list[Job]:
    """The table of a data set with k-means, kernel k-means and ELM k-means; `setting` stands for another set."""
    setting = setting or SETTINGS[key]
    methods = [Method("kmeans"), Method("kernel-kmeans", sigma=setting.kmeans_sigma), *_elm("elm-kmeans", setting)]
    return _jobs(plan, f"elm-table{number}", _ks(plan, key, setting), setting, methods, "k-means", setting.runs)


def nmf_jobs(plan: Plan, number: int, key: str, setting: Setting | None = None) -> list[Job]:
    """The table of a data set with NMF, kernel NMF and ELM NMF."""
    setting = setting or SETTINGS[key]
    methods = [Method("nmf"), Method("kernel-nmf", sigma=setting.nmf_sigma), *_elm("elm-nmf", setting)]
    return _jobs(plan, f"elm-table{number}", _ks(plan, key, setting), setting, methods, "NMF", setting.runs)


def _elm(recipe: str, setting: Setting) -> list[Method]:
    return [Method(recipe, setting.nodes, kind) for kind in NODES]


def _ks(plan: Plan, key: str, setting: Setting) -> Sequence[int]:
    return [k for k in setting.ks if not plan.quick or k in QUICK[key]]


def _jobs(
    plan: Plan, table: str, ks: Sequence[int], setting: Setting, methods: Sequence[Method], plain: str, runs: int
) -> list[Job]:
    bench, seeds = Bench(setting), plan.seeds(runs)
    jobs = []
    for k in ks:
        for method in methods:
            family = _family(method, plain)
            cells = (Cell(f"{family} purity (%)", "purity_percent"), Cell(f"{family} NMI", "nmi"))
            run = partial(_run, bench, table, k, methods[0], method, plain, seeds)
            said = [NODES[method.kind] if method.nodes is not None else "", setting.remark]
            note = "; ".join(text for text in said if text)
            jobs.append(Job(f"k = {k}", f"k = {k}: {method.words}", cells, run, len(seeds), note=note))
    return jobs


def _family(method: Method, plain: str) -> str:
    if method.sigma is not None:
        return "kernel"
    return plain if method.nodes is None else "ELM"


def _run(
    bench: Bench, table: str, k: int, base: Method, method: Method, plain: str, seeds: Sequence[int], step: Step
) -> Findings:
    if method == base:
        return Findings(bench.plain(base, k, seeds, step))
    doubt = baseline_doubt(table, f"k = {k}", plain, bench.plain(base, k, seeds))
    return Findings(bench.runs(method, k, seeds, step), doubt=doubt)


def baseline_doubt(table: str, row: str, plain: str, ours: Sequence[Values]) -> str:
    """Why a row of the table cannot be held against print: our plain method is not where the printed one is; or "".

    Parameters
    ----------
    table, row : str
    plain : str
        Column of the plain method.
    ours : sequence of Values
        Its runs here.
    """
    said = []
    for column, measure in ((f"{plain} purity (%)", "purity_percent"), (f"{plain} NMI", "nmi")):
        cell = printed(table).get((row, column))
        if cell is None or cell.value is None:
            continue
        mean = statistics.fmean(run[measure] for run in ours)
        if abs(mean - cell.value) > NEAR[measure]:
            digits = 1 if measure == "purity_percent" else 3
            said.append(f"{column} {mean:.{digits}f}, printed {cell.value:.{digits}f}")
    return f"not comparable ({'; '.join(said)})" if said else ""
