"""Fits of a recipe to labelled data, measured."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np

from clusterkit.core.errors import ClusterkitWarning
from clusterkit_papers.jobs import Values

T = TypeVar("T")

__all__ = ["DEGREES", "averaged", "best_by_labels", "fit", "judge"]

DEGREES = (8.0, 12.0, 18.0, 25.0, 35.0, 50.0, 100.0, 150.0)
"""Degrees of freedom that labels may choose from, where a row says so."""


def judge(y: np.ndarray, labels: np.ndarray) -> Values:
    """Accuracy and error in percent, and the Rand index."""
    from clusterkit.metrics import clustering_accuracy, rand_index

    accuracy = 100.0 * clustering_accuracy(y, labels)
    error = 100.0 - accuracy
    return {"accuracy": accuracy, "error": error, "mean_error": error, "rand": rand_index(y, labels)}


def fit(
    X: np.ndarray,
    y: np.ndarray,
    name: str,
    seed: int,
    *,
    reading: Callable[[Any], np.ndarray] = lambda model: model.labels_,
    **parameters: Any,
) -> Values:
    """Fit a recipe to X; `y` only judges the labels that `reading` takes from the fitted estimator.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended the fit: a fit keeps its best labels and returns, but a table must not go on with them.
    """
    from clusterkit import recipe

    _warm(name)
    model = recipe(name, n_clusters=len(np.unique(y)), random_state=seed, **parameters)
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        # features that vanish are what the paper's nodes do in high dimension; the row shows the outcome
        warnings.simplefilter("ignore", ClusterkitWarning)
        model.fit(X)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if model.interrupted_:
        raise KeyboardInterrupt
    values = judge(y, reading(model))
    values |= {"seconds": wall, "cpu": cpu, "iterations": float(model.n_iter_)}
    if hasattr(model, "agreement_"):
        values["agreement"] = 100.0 * model.agreement_
    return values


@cache
def _warm(name: str) -> None:
    """Import and compile what the recipe needs, so that the first time measured is none of that."""
    from clusterkit import recipe

    recipe(name, n_clusters=2, random_state=0).fit(np.random.default_rng(0).normal(size=(30, 2)))


def averaged(each: Iterable[Values]) -> Values:
    """Mean of each measure."""
    each = list(each)
    return {measure: statistics.fmean(values[measure] for values in each) for measure in each[0]}


def best_by_labels(grid: Sequence[T], run: Callable[[T], Sequence[Values]]) -> tuple[T, Sequence[Values]]:
    """The grid value with the highest mean accuracy, and its runs: a choice only known classes can make."""
    tried = [(value, run(value)) for value in grid]
    return max(tried, key=lambda pair: statistics.fmean(values["accuracy"] for values in pair[1]))
