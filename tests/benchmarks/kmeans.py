"""k-means on features, k-means on rows and kernel k-means, against scikit-learn and tslearn in the same run.

Every start is drawn once and given to both sides: Lloyd's iteration then takes the same path, and the sums of squares
must agree. What is timed is the iteration alone, features or kernel matrix computed beforehand, on both sides to the
end (`tol=0`). The last comparison is of whole fits, each side with its own starts.

    uv run python tests/benchmarks/kmeans.py elm
    uv run python tests/benchmarks/kmeans.py plain
    uv run --with tslearn python tests/benchmarks/kmeans.py kernel
    uv run python tests/benchmarks/kmeans.py large --threads 1

`large` times whole fits as a user writes them, with the default `tol` on both sides, in seconds and in processor time,
which a busy machine changes little; `--threads 1` limits both sides to one thread.

`elm` needs the data set USPS; `CLUSTERKIT_DATA` names the folder. `kernel` needs tslearn. Fix the number of threads by
OPENBLAS_NUM_THREADS and OMP_NUM_THREADS; both sides use the same.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from clusterkit_papers import datasets
from machine import describe
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.families.means.kmeans import Centroids
from clusterkit.families.means.seeds import Seeded
from clusterkit.families.shared.codecs import Argmax
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.rbf import Rbf
from clusterkit.fitting.label_iterations import alternate
from clusterkit.numerics.threads import available
from clusterkit.samples import DenseSpace, FeatureSpace, KernelSpace, build_space
from clusterkit.samples.transform import IdentityMap


def drawn(space: FeatureSpace | KernelSpace, k: int, starts: int) -> list[np.ndarray]:
    """Labels of k-means++ starts."""
    return [
        Seeded(weighting="kmeans++").start(space, Task(space.n, k), np.random.default_rng(seed))
        for seed in range(starts)
    ]


def ours(space: FeatureSpace | KernelSpace, k: int, starts: list[np.ndarray], max_iter: int) -> tuple[float, int]:
    """Lowest sum of squares, and iterations of all starts."""
    prepared = Centroids().prepare(space, Task(space.n, k), np.random.default_rng(0))
    starts, _ = alternate(
        prepared, Argmax(), None, space, Task(space.n, k), lambda start: starts[start],
        starts=len(starts), max_iter=max_iter, together=False, rng=np.random.default_rng(0),
    )  # fmt: skip
    return min(start.objective for start in starts), sum(start.n_iter for start in starts)


def theirs(H: np.ndarray, k: int, starts: list[np.ndarray], max_iter: int, algorithm: str) -> tuple[float, int]:
    """The same by scikit-learn, from the class means of the same labels."""
    lowest, iterations = np.inf, 0
    for labels in starts:
        centres = np.stack([H[labels == j].mean(axis=0) for j in range(k)])
        fitted = KMeans(k, init=centres, n_init=1, max_iter=max_iter, tol=0, algorithm=algorithm).fit(H)
        lowest, iterations = min(lowest, fitted.inertia_), iterations + fitted.n_iter_
    return lowest, iterations


def tslearns(X: np.ndarray, k: int, gamma: float, n_init: int, max_iter: int) -> tuple[np.ndarray, int]:
    """Kernel k-means of tslearn: its own starts, random labels; its own tol, because with 0 it would never stop."""
    from tslearn.clustering import KernelKMeans

    model = KernelKMeans(
        k, kernel="rbf", kernel_params={"gamma": gamma}, n_init=n_init, max_iter=max_iter, random_state=0
    ).fit(X[:, :, None])
    return model.labels_, model.n_iter_


def trace_form(K: np.ndarray, labels: np.ndarray) -> float:
    """``trace(K) - sum_j (1/N_j) sum_{p,q in j} K_pq``."""
    within = [K[np.ix_(labels == j, labels == j)].sum() / np.sum(labels == j) for j in np.unique(labels)]
    return float(np.trace(K) - sum(within))


def compare(
    title: str,
    sides: dict[str, Callable[[], tuple[Any, int]]],
    repeats: int,
    judge: Callable[[Any], float] = float,
) -> None:
    """Time the sides in turn, `repeats` times, and print the fastest of each and the ratios to the first."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    fits: dict[str, tuple[Any, int]] = {}
    for _ in range(repeats):
        for name, side in sides.items():
            begin = time.perf_counter()
            fits[name] = side()
            seconds[name].append(time.perf_counter() - begin)
    print(title)
    first, *others = sides
    for name in sides:
        print(f"  {name}: {min(seconds[name]):.3f} s, {fits[name][1]} iterations, objective {judge(fits[name][0]):.9g}")
    for name in others:
        every = np.array(seconds[first]) / np.array(seconds[name])
        fastest = min(seconds[first]) / min(seconds[name])
        print(f"  time of {first} / {name}: {fastest:.3f} of the fastest, {np.round(every, 3).tolist()} run by run")


