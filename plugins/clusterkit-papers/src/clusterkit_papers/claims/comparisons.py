"""The comparisons that the claims of the papers are cut into: two numbers, and how they have to stand.

Each function takes values by table, row and column, those that a paper prints or ours, and returns comparisons.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from clusterkit_papers.printed_tables import catalogue, printed
from clusterkit_papers.summary import METHODS_ARE_ROWS

__all__ = [
    "COMPARABLE",
    "Compare",
    "Comparison",
    "Values",
    "alike",
    "another_width",
    "below",
    "beside",
    "beside_best",
    "beside_best_width",
    "beside_consensus",
    "beside_members",
    "beside_plain",
    "differences",
    "faster",
    "few_equilibria",
    "grows",
    "growth",
    "near",
    "on",
    "pairs_of_rows",
    "scales_better",
    "sensitive",
    "several",
    "shapes",
    "stable",
    "starts_beside",
    "subproblems",
    "turns",
    "varies",
    "within_bound",
    "worse_when_wide",
]

COMPARABLE = 0.05
"""How far below another index one may be that is still "comparable" to it; 5 points of a percentage."""

Row = Mapping[str, Any]


@attrs.frozen
class Comparison:
    """Two numbers of which a claim says how they stand.

    Parameters
    ----------
    where : str
        The data and the setting.
    one, other : float
        The value of the method that the claim is about, and the one beside it.
    against : str
        What the other value is.
    holds : bool
    gain : float
        By how much it holds, negative where it does not; among failures the most negative is shown.
    """

    where: str
    one: float
    other: float
    against: str
    holds: bool
    gain: float


class Values:
    """Values by table, printed row and column: those that the papers print, or ours from records.

    Parameters
    ----------
    rows : mapping of str to sequence of mapping, optional
        Rows by table, as records have them. Without it the values are the printed ones.
    without_labels : bool, default False
        Whether only rows count in which known classes chose nothing.
    """

    def __init__(self, rows: Mapping[str, Sequence[Row]] | None = None, *, without_labels: bool = False) -> None:
        self._rows = rows
        self._without_labels = without_labels
        self._words = ""

    def reading(self, words: str) -> Values:
        """The same values, where rows whose names have these words stand before those as described.

        The printed values have one reading only.
        """
        if not words:
            return self
        other = Values({} if self._rows is None else self._rows, without_labels=self._without_labels)
        other._words = words
        return other

    def places(self, table: str) -> list[str]:
        """The printed rows of a table, in order."""
        return list(dict.fromkeys(row for row, _ in printed(table)))

    def value(self, table: str, row: str, column: str) -> float | None:
        """The printed value; or ours of the method as the paper describes it, else of our first row without labels."""
        if self._rows is None:
            cell = printed(table).get((row, column))
            return None if cell is None else cell.value
        candidates = [
            one
            for one in self._rows.get(table, ())
            if one["column"] == column and one["ours"] is not None and str(one["row"]).partition(":")[0] == row
        ]
        read = [one for one in candidates if self._words and self._words in one["row"]]
        described = [
            one for one in candidates if one["as_described"] and not (self._without_labels and one["uses_labels"])
        ]
        free = [one for one in candidates if not one["uses_labels"] and "not comparable" not in one["verdict"]]
        return next((float(one["ours"]) for one in (*read, *described, *free)), None)

    def ours(self, table: str) -> Iterator[Row]:
        """Our rows of a table that have a value; none of the printed values."""
        for row in () if self._rows is None else self._rows.get(table, ()):
            if row["ours"] is not None and not (self._without_labels and row["uses_labels"]):
                yield row


Compare = Callable[[Values], Iterable[Comparison]]


def _compared(where: str, one: float, other: float, against: str, better: int = 1, slack: float = 0.0) -> Comparison:
    """One value above another (below it if `better` is -1), or less than `slack` on the wrong side."""
    gain = better * (one - other) + slack
    return Comparison(where, one, other, against, gain > 0 or (slack > 0 and gain >= 0), gain)


def _place(table: str, line: str) -> str:
    """A line of a table in words; where it is a setting, such as k = 2, with the data set that ends the title."""
    return f"{catalogue()[table].title.rpartition(', ')[2]}, {line}" if " = " in line and "C = " not in line else line


def beside(
    table: str, one: str, others: Sequence[str], values: Values, *, better: int = 1, slack: float = 0.0, kind: str = ""
) -> Iterator[Comparison]:
    """A method beside others in every line of a table, by its columns or, where methods are rows, by its row."""
    flipped = table in METHODS_ARE_ROWS
    lines = list(dict.fromkeys(column for _, column in printed(table))) if flipped else values.places(table)
    for line in lines:
        for other in others:
            first, second = ((line, name) for name in (one + kind, other + kind))
            if flipped:
                first, second = first[::-1], second[::-1]
            ours, theirs = values.value(table, *first), values.value(table, *second)
            if ours is not None and theirs is not None:
                yield _compared(_place(table, line), ours, theirs, f"{other}{kind}", better, slack)


def several(*parts: Compare) -> Compare:
    """The comparisons of several functions."""
    return lambda values: [comparison for part in parts for comparison in part(values)]


def on(lines: Sequence[str], compare: Compare) -> Compare:
    """Those comparisons that are of certain lines."""
    return lambda values: [comparison for comparison in compare(values) if comparison.where in lines]


def near(table: str, one: str, other: str, values: Values) -> Iterator[Comparison]:
    """A method no more than 5 points from another, above or below."""
    for line in values.places(table):
        ours, theirs = values.value(table, line, one), values.value(table, line, other)
        if ours is not None and theirs is not None:
            gain = 100 * COMPARABLE - abs(ours - theirs)
            yield Comparison(line, ours, theirs, other, gain >= 0, gain)


def turns(table: str, row: str, values: Values) -> Iterator[Comparison]:
    """The largest rise along a row of a table, which has falls too, beside none."""
    columns = [column for line, column in printed(table) if line == row]
    ours = [value for column in columns if (value := values.value(table, row, column)) is not None]
    steps = [after - before for before, after in itertools.pairwise(ours)]
    if steps and min(steps) < 0:
        yield _compared(f"{row}, largest rise", max(steps), 0.0, "no rise")


def scales_better(one: str, others: Sequence[str], values: Values) -> Iterator[Comparison]:
    """The exponent of the seconds of a method over the rows of data sets beside that of others on the same sets."""
    times, kind = "emmc-table9", " CPU (s)"
    sizes = {line: values.value("emmc-table2", line, "N") for line in values.places("emmc-table2")}
    for other in others:
        points = [
            (n, ours, theirs)
            for line, n in sizes.items()
            if n
            and (ours := values.value(times, line, one + kind))
            and (theirs := values.value(times, line, other + kind))
        ]
        if len(points) > 2:
            n, ours, theirs = ([math.log(value) for value in values] for values in zip(*points, strict=True))
            slopes = [statistics.linear_regression(n, seconds).slope for seconds in (ours, theirs)]
            yield _compared(f"{len(points)} sets", *slopes, other, -1)


def beside_best(
    tables: Sequence[str], one: str, others: Sequence[str], kind: str, values: Values
) -> Iterator[Comparison]:
    """A method beside the best of the others, a comparison for each line."""
    for table in tables:
        for line in values.places(table):
            ours = values.value(table, line, one + kind)
            theirs = [(value, name) for name in others if (value := values.value(table, line, name + kind)) is not None]
            if ours is not None and theirs:
                value, name = max(theirs)
                yield _compared(line, ours, value, name)


def starts_beside(one: str, others: Sequence[str], values: Values, *, slack: float = 0.0) -> Iterator[Comparison]:
    """Starts of the mean over all digit pairs beside others, by their error."""
    for other in others:
        ours, theirs = (values.value("emmc-table4", line, "error (%)") for line in (one, other))
        if ours is not None and theirs is not None:
            yield _compared(one, ours, theirs, other, -1, slack)


def grows(table: str, column: str, values: Values) -> Iterator[Comparison]:
    """Each line of a table beside the one before it."""
    lines = values.places(table)
    for before, line in itertools.pairwise(lines):
        first, second = values.value(table, before, column), values.value(table, line, column)
        if first is not None and second is not None:
            yield _compared(f"{_place(table, line)}, {column}", second, first, before)


def faster(
    table: str, one: str, other: str, factor: float, lines: Sequence[str], values: Values
) -> Iterator[Comparison]:
    """A method that takes at most 1 / `factor` of the time of another."""
    for line in lines:
        ours, theirs = values.value(table, line, one), values.value(table, line, other)
        if ours and theirs:
            ratio = theirs / ours
            yield Comparison(line, ours, theirs, f"{other}, a factor of {ratio:.2g}", ratio >= factor, ratio - factor)


def below(table: str, column: str, bound: float, values: Values) -> Iterator[Comparison]:
    """All values of a column below a bound."""
    for line in values.places(table):
        ours = values.value(table, line, column)
        if ours is not None:
            yield _compared(line, ours, bound, "the bound", -1)


def pairs_of_rows(
    table: str,
    one: str,
    other: str,
    columns: Sequence[str],
    values: Values,
    *,
    better: int = 1,
    begins: Sequence[str] = ("",),
    slack: float = 0.0,
) -> Iterator[Comparison]:
    """Our rows that end with `one` beside those that are named alike but end with `other`; columns are summed."""
    rows: dict[tuple[str, str], float] = {}
    for row in values.ours(table):
        if row["column"] in columns:
            rows[row["row"], row["column"]] = float(row["ours"])
    for name in dict.fromkeys(name for name, _ in rows):
        stem = name.removesuffix(one)
        if stem == name or not any(name.startswith(begin) for begin in begins):
            continue
        beside = stem + other
        sums = [sum(rows.get((which, column), float("nan")) for column in columns) for which in (name, beside)]
        if sums[0] == sums[0] and sums[1] == sums[1]:
            yield _compared(stem.rstrip(",: "), sums[0], sums[1], other, better, slack)


def beside_plain(problem: str, values: Values) -> Iterator[Comparison]:
    """Accuracy of the machine of equal parts beside the plain machine, for every number of parts."""
    accuracy = {row["row"]: float(row["ours"]) for row in values.ours("m3-figures") if row["column"] == "accuracy (%)"}
    plain = accuracy.get(f"{problem}: K = 1, plain machine")
    for name, value in accuracy.items():
        if plain is not None and name.startswith(f"{problem}: ") and name.endswith(", equal"):
            yield _compared(name.removesuffix(", equal"), value, plain, "plain machine")


def subproblems(column: str, values: Values) -> Iterator[Comparison]:
    """Every subproblem of two equal parts of each class beside every one of random parts."""
    of: dict[str, dict[str, float]] = {"equal": {}, "random": {}}
    for row in values.ours("m3-figures7-8"):
        partition, _, parts = str(row["row"]).partition(": ")[2].partition(", ")
        if partition in of and row["column"] == column:
            of[partition][parts] = float(row["ours"])
    for parts, one in of["equal"].items():
        for other_parts, other in of["random"].items():
            yield _compared(f"{column}, {parts}", one, other, f"random, {other_parts}", -1)


def alike(values: Values) -> Iterator[Comparison]:
    """The spread of every subproblem of random parts, in percent of that of the whole classes, beside 95."""
    for row in values.ours("m3-figures7-8"):
        if row["column"] == "spread (% of that of the classes)" and ": random," in row["row"]:
            yield _compared(str(row["row"]), float(row["ours"]), 95.0, "the bound")


SCALED = ("attributes in [0, 1]", "z-scores")
"""Both readings of the data sets of EDSVC: the paper says nothing about their scaling."""


def _edsvc_rows(values: Values) -> Iterator[tuple[str, dict[str, float]]]:
    """Data set with scaling, and the columns of EDSVC as published."""
    rows: dict[str, dict[str, float]] = {}
    for row in values.ours("edsvc-figures"):
        name, _, rest = str(row["row"]).partition(": ")
        what, _, scaling = rest.partition(", ")
        if what == "edsvc as published" and scaling in SCALED:
            rows.setdefault(f"{name}, {scaling}", {})[str(row["column"])] = float(row["ours"])
    yield from rows.items()


def beside_members(column: str, ours: str, values: Values) -> Iterator[Comparison]:
    """EDSVC beside the mean or the best of the members of its ensembles."""
    for where, columns in _edsvc_rows(values):
        if ours in columns and column in columns:
            yield _compared(where, columns[ours], columns[column], column)


def beside_best_width(column: str, values: Values) -> Iterator[Comparison]:
    """EDSVC beside the width of PSVC that has the highest NMI."""
    psvc: dict[str, float] = {}
    for row in values.ours("edsvc-figures"):
        if row["column"] == column and "by labels" in row["row"]:
            name, _, rest = str(row["row"]).partition(": ")
            psvc[f"{name}, {rest.rpartition('by labels, ')[2]}"] = float(row["ours"])
    for where, columns in _edsvc_rows(values):
        ours = columns.get(column.replace("PSVC", "EDSVC"))
        if where in psvc and ours is not None:
            yield _compared(where, ours, psvc[where], "best PSVC")


def sensitive(values: Values) -> Iterator[Comparison]:
    """The best width of PSVC beside the median of all of them that have a row."""
    curves: dict[str, list[float]] = {}
    for row in values.ours("edsvc-figures"):
        name, _, rest = str(row["row"]).partition(": ")
        if row["column"] == "PSVC" and rest.startswith("psvc, "):
            curves.setdefault(f"{name}, {rest.partition('psvc, ')[2].partition(', ')[2]}", []).append(
                float(row["ours"])
            )
    for where, curve in curves.items():
        yield _compared(where, max(curve), statistics.median(curve), "the median of the widths", slack=-COMPARABLE)


CONSENSUS = ("COMUSA", "DICLENS", "COMUSACL", "COMUSACL-DEW")
"""The consensus functions of EDSVC's table 2."""


