"""Min-max modular machine, table I: the two problems with their numbers of rows and the parameters of the machines."""

from __future__ import annotations

import math
from functools import cache

from clusterkit_papers.data_tables import parameter_job
from clusterkit_papers.jobs import Job, Plan
from clusterkit_papers.min_max.problems import PROBLEMS, MinMaxProblem, SplitRows

__all__ = ["table1"]


def table1(plan: Plan) -> list[Job]:
    """Both problems and their variants; a quick run has the same rows."""
    return [job for problem in PROBLEMS for job in _values(problem)]


def _values(problem: MinMaxProblem) -> list[Job]:
    @cache
    def rows() -> SplitRows:
        return problem.load()

    values = {
        "d": lambda: float(rows().X.shape[1]),
        "training rows": lambda: float(len(rows().X)),
        "test rows": lambda: float(len(rows().X_test)),
        # as many decimals as print has
        "C": lambda: round(problem.C, 1),
        "sigma": lambda: round(math.sqrt(0.5 / problem.gamma), 3),
    }
    return [
        parameter_job(
            problem.paper_name,
            f"{problem.name}: as run",
            column,
            value,
            problem.words,
            as_described=problem.as_described,
        )
        for column, value in values.items()
    ]
