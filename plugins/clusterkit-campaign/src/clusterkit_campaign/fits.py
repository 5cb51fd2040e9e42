"""What every fit must hold to, whatever the recipe and the data: shapes, ranges, sizes, determinism, predictions."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Samples
from clusterkit.core.compat import Composition
from clusterkit.core.errors import ClusterkitWarning, InvalidData
from clusterkit.core.spaces import FeatureSpace
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.labelers.codecs.argmax import Argmax
from clusterkit.labelers.codecs.interval import Interval
from clusterkit.labelers.codecs.threshold import Threshold
from clusterkit_campaign.data_sets import AwkwardSet, plain
from clusterkit_campaign.findings import CRASH, SILENT, UNCLEAR, Problem, of_error
from clusterkit_campaign.subjects import Subject

__all__ = ["Answer", "Trial", "check_trial", "fitted"]

RISE = 1e-7
"""How much an objective may rise by rounding, relative to the largest value of its history."""

MEMBERSHIPS = 1e-5
"""How far the memberships of a sample may be from a sum of 1: rounding of float32."""

COMMON_WARNINGS = (ClusterkitWarning,)
"""Warnings that are the library's own words."""


@final
@attrs.frozen(eq=False)
class Trial:
    """One fit to try.

    Parameters
    ----------
    subject : Subject
    data : AwkwardSet
        The container and what is expected.
    values : ndarray or object
        The values before they are put into the container.
    k : int
    seed : int
    turn : int
        Decides which of the costlier checks are made.
    """

    subject: Subject
    data: AwkwardSet
    values: Array
    k: int = 2
    seed: int = 0
    turn: int = 0


@final
@attrs.frozen(eq=False)
class Answer:
    """A fit that was tried.

    Parameters
    ----------
    model : estimator or None
        None if it was refused or failed.
    error : Exception or None
    problems : tuple of Problem
        Unclear warnings.
    """

    model: Pipeline | Driven | None
    error: BaseException | None
    problems: tuple[Problem, ...]


def fitted(subject: Subject, X: Samples, k: int, seed: int) -> Answer:
    """Fit, and note the error and the warnings that are not of this library."""
    model = error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = subject.estimator(k, seed).fit(X)
        except Exception as raised:
            error = raised
    return Answer(model, error, tuple(_unclear_warnings(caught)))


def _unclear_warnings(caught: list[warnings.WarningMessage]) -> Iterator[Problem]:
    for each in caught:
        if not issubclass(each.category, COMMON_WARNINGS):
            text = str(each.message)
            where = each.filename.rpartition("site-packages/")[2].rpartition("clusterkit/")[2]
            yield Problem(UNCLEAR, f"{each.category.__name__} in {where}", text[:400])


def check_trial(trial: Trial, counts: Counter[str] | None = None) -> list[Problem]:
    """Fit, and name every promise that the fit breaks.

    Parameters
    ----------
    trial : Trial
    counts : Counter, optional
        Raised by the fits made ("fits") and those refused ("refused").
    """
    counts = Counter() if counts is None else counts
    unfit = trial.data.expected == "refusal"
    X: Any = trial.values if unfit else trial.data.put(trial.values)
    before = copy.deepcopy(X) if isinstance(X, np.ndarray) else None
    answer = fitted(trial.subject, X, trial.k, trial.seed)
    counts["fits"] += 1
    problems = list(answer.problems)
    if before is not None and not _same_object(before, X):
        problems.append(Problem(SILENT, "the data were changed by the fit"))
    if answer.error is not None:
        counts["refused"] += 1
        problem = of_error(answer.error)
        return problems + ([] if problem is None else [problem])
    if unfit:
        return [*problems, Problem(SILENT, "unfit data were accepted", f"{trial.data.name}: {trial.data.reason}")]
    try:
        problems += _problems_of(trial, answer.model, X, counts)
    except Exception as error:  # of a check: what the fitted model offers raises
        problem = of_error(error, documented=())
        problems.append(problem or Problem(CRASH, "a fitted model fails", repr(error)))
    return problems


def _same_object(before: Array, after: Array) -> bool:
    if before.dtype.names or before.dtype == object:
        return True
    return bool(np.array_equal(before, after, equal_nan=before.dtype.kind in "fc"))


def _problems_of(trial: Trial, model: Any, X: Any, counts: Counter[str]) -> Iterator[Problem]:
    n = len(trial.values)
    labels = model.labels_
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        yield Problem(SILENT, "labels of the wrong shape or type", f"{labels.shape} of {labels.dtype} for {n} rows")
        return
    c = trial.subject.composition(trial.k)
    yield from _range(c, labels)
    yield from _sizes(c, model, labels)
    yield from _reports(c, model, _rounding(trial.values))
    yield from _numbers_of_samples(model, n)
    yield from _predictions(c, model, X, labels)
    if trial.data.has_reference:
        counts["fits"] += 1
        yield from _like_the_plain_array(trial, labels, X)
    if trial.turn % 3 == 0:
        counts["fits"] += 1
        yield from _again(trial, model, X)
    if trial.turn % 3 == 1:
        yield from _pickled(c, model, X, labels)


def _range(c: Composition, labels: Labels) -> Iterator[Problem]:
    """Numbers 0..k-1 where k is given; else noise -1 and numbers without gaps."""
    if c.n_clusters is not None:
        if labels.min() < 0 or labels.max() >= c.n_clusters:
            yield Problem(SILENT, "labels out of range", f"{np.unique(labels)} for {c.n_clusters} clusters")
        return
    numbers = np.unique(labels[labels >= 0])
    if labels.min() < -1 or not np.array_equal(numbers, np.arange(len(numbers))):
        yield Problem(SILENT, "cluster numbers with gaps", f"{np.unique(labels)}")


