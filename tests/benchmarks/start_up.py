"""Import time, time of ``clusterkit --help``, and what compiling costs on the first call and from the cache.

``start_up.py compile [ROW ...]`` lists instead the processor seconds of compilation, function by function, of fits
of 300 rows, each with an empty cache: its own seconds, those with what it calls, and how often it is compiled. Exits
with 1 if importing takes more than 0.1 s or the help more than 0.3 s, by the median of seven runs.
"""

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

ROWS = {
    "kmeans": "recipe('kmeans', n_clusters=2).set_params(random_state=0)",
    "hdbscan": "recipe('hdbscan')",
    "svc": "recipe('svc')",
    "mixture": "recipe('mixture', n_clusters=2).set_params(random_state=0)",
    "embeddings": "recipe('embeddings').set_params(random_state=0)",
    "Auto": "Auto(random_state=0)",
}
"""The fits whose compilation is listed."""

COMPILE = """
import hashlib, sys, time
import numpy as np
from numba.core import event
from clusterkit import Auto, recipe

class Seconds(event.Listener):
    def __init__(self):
        self.open, self.functions = [], {}

    def on_start(self, event):
        self.open.append([time.process_time(), 0.0])

    def on_end(self, event):
        begin, inside = self.open.pop()
        total = time.process_time() - begin
        if self.open:
            self.open[-1][1] += total
        function = event.data["dispatcher"].py_func
        row = self.functions.setdefault(f"{function.__module__}.{function.__name__}", [0.0, 0.0, 0])
        for place, amount in enumerate((total - inside, total, 1)):
            row[place] += amount

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(150, 2)), 0.5 * rng.normal(size=(150, 2)) + [4, 3]])
if "embeddings" in sys.argv[1]:
    centres = rng.normal(size=(5, 384))
    X = centres[rng.integers(5, size=300)] + 0.8 * rng.normal(size=(300, 384))
recipe("kmeans", n_clusters=2).fit(X)  # imports are no part of it
seconds = Seconds()
event.register("numba:compile", seconds)
times = []
for _ in range(2):
    begin = time.process_time()
    labels = eval(sys.argv[1]).fit(X).labels_.astype(np.int64)
    times.append(time.process_time() - begin)
rows = seconds.functions
print(f"{times[0]:.2f} s cold, {times[1]:.2f} s warm, {sum(row[2] for row in rows.values())} compilations", end=" of ")
print(f"{len(rows)} functions, {sum(row[0] for row in rows.values()):.1f} s, labels", end=" ")
print(hashlib.sha1(labels.tobytes()).hexdigest()[:10])
for name, (inner, total, count) in sorted(rows.items(), key=lambda item: -item[1][0]):
    print(f"{inner:8.2f} {total:6.2f} {count:4d}  {name}")
"""


def compiled(names: list[str]) -> None:
    """Print what each row compiles, in processes of one thread."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1"}
            command = [sys.executable, "-c", COMPILE, ROWS[name]]
            print(f"{name}:", subprocess.check_output(command, env=environment, text=True), flush=True)


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
    if sys.argv[1:2] == ["compile"]:
        compiled(sys.argv[2:] or list(ROWS))
        return 0
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
