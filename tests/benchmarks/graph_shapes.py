"""Spectral recipes on sets of shapes, and the time of `spectral` beside scikit-learn.

``accuracy``: adjusted Rand index with the number of clusters known, for each set of a folder of ``NAME.csv.gz`` with a
column ``label`` (-1 is noise, which is fitted and left out of the score), and the means over all sets and over those
with at most 2,100 rows.

``speed``: CPU seconds of `spectral` and of scikit-learn's ``SpectralClustering(affinity="nearest_neighbors")`` on moons
and on blobs, both in one run, after a first fit that compiles.

``digits``: mean error of the recipes on the 45 pairs of scikit-learn's digits, and accuracy on all ten.

    uv run python tests/benchmarks/graph_shapes.py accuracy FOLDER
    uv run python tests/benchmarks/graph_shapes.py speed
    uv run python tests/benchmarks/graph_shapes.py digits
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import recipe
from clusterkit.metrics import clustering_accuracy

RECIPES = ("kmeans", "mixture", "spectral", "ncut", "emmc-graph", "auto")
"""The recipes of the tables: two that see no graph, those that do, and the choice among families."""
SMALL = 2100
"""Rows up to which a set counts in the second mean."""
ROWS = 20_000
"""Rows of the sets of the comparison of times."""


def accuracies(folder: Path) -> None:
    files = sorted(folder.glob("*.csv.gz"))
    if not files:
        raise SystemExit(f"no NAME.csv.gz in {folder}")
    scores, sizes = [], []
    print(f"{'set':<20s}{'rows':>6s}{'k':>4s}" + "".join(f"{name:>12s}" for name in RECIPES))
    for file in files:
        table = np.genfromtxt(file, delimiter=",", names=True)
        names = table.dtype.names
        y = table["label"].astype(int)
        X = np.stack([table[name] for name in names if name != "label"], axis=1)
        k, labelled = len(np.unique(y[y >= 0])), y >= 0
        row = []
        for name in RECIPES:
            labels = recipe(name, n_clusters=k, random_state=0).fit(X).labels_
            row.append(adjusted_rand_score(y[labelled], labels[labelled]))
        scores.append(row)
        sizes.append(len(X))
        print(
            f"{file.name.split('.')[0]:<20s}{len(X):6d}{k:4d}" + "".join(f"{score:12.3f}" for score in row), flush=True
        )
    table, small = np.array(scores), np.array(sizes) <= SMALL
    for words, rows in ((f"mean of {len(table)}", table), (f"mean of {small.sum()} small", table[small])):
        print(f"{words:<30s}" + "".join(f"{score:12.3f}" for score in rows.mean(axis=0)))


def speed() -> None:
    sets = {
        "moons": make_moons(ROWS, noise=0.05, random_state=0),
        "10 blobs": make_blobs(ROWS, centers=10, cluster_std=0.6, random_state=3),
    }
    for words, (X, y) in sets.items():
        k = len(np.unique(y))
        models = {
            "spectral": recipe("spectral", n_clusters=k, random_state=0),
            "scikit-learn": SpectralClustering(k, affinity="nearest_neighbors", random_state=0),
        }
        for name, model in models.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # scikit-learn's, of graphs that are not connected
                model.fit(X[::50])
                seconds = []
                for _ in range(3):
                    start = time.process_time()
                    model.fit(X)
                    seconds.append(time.process_time() - start)
            score = adjusted_rand_score(y, model.labels_)
            print(f"{words:<10s}{name:<14s}{min(seconds):8.3f} CPU s   adjusted Rand index {score:.3f}", flush=True)


def digits() -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    for name in RECIPES:
        errors = []
        for pair in itertools.combinations(range(10), 2):
            rows = np.isin(y, pair)
            labels = recipe(name, n_clusters=2, random_state=0).fit(X[rows]).labels_
            errors.append(100.0 * (1.0 - clustering_accuracy(y[rows], labels)))
        ten = recipe(name, n_clusters=10, random_state=0).fit(X).labels_
        print(
            f"{name:<12s}45 pairs: error {np.mean(errors):6.2f} %   "
            f"ten digits: accuracy {100 * clustering_accuracy(y, ten):.1f} %, "
            f"adjusted Rand index {adjusted_rand_score(y, ten):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("accuracy", "speed", "digits"))
    parser.add_argument("folder", nargs="?", type=Path, help="of the sets, for accuracy")
    options = parser.parse_args()
    if options.what == "accuracy":
        if options.folder is None:
            parser.error("accuracy needs the folder of the sets")
        accuracies(options.folder)
    else:
        {"speed": speed, "digits": digits}[options.what]()
