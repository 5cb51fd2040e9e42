"""Laws of solvers: determined by seed and data, finite on any data, with every declared property true.

If the iterations are sums over the rows, the laws hold whoever adds up, and wherever the rows are cut: `SUMMING_LAWS`
for solvers that learn from labels, `ITERATING_LAWS` for those with a state of their own.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, ClassVar, final

import attrs
import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Array
from clusterkit.contracts import Codec, Prepared, Solver, Task
from clusterkit.contracts.outcomes import Embedding, Outcome, Scores, Tree
from clusterkit.contracts.pass_solver import (
    Iterating,
    PartOfIteration,
    PassSolver,
    RowFunction,
    Step,
    Summing,
    solve_by_iterations,
    solve_by_sums,
)
from clusterkit.errors import InvalidData
from clusterkit.fitting.label_iterations import alternate
from clusterkit.samples import FeatureSpace, Space, build_space
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.sums import Addable, total
from clusterkit.samples.transform import block_plan
from clusterkit.testing.compare import close, numbers, same_bits, saved_copy, small_blocks, small_groups
from clusterkit.testing.law import Law, Source, law
from clusterkit.testing.strategies import VIEWS, Case, cases, views

__all__ = [
    "FEATURES",
    "ITERATING_LAWS",
    "LAWS",
    "MOST_BYTES",
    "SUMMING_LAWS",
    "bound_by_passes",
    "codebook",
    "cut_space",
    "scores_on",
]


LAWS: list[Law] = []
"""The laws of every solver, in the order in which they stand below; filled by the decorator `law`."""


def codebook(coding: Coding, k: int) -> Array:
    """Targets of the labels in the plainest form of a coding, (k, q)."""
    if coding is Coding.SIGNED:
        return np.array([[-1.0], [1.0]])
    return np.eye(k) if coding is Coding.ONEHOT else np.arange(1.0, k + 1.0)[:, None]


@attrs.frozen(eq=False)
class _PreparedCase:
    """A solver prepared for a case, and targets if it learns from labels."""

    prepared: Prepared
    space: Space
    coded: Coded | None
    case: Case

    @classmethod
    def of(cls, stage: Solver, case: Case, view: str, coding: Coding | None, starts: int = 1) -> _PreparedCase:
        k = 2 if coding is Coding.SIGNED else min(case.k, stage.max_clusters or case.k)
        space = VIEWS[view].space_of(case.X, Task(len(case.X), None), case.rng("space"))
        bounds = (np.zeros(k), np.full(k, case.n)) if stage.own_balance else None
        try:
            prepared = stage.prepare(space, Task(case.n, k, bounds), case.rng("prepare"))
        except InvalidData:  # a documented refusal, for example of negative features
            reject()
        coded = None
        if coding is not None:
            labels = np.stack([attrs.evolve(case, seed=case.seed + s).labels % k for s in range(starts)])
            coded = Coded(labels, coding, k, codebook(coding, k))
        return cls(prepared, space, coded, case)

    def solve(self) -> Outcome:
        return self.prepared.solve(self.coded, None, self.case.rng("solve"))


def _spaces(stage: Solver) -> st.SearchStrategy[str]:
    return st.sampled_from(views(list(stage.paths)))


def _codings(stage: Solver) -> st.SearchStrategy[Coding | None]:
    if stage.targets == "never":
        return st.none()
    return st.sampled_from(sorted(stage.codings, key=lambda coding: coding.value))


def _has_space(stage: Solver) -> bool:
    return bool(views(list(stage.paths)))


def _on_features(stage: Solver) -> bool:
    return FeatureSpace in stage.paths


def _is_monotone(stage: Solver) -> bool:
    return stage.monotone and _has_space(stage)


def _stacks(stage: Solver) -> bool:
    return stage.columns and _has_space(stage)


def _gives_trees(stage: Solver) -> bool:
    return _has_space(stage) and all(path.gives is Tree for path in stage.paths.values())


def _learns(stage: Solver) -> bool:
    return stage.targets != "never" and _has_space(stage)


ANY: dict[str, Source] = {"case": cases(), "view": _spaces, "coding": _codings}
"""Examples for laws about any solver: a problem, one of the spaces that the solver takes, one of its codings."""


@law(LAWS, applies=_has_space, **ANY)
def gives_what_its_path_says(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """The outcome is of the type the path declares, has one row per sample, and extends where the path is inductive."""
    bench = _PreparedCase.of(stage, case, view, coding)
    path, outcome = stage.path(type(bench.space)), bench.solve()
    assert path is not None
    assert isinstance(outcome, path.gives), f"the path gives {path.gives.__name__}, got {type(outcome).__name__}"
    if isinstance(outcome, Embedding):
        assert outcome.rows.shape[0] == case.n
        assert (outcome.extend is not None) == path.inductive, f"inductive = {path.inductive} on the path"
    if isinstance(outcome, Scores) and bench.coded is not None:
        assert outcome.rows.shape[1] == bench.coded.q, "one column of scores for each column of targets"


@law(LAWS, applies=_has_space, **ANY)
def is_finite(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """Duplicates, constant columns, n = k, large offsets, float32: every number stays finite."""
    bench = _PreparedCase.of(stage, case, view, coding)
    outcome = bench.solve()
    assert np.isfinite(numbers(outcome, bench.space)).all(), "not finite"
    if isinstance(outcome, Embedding) and outcome.extend is not None:
        assert np.isfinite(outcome.extend(case.X)).all(), "not finite on new rows"


@law(LAWS, applies=_has_space, **ANY)
def same_seed_same_outcome(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """Equal data and equal streams give bit-equal outcomes, and the data are not changed."""
    one, other = (_PreparedCase.of(stage, case, view, coding) for _ in range(2))
    points = one.space.points.copy()
    same_bits(numbers(one.solve(), one.space), numbers(other.solve(), other.space), "two fits")
    same_bits(one.space.points, points, "the data after the fit")


@law(LAWS, applies=_has_space, **ANY)
def solving_twice_is_solving_once(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """A prepared solver remembers nothing of a solve: the next one gives the same bits."""
    bench = _PreparedCase.of(stage, case, view, coding)
    first = numbers(bench.solve(), bench.space).copy()
    same_bits(numbers(bench.solve(), bench.space), first, "the first and the second solve")


@law(LAWS, applies=_has_space, **ANY)
def extends_to_what_it_fitted(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """`extend` of the samples gives their rows, unless `Status.predicts_labels` is False."""
    bench = _PreparedCase.of(stage, case, view, coding)
    outcome = bench.solve()
    if not isinstance(outcome, Embedding) or outcome.extend is None:
        return
    new = outcome.extend(case.X)
    assert new.shape == outcome.rows.shape
    if outcome.exact_on_training:
        size = float(np.abs(case.X).max()) if view == "raw" else 1.0
        close(new.astype(case.dtype), outcome.rows, "rows of the samples as new ones", digits=2, scale=size)


@law(LAWS, applies=_has_space, **ANY)
def outcome_survives_pickling(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """A pickled outcome has the same values, for new rows too."""
    bench = _PreparedCase.of(stage, case, view, coding)
    outcome = bench.solve()
    again = pickle.loads(pickle.dumps(outcome))
    same_bits(numbers(again, bench.space), numbers(outcome, bench.space), "the outcome after pickling")
    if isinstance(outcome, Embedding) and outcome.extend is not None:
        same_bits(again.extend(case.X), outcome.extend(case.X), "new rows after pickling")


@law(LAWS, applies=_has_space, **ANY)
def outcome_survives_saving(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """An outcome that was saved as data and loaded has the same values, for new rows too."""
    bench = _PreparedCase.of(stage, case, view, coding)
    outcome = bench.solve()
    again = saved_copy(outcome)
    same_bits(numbers(again, bench.space), numbers(outcome, bench.space), "the outcome after saving")
    if isinstance(outcome, Embedding) and isinstance(again, Embedding) and outcome.extend is not None:
        assert again.extend is not None
        same_bits(again.extend(case.X), outcome.extend(case.X), "new rows after saving")


@law(LAWS, applies=_has_space, **ANY)
def has_an_objective_if_it_says_so(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """`objective` gives one finite value per start if `has_objective`, else None."""
    bench = _PreparedCase.of(stage, case, view, coding)
    values = bench.prepared.objective(bench.coded, bench.solve())
    if not stage.has_objective:
        assert values is None, f"has_objective is False, but objective gave {values!r}"
        return
    assert values is not None, "has_objective is True, but objective gave None"
    assert np.shape(values) == (1,), f"one value a start, got shape {np.shape(values)}"
    assert np.isfinite(values).all()


@law(LAWS, applies=_has_space, **ANY)
def reports_itself(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """A solver of one iteration reports in `Outcome.status` how it ended; `resolved` has plain values by name."""
    bench = _PreparedCase.of(stage, case, view, coding)
    outcome = bench.solve()
    assert all(isinstance(name, str) for name in bench.prepared.resolved)
    if stage.targets == "every_iteration":
        return
    assert outcome.status is not None, "no status, and the driver cannot count its iterations"
    assert outcome.status.n_iter >= 0
    assert outcome.status.reason


@law(LAWS, applies=_on_features, coding=_codings, seed=st.integers(0, 2**16),
     rows=st.integers(65, 140), dtype=st.sampled_from(["float64", "float32"]))  # fmt: skip
def streamed_equals_dense(stage: Solver, coding: Coding | None, seed: int, rows: int, dtype: str) -> None:
    """A space computed anew in each pass gives the same bits as a space in memory."""
    case = Case("blobs", rows, 3, 3, dtype, seed)
    with small_blocks():
        dense = _PreparedCase.of(stage, case, "random", coding)
        streamed = _PreparedCase.of(stage, case, "streamed", coding)
        assert len(list(dense.space.blocks())) > 1  # type: ignore[attr-defined]
        same_bits(numbers(streamed.solve(), streamed.space), numbers(dense.solve(), dense.space), "two storages")


@law(LAWS, applies=_gives_trees, **ANY)
def no_pair_is_nearer_than_its_path_in_the_tree(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """A tree joins all samples, at the lengths of its edges, and no edge left out could replace a longer one."""
    tree = _PreparedCase.of(stage, case, view, coding).solve()
    assert isinstance(tree, Tree)
    assert (np.diff(tree.heights) >= 0).all(), "heights do not ascend"
    rows, core = tree.rows.astype(np.float64), tree.core_distances
    reach = np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    reach = np.maximum(np.maximum(reach, core), core[:, None])
    longest = np.full((case.n, case.n), np.inf)  # the longest edge on the path between two samples
    np.fill_diagonal(longest, 0.0)
    for (i, j), height in zip(tree.merges, tree.heights, strict=True):
        assert np.isinf(longest[i, j]), "an edge closes a cycle"
        close(np.array([height]), reach[i, j][None], "an edge's length", scale=float(np.abs(rows).max()))
        here, there = np.isfinite(longest[i]), np.isfinite(longest[j])
        longest[np.ix_(here, there)] = longest[np.ix_(there, here)] = height
    assert np.isfinite(longest).all(), "samples are not joined"
    np.fill_diagonal(reach, 0.0)
    slack = 1e-12 * float(np.abs(rows).max())
    assert (reach >= longest * (1 - 1e-12) - slack).all(), "a shorter edge is left out"


@law(LAWS, applies=_learns, case=cases(["blobs"], dtypes=["float64"]), view=_spaces, coding=_codings)
def permuted_rows_give_permuted_scores(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """For a solver that learns from labels the order of the samples does not matter."""
    bench = _PreparedCase.of(stage, case, view, coding)
    assert bench.coded is not None
    assume(bench.coded.sizes().min() > 0)  # the rule for empty classes may break ties by order
    order = case.rng("order").permutation(case.n)
    moved = attrs.evolve(bench.space.take(order), before=bench.space.before)
    prepared = stage.prepare(moved, Task(case.n, bench.coded.k), case.rng("prepare"))
    # a parameter read off the numerical rank may jump with the rounding of another order; the scores then follow it
    decided, again = bench.prepared.resolved, prepared.resolved
    assume(all(_alike(again.get(name), value) for name, value in decided.items()))
    coded = attrs.evolve(bench.coded, labels=bench.coded.labels[:, order])
    outcome = prepared.solve(coded, None, case.rng("solve"))
    one, other = numbers(outcome, moved), numbers(bench.solve(), bench.space)[order]
    if stage.accuracy:
        np.testing.assert_allclose(one, other, rtol=0, atol=stage.accuracy, err_msg="permuted samples")
    else:
        close(one, other, "permuted samples", digits=6, scale=1.0)


def _alike(one: Any, other: Any) -> bool:
    numeric = isinstance(one, float) and isinstance(other, float)
    return abs(one - other) <= 1e-6 * abs(other) if numeric else bool(one == other)


@law(LAWS, applies=_stacks, case=cases(dtypes=["float64"]), view=_spaces, coding=_codings)
def stacked_starts_equal_single_ones(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """Several starts solved together as more columns agree with each solved alone, up to rounding."""
    bench = _PreparedCase.of(stage, case, view, coding, starts=3)
    assert bench.coded is not None
    together = bench.solve()
    assert isinstance(together, Scores)
    objective = bench.prepared.objective(bench.coded, together)
    for start in range(3):
        coded = bench.coded.start(start)
        alone = bench.prepared.solve(coded, None, case.rng("solve"))
        assert isinstance(alone, Scores)
        part = together.start(start)
        close(part.rows, alone.rows, f"start {start}", digits=6, scale=1.0)
        if part.extend is not None and alone.extend is not None:
            close(part.extend(case.X), alone.extend(case.X), f"start {start}, new rows", digits=6, scale=1.0)
        if objective is not None:
            value = bench.prepared.objective(coded, alone)
            assert value is not None
            # residuals near 0 are differences of numbers of order 1, and the factor C enlarges their rounding
            scale = case.n * max(1.0, bench.prepared.objective_factor)
            close(objective[start : start + 1], value, f"objective of start {start}", digits=6, scale=scale)


@law(LAWS, applies=_is_monotone, case=cases(dtypes=["float64"]), view=_spaces, coding=_codings)
def objective_never_rises(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """Without a balancer the objective never rises from one iteration to the next."""
    bench = _PreparedCase.of(stage, case, view, coding)
    codec, k = _codec(coding), 2 if coding is Coding.SIGNED else case.k
    labels = case.labels % k
    [start_result], _ = alternate(
        bench.prepared, codec, None, bench.space, Task(case.n, k), lambda start: labels,
        starts=1, max_iter=30, together=False, rng=case.rng("solve"),
    )  # fmt: skip
    history = np.array(start_result.history)
    assert len(history) == start_result.n_iter
    size = float(np.abs(history).max()) + float(np.square(case.X).sum() if view == "raw" else 1.0)
    assert (np.diff(history) <= 1e-9 * size).all(), f"the objective rises: {history}"


def _codec(coding: Coding) -> Codec:
    from clusterkit.labelers.codecs import Argmax, Interval, Threshold

    made: dict[Coding, Any] = {Coding.SIGNED: Threshold(), Coding.ORDINAL: Interval(), Coding.ONEHOT: Argmax()}
    codec: Codec = made[coding]
    return codec


SUMMING_LAWS: list[Law] = []
"""The laws of solvers by passes, in the order in which they stand below."""

MOST_BYTES = 16 * 2**20
"""Largest pickle that an engine sends for an iteration."""

FEATURES = ("raw", "scaled", "random", "streamed")
"""Views of the samples as explicit features."""


def _adds_up(stage: Solver) -> bool:
    path = stage.paths.get(FeatureSpace)
    return path is not None and path.passes == "anywhere" and stage.targets != "never"


def _weighs(stage: Solver) -> bool:
    path = stage.paths.get(FeatureSpace)
    return _adds_up(stage) and path is not None and path.weighted


def _sum_codings(stage: Solver) -> st.SearchStrategy[Coding]:
    return st.sampled_from(sorted(stage.codings, key=lambda coding: coding.value))


@attrs.frozen(eq=False)
class _Iteration:
    """A solver on a space with labels: as sums, and as it is prepared in memory."""

    space: FeatureSpace
    summing: Summing
    prepared: Prepared
    coded: Coded
    case: Case

    @classmethod
    def of(cls, stage: Solver, case: Case, view: str, coding: Coding) -> _Iteration:
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
    iterations = bound_by_passes(stage, space, task).iterations
    assert isinstance(iterations, Summing), f"the iterations must be a Summing, got {type(iterations).__name__}"
    return iterations


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


ANY_SUMMED: dict[str, Source] = {"case": cases(), "view": st.sampled_from(FEATURES), "coding": _sum_codings}


@law(SUMMING_LAWS, applies=_adds_up, **ANY_SUMMED)
def sums_and_finish_equal_solve(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """The function that `finish` makes of the sums gives the scores of `solve` bit for bit, within one group."""
    iteration = _Iteration.of(stage, case, view, coding)
    finished = solve_by_sums(iteration.summing, iteration.space, iteration.coded)
    same_bits(scores_on(finished.extend, iteration.space), iteration.solve().rows, "scores by sums and by solve")
    assert finished.objective.shape == (iteration.coded.starts,)
    assert np.isfinite(finished.objective).all()


@law(SUMMING_LAWS, applies=_adds_up, case=cases(["blobs"], dtypes=["float64"]), view=st.sampled_from(FEATURES),
     coding=_sum_codings, data=st.lists(st.integers(0, 200), max_size=5), group=st.integers(1, 40))  # fmt: skip
def any_cut_of_the_rows_gives_the_same_scores(
    stage: Solver, case: Case, view: str, coding: Coding, data: list[int], group: int
) -> None:
    """Where the rows are cut into blocks and groups changes rounding errors only."""
    iteration = _Iteration.of(stage, case, view, coding)
    assume(iteration.coded.sizes().min() > 0)
    ends = tuple(sorted(min(end, case.n) for end in data))
    space = iteration.space
    cut = cut_space(space, ends)
    with small_groups(group):
        again = _summing(stage, cut, Task(case.n, iteration.coded.k))
        finished = solve_by_sums(again, cut, iteration.coded)
    close(scores_on(finished.extend, space), iteration.solve().rows, "scores after another cut", digits=6, scale=1.0)


@law(SUMMING_LAWS, applies=_adds_up, **ANY_SUMMED)
def an_empty_block_adds_nothing(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """The part of a block without rows changes no bit of what is finished, before or behind the others."""
    iteration = _Iteration.of(stage, case, view, coding)
    H = iteration.space.rows()
    none = iteration.summing.part(H[:0], iteration.coded.of(slice(0, 0)), None)
    every = iteration.summing.part(H, iteration.coded, None)
    plain: Any = iteration.summing.finish(every, None)
    for padded in (none + every, every + none):
        finished: Any = iteration.summing.finish(padded, None)
        assert type(finished) is type(plain)
        same_bits(finished.objective, plain.objective, "the objective with an empty block")


@law(
    SUMMING_LAWS, applies=_adds_up, case=cases(dtypes=["float64"]), view=st.sampled_from(FEATURES), coding=_sum_codings
)
def sums_know_the_objective(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """The objective from the sums is that of `objective`, with and without the scores of the iteration before."""
    iteration = _Iteration.of(stage, case, view, coding)
    value = iteration.prepared.objective(iteration.coded, iteration.solve())
    assert value is not None
    first = solve_by_sums(iteration.summing, iteration.space, iteration.coded)
    size = max(1.0, iteration.prepared.objective_factor) * case.n + float(np.square(iteration.space.rows()).sum())
    close(first.objective, value, "objective from the sums", digits=6, scale=size)

    def part(rows: slice, H: Array) -> Addable:
        return iteration.summing.part(H, iteration.coded.of(rows), first.extend.on(H))

    step = iteration.summing.finish(iteration.space.reduce(part), first.extend)
    close(step.objective, value, "objective from sums with scores", digits=6, scale=size)  # type: ignore[union-attr]


@law(SUMMING_LAWS, applies=_weighs, case=cases(dtypes=["float64"]), view=st.sampled_from(FEATURES), coding=_sum_codings,
     counts=st.integers(0, 2**16))  # fmt: skip
def a_weight_of_three_is_three_equal_rows(stage: Solver, case: Case, view: str, coding: Coding, counts: int) -> None:
    """Whole weights of the samples give the scores and the objective of repeated samples with the same labels."""
    iteration = _Iteration.of(stage, case, view, coding)
    repeats = np.random.default_rng(counts).integers(0, 4, case.n)
    labels = np.repeat(iteration.coded.labels[0], repeats)
    assume(len(np.unique(labels)) == iteration.coded.k)  # the rule for empty classes takes each sample once
    space, again = iteration.space, np.repeat(np.arange(case.n), repeats)
    repeated = build_space(space.points[again], space.mapping, before=space.before)
    assert isinstance(repeated, FeatureSpace)
    task, weights = Task(len(again), iteration.coded.k), repeats.astype(np.float64)
    rows = solve_by_sums(_summing(stage, repeated, task), repeated, attrs.evolve(iteration.coded, labels=labels[None]))
    counted = Task(case.n, iteration.coded.k, sample_weight=weights)
    coded = attrs.evolve(iteration.coded, weights=weights)
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


@law(SUMMING_LAWS, applies=_adds_up, **ANY_SUMMED)
def iterations_travel(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """What an engine sends pickles, below 16 MiB, and gives the same bits in another process."""
    iteration = _Iteration.of(stage, case, view, coding)
    finished = solve_by_sums(iteration.summing, iteration.space, iteration.coded)
    part = total([(slice(0, case.n), iteration.summing.part(iteration.space.rows(), iteration.coded, None))])
    for thing in (iteration.summing, finished, part):
        assert len(pickle.dumps(thing)) <= MOST_BYTES, f"{type(thing).__name__} is too large to send"
    with small_blocks():
        again = solve_by_sums(pickle.loads(pickle.dumps(iteration.summing)), iteration.space, iteration.coded)
        here = solve_by_sums(iteration.summing, iteration.space, iteration.coded)
    same_bits(
        scores_on(again.extend, iteration.space), scores_on(here.extend, iteration.space), "scores after a journey"
    )


ITERATING_LAWS: list[Law] = []
"""The laws of solvers whose iterations by passes are an `Iterating`, in the order in which they stand below."""


def _iterates(stage: Solver) -> bool:
    path = stage.paths.get(FeatureSpace)
    return path is not None and path.passes == "anywhere" and stage.targets == "never"


def _weighs_iterations(stage: Solver) -> bool:
    path = stage.paths.get(FeatureSpace)
    return _iterates(stage) and path is not None and path.weighted


@attrs.frozen(eq=False)
class _Fit:
    """A solver on a space, and its first iteration."""

    space: FeatureSpace
    iterations: Iterating
    begin: RowFunction
    case: Case

    @classmethod
    def of(cls, stage: Solver, case: Case, view: str) -> _Fit:
        space = VIEWS[view].space_of(case.X, Task(len(case.X), None), case.rng("space"))
        assert isinstance(space, FeatureSpace)
        iterations = _iterations(stage, space, Task(case.n, case.k))
        return cls(space, iterations, iterations.begin(space, case.rng("solve")), case)

    def step(self, space: FeatureSpace, iterations: Iterating | None = None, weights: Array | None = None) -> Step:
        iterations = iterations or self.iterations
        return iterations.finish(space.reduce(PartOfIteration(iterations, self.begin, None, weights)), self.begin)


def _iterations(stage: Solver, space: FeatureSpace, task: Task) -> Iterating:
    try:
        iterations = bound_by_passes(stage, space, task).iterations
    except InvalidData:  # a documented refusal, for example of negative features
        reject()
    assert isinstance(iterations, Iterating), f"the iterations must be an Iterating, got {type(iterations).__name__}"
    return iterations


@law(ITERATING_LAWS, applies=_iterates, case=cases(), view=st.sampled_from(FEATURES))
def iterations_give_what_solve_gives(stage: Solver, case: Case, view: str) -> None:
    """The function that the iterations end with gives the scores of `solve`, in as many iterations."""
    fit = _Fit.of(stage, case, view)
    function, status = solve_by_iterations(fit.iterations, fit.space, case.rng("solve"))
    prepared = stage.prepare(fit.space, Task(case.n, case.k), case.rng("prepare"))
    outcome = prepared.solve(None, None, case.rng("solve"))
    assert isinstance(outcome, Scores)
    assert outcome.status is not None
    assert status.n_iter == outcome.status.n_iter
    assert status.converged == outcome.status.converged
    same_bits(scores_on(function, fit.space), outcome.rows, "scores by iterations and by solve")
    size = max(1.0, float(np.square(fit.space.rows()).sum()))
    close(np.array(status.history), np.array(outcome.status.history), "objectives", digits=3, scale=size)


@law(ITERATING_LAWS, applies=_iterates, case=cases(["blobs"], dtypes=["float64"]), view=st.sampled_from(FEATURES),
     data=st.lists(st.integers(0, 200), max_size=5), group=st.integers(1, 40))  # fmt: skip
def any_cut_of_the_rows_makes_the_same_iteration(
    stage: Solver, case: Case, view: str, data: list[int], group: int
) -> None:
    """Where the rows are cut into blocks and groups changes rounding errors of an iteration only."""
    fit = _Fit.of(stage, case, view)
    plain = fit.step(fit.space)
    with small_groups(group):
        cut = fit.step(cut_space(fit.space, tuple(sorted(min(end, case.n) for end in data))))
    size = max(1.0, float(np.square(fit.space.rows()).sum()))
    close(np.array([cut.objective]), np.array([plain.objective]), "objective after another cut", scale=size)
    scores, expected = scores_on(cut.following, fit.space), scores_on(plain.following, fit.space)
    close(scores, expected, "scores after another cut", digits=6, scale=1.0)


@law(ITERATING_LAWS, applies=_iterates, case=cases(), view=st.sampled_from(FEATURES))
def no_rows_add_nothing_to_an_iteration(stage: Solver, case: Case, view: str) -> None:
    """The part of a block without rows changes no bit of the iteration, before or behind the others."""
    fit = _Fit.of(stage, case, view)
    H, iterations = fit.space.rows(), fit.iterations
    for before in (None, fit.begin):
        every, none = (iterations.part(rows, fit.begin, before, None) for rows in (H, H[:0]))
        plain = iterations.finish(every, fit.begin)
        for padded in (none + every, every + none):
            step = iterations.finish(padded, fit.begin)
            assert step.objective == plain.objective
            assert step.settled == plain.settled
            same_bits(scores_on(step.following, fit.space), scores_on(plain.following, fit.space), "scores")


@law(ITERATING_LAWS, applies=_weighs_iterations, case=cases(dtypes=["float64"]), view=st.sampled_from(FEATURES),
     counts=st.integers(0, 2**16))  # fmt: skip
def a_weight_is_as_many_equal_rows(stage: Solver, case: Case, view: str, counts: int) -> None:
    """Whole weights of the samples make the iteration of repeated samples from the same function."""
    fit = _Fit.of(stage, case, view)
    repeats = np.random.default_rng(counts).integers(0, 4, case.n)
    assume(repeats.any())
    again = np.repeat(np.arange(case.n), repeats)
    repeated = build_space(fit.space.points[again], fit.space.mapping, before=fit.space.before)
    assert isinstance(repeated, FeatureSpace)
    weights = repeats.astype(np.float64)
    rows = fit.step(repeated, _iterations(stage, repeated, Task(len(again), case.k)))
    iterations = _iterations(stage, fit.space, Task(case.n, case.k, sample_weight=weights))
    counted = fit.step(fit.space, iterations, weights)
    size = max(1.0, float(np.square(repeated.rows()).sum()))
    close(np.array([counted.objective]), np.array([rows.objective]), "objective by weights", scale=size)
    scores, expected = scores_on(counted.following, fit.space), scores_on(rows.following, fit.space)
    close(scores, expected, "scores by weights and by repeated samples", digits=6, scale=1.0)


@law(ITERATING_LAWS, applies=_iterates, case=cases(), view=st.sampled_from(FEATURES))
def iterations_without_labels_travel(stage: Solver, case: Case, view: str) -> None:
    """What an engine sends pickles, below 16 MiB, and gives the same bits in another process."""
    fit = _Fit.of(stage, case, view)
    sent = PartOfIteration(fit.iterations, fit.begin, fit.begin)
    rows = slice(0, case.n)
    step = fit.step(fit.space)
    for thing in (sent, step, sent(rows, fit.space.rows())):
        assert len(pickle.dumps(thing)) <= MOST_BYTES, f"{type(thing).__name__} is too large to send"
    arrived: PartOfIteration = pickle.loads(pickle.dumps(sent))
    there = fit.iterations.finish(arrived(rows, fit.space.rows()), fit.begin)
    here = fit.iterations.finish(sent(rows, fit.space.rows()), fit.begin)
    same_bits(scores_on(there.following, fit.space), scores_on(here.following, fit.space), "scores after a journey")
