"""A fit that goes on with batches of samples: `partial_fit`.

The first batch is fitted in full. What the solver adds up of a batch is kept as sums over all batches, so that a model
is small, whatever the number of samples; the labels of earlier batches are not revised.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import Codec, Task
from clusterkit.contracts.checks import NamingStage
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.iteration import Ended
from clusterkit.contracts.outcomes import Ending, Scores
from clusterkit.contracts.pass_solver import Finished, Learner, PartOfLabels, RowFunction, Summing, adder_of
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import IncompatibleStages, InvalidData
from clusterkit.fitting.fit import bind, check_magnitude, result_of, run
from clusterkit.fitting.label_iterations import BalancedLabeling, label_and_balance
from clusterkit.samples import FeatureSpace, build_space
from clusterkit.samples.coding import Coded
from clusterkit.samples.sums import Addable

__all__ = ["Learned", "begin", "learn_batch", "why_not_by_batches"]


@final
@attrs.frozen(eq=False)
class Learned:
    """State of a fit in batches, after some of them.

    Parameters
    ----------
    space : FeatureSpace
        Maps rows; it holds none.
    learner : Learner
    total : Addable
        Sums of all batches, with the labels that they had when they came.
    function : RowFunction
        Features to scores.
    batches : int
    history : tuple of float
        Objective after each batch.
    """

    space: FeatureSpace
    learner: Learner
    total: Addable
    function: RowFunction
    batches: int
    history: tuple[float, ...]


def why_not_by_batches(c: Composition) -> str | None:
    """Why a composition cannot go on with further samples; None if it can."""
    if c.path is None or c.path.learner is None:
        return f"solver '{c.solver.name}' needs all samples at once here; 'centroids' and 'ridge' on features do not"
    if not (isinstance(c.labeler, Codec) and c.labeler.rowwise):
        return f"labeler '{c.labeler.name}' needs the scores of all samples at once"
    if not c.featuremap.exact_on_training:
        return f"featuremap '{c.featuremap.name}' gives further samples other features than it gives the first ones"
    return None


def begin(c: Composition, X: Array, seeds: Seeds) -> tuple[Learned, FitResult]:
    """Fit the first batch.

    Raises
    ------
    IncompatibleStages
        If the composition cannot go on.
    """
    reason = why_not_by_batches(c)
    if reason is not None:
        raise IncompatibleStages(f"no partial_fit here: {reason}")
    bound = bind(c, X, seeds)
    answer = run(bound)
    space, path = bound.space, c.path
    assert isinstance(space, FeatureSpace)
    assert path is not None
    assert path.learner is not None
    with NamingStage(c.solver):
        learner = path.learner(c.solver, space, bound.task)
    total = _sums(learner.iterations, space, _coded(c, bound.task, answer.labels))
    learned, labeling = _solved(c, learner, total, space, bound.task, answer.labels, seeds.stream("solver"))
    learned = attrs.evolve(learned, space=_without_rows(space))
    return learned, _answer(c, bound.task, learned, labeling, answer.n_iter, answer)


def learn_batch(learned: Learned | None, c: Composition, X: Array, seeds: Seeds) -> tuple[Learned, FitResult]:
    """Add a batch: its labels by the model so far, and then the model of all sums."""
    assert learned is not None
    if len(X) == 0:
        raise InvalidData("a batch needs at least one sample")
    check_magnitude(X)
    before = learned.space
    space = build_space(before.coordinates(X), before.mapping, before=before.before, resolved=before.resolved)
    bounds = None if c.balancer is None or c.n_clusters is None else c.balancer.bounds(len(X), c.n_clusters)
    task, rng = Task(len(X), c.n_clusters, bounds, c.sample_weight), seeds.stream("solver")
    labels = _labeling(c, learned.function, space, task, rng).labels
    learner = learned.learner.more(space, task.sample_weight)
    added = _sums(learner.iterations, space, _coded(c, task, labels))
    # sums of one solver add up, whatever their type
    total: Addable = learned.total + added
    following, labeling = _solved(c, learner, total, space, task, labels, rng, learned)
    return following, _answer(c, task, following, labeling, 1, None)


def _coded(c: Composition, task: Task, labels: Labels) -> Coded:
    assert isinstance(c.labeler, Codec)
    return c.labeler.encode(labels, task.k, task.sample_weight)


def _sums(summing: Summing, space: FeatureSpace, coded: Coded) -> Addable:
    return space.reduce(PartOfLabels(adder_of(summing), coded))


def _solved(
    c: Composition,
    learner: Learner,
    total: Addable,
    space: FeatureSpace,
    task: Task,
    labels: Labels,
    rng: Rng,
    before: Learned | None = None,
) -> tuple[Learned, BalancedLabeling]:
    """The model of all sums, and the labels that it gives to the batch."""
    with NamingStage(c.solver):
        step: Finished | Summing = learner.iterations.finish(total, None)
        while not isinstance(step, Finished):  # an empty cluster is filled from the batch
            step = step.finish(_sums(step, space, _coded(c, task, labels)), None)
    history = (*(() if before is None else before.history), float(step.objective[0]))
    batches = 1 if before is None else before.batches + 1
    learned = Learned(space if before is None else before.space, learner, total, step.extend, batches, history)
    return learned, _labeling(c, step.extend, space, task, rng)


def _labeling(c: Composition, function: RowFunction, space: FeatureSpace, task: Task, rng: Rng) -> BalancedLabeling:
    rows = np.concatenate([values for _, values in space.passed(lambda _, H: np.asarray(function.on(H)))])
    return label_and_balance(Scores(rows, function), c.labeler, c.balancer, space, task, rng)


def _without_rows(space: FeatureSpace) -> FeatureSpace:
    empty = space.points[:0]
    return build_space(empty, space.mapping, before=space.before, resolved=space.resolved)


def _answer(
    c: Composition, task: Task, learned: Learned, labeling: BalancedLabeling, iterations: int, first: FitResult | None
) -> FitResult:
    """The result of the fit after a batch."""
    reason = f"batch {learned.batches} added" if first is None else first.reason
    ending = Ending.CONVERGED if first is None else first.ending
    end = Ended(labeling, iterations, ending, reason, learned.history[-1], learned.history)
    c, facts = attrs.evolve(c, limits=None), learned.learner.iterations.resolved
    labeling = attrs.evolve(labeling, outcome=None, memberships=None, status=None, labeler_facts={})
    fit = result_of(c, task, learned.space, facts, ([end], False), end, labeling, lambda: None)
    return attrs.evolve(fit, reason=reason)
