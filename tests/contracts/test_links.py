"""Links and seeds: read, closed, cut with the rows, and contradictions named."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit import Links
from clusterkit.contracts.links import checked_seeds, linked_groups
from clusterkit.errors import ClusterkitWarning, Infeasible, InvalidData


def groups_of(links, n, k=None, seeds=None):
    return linked_groups(Links.of(links, n), None if seeds is None else checked_seeds(seeds, n, k), n, k)


def test_rows_that_belong_together_are_one_group_and_pairs_of_groups_are_apart_once():
    linked = groups_of([(5, 1, 1), (1, 3, 1), (2, 3, -1), (5, 2, -1), (0, 2, 1)], 8)
    assert linked.rows.tolist() == [0, 1, 2, 3, 5]
    assert linked.groups.tolist() == [0, 1, 0, 1, 1]
    assert linked.apart.tolist() == [[0, 1]]


@given(st.data())
def test_contracting_twice_is_contracting_once(data):
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=4, max_size=12)))
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, len(y) - 1)] * 2).filter(lambda p: p[0] != p[1]), min_size=1))
    once = groups_of([(i, j, 1 if y[i] == y[j] else -1) for i, j in pairs], len(y))
    first = [once.rows[np.argmax(once.groups == g)] for g in range(once.m)]
    together = [(first[g], row, 1) for row, g in zip(once.rows, once.groups, strict=True) if row != first[g]]
    again = groups_of(together + [(first[a], first[b], -1) for a, b in once.apart] or [(0, 1, 1)], len(y))
    assert set(map(tuple, again.apart)) <= set(map(tuple, once.apart)) or again.m < once.m
    common = np.isin(once.rows, again.rows)
    same = once.groups[common][:, None] == once.groups[common]
    inside = np.isin(again.rows, once.rows)
    np.testing.assert_array_equal(again.groups[inside][:, None] == again.groups[inside], same)


def test_rows_of_one_seed_are_a_group_and_different_seeds_are_apart():
    linked = groups_of([(0, 4, 1)], 6, k=3, seeds=[2, -1, 0, 2, -1, np.nan])
    assert linked.groups.tolist() == [0, 1, 0, 0]
    assert linked.seeds.tolist() == [2, 0]
    assert linked.apart.tolist() == [[0, 1]]


def links_named(error):
    """The links that an error names, as rows of (i, j, sign)."""
    named = re.findall(r"(\d+) and (\d+) (together|apart)", str(error))
    return [(int(i), int(j), 1 if word == "together" else -1) for i, j, word in named]


@pytest.mark.parametrize(
    ("links", "k", "count"),
    [
        ([(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 2, 1), (0, 3, -1), (4, 5, -1)], None, 3),
        ([(i, j, -1) for i in range(4) for j in range(i)] + [(4, 5, 1), (5, 6, -1)], 3, 6),
        ([(0, 1, -1), (1, 2, -1), (2, 3, -1), (3, 4, -1), (4, 0, -1), (0, 6, 1)], 2, 6),  # an odd circle
        ([(0, 1, -1), (2, 3, 1), (1, 2, -1), (3, 0, -1)], 2, 4),  # a triangle through two rows that belong together
    ],
)
def test_links_that_contradict_each_other_are_named_without_those_that_have_no_part(links, k, count):
    with pytest.raises(Infeasible, match="contradict each other") as error:
        groups_of(links, 8, k)
    named = links_named(error.value)
    assert len(named) == count
    with pytest.raises(Infeasible):
        groups_of(named, 8, k)


def test_a_contradiction_of_seeds_says_so():
    with pytest.raises(Infeasible, match=r"rows 0 and 3 together; 0 and 3 apart by their seeds 0 and 1"):
        groups_of([(0, 3, 1)], 4, k=2, seeds=[0, -1, -1, 1])


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([(0, 9, 1)], "names row 9, and rows are numbered 0..4.*Links.of"),
        ([(0, 1.5, 1)], "names row 1.5"),
        ([(0, 1, 0)], "the sign of link 0 is 0"),
        ([(0, 1)], "link 0 has 2 entries"),
        (7, "links are rows of"),
        ([(2, 2, -1)], "contradict each other"),
    ],
)
def test_wrong_links_have_one_clear_error(links, message):
    with pytest.raises((InvalidData, Infeasible), match=message):
        groups_of(links, 5)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([0, 3, -1], "row 1 has 3; seeds are numbers of clusters, 0..2"),
        ([0, 1], "expected"),
        ([0, None, "a"], r"row 2 has 'a'; .*pandas.factorize\(seeds\)"),
        (np.array(["a", "b", "c"]), "row 0 has 'a'"),
        ([0, [1], -1], r"row 1 has \[1\]"),
    ],
)
def test_wrong_seeds_have_one_clear_error(seeds, message):
    with pytest.raises(InvalidData, match=message):
        checked_seeds(seeds, 3, 3)


def test_seeds_of_a_data_frame_are_named_by_its_index():
    pandas = pytest.importorskip("pandas")
    seeds = pandas.Series([0, None, 2.5], index=["p", "q", "r"])
    with pytest.raises(InvalidData, match=r"row 'r' has 2\.5"):
        checked_seeds(seeds, 3, 3, seeds.index)
    assert checked_seeds(seeds[:2].astype("Int64"), 2, 3, seeds.index[:2]).tolist() == [0, -1]
    twice = pandas.Index([7, 7, 8])
    with pytest.raises(InvalidData, match=r"position: pass seeds.to_numpy\(\)"):  # reindex would fail
        checked_seeds(seeds.set_axis(twice), 3, 3, twice[::-1])
    with pytest.raises(InvalidData, match=r"has 7 more than once; after X.reset_index\(drop=True\)"):
        Links.of([(7, 8, 1)], 3, twice)


def test_labels_of_an_index_name_rows_and_those_that_are_missing_are_told():
    pandas = pytest.importorskip("pandas")
    index = pandas.Index(["a", "b", "c"])
    assert Links.of([("c", "a", -1)], 3, index).pairs.tolist() == [[2, 0]]
    with pytest.warns(ClusterkitWarning, match="1 link of 2 name labels that are not in the index"):
        Links.of([("c", "a", -1), ("a", "x", 1)], 3, index)
    with pytest.warns(ClusterkitWarning, match="1 link of 1 name labels that are not in the index"):
        assert not len(Links.of([("y", "x", 1)], 3, index).pairs)  # a fold may have none of them
    with pytest.raises(InvalidData, match="such as 'a'; link 0 names 7"):
        Links.of([(7, 8, 1)], 3, index)
