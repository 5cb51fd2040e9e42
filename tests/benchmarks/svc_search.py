"""The recipe svc with this checkout against another one, set by set: CPU seconds, labels and agreement with classes.

    python tests/benchmarks/svc_search.py ../another-checkout          # the named sets and those of shapes/
    python tests/benchmarks/svc_search.py --generated --shortcuts      # the search with and without its shortcuts

Without limits of time on either side, on one thread, each set in turn with both checkouts. `search` is the tuner alone,
`fit` all of it; rows of class -1 (noise) are left out of the adjusted Rand index. The eight named sets in the plane and
those of the sub-folder ``shapes`` are read from the folder of `CLUSTERKIT_DATA`; ``--generated`` takes 58 sets of up to
500 rows that are made here. The other checkout needs the public names only.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).parents[2]
NAMED = ("aggregation", "compound", "flame", "jain", "pathbased", "r15", "spiral", "d31")
GENERATED_SEEDS, GENERATED_ROWS = (700, 701), (250, 500)


def real_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name to rows and classes, -1 for noise."""
    folder = Path(os.environ["CLUSTERKIT_DATA"])
    files = [folder / f"{name}.csv.gz" for name in NAMED] + sorted((folder / "shapes").glob("*.csv.gz"))
    sets = {}
    for file in files:
        with gzip.open(file, "rt") as stream:
            table = np.array(list(csv.reader(stream))[1:])
        sets[file.name.removesuffix(".csv.gz")] = table[:, :-1].astype(float), table[:, -1].astype(float).astype(int)
    return sets


