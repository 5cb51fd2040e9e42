"""Clusters of embeddings beside EVoC, UMAP with HDBSCAN, k-means and fast_hdbscan, both sides in one run.

    python tests/benchmarks/embeddings.py accuracy [--seeds 10] [--sets digits,usps] [--sides clusterkit,evoc]
    python tests/benchmarks/embeddings.py speed [--rows 20000,100000] [--sides clusterkit,evoc]
    python tests/benchmarks/embeddings.py laws       # order of the rows, rotation, seeds, held-out rows, background
    python tests/benchmarks/embeddings.py threads    # seconds of a clock with one thread and with two
    python tests/benchmarks/embeddings.py compile    # seconds of a first fit with an empty cache of compiled code
    python tests/benchmarks/embeddings.py page       # the tables of docs/how-to/cluster-embeddings.md

With ``--record docs/results/embeddings.json`` the figures are added to a record, from which `page` writes. All but
`threads` run with ``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1``: threads that wait count as
processor time. Peers are measured where they are installed. Of each fit the processor seconds are printed, after a
first one on other rows has compiled; the adjusted Rand index of the rows that have a class, the share of them that is
in a cluster, and the number of clusters. k-means is told the number, the others find it. `digits`, `semeion`,
`satimage` and the generated sets chose constants; `usps`, `tdt2` and `letter` are only judged. They need
`CLUSTERKIT_DATA`.
"""

import argparse
import datetime
import gc
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from clusterkit_papers import datasets
from machine import describe, peak, reset_peak
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from clusterkit import recipe

SETS = ("digits", "semeion", "satimage", "usps", "tdt2", "letter")
GENERATED = ("10", "40", "200", "10+", "40+", "200+")
"""Numbers of classes of generated sets; with + a tenth of the rows is background."""


SLOW = ("umap+hdbscan", "fast_hdbscan")
"""Sides of which one seed is measured: a fit takes up to a minute."""

TODAY = datetime.datetime.now(tz=datetime.UTC).date()
PAGE = Path(__file__).parents[2] / "docs/how-to/cluster-embeddings.md"
MARK = "<!-- What follows is written by tests/benchmarks/embeddings.py page. -->"


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
    gc.collect()  # models of before
    reset_peak()
    began = time.process_time()
    labels = np.asarray(side(X, seed, int(y.max()) + 1))
    seconds = time.process_time() - began
    return (
        adjusted_rand_score(y[inside], labels[inside]), (labels[inside] >= 0).mean(), labels.max() + 1, seconds, peak()
    )  # fmt: skip


def noted(options, what, key, side, values):
    """Print figures, and add them to the record."""
    words = ", ".join(f"{name} {value}" for name, value in values.items())
    print(f"{what} {key} {side}: {words}", flush=True)
    if options.record:
        record = json.loads(options.record.read_text(encoding="utf-8")) if options.record.exists() else {}
        record.setdefault(what, {}).setdefault(key, {})[side] = {**values, "machine": describe(), "date": str(TODAY)}
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def accuracy(options):
    for name in options.sets.split(","):
        X, y = data(name)
        print(f"\n{name}: {X.shape[0]} x {X.shape[1]}, {y.max() + 1} classes", flush=True)
        for side, function in sides(options.sides).items():
            function(X[: min(len(X), 1500)], 0, 5)  # compiles
            count = 1 if name not in SETS or side in SLOW else options.seeds
            rounds = np.array([fitted(function, X, y, seed) for seed in range(count)])
            mean, least = rounds.mean(axis=0), rounds.min(axis=0)
            noted(options, "accuracy", name, side, {
                "index": round(mean[0], 3), "least": round(least[0], 3), "seeds": count, "covered": round(mean[1], 3),
                "clusters": f"{rounds[:, 2].min():.0f}-{rounds[:, 2].max():.0f}", "seconds": round(mean[3], 2),
                "MB": round(mean[4] / 2**20),
            })  # fmt: skip


def speed(options):
    for rows in map(int, options.rows.split(",")):
        X, y = data("usps") if rows == 0 else generated(rows, 40)
        chosen = sides(options.sides)
        for side in chosen:
            chosen[side](X[: min(rows, 8000) or 1500], 0, 5)  # compiles what few rows and many need
        rounds = {side: [] for side in chosen}
        for seed in range(3 if rows <= 20000 else 1):  # in turns, as other programs run too
            for side in chosen:
                rounds[side].append(fitted(chosen[side], X, y, seed))
        for side in chosen:
            index, covered, k, seconds, memory = min(rounds[side], key=lambda one: one[3])
            noted(options, "speed", str(rows), side, {
                "seconds": round(seconds, 2), "MB": round(memory / 2**20), "data_MB": round(X.nbytes / 2**20),
                "index": round(index, 3), "covered": round(covered, 3), "clusters": int(k),
            })  # fmt: skip


