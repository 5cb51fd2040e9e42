"""Clustering in ELM feature space: table 1, nodes, widths and sizes, as tables 2 to 7 run them, and these tables.

Tables 2 to 7 have purity and NMI of plain, kernel and ELM methods.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from typing import Any

from clusterkit_papers.data_tables import parameter_job, sizes_job
from clusterkit_papers.elm.data_sets import DATA_SETS, ElmDataSet
from clusterkit_papers.elm.runs import ElmMethod, ElmRuns, Nodes
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.printed_tables import printed

__all__ = [
    "baseline_doubt",
    "jobs_of",
    "kmeans_methods",
    "nmf_methods",
    "table1",
    "table2",
    "table3",
    "table4",
    "table5",
    "table6",
    "table7",
]

NEAR = {"purity_percent": 5.0, "nmi": 0.05}
"""Largest distance of our plain method from the printed one: beyond that, data or start are not those of the paper, and
the other columns of the row are not comparable."""

QUICK = {"control": (2, 6), "libras": (3, 15), "tdt2": (10,)}
"""Numbers of categories of a quick run, by data set."""

FEW = 3
"""Number of runs on the documents of kernel NMF by exp(-σ d²)."""

NODES: dict[Nodes, str] = {
    "distance": "nodes exp(-b |x - a|²) as printed",
    "ridge": "nodes exp(-(a · x + b)²), what ELM programs call radial basis",
}
"""Names of the kinds of nodes in notes."""


COLUMNS = {
    "elm-kmeans": ("ELM k-means nodes", "n_hidden"),
    "elm-nmf": ("ELM NMF nodes", "n_hidden"),
    "kernel-kmeans": ("kernel k-means sigma", "sigma"),
    "kernel-nmf": ("kernel NMF sigma", "sigma"),
}
"""Column, and parameter of the feature map, of each recipe."""

ALL_DOCUMENTS = "tdt2-2651"
"""The documents of TDT2 that the tables draw, at most 100 of each category."""


def table1(plan: Plan) -> list[Job]:
    """Parameters and sizes of the three data sets; a quick run has the same rows."""
    return [job for data_set in DATA_SETS.values() for job in (*_parameters(data_set), _sizes(data_set))]


def _parameters(data_set: ElmDataSet) -> list[Job]:
    """Nodes and widths, read from the feature maps that tables 2 to 7 run."""
    methods = {one.recipe: one for one in (*kmeans_methods(data_set), *nmf_methods(data_set)) if not one.factor}
    return [
        parameter_job(
            data_set.name, f"{data_set.name}: {name} as run", column, partial(_parameter, data_set, methods[name])
        )
        for name, (column, _) in COLUMNS.items()
    ]


def _parameter(data_set: ElmDataSet, method: ElmMethod) -> float:
    from clusterkit import recipe

    composition = recipe(method.recipe, n_clusters=2, **method.parameters(data_set)).composition()
    featuremap: Any = composition.featuremap
    return float(getattr(featuremap, COLUMNS[method.recipe][1]))


def _sizes(data_set: ElmDataSet) -> Job:
    def load() -> tuple[Any, Any]:
        from clusterkit_papers import datasets

        dataset = datasets.load(ALL_DOCUMENTS if data_set.dataset == "tdt2" else data_set.dataset)
        return dataset.data, dataset.target

    return sizes_job(data_set.name, f"{data_set.name}: data set {data_set.dataset}", load, note=data_set.remark)


def table2(plan: Plan) -> list[Job]:
    """Synthetic Control, k-means."""
    return jobs_of(plan, 2, "control")


def table3(plan: Plan) -> list[Job]:
    """Libras Movement, k-means."""
    return jobs_of(plan, 3, "libras")


def table4(plan: Plan) -> list[Job]:
    """TDT2, k-means."""
    return jobs_of(plan, 4, "tdt2")


def table5(plan: Plan) -> list[Job]:
    """Synthetic Control, NMF."""
    return jobs_of(plan, 5, "control")


def table6(plan: Plan) -> list[Job]:
    """Libras Movement, NMF."""
    return jobs_of(plan, 6, "libras")


def table7(plan: Plan) -> list[Job]:
    """TDT2, NMF."""
    return jobs_of(plan, 7, "tdt2")


def jobs_of(plan: Plan, number: int, key: str, data_set: ElmDataSet | None = None) -> list[Job]:
    """A table: k-means up to table 4, then NMF, each plain, with a kernel and on ELM features.

    `data_set` replaces the one named `key`, for tests.
    """
    data_set = data_set or DATA_SETS[key]
    plain, methods = ("k-means", kmeans_methods(data_set)) if number < 5 else ("NMF", nmf_methods(data_set))
    elm_runs, seeds = ElmRuns(data_set), plan.seeds(data_set.runs)
    jobs = []
    for k in data_set.ks:
        if plan.quick and k not in QUICK[key]:
            continue
        for method in methods:
            family = _family(method, plain)
            cells = (Cell(f"{family} purity (%)", "purity_percent"), Cell(f"{family} NMI", "nmi"))
            # on the documents a fit takes ten seconds and more, and the text has the other kernel
            most = FEW if method.factor and data_set.dataset == "tdt2" else len(seeds)
            run = partial(_run, elm_runs, f"elm-table{number}", k, methods[0], method, plain, seeds, most)
            remarks = (NODES[method.kind] if method.nodes is not None else "", data_set.remark)
            note = "; ".join(text for text in remarks if text)
            row, ours = f"k = {k}: {method.words}", method.as_described
            jobs.append(Job(f"k = {k}", row, cells, run, len(seeds[:most]), note=note, as_described=ours))
    return jobs


def kmeans_methods(data_set: ElmDataSet) -> list[ElmMethod]:
    """k-means, kernel k-means and ELM k-means with the parameters of table 1; the first is the plain one."""
    kernel = ElmMethod("kernel-kmeans", sigma=data_set.kmeans_sigma)
    return [ElmMethod("kmeans"), kernel, *_elm("elm-kmeans", data_set)]


def nmf_methods(data_set: ElmDataSet) -> list[ElmMethod]:
    """NMF, kernel NMF and ELM NMF with the parameters of table 1; the first is the plain one."""
    kernels = [ElmMethod("kernel-nmf", sigma=data_set.nmf_sigma, factor=factor) for factor in (False, True)]
    return [ElmMethod("nmf"), *kernels, *_elm("elm-nmf", data_set)]


def _elm(recipe: str, data_set: ElmDataSet) -> list[ElmMethod]:
    return [ElmMethod(recipe, data_set.nodes, kind) for kind in NODES]


def _family(method: ElmMethod, plain: str) -> str:
    """The printed name of the group of columns that a method fills."""
    if method.sigma is not None:
        return "kernel"
    return plain if method.nodes is None else "ELM"


def _run(
    elm_runs: ElmRuns,
    table: str,
    k: int,
    base: ElmMethod,
    method: ElmMethod,
    plain: str,
    seeds: Sequence[int],
    most: int,
    step: Step,
) -> Measurements:
    if method == base:
        return Measurements(elm_runs.plain(base, k, seeds, step))
    doubt = baseline_doubt(table, f"k = {k}", plain, elm_runs.plain(base, k, seeds))
    return Measurements(elm_runs.runs(method, k, seeds[:most], step), doubt=doubt)


def baseline_doubt(table: str, row: str, plain: str, ours: Sequence[Values]) -> str:
    """Reason why a row cannot be compared: our plain method is too far from the printed one; else "".

    Parameters
    ----------
    table, row : str
        The printed table, and a row of it.
    plain : str
        Column of the plain method, "k-means" or "NMF".
    ours : sequence of Values
        Our runs of the plain method.
    """
    differences = []
    for column, measure in ((f"{plain} purity (%)", "purity_percent"), (f"{plain} NMI", "nmi")):
        cell = printed(table).get((row, column))
        if cell is None or cell.value is None:
            continue
        mean = statistics.fmean(run[measure] for run in ours)
        if abs(mean - cell.value) > NEAR[measure]:
            digits = 1 if measure == "purity_percent" else 3
            differences.append(f"{column} {mean:.{digits}f}, printed {cell.value:.{digits}f}")
    return f"not comparable ({'; '.join(differences)})" if differences else ""
