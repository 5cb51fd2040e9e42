"""The engine of Dask: the gain of two processes, the cost of the scheduler, the client's memory, dask-ml beside it.

    python tests/benchmarks/dask_engine.py processes           # two processes against one, 2,000,000 x 50, L = 500
    python tests/benchmarks/dask_engine.py overhead            # the scheduler's share at units of 64 MiB
    python tests/benchmarks/dask_engine.py growth              # memory of the client at 10,000,000 rows
    python tests/benchmarks/dask_engine.py model               # cost of a unit and of a byte, error at ten times
    python tests/benchmarks/dask_engine.py peer --peer PYTHON  # k-means, 5,000,000 x 20, k = 20, against dask-ml

Everything runs in processes of one thread, BLAS included; the numbers of rows are made smaller by ``--rows``. Seconds
of the wall need an idle machine. Beside them stand processor seconds, of the client with the scheduler in it and of the
workers, whose ratios a busy machine changes little. dask-ml needs versions of its own: PYTHON is the interpreter of an
environment that has it, and data and results pass by files.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import numpy as np

PEER = """
import json, sys, time
import dask, dask.array as da, numpy as np
from dask.distributed import Client, LocalCluster
from dask_ml.cluster import KMeans

if __name__ == "__main__":
    path, k, chunk, tol = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        whole = np.load(path, mmap_mode="r")
        X = da.from_array(whole, chunks=(chunk, whole.shape[1])).persist()
        dask.compute(X.sum())
        spent = lambda: time.process_time() + sum(client.run(time.process_time).values())
        begin, before = time.perf_counter(), spent()
        model = KMeans(n_clusters=k, random_state=0, tol=tol).fit(X)
        seconds, processor = time.perf_counter() - begin, spent() - before
        centres = np.asarray(model.cluster_centers_)
    answer = {"seconds": seconds, "processor": processor, "iterations": int(model.n_iter_), "centres": centres.tolist()}
    json.dump(answer, sys.stdout)
"""
"""The side of dask-ml: it gets the data by a file, and gives seconds, of the wall and of processors, and centres."""


@contextmanager
def workers(count: int) -> Iterator[Any]:
    """A cluster of processes of one thread on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def noise(block_info: Any = None) -> np.ndarray:
    """A chunk of three overlapping clouds, from the number of its first row."""
    [(start, stop), (_, d)] = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    return rng.standard_normal((stop - start, d), dtype=np.float32) + rng.integers(
        0, 3, (stop - start, 1), dtype=np.int32
    )