def generated_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The 29 families of `svc_shapes`, twice."""
    from svc_shapes import suite

    return {name: (X, y) for name, X, y in suite(GENERATED_SEEDS, GENERATED_ROWS)}


def measured(sets: dict[str, tuple[np.ndarray, np.ndarray]], complete: bool, output: Path) -> None:
    """Fit every set with the clusterkit that is imported, and write labels and seconds to `output`."""
    from sklearn.metrics import adjusted_rand_score

    from clusterkit import recipe
    from clusterkit.families.support_vectors import svc_auto

    spent: dict[str, float] = {}
    plain = svc_auto.SvcAuto.tune

    def tune(self, *arguments):
        begin = time.process_time()
        tuned = plain(self, *arguments)
        spent["search"] = time.process_time() - begin
        return tuned

    svc_auto.SvcAuto.tune = tune
    if complete:
        from clusterkit.families.support_vectors import _svc_search

        _svc_search.SHATTERED = 2
        _svc_search._largest_free_weight = lambda *_: None

    def model(limit: float | None):
        parameters = {}
        names = recipe("svc").get_params()
        for key in names:
            if key.endswith("__max_seconds"):
                parameters[key] = limit
            elif key.endswith("__max_work"):
                parameters[key] = None
        if complete and "tuner__exact_rows" in names:
            parameters["tuner__exact_rows"] = 10**6
        return recipe("svc", random_state=0, **parameters)

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    largest = max(len(X) for X, _ in sets.values())
    for n, d in ((300, 2), (300, 3), (600, 2), (1600, 2), (2100, 2)):  # compile
        if n > max(300, 2 * largest):
            break
        model(1e6).fit(np.concatenate([rng.normal(size=(n // 2, d)), rng.normal(size=(n // 2, d)) + 9]))
    arrays: dict[str, np.ndarray] = {}
    print("ready", flush=True)
    for name in map(str.strip, sys.stdin):  # the parent asks for one set after the other, of both sides in turn
        X, y = sets[name]
        begin = time.process_time()
        fitted = model(1e6).fit(X)
        seconds = time.process_time() - begin
        known = y >= 0
        facts = fitted.resolved_["tuner"]
        agreement = adjusted_rand_score(y[known], fitted.labels_[known])
        arrays[f"{name}/labels"] = fitted.labels_
        arrays[f"{name}/numbers"] = np.array(
            [spent["search"], seconds, agreement, facts["runs"], fitted.labels_.max() + 1, facts.get("work", 0)]
        )
        arrays[f"{name}/rule"] = np.array(facts["rule"])
        print(
            f"{name:22s} search {spent['search']:7.2f} fit {seconds:7.2f} ARI {agreement:.3f} "
            f"k {fitted.labels_.max() + 1:3d} runs {facts['runs']:3d} {facts['rule'][:45]} {facts.get('work', '')}",
            flush=True,
        )
        np.savez(output, **arrays)


class Side:
    """A checkout in a process of its own, which fits a set when it is asked for it."""

    def __init__(self, checkout: Path, arguments: list[str], output: Path) -> None:
        path = os.pathsep.join([str(checkout), str(Path(__file__).parent)])
        environment = {**os.environ, "PYTHONPATH": path, "CLUSTERKIT_PLUGINS": "", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--output", str(output), *arguments]
        self.output = output
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True, bufsize=1)
        self.answer()

    def answer(self) -> str:
        """The next line of the process."""
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.output.stem} ended with {self.process.wait()}")
        return line.rstrip()

    def fit(self, name: str) -> None:
        """Fit the set and print the line about it."""
        self.process.stdin.write(f"{name}\n")
        print(f"{self.output.stem:6s} {self.answer()}", flush=True)

    def end(self) -> dict[str, np.ndarray]:
        """All arrays, after the last set."""
        self.process.stdin.close()
        self.process.wait()
        return dict(np.load(self.output))


def compared(other: dict[str, np.ndarray], this: dict[str, np.ndarray]) -> None:
    """Print both sides set by set, and the sums."""
    from sklearn.metrics import adjusted_rand_score

    names = [key.removesuffix("/labels") for key in this if key.endswith("/labels")]
    columns = "search", "search", "ratio", "fit", "fit", "ARI", "ARI"
    print(f"{'set':22s} " + " ".join(f"{column:>7s}" for column in columns) + "  runs and clusters")
    same = 0
    for name in names:
        a, b = other[f"{name}/numbers"], this[f"{name}/numbers"]
        agree = adjusted_rand_score(other[f"{name}/labels"], this[f"{name}/labels"]) == 1.0
        same += agree
        print(
            f"{name:22s} {a[0]:8.2f} {b[0]:8.2f} {a[0] / b[0]:6.1f} {a[1]:8.2f} {b[1]:8.2f}  {a[2]:.3f}  {b[2]:.3f} "
            f"{a[3]:4.0f} {b[3]:4.0f} {a[4]:3.0f} {b[4]:3.0f}{'' if agree else '  other labels'}"
        )
    every = [np.array([side[f"{name}/numbers"] for name in names]) for side in (other, this)]
    ratios = every[0][:, 0] / every[1][:, 0]
    print(
        f"sum: search {every[0][:, 0].sum():.1f} and {every[1][:, 0].sum():.1f} s, fit {every[0][:, 1].sum():.1f} and "
        f"{every[1][:, 1].sum():.1f} s; ratio of the searches: median {np.median(ratios):.1f}; mean ARI "
        f"{every[0][:, 2].mean():.3f} and {every[1][:, 2].mean():.3f}; same labels on {same} of {len(names)}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, nargs="?", help="root of the other checkout")
    parser.add_argument("--generated", action="store_true", help="58 generated sets instead")
    parser.add_argument("--sets", nargs="*", help="only these")
    parser.add_argument("--complete", action="store_true", help="no shortcut in the search of this one")
    parser.add_argument("--shortcuts", action="store_true", help="compare this checkout with its own complete search")
    parser.add_argument("--output", type=Path, help="measure the clusterkit that is imported, and write this file")
    arguments = parser.parse_args()
    if arguments.output is not None:
        sets = generated_sets() if arguments.generated else real_sets()
        wanted = arguments.sets or list(sets)
        measured({name: sets[name] for name in wanted}, arguments.complete, arguments.output)
        return
    from machine import describe

    print(describe())
    passed = ["--generated"] * arguments.generated
    if arguments.sets:
        passed += ["--sets", *arguments.sets]
    sets = generated_sets() if arguments.generated else real_sets()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.shortcuts:
            other = Side(HERE, [*passed, "--complete"], Path(folder) / "other.npz")
        else:
            other = Side(arguments.other.resolve(), passed, Path(folder) / "other.npz")
        this = Side(HERE, passed, Path(folder) / "this.npz")
        for name in arguments.sets or sets:
            other.fit(name)
            this.fit(name)
        compared(other.end(), this.end())


if __name__ == "__main__":
    main()
