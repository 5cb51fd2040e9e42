"""The kit itself: each law is broken by a stage made for it, and says so."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
import pytest
from hypothesis import Phase
from laws.broken_drivers import Forgetful, Misreporting, Mute, Overconfident, Shifting, Shortening, Unrepeatable
from laws.broken_solvers import Ascending, Climbing, Silent, by_passes, solver
from laws.broken_stages import (
    Backwards,
    Boundless,
    Elsewhere,
    Fickle,
    Freely,
    Gappy,
    Hollow,
    Indefinite,
    Last,
    Lazy,
    MeanRemoved,
    Misdeclared,
    Outside,
    Overwriting,
    Ranked,
    Restless,
    Scattering,
    Turning,
    Unseeded,
    Upside,
    Widening,
)

from clusterkit.contracts import Partitioner, params
from clusterkit.contracts.registry import registry
from clusterkit.errors import UnknownName
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
def without_shrinking(change_settings):
    """That a law is broken is enough here; the smallest example is not looked for."""
    change_settings(phases=[Phase.generate])


BROKEN = [
    (attrs.frozen(MeanRemoved)(), {"maps_each_row_alone", "survives_pickling_and_saving"}),
    (attrs.frozen(Widening)(), {"gives_the_space_it_declares"}),
    (attrs.frozen(Unseeded)(), {"same_seed_same_map"}),
    (attrs.frozen(Overwriting)(), {"same_seed_same_map"}),
    (attrs.frozen(Misdeclared)(), {"gives_the_space_it_declares"}),
    (attrs.frozen(Indefinite)(), {"gram_is_symmetric_and_positive"}),
    (attrs.frozen(Elsewhere)(), {"rows_are_mapped_as_in_memory"}),
    (attrs.frozen(Last)(), {"members_may_come_in_any_order"}),
    (by_passes("empty"), {"an_empty_block_adds_nothing"}),
    (by_passes("unweighted"), {"a_weight_of_three_is_three_equal_rows"}),
    (solver("remembers"), {"same_seed_same_outcome"}),
    (solver("unseeded"), {"same_seed_same_outcome"}),
    (solver("nan"), {"gives_what_its_path_says"}),
    (solver("order"), {"permuted_rows_give_permuted_scores"}),
    (solver("peeks"), {"streamed_equals_dense"}),
    (solver("extends"), {"extends_to_what_it_fitted"}),
    (solver("columns"), {"extends_to_what_it_fitted"}),
    (solver("far", has_objective=True), {"labels_of_the_groups_cost_less_than_shuffled_ones"}),
    (solver("closure"), {"outcome_survives_pickling_and_saving"}),
    (solver("type"), {"gives_what_its_path_says"}),
    (solver("transductive"), {"gives_what_its_path_says"}),
    (solver("objective"), {"has_an_objective_if_it_says_so"}),
    (solver("", has_objective=True), {"has_an_objective_if_it_says_so"}),
    (solver("rises", has_objective=True, monotone=True), {"objective_never_rises"}),
    (solver("stacks", columns=True), {"stacked_starts_equal_single_ones"}),
    (attrs.frozen(Silent)(), {"gives_what_its_path_says"}),
    (attrs.frozen(Climbing)(), {"has_an_objective_if_it_says_so"}),
    (attrs.frozen(Ascending)(), {"has_an_objective_if_it_says_so"}),
    (attrs.frozen(Upside)(), {"decoding_inverts_encoding"}),
    (attrs.frozen(Ranked)(), {"costs_of_a_row_depend_on_it_alone"}),
    (attrs.frozen(Hollow)(), {"costs_are_finite"}),
    (attrs.frozen(Turning)(), {"calibrating_changes_nothing_in_place", "label_is_the_cheapest_ties_lowest"}),
    (attrs.frozen(Scattering)(), {"equal_samples_share_a_label", "predicting_the_samples_repeats_their_labels",
                                  "predicts_any_rows_after_pickling_and_saving"}),
    (attrs.frozen(Gappy)(), {"labels_are_numbers_in_range", "same_seed_same_labels"}),
    (attrs.frozen(Backwards)(), {"numbers_follow_first_appearance"}),
    (attrs.frozen(Lazy)(), {"sizes_are_within_bounds"}),
    (attrs.frozen(Restless)(), {"balancing_twice_is_balancing_once", "moves_nothing_without_need",
                                "two_classes_cost_no_more_than_they_must", "exact_means_that_costs_decide"}),
    (attrs.frozen(Boundless)(), {"bounds_are_possible_or_refused"}),
    (attrs.frozen(Outside)(), {"labels_are_numbers_in_range", "no_part_is_empty"}),
    (attrs.frozen(Fickle)(), {"streams_do_not_matter_if_it_does_not_vary"}),
    (attrs.frozen(Freely)(), {"same_seed_same_parts"}),
    (attrs.frozen(Shortening)(), {"returns_one_fit_of_all_samples"}),
    (attrs.frozen(Misreporting)(), {"returns_one_fit_of_all_samples"}),
    (attrs.frozen(Unrepeatable)(), {"same_seeds_same_answer"}),
    (attrs.frozen(Shifting)(), {"same_seeds_same_answer"}),
    (attrs.frozen(Forgetful)(), {"answers_a_single_cluster"}),
    (attrs.frozen(Mute)(), {"predicts_new_samples"}),
    (attrs.frozen(Overconfident)(), {"predicts_new_samples"}),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "laws"), BROKEN, ids=lambda value: getattr(value, "name", None))
def test_a_broken_stage_breaks_the_law_made_for_it(stage, laws):
    checks = dict(laws_of(stage))
    assert laws == {name for name in laws if is_broken(checks[name])}


def test_an_objective_of_the_right_sign_breaks_no_law():
    assert not {"labels_of_the_groups_cost_less_than_shuffled_ones", "extends_to_what_it_fitted"} & broken_by(
        solver("near", has_objective=True)
    )


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

    def start(self, samples, task, rng):
        return (np.arange(samples.n) + self.shift) % task.k


def test_a_sound_stage_of_a_session_breaks_none():
    assert broken_by(Sound) == set()
    check_stage(Sound(shift=1))


@attrs.define
class Sloppy(Partitioner):
    """Not frozen, not final, undocumented, mutable, unhashable, unchecked; a name in camel case."""

    name: ClassVar[str] = "BadName"
    tunable: ClassVar[frozenset[str]] = frozenset({"nothing"})
    shift: int = attrs.field(default=0, metadata={"invalid": (-1,)})

    def start(self, samples, task, rng):
        return np.arange(samples.n) % task.k


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

    def start(self, samples, task, rng):
        return np.arange(samples.n) % task.k


@final
@attrs.frozen
class Outdated(Partitioner):
    """Every k-th sample, with a docstring that was true once.

    Parameters
    ----------
    shift : int, default 0
    """

    name: ClassVar[str] = "outdated"
    sees: ClassVar[str] = "input"
    varies: ClassVar[bool] = False
    shift: int = params.integer(1, at_least=0)

    def start(self, samples, task, rng):
        return (np.arange(samples.n) + self.shift) % task.k


def test_a_default_that_the_docstring_states_must_be_the_default():
    with pytest.raises(AssertionError, match=r"documents_itself.*\n.*'shift : int, default 0', and the default is 1"):
        check_stage(Outdated)


def test_a_refusal_must_name_the_stage():
    with pytest.raises(AssertionError, match="partitioner 'anonymous' is not in the message"):
        check_stage(Anonymous)


def test_the_message_names_stage_law_and_example():
    message = (
        r"(?s)partitioner 'outside' breaks the law labels_are_numbers_in_range: Each sample gets one integer .*Case\("
    )
    with pytest.raises(AssertionError, match=message):
        dict(laws_of(attrs.frozen(Outside)()))["labels_are_numbers_in_range"]()


class TestNames:
    def test_a_name_of_two_kinds_must_be_told_apart(self):
        @attrs.frozen
        class Ridge(Sound):  # type: ignore[misc]
            name: ClassVar[str] = "ridge"

        registry.register(Ridge)
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

    def test_cases_with_drawn_examples_are_marked(self):
        marks = {case.id: [mark.name for mark in case.marks] for case in parametrize_with_laws(names=["ridge"]).args[1]}
        assert marks["solver-ridge-same_seed_same_outcome"] == ["hypothesis"]
        assert marks["solver-ridge-imports_nothing_heavy"] == []

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

            def start(self, samples, task, rng):
                return np.zeros(samples.n, int)

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

            def start(self, samples, task, rng):
                return np.zeros(samples.n, int)

        assert [(label, stage.way) for label, stage in variants(Worded())] == [("", "up"), ("[way=down]", "down")]
