"""NMF against scikit-learn's from the same start: time of equal updates, and time to the error of its solver "cd".

    uv run python tests/benchmarks/nmf.py            (all cases; --only mu | hals | sparse | elm)
    uv run python tests/benchmarks/nmf.py --threads 1 --repeats 5

A case runs both sides in turn, several times; the least time of each counts. Threads are those of BLAS and of
clusterkit alike.
"""

import argparse
import os
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse
from machine import describe
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from clusterkit.contracts import Task
from clusterkit.families.factors.nmf import Nmf
from clusterkit.families.shared.elm import Elm
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import build_space
from clusterkit.samples.transform import IdentityMap


def planted(n: int, width: int, k: int, noise: float = 0.05) -> np.ndarray:
    """Products of uneven factors and noise."""
    rng = np.random.default_rng(0)
    return rng.random((n, k)) ** 3 @ rng.random((k, width)) ** 3 + noise * rng.random((n, width))


def ours(X: Any, k: int, update: str, max_iter: int) -> tuple[float, float, tuple[float, ...], list[float]]:
    """Seconds, final F, F and seconds after every iteration."""
    from clusterkit.samples.limits import listening

    points = SparseRows.of(X) if scipy.sparse.issparse(X) else X
    space = build_space(points, IdentityMap(X.shape[1]))
    prepared = Nmf(update=update, max_iter=max_iter, tol=0).prepare(space, Task(len(points), k), None)
    times: list[float] = []
    with listening(lambda report: times.append(time.perf_counter())):
        begin = time.perf_counter()
        outcome = prepared.solve(None, None, np.random.default_rng(1))
        seconds = time.perf_counter() - begin
    history = outcome.status.history
    return seconds, history[-1], history, [moment - begin for moment in times]


def theirs(X: Any, k: int, solver: str, max_iter: int, tol: float) -> tuple[float, float, int]:
    """Seconds, final F and iterations from the start that `ours` draws."""
    rng = np.random.default_rng(1)
    scale = np.sqrt(X.mean() / k)
    A, W = ((1.0 - rng.random((rows, k))) * scale for rows in X.shape)
    options: dict[str, Any] = {"init": "custom", "n_components": k, "solver": solver, "max_iter": max_iter, "tol": tol}
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        A, H, iterations = non_negative_factorization(X, W=A, H=np.ascontiguousarray(W.T), **options)
    seconds = time.perf_counter() - begin
    norm = float(X.multiply(X).sum()) if scipy.sparse.issparse(X) else float(np.vdot(X, X))
    error = 0.5 * (norm - 2.0 * np.vdot(X.T @ A, H.T) + np.vdot(A.T @ A, H @ H.T))
    return seconds, error, iterations


def mu(title: str, X: Any, k: int, iterations: int, threads: list[int], repeats: int) -> None:
    """Equal updates from the same start."""
    print(f"{title}: {X.shape[0]:,} x {X.shape[1]:,}, k = {k}, {iterations} multiplicative updates")
    best: dict[tuple[str, int], tuple[Any, ...]] = {}
    for _ in range(repeats):
        for count in threads:
            with set_threads(count):
                for side, run in (
                    ("clusterkit", lambda: ours(X, k, "multiplicative", iterations)),
                    ("scikit-learn", lambda: theirs(X, k, "mu", iterations, 0.0)),
                ):
                    timing = run()
                    if (side, count) not in best or timing[0] < best[side, count][0]:
                        best[side, count] = timing
    for (side, count), timing in sorted(best.items()):
        print(f"  {side}, {count} thread(s): {timing[0]:.3f} s, F = {timing[1]:.8g}")
    fastest = {side: min(timing[0] for (name, _), timing in best.items() if name == side) for side, _ in best}
    values = [timing[1] for timing in best.values()]
    print(
        f"  best of each: {fastest['scikit-learn'] / fastest['clusterkit']:.2f} times faster; "
        f"objectives differ by {np.ptp(values) / max(values):.1e} relative"
    )


def hals(title: str, X: Any, k: int, iterations: int, threads: list[int], repeats: int) -> None:
    """Time to the error at which scikit-learn's coordinate descent stops (tol = 1e-4, at most `iterations`)."""
    print(f"{title}: {X.shape[0]:,} x {X.shape[1]:,}, k = {k}, coordinate descent, scikit-learn's tol = 1e-4")
    for count in threads:
        pairs = []
        with set_threads(count):
            for _ in range(repeats):
                cd = theirs(X, k, "cd", iterations, 1e-4)
                pairs.append((cd, ours(X, k, "hals", cd[2])))
        cd = min((pair[0] for pair in pairs), key=lambda timing: timing[0])
        reached = [int(np.argmax(np.array(run[2]) <= cd[1])) if run[1] <= cd[1] else -1 for _, run in pairs]
        print(f"  {count} thread(s), cd: {cd[0]:.3f} s, {cd[2]} iterations, F = {cd[1]:.8g}")
        if reached[0] < 0:
            print(f"  hals: F = {pairs[0][1][1]:.8g} after as many iterations: NOT reached")
            continue
        seconds = min(run[3][index] for (_, run), index in zip(pairs, reached, strict=True))
        run = min((pair[1] for pair in pairs), key=lambda timing: timing[0])
        print(
            f"  {count} thread(s), hals: that F in {seconds:.3f} s, {reached[0] + 1} iterations "
            f"({cd[0] / seconds:.1f} times faster); as many iterations as cd: {run[0]:.3f} s, F = {run[1]:.8g}"
        )
        marks = [iteration for iteration in (1, 3, 10, 30, 100) if iteration <= len(run[2])]
        print(
            "    F over time:",
            ", ".join(f"{run[2][iteration - 1]:.6g} at {run[3][iteration - 1]:.3f} s" for iteration in marks),
        )


class set_threads:
    """BLAS, OpenMP and clusterkit's own threads."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> None:
        os.environ["OMP_NUM_THREADS"] = str(self.count)
        self.limits = threadpool_limits(self.count)

    def __exit__(self, *error: object) -> None:
        self.limits.restore_original_limits()


def main() -> None:
    """Print times, errors and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["mu", "hals", "sparse", "elm"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--updates", type=int, default=200)
    options = parser.parse_args()
    print(describe(), f"load {os.getloadavg()[0]:.1f}", sep="; ")
    run = (options.threads, options.repeats)
    ours(planted(600, 20, 2), 2, "hals", 2)  # compile
    if options.only in (None, "mu"):
        mu("dense", planted(10_000, 500, 10), 10, options.updates, *run)
    if options.only in (None, "hals"):
        hals("dense, planted", planted(10_000, 500, 10), 10, 200, *run)
        hals("dense, noise", np.random.default_rng(0).random((5_000, 300)), 10, 200, *run)
    if options.only in (None, "sparse"):
        X = scipy.sparse.random_array((20_000, 5_000), density=0.01, format="csr", rng=np.random.default_rng(0))
        mu("sparse, 1 % filled", X, 10, options.updates // 4, *run)
        hals("sparse, 1 % filled", X, 10, 50, *run)
    if options.only in (None, "elm"):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(2_000, 60)) + 2.0 * rng.normal(size=(6, 60))[rng.integers(6, size=2_000)]
        X = 2.0 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1.0
        elm = Elm(n_hidden=1000, centers="uniform", width=1.0)
        features = elm.space_of(X, Task(len(X), None), np.random.default_rng(1)).rows()
        mu("ELM features", features, 6, options.updates, *run)
        hals("ELM features", features, 6, 200, *run)


if __name__ == "__main__":
    main()
