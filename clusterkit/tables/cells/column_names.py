"""Names of columns: made unique, made up where a table has none, and chosen by name, position or range."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from unicodedata import normalize

from clusterkit.errors import TableError, first_names, shortened

NAMES_SHOWN = 12
"""Number of column names in an error message."""


def select(names: Sequence[str], columns: Iterable[str], drop: Iterable[str], title: str) -> list[int]:
    """Positions of the columns to use, in the order of `columns`.

    Parameters
    ----------
    names : sequence of str
        Names of all columns of the table.
    columns : iterable of str
        Columns to use: names, positions from 1, or ranges such as "2-4". A name goes before a position. All columns if
        empty.
    drop : iterable of str
        Columns to leave out, written in the same way.
    title : str
        The table, for messages.

    Returns
    -------
    list of int
        Counted from 0.

    Raises
    ------
    TableError
        If there is no such column, or none is left.

    Examples
    --------
    >>> select(["id", "a", "b", "c"], ["2-3", "c"], ["a"], "t.csv")
    [2, 3]
    """
    included = [j for key in columns for j in positions(key, names, title)] or range(len(names))
    excluded = {j for key in drop for j in positions(key, names, title)}
    chosen = [j for j in dict.fromkeys(included) if j not in excluded]
    if not chosen:
        raise TableError(f"{title}: no column is left to cluster")
    return chosen


def positions(key: str, names: Sequence[str], title: str) -> Sequence[int]:
    """Positions of the columns that a name, a position from 1, or a range such as "2-4" stands for."""
    place = place_of(key, names)
    if place is not None:
        return [place]
    low, dash, high = key.partition("-")
    if low.isdecimal() and (high.isdecimal() if dash else True):
        first, last = int(low), int(high if dash else low)
        if 1 <= first <= last <= len(names):
            return range(first - 1, last)
        raise TableError(f"{title}: no column {key}; there are {len(names)} columns, counted from 1")
    raise no_such_column(key, names, title)


def place_of(key: str, names: Sequence[str]) -> int | None:
    r"""The position of a name; None if no column has it.

    A letter with an accent is one character or two, by the system on which a name was written: where no name is equal,
    the only one that differs in that alone is meant.

    Examples
    --------
    >>> place_of("rose\u0301", ["tea", "ros\u00e9"]), place_of("rose", ["tea", "ros\u00e9"])
    (1, None)
    """
    if key in names:
        return names.index(key)
    if all(map(str.isascii, (key, *names))):
        return None
    composed = normalize("NFC", key)
    same = [j for j, name in enumerate(names) if normalize("NFC", name) == composed]
    return same[0] if len(same) == 1 else None


def no_such_column(key: str, names: Sequence[str], title: str) -> TableError:
    """The error about a name that no column has, with the nearest one."""
    folded = key.strip().casefold()
    close = [name for name in names if name.strip().casefold() == folded] or difflib.get_close_matches(key, names, n=1)
    offer = f" Did you mean {' or '.join(repr(shortened(name)) for name in close[:2])}?" if close else ""
    shown = first_names(names, NAMES_SHOWN)
    return TableError(f"{title}: no column named {shortened(key)!r}.{offer} Its {len(names)} columns: {shown}")


def numbered(width: int) -> list[str]:
    """Names by position: x1, x2, ..."""
    return [f"x{j}" for j in range(1, width + 1)]


def unique(cells: Sequence[str]) -> list[str]:
    """Names for all columns, each one once: x3 for an empty third name, a.2 for the second column named a."""
    names: dict[str, None] = {}
    copies: dict[str, int] = {}  # number of copies of each name so far: no search among thousands of equal names
    for j, cell in enumerate(cells, 1):
        name = base = cell.strip() or f"x{j}"
        while name in names:
            copies[base] = copies.get(base, 1) + 1
            name = f"{base}.{copies[base]}"
        names[name] = None
    return list(names)


def shared_names(cells: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Map from the unique name to the name in the table, for columns that share their name with others.

    Examples
    --------
    >>> header = ["a", "b", "a"]
    >>> shared_names(header, unique(header))
    {'a': 'a', 'a.2': 'a'}
    """
    stripped = [cell.strip() for cell in cells]
    counts = Counter(stripped)
    return {name: cell for name, cell in zip(names, stripped, strict=False) if cell and counts[cell] > 1}


def check_distinct(used: Iterable[str], shared: Mapping[str, str], names: Sequence[str], title: str) -> None:
    """Raise `TableError` if two of the columns that are used have one name in their table.

    Only their order would tell such columns apart, and a new table may have another order.

    Parameters
    ----------
    used : iterable of str
        Unique names.
    shared : mapping of str to str
        Unique name to name in the table, from `shared_names`.
    names : sequence of str
        Unique names of all columns.
    title : str
    """
    groups: dict[str, list[str]] = {}
    for name in used:
        if name in shared:
            groups.setdefault(shared[name], []).append(name)
    for header, group in groups.items():
        if len(group) > 1:
            places = first_names([str(names.index(name) + 1) for name in group], NAMES_SHOWN)
            raise TableError(
                f"{title}: the columns {places} have one name, {header!r}, so that nothing but their order tells them "
                f"apart. Rename them, or leave out all but one; here they are called {first_names(group, NAMES_SHOWN)}"
            )
