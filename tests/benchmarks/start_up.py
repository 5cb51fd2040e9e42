"""Import time, time of ``clusterkit --help``, and what compiling costs on the first call and from the cache.

Exits with 1 if importing takes more than 0.1 s or the help more than 0.3 s, by the median of seven runs.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from machine import describe

MOST_IMPORT_S = 0.1
"""Goal for `import clusterkit` inside a process that runs already."""

MOST_HELP_S = 0.3
"""Goal for the whole process ``clusterkit --help``: what feels immediate."""

FIT = """
import time
import numpy as np
from clusterkit import recipe
X = np.random.default_rng(0).normal(size=(300, 2))
recipe("kmeans", n_clusters=2).fit(X)
begin = time.perf_counter(); recipe("svc").fit(X); first = time.perf_counter() - begin
begin = time.perf_counter(); recipe("svc").fit(X); second = time.perf_counter() - begin
print(f"{first:.2f} {second:.2f}")
"""


def timed(command: list[str], runs: int = 7) -> tuple[float, float]:
    """Median and minimum of the wall time of a whole process."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    return statistics.median(times), min(times)


def main() -> int:
    """Print the times; 1 if a goal is missed."""
    print(describe())
    python = [sys.executable, "-c"]
    bare, with_import = timed([*python, "pass"]), timed([*python, "import clusterkit"])
    inside = "import time; b = time.perf_counter(); import clusterkit; print(time.perf_counter() - b)"
    once = [float(subprocess.check_output([*python, inside])) for _ in range(7)]
    import_time = statistics.median(once)
    print(f"import clusterkit: {import_time:.3f} s inside the process (goal: <= {MOST_IMPORT_S} s); ", end="")
    print(f"whole process {with_import[0]:.3f} s against {bare[0]:.3f} s of a bare interpreter")
    help_time = timed([sys.executable, "-m", "clusterkit", "--help"])
    print(f"clusterkit --help: median {help_time[0]:.3f} s, minimum {help_time[1]:.3f} s (goal: <= {MOST_HELP_S} s)")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        for what in ("cold cache", "warm cache"):
            first, second = subprocess.check_output([*python, FIT], env=environment, text=True).split()
            print(f"recipe svc, 300 rows, {what}: first call {first} s, second call {second} s")
    return 1 if import_time > MOST_IMPORT_S or help_time[0] > MOST_HELP_S else 0


if __name__ == "__main__":
    raise SystemExit(main())