def laws(options):
    def fit(X, seed=0):
        return recipe("embeddings", random_state=seed).fit(X)

    chosen = options.sets.split(",")
    if "usps" in chosen:
        X, y = data("usps")
        rng = np.random.default_rng(0)
        base, order = fit(X), rng.permutation(len(X))
        moved = adjusted_rand_score(base.labels_[order], fit(X[order]).labels_)
        Q = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0].astype(np.float32)
        rotated = adjusted_rand_score(base.labels_, fit(X @ Q).labels_)
        others = [adjusted_rand_score(base.labels_, fit(X, seed).labels_) for seed in range(1, 6)]
        test, train = order[: len(X) // 5], order[len(X) // 5 :]
        parts = [recipe("embeddings", random_state=seed).fit(X[train]) for seed in range(3)]
        noted(options, "laws", "usps", "clusterkit", {
            "permuted": round(moved, 3), "rotated": round(rotated, 3), "other seeds": round(float(np.mean(others)), 3),
            "least of other seeds": round(min(others), 3),
            "index of 80 %": round(np.mean([adjusted_rand_score(y[train], part.labels_) for part in parts]), 3),
            "index of held-out rows": round(
                np.mean([adjusted_rand_score(y[test], part.predict(X[test])) for part in parts]), 3
            ),
            "fitted rows predicted alike": round(float((base.predict(X) == base.labels_).mean()), 4),
        })  # fmt: skip
    for k in (k for k in (10, 40, 200) if f"{k}+" in chosen):
        X, y = generated(20000, k, 0.1)
        model = fit(X)
        noted(options, "laws", f"{k} classes with background", "clusterkit", {
            "AUC of background": round(roc_auc_score(y < 0, model.outlier_scores_), 3),
            "clusters": model.n_clusters_, "recall": model.resolved_["featuremap"].get("recall", 1.0),
        })  # fmt: skip


def threads(options):
    code = (
        "import sys, time; sys.path.insert(0, {folder!r}); import embeddings; from clusterkit import recipe; "
        "X, _ = embeddings.data('usps') if {rows} == 0 else embeddings.generated({rows}, 40); "
        "recipe('embeddings', random_state=0).fit(X[:1500]); "
        "began = time.perf_counter(); recipe('embeddings', random_state=0).fit(X); print(time.perf_counter() - began)"
    )
    for rows in map(int, options.rows.split(",")):
        script = code.format(folder=os.path.dirname(os.path.abspath(__file__)), rows=rows)
        least = {}
        for _ in range(3):  # in turns; the least of each, as other programs run too
            for count in ("1", "2"):
                variables = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), count)
                answer = subprocess.run(
                    [sys.executable, "-c", script], env={**os.environ, **variables}, capture_output=True, text=True,
                    check=True,
                )  # fmt: skip
                least[count] = min(least.get(count, np.inf), float(answer.stdout))
        noted(options, "threads", str(rows), "clusterkit", {
            "one": round(least["1"], 2), "two": round(least["2"], 2), "faster": round(least["1"] / least["2"], 2)
        })  # fmt: skip


def compile_seconds(options):
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
            noted(options, "compile", what, "clusterkit", {"seconds": float(answer.stdout)})


def table(head, rows):
    """A table in Markdown; numbers to the right."""
    return "\n".join([f"| {' | '.join(head)} |", "|---|---|" + "--:|" * (len(head) - 2), *rows])


def size_of(rows):
    """The number of rows, or USPS."""
    return f"{int(rows):,}" if int(rows) else "USPS"


def page(options):
    """Write the tables below the mark of the page."""
    record = json.loads(options.record.read_text(encoding="utf-8"))
    rows = []
    for name in (name for name in (*SETS, *GENERATED) if name in record["accuracy"]):
        for side, one in record["accuracy"][name].items():
            least = f" ({one['least']:.2f})" if one["seeds"] > 1 else ""
            rows.append(
                f"| {name} | {side} | {one['index']:.2f}{least} | {one['covered']:.0%} | {one['clusters']} | "
                f"{one['seconds']} | {one['MB']} |"
            )
    head = ("set", "method", "adjusted Rand index (least)", "covered", "clusters", "s", "MB")
    parts = [
        MARK, "", "### Accuracy", "",
        "The mean over ten seeds, the least in brackets; of Letter, of UMAP with HDBSCAN, of fast_hdbscan and of "
        "generated sets one seed.", "",
        table(head, rows), "", "### Speed", "",
        "Generated rows of 768 numbers in 40 classes, and USPS. Up to 20,000 rows the least seconds of three seeds, "
        "clusterkit and EVoC in turns; of the others one seed. "
        "Megabytes are the peak with the interpreter and the data.", "",
    ]  # fmt: skip
    rows = [
        f"| {size_of(size)} | {side} | {one['seconds']} | {one['MB']} | {one['data_MB']} | {one['index']:.3f} | "
        f"{'–' if one['covered'] is None else format(one['covered'], '.0%')} |"
        for size in sorted(record["speed"], key=int) for side, one in record["speed"][size].items()
    ]  # fmt: skip
    parts += [table(("rows", "method", "s", "MB", "MB of data", "index", "covered"), rows), ""]
    parts += ["### Order, rotation, seeds, compilation", ""]
    for what in ("laws", "threads", "compile"):
        for key, of_sides in record.get(what, {}).items():
            values = {name: value for name, value in of_sides["clusterkit"].items() if name not in ("machine", "date")}
            name = f"{what}, usps" if (what, key) == ("threads", "0") else f"{what}, {key}"
            parts.append(f"- {name}: {', '.join(f'{word} {value}' for word, value in values.items())}.")
    machines = {one["machine"] for whole in record.values() for of in whole.values() for one in of.values()}
    parts += ["", *(f"{machine}." for machine in sorted(machines)), ""]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(MARK)] + "\n".join(parts), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = {
        "accuracy": accuracy, "speed": speed, "laws": laws, "threads": threads, "compile": compile_seconds, "page": page
    }  # fmt: skip
    parser.add_argument("what", choices=tuple(known))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", default=",".join((*SETS, *GENERATED)))
    parser.add_argument("--sides", default="")
    parser.add_argument("--rows", default="20000", help="numbers of rows; 0 is usps")
    parser.add_argument("--record", type=Path, help="file for the figures, as JSON")
    options = parser.parse_args()
    options.sides = [name for name in options.sides.split(",") if name]
    warnings.simplefilter("ignore")
    print(describe())
    known[options.what](options)


if __name__ == "__main__":
    main()
