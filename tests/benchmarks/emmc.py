"""EMMC against the passes it cannot do without.

``usps``: the whole of EMMC (recipe emmc-multi, L = 1000, 15 iterations) against its feature map, one Gram product and
its k-means start. ``streamed``: EMMC on rows that are mapped anew in every pass, against one Gram product and ten times
adjoint and apply of the same map and blocks; peak memory beyond the input.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from clusterkit_papers import datasets
from machine import describe, peak, reset_peak
from sklearn.cluster import KMeans

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.families.shared.codecs import Argmax, Threshold
from clusterkit.families.shared.elm import Elm
from clusterkit.metrics import clustering_accuracy

ITERATIONS = 15


def usps(repeats: int) -> None:
    """Print the ratio whole / parts for USPS."""
    data = datasets.load("usps")
    X = data.data
    n = len(X)
    whole, parts, iterations, accuracy = [], [], [], []
    for repeat in range(repeats + 1):
        start = time.perf_counter()
        space = Elm(n_hidden=1000).space_of(X, Task(len(X), None), np.random.default_rng(repeat))
        mapped = time.perf_counter()
        space.gram()
        grammed = time.perf_counter()
        KMeans(10, n_init=1, random_state=repeat).fit(X)
        bare = time.perf_counter()
        del space
        model = recipe(
            "emmc-multi",
            n_clusters=10,
            featuremap__n_hidden=1000,
            init__n_init=1,
            max_iter=ITERATIONS,
            random_state=repeat,
        )
        begin = time.perf_counter()
        model.fit(X)
        end = time.perf_counter()
        if repeat == 0:  # first calls load libraries
            continue
        whole.append(end - begin)
        parts.append(bare - start)
        iterations.append(model.n_iter_)
        accuracy.append(clustering_accuracy(data.target, model.labels_))
        print(
            f"  run {repeat}: map {mapped - start:.2f}, Gram {grammed - mapped:.2f}, k-means {bare - grammed:.2f}, "
            f"EMMC {end - begin:.2f} s ({model.n_iter_} iterations, accuracy {100 * accuracy[-1]:.1f} %); "
            f"ratio {whole[-1] / parts[-1]:.2f}"
        )
    space = Elm(n_hidden=1000).space_of(X, Task(len(X), None), np.random.default_rng(0))
    coded = Argmax().encode(np.random.default_rng(0).integers(10, size=n), 10)
    B = np.random.default_rng(0).normal(size=(1000, 10))
    passes = _median_time(lambda: (space.adjoint(coded), space.apply(B)), 9)
    print(f"  adjoint + apply (two passes over H): {1000 * passes:.0f} ms")
    ratio = statistics.median(w / p for w, p in zip(whole, parts, strict=True))
    print(f"USPS {X.shape}, L = 1000: whole / (map + Gram + k-means), median of {repeats}: {ratio:.2f} (goal: <= 2)")


def streamed(rows: int, repeats: int) -> None:
    """Print time and memory of streamed EMMC for a given number of rows."""
    rng = np.random.default_rng(0)
    X = np.empty((rows, 20), dtype=np.float32)
    truth = rng.integers(2, size=rows).astype(np.int8)
    for first in range(0, rows, 100_000):
        part = slice(first, first + 100_000)
        X[part] = rng.normal(size=(len(truth[part]), 20)) + 0.4 * truth[part, None]
    elm = Elm(n_hidden=300, storage="streamed")
    codec = Threshold()
    for _ in range(repeats):
        space = elm.space_of(X, Task(len(X), None), np.random.default_rng(0))
        coded = codec.encode(rng.integers(2, size=rows), 2)
        B = rng.normal(size=(300, 1))
        begin = time.perf_counter()
        space.gram()
        for _ in range(10):
            space.adjoint(coded)
            space.apply(B)
        bare = time.perf_counter() - begin
        del coded, space
        model = recipe(
            "emmc",
            n_clusters=2,
            featuremap={"name": "elm", "n_hidden": 300, "storage": "streamed"},
            init="random",
            max_iter=10,
            random_state=0,
        )
        before = reset_peak()
        begin = time.perf_counter()
        model.fit(X)
        whole = time.perf_counter() - begin
        beyond = (peak() - before) / 1e9
        print(
            f"streamed {X.shape} float32, L = 300: bare passes {bare:.1f} s, EMMC {whole:.1f} s "
            f"({model.n_iter_} iterations, {model.stop_reason_}), ratio {whole / bare:.2f} "
            f"(goal: <= 1.5); peak {beyond:.2f} GB beyond the input (goal: < 1.5); "
            f"accuracy {100 * clustering_accuracy(truth, model.labels_):.1f} %"
        )


def _median_time(call, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("usps", "streamed"))
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--repeats", type=int, default=None)
    options = parser.parse_args()
    print(describe())
    if options.what == "usps":
        usps(options.repeats or 5)
    else:
        streamed(options.rows, options.repeats or 1)


if __name__ == "__main__":
    main()
