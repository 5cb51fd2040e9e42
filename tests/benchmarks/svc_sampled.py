"""Support vector clustering of more rows than are fitted: the sample against all rows, and its cost in kernel sums.

`shapes`: moons, rings, bars, spirals and blobs in the plane. The sampled fit (`tuner__max_rows` rows) comes first; then
all rows are fitted at its width and nu, with no limit of work. Printed are the adjusted Rand index between the labels
of the two, the same with the generated classes for both, the share outside, the stability, and processor times.
`--share` takes nu as given instead of the tuner's; `--hard` takes C = 1, where rows outside join until the gap is below
tol. `--budget` is the tuner's `max_work`: with less than the default fewer rows are too many, but its search of the
width ends early too.

`passes`: the time from the chosen parameters to all labels, in units of one pass of the kernel sums over all rows. With
`--file FOLDER` the rows are written there and read out of core by `clusterkit.open`.

    uv run python tests/benchmarks/svc_sampled.py shapes --n 200000
    uv run python tests/benchmarks/svc_sampled.py passes --n 10000000 --d 10
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import attrs
import numpy as np
from machine import describe
from sklearn.datasets import make_blobs, make_circles, make_moons

import clusterkit
from clusterkit import ClusterkitWarning, recipe
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.on_sample import fit_on_sample
from clusterkit.fitting.samples import EngineSamples, engine_for
from clusterkit.metrics import adjusted_rand


def bars(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three parallel bars."""
    y = rng.integers(3, size=n)
    return np.column_stack([rng.uniform(0, 4, n), y + rng.normal(0, 0.08, n)]), y


def spirals(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two spirals of one and a half turns, uniform along their length."""
    y, t = rng.integers(2, size=n), np.sqrt(rng.uniform(0.05, 1.0, n)) * 3 * np.pi
    angle = t + np.pi * y
    return np.column_stack([t * np.cos(angle), t * np.sin(angle)]) + rng.normal(0, 0.25, (n, 2)), y


def shapes(n: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The five sets."""
    rng = np.random.default_rng(0)
    return {
        "moons": make_moons(n, noise=0.06, random_state=0),
        "rings": make_circles(n, factor=0.4, noise=0.05, random_state=0),
        "bars": bars(n, rng),
        "spirals": spirals(n, rng),
        "blobs": make_blobs(n, 2, centers=5, cluster_std=0.6, random_state=4),
    }


def on_shapes(options: argparse.Namespace) -> None:
    """The sampled fit against the fit of all rows."""
    for name, (X, y) in shapes(options.n).items():
        if options.only and name not in options.only:
            continue
        parameters = {"solver__C": 1.0} if options.hard else {"solver__nu": options.share} if options.share else {}
        begin = time.process_time()
        sampled = recipe("svc", random_state=0, tuner__max_rows=options.rows, tuner__max_work=options.budget)
        sampled.set_params(**parameters).fit(X)
        seconds = time.process_time() - begin
        facts = sampled.resolved_["tuner"]
        if "fitted_rows" not in facts:
            print(f"{name}: all {len(X)} rows were fitted; lower --budget", flush=True)
            continue
        decided = sampled.resolved_
        nu = {} if parameters else {"solver__nu": decided["solver"]["nu"]}
        begin = time.process_time()
        least = decided["labeler"].get("min_cluster_size")
        full = recipe(
            "svc", tuner=None, random_state=0, featuremap__gamma=decided["featuremap"]["gamma"],
            labeler__min_cluster_size=least, labeler__max_work=None, **nu,
        )  # fmt: skip
        full.set_params(**parameters).fit(X)
        agreement = adjusted_rand(full.labels_, sampled.labels_)
        print(
            f"{name}: {len(X)} rows, {facts['fitted_rows']} fitted; agreement {agreement:.4f}; "
            f"classes {adjusted_rand(y, sampled.labels_):.4f} sampled, {adjusted_rand(y, full.labels_):.4f} all; "
            f"clusters {len(np.unique(sampled.labels_))} and {len(np.unique(full.labels_))}; "
            f"outside {facts['share_outside']:.4f}, stability {facts['stability']:.4f}; "
            f"processor time {seconds:.1f} s and {time.process_time() - begin:.1f} s",
            flush=True,
        )  # fmt: skip


def on_passes(options: argparse.Namespace) -> None:
    """The cost of the level and the labels of all rows, in passes."""
    X = make_blobs(options.n, options.d, centers=8, random_state=0)[0].astype(np.float32)
    if options.file is not None:
        path = Path(options.file) / "rows.npy"
        np.save(path, X)
    index = np.sort(np.random.default_rng(1).choice(options.n, options.rows, replace=False))
    tuned = recipe("svc", random_state=0).fit(X[index])
    gamma = tuned.resolved_["featuremap"]["gamma"]
    bound = {"solver__C": 1.0} if options.hard else {"solver__nu": tuned.resolved_["solver"]["nu"]}
    composition = recipe(
        "svc", tuner=None, featuremap__gamma=gamma, labeler__min_cluster_size=options.n // 1000, **bound
    ).composition()  # fmt: skip
    begin, work = time.perf_counter(), time.process_time()
    if options.file is None:
        model = fit_on_sample(attrs.evolve(composition, rows=index), X, Seeds(0))
    else:
        rows = clusterkit.open(path)
        model = fit_on_sample(composition, index, EngineSamples(rows, engine_for(rows)), Seeds(0))
    wall, work = time.perf_counter() - begin, time.process_time() - work
    facts, domain = model.resolved["tuner"], model.outcome
    begin, one = time.perf_counter(), time.process_time()
    for start in range(0, options.n, 2**18):
        domain.value(X[start : start + 2**18])
    one_wall, one = time.perf_counter() - begin, time.process_time() - one
    counted = f"{len(domain.weights)} support vectors of {facts['fitted_rows']} rows"
    print(f"{options.n} x {options.d}, {counted}: {dict(facts)}")
    print(
        f"fit and labels {wall:.2f} s, {work:.2f} s of processor time; one pass of the kernel sums {one_wall:.2f} s, "
        f"{one:.2f} s; ratio {wall / one_wall:.2f}, {work / one:.2f}"
    )


def main() -> None:
    """Print agreement and costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases = {"shapes": on_shapes, "passes": on_passes}
    parser.add_argument("case", choices=list(cases))
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=10)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--budget", type=int, default=10_000_000_000)
    parser.add_argument("--share", type=float, default=None)
    parser.add_argument("--hard", action="store_true")
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--file", default=None)
    options = parser.parse_args()
    print(describe())
    warnings.simplefilter("ignore", ClusterkitWarning)
    cases[options.case](options)


if __name__ == "__main__":
    main()
