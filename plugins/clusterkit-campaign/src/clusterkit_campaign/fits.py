"""Fits of a campaign, the conditions on every fit, and the smallest data set that still shows a problem.

A `Subject` is a recipe or a composition, with the parameters that make a costly stage cheap. `check_trial` fits it to a
data set and names every broken promise, whatever the recipe and the data: shapes, ranges, sizes, determinism,
predictions. `smallest` makes the data smaller while the problem stays.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.contracts import Stage
from clusterkit.contracts.arguments import SamplesLike
from clusterkit.contracts.composition import SLOTS, Composition
from clusterkit.contracts.params import is_count
from clusterkit.contracts.providers import Recipe
from clusterkit.contracts.registry import ABSTRACT, registry
from clusterkit.drivers import compose
from clusterkit.drivers.compose import legal_compositions
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.estimators.build import recipe
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.families.shared.codecs import Argmax, Interval, Threshold
from clusterkit.samples import FeatureSpace
from clusterkit.testing import check_clusters
from clusterkit_campaign.data_sets import AwkwardSet, plain
from clusterkit_campaign.findings import CRASH, SILENT, UNCLEAR, Problem, of_error

__all__ = [
    "BUDGET",
    "Answer",
    "Subject",
    "Trial",
    "check_trial",
    "composition_of",
    "compositions_with",
    "fitted",
    "of_composition",
    "of_recipe",
    "program",
    "recipes_with",
    "smallest",
]

STARTS = 3
"""Starts at most: what a start does is the same for the tenth."""


def _read_only(parameters: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType(dict(parameters))


@final
@attrs.frozen
class Subject:
    """A recipe or a composition.

    Parameters
    ----------
    name : str
        Name of the recipe, or the stages joined by ``+``.
    recipe : str or None
    parameters : mapping
        Parameters that differ from the recipe, or from `Pipeline()`.
    clusters : {"given", "two", "found"}
        Value of `Recipe.clusters`.
    """

    name: str
    recipe: str | None
    parameters: Mapping[str, object] = attrs.field(converter=_read_only, hash=False)
    clusters: str = "given"

    def changed(self, **changes: object) -> Subject:
        """A copy with further parameters."""
        return attrs.evolve(self, parameters={**self.parameters, **changes})

    def arguments(self, k: int | None, seed: int) -> dict[str, object]:
        """All parameters of the estimator for k clusters, where the number is not found."""
        most = 2 if self.clusters == "two" or k is None else k
        number = {} if self.clusters == "found" else {"n_clusters": min(2 if k is None else k, most)}
        return {**self.parameters, **number, "random_state": seed}

    def estimator(self, k: int | None = 2, seed: int = 0) -> Pipeline | Driven:
        """A new estimator."""
        arguments = self.arguments(k, seed)
        if self.recipe is not None:
            return recipe(self.recipe, **arguments)
        return Pipeline().set_params(**arguments)

    def program(self, k: int | None = 2, seed: int = 0) -> str:
        """The expression that makes the estimator."""
        words = [f"{name}={value!r}" for name, value in self.arguments(k, seed).items()]
        if self.recipe is not None:
            return f"recipe({', '.join([repr(self.recipe), *words])})"
        return f"Pipeline().set_params({', '.join(words)})"

    @property
    def is_composition(self) -> bool:
        """False for a recipe that chooses among compositions, as `auto` does."""
        estimator = self.estimator()
        return isinstance(estimator, Pipeline) or estimator.base is not None

    def composition(self, k: int | None = 2) -> Composition:
        """The resolved stages of the base pipeline."""
        return composition_of(self.estimator(k))


FINDS_NUMBER = Pipeline(solver="mst", labeler="excess_of_mass")
"""Stands for estimators that choose among compositions: no number of clusters, perhaps noise, no objective."""


def composition_of(estimator: Pipeline | Driven) -> Composition:
    """The resolved stages of a pipeline, or of the base of a driven one."""
    base = estimator if isinstance(estimator, Pipeline) else estimator.base or FINDS_NUMBER
    k = estimator.n_clusters if estimator.n_clusters is not None and base is not FINDS_NUMBER else base.n_clusters
    slots = {slot: getattr(base, slot) for slot in compose.KINDS if slot != "tuner"}
    return compose.compose(slots, int(k) if is_count(k) else None, 1, 100)


@cache
def of_recipe(name: str) -> Subject:
    """A recipe, with few starts and the trial parameters that its driver and its tuner declare."""
    chosen: Recipe = registry.get("recipe", name)
    parameters = dict(chosen.parameters)
    changes: dict[str, object] = dict(registry.get("driver", chosen.driver).trial)
    if isinstance(parameters.get("n_init"), int) and cast("int", parameters["n_init"]) > STARTS:
        changes["n_init"] = STARTS
    for slot, kind in (*SLOTS.items(), ("tuner", "tuner")):
        word = parameters.get(slot)
        if isinstance(word, str) and registry.find(kind, word) is not None:
            stage = cast("type[Stage]", registry.get(kind, word))
            changes |= {f"{slot}__{parameter}": value for parameter, value in stage.trial.items()}
    return Subject(name, name, changes, chosen.clusters)


def of_composition(c: Composition) -> Subject:
    """Stages with their default parameters and trial parameters."""
    slots: dict[str, object] = {}
    for slot in SLOTS:
        stage = getattr(c, slot)
        slots[slot] = None if stage is None else stage.name
        if stage is not None and stage.trial:
            slots[slot] = {"name": stage.name, **stage.trial}
    if slots["init"] is None:
        del slots["init"]
    names = [str(getattr(getattr(c, slot), "name", None)) for slot in SLOTS if slot in slots]
    return Subject("+".join(names), None, slots, "found" if c.n_clusters is None else "given")


def recipes_with(kind: str, name: str) -> list[str]:
    """Names of the recipes that use a stage."""
    found_in = []
    for recipe_name, each in registry.available("recipe").items():
        if kind == "driver" and each.driver == name:
            found_in.append(recipe_name)
            continue
        slots = [slot for slot, slot_kind in (*SLOTS.items(), ("tuner", "tuner")) if slot_kind == kind]
        if any(each.parameters.get(slot) == name for slot in slots):
            found_in.append(recipe_name)
    return found_in


@cache
def _legal() -> tuple[Subject, ...]:
    """All legal compositions, those with two clusters only where three are not possible."""
    most: dict[str, Subject] = {}
    for c in legal_compositions():
        subject = of_composition(c)
        two = c.n_clusters == 2
        if subject.name not in most or not two:
            most[subject.name] = attrs.evolve(subject, clusters="two") if two else subject
    return tuple(most.values())


@cache
def compositions_with(kind: str | None = None, name: str | None = None) -> tuple[Subject, ...]:
    """Legal compositions of registered stages, all or those with a stage."""
    if kind is None:
        return _legal()
    assert kind in ABSTRACT
    slots = [slot for slot, slot_kind in SLOTS.items() if slot_kind == kind]
    return tuple(each for each in _legal() if any(_name(each.parameters.get(slot)) == name for slot in slots))


def _name(value: object) -> object:
    return value.get("name") if isinstance(value, Mapping) else value


RISE = 1e-7
"""How much an objective may rise by rounding, relative to the largest value of its history."""

MEMBERSHIPS = 1e-5
"""Largest difference of a sample's memberships from a sum of 1: rounding of float32."""

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
    round_number : int
        Decides which of the costlier checks are made.
    """

    subject: Subject
    data: AwkwardSet
    values: Array
    k: int = 2
    seed: int = 0
    round_number: int = 0


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


def fitted(subject: Subject, X: SamplesLike, k: int, seed: int) -> Answer:
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
    except Exception as error:  # an error in a check: an output of the fitted model raises
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
    yield from _clusters(model, X)
    if model.n_clusters_ == trial.k == 1:
        counts["fits"] += 1
        yield from _like_two(trial, model, X)
    if trial.data.has_reference:
        counts["fits"] += 1
        yield from _like_the_plain_array(trial, labels, X)
    if trial.round_number % 3 == 0:
        counts["fits"] += 1
        yield from _again(trial, model, X)
    if trial.round_number % 3 == 1:
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
    """Rounding error of means in a sum of squared distances: 8 units in the last place of each value."""
    largest = float(np.abs(X.astype(np.float64)).max(initial=0.0))
    with np.errstate(over="ignore"):
        return float(X.size * np.square(8.0 * np.spacing(largest)))


def _numbers_of_samples(model: Any, n: int) -> Iterator[Problem]:
    """Degrees of membership and outlier scores, where the method has them."""
    memberships = getattr(model, "memberships_", None)
    if memberships is not None and memberships.size:  # none where all is noise
        good = len(memberships) == n and np.isfinite(memberships).all() and memberships.min() >= 0
        shares = getattr(model, "probabilities_", 1.0)  # sums, for a method with probabilities
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


def _clusters(model: Any, X: Any) -> Iterator[Problem]:
    """Labels and tables have the same clusters, those with rows."""
    if model.n_clusters_:
        try:
            check_clusters(model, X)
        except AssertionError as error:
            yield Problem(SILENT, "tables have other clusters than the labels", str(error)[:400])


def _like_two(trial: Trial, model: Any, X: Any) -> Iterator[Problem]:
    """One cluster has every attribute and method that two have."""
    two = fitted(trial.subject, X, 2, trial.seed).model
    if two is not None and isinstance(two, Pipeline):  # drivers may choose other methods
        names = [name for name in dir(type(two)) if not name.startswith("_") and hasattr(two, name)]
        if missing := [name for name in names if not hasattr(model, name)]:
            yield Problem(SILENT, "one cluster lacks what two have", ", ".join(missing))


def _again(trial: Trial, model: Any, X: Any) -> Iterator[Problem]:
    """The same seed gives the same labels to the last bit."""
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
    """The values of X as a C-ordered array give the same labels."""
    reference = fitted(trial.subject, plain(X), trial.k, trial.seed)
    if reference.model is None:
        if not isinstance(reference.error, InvalidData):
            yield Problem(SILENT, "a plain array is refused, its container is not", repr(reference.error))
    elif not np.array_equal(reference.model.labels_, labels):
        yield Problem(SILENT, "labels differ from those of a plain array", trial.data.container)


BUDGET = 60
"""Fits at most to make one data set smaller."""


def smallest(trial: Trial, problem: Problem, budget: int = BUDGET) -> str:
    """A program with the smallest data set that was met on the way down.

    Rows are dropped by halves, quarters and single ones, then columns, then numbers are rounded: whatever still shows a
    problem with the same words is kept.

    Parameters
    ----------
    trial : Trial
    problem : Problem
        Problem that `trial` shows.
    budget : int
        Fits at most.
    """
    if trial.data.expected == "refusal":
        return program(trial)
    spent, progress = 0, True
    while progress and spent < budget:
        progress = False
        for values in _smaller(trial.values):
            if spent >= budget:
                break
            spent += 1
            candidate = attrs.evolve(trial, values=values)
            if _shows(candidate, problem):
                trial, progress = candidate, True
                break
    return program(trial)


def _shows(trial: Trial, problem: Problem) -> bool:
    try:
        problems = check_trial(trial)
    except Exception:
        return False
    return any((each.severity, each.what) == (problem.severity, problem.what) for each in problems)


def _smaller(X: Array) -> Iterator[Array]:
    """Smaller or simpler data sets, the smallest first."""
    n, d = X.shape
    step = n // 2
    while step >= 1:
        for first in range(0, n, step):
            if n - len(X[first : first + step]) >= 1:
                yield np.delete(X, slice(first, first + step), axis=0)
        step //= 2
    if d > 1:
        for column in range(d):
            yield np.delete(X, column, axis=1)
    for digits in (0, 2):
        rounded = np.round(X, digits)
        if not np.array_equal(rounded, X):
            yield rounded


def program(trial: Trial) -> str:
    """A program that makes the fit."""
    lines = ["import numpy as np", "from clusterkit import Pipeline, recipe"]
    if trial.data.expected == "refusal":
        lines.append("from clusterkit_campaign.data_sets import UNFIT")
        lines.append(f"X = UNFIT[{trial.data.name!r}][0](np.random.default_rng(0))")
    else:
        lines.append(f"X = np.array({_listed(trial.values)})")
        if trial.data.container != "array":
            lines.append("from clusterkit_campaign.data_sets import CONTAINERS")
            lines.append(f"X = CONTAINERS[{trial.data.container!r}](X)")
    lines.append(f"model = {trial.subject.program(trial.k, trial.seed)}.fit(X)")
    lines.append("print(model.labels_)")
    return "\n".join(lines)


def _listed(X: Array) -> str:
    """The values to the last bit."""
    return repr(X.tolist())
