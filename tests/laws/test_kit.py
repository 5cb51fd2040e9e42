"""The kit itself: each law is broken by a stage made for it, and says so."""

from __future__ import annotations

from typing import Any, ClassVar, final

import attrs
import numpy as np
import pytest
from hypothesis import Phase, settings

from clusterkit.core import params
from clusterkit.core.coding import Coding
from clusterkit.core.errors import UnknownName
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import Embedding, LinearRows, Scores
from clusterkit.core.registry import registry
from clusterkit.core.spaces import FeatureSpace, KernelSpace, build_space
from clusterkit.core.stages import (
    Assignment,
    Balancer,
    Codec,
    FeatureMap,
    Labeler,
    Labeling,
    Partitioner,
    Path,
    Prepared,
    Solver,
)
from clusterkit.core.transform import Keep
from clusterkit.testing import check_stage, laws_of, parametrize_with_laws
from clusterkit.testing.conformance import variants


def broken_by(stage) -> set[str]:
    """Names of the laws a stage breaks."""
    return {name for name, check in laws_of(stage) if is_broken(check)}


def is_broken(check) -> bool:
    try:
        check()
    except AssertionError:
        return True
    return False


@pytest.fixture(autouse=True)
def without_shrinking():
    """That a law is broken is enough here; the smallest example is not looked for."""
    usual = settings.get_current_profile_name()
    settings.register_profile("found", parent=settings(), phases=[Phase.generate])
    settings.load_profile("found")
    yield
    settings.load_profile(usual)


# --- one broken stage a law; each class differs from a sound one in a single point ---


@attrs.frozen
class Moved:
    """Subtracts the mean of whatever rows it is given: not row-wise."""

    width: int

    def __call__(self, Y):
        return Y - Y.mean(axis=0)


@attrs.frozen
class Widened:
    """Forgets the number type."""

    width: int

    def __call__(self, Y):
        return Y.astype(np.float64)


class MeanRemoved(FeatureMap):
    name: ClassVar[str] = "mean_removed"

    def fit(self, X, task, rng):
        return build_space(X, Moved(X.shape[1]), storage="dense")


class Widening(FeatureMap):
    name: ClassVar[str] = "widening"

    def fit(self, X, task, rng):
        return build_space(X, Widened(X.shape[1]), storage="streamed")


class Unseeded(FeatureMap):
    name: ClassVar[str] = "unseeded"

    def fit(self, X, task, rng):
        noise = np.random.default_rng().standard_normal()
        return build_space(X * np.asarray(noise, X.dtype), Scaled(X.shape[1], noise), storage="dense")


@attrs.frozen
class Scaled:
    width: int
    factor: float

    def __call__(self, Y):
        return (Y * self.factor).astype(Y.dtype)


class Overwriting(FeatureMap):
    name: ClassVar[str] = "overwriting"

    def fit(self, X, task, rng):
        X[0] = 1.0
        return build_space(X, Keep(X.shape[1]), storage="dense")


class Misdeclared(FeatureMap):
    name: ClassVar[str] = "misdeclared"

    def fit(self, X, task, rng):
        return KernelSpace(X, Gaussian(1.0))


@final
@attrs.frozen
class Negative:
    def __call__(self, A, B):
        return -Gaussian(1.0)(A, B)

    def diag(self, A):
        return -np.ones(len(A), A.dtype)


class Indefinite(FeatureMap):
    name: ClassVar[str] = "indefinite"
    gives: ClassVar[type] = KernelSpace

    def fit(self, X, task, rng):
        return KernelSpace(X, Negative())


@attrs.define(eq=False)
class FaultyPrepared(Prepared):
    """Scores by class means, with one fault."""

    space: FeatureSpace
    fault: str
    turns: int = 0
    resolved: ClassVar[dict] = {}

    def solve(self, targets, previous, rng):
        B = self.space.adjoint(targets) / np.maximum(targets.sizes().ravel(), 1)  # (L, k)
        rows = self.space.apply(B)
        self.turns += 1
        if self.fault == "stacks":
            rows = rows * targets.starts
        if self.fault == "remembers":
            rows = rows + self.turns
        if self.fault == "unseeded":
            rows = rows + np.random.default_rng().standard_normal(rows.shape)
        if self.fault == "nan":
            rows = rows / np.where(rows == 0, np.nan, 1.0)
        if self.fault == "order":
            rows = rows * np.arange(1, len(rows) + 1)[:, None]
        if self.fault == "peeks":
            # all rows at once instead of the blocks of the plan
            rows = rows + float(sum(np.sum(H, dtype=H.dtype) for _, H in self.space.blocks())) * (
                type(self.space).__name__ == "StreamedSpace"
            )
        extend = LinearRows(self.space.transform, B)
        if self.fault == "extends":
            extend = LinearRows(self.space.transform, B + 1.0)
        if self.fault == "closure":
            return Scores(rows, lambda Y: LinearRows(self.space.transform, B)(Y))
        if self.fault == "type":
            return Embedding(rows, extend)
        if self.fault == "transductive":
            extend = None
        return Scores(rows, extend, starts=targets.starts)

    def objective(self, targets, outcome):
        return np.array([float(self.turns)]) if self.fault in ("objective", "rises") else None