def beside_consensus(only: Sequence[str], values: Values, *, slack: float = 0.0) -> Iterator[Comparison]:
    """EDSVC beside the consensus functions; ours in both scalings."""
    table = "edsvc-table2"
    if not any(True for _ in values.ours(table)):
        for comparison in beside(table, "EDSVC", CONSENSUS, values, slack=slack):
            if not only or comparison.where in only:
                yield comparison
        return
    ours: dict[tuple[str, str, str], float] = {}
    for row in values.ours(table):
        name, _, rest = str(row["row"]).partition(": ")
        scaling = next((words for words in SCALED if rest.endswith(f", {words}")), "")
        if scaling and "plane" not in rest:
            ours.setdefault((name, scaling, str(row["column"])), float(row["ours"]))
    for (name, scaling, column), value in ours.items():
        if column in CONSENSUS and (not only or name in only) and (name, scaling, "EDSVC") in ours:
            yield _compared(f"{name}, {scaling}", ours[name, scaling, "EDSVC"], value, column, slack=slack)


def _curves(what: str, methods: Sequence[str], values: Values) -> dict[str, dict[float, float]]:
    """Purity of ELM methods and of their kernels over the number of nodes L or the width sigma, by set and method."""
    curves: dict[str, dict[float, float]] = {}
    for row in values.ours("elm-figures"):
        name, _, rest = str(row["row"]).partition(": ")
        point, _, method = rest.partition(", ")
        kind, _, size = point.partition(" = ")
        if row["column"] == "purity (%)" and kind == what and method in methods:
            curves.setdefault(f"{name}, {method}", {})[float(size)] = float(row["ours"])
    return curves