def whole(H: np.ndarray, k: int, n_init: int) -> dict[str, Callable[[], tuple[float, int]]]:
    """Whole fits on rows, own starts."""

    def fit() -> tuple[float, int]:
        model = recipe("kmeans", n_clusters=k, n_init=n_init, random_state=0).fit(H)
        return model.objective_, model.n_iter_

    def other() -> tuple[float, int]:
        model = KMeans(k, n_init=n_init, random_state=0, tol=0).fit(H)
        return model.inertia_, model.n_iter_

    return {"clusterkit": fit, "scikit-learn": other}


def on_rows(title: str, H: np.ndarray, space: DenseSpace, k: int, options: argparse.Namespace) -> None:
    """Both comparisons on a feature matrix."""
    starts, most = drawn(space, k, options.starts), options.max_iter
    sides: dict[str, Any] = {
        "clusterkit": lambda: ours(space, k, starts, most),
        "scikit-learn lloyd": lambda: theirs(H, k, starts, most, "lloyd"),
        "scikit-learn elkan": lambda: theirs(H, k, starts, most, "elkan"),
    }
    compare(
        f"{title}: {H.shape[0]} x {H.shape[1]} {H.dtype}, k = {k}, the same {len(starts)} starts",
        sides,
        options.repeats,
    )
    compare(f"{title}: whole fits, n_init = {len(starts)}", whole(H, k, len(starts)), options.repeats)


def elm(options: argparse.Namespace) -> None:
    """1,000 random features of USPS."""
    try:
        X = np.asarray(datasets.load("usps").data, dtype=float)
    except datasets.DatasetNotFound as missing:
        print(f"skipped: {missing}")
        return
    for dtype in (np.float64, np.float32):
        space = Elm(n_hidden=1000, centers="uniform", width=1.0).space_of(
            X.astype(dtype), Task(len(X.astype(dtype)), None), np.random.default_rng(0)
        )
        on_rows("elm-kmeans on USPS", space.rows(), space, 10, options)


def plain(options: argparse.Namespace) -> None:
    """Blobs that overlap, and digits."""
    for n, d, k in ((100_000, 10, 10), (20_000, 50, 20), (100_000, 2, 30)):
        X = make_blobs(n, d, centers=k, cluster_std=4.0, random_state=0)[0]
        on_rows("kmeans on blobs", X, build_space(X, IdentityMap(d)), k, options)
    X = load_digits().data
    on_rows("kmeans on digits", X, build_space(X, IdentityMap(64)), 10, options)


def kernel(options: argparse.Namespace) -> None:
    """Kernel k-means of digits; the kernel matrix is part of the fit on both sides."""
    X = load_digits().data
    k, n_init, most = 10, options.starts, options.max_iter
    gamma = 1.0 / (X.shape[1] * X.var())

    def fit() -> tuple[np.ndarray, int]:
        model = recipe(
            "kernel-kmeans", n_clusters=k, n_init=n_init, max_iter=most, featuremap__gamma=gamma, random_state=0
        ).fit(X)
        return model.labels_, model.n_iter_

    K = Rbf(gamma=gamma).space_of(X, Task(len(X), None), np.random.default_rng(0)).gram()
    print(f"tslearn {importlib.metadata.version('tslearn')}; gamma = {gamma:.3g}")
    sides = {"clusterkit": fit, "tslearn": lambda: tslearns(X, k, gamma, n_init, most)}
    title = f"kernel-kmeans on digits: {len(X)} rows, k = {k}, n_init = {n_init}"
    compare(title, sides, options.repeats, lambda labels: trace_form(K, labels))