def _faulty(solver, space, task, rng):
    return FaultyPrepared(space, solver.fault)


class Faulty(Solver):
    """Parameters: fault."""

    name: ClassVar[str] = "faulty"
    codings: ClassVar[frozenset] = frozenset({Coding.ONEHOT})
    targets: ClassVar[str] = "every_turn"
    fault: str = ""

    @property
    def paths(self):
        return {FeatureSpace: Path(_faulty, Scores)}


def solver(fault: str, **promises: Any) -> Solver:
    cls = attrs.frozen(type("Faulty", (Faulty,), {"__annotations__": {"fault": str}, "fault": fault, **promises}))
    return cls()


class Silent(Solver):
    """One turn, and no status."""

    name: ClassVar[str] = "silent"

    @property
    def paths(self):
        return {FeatureSpace: Path(_silent, Embedding)}


@attrs.frozen(eq=False)
class SilentPrepared(Prepared):
    space: FeatureSpace
    resolved: ClassVar[dict] = {}

    def solve(self, targets, previous, rng):
        B = np.ones((self.space.width, 1))
        return Embedding(self.space.apply(B), LinearRows(self.space.transform, B))

    def objective(self, targets, outcome):
        return None


def _silent(solver, space, task, rng):
    return SilentPrepared(space)


class Upside(Codec):
    """Decodes the farthest target."""

    name: ClassVar[str] = "upside"
    coding: ClassVar[Coding] = Coding.ONEHOT

    def codebook(self, k):
        return np.eye(k)

    def costs(self, rows, k):
        return rows

    def calibrate(self, rows, task):
        return self


class Ranked(Upside):
    """Costs that depend on all rows."""

    name: ClassVar[str] = "ranked"

    def costs(self, rows, k):
        return -rows + rows.max()


class Hollow(Upside):
    """Costs of a score of zero are infinite."""

    name: ClassVar[str] = "hollow"

    def costs(self, rows, k):
        return np.where(rows == 0, np.inf, -rows)


class Turning(Upside):
    """`calibrate` scales the scores it was given."""

    name: ClassVar[str] = "turning"

    def costs(self, rows, k):
        return -rows

    def calibrate(self, rows, task):
        rows *= 2
        return self


@attrs.frozen(eq=False)
class Shifted:
    """The wrong answer, and more labels than there are."""

    k: int

    def __call__(self, Y):
        return np.full(len(Y), self.k)


class Scattering(Labeler):
    """Labels by position."""

    name: ClassVar[str] = "scattering"
    consumes: ClassVar[type] = Embedding

    def label(self, outcome, space, task, rng):
        return Labeling(np.arange(space.n) % task.k, Shifted(task.k))


class Gappy(Labeler):
    """Finds clusters 1 and 3; from a stream of its own."""

    name: ClassVar[str] = "gappy"
    consumes: ClassVar[type] = Embedding
    finds_k: ClassVar[bool] = True

    def label(self, outcome, space, task, rng):
        labels = np.where(np.random.default_rng().random(space.n) > 0.5, 3, 1)
        return Labeling(labels, None)


class Backwards(Labeler):
    """Numbers the last sample's cluster 0."""

    name: ClassVar[str] = "backwards"
    consumes: ClassVar[type] = Embedding
    finds_k: ClassVar[bool] = True
    inductive: ClassVar[bool] = False

    def label(self, outcome, space, task, rng):
        _, labels = np.unique(-outcome.rows[:, 0], return_inverse=True)
        return Labeling(labels, None)


