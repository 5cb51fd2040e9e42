"""What people say about clusters, rows and columns, and what each sentence is to the next fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import attrs
import numpy as np

from clusterkit.contracts.arguments import NumberLike
from clusterkit_explore.fitting import Answer

__all__ = ["MOST_ROWS", "Refused", "Statement", "links_of", "number_after", "statement"]

Link = tuple[int, int, int]

MOST_ROWS = 50
"""Rows that one sentence may name."""

LONGEST = 80
"""Characters of a name of a cluster."""


class Refused(Exception):
    """A request that cannot be done, with the status of HTTP that says whose fault it is."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


@attrs.frozen
class Statement:
    """One sentence.

    Parameters
    ----------
    text : str
    links : tuple of (int, int, int)
        Rows from 0, and 1 together or -1 apart.
    anchors : tuple of int
        A row of each cluster that there should be then. They are apart as long as nothing says otherwise: without them
        a method with a random start may join what nobody wanted joined.
    change : int
        By how much the number of clusters changes.
    number : int or None
        The number of clusters from here on.
    columns : tuple of str
        Columns that are left out.
    name : (int, str) or None
        Number and name of a cluster.
    """

    text: str
    links: tuple[Link, ...] = ()
    anchors: tuple[int, ...] = ()
    change: int = 0
    number: int | None = None
    columns: tuple[str, ...] = ()
    name: tuple[int, str] | None = None


def number_after(statements: Sequence[Statement], wanted: NumberLike, first: int) -> NumberLike:
    """The number of clusters of the next fit; joins and splits count from the `first` answer, or the last number."""
    number = wanted
    for each in statements:
        if each.number is not None:
            number = each.number
        elif each.change:
            number = max(1, (number if isinstance(number, int) else first) + each.change)
    return number


def links_of(statements: Sequence[Statement]) -> list[Link]:
    """All links of some statements: those that they say, and anchors apart, unless later words are against that.

    They are after a join of their clusters, and after a number of clusters.
    """
    links = [link for each in statements for link in each.links]
    group: dict[int, int] = {}

    def root(row: int) -> int:
        while group.get(row, row) != row:
            row = group[row]
        return row

    for i, j, sign in links:
        if sign > 0:
            group[root(i)] = root(j)
    apart = dict.fromkeys((i, j) for i, j, sign in links if sign < 0)
    last = max((place for place, each in enumerate(statements) if each.number is not None), default=-1)
    pairs = (pair for each in statements[last + 1 :] for pair in combinations(each.anchors, 2))
    return links + [(i, j, -1) for i, j in dict.fromkeys(pairs) if root(i) != root(j) and (i, j) not in apart]


def statement(words: Mapping[str, object], answer: Answer, columns: Sequence[str]) -> Statement:
    """The statement of a request, about the clusters of the answer that it was made from.

    Parameters
    ----------
    words : mapping
        "kind", and what it is about: "clusters", "rows" (from 1), "columns", "number" or "name".
    answer : Answer
    columns : sequence of str
        All columns of the table.

    Raises
    ------
    Refused
        If the request has no such form, or names what there is not.
    """
    kind = words.get("kind")
    if kind in ("join", "split", "name"):
        clusters = _whole_numbers(words, "clusters")
        sizes = {label: int((answer.labels == label).sum()) for label in clusters}
        if missing := [label for label, size in sizes.items() if not size or label < 0]:
            raise Refused(f"there is no cluster {missing[0]}")
        return _of_clusters(str(kind), clusters, words, answer)
    if kind in ("together", "apart"):
        rows = [row - 1 for row in _whole_numbers(words, "rows")]
        if outside := [row for row in rows if not 0 <= row < len(answer.labels)]:
            raise Refused(f"there is no row {outside[0] + 1}; rows are counted 1..{len(answer.labels)}")
        if not 2 <= len(rows) <= MOST_ROWS:
            raise Refused(f"select 2 to {MOST_ROWS} rows, not {len(rows)}")
        named = _listed([row + 1 for row in rows])
        if kind == "together":
            return Statement(f"rows {named} belong together", tuple(_chain(rows, 1)))
        return Statement(f"rows {named} do not belong together", tuple((i, j, -1) for i, j in combinations(rows, 2)))
    if kind == "leave_out":
        names = words.get("columns")
        if not isinstance(names, list) or not names or not all(name in columns for name in names):
            raise Refused("name columns of the table")
        return Statement(f"leave out {_listed(names)}", columns=tuple(names))
    if kind == "number":
        number = words.get("number")
        if type(number) is not int or not 1 <= number <= len(answer.labels):
            raise Refused(f"a number of clusters is a whole number from 1 to {len(answer.labels)}")
        return Statement(f"{number} cluster{'s' * (number > 1)}", number=number)
    raise Refused("say join, split, name, together, apart, leave_out or number")


def _of_clusters(kind: str, clusters: list[int], words: Mapping[str, object], answer: Answer) -> Statement:
    others = [rows[0] for label, rows in answer.typical.items() if label not in clusters]
    if kind == "join":
        if len(clusters) < 2:
            raise Refused("select at least two clusters to join")
        rows = np.flatnonzero(np.isin(answer.labels, clusters)).tolist()
        text = f"clusters {_listed(clusters)} are one"
        return Statement(text, tuple(_chain(rows, 1)), (rows[0], *others), change=1 - len(clusters))
    if len(clusters) != 1:
        raise Refused("select one cluster")
    if kind == "name":
        name = words.get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST or not name.isprintable():
            raise Refused(f"a name is a text of at most {LONGEST} characters on one line")
        return Statement(f"cluster {clusters[0]} is called {name.strip()}", name=(clusters[0], name.strip()))
    if clusters[0] not in answer.halves:
        raise Refused(f"all rows of cluster {clusters[0]} are alike, so that it cannot be split")
    one, other = answer.halves[clusters[0]]
    named = [_listed([row + 1 for row in half]) for half in (one, other)]
    text = f"cluster {clusters[0]} is two: with rows {named[0]}, and with rows {named[1]}"
    links = (*_chain(one, 1), *_chain(other, 1), (one[0], other[0], -1))
    return Statement(text, links, (one[0], other[0], *others), change=1)


def _chain(rows: Sequence[int], sign: int) -> Iterator[Link]:
    return ((i, j, sign) for i, j in pairwise(rows))


def _whole_numbers(words: Mapping[str, object], key: str) -> list[int]:
    values = words.get(key)
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise Refused(f"{key} is a list of whole numbers")
    return sorted(set(values))


def _listed(values: Sequence[object]) -> str:
    return " and ".join(filter(None, [", ".join(map(str, values[:-1])), str(values[-1])]))
