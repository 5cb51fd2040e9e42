"""The tables of claims: what their columns mean, recomputed here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from clusterkit_papers.claims import starts, theorem
from clusterkit_papers.claims.theorem import PROBLEMS, TheoremProblem, excess_bound, least_objective
from clusterkit_papers.jobs import Plan


def step(text):
    pass


def small():
    return np.random.default_rng(0).normal(size=(30, 2))


def test_the_least_objective_is_the_optimum():
    """By coordinate ascent on the dual, and as the primal value there."""
    X, C = small(), 8.0
    K = np.exp(-theorem.GAMMA * ((X[:, None] - X) ** 2).sum(axis=2))
    n = len(X)
    alpha = np.zeros(n)
    for _ in range(3000):
        for i in range(n):
            alpha[i] = np.clip(alpha[i] + 1 - K[i] @ alpha, 0, C / n)
    primal = alpha @ K @ alpha / 2 + C / n * np.maximum(0, 1 - K @ alpha).sum()
    least = least_objective(TheoremProblem("small", small), C)
    assert least == pytest.approx(primal, rel=1e-6)
    assert least <= primal + 1e-12


def test_rows_of_the_theorem():
    problem = TheoremProblem("small", small)
    measured = theorem._job(Plan(runs=6), problem, 8.0, 200).run(step)
    assert len(measured.runs) == 6
    random = [values["random"] for values in measured.runs]
    for values in measured.runs:
        assert values["bound"] == excess_bound(8.0, 200, 0.1) == pytest.approx(10 * 2 * 64 * (1 + math.log(200)) / 200)
        assert values["largest"] == max(random)
        assert values["above"] == 0
        assert values["last"] > 0
        assert values["average"] > 0
    assert len(set(random)) > 1


def test_the_theorem_has_a_row_for_each_setting():
    rows = [job.row for job in theorem.theorem(Plan())]
    assert len(set(rows)) == len(rows) == len(PROBLEMS) * len(theorem.CS) * len(theorem.STEPS)


def test_difference_of_runs():
    one = np.array([0, 0, 1, 1])
    assert starts._difference([one, 1 - one]) == 0  # the same clusters under other names
    assert starts._difference([one, np.array([0, 0, 0, 1])]) == 25
    assert math.isnan(starts._difference([one]))


def test_starts_of_a_pair_of_digits():
    jobs = {job.row: job for job in starts.starts(Plan(quick=True, runs=2))}
    assert len(jobs) == len(starts.QUICK_SETS) * (1 + len(starts.METHODS) * len(starts.STARTS))
    runs = jobs["Digits1-7: emmc from one k-means"].run(step).runs
    assert len(runs) == 2
    assert runs[0]["largest"] == max(values["error"] for values in runs)
    assert "largest" not in runs[1], "a single value of all runs, which has no spread"
    assert 0 <= runs[0]["difference"] <= 50
