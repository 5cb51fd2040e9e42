"""The closing line of a table: how many values are as printed, and whether the methods are in the printed order."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from clusterkit_papers.printed_tables import Printed, catalogue, printed
from clusterkit_papers.verdicts import MEASURES

__all__ = ["STANDINGS", "closing_line", "printed_order", "standing"]

STANDINGS = {
    "as printed": ("reached", "the same"),
    "better": ("better by",),
    "below print": ("short by", "impossible: capped"),
    "with a count that differs": (),
    "beside a printed value that cannot be right": ("printed value impossible", "printed value contradicts"),
    "not defined": ("not defined",),
    "not judged": ("not judged",),
    "without a printed value": ("no printed value",),
    "left out by quick": ("not run: quick leaves it out",),
    "with dashes in print": ("not run: the paper has none", "not run: a method for two clusters"),
    "without data": ("data set not found",),
    "not run": ("not run",),
    "not comparable": (),
}
"""How a value stands, and how the verdicts begin that say so; what no entry has is not comparable."""

COUNTED = ("as printed", "better", "below print", "beside a printed value that cannot be right", "not defined")
"""The standings that compare with print, in the order of the closing line."""

METHODS_ARE_ROWS = ("emmc-table3", "emmc-table4")
"""Tables whose printed rows are the methods; in the others the columns are."""


def standing(verdict: str) -> str:
    """How a value stands by its verdict, a key of `STANDINGS`.

    Examples
    --------
    >>> standing("short by 3.9 points"), standing("not comparable: 100 random rows")
    ('below print', 'not comparable')
    """
    if " than printed" in verdict:
        return "with a count that differs"
    return next((name for name, begins in STANDINGS.items() if verdict.startswith(begins)), "not comparable")


def closing_line(table: str, rows: Sequence[Mapping[str, object]]) -> str:
    """One sentence or two on all rows of a table.

    Parameters
    ----------
    table : str
    rows : sequence of mapping
        Rows of `clusterkit_papers.reproduce`.

    Examples
    --------
    >>> row = {"row": "EMMC: emmc", "column": "C = 1", "ours": 3.0, "uses_labels": False}
    >>> closing_line("emmc-table3", [{**row, "verdict": text} for text in ("reached", "short by 2.0 points")])
    '2 values beside printed ones: 1 as printed, 1 below print.'
    """
    count = Counter(standing(row["verdict"]) for row in rows)
    beside = sum(count[name] for name in COUNTED)
    parts = [f"{count[name]} {name}" for name in COUNTED if count[name]]
    sentences = [f"{beside} values beside printed ones: {', '.join(parts)}."] if beside else []
    others = [
        f"{n} {name}"
        for name, n in count.items()
        if n and name not in COUNTED and name not in ("without a printed value", "with dashes in print")
    ]
    if others:
        sentences.append(f"{'Further values' if beside else 'Values'}: {', '.join(others)}.")
    agreeing, pairs = printed_order(table, rows)
    if pairs:
        sentences.append(f"Two methods stand in the printed order in {agreeing} of {pairs} comparisons.")
    return " ".join(sentences) or "No printed values."


def printed_order(table: str, rows: Iterable[Mapping[str, object]]) -> tuple[int, int]:
    """How many pairs of methods stand in the order that print has, of how many that differ in print.

    The first row that stands beside a printed value and chooses nothing by labels is taken. Values that cannot be
    right, and pairs that print equal, do not count.
    """
    cells, ours = printed(table) if table in catalogue() else {}, dict[tuple[str, str], float]()
    for row in rows:
        where = str(row["row"]).partition(":")[0], str(row["column"])
        cell = cells.get(where)
        usable = cell is not None and cell.value is not None and not cell.mark and MEASURES[cell.measure].better
        if usable and row["ours"] is not None and not row["uses_labels"]:
            ours.setdefault(where, row["ours"])
    fixed = 1 if table in METHODS_ARE_ROWS else 0
    agreeing = pairs = 0
    for one, other in itertools.combinations(ours, 2):
        same_line = one[fixed] == other[fixed] and cells[one].measure == cells[other].measure
        difference = _difference(cells[one], cells[other]) if same_line else 0.0
        if difference:
            pairs += 1
            agreeing += (ours[one] - ours[other]) * difference > 0
    return agreeing, pairs


def _difference(one: Printed, other: Printed) -> float:
    """The difference of two printed values; 0 where it is within the tolerance of their measure."""
    if one.value is None or other.value is None:
        return 0.0
    difference = one.value - other.value
    return difference if abs(difference) > MEASURES[one.measure].tolerance else 0.0
