"""Laws of solvers that learn from no labels and whose turns are sums: as those of `summing`, for their own state."""

from __future__ import annotations

import pickle

import attrs
import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Array
from clusterkit.core.errors import InvalidData
from clusterkit.core.iterating import Iterating, PartOfTurn, Step, solve_by_turns
from clusterkit.core.outcomes import Scores
from clusterkit.core.spaces import FeatureSpace, build_space
from clusterkit.core.stages import Solver, Task
from clusterkit.core.summing import RowFunction
from clusterkit.testing.compare import close, same_bits, small_groups
from clusterkit.testing.law import Law, law
from clusterkit.testing.laws.summing import FEATURES, MOST_BYTES, bound_by_passes, cut_space, scores_on
from clusterkit.testing.strategies import VIEWS, Case, cases

__all__ = ["LAWS"]

LAWS: list[Law] = []
"""The laws of solvers whose turns by passes are an `Iterating`, in the order in which they stand below."""


def _iterates(stage: Solver) -> bool:
    path = stage.paths.get(FeatureSpace)
    return path is not None and path.passes == "anywhere" and stage.targets == "never"


def _weighs(stage: Solver) -> bool:
    path = stage.paths.get(FeatureSpace)
    return _iterates(stage) and path is not None and path.weighted


@attrs.frozen(eq=False)
class _Fit:
    """A solver on a space, and its first turn."""

    space: FeatureSpace
    turns: Iterating
    begin: RowFunction
    case: Case

    @classmethod
    def of(cls, stage: Solver, case: Case, view: str) -> _Fit:
        space = VIEWS[view].space_of(case.X, Task(len(case.X), None), case.rng("space"))
        assert isinstance(space, FeatureSpace)
        turns = _turns(stage, space, Task(case.n, case.k))
        return cls(space, turns, turns.begin(space, case.rng("solve")), case)

    def step(self, space: FeatureSpace, turns: Iterating | None = None, weights: Array | None = None) -> Step:
        turns = turns or self.turns
        return turns.finish(space.reduce(PartOfTurn(turns, self.begin, None, weights)), self.begin)


def _turns(stage: Solver, space: FeatureSpace, task: Task) -> Iterating:
    try:
        turns = bound_by_passes(stage, space, task).turns
    except InvalidData:  # a documented refusal, for example of negative features
        reject()
    assert isinstance(turns, Iterating), f"the turns must be an Iterating, got {type(turns).__name__}"
    return turns


@law(LAWS, applies=_iterates, case=cases(), view=st.sampled_from(FEATURES))
def turns_give_what_solve_gives(stage: Solver, case: Case, view: str) -> None:
    """The function that the turns end with gives the scores of `solve`, in as many iterations."""
    fit = _Fit.of(stage, case, view)
    function, status = solve_by_turns(fit.turns, fit.space, case.rng("solve"))
    prepared = stage.prepare(fit.space, Task(case.n, case.k), case.rng("prepare"))
    outcome = prepared.solve(None, None, case.rng("solve"))
    assert isinstance(outcome, Scores)
    assert outcome.status is not None
    assert status.n_iter == outcome.status.n_iter
    assert status.converged == outcome.status.converged
    same_bits(scores_on(function, fit.space), outcome.rows, "scores by turns and by solve")
    size = max(1.0, float(np.square(fit.space.rows()).sum()))
    close(np.array(status.history), np.array(outcome.status.history), "objectives", digits=3, scale=size)


@law(LAWS, applies=_iterates, case=cases(["blobs"], dtypes=["float64"]), view=st.sampled_from(FEATURES),
     data=st.lists(st.integers(0, 200), max_size=5), group=st.integers(1, 40))  # fmt: skip
def any_cut_of_the_rows_makes_the_same_turn(stage: Solver, case: Case, view: str, data: list[int], group: int) -> None:
    """Where the rows are cut into blocks and groups changes rounding errors of a turn only."""
    fit = _Fit.of(stage, case, view)
    plain = fit.step(fit.space)
    with small_groups(group):
        cut = fit.step(cut_space(fit.space, tuple(sorted(min(end, case.n) for end in data))))
    size = max(1.0, float(np.square(fit.space.rows()).sum()))
    close(np.array([cut.objective]), np.array([plain.objective]), "objective after another cut", scale=size)
    scores, expected = scores_on(cut.following, fit.space), scores_on(plain.following, fit.space)
    close(scores, expected, "scores after another cut", digits=6, scale=1.0)


@law(LAWS, applies=_iterates, case=cases(), view=st.sampled_from(FEATURES))
def no_rows_add_nothing_to_a_turn(stage: Solver, case: Case, view: str) -> None:
    """The part of a block without rows changes no bit of the turn, before or behind the others."""
    fit = _Fit.of(stage, case, view)
    H, turns = fit.space.rows(), fit.turns
    for before in (None, fit.begin):
        every, none = (turns.part(rows, fit.begin, before, None) for rows in (H, H[:0]))
        plain = turns.finish(every, fit.begin)
        for padded in (none + every, every + none):
            step = turns.finish(padded, fit.begin)
            assert step.objective == plain.objective
            assert step.settled == plain.settled
            same_bits(scores_on(step.following, fit.space), scores_on(plain.following, fit.space), "scores")


@law(LAWS, applies=_weighs, case=cases(dtypes=["float64"]), view=st.sampled_from(FEATURES),
     counts=st.integers(0, 2**16))  # fmt: skip
def a_weight_is_as_many_equal_rows(stage: Solver, case: Case, view: str, counts: int) -> None:
    """Whole weights of the samples make the turn of repeated samples from the same function."""
    fit = _Fit.of(stage, case, view)
    repeats = np.random.default_rng(counts).integers(0, 4, case.n)
    assume(repeats.any())
    again = np.repeat(np.arange(case.n), repeats)
    repeated = build_space(fit.space.points[again], fit.space.mapping, before=fit.space.before)
    assert isinstance(repeated, FeatureSpace)
    weights = repeats.astype(np.float64)
    rows = fit.step(repeated, _turns(stage, repeated, Task(len(again), case.k)))
    turns = _turns(stage, fit.space, Task(case.n, case.k, sample_weight=weights))
    counted = fit.step(fit.space, turns, weights)
    size = max(1.0, float(np.square(repeated.rows()).sum()))
    close(np.array([counted.objective]), np.array([rows.objective]), "objective by weights", scale=size)
    scores, expected = scores_on(counted.following, fit.space), scores_on(rows.following, fit.space)
    close(scores, expected, "scores by weights and by repeated samples", digits=6, scale=1.0)


@law(LAWS, applies=_iterates, case=cases(), view=st.sampled_from(FEATURES))
def turns_without_labels_travel(stage: Solver, case: Case, view: str) -> None:
    """What an engine sends pickles, below 16 MiB, and gives the same bits elsewhere."""
    fit = _Fit.of(stage, case, view)
    sent = PartOfTurn(fit.turns, fit.begin, fit.begin)
    rows = slice(0, case.n)
    step = fit.step(fit.space)
    for thing in (sent, step, sent(rows, fit.space.rows())):
        assert len(pickle.dumps(thing)) <= MOST_BYTES, f"{type(thing).__name__} is too large to send"
    arrived: PartOfTurn = pickle.loads(pickle.dumps(sent))
    there = fit.turns.finish(arrived(rows, fit.space.rows()), fit.begin)
    here = fit.turns.finish(sent(rows, fit.space.rows()), fit.begin)
    same_bits(scores_on(there.following, fit.space), scores_on(here.following, fit.space), "scores after a journey")
