"""Clusters of embeddings beside EVoC, UMAP with HDBSCAN, k-means and fast_hdbscan, both sides in one run.

    python tests/benchmarks/embeddings.py accuracy [--seeds 10] [--sets digits,usps] [--sides ours,evoc]
    python tests/benchmarks/embeddings.py speed [--rows 20000] [--sides ours,evoc]
    python tests/benchmarks/embeddings.py laws       # order of the rows, rotation, seeds, held-out rows, background
    python tests/benchmarks/embeddings.py compile    # seconds of a first fit with an empty cache of compiled code

Run it with ``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1``: threads that wait count as processor
time. Peers are measured where they are installed. Of each fit the processor seconds are printed, after a first one on
other rows has compiled; the adjusted Rand index of the rows that have a class, the share of them that is in a cluster,
and the number of clusters. k-means is told the number, the others find it. `digits`, `semeion`, `satimage` and the
generated sets chose constants; `usps`, `tdt2` and `letter` are only judged. They need `CLUSTERKIT_DATA`.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from machine import describe, peak, reset_peak
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from clusterkit import datasets, recipe

SETS = ("digits", "semeion", "satimage", "usps", "tdt2", "letter")
GENERATED = ("10", "40", "200", "10+", "40+", "200+")
"""Numbers of classes of generated sets; with + a tenth of the rows is background."""


def unit(X):
    """Rows of length 1."""
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def generated(n, k, background=0.0, d=768, seed=0):
    """Overlapping von Mises-Fisher classes of Zipf sizes in super-topics of five, with an offset: rows and classes.

    A centre is that of the super-topic (0.8) plus one of its own in 48 dimensions; a row adds noise of the width of the
    class (0.7 to 1.4) in these and of 1.3 in all. Background rows, class -1, have a centre of their own each.
    """
    rng = np.random.default_rng(1000 + seed)
    W = np.linalg.qr(rng.normal(size=(d, 48)))[0].T.astype(np.float32)
    p = 1 / (np.arange(k) + 3.0)
    y = rng.choice(k, size=n, p=p / p.sum())
    y[: round(background * n)] = -1
    rng.shuffle(y)
    topics, centre_of = unit(rng.normal(size=((k + 4) // 5, 48))), unit(rng.normal(size=(k, 48)))
    centres, widths = 0.8 * topics[np.arange(k) // 5] + centre_of, rng.uniform(0.7, 1.4, k)
    Z, inside = np.empty((n, 48)), y >= 0
    noise = rng.normal(size=(n, 48)) / np.sqrt(48)
    Z[inside] = centres[y[inside]] + widths[y[inside], None] * noise[inside]
    b = int((~inside).sum())
    Z[~inside] = 0.8 * topics[rng.integers(len(topics), size=b)] * rng.uniform(0, 1, (b, 1))
    Z[~inside] += unit(rng.normal(size=(b, 48))) + 0.6 * noise[~inside]
    X = Z.astype(np.float32) @ W + np.float32(1.3 / np.sqrt(d)) * rng.standard_normal((n, d), dtype=np.float32)
    return unit(X + unit(rng.standard_normal((1, d), dtype=np.float32))), y


def data(name):
    """Rows and classes of a set; those of `tdt2` are 256 coordinates of latent semantic analysis."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return X.astype(np.float32), y
    if name.rstrip("+").isdecimal():
        return generated(20000, int(name.rstrip("+")), 0.1 if name.endswith("+") else 0.0)
    loaded = datasets.load(name)
    y = np.unique(np.asarray(loaded.target), return_inverse=True)[1]
    if name == "tdt2":
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfTransformer

        weights = TfidfTransformer(sublinear_tf=True).fit_transform(loaded.data)
        return TruncatedSVD(256, random_state=0, n_iter=3).fit_transform(weights).astype(np.float32), y
    return np.asarray(loaded.data, dtype=np.float32), y


