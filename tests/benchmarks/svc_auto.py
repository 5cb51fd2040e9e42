"""The recipe svc without parameters against HDBSCAN, on generated shapes and on named data sets.

``shapes``: mean adjusted Rand index by family, background noise not counted; HDBSCAN with its noise sent to the nearest
cluster. ``named``: eight sets in the plane and z-scored Breast Cancer (the folder of `CLUSTERKIT_DATA` or the mirror).
``single``: how often one Gaussian or uniform cloud stays one cluster. ``time``: seconds of the search and of the whole.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

import numpy as np
from clusterkit_papers import datasets
from sklearn.cluster import HDBSCAN
from sklearn.neighbors import NearestNeighbors
from svc_shapes import suite

from clusterkit import recipe
from clusterkit.metrics import adjusted_rand

NAMED = ("aggregation", "compound", "flame", "jain", "pathbased", "r15", "spiral", "d31")
SECONDS = 600.0  # the values must not depend on how busy the machine is


def peer(X):
    """Labels of HDBSCAN, noise to the nearest cluster."""
    labels = HDBSCAN(copy=True).fit(X).labels_
    inside, noise = np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
    if len(inside) and len(noise):
        nearest = NearestNeighbors(n_neighbors=1).fit(X[inside]).kneighbors(X[noise], return_distance=False)[:, 0]
        labels[noise] = labels[inside[nearest]]
    return labels


def fitted(X, seconds=SECONDS):
    """The recipe as it is, with a budget that does not matter."""
    return recipe("svc", random_state=0, tuner__max_seconds=seconds).fit(X)


def shapes(seeds, rows):
    """Means by family."""
    scores = defaultdict(list)
    for name, X, y in suite(seeds, rows):
        known = y >= 0
        scores[name.rsplit("-", 1)[0]].append(
            [adjusted_rand(y[known], labels[known]) for labels in (fitted(X).labels_, peer(X))]
        )
    print(f"{'family':16s}    svc  HDBSCAN")
    for family, values in scores.items():
        print(f"{family:16s}  {np.mean(values, axis=0)[0]:.3f}  {np.mean(values, axis=0)[1]:.3f}", flush=True)
    every = np.array([pair for values in scores.values() for pair in values])
    print(f"{'all ' + str(len(every)):16s}  {every.mean(axis=0)[0]:.3f}  {every.mean(axis=0)[1]:.3f}")


def named():
    """Each set, and the mean of those in the plane."""
    values = []
    for name in (*NAMED, "breast-cancer"):
        data = datasets.load(name)
        X = np.asarray(data.data, dtype=np.float64)
        if name == "breast-cancer":
            X = (X - X.mean(axis=0)) / X.std(axis=0)
        model = fitted(X)
        values.append([adjusted_rand(data.target, model.labels_), adjusted_rand(data.target, peer(X))])
        facts = model.resolved_["tuner"]
        print(
            f"{name:14s} svc {values[-1][0]:.3f} HDBSCAN {values[-1][1]:.3f}; {model.labels_.max() + 1} clusters, "
            f"{facts['runs']} runs, {facts['seconds']} s, {facts['rule']}",
            flush=True,
        )
    print("mean of the eight:", np.mean(values[:-1], axis=0).round(3))


def single():
    """Clusters found in clouds without any."""
    for d in (2, 5, 20):
        for kind in ("gaussian", "uniform"):
            counts = []
            for seed in range(5):
                rng = np.random.default_rng(seed)
                X = rng.standard_normal((300, d)) if kind == "gaussian" else rng.random((300, d))
                counts.append(int(fitted(X).labels_.max()) + 1)
            print(f"{kind:9s} d = {d:2d}: clusters {counts}", flush=True)


def timing(names):
    """Seconds of the search under its own budget, and of the whole fit."""
    for name in names:
        X = np.asarray(datasets.load(name).data, dtype=np.float64)
        begin = time.perf_counter()
        model = recipe("svc", random_state=0).fit(X)
        facts = model.resolved_["tuner"]
        print(
            f"{name:14s} {X.shape}: search {facts['seconds']:.1f} s ({facts['runs']} runs on {facts['rows']} rows, "
            f"ended by {facts['ended']}), whole {time.perf_counter() - begin:.1f} s, "
            f"{model.labels_.max() + 1} clusters",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["shapes", "named", "single", "time"])
    parser.add_argument("--seeds", type=int, nargs="*", default=[100, 101, 102, 103])
    parser.add_argument("--rows", type=int, nargs="*", default=[200, 400, 700, 1000])
    parser.add_argument("--names", nargs="*", default=["usps", "letter", "shuttle", "musk2"])
    options = parser.parse_args()
    if options.what == "shapes":
        shapes(options.seeds, options.rows)
    elif options.what == "named":
        named()
    elif options.what == "single":
        single()
    else:
        timing(options.names)
