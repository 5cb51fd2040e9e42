"""Fits of the same rows in every place and by every way through the loop: recorded before a change, compared after it.

    python tests/benchmarks/same_places.py record before.pkl
    python tests/benchmarks/same_places.py compare before.pkl

`same_results.py` fits small arrays in memory. Here are the other ways: streamed features, rows that an engine reads,
more rows than one group, a simulated device, Dask on threads, sample weights, balancers, several starts, an early end,
Ctrl-C in any iteration. Kept of each fit: labels, predictions, objective, history, number of
iterations, whether it converged, the sentence that says why, what was resolved, memberships, and the texts of the
warnings. Everything is compared bit for bit.
"""

# ruff: noqa: E402
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "2"

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import argparse
import pickle
import tempfile
import time
import warnings
from contextlib import ExitStack, nullcontext
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, make_blobs

ATTRIBUTES = (
    "labels_", "objective_", "history_", "n_iter_", "converged_", "stop_reason_", "interrupted_", "resolved_",
    "exact_on_training_", "memberships_",
)  # fmt: skip


def blobs(n: int, d: int, k: int, seed: int, spread: float = 1.5) -> np.ndarray:
    """Gaussian clusters that overlap, so that the iterations are many."""
    return make_blobs(n, d, centers=k, cluster_std=spread, random_state=seed)[0]


SETS: dict[str, tuple[Any, int]] = {
    "blobs": (lambda: blobs(700, 3, 3, 0, 2.5), 3),
    "pair": (lambda: blobs(500, 2, 2, 4, 2.0), 2),
    "float32": (lambda: blobs(600, 4, 3, 2, 3.0).astype(np.float32), 3),
    "grid": (lambda: np.round(blobs(400, 2, 3, 5, 1.5)), 3),
    "iris": (lambda: load_iris().data, 3),
}

ELM = {"name": "elm", "n_hidden": 40}
STREAMED = {"name": "elm", "n_hidden": 40, "storage": "streamed"}
NMF_MAP = ["minmax"]


def compositions() -> dict[str, dict[str, Any]]:
    """Parameters of pipelines, and k if it is not that of the set."""
    p: dict[str, dict[str, Any]] = {
        "kmeans": {"featuremap": "identity", "solver": "centroids", "labeler": "argmax", "init": "seeds", "n_init": 1},
        "kmeans tol 0": {
            "featuremap": "identity",
            "solver": {"name": "centroids", "tol": 0.0},
            "labeler": "argmax",
            "init": "seeds",
        },
        "kmeans 3 starts": {
            "featuremap": "identity",
            "solver": "centroids",
            "labeler": "argmax",
            "init": "seeds",
            "n_init": 3,
        },
        "kmeans random": {
            "featuremap": "zscore",
            "solver": "centroids",
            "labeler": "argmax",
            "init": "random",
            "n_init": 2,
        },
        "kmeans transport": {
            "featuremap": "identity",
            "solver": "centroids",
            "labeler": "argmax",
            "init": "seeds",
            "balancer": {"name": "transport", "size_min": 0.2},
        },
        "elm kmeans streamed": {"featuremap": STREAMED, "solver": "centroids", "labeler": "argmax", "init": "seeds"},
        "emmc": {"featuremap": ELM, "solver": "ridge", "labeler": "argmax", "init": "kmeans", "n_init": 1},
        "emmc streamed 3 starts": {
            "featuremap": STREAMED,
            "solver": "ridge",
            "labeler": "argmax",
            "init": "random",
            "n_init": 3,
            "balancer": None,
        },
        "emmc ordinal": {
            "featuremap": ELM,
            "solver": "ridge",
            "labeler": "interval",
            "init": "random",
            "n_init": 2,
            "balancer": "ordinal",
        },
        "fuzzy": {"featuremap": "identity", "solver": "fuzzy_cmeans", "labeler": "argmax", "n_init": 2},
        "nmf anls": {
            "featuremap": "minmax",
            "solver": {"name": "nmf", "update": "anls", "max_iter": 30},
            "labeler": "argmax",
            "n_init": 2,
        },
        "nmf": {"featuremap": "minmax", "solver": {"name": "nmf", "max_iter": 30}, "labeler": "argmax"},
        "nmf rows": {"featuremap": "minmax", "solver": {"name": "nmf", "max_iter": 30}, "labeler": "rows_kmeans"},
        "kernel kmeans": {
            "featuremap": "rbf",
            "solver": "centroids",
            "labeler": "argmax",
            "init": "kmeans",
            "n_init": 2,
        },
        "kernel ridge": {"featuremap": "rbf", "solver": "ridge", "labeler": "argmax", "init": "random", "n_init": 3},
        "spectral": {
            "featuremap": "graph",
            "solver": "centroids",
            "labeler": "argmax",
            "init": "kmeans_mapped",
            "n_init": 2,
        },
        "equal": {"featuremap": "identity", "solver": "equal", "labeler": "argmax", "init": "random"},
    }
    two = {
        "svr": {"featuremap": "rbf", "solver": "svr", "labeler": "threshold", "init": "kmeans", "n_init": 1},
        "emmc two": {"featuremap": ELM, "solver": "ridge", "labeler": "threshold", "init": "random", "n_init": 4},
        "itersvm": {"featuremap": "rbf", "solver": "svm", "labeler": "bias_threshold", "init": "random", "n_init": 2},
        "svdd": {"featuremap": "rbf", "solver": "svdd", "labeler": "complete_graph", "n_clusters": None},
    }
    for name, parameters in two.items():
        p[name] = {"k": parameters.pop("n_clusters", 2), **parameters}
    return p


