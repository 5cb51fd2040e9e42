"""The balancer `transport` against the min-cost flow of k-means-constrained, linear programming and k-means itself.

First 5,000 x 10: squared distances to ten of the rows, equal sizes. The flow (OR-tools, on costs rounded to whole
thousandths, as that package does) and HiGHS get the same costs; the time of the flow is that of the package's
assignment step, building the graph included, and also that of its solver alone. Then a million rows: all of
scikit-learn's `KMeans(n_init=1)`, and one balanced assignment to the centres it found. Everything is run once before
to compile and load.

    uv run python tests/benchmarks/transport.py
    uv run python tests/benchmarks/transport.py --rows 1000000 --repeats 3

k-means-constrained is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from machine import describe
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances

from clusterkit.contracts import CostTable, Task
from clusterkit.families.shared.transport import Transport
from clusterkit.fitting.label_iterations import balanced_by


def timed(function, *arguments):
    """Answer and seconds."""
    begin = time.perf_counter()
    answer = function(*arguments)
    return answer, time.perf_counter() - begin


def balance(costs, balancer=None):
    """The balanced labels from the cheapest ones, equal sizes by default."""
    labels = np.argmin(costs, axis=1)
    return balanced_by(balancer or Transport(), CostTable(costs, labels), Task(*costs.shape))


def total(costs, labels):
    """Sum of the costs of the labels."""
    return float(costs[np.arange(len(costs)), labels].sum())


def flow(X, centres, costs, low, high):
    """Labels by k-means-constrained's own functions; seconds of the step and of the solver; None without it."""
    try:
        from k_means_constrained import k_means_constrained_ as package
    except ImportError:
        return None
    build = package.minimum_cost_flow_problem_graph
    (edges, unit_costs, capacities, supplies, k, n), building = timed(build, X, centres, costs, low, high)
    labels, solving = timed(package.solve_min_cost_flow_graph, edges, unit_costs, capacities, supplies, k, n)
    return labels, building + solving, solving


def program(costs, size):
    """Optimum by HiGHS."""
    n, k = costs.shape
    rows, columns = kron(eye_array(n), np.ones((1, k))), kron(np.ones((1, n)), eye_array(k))
    return linprog(costs.ravel(), A_ub=columns, b_ub=np.full(k, size), A_eq=rows, b_eq=np.ones(n), method="highs").fun


def small(repeats, n=5000, k=10):
    """All exact solvers on one table."""
    X, _ = make_blobs(n, centers=k, n_features=8, cluster_std=3.0, random_state=0)
    centres = X[:k]
    costs = pairwise_distances(X, centres, metric="sqeuclidean")
    print(f"{n} x {k}, sizes of {n // k}")
    balance(costs)
    ratios = []
    for _ in range(repeats):
        assignment, ours = timed(balance, costs)
        print(
            f"  transport: {1e3 * ours:.1f} ms, cost {total(costs, assignment.labels):.6f}, "
            f"gap {assignment.facts['gap']:.1e}"
        )
        theirs = flow(X, centres, costs, n // k, n // k)
        if theirs is not None:
            labels, step, solver = theirs
            print(
                f"  min-cost flow: {1e3 * step:.1f} ms, of these the solver and reading it {1e3 * solver:.1f} ms, "
                f"cost {total(costs, labels):.6f}"
            )
            ratios.append((step / ours, solver / ours))
    if ratios:
        print(f"  faster by (step, solver): median {np.median(ratios, axis=0).round(1).tolist()}")
    best, seconds = timed(program, costs, n // k)
    print(f"  HiGHS: {1e3 * seconds:.0f} ms, cost {best:.6f}")


def large(n, k, repeats):
    """One assignment of many rows against a fit of k-means."""
    X, _ = make_blobs(n, centers=k, n_features=8, cluster_std=3.0, random_state=0)
    print(f"{n} x {k} (8 attributes)")
    cases = [("equal sizes", Transport()), ("at most 12 % of the rows", Transport(size_max=0.12))]
    weights = np.arange(1, k + 1)
    sizes = (n * weights // weights.sum()).tolist()
    sizes[-1] += n - sum(sizes)
    cases.append(("sizes 1 : 2 : ... : k", Transport(sizes=sizes)))
    for seed in range(repeats):
        model, fitting = timed(KMeans(k, n_init=1, max_iter=1000, random_state=seed).fit, X)
        costs, measuring = timed(lambda model=model: model.transform(X) ** 2)
        print(f"  KMeans: {fitting:.2f} s, {model.n_iter_} iterations; distances {measuring:.2f} s")
        for title, balancer in cases:
            assignment, seconds = timed(balance, costs, balancer)
            cost = total(costs, assignment.labels)
            moved = np.mean(assignment.labels != model.labels_)
            print(
                f"  transport, {title}: {seconds:.2f} s, {seconds / fitting:.2f} of the fit; moved {moved:.1%}, sum of "
                f"squares {cost / model.inertia_:.4f} of k-means', gap {assignment.facts['gap']:.1e}"
            )
        ties = np.round(costs)
        assignment, seconds = timed(balance, ties)
        print(f"  transport, costs rounded to integers: {seconds:.2f} s, {assignment.facts}")


def main() -> None:
    """Print times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(describe())
    small(max(options.repeats, 5))
    large(options.rows, options.clusters, options.repeats)


if __name__ == "__main__":
    main()
