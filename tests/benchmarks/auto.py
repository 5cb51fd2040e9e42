"""Recipe `auto` on shapes and tables with known classes, which enter the scores only, and the rates of its flags.

    python tests/benchmarks/auto.py shapes --folder ../shared/data/shapes   28 sets from which the constants come
    python tests/benchmarks/auto.py named                                   8 sets from which the constants come
    python tests/benchmarks/auto.py real                                    6 standardised tables
    python tests/benchmarks/auto.py numbers [--sets 48] [--total 250 1000]  right numbers of clusters on generated data
    python tests/benchmarks/auto.py one [--draws 20]                        the flag for a single cluster

Each row has the adjusted Rand index with the number of clusters given and chosen, the recipe and the number that were
chosen, and the confidences. Rows of class -1 are background and are not scored. For the generated sets the index with
the number given stands beside: where it is low as well, the set has no clusters that the pool can find. Without
`--total` the smallest of them have 80 rows, of which 40 make a ring.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from clusterkit_papers import datasets

from clusterkit import Auto, recipe
from clusterkit.metrics import adjusted_rand

NAMED = ["aggregation", "compound", "d31", "flame", "jain", "pathbased", "r15", "spiral"]
REAL = ["iris", "wine", "breast_cancer_wisconsin", "glass", "yeast", "ionosphere"]


def score(y, labels):
    inside = y != -1 if y.dtype.kind in "iuf" else np.ones(len(y), dtype=bool)
    return adjusted_rand(y[inside], labels[inside])


def row(name, X, y, mixture=False):
    """Prints a row; the two scores, and whether the chosen number is right."""
    classes = np.unique(y[y != -1] if y.dtype.kind in "iuf" else y)
    begin = time.process_time()
    known, free = Auto(len(classes), random_state=0).fit(X), Auto(random_state=0).fit(X)
    seconds = time.process_time() - begin
    k = int(free.labels_.max()) + 1
    values = [score(y, known.labels_), score(y, free.labels_)]
    if mixture:
        values.append(score(y, recipe("mixture", n_clusters=len(classes), random_state=0).fit(X).labels_))
    chosen = [model.resolved_["auto"]["recipe"] for model in (known, free)]
    print(
        f"{name:18s} {len(X):5d} x {X.shape[1]:2d} | given {len(classes):2d}: {values[0]:.3f} {chosen[0]:22s} "
        f"conf {known.confidence_:.2f} | chosen {k:2d}: {values[1]:.3f} {chosen[1]:22s} conf {free.confidence_:.2f} "
        f"second {free.second_n_clusters_} {'one? ' if free.perhaps_one_cluster_ else ''}| {seconds:.1f} s"
        + (f" | mixture {values[2]:.3f}" if mixture else ""),
        flush=True,
    )
    return [*values, float(k == len(classes)), known.confidence_, free.confidence_, float(free.perhaps_one_cluster_)]


def summary(rows, mixture=False):
    table = np.array(rows, dtype=float)
    means = table.mean(axis=0)
    at = 3 if mixture else 2
    print(f"mean of {len(rows)}: given {means[0]:.4f}, chosen {means[1]:.4f}, right number {means[at]:.2f}", end="")
    print(f", mixture {means[2]:.4f}" if mixture else "", end="")
    print(f", called one cluster {means[-1]:.2f}")
    for column, name in ((0, "given"), (1, "chosen")):
        sure = table[:, at + 1 + column] >= 0.9
        right = table[sure, column] >= 0.8
        print(f"  {name}: confidence >= .9 for {sure.sum()}, of which {right.sum()} have an index >= .8")


def shapes(folder):
    files = sorted(Path(folder).glob("*.csv.gz"), key=lambda file: file.stat().st_size)
    rows = []
    for file in files:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
        rows.append(row(file.name.removesuffix(".csv.gz"), table[:, :-1], table[:, -1].astype(int)))
    summary(rows)


def named():
    summary([row(name, *_arrays(name)) for name in NAMED])


def real():
    rows = []
    for name in REAL:
        X, y = _wdbc() if name == "breast_cancer_wisconsin" else _arrays(name)
        spread = X.std(axis=0)
        rows.append(row(name, (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y, mixture=True))
    summary(rows, mixture=True)


def _arrays(name):
    data = datasets.load(name)
    return np.asarray(data.data, dtype=np.float64), np.asarray(data.target)


def _wdbc():
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    return data.data, data.target


def generated(seed, rows=None):
    """A set of two to ten clusters: blobs, moons, rings or bars, a quarter with background noise.

    Clusters have 40 to 200 rows. With `rows`, two numbers, they have all together between these, and each at least 25,
    with sizes to 1:10 otherwise.
    """
    rng = np.random.default_rng([seed, 14])
    kind = ("blobs", "moons", "rings", "bars")[seed % 4]
    k = (
        int(rng.integers(2, 11))
        if kind in ("blobs", "bars")
        else int(rng.integers(1, 4)) * (2 if kind == "moons" else 1)
    )
    k = max(k, 2)
    shares = np.exp(rng.uniform(np.log(0.1), 0, k))
    sizes = np.maximum(40, np.round(200 * shares)).astype(int)
    if rows is not None:
        total = rng.integers(*rows, endpoint=True)
        sizes = np.maximum(25, np.round(total * shares / shares.sum())).astype(int)
    d = int(rng.choice([2, 3, 5, 10, 20, 50])) if kind == "blobs" else 2
    parts = []
    for c, size in enumerate(sizes):
        if kind == "blobs":
            spread = np.exp(rng.uniform(0, np.log(4)))
            parts.append(rng.standard_normal((size, d)) * spread)
        elif kind == "moons":
            turn = rng.uniform(0, np.pi, size)
            arc = np.stack([np.cos(turn), np.sin(turn)], 1)
            arc = arc if c % 2 == 0 else np.array([1.0, 0.5]) - arc
            parts.append(arc + [4.0 * (c // 2), 0.0] + 0.07 * rng.standard_normal((size, 2)))
        elif kind == "rings":
            turn = rng.uniform(0, 2 * np.pi, size)
            parts.append(
                (1.0 + 1.2 * c) * np.stack([np.cos(turn), np.sin(turn)], 1) + 0.08 * rng.standard_normal((size, 2))
            )
        else:
            parts.append(np.stack([rng.uniform(0, 6, size), 1.5 * c + 0.15 * rng.standard_normal(size)], 1))
    if kind == "blobs":
        centres: list = []
        while len(centres) < k:
            centre = rng.uniform(-1, 1, d) * 10 * k ** (1 / min(d, 3))
            if all(
                np.linalg.norm(centre - other) > 4.0 * (parts[len(centres)].std() + parts[i].std())
                for i, other in enumerate(centres)
            ):
                centres.append(centre)
            else:
                centres = centres if rng.random() < 0.999 else []
        parts = [part + centre for part, centre in zip(parts, centres, strict=True)]
    X = np.concatenate(parts)
    y = np.repeat(np.arange(k), sizes)
    if seed % 16 < 4:
        low, high = X.min(axis=0), X.max(axis=0)
        noise = rng.uniform(low, high, (len(X) // 10, X.shape[1]))
        X, y = np.concatenate([X, noise]), np.concatenate([y, np.full(len(noise), -1)])
    return kind, X, y


def numbers(sets, rows):
    right = {"all": [], "blobs": [], "moons": [], "rings": [], "bars": [], "with noise": []}
    solvable = {name: [] for name in right}
    scores = []
    for seed in range(1200, 1200 + sets):
        kind, X, y = generated(seed, rows)
        model = Auto(random_state=0).fit(X)
        k, classes = int(model.labels_.max()) + 1, int(y.max()) + 1
        scores.append((score(y, model.labels_), score(y, Auto(classes, random_state=0).fit(X).labels_)))
        for name in ("all", kind, *(["with noise"] if (y < 0).any() else [])):
            right[name].append(k == classes)
            solvable[name].append(scores[-1][1] >= 0.8)
        print(
            f"{kind:6s} {X.shape} {classes:2d} clusters, chosen {k:2d}, index {scores[-1][0]:.3f}, "
            f"{scores[-1][1]:.3f} with the number given",
            flush=True,
        )
    print("right number:", {name: f"{np.mean(v):.2f} of {len(v)}" for name, v in right.items() if v})
    print("index >= .8 with the number given:", {name: f"{np.mean(v):.2f}" for name, v in solvable.items() if v})
    print("mean index {:.4f}, {:.4f} with the number given".format(*np.mean(scores, axis=0)))


def one(draws):
    """The share of draws for which the flag "perhaps one cluster" is raised, as a table."""
    from clusterkit.criteria.one_cluster import OneCluster

    def cloud(kind, n, d, rng):
        if kind == "gaussian":
            return rng.standard_normal((n, d))
        if kind == "cube":
            return rng.random((n, d))
        if kind == "ball":
            X = rng.standard_normal((n, d))
            return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / d)
        X = rng.standard_normal((n, d))
        X[: n // 2, 0] += 6.0
        return X

    sizes = [(n, d) for n in (100, 300, 1000) for d in (2, 5, 20)]
    print(f"flag raised, share of {draws} draws".ljust(36), *(f"{n}x{d}".rjust(8) for n, d in sizes), "     all")
    for kind in ("gaussian", "cube", "ball", "two at distance 6"):
        shares = []
        print(kind.ljust(36), end=" ", flush=True)
        for n, d in sizes:
            flags = [
                not OneCluster.of(cloud(kind, n, d, np.random.default_rng([s, n, d])), np.random.default_rng(s)).several
                for s in range(draws)
            ]
            shares.append(np.mean(flags))
            print(f"{shares[-1]:8.2f}", end=" ", flush=True)
        print(f"{np.mean(shares):8.3f}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["shapes", "named", "real", "numbers", "one"])
    parser.add_argument("--folder", default="../shared/data/shapes")
    parser.add_argument("--sets", type=int, default=48)
    parser.add_argument("--total", type=int, nargs=2, metavar=("LEAST", "MOST"))
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    if options.what == "shapes":
        shapes(options.folder)
    elif options.what == "named":
        named()
    elif options.what == "real":
        real()
    elif options.what == "numbers":
        numbers(options.sets, options.total)
    else:
        one(options.draws)
