"""SGD-LMSVC, theorem 2: for a random iterate ``J(w_r) < J(w*) + 2 C² (1 + ln T) / (δ T)`` with probability 1 - δ."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from functools import cache

import attrs
import numpy as np

from clusterkit_papers.fits import without_warnings
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.scalings import SCALINGS

__all__ = ["TheoremProblem", "excess_bound", "theorem"]

DELTA = 0.1
"""The probability δ with which the theorem lets the bound fail."""

RUNS, QUICK_RUNS = 100, 20
"""Runs of a row: with fewer, a frequency of δ could not be told from one of 2 δ."""

CS, STEPS = (2.0, 8.0, 32.0), (100, 1000, 10_000)
"""Weights C and numbers of steps T. Below C = 1 the domain is empty; the paper stops after at most 200 C steps."""

GAMMA = 2.0
"""Width of the Gaussian kernel, on z-scores or on points of a plane of that scale: the paper's grid has it."""

CELLS = (
    Cell("bound for δ = 0.1", "bound"),
    Cell("excess of a random iterate", "random"),
    Cell("largest of the runs", "largest"),
    Cell("runs above the bound (%)", "above"),
    Cell("excess of the last iterate", "last"),
    Cell("excess of the mean iterate", "average"),
    Cell("bound of theorem 1 for the mean", "bound_of_mean"),
)
"""Columns of a row: the bound, and by how much objectives exceed the least one."""


@attrs.frozen
class TheoremProblem:
    """Samples on which the bound is tested.

    Parameters
    ----------
    name : str
    sample : callable
        Returns the samples, (n, d).
    """

    name: str
    sample: Callable[[], np.ndarray]


def _iris() -> np.ndarray:
    from clusterkit_papers.datasets import load

    return SCALINGS["zscore"](np.asarray(load("iris").data, dtype=np.float64))


def _moons() -> np.ndarray:
    from clusterkit_papers.svc.figures import SHAPES

    return next(shape for shape in SHAPES if shape.name == "two moons").draw(0)[0]


PROBLEMS = (TheoremProblem("Iris, z-scores", _iris), TheoremProblem("two moons", _moons))
"""A set of the paper's table 1, and one kind of its figures, drawn by ourselves."""


def theorem(plan: Plan) -> list[Job]:
    """The excess ``J(w) - J(w*)`` of a random, the last and the mean iterate beside the bounds."""
    return [_job(plan, problem, C, T) for problem in PROBLEMS for C in CS for T in STEPS]


def excess_bound(C: float, T: int, delta: float) -> float:
    """``2 C² (1 + ln T) / (δ T)``; with δ = 1 the bound of theorem 1 on the expected excess of the mean iterate.

    >>> round(excess_bound(8.0, 400, 1.0), 2)
    2.24
    """
    return 2.0 * C * C * (1.0 + math.log(T)) / (delta * T)


def _job(plan: Plan, problem: TheoremProblem, C: float, T: int) -> Job:
    n_runs = plan.runs or (QUICK_RUNS if plan.quick else RUNS)
    row = f"{problem.name}: C = {C:g}, T = {T}"

    def run(step: Step) -> Measurements:
        runs = [_excesses(problem, C, T, seed) for seed in range(plan.seed, plan.seed + n_runs)]
        largest = max(values["random"] for values in runs)
        step(row)
        share = 100.0 * statistics.fmean(values["random"] > excess_bound(C, T, DELTA) for values in runs)
        constants = {
            "bound": excess_bound(C, T, DELTA),
            "bound_of_mean": excess_bound(C, T, 1.0),
            "largest": largest,
            "above": share,
        }
        return Measurements([{**values, **constants} for values in runs])

    note = f"gamma = {GAMMA:g}; T steps; J(w*) from the dual, w_2 for w_1 = 0, so no excess is too small"
    return Job(problem.name, row, CELLS, run, 1, note=note)


def _excesses(problem: TheoremProblem, C: float, T: int, seed: int) -> Values:
    """``J(w) - J(w*)`` of the three iterates of one run of T steps."""
    from clusterkit.contracts import Task
    from clusterkit.families.support_vectors.lmsvc import Lmsvc
    from clusterkit.samples import KernelSpace
    from clusterkit.samples.kernels import Gaussian

    X, begin = problem.sample(), time.perf_counter()
    least, values = least_objective(problem, C), dict[str, float]()
    for iterate in ("random", "last", "average"):
        rng = np.random.default_rng(seed)
        solver = Lmsvc(C=C, t_min=T, t_max=T, iterate=iterate)
        with without_warnings():
            prepared = solver.prepare(KernelSpace(X, Gaussian(GAMMA)), Task(len(X), None), rng)
            outcome = prepared.solve(None, None, rng)
        assert outcome.status is not None
        values[iterate] = float(outcome.status.history[0]) - least
    return values | {"seconds": time.perf_counter() - begin}


@cache
def least_objective(problem: TheoremProblem, C: float) -> float:
    """A lower bound of ``J(w*)``, tight to about 1e-6: the largest value of the dual that L-BFGS-B finds."""
    from scipy.optimize import minimize
    from scipy.spatial.distance import cdist

    X = problem.sample()
    K = np.exp(-GAMMA * cdist(X, X, "sqeuclidean"))
    n = len(X)

    def negative_dual(alpha: np.ndarray) -> tuple[float, np.ndarray]:
        products = K @ alpha
        return float(alpha @ products) / 2.0 - float(alpha.sum()), products - 1.0

    start = np.full(n, min(C / n, 1.0 / n))
    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-14, "gtol": 1e-9}
    best = minimize(negative_dual, start, jac=True, method="L-BFGS-B", bounds=[(0.0, C / n)] * n, options=options)
    return -float(best.fun)
