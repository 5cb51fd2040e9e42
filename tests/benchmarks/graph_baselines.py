"""Normalised cut and the smooth Gaussian mixture beside scikit-learn's, in one run: seconds, memory, accuracy.

``ncut`` and ``lapgmm``: USPS, 9298 rows of 256 attributes, min-max scaled. Peers get the same weights (the same width,
or the same number of neighbours), or the same iterations, ridge and number of starts. ``accuracy``: the recipes as they
stand, mean of three seeds, two clusters by the best threshold, beside what table 10 of the EMMC paper prints, whose
settings are not given.

    uv run python tests/benchmarks/graph_baselines.py accuracy
    uv run python tests/benchmarks/graph_baselines.py ncut
    uv run python tests/benchmarks/graph_baselines.py lapgmm --iterations 30

Needs the data sets; `CLUSTERKIT_DATA` names the folder.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from clusterkit_papers import datasets
from clusterkit_papers.emmc.data_sets import FEW, TWO
from machine import describe, peak, reset_peak
from sklearn.cluster import SpectralClustering
from sklearn.mixture import GaussianMixture

from clusterkit import metrics, recipe

PRINTED = {
    "Ionosphere": ("75.12 / 0.63", "73.56 / 0.62"),
    "Digits1-7": ("97.25 / 0.95", "98.37 / 0.97"),
    "Digits8-9": ("91.36 / 0.86", "94.62 / 0.91"),
    "LetterA-B": ("86.24 / 0.75", "90.21 / 0.90"),
    "Digits0689": ("90.26 / 0.90", "89.61 / 0.87"),
    "Digits1279": ("93.35 / 0.92", "90.36 / 0.90"),
}


KERNEL = {"featuremap": {"name": "rbf", "sigma_fraction": 0.2}, "solver__normalize": False}
"""The cut of a Gaussian affinity, which the papers compare with."""


def measure(title: str, fit: Callable[[], np.ndarray], y: np.ndarray) -> None:
    """Fit once and print."""
    before = reset_peak()
    begin = time.perf_counter()
    labels = fit()
    seconds = time.perf_counter() - begin
    print(
        f"  {title}: {seconds:.1f} s, {(peak() - before) / 2**20:.0f} MiB above the start, "
        f"accuracy {100 * metrics.clustering_accuracy(y, labels):.2f}, RI {metrics.rand_index(y, labels):.3f}",
        flush=True,
    )


def usps() -> tuple[np.ndarray, np.ndarray]:
    """Scaled rows and classes."""
    usps = datasets.load("usps")
    low, high = usps.data.min(axis=0), usps.data.max(axis=0)
    return (usps.data - low) / (high - low), usps.target


def ncut() -> None:
    """Dense and sparse weights."""
    X, y = usps()
    dense = recipe("ncut", n_clusters=10, random_state=0, **KERNEL)
    measure("ncut, all pairs", lambda: dense.fit(X).labels_, y)
    gamma = dense.resolved_["featuremap"]["gamma"]
    parameters = {"n_clusters": 10, "random_state": 0, "assign_labels": "kmeans"}
    measure("SpectralClustering, same weights", lambda: SpectralClustering(gamma=gamma, **parameters).fit_predict(X), y)
    kernel = {"featuremap": {"name": "rbf", "gamma": gamma}, "solver__normalize": False}
    sparse = recipe("ncut", n_clusters=10, random_state=0, solver__n_neighbors=10, **kernel)
    measure("ncut, 10 neighbours", lambda: sparse.fit(X).labels_, y)
    near = SpectralClustering(affinity="nearest_neighbors", n_neighbors=11, **parameters)
    measure("SpectralClustering, 10 neighbours, weights 1 and 1/2", lambda: near.fit_predict(X), y)


def lapgmm(iterations: int) -> None:
    """One start, the same number of iterations."""
    X, y = usps()
    ours = {"n_clusters": 10, "random_state": 0, "n_init": 1, "solver__max_iter": iterations, "solver__tol": 0.0}
    for title, changes in (
        ("lapgmm", {}),
        ("lapgmm, fixed point", {"solver__smoothing": "fixed_point"}),
        ("lapgmm, smoothness = 0", {"solver__smoothness": 0.0}),
    ):
        model = recipe("lapgmm", **ours, **changes)
        measure(title, lambda model=model: model.fit(X).labels_, y)
        print(f"    {model.n_iter_} iterations, {model.stop_reason_}, objective {model.objective_:.0f}")
    plain = GaussianMixture(10, reg_covar=1e-6 * X.var(axis=0).mean(), max_iter=iterations, tol=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged, which is as asked
        measure("GaussianMixture", lambda: plain.fit_predict(X), y)
    print(f"    {plain.n_iter_} iterations, minus log-likelihood {-len(X) * plain.score(X):.0f}")


def accuracy() -> None:
    """Small sets of the paper."""
    for setting in (*TWO, *FEW):
        if setting.name not in PRINTED:
            continue
        X, y = setting.load()
        k = len(np.unique(y))
        two = {"labeler": "threshold"} if k == 2 else {}
        near = {"solver__n_neighbors": 10}
        printed = PRINTED[setting.name]
        print(setting.name)
        for title, name, changes, shown in (
            ("ncut", "ncut", {**KERNEL, **two}, printed[0]),
            ("ncut, 10 neighbours", "ncut", {**KERNEL, **two, **near}, printed[0]),
            ("ncut, self-tuned", "ncut", two, printed[0]),
            ("lapgmm", "lapgmm", {}, printed[1]),
            ("lapgmm, fixed point", "lapgmm", {"solver__smoothing": "fixed_point"}, printed[1]),
        ):
            labels = [recipe(name, n_clusters=k, random_state=seed, **changes).fit(X).labels_ for seed in range(3)]
            accuracies = 100 * np.mean([metrics.clustering_accuracy(y, one) for one in labels])
            rand = np.mean([metrics.rand_index(y, one) for one in labels])
            print(f"  {title}: {accuracies:.2f} / {rand:.2f}; printed {shown}", flush=True)


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("accuracy", "ncut", "lapgmm"))
    parser.add_argument("--iterations", type=int, default=30)
    options = parser.parse_args()
    print(describe())
    try:
        {"accuracy": accuracy, "ncut": ncut, "lapgmm": lambda: lapgmm(options.iterations)}[options.what]()
    except datasets.DatasetNotFound as missing:
        print(f"skipped: {missing}")


if __name__ == "__main__":
    main()