def stable(methods: Sequence[str], values: Values, *, what: str = "L", least: float = 300) -> Iterator[Comparison]:
    """Purity from 300 nodes, or another size, on: its lowest value beside its highest, at most 5 points apart."""
    for where, curve in _curves(what, methods, values).items():
        tail = [purity for size, purity in curve.items() if size >= least]
        yield _compared(where, min(tail), max(tail), "the highest", slack=100 * COMPARABLE)


def varies(method: str, values: Values) -> Iterator[Comparison]:
    """Purity over the width of a kernel: its highest value more than 5 points above its median."""
    for where, curve in _curves("sigma", (method,), values).items():
        middle = statistics.median(curve.values())
        yield _compared(where, max(curve.values()), middle, "the median", slack=-100 * COMPARABLE)


def worse_when_wide(method: str, values: Values) -> Iterator[Comparison]:
    """Purity at the largest width of a kernel: more than 5 points below its highest value."""
    for where, curve in _curves("sigma", (method,), values).items():
        widest, highest = curve[max(curve)], max(curve.values())
        yield _compared(where, widest, highest, "the highest", -1, slack=-100 * COMPARABLE)


def another_width(method: str, values: Values) -> Iterator[Comparison]:
    """The width of highest purity on a data set beside that on another one."""
    best = {where: max(curve, key=curve.__getitem__) for where, curve in _curves("sigma", (method,), values).items()}
    for (one, width), (other, second) in itertools.combinations(best.items(), 2):
        yield Comparison(f"sigma of {one}", width, second, other, width != second, -1.0)


