"""Ensemble-driven support vector clustering, table 1: sizes of the data sets."""

from __future__ import annotations

from functools import partial

import numpy as np

from clusterkit_papers.data_tables import sizes_job
from clusterkit_papers.edsvc.table import DATA_SETS
from clusterkit_papers.jobs import Job, Plan

__all__ = ["table1"]

REMARKS = {"Breast Cancer": "without the 16 rows that have missing values"}
"""Notes on single data sets."""


def table1(plan: Plan) -> list[Job]:
    """All six data sets; a quick run has the same rows."""
    return [
        sizes_job(
            data_set.name,
            f"{data_set.name}: data set {data_set.dataset}",
            partial(_load, data_set.dataset),
            note=REMARKS.get(data_set.name, ""),
        )
        for data_set in DATA_SETS
    ]


def _load(name: str) -> tuple[np.ndarray, np.ndarray]:
    from clusterkit.datasets import load

    dataset = load(name)
    return dataset.data, dataset.target
