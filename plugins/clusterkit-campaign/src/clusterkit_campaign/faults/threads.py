"""Threads: every recipe gives the same labels with one thread and with several."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from clusterkit._typing import Rng
from clusterkit.core.registry import registry
from clusterkit_campaign.faults.children import GUARD

__all__ = ["SETS", "THREADS", "labels_of_recipes"]

SETS = ("blobs", "many duplicates", "integer grid", "just above a block")
"""Awkward sets: one without ties, two with many, and one of more rows than a thread takes at a time."""

COUNTS = (1, 2, 5)
"""Threads: one, as many as small machines have, and more than there are."""

PROGRAM = """
import sys
from clusterkit_campaign.faults.threads import labels_of_recipes
labels_of_recipes(sys.argv[1:])
"""


def labels_of_recipes(names: list[str]) -> None:
    """Print the labels of recipes on the sets of `SETS` as lines of JSON: name, set, labels or the error's class."""
    import warnings

    from clusterkit_campaign.data_sets import awkward_sets
    from clusterkit_campaign.fits import of_recipe

    warnings.simplefilter("ignore")
    for name in names:
        for item in SETS:
            data = awkward_sets()[item]
            try:
                labels = of_recipe(name).estimator(2, 0).fit(data.put(data.drawn(0))).labels_.tolist()
            except Exception as error:
                labels = type(error).__name__
            print(json.dumps([name, item, labels]), flush=True)


def threads(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """All recipes on each set, in processes that have different numbers of threads."""
    names = sorted(registry.available("recipe"))
    expected: dict[tuple[str, str], object] = {}
    for n_threads in COUNTS:
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(n_threads))
        path = os.pathsep.join(path for path in sys.path if path)
        environment = {**os.environ, **limits, "NUMBA_NUM_THREADS": str(n_threads), "PYTHONPATH": path}
        try:
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, *names],
                env=environment, capture_output=True, text=True, timeout=4 * GUARD, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            yield f"{n_threads} threads: no answer in {4 * GUARD:.0f} s"
            continue
        if done.returncode:
            yield f"{n_threads} threads: exit status {done.returncode}: {done.stderr[-500:]}"
        for line in done.stdout.splitlines():
            name, item, labels = json.loads(line)
            if expected.setdefault((name, item), labels) != labels:
                yield f"{name} on {item}: {n_threads} threads give other labels than {COUNTS[0]}"


THREADS = {"threads": threads}
"""The faults of this file: generators of problems."""