def _sizes(c: Composition, model: Any, labels: Labels) -> Iterator[Problem]:
    balancer, k = c.balancer, c.n_clusters
    if balancer is None or k is None or k == 1:
        return
    reported = model.resolved_.get("balancer", {})
    decided = {name: value for name, value in reported.items() if name in balancer.parameters()}
    low, high = balancer.with_parameters(**decided).bounds(len(labels), k)
    sizes = np.bincount(labels, minlength=k)
    if (sizes < low).any() or (sizes > high).any():
        yield Problem(SILENT, "cluster sizes out of bounds", f"{sizes}, allowed {low} to {high}")


def _reports(c: Composition, model: Any, rounding: float) -> Iterator[Problem]:
    """Objective, history and the reason why it stopped agree with each other, up to the rounding of the samples."""
    history = np.asarray(model.history_)
    if not isinstance(model.converged_, bool) or not model.stop_reason_:
        yield Problem(SILENT, "no word on how the fit ended", f"{model.converged_!r}, {model.stop_reason_!r}")
    if c.solver.has_objective and model.converged_ and model.n_iter_ and not np.isfinite(model.objective_):
        yield Problem(SILENT, "converged with an objective that is no number", f"{model.objective_}")
    if len(history) and np.isfinite(history).all() and c.solver.has_objective and not np.isfinite(model.objective_):
        yield Problem(SILENT, "a finite history and no objective", f"{history[-1]} against {model.objective_}")
    nearest = isinstance(c.labeler, Argmax | Interval | Threshold)  # as the promise of the solver has it
    if c.solver.monotone and nearest and c.balancer is None and len(history) > 1 and np.isfinite(history).all():
        rise = np.diff(history).max()
        if rise > RISE * np.abs(history).max() + rounding:
            yield Problem(SILENT, "the objective rises", f"by {rise:.3g} in {history}")


def _rounding(X: Array) -> float:
    """What rounding of means does to a sum of squared distances: 8 units in the last place of each value."""
    largest = float(np.abs(X.astype(np.float64)).max(initial=0.0))
    with np.errstate(over="ignore"):
        return float(X.size * np.square(8.0 * np.spacing(largest)))


def _numbers_of_samples(model: Any, n: int) -> Iterator[Problem]:
    """Degrees of membership and outlier scores, where the method has them."""
    memberships = getattr(model, "memberships_", None)
    if memberships is not None and memberships.size:  # none where all is noise
        good = len(memberships) == n and np.isfinite(memberships).all() and memberships.min() >= 0
        shares = getattr(model, "probabilities_", 1.0)  # of the one cluster of a row, where there are such
        if not good or np.abs(memberships.sum(axis=1) - shares).max() > MEMBERSHIPS:
            yield Problem(SILENT, "memberships are no shares of 1", f"sums {memberships.sum(axis=1)}")
    scores = getattr(model, "outlier_scores_", None)
    if scores is not None and (scores.shape != (n,) or not np.isfinite(scores).all()):
        yield Problem(SILENT, "outlier scores are no numbers", f"{scores}")


def _predictions(c: Composition, model: Any, X: Any, labels: Labels) -> Iterator[Problem]:
    if not hasattr(model, "predict"):
        if c.inductive and model.predictor_ is not None:
            yield Problem(SILENT, "an inductive composition does not predict")
        return
    predicted = model.predict(X)
    if predicted.shape != labels.shape or predicted.dtype.kind not in "iu":
        yield Problem(SILENT, "predictions of the wrong shape or type", f"{predicted.shape} of {predicted.dtype}")
        return
    if predicted.min(initial=0) < -1 or predicted.max(initial=0) > max(labels.max(), (c.n_clusters or 0) - 1, 0):
        yield Problem(SILENT, "predictions out of range", f"{np.unique(predicted)}, labels {np.unique(labels)}")
    if model.exact_on_training_ and not np.array_equal(predicted, labels):
        differing = np.flatnonzero(predicted != labels)
        yield Problem(SILENT, "predict differs from labels_ on the training rows", f"rows {differing[:10]}")


def _again(trial: Trial, model: Any, X: Any) -> Iterator[Problem]:
    """Same seed, same answer to the last bit."""
    answer = fitted(trial.subject, X, trial.k, trial.seed)
    again = answer.model
    if again is None:
        yield Problem(SILENT, "the second fit with the same seed fails", repr(answer.error))
    elif not np.array_equal(again.labels_, model.labels_):
        yield Problem(SILENT, "two fits with the same seed differ in labels")
    elif not np.array_equal(again.history_, model.history_, equal_nan=True):
        yield Problem(SILENT, "two fits with the same seed differ in objectives")


def _pickled(c: Composition, model: Any, X: Any, labels: Labels) -> Iterator[Problem]:
    again = pickle.loads(pickle.dumps(model))
    if not np.array_equal(again.labels_, labels):
        yield Problem(SILENT, "labels differ after pickling")
    if hasattr(model, "predict") and not np.array_equal(again.predict(X), model.predict(X)):
        yield Problem(SILENT, "predictions differ after pickling")
    if model.space_ is not None and isinstance(model.space_, FeatureSpace) and model.space_.n != len(labels):
        yield Problem(SILENT, "the space has another number of samples")


def _like_the_plain_array(trial: Trial, labels: Labels, X: Any) -> Iterator[Problem]:
    """The same values in a C-ordered array give the same labels."""
    reference = fitted(trial.subject, plain(X), trial.k, trial.seed)
    if reference.model is None:
        if not isinstance(reference.error, InvalidData):
            yield Problem(SILENT, "a plain array is refused, its container is not", repr(reference.error))
    elif not np.array_equal(reference.model.labels_, labels):
        yield Problem(SILENT, "labels differ from those of a plain array", trial.data.container)
