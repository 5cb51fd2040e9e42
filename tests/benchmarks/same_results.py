"""Labels, objectives and predictions of every recipe on fixed data: recorded before a change, compared after it.

    python tests/benchmarks/same_results.py record before.npz
    python tests/benchmarks/same_results.py compare before.npz

Two threads, and no limits of time: what is compared depends on the code alone. Prints one line for each fit that
differs, with the largest difference of each kind, and exits with 1 if labels differ anywhere.
"""

# ruff: noqa: E402 (the libraries read the number of threads when they are imported)
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "2"

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets

FEW_ROWS = {"mmc": 24, "gmmc-sdp": 24}
"""Rows for semidefinite programs, whose cost grows with a high power of them."""

Fit = dict[str, np.ndarray]


def blobs(n: int, d: int, k: int, seed: int, spread: float = 1.0) -> np.ndarray:
    """Gaussian clusters, shape (n, d)."""
    return datasets.make_blobs(n, d, centers=k, cluster_std=spread, random_state=seed)[0]


def rings() -> np.ndarray:
    """Two rings, one in the other."""
    return datasets.make_circles(160, factor=0.4, noise=0.04, random_state=0)[0]


def digits(*which: int) -> np.ndarray:
    """The first scans of some digits."""
    X, y = datasets.load_digits(return_X_y=True)
    return X[np.isin(y, which)][:180]


def doubled() -> np.ndarray:
    """Rows on a grid, many of them several times."""
    return np.round(blobs(150, 2, 3, 5, 1.5))


SETS: dict[str, tuple[Callable[[], np.ndarray], int]] = {
    "blobs": (lambda: blobs(150, 2, 3, 0), 3),
    "near blobs": (lambda: blobs(200, 5, 4, 1, 3.0), 4),
    "blobs of float32": (lambda: blobs(150, 3, 2, 2, 2.0).astype(np.float32), 2),
    "one blob": (lambda: blobs(120, 2, 1, 3), 2),
    "doubled rows": (doubled, 3),
    "moons": (lambda: datasets.make_moons(160, noise=0.06, random_state=0)[0], 2),
    "rings": (rings, 2),
    "iris": (lambda: datasets.load_iris().data, 3),
    "wine": (lambda: datasets.load_wine().data, 3),
    "breast cancer": (lambda: datasets.load_breast_cancer().data[:250], 2),
    "digits 3 and 9": (lambda: digits(3, 9), 2),
    "digits 1 to 4": (lambda: digits(1, 2, 3, 4), 4),
}
"""Name to the function that makes the rows, and the number of clusters asked for."""


def fitted(name: str, X: np.ndarray, k: int) -> Fit:
    """What a recipe gives on some rows; the type of its error where it refuses them."""
    from clusterkit import recipe, recipes

    parameters: dict[str, Any] = {"random_state": 7}
    wanted = {"two": 2, "given": k}.get(recipes()[name].clusters)
    if wanted is not None:
        parameters["n_clusters"] = wanted
    try:
        model = recipe(name, **parameters).fit(X)
    except ValueError as error:
        return {"error": np.array(type(error).__name__)}
    fit = {
        "labels": model.labels_,
        "objective": np.array(model.objective_, dtype=np.float64),
        "history": np.asarray(getattr(model, "history_", ()), dtype=np.float64),
        "iterations": np.array(getattr(model, "n_iter_", 0)),
    }
    try:
        predict = model.predict
    except AttributeError:
        return fit
    rng = np.random.default_rng(11)
    between = (X[rng.permutation(len(X))] + X) / 2
    fit["predicted"] = predict(np.concatenate([X, between.astype(X.dtype)]))
    return fit


def all_fits(only: list[str]) -> dict[str, np.ndarray]:
    """Every recipe on every set, as arrays named ``recipe/set/what``."""
    from clusterkit import recipes

    arrays: dict[str, np.ndarray] = {}
    for name in only or sorted(recipes()):
        begin = time.perf_counter()
        refused = 0
        for title, (rows, k) in SETS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = fitted(name, rows()[: FEW_ROWS.get(name)], k)
            refused += "error" in fit
            arrays.update({f"{name}/{title}/{what}": value for what, value in fit.items()})
        print(f"{name}: {len(SETS) - refused} fits, {time.perf_counter() - begin:.1f} s", flush=True)
    return arrays


def difference(before: np.ndarray, after: np.ndarray) -> str | None:
    """How two arrays differ, None if they are equal bit for bit."""
    if before.shape != after.shape:
        return f"shape {before.shape} became {after.shape}"
    if before.dtype.kind in "US":
        return None if str(before) == str(after) else f"{before} became {after}"
    if np.array_equal(before, after, equal_nan=before.dtype.kind == "f"):
        return None
    if before.dtype.kind == "f":
        scale = np.maximum(np.abs(before), np.finfo(np.float64).tiny)
        return f"relative difference {np.nanmax(np.abs(after - before) / scale):.2g}"
    return f"{np.count_nonzero(before != after)} of {before.size} differ"


def compare(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> int:
    """Print what differs; 1 if labels or predictions do, or a fit is missing."""
    worst = 0
    for key in sorted(set(before) | set(after)):
        if key not in before or key not in after:
            text: str | None = "only before" if key in before else "only after"
        else:
            text = difference(before[key], after[key])
        if text is not None:
            print(f"{key}: {text}")
            harmless = key.endswith(("/objective", "/history")) and text.startswith("relative")
            worst = max(worst, 0 if harmless else 1)
    fits = len({key.rpartition("/")[0] for key in after})
    print(f"{fits} fits compared: " + ("labels differ" if worst else "the same labels and predictions"))
    return worst


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("file", help="an .npz file")
    parser.add_argument("--recipes", nargs="*", default=[], help="only these")
    arguments = parser.parse_args()
    after = all_fits(arguments.recipes)
    if arguments.action == "record":
        np.savez_compressed(arguments.file, **after)
        return 0
    with np.load(arguments.file) as stored:
        chosen = [key for key in stored.files if not arguments.recipes or key.split("/")[0] in arguments.recipes]
        before = {key: stored[key] for key in chosen}
    return compare(before, after)


if __name__ == "__main__":
    raise SystemExit(main())
