"""Laws of solvers whose turns are sums over the rows: whoever adds up, and wherever the rows are cut."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, ClassVar, final

import attrs
import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from clusterkit._typing import Array
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.outcomes import Scores
from clusterkit.core.pass_solver import PassSolver
from clusterkit.core.spaces import FeatureSpace, build_space
from clusterkit.core.stages import Prepared, Solver, Task
from clusterkit.core.summing import RowFunction, Summing, solve_by_sums
from clusterkit.core.sums import Addable, total
from clusterkit.core.transform import block_plan
from clusterkit.testing.compare import close, same_bits, small_blocks, small_groups
from clusterkit.testing.law import Law, Source, law
from clusterkit.testing.laws.solver import codebook
from clusterkit.testing.strategies import VIEWS, Case, cases

__all__ = ["FEATURES", "LAWS", "MOST_BYTES", "bound_by_passes", "cut_space", "scores_on"]

LAWS: list[Law] = []
"""The laws of solvers by passes, in the order in which they stand below."""

MOST_BYTES = 16 * 2**20
"""Largest pickle that an engine sends for a turn."""

FEATURES = ("raw", "scaled", "random", "streamed")
"""Views of the samples as explicit features."""


def _adds_up(stage: Solver) -> bool:
    path = stage.paths.get(FeatureSpace)
    return path is not None and path.passes == "anywhere" and stage.targets != "never"


def _weighs(stage: Solver) -> bool:
    path = stage.paths.get(FeatureSpace)
    return _adds_up(stage) and path is not None and path.weighted


def _codings(stage: Solver) -> st.SearchStrategy[Coding]:
    return st.sampled_from(sorted(stage.codings, key=lambda coding: coding.value))


@attrs.frozen(eq=False)
class _Turn:
    """A solver on a space with labels: as sums, and as it is prepared in memory."""

    space: FeatureSpace
    summing: Summing
    prepared: Prepared
    coded: Coded
    case: Case

    @classmethod
    def of(cls, stage: Solver, case: Case, view: str, coding: Coding) -> _Turn:
        k = 2 if coding is Coding.SIGNED else min(case.k, stage.max_clusters or case.k)
        space = VIEWS[view].space_of(case.X, Task(len(case.X), None), case.rng("space"))
        assert isinstance(space, FeatureSpace)
        assume(space.width <= space.n)  # wider features may have a path of their own in memory
        task = Task(case.n, k)
        coded = Coded(case.labels[None] % k, coding, k, codebook(coding, k))
        prepared = stage.prepare(space, task, case.rng("prepare"))
        return cls(space, _summing(stage, space, task), prepared, coded, case)

    def solve(self) -> Scores:
        outcome = self.prepared.solve(self.coded, None, self.case.rng("solve"))
        assert isinstance(outcome, Scores)
        return outcome


def _summing(stage: Solver, space: FeatureSpace, task: Task) -> Summing:
    turns = bound_by_passes(stage, space, task).turns
    assert isinstance(turns, Summing), f"the turns must be a Summing, got {type(turns).__name__}"
    return turns


def bound_by_passes(stage: Solver, space: FeatureSpace, task: Task) -> PassSolver:
    """The solver as it is bound to samples outside memory, on samples that are in memory."""
    passed = space
    if space.in_memory:
        passed = cut_space(space, tuple(rows.stop for rows in block_plan(space.n, space.width, space.dtype)))
    solver = stage.prepare(passed, task, np.random.default_rng(0))
    assert isinstance(solver, PassSolver), f"prepare must return a PassSolver there, got {type(solver).__name__}"
    return solver


def scores_on(function: RowFunction, space: FeatureSpace) -> Array:
    """Scores of all samples of a space, block by block, (n, q)."""
    return np.concatenate([function.on(H) for _, H in space.blocks()])


@final
@attrs.frozen(eq=False)
class _CutSpace(FeatureSpace):
    """A space whose blocks end wherever the law says, and which is read by passes only."""

    in_memory: ClassVar[bool] = False

    whole: FeatureSpace
    ends: tuple[int, ...]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        H = self.whole.rows()
        for start, stop in zip((0, *self.ends), (*self.ends, self.n), strict=True):
            if start < stop:
                yield slice(start, stop), H[start:stop]

    def take(self, index: object) -> FeatureSpace:
        raise NotImplementedError


def cut_space(space: FeatureSpace, ends: tuple[int, ...]) -> FeatureSpace:
    """The space with blocks that end at some rows."""
    return _CutSpace(space.points, space.mapping, space, ends, before=space.before, resolved=space.resolved)


ANY: dict[str, Source] = {"case": cases(), "view": st.sampled_from(FEATURES), "coding": _codings}


@law(LAWS, applies=_adds_up, **ANY)
def sums_and_finish_equal_solve(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """The function that `finish` makes of the sums gives the scores of `solve` bit for bit, within one group."""
    turn = _Turn.of(stage, case, view, coding)
    finished = solve_by_sums(turn.summing, turn.space, turn.coded)
    same_bits(scores_on(finished.extend, turn.space), turn.solve().rows, "scores by sums and by solve")
    assert finished.objective.shape == (turn.coded.starts,)
    assert np.isfinite(finished.objective).all()


@law(LAWS, applies=_adds_up, case=cases(["blobs"], dtypes=["float64"]), view=st.sampled_from(FEATURES),
     coding=_codings, data=st.lists(st.integers(0, 200), max_size=5), group=st.integers(1, 40))  # fmt: skip
def any_cut_of_the_rows_gives_the_same_scores(
    stage: Solver, case: Case, view: str, coding: Coding, data: list[int], group: int
) -> None:
    """Where the rows are cut into blocks and groups changes rounding errors only."""
    turn = _Turn.of(stage, case, view, coding)
    assume(turn.coded.sizes().min() > 0)
    ends = tuple(sorted(min(end, case.n) for end in data))
    space = turn.space
    cut = cut_space(space, ends)
    with small_groups(group):
        again = _summing(stage, cut, Task(case.n, turn.coded.k))
        finished = solve_by_sums(again, cut, turn.coded)
    close(scores_on(finished.extend, space), turn.solve().rows, "scores after another cut", digits=6, scale=1.0)


@law(LAWS, applies=_adds_up, **ANY)
def an_empty_block_adds_nothing(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """The part of a block without rows changes no bit of what is finished, before or behind the others."""
    turn = _Turn.of(stage, case, view, coding)
    H = turn.space.rows()
    none = turn.summing.part(H[:0], turn.coded.of(slice(0, 0)), None)
    every = turn.summing.part(H, turn.coded, None)
    plain: Any = turn.summing.finish(every, None)
    for padded in (none + every, every + none):
        finished: Any = turn.summing.finish(padded, None)
        assert type(finished) is type(plain)
        same_bits(finished.objective, plain.objective, "the objective with an empty block")


@law(LAWS, applies=_adds_up, case=cases(dtypes=["float64"]), view=st.sampled_from(FEATURES), coding=_codings)
def sums_know_the_objective(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """The objective from the sums is that of `objective`, with and without the scores of the turn before."""
    turn = _Turn.of(stage, case, view, coding)
    value = turn.prepared.objective(turn.coded, turn.solve())
    assert value is not None
    first = solve_by_sums(turn.summing, turn.space, turn.coded)
    size = max(1.0, turn.prepared.objective_factor) * case.n + float(np.square(turn.space.rows()).sum())
    close(first.objective, value, "objective from the sums", digits=6, scale=size)

    def part(rows: slice, H: Array) -> Addable:
        return turn.summing.part(H, turn.coded.of(rows), first.extend.on(H))

    step = turn.summing.finish(turn.space.reduce(part), first.extend)
    close(step.objective, value, "objective from sums with scores", digits=6, scale=size)  # type: ignore[union-attr]


@law(LAWS, applies=_weighs, case=cases(dtypes=["float64"]), view=st.sampled_from(FEATURES), coding=_codings,
     counts=st.integers(0, 2**16))  # fmt: skip
def a_weight_of_three_is_three_equal_rows(stage: Solver, case: Case, view: str, coding: Coding, counts: int) -> None:
    """Whole weights of the samples give the scores and the objective of repeated samples with the same labels."""
    turn = _Turn.of(stage, case, view, coding)
    repeats = np.random.default_rng(counts).integers(0, 4, case.n)
    labels = np.repeat(turn.coded.labels[0], repeats)
    assume(len(np.unique(labels)) == turn.coded.k)  # the rule for empty classes takes each sample once
    space, again = turn.space, np.repeat(np.arange(case.n), repeats)
    repeated = build_space(space.points[again], space.mapping, before=space.before)
    assert isinstance(repeated, FeatureSpace)
    task, weights = Task(len(again), turn.coded.k), repeats.astype(np.float64)
    rows = solve_by_sums(_summing(stage, repeated, task), repeated, attrs.evolve(turn.coded, labels=labels[None]))
    counted = Task(case.n, turn.coded.k, sample_weight=weights)
    coded = attrs.evolve(turn.coded, weights=weights)
    summing = _summing(stage, space, counted)
    finished = solve_by_sums(summing, space, coded)
    scores, expected = scores_on(finished.extend, space), scores_on(rows.extend, space)
    close(scores, expected, "scores by weights and by repeated samples", digits=6, scale=1.0)
    prepared = stage.prepare(space, counted, case.rng("prepare"))
    size = max(1.0, prepared.objective_factor) * len(again) + float(np.square(repeated.rows()).sum())
    close(finished.objective, rows.objective, "objective by weights and by repeated samples", digits=6, scale=size)
    outcome = prepared.solve(coded, None, case.rng("solve"))
    assert isinstance(outcome, Scores)
    close(outcome.rows, scores, "scores of `solve` and by sums", digits=6, scale=1.0)
    value = prepared.objective(coded, outcome)
    assert value is not None
    close(value, finished.objective, "the objective and that from the sums", digits=6, scale=size)


@law(LAWS, applies=_adds_up, **ANY)
def turns_travel(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """What an engine sends pickles, below 16 MiB, and gives the same bits elsewhere."""
    turn = _Turn.of(stage, case, view, coding)
    finished = solve_by_sums(turn.summing, turn.space, turn.coded)
    part = total([(slice(0, case.n), turn.summing.part(turn.space.rows(), turn.coded, None))])
    for thing in (turn.summing, finished, part):
        assert len(pickle.dumps(thing)) <= MOST_BYTES, f"{type(thing).__name__} is too large to send"
    with small_blocks():
        again = solve_by_sums(pickle.loads(pickle.dumps(turn.summing)), turn.space, turn.coded)
        here = solve_by_sums(turn.summing, turn.space, turn.coded)
    same_bits(scores_on(again.extend, turn.space), scores_on(here.extend, turn.space), "scores after a journey")
