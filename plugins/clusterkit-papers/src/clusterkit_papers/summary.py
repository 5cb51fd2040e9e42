"""How a table stands: its closing line, and each of its methods with the paper's own row and the best of ours.

Quality is kept apart from seconds, a row whose parameters known classes chose from one without them, and a method from
a filler.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import attrs

from clusterkit_papers.printed_tables import Printed, beside, catalogue, printed
from clusterkit_papers.verdicts import COMPARED, FILLER, MEASURES, verdict

__all__ = ["STANDINGS", "MethodSummary", "closing_line", "methods", "printed_order", "standing", "tally"]

STANDINGS = {
    "as printed": ("reached", "the same"),
    "better": ("better by",),
    "of another experiment": ("another experiment",),
    "below print": ("short by", "impossible: capped"),
    "of fillers": (FILLER,),
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

COUNTED = (
    "as printed",
    "better",
    "of another experiment",
    "below print",
    "beside a printed value that cannot be right",
    "not defined",
)
"""The standings that compare with print, in the order of the closing line."""

METHODS_ARE_ROWS = ("emmc-table3", "emmc-table4")
"""Tables whose printed rows are the methods; in the others the columns are."""

KINDS = ("quality without labels", "quality with labels", "seconds", "counts of the data")
"""What is counted apart: indices of clusters whose parameters saw no classes, and of others; times, which depend on the
machine; sizes of data sets."""

MOSTLY, PARTLY = 0.75, 0.25
"""Parts of the values that "mostly" and "partly" begin at."""


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


def tally(table: str, rows: Iterable[Mapping[str, object]]) -> dict[str, Counter[str]]:
    """How many values stand how, by kind of `KINDS`; values beside no printed one are of no kind."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for row in rows:
        cell = beside(table, str(row["row"]), str(row["column"]))
        if cell is None:
            continue
        measure = MEASURES[cell.measure]
        kind = 2 if measure.ratio else 3 if measure.count else 1 if row["uses_labels"] else 0
        counts[KINDS[kind]][standing(str(row["verdict"]))] += 1
    return counts


def closing_line(table: str, rows: Sequence[Mapping[str, object]]) -> str:
    """A few sentences on all rows of a table.

    Parameters
    ----------
    table : str
    rows : sequence of mapping
        Rows of `clusterkit_papers.reproduce`.

    Examples
    --------
    >>> row = {"row": "EMMC: emmc", "column": "C = 1", "ours": 3.0, "uses_labels": False}
    >>> closing_line("emmc-table3", [{**row, "verdict": text} for text in ("reached", "short by 2.0 points")])
    'Quality without labels: 1 as printed, 1 below print.'
    """
    counts, sentences = tally(table, rows), []
    for kind, count in counts.items():
        if kind == "seconds":  # another machine's, so neither better nor worse
            beside_print = sum(count.pop(name, 0) for name in ("as printed", "better", "below print"))
            parts = [f"{beside_print} beside print"] if beside_print else []
        else:
            parts = []
        parts += [f"{count[name]} {name}" for name in (*COUNTED, "of fillers") if count[name]]
        if parts:
            sentences.append(f"{kind.capitalize()}: {', '.join(parts)}.")
    whole = Counter(standing(str(row["verdict"])) for row in rows)
    silent = (*COUNTED, "of fillers", "without a printed value", "with dashes in print")
    others = [f"{n} {name}" for name, n in whole.items() if n and name not in silent]
    if others:
        sentences.append(f"{'Further values' if sentences else 'Values'}: {', '.join(others)}.")
    agreeing, pairs = printed_order(table, rows)
    if pairs:
        sentences.append(f"Two methods stand in the printed order in {agreeing} of {pairs} comparisons.")
    return " ".join(sentences) or "No printed values."


def printed_order(table: str, rows: Iterable[Mapping[str, object]], *, seconds: bool | None = None) -> tuple[int, int]:
    """How many pairs of methods stand in the order that print has, of how many that differ in print.

    The first row that is compared with a printed value, chooses nothing by labels and is no filler is taken, and only
    values of one measure make a pair. Values that cannot be right, rows that are not comparable (a part of the data),
    and pairs that print equal do not count. With `seconds` only times count, or only all else.
    """
    cells, ours = printed(table) if table in catalogue() else {}, dict[tuple[str, str], float]()
    for row in rows:
        cell = beside(table, str(row["row"]), str(row["column"]))
        if cell is None or cell.value is None or cell.mark:
            continue
        usable = MEASURES[cell.measure].better and seconds in (None, MEASURES[cell.measure].ratio)
        text, value = str(row["verdict"]), row["ours"]
        usable = usable and _is_compared(text) and not text.startswith(FILLER)
        if usable and isinstance(value, float | int) and not row["uses_labels"]:
            ours.setdefault((cell.row, cell.column), value)
    fixed = 1 if table in METHODS_ARE_ROWS else 0
    agreeing = pairs = 0
    for one, other in itertools.combinations(ours, 2):
        same_line = one[fixed] == other[fixed] and cells[one].measure == cells[other].measure
        difference = _difference(cells[one], cells[other]) if same_line else 0.0
        if difference:
            pairs += 1
            agreeing += (ours[one] - ours[other]) * difference > 0
    return agreeing, pairs


