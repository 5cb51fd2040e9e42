"""Measured fits: the one place where the tables take times, silence expected warnings and notice an interrupt."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs
import numpy as np

from clusterkit.errors import ClusterkitWarning
from clusterkit_papers.jobs import Values

if TYPE_CHECKING:
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline

__all__ = [
    "DEGREES",
    "TimedFit",
    "averaged",
    "best_by_labels",
    "fit_recipe",
    "judge",
    "judged_fit",
    "mean_accuracy",
    "timed_fit",
    "warm_up",
    "without_warnings",
]

T = TypeVar("T")

DEGREES = (8.0, 12.0, 18.0, 25.0, 35.0, 50.0, 100.0, 150.0)
"""Degrees of freedom that known classes may choose from, in rows that say so; the recipe emmc has 12."""


@attrs.frozen(eq=False)
class TimedFit(Generic[T]):
    """Result of a fit, and the time it took.

    Parameters
    ----------
    fitted : object
        Result of the fit.
    seconds : float
        Wall time.
    cpu_seconds : float
        Processor time of the process, over all its threads.
    """

    fitted: T
    seconds: float
    cpu_seconds: float


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore the warnings of clusterkit.

    Parameter grids of the papers contain empty domains, vanishing features and single clusters on purpose; the row
    of the table shows what came of them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)
        yield


def timed_fit(fit: Callable[[], T]) -> TimedFit[T]:
    """Call `fit` once, without clusterkit's warnings, and measure it.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended the fit. A fit that is interrupted keeps its best labels and returns them, but a table must not
        go on with them.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    with without_warnings():
        fitted = fit()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if _interrupted(fitted):
        raise KeyboardInterrupt
    return TimedFit(fitted, wall, cpu)


def fit_recipe(X: np.ndarray, name: str, seed: int, **parameters: object) -> TimedFit[Pipeline | Driven]:
    """Fit the estimator of a recipe to X of shape (n, d) and measure it; see `timed_fit` for interrupts."""
    from clusterkit import recipe

    model = recipe(name, random_state=seed, **parameters)
    return timed_fit(lambda: model.fit(X))


def judged_fit(
    X: np.ndarray,
    y: np.ndarray,
    name: str,
    seed: int,
    *,
    labels_of: Callable[[Pipeline | Driven], np.ndarray] = lambda model: model.labels_,
    **parameters: object,
) -> Values:
    """Fit a recipe to X with as many clusters as `y` has classes, and compare its labels with them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Known classes: they judge the labels, and the fit does not see them.
    name : str
        The recipe.
    seed : int
    labels_of : callable
        Takes the labels from the fitted estimator; by default its `labels_`.
    **parameters
        Parameters of the recipe.

    Returns
    -------
    dict
        The measures of `judge`, ``seconds``, ``cpu``, ``iterations``, and ``agreement`` (%) where the estimator has it.
    """
    warm_up(name, n_rows=30, n_clusters=2)
    timed = fit_recipe(X, name, seed, n_clusters=len(np.unique(y)), **parameters)
    model = timed.fitted
    values = judge(y, labels_of(model))
    values |= {"seconds": timed.seconds, "cpu": timed.cpu_seconds, "iterations": float(model.n_iter_)}
    if hasattr(model, "agreement_"):
        values["agreement"] = 100.0 * model.agreement_
    return values


def judge(y: np.ndarray, labels: np.ndarray) -> Values:
    """Accuracy and error in percent (the error also as ``mean_error``), and the Rand index."""
    from clusterkit.metrics import clustering_accuracy, rand_index

    accuracy = 100.0 * clustering_accuracy(y, labels)
    error = 100.0 - accuracy
    return {"accuracy": accuracy, "error": error, "mean_error": error, "rand": rand_index(y, labels)}


@cache
def warm_up(name: str, *, n_rows: int = 60, **parameters: object) -> None:
    """Import and compile what a recipe needs, once a process, so that no measured time contains that.

    Parameters
    ----------
    name : str
        The recipe.
    n_rows : int, default 60
        Number of random rows in two columns that are fitted.
    **parameters
        Parameters of the recipe, hashable.
    """
    from clusterkit import recipe

    with without_warnings():  # so few rows and parameters need not give a good fit
        recipe(name, random_state=0, **parameters).fit(np.random.default_rng(0).normal(size=(n_rows, 2)))


def averaged(runs: Iterable[Values]) -> Values:
    """Mean of each measure over runs."""
    runs = list(runs)
    return {measure: statistics.fmean(values[measure] for values in runs) for measure in runs[0]}


def best_by_labels(grid: Sequence[T], run: Callable[[T], Sequence[Values]]) -> tuple[T, Sequence[Values]]:
    """The grid value with the highest mean accuracy, and its runs: a choice only known classes can make."""
    tried = [(value, run(value)) for value in grid]
    return max(tried, key=lambda pair: mean_accuracy(pair[1]))


def mean_accuracy(runs: Iterable[Values]) -> float:
    """Mean accuracy (%) over runs."""
    return statistics.fmean(values["accuracy"] for values in runs)


def _interrupted(fitted: Any) -> bool:
    """Whether Ctrl-C ended what a fit returned: an estimator (with its tuner), a record of the core, or an outcome."""
    status = getattr(fitted, "status", None)
    return bool(
        getattr(fitted, "interrupted_", False)
        or getattr(fitted, "interrupted", False)
        or getattr(status, "interrupted", False)
    )
