"""Seconds of fits with this checkout against another one, in turn: whether a change costs speed.

    python tests/benchmarks/paired.py ../another-checkout --rounds 5
    python tests/benchmarks/paired.py ../another-checkout --only blocks USPS

Each round runs every case once with each checkout, in a process of its own: one fit to warm up, then the least CPU time
of three, and the least time of the wall. Printed are the medians over the rounds and the median of the ratios round by
round; a ratio near 1 within the spread of the rounds is no difference. The other checkout needs the public names only.
`--only` takes cases by words of their names; USPS needs `CLUSTERKIT_DATA`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[2]

CHILD = """
import json, os, sys, time, warnings
import numpy as np
from sklearn.datasets import make_blobs
import clusterkit
from clusterkit import Pipeline, recipe
try:
    from clusterkit_papers import datasets
except ImportError:  # an older checkout has them in the library
    from clusterkit import datasets
warnings.simplefilter("ignore")

def blobs(n, d, k):
    return make_blobs(n, d, centers=k, cluster_std=2.0, random_state=0)[0]

def svdd(gamma, nu):
    return Pipeline({"name": "rbf", "gamma": gamma}, {"name": "svdd", "nu": nu}, "complete_graph", random_state=0)

def by_blocks(n):
    # clusters that overlap, so that the iterations are many: 11 with 100,000 rows, 30 with 200,000
    name, streamed = "emmc-multi", {"name": "elm", "n_hidden": 300, "storage": "streamed"}
    settings = {"balancer": None, "init": "random", "max_iter": 30, "random_state": 0, "featuremap": streamed}
    X, _ = make_blobs(n_samples=n, n_features=50, centers=5, cluster_std=10, random_state=0)
    return recipe(name, n_clusters=5, **settings), X.astype(np.float32)

CASES = {
    "svdd, 3,000 x 10": lambda: (svdd(0.05, 0.3), blobs(3000, 10, 5)),
    "complete graph, 6,000 x 2": lambda: (svdd(0.5, 0.02), blobs(6000, 2, 8)),
    "emmc, 5,000 x 20, k = 4": lambda: (recipe("emmc", n_clusters=4, random_state=0), blobs(5000, 20, 4)),
    "nmf, 3,000 x 200, k = 6": lambda: (
        recipe("nmf", n_clusters=6, random_state=0), np.abs(blobs(3000, 200, 6))),
    "transport, 8,000 x 5, k = 10": lambda: (
        recipe("kmeans", n_clusters=10, n_init=1, balancer="transport", random_state=0), blobs(8000, 5, 10)),
    "equal, 8,000 x 16, k = 20": lambda: (
        recipe("equal-clustering", n_clusters=20, random_state=0), blobs(8000, 16, 20)),
    "emmc by blocks, 100,000 x 50": lambda: by_blocks(100_000),
    "emmc by blocks, 200,000 x 50": lambda: by_blocks(200_000),
}
if "CLUSTERKIT_DATA" in os.environ:
    # a random start, which every checkout draws alike: k-means, the default, sees scaled attributes now,
    # ends elsewhere after other numbers of iterations, and is two thirds of the time
    CASES["emmc of USPS, k = 10"] = lambda: (
        recipe("emmc-multi", n_clusters=10, init="random", max_iter=15, random_state=0), datasets.load("usps").data)
wanted = sys.argv[1:]
cases = {}
for name, case in CASES.items():
    if wanted and not any(word in name for word in wanted):
        continue
    model, X = case()
    labels = model.fit(X).labels_.tolist()
    seconds = []
    for _ in range(3):
        begin, work = time.perf_counter(), time.process_time()
        model.fit(X)
        seconds.append((time.process_time() - work, time.perf_counter() - begin))
    cases[name] = [*(min(of_a_clock) for of_a_clock in zip(*seconds)), hash(tuple(labels))]
print(json.dumps([cases, clusterkit.__file__]))
"""


def measured(checkout: Path, only: list[str]) -> dict[str, list[float]]:
    """Seconds of each case, of the processor and of the wall, and a number that stands for its labels."""
    plugins = [str(path) for path in checkout.glob("plugins/*/src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout), *plugins]), "CLUSTERKIT_PLUGINS": ""}
    command = [sys.executable, "-c", CHILD, *only]
    # the child looks in its working directory first, which must not be the root of the checkout that this file is in
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, cwd=checkout)
    cases, imported = json.loads(done.stdout.splitlines()[-1])
    if not Path(imported).is_relative_to(checkout):
        raise SystemExit(f"{imported} was measured instead of {checkout}")
    return cases


def main() -> None:
    """Print the table."""
    from machine import describe

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="root of the other checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    print(describe())
    other = arguments.other.resolve()
    rounds = [(measured(other, arguments.only), measured(HERE, arguments.only)) for _ in range(arguments.rounds)]
    print(f"{'case':35s} {'other s':>9s} {'this s':>9s} {'ratio':>7s}  {'ratios':20s} labels")
    for name in rounds[0][0]:
        same = len({side[name][2] for pair in rounds for side in pair}) == 1
        for clock, words in enumerate(("", ", wall")):
            theirs, ours = ([pair[side][name][clock] for pair in rounds] for side in (0, 1))
            ratios = [b / a for a, b in zip(theirs, ours, strict=True)]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            middle = [statistics.median(values) for values in (theirs, ours, ratios)]
            print(
                f"{name + words:35s} {middle[0]:9.3f} {middle[1]:9.3f} {middle[2]:7.2f}  {spread:20s} "
                f"{'equal' if same else 'DIFFERENT'}"
            )


if __name__ == "__main__":
    main()