def timed(fit: Callable[[], Any]) -> tuple[Any, tuple[float, float]]:
    """What a fit returns, with its seconds by the wall and of the processor."""
    begin, work = time.perf_counter(), time.process_time()
    model = fit()
    return model, (time.perf_counter() - begin, time.process_time() - work)


def large(options: argparse.Namespace) -> None:
    """Whole fits of many rows, both sides with their defaults."""
    rng = np.random.default_rng(0)
    blobs = make_blobs(200_000, 20, centers=8, random_state=0)[0]
    for title, X, k, n_init in (
        ("separated blobs", blobs, 8, 1),
        ("separated blobs", blobs, 8, 10),
        ("one Gaussian cloud", rng.normal(size=(200_000, 20)), 8, 1),
        ("one Gaussian cloud", rng.normal(size=(200_000, 20)), 8, 10),
        ("separated blobs", make_blobs(1_000_000, 10, centers=10, random_state=0)[0], 10, 1),
    ):
        fits: dict[str, Callable[[], Any]] = {
            "clusterkit": lambda X=X, k=k, n=n_init: recipe("kmeans", n_clusters=k, n_init=n, random_state=0).fit(X),
            "scikit-learn": lambda X=X, k=k, n=n_init: KMeans(k, n_init=n, random_state=0).fit(X),
        }
        seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in fits}
        models: dict[str, Any] = {}
        fits["clusterkit"]()  # compiled code is loaded
        for _ in range(options.repeats):
            for name, fit in fits.items():
                models[name], spent = timed(fit)
                seconds[name].append(spent)
        print(f"{title}: {len(X)} x {X.shape[1]}, k = {k}, n_init = {n_init}")
        reached = {"clusterkit": "objective_", "scikit-learn": "inertia_"}
        for name, pairs in seconds.items():
            wall, work = np.min(pairs, axis=0)
            print(
                f"  {name}: {wall:.3f} s, {work:.3f} s of processor time, {models[name].n_iter_} iterations, "
                f"objective {getattr(models[name], reached[name]):.8g}"
            )
        ours, others = (np.min(seconds[name], axis=0) for name in fits)
        print(f"  ratio: {ours[0] / others[0]:.2f} of the time, {ours[1] / others[1]:.2f} of the processor time")
        objective = models["scikit-learn"].inertia_
        if models["clusterkit"].n_iter_ > 1 and models["clusterkit"].objective_ < objective:
            print_time_to(objective, models["clusterkit"], X, others, options.repeats)


def print_time_to(objective: float, model: Any, X: np.ndarray, others: np.ndarray, repeats: int) -> None:
    """Time to an objective that is above the one at the end: with the iterations that the best start takes to it."""
    iterations = 1 + int(np.argmax(np.asarray(model.history_) <= objective))
    shorter = clone(model).set_params(max_iter=iterations)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iterations that did not suffice
        wall, work = np.min([timed(lambda: shorter.fit(X))[1] for _ in range(repeats)], axis=0)
    print(
        f"  to the objective of scikit-learn: {wall:.3f} s, {work:.3f} s of processor time, at most {iterations} "
        f"iterations, objective {shorter.objective_:.8g}; ratio {wall / others[0]:.2f} and {work / others[1]:.2f}"
    )


def main() -> None:
    """Print times, ratios and objectives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases = {"elm": elm, "plain": plain, "kernel": kernel, "large": large}
    parser.add_argument("case", choices=list(cases), nargs="+")
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--max-iter", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    if options.threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(options.threads)  # read by `available`
    print(describe(), f"threads {available()}", sep="; ")
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(options.threads):
        for case in options.case:
            cases[case](options)


if __name__ == "__main__":
    main()