OWN_STATE = frozenset({"fuzzy", "nmf", "svdd", "equal"})
"""First words of compositions whose solver learns from no labels: `max_iter` of the loop has no meaning for them."""

PLACES = ("memory", "group", "rows", "device", "dask")


class _Stop:
    """Ctrl-C in an iteration: raises in the report of that iteration."""

    def __init__(self, stage: tuple[str, ...], iteration: int) -> None:
        self.stage, self.iteration, self.seen = stage, iteration, 0

    def __call__(self, report: Any) -> None:
        if report.stage in self.stage:
            self.seen += 1
            if self.seen == self.iteration:
                raise KeyboardInterrupt


def _samples(X: np.ndarray, place: str, folder: str, stack: ExitStack) -> Any:
    """The samples in a place, with what has to hold while they are fitted."""
    from clusterkit.testing.compare import small_blocks, small_groups

    if place == "memory":
        return X
    stack.enter_context(small_blocks())
    stack.enter_context(small_groups(256))
    if place == "group":
        return X
    if place == "rows":
        import clusterkit

        path = os.path.join(folder, "x.npy")
        np.save(path, X)
        return clusterkit.open(path)
    if place == "device":
        from sklearn import config_context

        from clusterkit.testing.compare import put

        stack.enter_context(config_context(array_api_dispatch=True))
        return put(X)
    import dask
    import dask.array as da

    stack.enter_context(dask.config.set(scheduler="threads", num_workers=2))
    return da.from_array(X, chunks=(150, -1))


def _host(value: Any) -> Any:
    from clusterkit.samples.array_libraries import is_device_array, to_host

    if hasattr(value, "compute"):
        value = value.compute()
    if is_device_array(value):
        value = to_host(value)
    return np.asarray(value) if hasattr(value, "__array__") else value


