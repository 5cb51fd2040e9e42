"""gmmc against general solvers of the same semidefinite program, and alone on more rows; two blobs, one process.

``cone``: the dual ``max Σ g`` over ``S - diag(g) ⪰ 0``, ``g >= 0``, written with cvxpy and solved by SCS and by
Clarabel at their default settings (cvxpy's compilation counts: it is what a user waits for). ``alone``: both methods
of gmmc, with value, bound and gap; the matrices are part of the time. Everything runs once before, on few rows, to
compile and load.

    uv run python tests/benchmarks/gmmc.py
    uv run python tests/benchmarks/gmmc.py --cone 40 60 --alone 350

Needs cvxpy with both solvers for the first part.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from machine import describe
from sklearn.datasets import make_blobs

from clusterkit.contracts import Task
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.margins.gmmc import Gmmc
from clusterkit.families.shared.rbf import Rbf
from clusterkit.metrics import clustering_accuracy


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes."""
    X, y = make_blobs(n, centers=2, random_state=0)
    return X, y


def gmmc(X: np.ndarray, **parameters):
    """Seconds from the rows to the scores, the prepared solver and the outcome."""
    begin = time.perf_counter()
    space = Rbf(sigma_fraction=0.2).space_of(X, Task(len(X), None), np.random.default_rng(0))
    prepared = Gmmc(**parameters).prepare(space, Task(len(X), 2), np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)
        outcome = prepared.solve(None, None, np.random.default_rng(0))
    return time.perf_counter() - begin, prepared, outcome


def cone(S: np.ndarray, solver: str) -> tuple[float, float, np.ndarray, str]:
    """Seconds, value, leading vector of the multiplier and status of a general solver."""
    import cvxpy as cp

    begin = time.perf_counter()
    g = cp.Variable(len(S), nonneg=True)
    matrix = S - cp.diag(g) >> 0
    problem = cp.Problem(cp.Maximize(cp.sum(g)), [matrix])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=solver)
    leading = np.linalg.eigh(matrix.dual_value)[1][:, -1]
    return time.perf_counter() - begin, float(problem.value), leading, problem.status


def accuracy(y: np.ndarray, scores: np.ndarray) -> float:
    """Of the signs."""
    return float(clustering_accuracy(y, (scores > 0).astype(int)))


def show(title: str, seconds: float, y: np.ndarray, outcome) -> None:
    """One line of gmmc."""
    facts = outcome.status.facts
    print(
        f"  {title}: {seconds:.3f} s, {outcome.status.n_iter} iterations, value {facts['value']:.6f}, bound "
        f"{facts['bound']:.6f}, gap {facts['gap']:.1e}, tightness {facts['tightness']:.3f}, accuracy "
        f"{accuracy(y, outcome.rows[:, 0]):.3f}",
        flush=True,
    )


def main() -> None:
    """Print times, values and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cone", type=int, nargs="*", default=[40, 60, 100])
    parser.add_argument("--alone", type=int, nargs="*", default=[350, 1000])
    options = parser.parse_args()
    print(describe())
    for method in ("interior", "descent"):
        gmmc(data(20)[0], method=method)
    for n in options.cone:
        X, y = data(n)
        print(f"n = {n}")
        times = {}
        for method in ("interior", "descent"):
            seconds, prepared, outcome = gmmc(X, method=method)
            times[method] = seconds
            show(method, seconds, y, outcome)
        for solver in ("SCS", "CLARABEL"):
            cone(prepared.problem.S[:10, :10], solver)
            seconds, value, leading, status = cone(prepared.problem.S, solver)
            ratios = ", ".join(f"{seconds / its_seconds:.0f} times {method}" for method, its_seconds in times.items())
            print(
                f"  {solver}: {seconds:.2f} s ({ratios}), {status}, value {value:.6f}, accuracy "
                f"{accuracy(y, leading):.3f}",
                flush=True,
            )
    for n in options.alone:
        X, y = data(n)
        print(f"n = {n}")
        for method in ("interior", "descent"):
            seconds, _, outcome = gmmc(X, method=method)
            show(method, seconds, y, outcome)


if __name__ == "__main__":
    main()