def growth(column: str, bound: float, better: int, values: Values) -> Iterator[Comparison]:
    """The growth of EMMC with the number of nodes, of the curve of the method as described; a change by its size."""
    for row in values.ours("emmc-figures"):
        name, _, what = str(row["row"]).partition(": ")
        if row["column"] == column and what.startswith("emmc-paper, growth"):
            ours = float(row["ours"])
            yield _compared(name, abs(ours) if better < 0 else ours, bound, "the bound", better, 1e-9)


def shapes(method: str, better: int, values: Values, *, only: Sequence[str] = ()) -> Iterator[Comparison]:
    """How often the clusters of a drawn shape are found without an error."""
    for row in values.ours("svc-figures"):
        name = str(row["row"]).partition(":")[0]
        wanted = row["row"].endswith(f": {method}") and (not only or name in only)
        if wanted and row["column"] == "part of the seeds with ARI 1":
            bound = 1.0 if better > 0 else 0.5
            yield _compared(name, float(row["ours"]), bound, "needed", better, 1e-9 if better > 0 else 0.0)


def within_bound(values: Values) -> Iterator[Comparison]:
    """Runs above the bound, in percent, beside the 10 that δ = 0.1 allows."""
    for row in values.ours("claim-lmsvc"):
        if row["column"] == "runs above the bound (%)":
            yield _compared(str(row["row"]), float(row["ours"]), 10.0, "allowed (%)", -1, 1e-9)


def few_equilibria(values: Values) -> Iterator[Comparison]:
    """The number of equilibria beside a tenth of the samples."""
    ours = {(row["row"], row["column"]): float(row["ours"]) for row in values.ours("claim-equilibria")}
    for (name, column), n in ours.items():
        if column == "samples":
            yield _compared(name, ours[name, "equilibria"], n / 10, "a tenth of the samples", -1)


def differences(start: str, values: Values) -> Iterator[Comparison]:
    """How far two runs of EMMC differ beside two runs of the other methods, from the same kind of start."""
    column, table = "difference between two runs (%)", "claim-emmc-starts"
    ours = {row["row"]: float(row["ours"]) for row in values.ours(table) if row["column"] == column}
    for name, value in ours.items():
        place, _, what = name.partition(": ")
        for other in ("itersvm", "itersvr"):
            beside = f"{place}: {other} from {start}"
            if what == f"emmc from {start}" and beside in ours:
                yield _compared(place, value, ours[beside], other, -1)