def _kept(model: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in ATTRIBUTES:
        try:
            value = getattr(model, name)
        except AttributeError:
            continue
        values[name] = _host(value) if name != "resolved_" else repr(value)
    return values


def fit(parameters: dict[str, Any], X: np.ndarray, k: int | None, place: str, **how: Any) -> dict[str, Any]:
    """One fit, by a way: `weights`, `stop` (Ctrl-C in that iteration), `max_iter`."""
    from clusterkit import Pipeline
    from clusterkit.samples.limits import listening

    settings = {key: value for key, value in parameters.items() if key != "k"}
    k = parameters.get("k", k)
    if "max_iter" in how:
        settings["max_iter"] = how["max_iter"]
    model = Pipeline(**settings, n_clusters=k, random_state=5)
    weights = np.random.default_rng(3).integers(0, 4, len(X)).astype(float) if how.get("weights") else None
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        samples = _samples(X, place, folder, stack)
        stop = how.get("stop")
        listen = listening(_Stop(("loop", "fuzzy_cmeans", "nmf", "starts"), stop)) if stop else nullcontext()
        try:
            with listen:
                model.fit(samples, sample_weight=weights)
        except (ValueError, KeyboardInterrupt, MemoryError) as error:
            return {"error": f"{type(error).__name__}: {str(error).replace(folder, '')}"}
        values = _kept(model)
        try:
            values["predicted"] = np.asarray(model.predict(X) if place != "device" else _host(model.predict(samples)))
        except (AttributeError, ValueError) as error:
            values["predicted"] = str(error)
        values["told"] = sorted({str(each.message).replace(folder, "") for each in warned})
        return values


def ways(name: str, title: str) -> dict[str, dict[str, Any]]:
    """The ways a composition is fitted to a set."""
    has_own_state = name.split()[0] in OWN_STATE
    every: dict[str, dict[str, Any]] = {"": {}}
    if not has_own_state:
        every |= {"max_iter 1": {"max_iter": 1}, "max_iter 2": {"max_iter": 2}}
    if title == ("pair" if compositions()[name].get("k") == 2 else "blobs"):
        every |= {f"stop {iteration}": {"stop": iteration} for iteration in ((1, 4) if has_own_state else (1, 2, 3, 6))}
        every["weights"] = {"weights": True}
    return every


def all_fits(places: list[str], only: list[str]) -> dict[str, dict[str, Any]]:
    """Every composition on every set in every place and way."""
    fits: dict[str, dict[str, Any]] = {}
    for name, parameters in compositions().items():
        if only and name not in only:
            continue
        begun, count = time.process_time(), 0
        for title, (rows, k) in SETS.items():
            if parameters.get("k") == 2 and title not in ("pair", "grid"):
                continue
            if name.split()[0] in OWN_STATE and title not in ("blobs", "grid"):
                continue
            X = rows()
            for place in places:
                if place == "dask" and title not in ("blobs", "pair"):
                    continue
                for way, how in ways(name, title).items():
                    if place == "dask" and way not in ("", "max_iter 2", "stop 3"):
                        continue
                    fits[f"{name}/{title}/{place}/{way}"] = fit(parameters, X, k, place, **how)
                    count += 1
        print(f"{name}: {count} fits, {time.process_time() - begun:.1f} CPU-s", flush=True)
    return fits


def same(one: Any, other: Any) -> bool:
    """Equal bit for bit, types too."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return (
            isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype == other.dtype
            and one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )  # fmt: skip
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)
    return type(one) is type(other) and one == other


def compare(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Print what differs; 1 if anything does."""
    worst = 0
    for key in sorted(set(before) & set(after)):
        for what in sorted(set(before[key]) | set(after[key])):
            one, other = (each[key].get(what, "missing") for each in (before, after))
            if not same(one, other):
                worst = 1
                print(f"{key}: {what}: {str(one)[:160]} became {str(other)[:160]}")
    missing = set(before) ^ set(after)
    both, choice = set(before) & set(after), "different" if worst else "the same"
    print(f"{len(both)} fits compared, {len(missing)} only once: {choice}")
    return worst


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("file")
    parser.add_argument("--places", nargs="*", default=list(PLACES))
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    fits = all_fits(arguments.places, arguments.only)
    if arguments.action == "record":
        with open(arguments.file, "wb") as file:
            pickle.dump(fits, file)
        return 0
    with open(arguments.file, "rb") as file:
        before = pickle.load(file)
    if arguments.only or arguments.places != list(PLACES):
        before = {key: value for key, value in before.items() if key in fits}
    return compare(before, fits)


if __name__ == "__main__":
    raise SystemExit(main())