class Lazy(Balancer):
    """Promises sizes, and does nothing."""

    name: ClassVar[str] = "lazy"

    def bounds(self, n, k):
        return np.full(k, n // k), np.full(k, -(-n // k))

    def assign(self, costs, labels, task):
        return Assignment(labels, None, True)

    def resolved(self, n, k):
        return {}


class Restless(Lazy):
    """Feasible, but never twice the same, and dear."""

    name: ClassVar[str] = "restless"

    def assign(self, costs, labels, task):
        return Assignment((np.roll(np.arange(len(labels)), 1 + int(labels[0])) % costs.shape[1]), None, True)


class Boundless(Lazy):
    """Bounds that cannot be met."""

    name: ClassVar[str] = "boundless"

    def bounds(self, n, k):
        return np.full(k, n), np.full(k, n)

    def resolved(self, n, k):
        return {"size": 3}


class Outside(Partitioner):
    name: ClassVar[str] = "outside"
    sees: ClassVar[str] = "input"

    def partition(self, samples, task, rng):
        return np.full(len(samples), task.k)


class Fickle(Partitioner):
    name: ClassVar[str] = "fickle"
    sees: ClassVar[str] = "input"
    varies: ClassVar[bool] = False

    def partition(self, samples, task, rng):
        return rng.integers(task.k, size=len(samples))


class Freely(Partitioner):
    name: ClassVar[str] = "freely"
    sees: ClassVar[str] = "input"

    def partition(self, samples, task, rng):
        return np.random.default_rng().integers(task.k, size=len(samples))


BROKEN = [
    (attrs.frozen(MeanRemoved)(), {"maps_each_row_alone"}),
    (attrs.frozen(Widening)(), {"is_finite_and_keeps_the_type"}),
    (attrs.frozen(Unseeded)(), {"same_seed_same_map"}),
    (attrs.frozen(Overwriting)(), {"same_seed_same_map"}),
    (attrs.frozen(Misdeclared)(), {"gives_the_space_it_declares"}),
    (attrs.frozen(Indefinite)(), {"gram_is_symmetric_and_positive"}),
    (solver("remembers"), {"solving_twice_is_solving_once"}),
    (solver("unseeded"), {"same_seed_same_outcome"}),
    (solver("nan"), {"is_finite"}),
    (solver("order"), {"permuted_rows_give_permuted_scores"}),
    (solver("peeks"), {"streamed_equals_dense"}),
    (solver("extends"), {"extends_to_what_it_fitted"}),
    (solver("closure"), {"outcome_survives_pickling"}),
    (solver("type"), {"gives_what_its_path_says"}),
    (solver("transductive"), {"gives_what_its_path_says"}),
    (solver("objective"), {"has_an_objective_if_it_says_so"}),
    (solver("", has_objective=True), {"has_an_objective_if_it_says_so"}),
    (solver("rises", has_objective=True, monotone=True), {"objective_never_rises"}),
    (solver("stacks", columns=True), {"stacked_starts_equal_single_ones"}),
    (attrs.frozen(Silent)(), {"reports_itself"}),
    (attrs.frozen(Upside)(), {"decoding_inverts_encoding"}),
    (attrs.frozen(Ranked)(), {"costs_of_a_row_depend_on_it_alone"}),
    (attrs.frozen(Hollow)(), {"costs_are_finite"}),
    (attrs.frozen(Turning)(), {"calibrating_changes_nothing_in_place", "label_is_the_cheapest_ties_lowest"}),
    (attrs.frozen(Scattering)(), {"equal_samples_share_a_label", "predicting_the_samples_repeats_their_labels",
                                  "predicts_any_rows_after_pickling"}),
    (attrs.frozen(Gappy)(), {"labels_are_numbers_in_range", "same_seed_same_labels"}),
    (attrs.frozen(Backwards)(), {"numbers_follow_first_appearance"}),
    (attrs.frozen(Lazy)(), {"sizes_are_within_bounds"}),
    (attrs.frozen(Restless)(), {"balancing_twice_is_balancing_once", "moves_nothing_without_need",
                                "two_classes_cost_no_more_than_they_must", "exact_means_that_costs_decide"}),
    (attrs.frozen(Boundless)(), {"bounds_are_possible_or_refused"}),
    (attrs.frozen(Outside)(), {"labels_are_numbers_in_range", "no_part_is_empty"}),
    (attrs.frozen(Fickle)(), {"streams_do_not_matter_if_it_does_not_vary"}),
    (attrs.frozen(Freely)(), {"same_seed_same_parts"}),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "laws"), BROKEN, ids=lambda value: getattr(value, "name", None))
