"""One thread against all, by the size of the feature matrix: the source of `THIN` in `clusterkit.numerics.threads`."""

from __future__ import annotations

import statistics
import time

import numpy as np
from machine import describe
from threadpoolctl import threadpool_limits

from clusterkit import recipe
from clusterkit.numerics import threads


def main() -> None:
    """Print median times of EMMC fits of L = n nodes (1,000 at most)."""
    print(describe())
    threads.THIN = 0  # let the limit below decide
    rng = np.random.default_rng(0)
    for n in (200, 360, 1000, 2000, 4000, 8000, 16000, 32000):
        X = rng.normal(size=(n, 30)) + 1.5 * rng.integers(2, size=n)[:, None]
        model = recipe("emmc", n_clusters=2, init="random", random_state=0)
        row = {}
        for limit in (1, None):
            times = []
            with threadpool_limits(limit):
                model.fit(X)
                for _ in range(5):
                    begin = time.perf_counter()
                    model.fit(X)
                    times.append(time.perf_counter() - begin)
            row[limit] = 1000 * statistics.median(times)
        print(f"n = {n}, {n * min(n, 1000):,} elements: one thread {row[1]:.0f} ms, all {row[None]:.0f} ms")


if __name__ == "__main__":
    main()
