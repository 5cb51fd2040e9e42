"""Clustering in ELM feature space, table 1: nodes and widths as the recipes of tables 2 to 7 have them, and sizes."""

from __future__ import annotations

from functools import partial
from typing import Any

from clusterkit_papers.data_tables import parameter_job, sizes_job
from clusterkit_papers.elm.data_sets import DATA_SETS, ElmDataSet
from clusterkit_papers.elm.runs import ElmMethod
from clusterkit_papers.elm.tables import kmeans_methods, nmf_methods
from clusterkit_papers.jobs import Job, Plan

__all__ = ["table1"]

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
    methods = {method.recipe: method for method in (*kmeans_methods(data_set), *nmf_methods(data_set))}
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
        from clusterkit import datasets

        dataset = datasets.load(ALL_DOCUMENTS if data_set.dataset == "tdt2" else data_set.dataset)
        return dataset.data, dataset.target

    return sizes_job(data_set.name, f"{data_set.name}: data set {data_set.dataset}", load, note=data_set.remark)
