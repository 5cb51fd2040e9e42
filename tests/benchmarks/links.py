"""How much links raise the agreement with known classes, paired over ten labelled sets: ``links.py kmeans hdbscan``.

Links are random pairs of rows with the sign of the truth, 0.1 n and 0.5 n of them, three draws each. ``links.py speed``
times k-means under links: 23,000 rows of 50 columns with bounds of sizes, and 1,000,000 rows of 10.
"""

import sys
import time
import warnings

import numpy as np
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from clusterkit import recipe

SHARES = (0.0, 0.1, 0.5)
DRAWS = 3


def sets():
    """Ten labelled sets: name, rows, classes."""
    for name in ("iris", "wine", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, scale(X), y
    yield "digits", *datasets.load_digits(return_X_y=True)
    yield "moons", *datasets.make_moons(400, noise=0.12, random_state=0)
    yield "circles", *datasets.make_circles(400, noise=0.08, factor=0.5, random_state=0)
    yield "blobs", *datasets.make_blobs([100, 60, 150, 80], random_state=3, cluster_std=[1, 2, 1.5, 2])
    X, y = datasets.make_classification(500, 8, n_informative=5, n_classes=4, n_clusters_per_class=1, random_state=1)
    yield "classes", X, y
    rng = np.random.default_rng(0)
    stripes = [rng.normal(size=(200, 2)) * [3, 0.4] + [0, 2 * i] for i in range(3)]
    yield "stripes", np.concatenate(stripes), np.repeat([0, 1, 2], 200)
    parts = [rng.normal(size=(n, 6)) * s + c for n, s, c in ((200, 1, 0), (80, 0.5, 1.5), (120, 1.5, -2))]
    yield "density", scale(np.concatenate(parts)), np.repeat([0, 1, 2], [200, 80, 120])


def links_of(y, count, rng):
    """Random pairs with the sign of the truth."""
    pairs = rng.integers(0, len(y), (count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.column_stack([pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)])


def main(names):
    """Print the adjusted Rand index for each set, share of links and method, and the means."""
    warnings.simplefilter("ignore")
    table = {name: [] for name in names}
    for title, X, y in sets():
        for name in names:
            number = {} if name == "hdbscan" else {"n_clusters": len(set(y))}
            row = []
            for share in SHARES:
                scores = []
                for draw in range(DRAWS if share else 1):
                    links = links_of(y, int(share * len(y)), np.random.default_rng(draw)) if share else None
                    model = recipe(name, random_state=0, **number).fit(X, links=links)
                    scores.append(adjusted_rand_score(y, model.labels_))
                row.append(np.mean(scores))
            table[name].append(row)
            print(f"{title:14} {name:10} " + " ".join(f"{value:6.3f}" for value in row), flush=True)
    for name, rows in table.items():
        print(f"{'mean':14} {name:10} " + " ".join(f"{value:6.3f}" for value in np.mean(rows, axis=0)))


def speed():
    """Print seconds of the clock and of the processor, of the second of two fits: the first one compiles."""
    cases = (
        ("23,000 x 50, 2,000 links, sizes .5 to 2 times the mean", 23_000, 50, 20, 2000, True, 4.0),
        ("1,000,000 x 10, 10,000 links", 1_000_000, 10, 20, 10_000, False, 2.0),
    )
    for title, n, d, k, count, bounded, std in cases:
        X, y = datasets.make_blobs(n, d, centers=k, cluster_std=std, random_state=0)
        links = links_of(y, count, np.random.default_rng(0))
        sizes = {"name": "transport", "size_min": n // (2 * k), "size_max": 2 * n // k} if bounded else "auto"
        for starts in (1, 10):
            for _ in range(2):
                clock, used = time.perf_counter(), time.process_time()
                model = recipe("kmeans", n_clusters=k, balancer=sizes, n_init=starts, random_state=0)
                model.fit(X, links=links)
                clock, used = time.perf_counter() - clock, time.process_time() - used
            print(f"{title}, n_init={starts}: {clock:.2f} s, {used:.2f} s of the processor", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["speed"]:
        sys.exit(speed())
    main(sys.argv[1:] or ["kmeans", "spectral", "hdbscan"])