def sides(chosen):
    """Functions of rows, a seed and the number of classes that give labels, by name."""
    known = {"clusterkit": lambda X, seed, k: recipe("embeddings", random_state=seed).fit(X).labels_}
    if importlib.util.find_spec("evoc"):
        from evoc import EVoC

        known["evoc"] = lambda X, seed, k: EVoC(random_state=seed).fit_predict(X)
    if importlib.util.find_spec("umap"):
        from hdbscan import HDBSCAN
        from umap import UMAP

        def umap(X, seed, k):
            Y = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed).fit_transform(X)
            return HDBSCAN(min_cluster_size=max(15, len(X) // 200)).fit_predict(Y)

        known["umap+hdbscan"] = umap
    if importlib.util.find_spec("fast_hdbscan"):
        from fast_hdbscan import HDBSCAN as FastHdbscan
        from sklearn.decomposition import PCA

        def fast(X, seed, k):
            Y = PCA(min(50, X.shape[1]), random_state=seed).fit_transform(unit(X))
            return FastHdbscan(min_cluster_size=max(15, len(X) // 200)).fit_predict(Y)

        known["fast_hdbscan"] = fast
    if importlib.util.find_spec("faiss"):
        import faiss

        def kmeans(X, seed, k):
            fitted = faiss.Kmeans(X.shape[1], k, nredo=3, seed=seed, spherical=True)
            fitted.train(unit(X))
            return fitted.index.search(unit(X), 1)[1][:, 0]
    else:
        from sklearn.cluster import KMeans

        def kmeans(X, seed, k):
            return KMeans(k, n_init=3, random_state=seed).fit_predict(unit(X))

    known["k-means, k told"] = kmeans
    return {name: known[name] for name in known if not chosen or any(name.startswith(one) for one in chosen)}


def fitted(side, X, y, seed):
    """Index, coverage, number of clusters, processor seconds and megabytes of a fit."""
    inside = y >= 0
    reset_peak()
    began = time.process_time()
    labels = np.asarray(side(X, seed, int(y.max()) + 1))
    seconds = time.process_time() - began
    return (
        adjusted_rand_score(y[inside], labels[inside]), (labels[inside] >= 0).mean(), labels.max() + 1, seconds, peak()
    )  # fmt: skip


def accuracy(names, seeds, chosen):
    for name in names:
        X, y = data(name)
        print(f"\n{name}: {X.shape[0]} x {X.shape[1]}, {y.max() + 1} classes", flush=True)
        for side, function in sides(chosen).items():
            function(X[: min(len(X), 1500)], 0, 5)  # compiles
            rounds = np.array([fitted(function, X, y, seed) for seed in range(seeds if name in SETS else 1)])
            mean, least = rounds.mean(axis=0), rounds.min(axis=0)
            print(
                f"  {side:18} index {mean[0]:.3f} (least {least[0]:.3f}), covered {mean[1]:.0%}, clusters "
                f"{rounds[:, 2].min():.0f}-{rounds[:, 2].max():.0f}, {mean[3]:.2f} s, {mean[4] / 2**20:.0f} MB",
                flush=True,
            )


def speed(rows, chosen):
    X, y = generated(rows, 40)
    print(f"generated: {rows} x 768, {X.nbytes / 2**20:.0f} MB")
    for side, function in sides(chosen).items():
        function(X[:1500], 0, 5)
        index, _, k, seconds, memory = fitted(function, X, y, 0)
        print(
            f"  {side:18} {seconds:6.2f} s, peak {memory / 2**20:.0f} MB, index {index:.3f}, {k} clusters", flush=True
        )


def laws():
    def fit(X, seed=0):
        return recipe("embeddings", random_state=seed).fit(X)

    X, y = data("usps")
    rng = np.random.default_rng(0)
    base, order = fit(X), rng.permutation(len(X))
    moved = fit(X[order])
    print(f"usps, rows in another order: {adjusted_rand_score(base.labels_[order], moved.labels_):.3f}")
    Q = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0].astype(np.float32)
    print(f"rotated: {adjusted_rand_score(base.labels_, fit(X @ Q).labels_):.3f}")
    others = [adjusted_rand_score(base.labels_, fit(X, seed).labels_) for seed in range(1, 6)]
    print(f"other seeds: mean {np.mean(others):.3f}, least {min(others):.3f}")
    test, train = order[: len(X) // 5], order[len(X) // 5 :]
    part = fit(X[train])
    print(
        f"fit to 80 %: index {adjusted_rand_score(y[train], part.labels_):.3f}, of the others by predict "
        f"{adjusted_rand_score(y[test], part.predict(X[test])):.3f}"
    )
    print(f"predicting the fitted rows: {(base.predict(X) == base.labels_).mean():.4f} equal")
    for k in (40, 200):
        X, y = generated(20000, k, 0.1)
        model = fit(X)
        facts = model.resolved_["featuremap"]
        print(f"{k} classes: background by its score, AUC {roc_auc_score(y < 0, model.outlier_scores_):.3f}; {facts}")


def compile_seconds():
    code = (
        "import time; began = time.process_time(); import numpy as np; from clusterkit import recipe; "
        "recipe('embeddings', random_state=0).fit(np.random.default_rng(0).normal(size=(1000, 64)).astype('f')); "
        "print(round(time.process_time() - began, 1))"
    )
    with tempfile.TemporaryDirectory() as folder:
        for what in ("empty cache", "compiled before"):
            answer = subprocess.run(
                [sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": folder}, capture_output=True,
                text=True, check=True,
            )  # fmt: skip
            print(f"{what}: {answer.stdout.strip()} s, imports included")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("accuracy", "speed", "laws", "compile"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", default=",".join((*SETS, *GENERATED)))
    parser.add_argument("--sides", default="")
    parser.add_argument("--rows", type=int, default=20000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe())
    chosen = [name for name in options.sides.split(",") if name]
    if options.what == "accuracy":
        accuracy(options.sets.split(","), options.seeds, chosen)
    elif options.what == "speed":
        speed(options.rows, chosen)
    elif options.what == "laws":
        laws()
    else:
        compile_seconds()


if __name__ == "__main__":
    main()
