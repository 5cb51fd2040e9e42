"""svdd against LIBSVM's one-class machine: the same problem, the same gap, one process.

A grid of sizes, dimensions, fractions of outliers and widths. Data are two moons (noise 0.06) for d = 2
and five Gaussian blobs for d = 16; ``qm`` means ``gamma = qm / (d var(X))``. LIBSVM runs with tol 1e-3 (1e-5 for
nu = 1/n) and a cache of 200 MB. Its tol on the gradient is a gap of ``2 C tol`` in squared radii, which svdd gets as
its tol; a second run has svdd's default.
"""

import argparse
import statistics
import time

import numpy as np
from machine import describe
from sklearn.datasets import make_blobs, make_moons
from sklearn.svm import OneClassSVM

from clusterkit.contracts import Task
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.numerics.gaussian_jit import gaussian_sums
from clusterkit.numerics.threads import available
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian

# n: (d, nu, qm), nu = 0 for 1 / n
GRID = {
    5_000: [(2, 0.05, 1), (2, 0, 4), (2, 0.05, 8), (16, 0.05, 1), (16, 0.01, 1), (16, 0, 4)],
    20_000: [(2, 0.05, 1), (2, 0, 4), (2, 0.05, 8), (16, 0.05, 1), (16, 0, 4), (16, 0.05, 8)],
    50_000: [
        (2, 0.05, 1), (2, 0.01, 1), (2, 0, 4), (2, 0.05, 8),
        (16, 0.05, 1), (16, 0.01, 1), (16, 0, 4), (16, 0.05, 8),
    ],
}  # fmt: skip


def data(n: int, d: int) -> np.ndarray:
    """The points of a cell."""
    if d == 2:
        return make_moons(n, noise=0.06, random_state=0)[0]
    return make_blobs(n, n_features=d, centers=5, random_state=0)[0]


def length2(X: np.ndarray, index: np.ndarray, weights: np.ndarray, gamma: float) -> float:
    """``β'Kβ`` of weights with sum 1."""
    weights = weights / weights.sum()
    return float(weights @ gaussian_sums(X[index], X[index], weights, gamma))


def best(repeats: int, call, *arguments, **parameters):
    """Least seconds of some calls, and what the last one gave."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        answer = call(*arguments, **parameters)
        times.append(time.perf_counter() - begin)
    return min(times), answer


def libsvm(X: np.ndarray, gamma: float, **parameters):
    """LIBSVM's machine, fitted."""
    return OneClassSVM(gamma=gamma, cache_size=200, **parameters).fit(X)


def solve(X: np.ndarray, gamma: float, **parameters):
    """Prepared and outcome of one fit."""
    prepared = Svdd(**parameters).prepare(KernelSpace(X, Gaussian(gamma)), Task(len(X), None), np.random.default_rng(0))
    return prepared.solve(None, None, np.random.default_rng(0))


def train(sizes: list[int], repeats: int) -> None:
    """Print the grid."""
    solve(data(3000, 2), 1.0, nu=0.1)  # compiles
    for n in sizes:
        ratios, defaults = [], []
        for d, fraction, qm in GRID[n]:
            X = data(n, d)
            gamma, nu, tol = qm / (d * X.var()), fraction or 1 / n, 1e-3 if fraction else 1e-5
            gap = 2 * tol / (n * nu)
            ours, outcome = best(repeats, solve, X, gamma, nu=nu, tol=gap)
            default, _ = best(repeats, solve, X, gamma, nu=nu)
            theirs, machine = best(1 if n > 20_000 else repeats, libsvm, X, gamma, nu=nu, tol=tol)
            objective = length2(X, machine.support_, machine.dual_coef_[0], gamma)
            reached = float(outcome.weights @ outcome.value(outcome.centres))
            ratios.append(theirs / ours)
            defaults.append(theirs / default)
            print(
                f"n {n:6d} d {d:2d} nu {fraction or '1/n':>4} qm {qm}: LIBSVM {theirs:7.3f} s, svdd {ours:6.3f} s "
                f"(gap {gap:.1e}), ratio {ratios[-1]:5.1f}; at 1e-6 {default:6.3f} s ({defaults[-1]:5.1f}); "
                f"{outcome.support_counts.n_support} support vectors, {outcome.status.n_iter} pairs, "
                f"{outcome.status.facts['rounds']} rounds; objective {reached:.9g} against {objective:.9g} "
                f"({(reached - objective) / objective:+.1e}){'' if outcome.status.converged else ' NOT CONVERGED'}",
                flush=True,
            )
        print(
            f"n {n}: geometric mean {statistics.geometric_mean(ratios):.1f}, least {min(ratios):.1f}; at 1e-6 "
            f"{statistics.geometric_mean(defaults):.1f}, least {min(defaults):.1f}",
            flush=True,
        )


def main() -> None:
    """Print the grid; the word `train` is that of the recorded command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("train",), nargs="?")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(GRID), choices=list(GRID))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(describe(), f"kernel sums on {available()} threads")
    train(options.sizes, options.repeats)


if __name__ == "__main__":
    main()