def _is_compared(verdict: str) -> bool:
    """Whether a verdict compares a value with print; a value that the printed balance caps is compared too."""
    return any(word in verdict for word in (*COMPARED, "capped at"))


def _difference(one: Printed, other: Printed) -> float:
    """The difference of two printed values; 0 where it is within the tolerance of their measure."""
    if one.value is None or other.value is None:
        return 0.0
    difference = one.value - other.value
    return difference if abs(difference) > MEASURES[one.measure].tolerance else 0.0


@attrs.frozen
class MethodSummary:
    """A method of a printed table: what is printed, the row that is the paper's own, and our best row without labels.

    Parameters
    ----------
    method : str
        As the table names it; empty where all values are seconds or sizes.
    measure : str
        What the means are of.
    printed, described, best : float or None
        Means over the lines `in_means`.
    in_means : tuple of str
        The lines where all of them have a value of the first index, none a filler and none of another experiment; if
        there are no such lines, those of another experiment.
    means_apart : bool
        Whether they are of another experiment.
    described_row, best_row : str
        Names of our rows, without the line.
    lines : int
        Number of the printed values that can be right; of all indices of quality, if there are several. The counts
        of both rows are of these: a filler reaches nothing, nor does a row where it has no value.
    described_reached, best_reached : int
        How many of them each row reaches or exceeds.
    described_lines, best_lines : int
        How many values each row has beside them, fillers among them.
    described_by_index, best_by_index : tuple of (str, int, int)
        How many values each row reaches, and of how many printed ones that can be right: by measure.
    described_labels : bool
        Whether known classes choose a parameter of the row that is the paper's own.
    described_apart, best_apart : int
        How many values of each row are so much better than print that they are of another experiment.
    fillers : int
        How many of the values of the paper's own row are fillers.
    doubtful : int
        How many values of the row of the verdict are not comparable, such as beside another baseline than printed.
    wrong : int
        Number of further printed values that cannot be right.
    short : tuple of (str, float)
        The lines with a value, and by how much, where neither row reaches print; the largest first. By 0 where all are
        fillers.
    cells : tuple of Printed
        The printed values that can be right.
    """

    method: str
    measure: str
    printed: float | None
    described: float | None
    best: float | None
    in_means: tuple[str, ...]
    means_apart: bool
    described_row: str
    best_row: str
    lines: int
    described_reached: int
    best_reached: int
    described_lines: int
    best_lines: int
    described_by_index: tuple[tuple[str, int, int], ...]
    best_by_index: tuple[tuple[str, int, int], ...]
    described_labels: bool
    described_apart: int
    best_apart: int
    fillers: int
    doubtful: int
    wrong: int
    short: tuple[tuple[str, float], ...]
    cells: tuple[Printed, ...]

    @property
    def apart(self) -> int:
        """How many values of another experiment the row has that the verdict is of."""
        return self.described_apart if self.described_lines else self.best_apart

    @property
    def word(self) -> str:
        """The verdict: how many of the values the paper's own row reaches, or our best row where there is none."""
        if not self.described_lines and not self.best_lines:
            return "no value"
        if 2 * self.apart > self.lines:
            return "another experiment"
        share = (self.described_reached if self.described_lines else self.best_reached) / self.lines
        words = ((1.0, "reached"), (MOSTLY, "mostly reached"), (PARTLY, "partly reached"), (0.0, "not reached"))
        return next(word for least, word in words if share >= least)


@attrs.frozen
class _Value:
    """A value of ours beside a printed one that can be right."""

    row: str
    cell: Printed
    ours: float
    labels: bool
    described: bool
    verdict: str

    @property
    def filler(self) -> bool:
        return self.verdict.startswith(FILLER)

    @property
    def gain(self) -> float:
        """By how much it is better than print."""
        return MEASURES[self.cell.measure].better * (self.ours - (self.cell.value or 0.0))

    @property
    def _standing(self) -> str:
        return "of fillers" if self.filler else standing(verdict(self.cell.measure, self.cell, self.ours))

    @property
    def reached(self) -> bool:
        return self._standing in ("as printed", "better")

    @property
    def apart(self) -> bool:
        """Whether it is so much better that it is of another experiment."""
        return self._standing == "of another experiment"


Places = Mapping[tuple[str, str], _Value]
"""A value of ours by the printed row and column."""


def methods(table: str, rows: Sequence[Mapping[str, object]]) -> list[MethodSummary]:
    """The methods of a table whose quality is printed, in printed order.

    Parameters
    ----------
    table : str
    rows : sequence of mapping
        Rows of `clusterkit_papers.reproduce`.
    """
    cells: dict[str, list[Printed]] = {}
    for cell in printed(table).values() if table in catalogue() else ():
        measure = MEASURES[cell.measure]
        if cell.value is not None and measure.better and not measure.ratio:
            cells.setdefault(_method(table, cell), []).append(cell)
    return [_summary(table, method, its, rows) for method, its in cells.items()]


