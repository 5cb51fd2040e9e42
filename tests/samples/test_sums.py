"""Sums over rows: one order, whoever adds."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.means.kmeans import Centroids
from clusterkit.families.shared.elm import Elm
from clusterkit.samples import build_space, sums
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.rows import SlicedRows
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.transform import IdentityMap, block_plan
from clusterkit.testing.compare import same_bits, small_blocks, small_groups
from clusterkit.testing.laws.solver import bound_by_passes


@attrs.frozen
class Spelt:
    """Shows in which order it was added up."""

    text: str

    def __add__(self, following: Spelt) -> Spelt:
        return Spelt(f"({self.text}{following.text})")


def by_definition(totals: list[Spelt]) -> Spelt:
    """Neighbours meet, `FAN_IN` at a time, level by level."""
    while len(totals) > 1:
        chunks = [totals[i : i + sums.FAN_IN] for i in range(0, len(totals), sums.FAN_IN)]
        totals = [sums.add_left_to_right(chunk) for chunk in chunks]
    return totals[0]


@given(count=st.integers(1, 700))
def test_the_tree_is_the_one_of_its_definition(count):
    totals = [Spelt(f"{i};") for i in range(count)]
    assert sums.add_as_tree(iter(totals)) == by_definition(totals)


def test_blocks_are_folded_in_groups_and_groups_meet_in_the_tree():
    with small_groups(4):
        parts = [(slice(start, start + 2), Spelt(str(start))) for start in range(0, 10, 2)]
        assert sums.total(parts).text == "(((02)(46))8)"


def test_no_rows_have_no_sum():
    with pytest.raises(ValueError, match="no rows"):
        sums.total([])


@given(n=st.integers(0, 3000), group=st.integers(1, 900), width=st.integers(1, 5000))
def test_no_block_crosses_the_border_of_a_group(n, group, width):
    with small_groups(group), small_blocks():
        plan = list(block_plan(n, width, np.float32))
    covered = np.concatenate([np.arange(rows.start, rows.stop) for rows in plan] or [np.empty(0, dtype=int)])
    assert np.array_equal(covered, np.arange(n))
    assert all(rows.start // group == (rows.stop - 1) // group for rows in plan)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", [Ridge(), Centroids()], ids=lambda solver: solver.name)
def test_memory_and_rows_add_up_to_the_same_bits_above_one_group(solver, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X = (100.0 + rng.standard_normal((1500, 4))).astype(dtype)
    coded = Coded(rng.integers(3, size=(1, 1500)), Coding.ONEHOT, 3, np.eye(3))
    monkeypatch.setattr("clusterkit.samples.engines.READ_BYTES", 3000)
    with small_groups(200), small_blocks():
        here = Elm(n_hidden=20).space_of(X, Task(1500, 3), np.random.default_rng(1))
        there = RowsSpace.of(SlicedRows(X), LocalEngine(), here.mapping)
        totals = []
        for space in (here, there):
            summing = bound_by_passes(solver, space, Task(1500, 3)).iterations
            total = space.reduce(lambda rows, H, summing=summing: summing.part(H, coded.of(rows), None))
            totals.append((*total.arrays, summing.finish(total, None).objective))
    for one, other in zip(*totals, strict=True):
        same_bits(one, other, "sums in memory and of rows")
    with small_groups(300), small_blocks():
        total = attrs.evolve(here).reduce(lambda rows, H: summing.part(H, coded.of(rows), None))
    equal = all(np.array_equal(*pair) for pair in zip(total.arrays, totals[0], strict=False))
    # class sums are exact, so that they do not depend on the groups; a Gram matrix shows that groups make a difference
    assert equal == isinstance(solver, Centroids)


def test_a_space_in_memory_adds_in_the_same_order():
    X = np.random.default_rng(3).standard_normal((700, 3)).astype(np.float32)
    with small_groups(128), small_blocks():
        dense = build_space(X, IdentityMap(3))
        streamed = build_space(X, IdentityMap(3), storage="streamed")
        rows = RowsSpace.of(SlicedRows(X), LocalEngine(), IdentityMap(3))
        for space in (streamed, rows):
            same_bits(space.gram(), dense.gram(), "Gram matrices")
            same_bits(space.mean(), dense.mean(), "means")


@pytest.mark.parametrize("solver", [Ridge(), Centroids()], ids=lambda solver: solver.name)
def test_parts_and_scores_follow_the_array_api(solver):
    xp = pytest.importorskip("array_api_strict", reason="array-api-strict checks code against the standard")
    rng = np.random.default_rng(2)
    H = rng.standard_normal((60, 5))
    space = build_space(H, IdentityMap(5))
    coded = Coded(rng.integers(3, size=(1, 60)), Coding.ONEHOT, 3, np.eye(3))
    summing = bound_by_passes(solver, space, Task(60, 3)).iterations
    finished = summing.finish(summing.part(H, coded, None), None)
    strict = xp.asarray(H)
    scores = finished.extend.on(strict)
    np.testing.assert_allclose(np.asarray(scores), finished.extend.on(H), atol=1e-11)
    for one, other in zip(
        summing.part(strict, coded, scores).arrays, summing.part(H, coded, finished.extend.on(H)).arrays, strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-11)
