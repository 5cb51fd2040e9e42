"""Ways to start a process: fork, spawn, forkserver and loky fit like the process that started them."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from clusterkit._typing import Rng
from clusterkit_campaign.data_sets import blobs
from clusterkit_campaign.faults.children import GUARD
from clusterkit_campaign.fits import of_recipe

__all__ = ["STARTS", "labels_of"]

RECIPES = ("kmeans", "emmc", "svc", "nmf")
"""Recipes with threads of the linear algebra, compiled loops, and threads over rows."""


def labels_of(name: str) -> list[int]:
    """Labels of a recipe on fixed samples."""
    X = np.abs(blobs(np.random.default_rng(0), n=120, d=4))
    labels: list[int] = of_recipe(name).estimator(2, 0).fit(X).labels_.tolist()
    return labels


def processes(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """Every way of multiprocessing to start a process, after fits in this one."""
    expected = {name: labels_of(name) for name in RECIPES}
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(2) as pool:
            try:
                answers = pool.map_async(labels_of, RECIPES).get(timeout=GUARD)
            except multiprocessing.TimeoutError:
                yield f"{method}: it hangs"
                continue
        for name, labels in zip(RECIPES, answers, strict=True):
            if labels != expected[name]:
                yield f"{method}: {name} has other labels"


def loky(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """joblib's processes and threads."""
    from joblib import Parallel, delayed

    expected = [labels_of(name) for name in RECIPES]
    for backend in ("loky", "threading"):
        answers = Parallel(n_jobs=2, backend=backend)(delayed(labels_of)(name) for name in RECIPES)
        if answers != expected:
            yield f"joblib with {backend}: other labels"


STARTS = {"fork, spawn, forkserver": processes, "joblib": loky}
"""The faults of this file: generators of problems."""
