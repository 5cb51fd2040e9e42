"""What half and double of a module constant do: processor time and results of typical fits.

A constant that only costs time, or only guards against a rare case, was set by hand; this command says how much hangs
on its value. Each value runs in a process of its own, because compiled code contains the value; the constant is set
before anything is compiled. The least of some repeats counts, and the results are compared with those of the value in
the source.

    uv run python tests/benchmarks/constants.py                 (all constants)
    uv run python tests/benchmarks/constants.py RENEWAL LEAF
    uv run python tests/benchmarks/constants.py --list
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from machine import describe

FACTORS = (0.5, 1.0, 2.0)
"""Each value relative to the one in the source, which is the middle one."""


def blobs(n: int, d: int, k: int, spread: float = 1.0) -> np.ndarray:
    """k Gaussian clusters in d dimensions, neighbouring ones in touch."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) + spread * rng.normal(size=(k, d))[rng.integers(k, size=n)]


def kernel_kmeans() -> tuple[np.ndarray, str]:
    """Kernel k-means whose iterations follow the rows that move."""
    from clusterkit import recipe

    model = recipe("kernel-kmeans", n_clusters=20, random_state=0, n_init=1, max_iter=400)
    model.fit(blobs(2500, 3, 20, 0.2))
    return model.labels_, f"{model.n_iter_} iterations, objective {model.objective_:.12g}"


def kmeans() -> tuple[np.ndarray, str]:
    """k-means whose iterations follow the rows that move."""
    from clusterkit import recipe

    model = recipe("kmeans", n_clusters=16, random_state=0, n_init=1, max_iter=400).fit(blobs(20_000, 8, 16, 0.5))
    return model.labels_, f"{model.n_iter_} iterations, objective {model.objective_:.12g}"


def ncut() -> tuple[np.ndarray, str]:
    """The leading eigenvectors of a graph of 4,000 rows."""
    from clusterkit import Pipeline

    solver = {"name": "ncut", "n_neighbors": 15}
    model = Pipeline("rbf", solver, n_clusters=6, random_state=0).fit(blobs(4000, 4, 6, 2.0))
    return model.labels_, model.stop_reason_


def hals() -> tuple[np.ndarray, str]:
    """NMF by coordinate descent, long products against few factors."""
    from clusterkit.contracts import Task
    from clusterkit.families.factors.nmf import Nmf
    from clusterkit.samples import build_space
    from clusterkit.samples.transform import IdentityMap

    rng = np.random.default_rng(0)
    X = rng.random((2000, 5)) ** 3 @ rng.random((5, 4000)) ** 3 + 0.05 * rng.random((2000, 4000))
    prepared = Nmf(update="hals", max_iter=30, tol=0).prepare(
        build_space(X, IdentityMap(X.shape[1])), Task(len(X), 5), None
    )
    outcome = prepared.solve(None, None, np.random.default_rng(1))
    return outcome.rows, f"objective {outcome.status.history[-1]:.10g}"


def drift() -> tuple[np.ndarray, str]:
    """Equal clustering of two bananas into 20 parts, from several seeds with restarts."""
    from equal import bananas

    from clusterkit.families.equal.drift import DriftRule, find_parts

    X, rule = bananas(4000), DriftRule(max_iter=3000, restarts=4)
    parts = [find_parts(X, 20, rule, np.random.default_rng(seed), record=True) for seed in range(4)]
    iterations, worst = sum(len(one.sizes) for one in parts), [int(np.ptp(one.sizes[-1])) for one in parts]
    return np.concatenate(
        [one.sizes[-1] for one in parts]
    ), f"{iterations} iterations of the best starts, ranges {worst}"


def transport() -> tuple[np.ndarray, str]:
    """Equal sizes for the distances of 200,000 rows to ten of them."""
    from clusterkit.contracts import CostTable, Task
    from clusterkit.families.shared.transport import Transport
    from clusterkit.fitting.label_iterations import balanced_by

    X = blobs(200_000, 5, 10)
    C = ((X[:, None] - X[None, :10]) ** 2).sum(axis=2)
    assignment = balanced_by(Transport(), CostTable(C), Task(len(X), 10))
    return assignment.labels, f"cost {C[np.arange(len(X)), assignment.labels].sum():.14g}"


@attrs.frozen
class Constant:
    """A constant, the module that holds it, and the fits that show what it does."""

    module: str
    runs: tuple[Callable[[], tuple[np.ndarray, str]], ...]


CONSTANTS = {
    "RENEWAL": Constant("clusterkit.families.means._hamerly", (kernel_kmeans, kmeans)),
    "BASIS": Constant("clusterkit.families.graphs.ncut", (ncut,)),
    "HALS_MAX_PASSES": Constant("clusterkit.families.factors.nmf", (hals,)),
    "CHECK_INTERVAL": Constant("clusterkit.families.equal.drift_jit", (drift,)),
    "RUNAWAY_FACTOR": Constant("clusterkit.families.equal.drift", (drift,)),
    "COLLAPSE_SHARE": Constant("clusterkit.families.equal.drift", (drift,)),
    "SAMPLE_RATIO": Constant("clusterkit.numerics.transport", (transport,)),
}


def measure(name: str, factor: float, repeats: int) -> list[dict[str, Any]]:
    """Set the constant in this process and run its fits."""
    constant = CONSTANTS[name]
    module = importlib.import_module(constant.module)
    before = getattr(module, name)
    setattr(module, name, type(before)(before * factor))
    measured = []
    for run in constant.runs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()  # compile
            seconds = []
            for _ in range(repeats):
                begin = time.process_time()
                values, words = run()
                seconds.append(time.process_time() - begin)
        digest = hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=8).hexdigest()
        measured.append({"value": getattr(module, name), "run": run.__name__, "seconds": min(seconds), "words": words})
        measured[-1]["digest"] = digest
    return measured


def compare(name: str, repeats: int) -> None:
    """Print a line for each value and fit."""
    compiled = CONSTANTS[name].module.endswith("_jit")
    environment = {**os.environ, **({"CLUSTERKIT_JIT_CACHE": "0"} if compiled else {})}
    rows: list[list[dict[str, Any]]] = []
    for factor in FACTORS:
        command = [sys.executable, __file__, name, "--factor", str(factor), "--repeats", str(repeats)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    middle = rows[FACTORS.index(1.0)]
    for measured in rows:
        for row, usual in zip(measured, middle, strict=True):
            same = "same result" if row["digest"] == usual["digest"] else "other result"
            share = row["seconds"] / usual["seconds"]
            print(
                f"{name} = {row['value']:g}: {row['run']} {row['seconds']:.3f} s ({share:.2f}), {same}, {row['words']}"
            )
    sys.stdout.flush()


def main() -> None:
    """Print what half and double of each constant do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*CONSTANTS, []], help="default: all")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--list", action="store_true", help="print the constants and their modules")
    parser.add_argument("--factor", type=float, help="measure one value in this process (used by the command itself)")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name}: {constant.module}" for name, constant in CONSTANTS.items()))
    elif options.factor is not None:
        print(json.dumps(measure(options.names[0], options.factor, options.repeats)))
    else:
        print(describe(), "processor time", sep="; ")
        for name in options.names or CONSTANTS:
            compare(name, options.repeats)


if __name__ == "__main__":
    main()