def made(rows: int, d: int, chunk: int = 2**18) -> Any:
    """Rows that the workers make and keep."""
    import dask.array as da
    from distributed import wait

    sizes = [chunk] * (rows // chunk) + [rows % chunk] * (rows % chunk > 0)
    X = da.map_blocks(noise, chunks=(tuple(sizes), (d,)), dtype=np.float32, meta=np.empty((0, d), np.float32)).persist()
    wait(X)
    return X


def timed(work: Callable[[], object]) -> float:
    """Seconds of a call, of the wall: several processes work on it."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


@attrs.frozen
class Cost:
    """What a call took: seconds of the wall, and processor seconds of the client and of each worker."""

    wall: float
    client: float
    workers: list[float]

    @classmethod
    def of(cls, client: Any, work: Callable[[], object]) -> Cost:
        """The cost of a call."""
        before, here, begin = client.run(time.process_time), time.process_time(), time.perf_counter()
        work()
        wall, here = time.perf_counter() - begin, time.process_time() - here
        return cls(wall, here, [spent - before[name] for name, spent in client.run(time.process_time).items()])

    @property
    def longest(self) -> float:
        """Processor seconds one after the other, if the client never works while a worker does."""
        return self.client + max(self.workers)

    def __str__(self) -> str:
        workers = " and ".join(f"{seconds:.1f}" for seconds in self.workers)
        return f"{self.wall:.1f} s ({self.client:.1f} s of processor in the client, {workers} in workers)"


def emmc(features: int, iterations: int) -> Any:
    """EMMC without a balancer from a random start, of a fixed number of iterations."""
    from clusterkit import recipe

    settings = {"balancer": None, "init": "random", "max_iter": iterations, "featuremap__n_hidden": features}
    return recipe("emmc-multi", n_clusters=5, random_state=0, **settings)


def processes(rows: int) -> None:
    """Two processes against one; the goal is 1.6."""
    costs = {}
    for count in (1, 2):
        with workers(count) as client:
            X = made(rows, 50)
            emmc(500, 1).fit(X)  # compiles, and imports on the workers
            costs[count] = Cost.of(client, lambda X=X: emmc(500, 5).fit(X))
            print(f"EMMC, {rows:,} x 50, L = 500, 5 iterations, {count} processes: {costs[count]}", flush=True)
    one, two = costs[1], costs[2]
    print(f"two against one: {one.wall / two.wall:.2f} times by the wall, {one.longest / two.longest:.2f} times by "
          f"processor time (goal 1.6)")  # fmt: skip


def overhead(rows: int) -> None:
    """The time of a pass less the time that the workers spend in its tasks; the goal is 5 %."""
    from clusterkit_dask.engine import DaskEngine

    d = 64  # a group of 2^18 rows has 64 MiB
    with workers(2) as client:
        X = made(rows, d)
        engine = DaskEngine()
        whole = engine.rows(X)
        part = Work(500)
        engine.reduce(part, whole, 500)
        client.get_task_stream()
        seconds, stream = [], []
        for _ in range(5):
            begin = time.time()
            seconds.append(timed(lambda: engine.reduce(part, whole, 500)))
            stream.append(client.get_task_stream(start=begin))
        shares = []
        for wall, tasks in zip(seconds, stream, strict=True):
            busy: dict[str, float] = {}
            for task in tasks:
                for span in task["startstops"]:
                    if span["action"] == "compute":
                        busy[task["worker"]] = busy.get(task["worker"], 0.0) + span["stop"] - span["start"]
            shares.append(1 - max(busy.values()) / wall)
        print(f"a pass over {rows:,} x {d}, units of 64 MiB: {np.median(seconds):.2f} s, of which "
              f"{100 * np.median(shares):.1f} % are not computing on the busier worker (goal 5 %)")  # fmt: skip


class Work:
    """The work of an iteration on a block: a map of so many features and their products with targets."""

    def __init__(self, features: int) -> None:
        self.features = features

    def __call__(self, rows: slice, X: np.ndarray) -> Any:
        """Sums of a block."""
        from clusterkit.samples.sums import Sums

        nodes = np.random.default_rng(0).standard_normal((X.shape[1], self.features), dtype=np.float32)
        H = np.tanh(X @ nodes)
        return Sums.of(H.T @ H[:, :5])


def growth(rows: int) -> None:
    """What the client holds more after a fit and at its peak; the goal is 200 MiB."""
    from machine import peak, reset_peak

    with workers(2):
        X = made(rows, 10)
        emmc(50, 1).fit(X)
        before = reset_peak()
        model = emmc(50, 10).fit(X)
        grown = (peak() - before) / 2**20
        print(f"EMMC, {rows:,} x 10, {model.n_iter_} iterations: the client grew by {grown:.0f} MiB (goal 200)")


def model(rows: int) -> None:
    """Cost of a unit and of a byte at several sizes and widths, and how well they foretell ten times the rows."""
    from clusterkit_dask.engine import DaskEngine

    def of_a_pass(client: Any, n: int, d: int) -> tuple[float, float]:
        whole = DaskEngine().rows(made(n, d))
        DaskEngine().reduce(Work(100), whole, 100)
        passes = [Cost.of(client, lambda: DaskEngine().reduce(Work(100), whole, 100)) for _ in range(5)]
        spent = [cost.client + sum(cost.workers) for cost in passes]
        return float(np.median([cost.wall for cost in passes])), float(np.median(spent))

    with workers(2) as client:
        # two widths: with one alone, bytes would be a multiple of units
        sizes = [(n, d) for n in (rows // 4, rows // 2, rows) for d in (50, 100)]
        seconds = np.array([of_a_pass(client, n, d) for n, d in sizes])
        tenfold = of_a_pass(client, 10 * rows, 50)
    for what, measured, ten in zip(("wall", "processors"), seconds.T, tenfold, strict=True):
        foretell(what, sizes, measured, (10 * rows, 50), ten)


def foretell(
    what: str, sizes: list[tuple[int, int]], seconds: np.ndarray, larger: tuple[int, int], there: float
) -> None:
    """Print what a pass costs by the sizes measured, and how far the larger one is from it."""
    from scipy.optimize import nnls

    def costs(n: int, d: int) -> list[float]:
        return [1.0, n / 2**18, n * d * 4.0]  # from 32 columns on, a unit is one group

    A = np.array([costs(n, d) for n, d in sizes])
    scale = A.max(axis=0)
    weights = nnls(A / scale / seconds[:, None], np.ones(len(sizes)))[0] / scale  # of least relative error
    foretold, billion = float(weights @ costs(*larger)), float(weights @ costs(10**9, 100))
    fixed, unit, byte = weights
    print(f"a pass on two processes, {what}: {fixed:.3f} s + {1e3 * unit:.2f} ms a unit + {1e9 * byte:.3f} s a GB")
    print(f"{larger[0]:,} x {larger[1]}: foretold {foretold:.2f} s, measured {there:.2f} s, "
          f"error {foretold / there - 1:+.0%}; 1,000,000,000 x 100: {billion:,.0f} s a pass")  # fmt: skip


def peer(rows: int, python: str) -> None:
    """k-means of clusterkit and of dask-ml on the same file, two processes each; the goal is twice as fast."""
    import dask.array as da
    from distributed import wait

    from clusterkit import recipe

    k, d, chunk = 20, 20, 2**18
    centres = np.random.default_rng(1).normal(size=(k, d)).astype(np.float32) * 2

    def inertia(X: np.ndarray, means: np.ndarray) -> float:
        total = 0.0
        for start in range(0, len(X), chunk):
            block = X[start : start + chunk].astype(np.float64)
            squares = (block**2).sum(1)[:, None] - 2 * block @ means.T + (means**2).sum(1)
            total += float(squares.min(axis=1).sum())
        return total

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, d))
        rng = np.random.default_rng(0)
        for start in range(0, rows, chunk):
            size = min(chunk, rows - start)
            X[start : start + size] = (
                rng.standard_normal((size, d), dtype=np.float32) + centres[rng.integers(0, k, size)]
            )
        X.flush()
        with workers(2) as client:
            lazy = da.from_array(np.load(path, mmap_mode="r"), chunks=(chunk, d)).persist()
            wait(lazy)
            settings = {"n_clusters": k, "n_init": 1, "random_state": 0}
            recipe("kmeans", **settings, max_iter=1).fit(lazy)
            ours = recipe("kmeans", **settings)
            cost = Cost.of(client, lambda: ours.fit(lazy))
        script = Path(folder) / "peer.py"
        script.write_text(PEER)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [python, str(script), str(path), str(k), str(chunk), "1e-4"],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        theirs = json.loads(done.stdout.splitlines()[-1])
        means = np.asarray(ours.cluster_centers_, dtype=np.float64)
        values = inertia(X, means), inertia(X, np.asarray(theirs["centres"]))
    processor = cost.client + sum(cost.workers)
    print(f"k-means, {rows:,} x {d}, k = {k}: clusterkit {cost}, {ours.n_iter_} iterations, inertia {values[0]:.6g}")
    print(f"dask-ml {theirs['seconds']:.1f} s ({theirs['processor']:.1f} s of processor), {theirs['iterations']} "
          f"iterations, inertia {values[1]:.6g}")  # fmt: skip
    print(f"{theirs['seconds'] / cost.wall:.2f} times by the wall, {theirs['processor'] / processor:.2f} times by "
          f"processor time (goal 2)")  # fmt: skip


ROWS = {"processes": 2_000_000, "overhead": 4 * 2**20, "growth": 10_000_000, "model": 2**20, "peer": 5_000_000}
"""Rows of each part."""


def main() -> None:
    """Run one part."""
    from machine import describe

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=ROWS)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--peer", default=sys.executable, help="interpreter of an environment with dask-ml")
    arguments = parser.parse_args()
    print(describe())
    rows = arguments.rows or ROWS[arguments.part]
    parts: dict[str, Callable[[], None]] = {
        "processes": lambda: processes(rows),
        "overhead": lambda: overhead(rows),
        "growth": lambda: growth(rows),
        "model": lambda: model(rows),
        "peer": lambda: peer(rows, arguments.peer),
    }
    parts[arguments.part]()


if __name__ == "__main__":
    main()
