"""What people say about clusters, rows and columns, and what each sentence is to the next fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import attrs
import numpy as np

from clusterkit.contracts.arguments import NumberLike
from clusterkit_explore.fitting import ANCHORS, Answer

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
    anchors : tuple of tuple of int
        Rows of each cluster that there should be then. Those of a cluster are together and those of several apart, as
        long as nothing says otherwise: without them a method may join, or take apart, what nobody spoke of.
    change : int
        By how much the number of clusters changes.
    clusters : int
        The number of clusters before.
    number : int or None
        The number of clusters from here on.
    columns : tuple of str
        Columns that are left out.
    name : (int, str) or None
        Number and name of a cluster.
    """

    text: str
    links: tuple[Link, ...] = ()
    anchors: tuple[tuple[int, ...], ...] = ()
    change: int = 0
    clusters: int = 0
    number: int | None = None
    columns: tuple[str, ...] = ()
    name: tuple[int, str] | None = None


def number_after(statements: Sequence[Statement], wanted: NumberLike) -> NumberLike:
    """The number of clusters of the next fit; where none was wanted, the first join or split counts from its answer."""
    number = wanted
    for each in statements:
        if each.number is not None:
            number = each.number
        elif each.change:
            number = max(1, (number if isinstance(number, int) else each.clusters) + each.change)
    return number


def links_of(statements: Sequence[Statement], number: NumberLike) -> list[Link]:
    """All links of some statements: those that they state, and of their anchors those that nothing later is against.

    That is a later link, a later number of clusters, or a `number` that is too small for them. Where columns are left
    out later, a few rows of each cluster hold it, and the others may move.
    """
    links = [link for each in statements for link in each.links]
    begin = max((place + 1 for place, each in enumerate(statements) if each.number is not None), default=0)
    held: list[int] = []
    most = None
    for each in reversed(statements[begin:]):
        most = ANCHORS if each.columns else most
        firsts = [rows[0] for rows in each.anchors]
        more = [link for rows in each.anchors for link in _chain(rows[:most], 1)]
        more += [(i, j, -1) for i, j in combinations(firsts, 2)]
        groups = _groups([*links, *more])
        fits = not isinstance(number, int) or len({groups[row] for row in (*held, *firsts)}) <= number
        if more and fits and all(sign > 0 or groups[i] != groups[j] for i, j, sign in (*links, *more)):
            links += more
            held += firsts
    return list(dict.fromkeys(links))


def _groups(links: Sequence[Link]) -> list[int]:
    """The group of each row, up to the last one with a link: rows that belong together have one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = 1 + max((row for link in links for row in link[:2]), default=-1)
    pairs = np.array([link[:2] for link in links if link[2] > 0], dtype=np.intp).reshape(-1, 2)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    groups: list[int] = connected_components(graph, directed=False)[1].tolist() if n else []
    return groups


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
        return _of_clusters(str(kind), _clusters(words, answer), words, answer)
    if kind in ("together", "apart"):
        return _of_rows(kind == "together", _clusters(words, answer), words, answer)
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
    typical = {label: rows for label, rows in answer.typical.items() if label not in clusters}
    if kind == "join":
        if len(clusters) < 2:
            raise Refused("select at least two clusters to join")
        rows = np.flatnonzero(np.isin(answer.labels, clusters)).tolist()
        text = f"clusters {_listed(clusters)} are one"
        # nothing was stated about the other clusters: a wide cluster of two may take most of their rows
        wholes = {label: np.flatnonzero(answer.labels == label).tolist() for label in typical}
        others = [tuple(dict.fromkeys([*typical[label], *wholes[label]])) for label in typical]
        return Statement(text, tuple(_chain(rows, 1)), ((rows[0],), *others), 1 - len(clusters), len(answer.numbers))
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
    return Statement(text, links, ((one[0],), (other[0],), *map(tuple, typical.values())), 1, len(answer.numbers))


def _of_rows(together: bool, clusters: list[int], words: Mapping[str, object], answer: Answer) -> Statement:
    rows = [row - 1 for row in _whole_numbers(words, "rows")]
    if outside := [row for row in rows if not 0 <= row < len(answer.labels)]:
        raise Refused(f"there is no row {outside[0] + 1}; rows are counted 1..{len(answer.labels)}")
    if not 2 <= len(rows) + len(clusters) <= MOST_ROWS or len(clusters) > 1:
        raise Refused(f"select 2 to {MOST_ROWS} rows, or rows and one cluster, not {len(rows)} and {len(clusters)}")
    one = len(rows) == 1
    verb = ("belongs" if one else "belong") if together else f"{'does' if one else 'do'} not belong"
    text = f"row{'s' * (not one)} {_listed([row + 1 for row in rows])} {verb} "
    if clusters:
        centres = [row for row in answer.typical[clusters[0]] if row not in rows]
        if not centres:
            raise Refused(f"no other row stands for cluster {clusters[0]}")
        links = tuple((centres[0], row, 1 if together else -1) for row in rows)
        return Statement(f"{text}to cluster {clusters[0]}", links)
    links = tuple(_chain(rows, 1)) if together else tuple((i, j, -1) for i, j in combinations(rows, 2))
    return Statement(f"{text}together", links)


def _clusters(words: Mapping[str, object], answer: Answer) -> list[int]:
    clusters = _whole_numbers(words, "clusters")
    if missing := [label for label in clusters if label not in answer.typical]:
        raise Refused(f"there is no cluster {missing[0]}")
    return clusters


def _chain(rows: Sequence[int], sign: int) -> Iterator[Link]:
    return ((i, j, sign) for i, j in pairwise(rows))


def _whole_numbers(words: Mapping[str, object], key: str) -> list[int]:
    values = words.get(key, [])
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise Refused(f"{key} is a list of whole numbers")
    return sorted(set(values))


def _listed(values: Sequence[object]) -> str:
    return " and ".join(filter(None, [", ".join(map(str, values[:-1])), str(values[-1])]))
