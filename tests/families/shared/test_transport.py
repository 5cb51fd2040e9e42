"""Laws of the balancer `transport`: least cost, allowed sizes, prices that predict, truth about ties."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import clusterkit
from clusterkit import recipe
from clusterkit.contracts import CostTable, Task
from clusterkit.errors import Infeasible, InvalidData, InvalidParameter
from clusterkit.families.shared.band import Band
from clusterkit.families.shared.transport import Transport
from clusterkit.fitting.label_iterations import balanced_by
from clusterkit_campaign.oracles import balance as oracle

seeds = st.integers(0, 2**32 - 1)


def table(n, k, seed, coarse):
    """Off-centre costs, on a coarse grid if ties are wanted."""
    rng = np.random.default_rng(seed)
    costs = rng.normal(size=(n, k)) + 0.8 * rng.normal(size=k)
    return np.round(costs * 2) / 2 if coarse else costs


def cost(costs, labels):
    return costs[np.arange(len(labels)), labels].sum()


def assign(balancer, costs, labels=None):
    labels = np.argmin(costs, axis=1) if labels is None else labels
    return balanced_by(balancer, CostTable(costs, labels), Task(*costs.shape))


def check_report(costs, assignment):
    """`exact`, the offsets and the facts are true."""
    shifted = costs if assignment.offsets is None else costs + assignment.offsets
    others = np.argmin(shifted, axis=1) != assignment.labels
    assert assignment.exact == (not others.any())
    assert assignment.facts.get("tied_rows", 0) == others.sum()
    present = np.take_along_axis(shifted, assignment.labels[:, None], axis=1)[:, 0]
    # rows predicted otherwise are ties
    np.testing.assert_allclose(present, shifted.min(axis=1), rtol=1e-9, atol=1e-9)
    assert 0 <= assignment.facts["gap"] < 1e-9


@st.composite
def problems(draw, max_rows=60, max_clusters=6):
    """Costs and allowed sizes that are possible."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(1, max_clusters))
    costs = table(n, k, draw(seeds), draw(st.booleans()))
    low = draw(st.integers(0, n // k))
    high = draw(st.integers(-(-n // k), n))
    return costs, low, high


@given(problem=problems())
def test_the_optimum_of_the_linear_program(problem):
    costs, low, high = problem
    k = costs.shape[1]
    assignment = assign(Transport(size_min=low, size_max=high), costs)
    sizes = np.bincount(assignment.labels, minlength=k)
    assert ((sizes >= low) & (sizes <= high)).all()
    best = oracle.linear_program(costs, np.full(k, low), np.full(k, high))
    np.testing.assert_allclose(cost(costs, assignment.labels), best, rtol=1e-9, atol=1e-9)
    check_report(costs, assignment)


@given(problem=problems(max_rows=8, max_clusters=3))
def test_the_optimum_of_all_labellings(problem):
    costs, low, high = problem
    assignment = assign(Transport(size_min=low, size_max=high), costs)
    np.testing.assert_allclose(
        cost(costs, assignment.labels), oracle.enumerated(costs, low, high), rtol=1e-9, atol=1e-12
    )


@given(n=st.integers(2, 40), k=st.integers(2, 5), seed=seeds, coarse=st.booleans(), data=st.data())
def test_given_sizes_are_matched_by_rank_at_least_cost(n, k, seed, coarse, data):
    costs = table(n, k, seed, coarse)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), min_size=k - 1, max_size=k - 1)))
    sizes = np.diff([0, *cuts, n])
    labels = np.argmin(costs, axis=1)
    assignment = assign(Transport(sizes=list(sizes)), costs)
    got = np.bincount(assignment.labels, minlength=k)
    assert sorted(got) == sorted(sizes)
    order = np.argsort(-np.bincount(labels, minlength=k), kind="stable")
    np.testing.assert_array_equal(got[order], np.sort(sizes)[::-1])
    np.testing.assert_allclose(cost(costs, assignment.labels), oracle.linear_program(costs, got, got), atol=1e-9)
    check_report(costs, assignment)
    np.testing.assert_array_equal(assign(Transport(sizes=sizes), costs, assignment.labels).labels, assignment.labels)


@given(problem=problems(), seed=seeds)
def test_optimal_labels_stay_and_any_start_ends_at_the_optimum(problem, seed):
    costs, low, high = problem
    balancer = Transport(size_min=low, size_max=high)
    first = assign(balancer, costs)
    again = assign(balancer, costs, first.labels)
    np.testing.assert_array_equal(again.labels, first.labels)
    check_report(costs, again)
    start = np.random.default_rng(seed).integers(costs.shape[1], size=len(costs))
    before = start.copy()
    other = assign(balancer, costs, start)
    np.testing.assert_array_equal(start, before)
    np.testing.assert_allclose(cost(costs, other.labels), cost(costs, first.labels), atol=1e-9)


@given(n=st.integers(1, 60), seed=seeds, coarse=st.booleans(), slack=st.integers(0, 61))
def test_two_clusters_cost_what_band_makes_them_cost(n, seed, coarse, slack):
    costs = table(n, 2, seed, coarse)
    low, high = (int(side[0]) for side in Band(slack=slack).bounds(n, 2))
    band = assign(Band(slack=slack), costs).labels
    labels = assign(Transport(size_min=low, size_max=high), costs).labels
    np.testing.assert_allclose(cost(costs, labels), cost(costs, band), atol=1e-12)


@given(n=st.integers(1, 30), k=st.integers(1, 4), seed=seeds, part=st.floats(0, 0.6))
def test_infinite_costs_forbid_labels(n, k, seed, part):
    rng = np.random.default_rng(seed)
    costs = table(n, k, seed, False)
    costs[rng.random(costs.shape) < part] = np.inf
    low, high = np.full(k, n // k), np.full(k, -(-n // k))
    best = oracle.linear_program(costs, low, high)
    if best is None:
        with pytest.raises(Infeasible, match="cost"):
            assign(Transport(), costs)
    else:
        assignment = assign(Transport(), costs)
        np.testing.assert_allclose(cost(costs, assignment.labels), best, atol=1e-9)
        check_report(costs, assignment)


@given(problem=problems(), power=st.sampled_from([-150, -30, 30, 150]), dtype=st.sampled_from(["f4", "f8"]))
def test_the_unit_of_costs_does_not_matter(problem, power, dtype):
    costs, low, high = problem
    assume(dtype == "f8" or abs(power) < 100)
    balancer = Transport(size_min=low, size_max=high)
    costs = costs.astype(dtype)
    scaled = costs * costs.dtype.type(2.0**power)
    np.testing.assert_array_equal(assign(balancer, scaled).labels, assign(balancer, costs).labels)


def test_one_huge_cost_spoils_no_other():
    costs = table(40, 4, 0, False)
    costs[3] = [1e15, 0, 1e15, 1e15]
    assignment = assign(Transport(), costs)
    best = oracle.linear_program(np.delete(costs, 3, axis=0), [10, 9, 10, 10], [10, 9, 10, 10])
    assert assignment.labels[3] == 1
    np.testing.assert_allclose(cost(np.delete(costs, 3, axis=0), np.delete(assignment.labels, 3)), best)


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize(("n", "k"), [(9_000, 20), (40_000, 4), (60_001, 7)])
def test_prices_from_samples_change_nothing(n, k, coarse):
    costs = table(n, k, 1, coarse)
    assignment = assign(Transport(), costs)
    sizes = np.bincount(assignment.labels, minlength=k)
    assert sizes.max() - sizes.min() <= 1
    check_report(costs, assignment)
    assert assignment.exact != coarse


def test_equal_rows_on_both_sides_are_reported():
    costs = np.tile([[0.0, 1.0, 5.0]], (9, 1))
    assignment = assign(Transport(), costs)
    np.testing.assert_array_equal(np.bincount(assignment.labels), [3, 3, 3])
    assert not assignment.exact
    assert assignment.facts["tied_rows"] == 6
    check_report(costs, assignment)


def test_nothing_to_do_adds_no_prices():
    costs = 1 - np.eye(3)[np.arange(12) % 3]
    assignment = assign(Transport(), costs)
    assert assignment.exact
    assert assignment.offsets is None


@pytest.mark.parametrize(("parameters", "low", "high"), [
    ({}, 3, 4),
    ({"size_min": 2}, 2, 10),
    ({"size_max": 5}, 0, 5),
    ({"size_max": 50}, 0, 10),
    ({"size_min": 0.2, "size_max": 0.5}, 2, 5),
    ({"size_min": 0.15, "size_max": 0.55}, 2, 5),
    ({"size_min": 1 / 3, "size_max": 1 / 3}, 3, 4),
    ({"sizes": [1, 7, 2]}, 1, 7),
])  # fmt: skip
def test_bounds_of_ten_rows_and_three_clusters(parameters, low, high):
    bounds = Transport(**parameters).bounds(10, 3)
    np.testing.assert_array_equal(bounds, [[low] * 3, [high] * 3])
    assert set(Transport(**parameters).resolved(10, 3)) == {
        name for name, value in parameters.items() if isinstance(value, float)
    }


@pytest.mark.parametrize(("parameters", "words"), [
    ({"size_min": 4}, "size_min = 4 requires 4 rows in each of 3 clusters, 12 in all, but there are 10; at most 3"),
    ({"size_min": 0.34}, "size_min = 0.34 requires 4 rows in each of 3 clusters"),
    ({"size_max": 3}, "size_max = 3 allows 3 rows in each of 3 clusters, 9 in all, but there are 10; at least 4"),
    ({"size_min": 3, "size_max": 0.2}, "size_min = 3 is 3 rows, more than size_max = 0.2, 2 rows"),
    ({"sizes": (5, 5)}, "sizes has 2 numbers, but there are 3 clusters"),
    ({"sizes": (5, 5, 1)}, "add up to 11, but there are 10 samples"),
])  # fmt: skip
def test_impossible_sizes(parameters, words):
    with pytest.raises(Infeasible, match=words):
        Transport(**parameters).bounds(10, 3)
    with pytest.raises(Infeasible, match=words):
        assign(Transport(**parameters), table(10, 3, 0, False))


@pytest.mark.parametrize("value", [-1, 1.5, float("nan"), "few", True])
def test_wrong_limits(value):
    with pytest.raises(InvalidParameter, match=r"size_min must be a number of rows"):
        Transport(size_min=value)


def test_sizes_exclude_bounds():
    with pytest.raises(InvalidParameter, match="leave size_min and size_max at None"):
        Transport(size_min=1, sizes=(2, 3))


@pytest.mark.parametrize("wrong", [np.nan, -np.inf])
def test_costs_that_are_no_costs(wrong):
    costs = table(10, 3, 0, False)
    costs[4, 1] = wrong
    with pytest.raises(InvalidData, match="NaN or -inf"):
        assign(Transport(), costs, np.zeros(10, dtype=int))


RECIPES = ["kmeans", "elm-kmeans", "kernel-kmeans", "fuzzy-cmeans", "nmf", "emmc", "emmc-multi", "emmc-single", "gmmc",
           "itersvr", "cpm3c"]  # fmt: skip


def blobs():
    """Three groups of 30, 12 and 6 rows, two of them near each other, no value negative."""
    rng = np.random.default_rng(0)
    centres = np.array([[1.0, 1.0], [2.5, 1.0], [1.0, 5.0]])
    return np.abs(np.repeat(centres, [30, 12, 6], axis=0) + rng.normal(scale=0.4, size=(48, 2)))


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize(("parameters", "sizes"), [
    ({}, lambda k: [48 // k] * k),
    ({"sizes": (30, 18)}, lambda k: [30, 18]),
    ({"sizes": (25, 13, 10)}, lambda k: [25, 13, 10]),
    ({"size_min": 0.3}, lambda k: None),
])  # fmt: skip
def test_sizes_are_honoured_behind_every_way_of_scoring(name, parameters, sizes):
    k = 2 if name in ("gmmc", "itersvr") else len(parameters.get("sizes", (1, 1, 1)))
    if "sizes" in parameters and k != len(parameters["sizes"]):
        pytest.skip("two clusters only")
    recipe = clusterkit.recipe(name, n_clusters=k, balancer=Transport(**parameters), random_state=0)
    if name == "nmf":
        recipe.set_params(labeler="argmax")  # its own labeler has no costs
    X = blobs()
    model = recipe.fit(X)
    got = np.sort(np.bincount(model.labels_, minlength=k))[::-1]
    if sizes(k) is None:
        assert got.min() >= 0.3 * 48
    else:
        np.testing.assert_array_equal(got, sizes(k))
    assert model.resolved_["balancer"]["gap"] < 1e-9
    if model.exact_on_training_:
        np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_capacitated_kmeans_costs_less_than_band_and_predicts():
    X = np.random.default_rng(0).normal(size=(300, 2)) ** 3
    model = clusterkit.recipe("kmeans", n_clusters=6, balancer="transport", random_state=0).fit(X)
    band = clusterkit.recipe("kmeans", n_clusters=6, balancer=Band(slack=0), random_state=0).fit(X)
    assert np.bincount(model.labels_).tolist() == [50] * 6
    assert model.objective_ < band.objective_
    assert model.exact_on_training_
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("wrong", [{"sizes": (99,)}, {"size_max": 0.5}, {"size_min": 200}])
def test_impossible_sizes_of_one_cluster(wrong):
    parameters = {f"balancer__{name}": value for name, value in wrong.items()}
    with pytest.raises(Infeasible, match="120"):
        recipe("kmeans", n_clusters=1, balancer="transport", **parameters).fit(np.ones((120, 2)))
