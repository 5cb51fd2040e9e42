"""The corpus of data and the list of cases: as large as promised, and the same for the same seed."""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pytest

import clusterkit
from clusterkit.errors import UnknownName
from clusterkit_campaign.cases import Selection, cases, subject_of, trial_of
from clusterkit_campaign.data_sets import CONTAINERS, awkward_sets, plain


def test_there_are_many_sets_and_each_can_be_drawn():
    assert len(awkward_sets()) >= 120
    for each in awkward_sets().values():
        values = each.drawn(3)
        if each.expected != "refusal":
            assert values.ndim == 2, each.name
            assert np.isfinite(values).all(), each.name
            np.testing.assert_array_equal(values, each.drawn(3))
            assert np.shape(each.put(values)) == values.shape, each.name


def test_a_container_keeps_whole_numbers():
    X = np.array([[0.0, 2.0], [3.0, 5.0], [0.0, 7.0]])
    for name, put in CONTAINERS.items():
        held = put(np.minimum(X, 2.0) if name == "bool" else X)
        dense = held.toarray() if hasattr(held, "toarray") else plain(held)
        np.testing.assert_array_equal(dense, X > 1.0 if name == "bool" else X, name)


def test_the_cases_follow_from_the_seed():
    one, other, another = (list(itertools.islice(cases(seed), 300)) for seed in (5, 5, 6))
    assert one == other
    assert [case.number for case in one] == list(range(300))
    assert one != another


def test_three_hundred_rounds_are_a_campaign():
    """By the numbers of one round: fits of every recipe, comparisons, parameters, files."""
    per_round = collections.Counter(case.area for case in itertools.takewhile(lambda c: c.round_number == 0, cases(1)))
    assert per_round["fits"] >= len(clusterkit.recipes())
    assert 300 * per_round["comparisons"] * 24 >= 100_000
    assert 300 * per_round["parameters"] * 6 >= 10_000
    assert 300 * per_round["files"] * 34 >= 10_000


def test_every_recipe_meets_another_set_in_every_round():
    fits = [case for case in itertools.takewhile(lambda c: c.round_number < 70, cases(2)) if case.area == "fits"]
    met = collections.defaultdict(set)
    for case in fits:
        met[case.subject].add(case.item)
    assert min(len(met[name]) for name in clusterkit.recipes()) >= 60


@pytest.mark.parametrize("stage", ["ridge", "labeler:complete_graph", "balancer:band", "seeds"])
def test_a_selection_of_a_stage(stage):
    selection = Selection(stage=stage).resolved()
    kind, name = selection.kind_and_name
    chosen = list(itertools.islice(cases(3, selection), 40))
    assert {case.area for case in chosen} <= {"fits", "relations", "parameters", "comparisons"}
    for case in chosen:
        if case.area == "fits":
            c = subject_of(case, selection).composition()
            stages = (c.solver, c.labeler, c.balancer, c.init)
            assert name in {getattr(stage, "name", None) for stage in stages}
        for odd in case.parameters:
            assert (odd.kind, odd.name) == (kind, name)


def test_a_selection_of_a_recipe():
    selection = Selection(recipe="svc").resolved()
    fits = [case for case in itertools.islice(cases(3, selection), 60) if case.area == "fits"]
    assert {case.subject for case in fits} == {"svc"}
    trial = trial_of(fits[0], selection)
    np.testing.assert_array_equal(trial.values, trial_of(fits[0], selection).values)


def test_names_that_are_none():
    with pytest.raises(UnknownName, match="svd"):
        Selection(recipe="svd").resolved()
    with pytest.raises(UnknownName, match="solver:ridge"):
        Selection(stage="rigde").resolved()
