"""IterSVM against IterSVR on pairs of handwritten digits, all from the same k-means starts.

Rows are divided by 16, C = 1, the balance l = 0.03 n. Every seed is one k-means++ start (``n_init = 1``, a poorer
start than the recipe's best of 10). Widths are fractions of the largest distance; the last columns are the fixed
width of the recipes, the one of least mean error (which looks at the labels, as the papers' tables do), and iterations
and seconds of a fit at the fixed width.

    uv run python tests/benchmarks/itersvr.py
    uv run python tests/benchmarks/itersvr.py --seeds 20 --n-init 10
    uv run python tests/benchmarks/itersvr.py --solvers   # seconds of an iteration beside scikit-learn's

Needs the data set; `CLUSTERKIT_DATA` names the folder.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from clusterkit_papers import datasets
from machine import describe

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.contracts.seeds import Seeds
from clusterkit.families.means.starts import KMeans
from clusterkit.metrics import clustering_accuracy
from clusterkit.samples import identity_space

PAIRS = ("digits-3-9", "digits-1-7", "digits-8-9")
METHODS = {
    "IterSVM": ("itersvm", "hinge"),
    "IterSVR, Laplacian": ("itersvr", "laplacian"),
    "IterSVR, epsilon": ("itersvr", "epsilon"),
    "IterSVR, square": ("itersvr", "square"),
}


def fit(name: str, loss: str, X: np.ndarray, seed: int, width: float, n_init: int, C: float) -> tuple:
    """A model and its seconds."""
    changes = {} if loss == "hinge" else {"solver__loss": loss, "labeler__loss": loss}
    model = recipe(name, random_state=seed, featuremap__sigma_fraction=width, solver__C=C, **changes)
    model.set_params(init={"name": "kmeans", "n_init": n_init})
    begin = time.perf_counter()
    model.fit(X)
    return model, time.perf_counter() - begin


def start(X: np.ndarray, seed: int, n_init: int) -> np.ndarray:
    """The labels that all methods start from."""
    return KMeans(n_init=n_init).start(identity_space(X), Task(len(X), 2), Seeds.of(seed).stream("init"))


def error(y: np.ndarray, labels: np.ndarray) -> float:
    """Clustering error in per cent."""
    return 100.0 * (1.0 - clustering_accuracy(y, labels))


def table(options: argparse.Namespace) -> None:
    """Mean errors."""
    for pair in PAIRS:
        data = datasets.load(pair)
        X, y = data.data / 16.0, data.target
        starts = [start(X, seed, options.n_init) for seed in range(options.seeds)]
        errors = [error(y, labels) for labels in starts]
        print(f"{pair}, n = {len(y)}: k-means {np.mean(errors):.1f} ({' '.join(f'{e:.1f}' for e in errors)})")
        for title, (name, loss) in METHODS.items():
            errors, iterations, seconds = {}, [], []
            for width in options.widths:
                each = []
                for seed in range(options.seeds):
                    model, spent = fit(name, loss, X, seed, width, options.n_init, options.C)
                    each.append(error(y, model.labels_))
                    if width == 0.3:
                        iterations.append(model.n_iter_)
                        seconds.append(spent)
                errors[width] = each
            means = {width: float(np.mean(each)) for width, each in errors.items()}
            row = ", ".join(f"{width} s0: {mean:.1f}" for width, mean in means.items())
            print(
                f"  {title:20s} {row}; fixed 0.3: {means[0.3]:.1f}; best width: {min(means.values()):.1f}; "
                f"{np.mean(iterations):.1f} iterations, {np.median(seconds):.3f} s"
            )
            print(f"  {'':20s} at 0.3: {' '.join(f'{e:.1f}' for e in errors[0.3])}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--n-init", type=int, default=1, help="k-means starts behind each seed")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--widths", type=float, nargs="+", default=[0.1, 0.3, 0.5], help="0.3 is always among them")
    options = parser.parse_args()
    options.widths = sorted({0.3, *options.widths})
    print(describe())
    try:
        table(options)
    except datasets.DatasetNotFound as missing:
        print(f"skipped: {missing}")


if __name__ == "__main__":
    main()
