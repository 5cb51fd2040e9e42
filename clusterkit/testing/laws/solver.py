"""Laws of solvers: determined by seed and data, finite on any data, with every declared property true.

If the iterations are sums over the rows, the laws hold whoever adds up, and wherever the rows are cut (`PASS_LAWS`):
for solvers that learn from labels as for those with a state of their own.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, final

import attrs
import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Array, Labels
from clusterkit.contracts import Codec, Prepared, Solver, Task
from clusterkit.contracts.outcomes import Embedding, Outcome, Scores, Tree
from clusterkit.contracts.pass_solver import (
    Iterating,
    PartOfIteration,
    PartOfLabels,
    PassSolver,
    RowFunction,
    Summing,
    adder_of,
    solve_by_iterations,
)
from clusterkit.errors import InvalidData
from clusterkit.fitting.device_paths import has_device_path
from clusterkit.fitting.label_iterations import alternate
from clusterkit.samples import FeatureSpace, Space, build_space
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.rows import SlicedRows
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.sums import Addable
from clusterkit.samples.transform import block_plan
from clusterkit.testing.compare import DEVICE, close, copies, installed, numbers, same_bits, small_blocks, small_groups
from clusterkit.testing.law import Law, Source, law
from clusterkit.testing.strategies import VIEWS, Case, cases, views

LAWS: list[Law] = []
"""The laws of every solver, in the order in which they stand below; filled by the decorator `law`."""


def codebook(coding: Coding, k: int) -> Array:
    """Targets of the labels in the plainest form of a coding, (k, q)."""
    if coding is Coding.SIGNED:
        return np.array([[-1.0], [1.0]])
    return np.eye(k) if coding is Coding.ONEHOT else np.arange(1.0, k + 1.0)[:, None]


def _bound_to(stage: Solver, case: Case, view: str, coding: Coding | None) -> tuple[int, Space]:
    """The number of clusters, and the space of the case."""
    k = 2 if coding is Coding.SIGNED else min(case.k, stage.max_clusters or case.k)
    return k, VIEWS[view].space_of(case.X, Task(len(case.X), None), case.rng("space"))


@attrs.frozen(eq=False)
class _PreparedCase:
    """A solver prepared for a case, and targets if it learns from labels."""

    prepared: Prepared
    space: Space
    coded: Coded | None
    case: Case

    @classmethod
    def of(cls, stage: Solver, case: Case, view: str, coding: Coding | None, starts: int = 1) -> _PreparedCase:
        k, space = _bound_to(stage, case, view, coding)
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


def _compares_labels(stage: Solver) -> bool:
    return stage.has_objective and stage.targets == "every_iteration" and _has_space(stage)


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
    """The outcome is of the type that the path declares, finite on any data, and says how it ended.

    It has one row per sample, and extends where the path is inductive. Data are duplicates, constant columns, n = k,
    large offsets, float32. A solver of one iteration reports in `Outcome.status` how it ended; `resolved` has plain
    values by name.
    """
    bench = _PreparedCase.of(stage, case, view, coding)
    path, outcome = stage.path(type(bench.space)), bench.solve()
    assert path is not None
    assert isinstance(outcome, path.gives), f"the path gives {path.gives.__name__}, got {type(outcome).__name__}"
    assert np.isfinite(numbers(outcome, bench.space)).all(), "not finite"
    if isinstance(outcome, Embedding):
        assert outcome.rows.shape[0] == case.n
        assert (outcome.extend is not None) == path.inductive, f"inductive = {path.inductive} on the path"
        assert outcome.extend is None or np.isfinite(outcome.extend(case.X)).all(), "not finite on new rows"
    if isinstance(outcome, Scores) and bench.coded is not None:
        assert outcome.rows.shape[1] == bench.coded.q, "one column of scores for each column of targets"
    assert all(isinstance(name, str) for name in bench.prepared.resolved)
    if stage.targets != "every_iteration":
        assert outcome.status is not None, "no status, and the driver cannot count its iterations"
        assert outcome.status.n_iter >= 0
        assert outcome.status.reason


@law(LAWS, applies=_has_space, **ANY)
def same_seed_same_outcome(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """Equal data and equal streams give bit-equal outcomes, also of one prepared solver; the data are not changed."""
    one, other = (_PreparedCase.of(stage, case, view, coding) for _ in range(2))
    points = one.space.points.copy()
    first = numbers(one.solve(), one.space).copy()
    same_bits(numbers(one.solve(), one.space), first, "the first and the second solve")
    same_bits(numbers(other.solve(), other.space), first, "two fits")
    same_bits(one.space.points, points, "the data after the fit")


@law(LAWS, applies=_has_space, **ANY)
def extends_to_what_it_fitted(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """`extend` of the samples gives their rows, unless `Status.predicts_labels` is False; `columns` chooses of them."""
    bench = _PreparedCase.of(stage, case, view, coding)
    outcome = bench.solve()
    if not isinstance(outcome, Embedding) or outcome.extend is None:
        return
    new = outcome.extend(case.X)
    assert new.shape == outcome.rows.shape
    size = float(np.abs(case.X).max()) if view == "raw" else 1.0
    if outcome.exact_on_training:
        close(new.astype(case.dtype), outcome.rows, "rows of the samples as new ones", digits=2, scale=size)
    order: Any = case.rng("columns").permutation(new.shape[1])[: case.k]
    chosen = new[:, order]
    if isinstance(outcome, Scores) and outcome.are_memberships:  # those among the columns
        chosen = chosen / chosen.sum(axis=1, keepdims=True)
    close(outcome.extend.columns(order)(case.X), chosen, f"columns {order} of new rows", digits=2, scale=size)


@law(LAWS, applies=_has_space, **ANY)
def outcome_survives_pickling_and_saving(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """An outcome that was pickled, or saved as data and loaded, has the same values, for new rows too."""
    bench = _PreparedCase.of(stage, case, view, coding)
    outcome = bench.solve()
    for how, again in copies(outcome):
        same_bits(numbers(again, bench.space), numbers(outcome, bench.space), f"the outcome after {how}")
        if isinstance(outcome, Embedding) and isinstance(again, Embedding) and outcome.extend is not None:
            assert again.extend is not None
            same_bits(again.extend(case.X), outcome.extend(case.X), f"new rows after {how}")


@law(LAWS, applies=_has_space, **ANY)
def has_an_objective_if_it_says_so(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """`objective` gives one finite value per start if `has_objective`, else None; a history falls to that value."""
    bench = _PreparedCase.of(stage, case, view, coding)
    outcome = bench.solve()
    values = bench.prepared.objective(bench.coded, outcome)
    if not stage.has_objective:
        assert values is None, f"has_objective is False, but objective gave {values!r}"
        return
    assert values is not None, "has_objective is True, but objective gave None"
    assert np.shape(values) == (1,), f"one value a start, got shape {np.shape(values)}"
    assert np.isfinite(values).all()
    if stage.targets == "never" and outcome.status is not None and outcome.status.history:
        first, last = np.array(outcome.status.history)[[0, -1]]
        size = 1.0 + abs(first) + float(np.square(case.X, dtype=np.float64).sum())
        close(values, np.array([last]), "the objective, and where the history ends", digits=6, scale=size)
        assert last <= first + 1e-5 * size, f"the history rises from {first} to {last}"


@law(LAWS, applies=_compares_labels, view=_spaces, coding=_codings, rows=st.integers(40, 60),
     dtype=st.sampled_from(["float64", "float32"]), seed=st.integers(0, 2**16))  # fmt: skip
def labels_of_the_groups_cost_less_than_shuffled_ones(
    stage: Solver, view: str, coding: Coding, rows: int, dtype: str, seed: int
) -> None:
    """The labels of two distant groups have a smaller objective than the same labels in any other order."""
    case = Case("blobs", rows, 3, 2, dtype, seed, absolute=stage.nonnegative)
    bench, groups = _PreparedCase.of(stage, case, view, coding), (case.X[:, 0] > 1.5).astype(np.intp)
    objectives = []
    for labels in (groups, *(case.rng(f"order {number}").permutation(groups) for number in range(3))):
        coded = Coded(labels[None], coding, 2, codebook(coding, 2))
        outcome = bench.prepared.solve(coded, None, case.rng("solve"))
        objectives.append(float(bench.prepared.objective(coded, outcome)[0]))  # type: ignore[index] # it has one here
    assert objectives[0] <= min(objectives), f"of the groups and of shuffled labels: {objectives}"


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
    from clusterkit.families.shared.codecs import Argmax, Interval, Threshold

    made: dict[Coding, Any] = {Coding.SIGNED: Threshold(), Coding.ORDINAL: Interval(), Coding.ONEHOT: Argmax()}
    codec: Codec = made[coding]
    return codec


PASS_LAWS: list[Law] = []
"""The laws of solvers by passes, in the order in which they stand below."""

MOST_BYTES = 16 * 2**20
"""Largest pickle that an engine sends for an iteration."""

FEATURES = ("raw", "scaled", "random", "streamed")
"""Views of the samples as explicit features."""


def _passes(stage: Solver) -> bool:
    path = stage.paths.get(FeatureSpace)
    return path is not None and path.passes == "anywhere"


def _adds_up(stage: Solver) -> bool:
    return _passes(stage) and stage.targets != "never"


def _iterates(stage: Solver) -> bool:
    return _passes(stage) and stage.targets == "never"


def _weighs(stage: Solver) -> bool:
    return _passes(stage) and stage.paths[FeatureSpace].weighted


@attrs.frozen(eq=False)
class _Bound:
    """A solver by passes on a space, for labels or with a state of its own, and what belongs to one iteration."""

    stage: Solver
    space: FeatureSpace
    task: Task
    iterations: Summing | Iterating
    coded: Coded | None
    begin: RowFunction | None
    case: Case

    @classmethod
    def of(cls, stage: Solver, case: Case, view: str, coding: Coding | None) -> _Bound:
        k, space = _bound_to(stage, case, view, coding)
        assert isinstance(space, FeatureSpace)
        if coding is not None:
            assume(space.width <= space.n)  # wider features may have a path of their own in memory
            coded = Coded(case.labels[None] % k, coding, k, codebook(coding, k))
            return cls(stage, space, Task(case.n, k), _iterations(stage, space, Task(case.n, k)), coded, None, case)
        iterations: Any = _iterations(stage, space, Task(case.n, k))
        begin = iterations.begin(space, case.rng("solve"))
        return cls(stage, space, Task(case.n, k), iterations, None, begin, case)

    @property
    def part(self) -> PartOfLabels | PartOfIteration:
        """The part of a block, as an engine sends it."""
        iterations: Any = self.iterations
        if self.coded is None:
            assert self.begin is not None
            return PartOfIteration(iterations, self.begin, None, self.task.sample_weight)
        return PartOfLabels(adder_of(iterations), self.coded)

    def finish(self, total: Addable) -> Any:
        """The end of the iteration, or one more pass over the same labels."""
        return self.iterations.finish(total, self.begin)  # type: ignore[arg-type] # the state, or no labels before

    def ended(self, reduce: Callable[[Any], Addable]) -> Any:
        """The end of the iteration, after as many passes as it makes; `reduce` adds its part up over the rows."""
        bound, step = self, self.finish(reduce(self.part))
        while isinstance(step, Summing):
            bound = attrs.evolve(bound, iterations=step)
            step = bound.finish(reduce(bound.part))
        return step

    def iterate(self, space: FeatureSpace | None = None) -> tuple[RowFunction, Array]:
        """The function after an iteration, and its objective."""
        step = self.ended((space or self.space).reduce)
        return (step.following, np.array([step.objective])) if self.coded is None else (step.extend, step.objective)

    def again(self, space: FeatureSpace, labels: Labels | None = None, weights: Array | None = None) -> _Bound:
        """The iteration of other rows, or of weighted ones, from the same function or with labels for these."""
        task = Task(space.n, self.task.k, sample_weight=weights)
        coded = self.coded and attrs.evolve(self.coded, weights=weights)
        if labels is not None and coded is not None:
            coded = attrs.evolve(coded, labels=labels)
        iterations = _iterations(self.stage, space, task)
        return attrs.evolve(self, space=space, task=task, coded=coded, iterations=iterations)

    def prepared(self, task: Task | None = None) -> Prepared:
        return self.stage.prepare(self.space, task or self.task, self.case.rng("prepare"))

    def solve(self, prepared: Prepared) -> Scores:
        outcome = prepared.solve(self.coded, None, self.case.rng("solve"))
        assert isinstance(outcome, Scores)
        return outcome

    @property
    def size(self) -> float:
        """The size of the numbers that are added up, for what counts as rounding."""
        factor = max(1.0, self.prepared().objective_factor) * self.space.n
        return factor + float(np.square(self.space.rows()).sum())


def _iterations(stage: Solver, space: FeatureSpace, task: Task) -> Summing | Iterating:
    try:
        iterations = bound_by_passes(stage, space, task).iterations
    except InvalidData:  # a documented refusal, for example of negative features
        reject()
    expected = Iterating if stage.targets == "never" else Summing
    assert isinstance(iterations, expected), f"expected a {expected.__name__}, got {type(iterations).__name__}"
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


IN_PASSES: dict[str, Source] = {"view": st.sampled_from(FEATURES), "coding": _codings}

ANY_PASSED: dict[str, Source] = {"case": cases(), **IN_PASSES}
"""Examples for laws about any solver by passes."""


@law(PASS_LAWS, applies=_adds_up, **ANY_PASSED)
def sums_and_finish_equal_solve(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """The function that `finish` makes of the sums gives the scores of `solve` bit for bit, within one group."""
    bound = _Bound.of(stage, case, view, coding)
    assert bound.coded is not None
    function, objective = bound.iterate()
    same_bits(scores_on(function, bound.space), bound.solve(bound.prepared()).rows, "scores by sums and by solve")
    assert objective.shape == (bound.coded.starts,)
    assert np.isfinite(objective).all()


@law(PASS_LAWS, applies=_iterates, **ANY_PASSED)
def iterations_give_what_solve_gives(stage: Solver, case: Case, view: str, coding: None) -> None:
    """The function that the iterations end with gives the scores of `solve`, in as many iterations."""
    bound = _Bound.of(stage, case, view, coding)
    function, status = solve_by_iterations(bound.iterations, bound.space, case.rng("solve"))  # type: ignore[arg-type] # a state
    outcome = bound.solve(bound.prepared())
    assert outcome.status is not None
    assert status.n_iter == outcome.status.n_iter
    assert status.converged == outcome.status.converged
    same_bits(scores_on(function, bound.space), outcome.rows, "scores by iterations and by solve")
    close(np.array(status.history), np.array(outcome.status.history), "objectives", digits=3, scale=bound.size)


@law(PASS_LAWS, applies=_passes, case=cases(["blobs"], dtypes=["float64"]), **IN_PASSES,
     data=st.lists(st.integers(0, 200), max_size=5), group=st.integers(1, 40))  # fmt: skip
def any_cut_of_the_rows_gives_the_same_scores(
    stage: Solver, case: Case, view: str, coding: Coding | None, data: list[int], group: int
) -> None:
    """Where the rows are cut into blocks and groups changes rounding errors only."""
    bound = _Bound.of(stage, case, view, coding)
    assume(bound.coded is None or bound.coded.sizes().min() > 0)
    cut = cut_space(bound.space, tuple(sorted(min(end, case.n) for end in data)))
    function, objective = bound.iterate()
    with small_groups(group):
        again, value = (bound if coding is None else bound.again(cut)).iterate(cut)
    close(value, objective, "objective after another cut", digits=6, scale=bound.size)
    one, other = scores_on(again, bound.space), scores_on(function, bound.space)
    close(one, other, "scores after another cut", digits=6, scale=1.0)


def _on_a_device(stage: Solver) -> bool:
    return installed() and _passes(stage) and has_device_path(stage)


@law(PASS_LAWS, applies=_on_a_device, case=cases(["blobs"], dtypes=["float64"]), **IN_PASSES)
def an_iteration_on_a_device_gives_the_same_scores(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """Rows that an engine moves to a device have the scores and the objective of the host, up to rounding."""
    bound = _Bound.of(stage, case, view, coding)
    assume(bound.coded is None or bound.coded.sizes().min() > 0)
    there = RowsSpace.of(SlicedRows(case.X), DeviceEngine(DEVICE), bound.space.mapping, bound.space.before)
    function, objective = bound.iterate()
    again, value = bound.again(there).iterate(there)
    close(value, objective, "objective on a device", digits=6, scale=bound.size)
    close(scores_on(again, bound.space), scores_on(function, bound.space), "scores on a device", digits=6, scale=1.0)


@law(PASS_LAWS, applies=_passes, **ANY_PASSED)
def an_empty_block_adds_nothing(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """The part of a block without rows changes no bit of what is finished, before or behind the others."""
    bound = _Bound.of(stage, case, view, coding)
    H = bound.space.rows()

    def added(part: Any, *, before: RowFunction | None, order: int) -> Addable:
        if isinstance(part, PartOfIteration):
            part = attrs.evolve(part, before=before)
        every, none = part(slice(0, case.n), H), part(slice(0, 0), H[:0])
        total: Addable = (every, none + every, every + none)[order]
        return total

    for before in [None] if coding else [None, bound.begin]:
        plain, *padded = (bound.ended(partial(added, before=before, order=order)) for order in range(3))
        for finished in padded:
            assert type(finished) is type(plain)
            one, other = (np.asarray(each.objective) for each in (finished, plain))
            same_bits(one, other, "the objective with an empty block")
            if coding is None:
                assert finished.settled == plain.settled
                one, other = (scores_on(each.following, bound.space) for each in (finished, plain))
                same_bits(one, other, "scores with an empty block")


@law(PASS_LAWS, applies=_adds_up, case=cases(dtypes=["float64"]), **IN_PASSES)
def sums_know_the_objective(stage: Solver, case: Case, view: str, coding: Coding) -> None:
    """The objective from the sums is that of `objective`, with and without the scores of the iteration before."""
    bound = _Bound.of(stage, case, view, coding)
    prepared, coded = bound.prepared(), bound.coded
    assert coded is not None
    value = prepared.objective(coded, bound.solve(prepared))
    assert value is not None
    function, objective = bound.iterate()
    close(objective, value, "objective from the sums", digits=6, scale=bound.size)

    def added(part: Any) -> Addable:
        return bound.space.reduce(lambda rows, H: part.adder.part(H, coded.of(rows), function.on(H)))

    step = attrs.evolve(bound, begin=function).ended(added)
    close(step.objective, value, "objective from sums with scores", digits=6, scale=bound.size)


@law(PASS_LAWS, applies=_weighs, case=cases(dtypes=["float64"]), **IN_PASSES, counts=st.integers(0, 2**16))
def a_weight_of_three_is_three_equal_rows(
    stage: Solver, case: Case, view: str, coding: Coding | None, counts: int
) -> None:
    """Whole weights of the samples give the scores and the objective of repeated samples with the same labels."""
    bound = _Bound.of(stage, case, view, coding)
    repeats = np.random.default_rng(counts).integers(0, 4, case.n)
    assume(repeats.any())
    again, labels = np.repeat(np.arange(case.n), repeats), None
    if bound.coded is not None:
        labels = bound.coded.labels[:, again]
        assume(len(np.unique(labels)) == bound.coded.k)  # the rule for empty classes takes each sample once
    repeated = build_space(bound.space.points[again], bound.space.mapping, before=bound.space.before)
    assert isinstance(repeated, FeatureSpace)
    counted = bound.again(bound.space, weights=repeats.astype(np.float64))
    ends = [each.iterate() for each in (counted, bound.again(repeated, labels))]
    size = bound.again(repeated, labels).size
    scores, expected = (scores_on(function, bound.space) for function, _ in ends)
    close(scores, expected, "scores by weights and by repeated samples", digits=6, scale=1.0)
    close(ends[0][1], ends[1][1], "objective by weights and by repeated samples", digits=6, scale=size)
    if coding is not None:
        prepared = counted.prepared()
        outcome = counted.solve(prepared)
        close(outcome.rows, scores, "scores of `solve` and by sums", digits=6, scale=1.0)
        value = prepared.objective(counted.coded, outcome)
        assert value is not None
        close(value, ends[0][1], "the objective and that from the sums", digits=6, scale=size)


@law(PASS_LAWS, applies=_passes, **ANY_PASSED)
def iterations_travel(stage: Solver, case: Case, view: str, coding: Coding | None) -> None:
    """What an engine sends pickles, below 16 MiB, and gives the same bits in another process."""
    bound = _Bound.of(stage, case, view, coding)
    part = bound.part
    if isinstance(part, PartOfIteration):
        part = attrs.evolve(part, before=bound.begin)
    total = part(slice(0, case.n), bound.space.rows())
    for thing in (bound.iterations, part, total, bound.finish(total)):
        assert len(pickle.dumps(thing)) <= MOST_BYTES, f"{type(thing).__name__} is too large to send"
    there = attrs.evolve(bound, iterations=pickle.loads(pickle.dumps(bound.iterations)))
    with small_blocks():
        one, other = (scores_on(each.iterate()[0], bound.space) for each in (there, bound))
    same_bits(one, other, "scores after a journey")
