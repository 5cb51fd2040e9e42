"""Laws of solvers: determined by seed and data, finite on any data, with every declared property true."""

from __future__ import annotations

import pickle
from typing import Any

import attrs
import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Array
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.errors import InvalidData
from clusterkit.core.label_turns import alternate
from clusterkit.core.outcomes import Embedding, Outcome, Scores, Tree
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import Codec, Prepared, Solver, Task
from clusterkit.testing.compare import close, numbers, same_bits, small_blocks
from clusterkit.testing.law import Law, Source, law
from clusterkit.testing.saved import saved_copy
from clusterkit.testing.strategies import VIEWS, Case, cases, views

__all__ = ["LAWS", "codebook"]

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
"""What laws about any solver draw: a problem, one of the spaces that the solver takes, one of its codings."""


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
    if stage.targets == "every_turn":
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
    from clusterkit.labelers.codecs.argmax import Argmax
    from clusterkit.labelers.codecs.interval import Interval
    from clusterkit.labelers.codecs.threshold import Threshold

    made: dict[Coding, Any] = {Coding.SIGNED: Threshold(), Coding.ORDINAL: Interval(), Coding.ONEHOT: Argmax()}
    codec: Codec = made[coding]
    return codec
