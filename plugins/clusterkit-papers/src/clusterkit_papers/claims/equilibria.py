"""How many equilibria SGD-LMSVC finds, beside the number of samples that ascend to them."""

from __future__ import annotations

import time

import numpy as np

from clusterkit import recipe
from clusterkit_papers.fits import without_warnings
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.scalings import SCALINGS
from clusterkit_papers.svc.data_sets import DATA_SETS, SvcDataSet

__all__ = ["equilibria"]

SETS = ("Aggregation", "Breast cancer", "Compound", "Flame", "Glass", "Iris", "Jain", "Pathbased", "R15", "Spiral")
"""The paper's sets of fewer than 1,000 rows."""

CELLS = (Cell("equilibria", "clusters"), Cell("samples", "samples"))


def equilibria(plan: Plan) -> list[Job]:
    """A row for each small data set."""
    return [_job(plan, data_set) for data_set in DATA_SETS if data_set.name in SETS]


def _job(plan: Plan, data_set: SvcDataSet) -> Job:
    row = f"{data_set.name}: sgd-lmsvc"

    def run(step: Step) -> Measurements:
        X = SCALINGS[data_set.unlabelled](data_set.load()[0])
        runs = [_counts(X, seed) for seed in plan.seeds()]
        step(row)
        return Measurements(runs)

    return Job(data_set.name, row, CELLS, run, 1, note="all samples ascend, which sees every equilibrium that has one")


def _counts(X: np.ndarray, seed: int) -> Values:
    begin = time.perf_counter()
    with without_warnings():
        predictor = recipe("sgd-lmsvc", random_state=seed).fit(X).predictor_
    return {"clusters": predictor.facts["equilibria"], "samples": len(X), "seconds": time.perf_counter() - begin}
