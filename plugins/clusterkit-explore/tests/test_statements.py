"""What sentences become: links, numbers, and what holds the clusters that nobody spoke of."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("bottle")

from clusterkit_explore.fitting import Answer
from clusterkit_explore.statements import links_of, number_after, statement

LABELS = np.repeat([0, 1, 2, 3], 4)
TYPICAL = {label: [4 * label + 1, 4 * label + 2] for label in range(4)}
HALVES = {label: ([4 * label], [4 * label + 3]) for label in range(4)}
ANSWER = Answer(LABELS, {label: label for label in range(4)}, b"", TYPICAL, HALVES, {})


def stated(kind: str, **words: object):
    return statement({"kind": kind, **words}, ANSWER, ("a", "b"))


def groups(statements, number):
    """Which rows are together, and the pairs of rows that are apart."""
    links = links_of(statements, number)
    together = {frozenset(link[:2]) for link in links if link[2] > 0}
    return together, {frozenset(link[:2]) for link in links if link[2] < 0}


def test_a_join_holds_its_rows_and_the_other_clusters():
    together, apart = groups([stated("join", clusters=[0, 1])], 3)
    assert {frozenset((row, row + 1)) for row in range(7)} <= together
    assert len(together) == 7 + 3 + 3
    assert apart == {frozenset(pair) for pair in [(0, 9), (0, 13), (9, 13)]}


@pytest.mark.parametrize(
    "later",
    [
        [stated("number", number=2)],
        [stated("apart", rows=[9, 12])],
        [stated("join", clusters=[2, 3]), stated("join", clusters=[0, 2])],
        [stated("together", rows=[10, 14])],
    ],
)
def test_what_is_said_later_is_stronger_than_what_holds_other_clusters(later):
    statements = [stated("join", clusters=[0, 1]), *later]
    number = number_after(statements, None)
    links = links_of(statements, number)
    assert set(links) >= {link for each in statements for link in each.links}
    for i, j in ((i, j) for i, j, sign in links if sign < 0):
        reached = {i}
        while more := {b for a, b, sign in links for a, b in ((a, b), (b, a)) if sign > 0 and a in reached} - reached:
            reached |= more
        assert j not in reached


def test_links_never_need_more_clusters_than_there_will_be():
    split, join = stated("split", clusters=[3]), stated("join", clusters=[0, 1])
    assert number_after([split, join], 4) == 4
    assert number_after([join], 4) == 3
    # taking the split back leaves a join that was made among five clusters
    wide = Answer(np.arange(16) % 5, {}, b"", {label: [label] for label in range(5)}, {}, {})
    join = statement({"kind": "join", "clusters": [0, 1]}, wide, ())
    _, apart = groups([join], 3)
    assert apart == set()


def test_numbers_count_from_where_they_were_said():
    join, split, number = stated("join", clusters=[0, 1, 2]), stated("split", clusters=[0]), stated("number", number=7)
    assert number_after([], None) is None
    assert number_after([], (2, 8)) == (2, 8)
    assert number_after([join], None) == 2
    assert number_after([join, split], "auto") == 3
    assert number_after([split], 9) == 10
    assert number_after([join, number, split], 3) == 8
    assert number_after([join], 1) == 1


def test_after_a_column_is_left_out_a_few_rows_hold_each_cluster(monkeypatch):
    monkeypatch.setattr("clusterkit_explore.statements.ANCHORS", 2)
    statements = [stated("join", clusters=[0, 1]), stated("leave_out", columns=["a"])]
    together, _ = groups(statements, 3)
    assert len(together) == 7 + 1 + 1
