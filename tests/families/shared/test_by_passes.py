"""Balancers that read costs by passes: the labels of costs in memory, ties and all."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Costs, CostTable, Task
from clusterkit.contracts import balancer as radix_selection
from clusterkit.contracts.balancer import limit_of, ordered_keys
from clusterkit.errors import Infeasible, InvalidData
from clusterkit.families.shared import transport
from clusterkit.families.shared.band import Band
from clusterkit.families.shared.transport import Transport
from clusterkit.fitting.label_iterations import balanced_by
from clusterkit.samples.array_libraries import has_array_api, to_host
from clusterkit.samples.sums import total
from clusterkit.testing.compare import put


@attrs.frozen(eq=False)
class Table(Costs):
    """Costs that are read by passes over blocks of few rows."""

    costs: np.ndarray
    block: int = 7
    passes: list[int] = attrs.field(factory=list)
    moved: bool = False
    """whether blocks lie on a simulated device"""

    @property
    def n(self):
        return len(self.costs)

    @property
    def k(self):
        return self.costs.shape[1]

    def reduce(self, part):
        self.passes.append(1)
        n = len(self.costs)
        blocks = [slice(start, min(n, start + self.block)) for start in range(0, n, self.block)]
        assert has_array_api(part) or not self.moved, "the part would take all costs to the host"
        here = put if self.moved else np.asarray
        return total((rows, part(rows, here(self.costs[rows]))) for rows in blocks)


def every_row(rows, costs):
    return costs[:, 0], np.arange(rows.start, rows.stop)


@given(
    values=st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=60),
    repeats=st.integers(1, 4),
    data=st.data(),
    most=st.sampled_from([0, 3, 2**17]),
)
def test_the_limit_is_that_of_a_stable_sort(values, repeats, data, most):
    column = np.repeat(np.array(values), repeats)
    column = column[np.random.default_rng(0).permutation(len(column))]
    r = data.draw(st.integers(1, len(column)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(radix_selection, "GATHERED", most)
        limit = limit_of(Table(column[:, None]).reduce, every_row, r)
    order = np.argsort(column, kind="stable")
    assert limit.value == column[order[r - 1]]
    assert limit.row == order[r - 1]
    assert set(np.flatnonzero(limit.below(column, np.arange(len(column))))) == set(order[:r])


def test_two_passes_are_usual_and_seven_digits_are_enough():
    table = Table(np.random.default_rng(0).standard_normal((500, 1)))
    limit_of(table.reduce, every_row, 250)
    assert len(table.passes) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(radix_selection, "GATHERED", 0)
        table = Table(np.zeros((500, 1)))
        assert limit_of(table.reduce, every_row, 123).row == 122
    assert len(table.passes) == radix_selection.DIGITS + 1


def test_keys_are_in_the_order_of_the_values():
    values = np.array([-np.inf, -1e308, -2.0, -1e-308, -0.0, 0.0, 5e-324, 1.0, np.inf])
    keys = ordered_keys(values)
    assert (np.diff(keys.astype(object)) >= 0).all()
    assert keys[4] == keys[5]


@given(
    n=st.integers(2, 80),
    slack=st.sampled_from([0, 1, 0.03, 0.5, 5]),
    priority=st.sampled_from(["regret", "confidence"]),
    levels=st.integers(1, 5),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**16),
)
def test_a_band_by_passes_gives_the_labels_of_memory(n, slack, priority, levels, dtype, seed):
    rng = np.random.default_rng(seed)
    costs = (rng.integers(-levels, levels + 1, size=(n, 2)) / 3.0).astype(dtype)  # few values, so many ties
    costs[:, 0] -= rng.random() < 0.5
    band, task = Band(slack, priority), Task(n, 2)
    assignment = balanced_by(band, CostTable(costs), task)
    decision = band.balance(Table(costs), task)
    assert np.array_equal(labels_of(decision, costs), assignment.labels)
    assert decision.exact == assignment.exact


def labels_of(decision, costs):
    n, labels = len(costs), np.argmin(costs, axis=1)
    if decision.labels is not None:
        labels = np.concatenate([decision.labels(slice(s, min(n, s + 9)), costs[s : s + 9]) for s in range(0, n, 9)])
    return labels


BOUNDS = [{}, {"size_min": 0.1, "size_max": 0.5}, {"size_max": 0.4}, {"size_min": 0.15}]


@pytest.mark.parametrize("gathered", [2**23, 4000])
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@given(k=st.integers(2, 6), spread=st.sampled_from([0.0, 1.0, 3.0]), seed=st.integers(0, 2**16))
def test_transport_by_passes_costs_no_more_than_in_memory(bounds, gathered, k, spread, seed):
    rng, n = np.random.default_rng(seed), 3000
    costs = rng.standard_normal((n, k)) + spread * rng.standard_normal(k)
    if bounds.get("size_max", 1.0) * k < 1 or bounds.get("size_min", 0.0) * k > 1:
        bounds = {}
    balancer, task = Transport(**bounds), Task(n, k)
    assignment = balanced_by(balancer, CostTable(costs), task)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "GATHERED", gathered)
        patch.setattr(transport, "SAMPLED", 150 * k)
        decision = balancer.balance(Table(costs, 70), task)
    labels = labels_of(decision, costs)
    low, high = balancer.bounds(n, k)
    sizes = np.bincount(labels, minlength=k)
    assert (sizes >= low).all()
    assert (sizes <= high).all()
    rows = np.arange(n)
    assert costs[rows, labels].sum() == pytest.approx(costs[rows, assignment.labels].sum(), abs=1e-6)
    assert np.array_equal(labels, assignment.labels), "without ties the optimum is a single one"
    assert decision.facts["gap"] <= 1e-9
    if decision.exact and decision.offsets is not None:
        assert np.array_equal(np.argmin(costs + decision.offsets, axis=1), labels)


@pytest.mark.parametrize("gathered", [2**23, 30])
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@given(
    n=st.integers(20, 150),
    k=st.integers(2, 4),
    levels=st.integers(1, 4),
    forbidden=st.sampled_from([0.0, 0.1, 0.3]),
    seed=st.integers(0, 2**16),
)
def test_transport_by_passes_with_ties_equal_rows_and_forbidden_labels(bounds, gathered, n, k, levels, forbidden, seed):
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, levels + 1, size=(n, k)) / 4.0 + rng.integers(0, 3, size=k)
    allowed = rng.integers(0, k, n)  # every row has a label
    costs[(rng.random((n, k)) < forbidden) & (np.arange(k) != allowed[:, None])] = np.inf
    costs = costs[rng.integers(0, n // 2, n)]
    balancer, task = Transport(**bounds), Task(n, k)
    try:
        balancer.bounds(n, k)
        assignment = balanced_by(balancer, CostTable(costs), task)
    except Infeasible:
        with pytest.raises(Infeasible):
            balancer.balance(Table(costs), task)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "GATHERED", gathered)
        patch.setattr(transport, "SAMPLED", 20 * k)
        decision = balancer.balance(Table(costs), task)
    labels = labels_of(decision, costs)
    low, high = balancer.bounds(n, k)
    sizes, rows = np.bincount(labels, minlength=k), np.arange(n)
    assert (sizes >= low).all()
    assert (sizes <= high).all()
    assert np.isfinite(costs[rows, labels]).all(), "no row has a label that its costs forbid"
    assert costs[rows, labels].sum() == pytest.approx(costs[rows, assignment.labels].sum(), abs=1e-9)


def test_a_border_that_does_not_shrink_is_gathered_in_the_end(monkeypatch):
    rng, n, k = np.random.default_rng(2), 500, 3
    costs = rng.standard_normal((n, k)) + np.array([0.0, 1.0, 2.0])
    assignment = balanced_by(Transport(), CostTable(costs), Task(n, k))
    monkeypatch.setattr(transport, "GATHERED", 0)
    decision = Transport().balance(Table(costs), Task(n, k))
    assert np.array_equal(labels_of(decision, costs), assignment.labels)


@given(k=st.integers(2, 4), levels=st.integers(1, 4), seed=st.integers(0, 2**16))
def test_many_costs_in_memory_have_the_labels_of_the_passes_ties_and_all(k, levels, seed):
    rng, n = np.random.default_rng(seed), 400
    costs = rng.integers(0, levels + 1, size=(n, k)) / 4.0 + rng.integers(0, 3, size=k)
    balancer, task = Transport(), Task(n, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "GATHERED", 300)
        patch.setattr(transport, "SAMPLED", 40 * k)
        assignment = balanced_by(balancer, CostTable(costs), task)
        decision = balancer.balance(Table(costs), task)
    assert np.array_equal(assignment.labels, labels_of(decision, costs))
    assert assignment.exact == decision.exact
    assert assignment.facts == decision.facts


@given(
    k=st.integers(1, 4),
    levels=st.integers(1, 4),
    forbidden=st.sampled_from([0.0, 0.2]),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**16),
)
def test_costs_on_a_device_have_the_labels_of_the_host_ties_and_all(k, levels, forbidden, dtype, seed):
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    rng, n = np.random.default_rng(seed), 200
    costs = (rng.integers(0, levels + 1, size=(n, k)) / 4.0 + rng.integers(0, 3, size=k)).astype(dtype)
    costs[(rng.random((n, k)) < forbidden) & (np.arange(k) != rng.integers(0, k, n)[:, None])] = np.inf
    decisions = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "GATHERED", 100)
        patch.setattr(transport, "SAMPLED", 20 * k)
        for moved in (False, True):
            try:
                decisions.append(Transport(size_min=0.05).balance(Table(costs, 64, moved=moved), Task(n, k)))
            except Infeasible:
                decisions.append(None)
    assert (decisions[0] is None) == (decisions[1] is None)
    if decisions[0] is None or decisions[1] is None:
        return
    labels = labels_of(decisions[0], costs)
    assert np.array_equal(labels_of(decisions[1], costs), labels)
    if callable(decisions[1].labels):
        blocks = [decisions[1].labels(slice(a, a + 50), put(costs[a : a + 50])) for a in range(0, n, 50)]
        assert np.array_equal(np.concatenate([to_host(block) for block in blocks]), labels)


def test_many_rows_need_their_border_only():
    rng, n, k = np.random.default_rng(1), 6_000, 4
    costs = rng.standard_normal((n, k)) + np.array([0.0, 1.0, 1.0, 2.0])
    assignment = balanced_by(Transport(), CostTable(costs), Task(n, k))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "GATHERED", 6_000)
        patch.setattr(transport, "SAMPLED", 2_400)
        table = Table(costs)
        decision = Transport().balance(table, Task(n, k))
    assert len(table.passes) <= 10, "sizes, and a level or two with their counts, a border and a certificate each"
    assert np.array_equal(labels_of(decision, costs), assignment.labels)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.inf, "every label of row 23 costs inf"),
        (np.nan, "costs must be numbers above -inf"),
        (-np.inf, "costs must be numbers above -inf"),
    ],
    ids=str,
)
def test_costs_that_are_none_are_refused_as_in_memory(cost, message):
    costs = np.random.default_rng(0).standard_normal((40, 3))
    costs[[23, 31]] = cost
    for refused in (
        lambda: Transport().balance(Table(costs), Task(40, 3)),
        lambda: Transport(size_max=40).balance(Table(costs), Task(40, 3)),
        lambda: balanced_by(Transport(), CostTable(costs, np.zeros(40, dtype=int)), Task(40, 3)),
    ):
        with pytest.raises((Infeasible, InvalidData), match=message):
            refused()


def test_impossible_sizes_are_refused():
    with pytest.raises(Infeasible, match="add up to 3"):
        Transport(sizes=(1, 2)).balance(Table(np.zeros((9, 2))), Task(9, 2))
    costs = np.zeros((9, 2))
    costs[:7, 1] = np.inf
    with pytest.raises(Infeasible, match="no labels with sizes"):
        Transport().balance(Table(costs), Task(9, 2))