INDICES = (" Acc", " RI", " purity (%)", " NMI", " purity, formula as printed", " Rand", " DB")
"""What the columns of a method have after its name."""


def _method(table: str, cell: Printed) -> str:
    if table in METHODS_ARE_ROWS:
        return cell.row
    return next((cell.column.removesuffix(index) for index in INDICES if cell.column.endswith(index)), cell.column)


def _line(table: str, cell: Printed) -> str:
    """The data set or setting of a printed value."""
    return cell.column if table in METHODS_ARE_ROWS else cell.row


def _values(table: str, cells: Sequence[Printed], rows: Sequence[Mapping[str, object]]) -> list[_Value]:
    """Our values beside the printed cells, those that the printed balance caps too."""
    values = []
    for row in rows:
        name, text, ours = str(row["row"]), str(row["verdict"]), row["ours"]
        cell = beside(table, name, str(row["column"]))
        if cell in cells and cell is not None and isinstance(ours, float | int) and _is_compared(text):
            row_name = name.removeprefix(cell.row).lstrip(": ")
            labels, described = bool(row["uses_labels"]), bool(row["as_described"])
            values.append(_Value(row_name, cell, float(ours), labels, described, text))
    return values


def _summary(table: str, method: str, cells: Sequence[Printed], rows: Sequence[Mapping[str, object]]) -> MethodSummary:
    right, first = [cell for cell in cells if not cell.mark], cells[0].measure
    described: dict[tuple[str, str], _Value] = {}
    by_row: dict[str, dict[tuple[str, str], _Value]] = {}
    for value in _values(table, right, rows):
        where = value.cell.row, value.cell.column
        if value.described:
            described[where] = value
        if not value.labels:
            by_row.setdefault(value.row, {}).setdefault(where, value)
    methods_of_ours = {name: its for name, its in by_row.items() if not all(value.filler for value in its.values())}
    best_row, best = max(methods_of_ours.items(), key=lambda pair: _rank(pair[1]), default=("", {}))
    beside_both = [chosen for chosen in (described, best) if chosen]
    of_first, short = [cell for cell in right if cell.measure == first], []
    pairs = {
        cell: [chosen[cell.row, cell.column] for chosen in beside_both]
        for cell in of_first
        if all((cell.row, cell.column) in chosen for chosen in beside_both)
    }
    methods_only = [cell for cell, both in pairs.items() if not any(value.filler for value in both)]
    usual = [cell for cell in methods_only if not any(value.apart for value in pairs[cell])]
    shown = usual or (methods_only if beside_both else [])
    for cell in of_first:
        both = [chosen[cell.row, cell.column] for chosen in beside_both if (cell.row, cell.column) in chosen]
        if both and not any(value.reached or value.apart for value in both):
            short.append((_line(table, cell), -max((value.gain for value in both if not value.filler), default=0.0)))
    names = Counter(value.row for value in described.values())
    return MethodSummary(
        method=method,
        measure=first,
        printed=statistics.fmean(cell.value or 0.0 for cell in shown) if shown else None,
        described=_mean(described, shown),
        best=_mean(best, shown),
        in_means=tuple(_line(table, cell) for cell in shown),
        means_apart=bool(shown) and not usual,
        described_row=max(names, key=names.__getitem__, default=""),
        best_row=best_row,
        lines=len(right),
        described_reached=sum(value.reached for value in described.values()),
        best_reached=sum(value.reached for value in best.values()),
        described_lines=len(described),
        best_lines=len(best),
        described_by_index=_by_index(described, right),
        best_by_index=_by_index(best, right),
        described_labels=any(value.labels for value in described.values()),
        described_apart=sum(value.apart for value in described.values()),
        best_apart=sum(value.apart for value in best.values()),
        fillers=sum(value.filler for value in described.values()),
        doubtful=sum(standing(value.verdict) == "not comparable" for value in (described or best).values()),
        wrong=len(cells) - len(right),
        short=tuple(sorted(short, key=lambda pair: -pair[1])),
        cells=tuple(right),
    )


def _rank(values: Places) -> tuple[int, int, float]:
    """What makes a row the best: how often it reaches print, then how many values it has, then by how much."""
    methods_only = [value for value in values.values() if not value.filler]
    return sum(value.reached for value in methods_only), len(methods_only), sum(value.gain for value in methods_only)


def _by_index(values: Places, right: Sequence[Printed]) -> tuple[tuple[str, int, int], ...]:
    """How many printed values of each measure a row reaches, and of how many that can be right."""
    judged: dict[str, list[bool]] = {}
    for cell in right:
        where = cell.row, cell.column
        judged.setdefault(cell.measure, []).append(where in values and values[where].reached)
    return tuple((measure, sum(reached), len(reached)) for measure, reached in judged.items())


def _mean(values: Places, shown: Sequence[Printed]) -> float | None:
    """The mean of ours over the cells that are shown."""
    if not values or not shown:
        return None
    return statistics.fmean(values[cell.row, cell.column].ours for cell in shown)
