"""The smallest data set that still shows a problem, and the program that shows it."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit_campaign.findings import Problem
from clusterkit_campaign.fits import Trial, check_trial

__all__ = ["BUDGET", "program", "smallest"]

BUDGET = 60
"""Fits at most to make one data set smaller."""


def smallest(trial: Trial, problem: Problem, budget: int = BUDGET) -> str:
    """A program with the smallest data set that was met on the way down.

    Rows are dropped by halves, quarters and single ones, then columns, then numbers are rounded: whatever still shows a
    problem with the same words is kept.

    Parameters
    ----------
    trial : Trial
    problem : Problem
        One that `trial` shows.
    budget : int
        Fits at most.
    """
    if trial.data.expected == "refusal":
        return program(trial)
    spent, progress = 0, True
    while progress and spent < budget:
        progress = False
        for values in _smaller(trial.values):
            if spent >= budget:
                break
            spent += 1
            candidate = attrs.evolve(trial, values=values)
            if _shows(candidate, problem):
                trial, progress = candidate, True
                break
    return program(trial)


def _shows(trial: Trial, problem: Problem) -> bool:
    try:
        problems = check_trial(trial)
    except Exception:
        return False
    return any((each.severity, each.what) == (problem.severity, problem.what) for each in problems)


def _smaller(X: Array) -> Iterator[Array]:
    """Smaller or simpler data sets, the smallest first."""
    n, d = X.shape
    step = n // 2
    while step >= 1:
        for first in range(0, n, step):
            if n - len(X[first : first + step]) >= 1:
                yield np.delete(X, slice(first, first + step), axis=0)
        step //= 2
    if d > 1:
        for column in range(d):
            yield np.delete(X, column, axis=1)
    for digits in (0, 2):
        rounded = np.round(X, digits)
        if not np.array_equal(rounded, X):
            yield rounded


def program(trial: Trial) -> str:
    """A program that makes the fit."""
    lines = ["import numpy as np", "from clusterkit import Pipeline, recipe"]
    if trial.data.expected == "refusal":
        lines.append("from clusterkit_campaign.data_sets import UNFIT")
        lines.append(f"X = UNFIT[{trial.data.name!r}][0](np.random.default_rng(0))")
    else:
        lines.append(f"X = np.array({_listed(trial.values)})")
        if trial.data.container != "array":
            lines.append("from clusterkit_campaign.data_sets import CONTAINERS")
            lines.append(f"X = CONTAINERS[{trial.data.container!r}](X)")
    lines.append(f"model = {trial.subject.program(trial.k, trial.seed)}.fit(X)")
    lines.append("print(model.labels_)")
    return "\n".join(lines)


def _listed(X: Array) -> str:
    """The values to the last bit."""
    return repr(X.tolist())