def test_a_broken_stage_breaks_the_law_made_for_it(stage, laws):
    checks = dict(laws_of(stage))
    assert laws == {name for name in laws if is_broken(checks[name])}


@final
@attrs.frozen
class Sound(Partitioner):
    """Every k-th sample.

    Parameters
    ----------
    shift : int, default 0
        Number of the first sample's part.
    """

    name: ClassVar[str] = "sound"
    sees: ClassVar[str] = "input"
    varies: ClassVar[bool] = False
    shift: int = params.integer(0, at_least=0)

    def partition(self, samples, task, rng):
        return (np.arange(len(samples)) + self.shift) % task.k


def test_a_sound_stage_of_a_session_breaks_none():
    assert broken_by(Sound) == set()
    check_stage(Sound(shift=1))


@attrs.define
class Sloppy(Partitioner):
    """Not frozen, not final, undocumented, mutable, unhashable, unchecked; a name in camel case."""

    name: ClassVar[str] = "BadName"
    tunable: ClassVar[frozenset[str]] = frozenset({"nothing"})
    shift: int = attrs.field(default=0, metadata={"invalid": (-1,)})

    def partition(self, samples, task, rng):
        return np.arange(len(samples)) % task.k


def test_the_contract_names_what_is_missing():
    assert {
        "is_final_and_frozen",
        "has_a_plain_name",
        "documents_itself",
        "refuses_values_out_of_range",
        "tunes_what_it_has",
    } <= broken_by(Sloppy)


@final
@attrs.frozen
class Anonymous(Partitioner):
    """Refuses without saying who.

    Parameters
    ----------
    shift : int
    """

    name: ClassVar[str] = "anonymous"
    shift: int = attrs.field(default=0, validator=attrs.validators.ge(0), metadata={"invalid": (-1,)})

    def partition(self, samples, task, rng):
        return np.arange(samples.n) % task.k


def test_a_refusal_must_name_the_stage():
    with pytest.raises(AssertionError, match="partitioner 'anonymous' is not in the message"):
        check_stage(Anonymous)


def test_the_message_names_stage_law_and_example():
    said = r"(?s)partitioner 'outside' breaks the law labels_are_numbers_in_range: One integer .*Case\("
    with pytest.raises(AssertionError, match=said):
        dict(laws_of(attrs.frozen(Outside)()))["labels_are_numbers_in_range"]()


class TestNames:
    def test_a_name_of_two_kinds_must_be_told_apart(self):
        registry.register(Sound, name="ridge")
        with pytest.raises(UnknownName, match="solver and partitioner have a stage named 'ridge'"):
            check_stage("ridge")
        assert [name for name, _ in laws_of("partitioner:ridge")] == [name for name, _ in laws_of(Sound)]

    def test_an_unknown_name_is_an_error(self):
        with pytest.raises(UnknownName, match="no kind of stage has a stage named 'no_such'"):
            check_stage("no_such")

    def test_something_else_is_an_error(self):
        with pytest.raises(TypeError, match="takes a stage, its class or its name, got 3"):
            check_stage(3)


class TestParametrisation:
    def test_ids_read_kind_name_law(self):
        mark = parametrize_with_laws(kind="solver", names=["ridge"])
        assert "solver-ridge-same_seed_same_outcome" in [param.id for param in mark.args[1]]

    def test_a_distribution_without_stages_is_an_error(self):
        with pytest.raises(UnknownName, match="no registered stage has distribution='not-there'"):
            parametrize_with_laws(distribution="not-there")

    def test_a_stage_that_does_not_construct_is_a_failing_case(self):
        @final
        @attrs.frozen
        class Needy(Partitioner):
            """Needs an argument."""

            name: ClassVar[str] = "needy"
            must: int

            def partition(self, samples, task, rng):
                return np.zeros(len(samples), int)

        registry.register(Needy)
        [case] = parametrize_with_laws(names=["needy"]).args[1]
        assert case.id == "partitioner-needy-loads"
        with pytest.raises(TypeError, match="must"):
            case.values[0]()

    def test_words_of_a_parameter_become_variants(self):
        @final
        @attrs.frozen
        class Worded(Partitioner):
            """Has a word."""

            name: ClassVar[str] = "worded"
            way: str = attrs.field(default="up", metadata={"options": ("up", "down")})

            def partition(self, samples, task, rng):
                return np.zeros(len(samples), int)

        assert [(label, stage.way) for label, stage in variants(Worded())] == [("", "up"), ("[way=down]", "down")]
