"""Findings: what a preparation has seen and decided, column by column, and the sentences that are made of them.

A `Finding` is made once, where the cells are counted: of a plan (`of_plan`) or of the sums of a fit (`of_fit`). The
paragraph and `resolved_` (`facts`, `paragraph`) and the warnings (`warnings_of`) are views of findings, each kind with
one sentence in `SAYS` or `WARNS`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, final

import attrs
import numpy as np

from clusterkit.errors import TableWarning, counted, shortened
from clusterkit.tables.cells import parsing
from clusterkit.tables.cells.parsing import DAY_FIRST, DIGITS, MONTH_FIRST
from clusterkit.tables.cells.readings import ORDERS
from clusterkit.tables.cells.times import clock_text
from clusterkit.tables.preparing.decisions import mixed_marks, of_numbers_in
from clusterkit.tables.preparing.places import places
from clusterkit.tables.preparing.plans import CategoryColumn, ColumnPlan, DateColumn, LeftOut, NumberColumn
from clusterkit.tables.preparing.redundant_columns import as_option
from clusterkit.tables.preparing.sums import LOOKED_AT, ColumnSums
from clusterkit.tables.preparing.texts import TextColumn
from clusterkit.tables.reading.frames import TEXTS, Column

if TYPE_CHECKING:
    from clusterkit.tables.preparing.preparation import FittedPreparation


@final
@attrs.frozen
class Finding:
    """Something that was seen in a column.

    Parameters
    ----------
    kind : str
        Key of `SAYS` or `WARNS`.
    column : str
    detail : str
        What was seen, in the words of the sentence.
    count : int
        Number of cells that it is about; 0 where it is about the column.
    example : str
        One of these cells.
    """

    kind: str
    column: str
    detail: str = ""
    count: int = 0
    example: str = ""


SAYS = {
    "unit": "Units beside numbers: {}",
    "clock": "In hours: {}",
    "place": "Places in degrees, so that 180° is no border: {}; --no-sphere leaves them as they are",
    "decimal comma": "A comma is before the decimals of {}",
    "two values": "Of two values: {}",
    "ordered": "Ordered levels that are numbers: {}",
    "few": (
        "Few whole numbers, used as numbers though they may be years or codes: {}; --as-category makes levels of them"
    ),
    "category": "Categories: {}",
    "date": "Dates: {}",
    "topics": "Texts, by words that come together: {}",
    "left out": "Left out: {}",
    "infinite": "Infinite cells, which count as gaps: {}",
    "filled": "Gaps: {}",
    "lent": "Gaps in {} take the value of the most similar {rows}",
    "gap": "Gaps count nowhere: {}",
}
"""The sentence of the paragraph for each kind, in their order, with the columns of that kind in it."""

NUMBERS = "columns that look like numbers are not used as such: {}; "
"""Beginning of the warnings about these."""

WARNS = {
    "open decimals": "column {0.column!r}: {0.detail}",
    "both orders": "column {0.column!r} has dates between slashes {0.detail}",
    "open order": (
        "column {0.column!r}: no day is above 12, so that {0.example!r} may have the day or the month first; it is "
        "read with the {0.detail} first. The option --day-first or --month-first (day_first=True or False in Python) "
        "decides"
    ),
    "marks": "column {0.column!r}: {0.detail}",
    "bare": (
        "numbers without the unit of their column are read as if they had it: {}; --drop or --as-category decides "
        "otherwise"
    ),
    "foreign": "numbers in a unit that cannot be converted into that of their column count as gaps: {}",
    "code": (
        "numbers that stand apart are used as such, and may make a cluster of their own: {}; if they mean gaps, write "
        "empty cells (None or NaN in Python) instead"
    ),
    "units": NUMBERS + "--as-number takes those in the most frequent unit",
    "scales": NUMBERS + "write all of them in one unit, or --as-number takes them for what they are",
    "decimals": NUMBERS + "without --decimal (decimal=None in Python) each column is read by its own mark",
    "mixed": NUMBERS + "write them with one mark",
    "partly numbers": NUMBERS + "--as-number takes those that are, and the others for gaps",
    "partly dates": (
        "columns that look like dates are not used as such: {}; --as-date takes those that are, and the others for gaps"
    ),
    "unread value": (
        "columns that look like numbers or dates are not used as such: {}; write plain numbers, or dates as "
        "2024-03-31, if they are some"
    ),
    "text": f"columns of texts are not used: {{}}; {TEXTS}, or --drop confirms that",
    "many": "columns of texts are not used: {}; --as-category makes levels of them, --drop confirms that",
    "lists": "columns are not used: {}; of lists of one length make a column for each place",
    "infinite": "infinite cells count as gaps: {}; --drop leaves a column out",
    "unread": (
        "cells that cannot be read count as gaps: {}; --as-category makes the cells of a column levels, --drop leaves "
        "it out"
    ),
    "sparse": (
        "more than half of the cells are missing: {}; --drop {option} (drop={names!r} in Python) leaves such columns "
        "out"
    ),
}
"""The warning for each kind, in their order: for each column, or with all columns in it."""

MOST, COLUMNS, CELLS = 8, 5, 3
"""Largest number of columns that a sentence of the paragraph names, and a warning, and cells of a column that a warning
shows."""

FIRST = {MONTH_FIRST: "month", DAY_FIRST: "day"}
"""Part of the date that stands first, by the order of day and month."""

CODED = "the method takes columns as they are"
"""Reason for no scale where columns are numbers and codes."""

UNITS = {
    "none": "left as they are",
    "zscore": "numbers divided by their standard deviations",
    "spread": "numbers divided by their standard deviations, without a shift",
    "minmax": "every number scaled to 0 to 1",
}
"""Scaling of the numbers in words, by choice."""

READINGS = {
    MONTH_FIRST: " (2/3 is February 3)",
    DAY_FIRST: " (2/3 is 2 March)",
    DIGITS: " (20240302 is 2 March 2024; --as-number if they are numbers)",
}
"""Reading of dates that can be read in several ways, by form."""


def of_plan(plan: ColumnPlan, donors: int = 0, *, coded: bool = False) -> Iterator[Finding]:
    """What was decided of a column, from its plan.

    Parameters
    ----------
    plan : ColumnPlan
    donors : int, default 0
        Rows from which gaps are filled.
    coded : bool, default False
        Whether gaps stay gaps, for methods of mixed columns.
    """
    name = plan.name
    match plan:
        case LeftOut():
            yield Finding("left out", name, plan.reason)
            return
        case NumberColumn():
            low, high = plan.extremes or (0.0, 0.0)
            if plan.unit or plan.converted:
                converted = f", from {' and '.join(plan.converted)} too" if plan.converted else ""
                bare = f", and {plan.bare:,} without" if plan.bare else ""
                yield Finding("unit", name, f"{plan.unit or 'ones'}{converted}{bare}", plan.bare)
            if plan.clock:
                yield Finding("clock", name, _clock(plan))
            if plan.decimal == ",":
                yield Finding("decimal comma", name)
            if plan.flag:
                values = " or ".join(f"{value:.4g}" for value in plan.extremes) or "not known"
                truth = plan.extremes == (0.0, 1.0)  # true and false are read as 1 and 0
                yield Finding("two values", name, "true or false, or 1 or 0" if truth else values)
            if plan.few:
                few = f"{plan.few} from {low:.0f} to {high:.0f}"
                yield Finding("few", name, few, plan.few)
            if plan.ordered:
                yield Finding("ordered", name)
        case CategoryColumn():
            yield Finding("category", name, _levels(plan))
        case DateColumn():
            yield Finding("date", name, ", ".join(("elapsed time", *plan.parts)) + READINGS.get(plan.form, ""))
        case TextColumn():
            ends = plan.ends[: len(plan.centre)]
            yield Finding("topics", name, f"{counted(len(ends), 'topic')}, {_some(ends, CELLS)}")
    if isinstance(plan, NumberColumn | CategoryColumn) and plan.infinite:
        yield Finding("infinite", name, f"{plan.infinite:,}", plan.infinite)
    if isinstance(plan, NumberColumn | CategoryColumn | DateColumn | TextColumn) and plan.gaps:
        yield _gaps(plan, donors, coded=coded)


def _gaps(plan: NumberColumn | CategoryColumn | DateColumn | TextColumn, donors: int, *, coded: bool) -> Finding:
    """The gaps of a column: how many, what they are, what becomes of them, and whether they are a feature."""
    unread, is_level = getattr(plan, "unread", 0), isinstance(plan, CategoryColumn) and plan.or_gap
    words = f", {unread:,} of them cells that cannot be read" if unread else ""
    if isinstance(plan, CategoryColumn) and plan.na:
        its = plan.spelled or ("NA",)
        level = "it a level" if len(its) == 1 else "them levels"
        words = f", {plan.na:,} of them written {' or '.join(its)}: --na level, na='level' in Python, makes {level}"
    kind = "filled" if is_level else "gap" if coded else "lent" if donors else "filled"
    if kind == "filled":
        words += f": {filling(plan)}"
    if (by := getattr(plan, "told_by", "")) and not coded:
        words += f"; they are a feature too, because {shortened(by)} differs there"
    return Finding(kind, plan.name, f"{plan.gaps:,}{words}", plan.gaps)


def filling(plan: NumberColumn | CategoryColumn | DateColumn | TextColumn, *, similar: bool = False) -> str:
    """Text about the value that fills the gaps of a column, from similar rows or not."""
    match plan:
        case CategoryColumn() if plan.or_gap:
            return f"not {plan.levels[0]!r}"
        case _ if similar:
            return "the value of the most similar kept row"
        case CategoryColumn():
            level = plan.levels[plan.fill] if plan.fill < len(plan.levels) else "(other)"
            return f"{level!r}, the most frequent level"
        case DateColumn():
            return "the mean date"
        case TextColumn():
            return "the mean of its topics"
    if plan.sphere == "longitude":
        return f"{plan.fill:.4g}, the middle"
    if plan.circle:
        return "the middle of the clock, as far from every hour"
    if plan.clock:
        return f"{clock_text(3600.0 * (plan.fill % 24 if plan.begin else plan.fill)).rpartition(':')[0]}, the mean"
    return f"{plan.fill:.4g}, the {'more frequent value' if plan.flag else 'mean'}"


def _clock(plan: NumberColumn) -> str:
    """Text about the kind of hours in a column: times of day or durations."""
    what = f"{plan.clock}, 517 is 5:17; --as-number if they are numbers" if plan.digits else plan.clock
    if plan.circle:
        return f"{what}, all around the clock: as sine and cosine"
    return f"{what}, the day counted from {plan.begin:.0f}:00" if plan.begin else what


def _levels(plan: CategoryColumn) -> str:
    if plan.or_gap:
        return f"{plan.levels[0]!r} or a gap"
    rare = f", {plan.rare:,} rare ones together" if plan.rare else ""
    words = plan.words or (("NA",) if "NA" in plan.levels else ())
    among = f", {'one' if len(words) == 1 else len(words)} of them {' and '.join(words)}" if words else ""
    if any(word != "NA" for word in words):
        among += (
            ", which --na gap, na='gap' in Python, makes a gap" if len(words) == 1 else ", which --na gap makes gaps"
        )
    in_order = " in order" if plan.ranks else ""
    by_type = ", by the type of the column; --as-number or --as-date reads them" if plan.by_type else ""
    return f"{counted(len(plan.levels) + plan.rare, 'level')}{in_order}{rare}{among}{by_type}"


def _by_kind(its: FittedPreparation) -> dict[str, dict[str, Finding]]:
    """The findings of all plans, by kind and column."""
    by_kind: dict[str, dict[str, Finding]] = {kind: {} for kind in SAYS}
    for plan in its.plans:
        for finding in of_plan(plan, len(its.donors or ()), coded=its.coded):
            by_kind[finding.kind][finding.column] = finding
    return by_kind


def facts(its: FittedPreparation) -> dict[str, object]:
    """Every decision of a fitted preparation by kind, as texts and numbers."""
    plans, seen = its.plans, _by_kind(its)
    details = {kind: {name: one.detail for name, one in columns.items()} for kind, columns in seen.items()}
    counts = {kind: {name: one.count for name, one in columns.items() if one.count} for kind, columns in seen.items()}
    numbers = {plan.name: plan for plan in plans if isinstance(plan, NumberColumn)}
    return {
        "rows": its.rows,
        "features": _n_features(its),
        "numbers": list(numbers),
        "categories": details["category"],
        "units": {name: numbers[name].unit for name in details["unit"] if numbers[name].unit},
        "units_converted": {name: list(plan.converted) for name, plan in numbers.items() if plan.converted},
        "without_unit": counts["unit"],
        "hours": details["clock"],
        "few_whole_numbers": details["few"],
        "places": {latitude.name: longitude.name for latitude, longitude in places(plans)},
        "decimal_commas": list(details["decimal comma"]),
        "dates": details["date"],
        "topics": details["topics"],
        "left_out": details["left out"],
        "gaps": details["filled"] | details["lent"] | details["gap"],
        "rows_that_fill_gaps": 0 if its.coded else len(its.donors or ()),
        "infinite_cells": counts["infinite"],
        "gaps_spelled_na": {plan.name: plan.na for plan in plans if isinstance(plan, CategoryColumn) and plan.na},
        "rows_without_values": its.blank,
        "scale": "none" if its.coded else its.scale,
        "scale_reason": CODED if its.coded else its.reason,
        "weights": dict(its.preparation.weights),
    }


def _n_features(its: FittedPreparation) -> int:
    return len(its.names_of_codes if its.coded else its.features)


def paragraph(its: FittedPreparation, *, options: bool) -> str:
    """Every decision of a fitted preparation in words."""
    plans, coded, donors, seen = its.plans, its.coded, len(its.donors or ()), _by_kind(its)
    of_kinds = [
        counted(number, *words)
        for kind, words in (
            (NumberColumn, ("number",)),
            (CategoryColumn, ("category", "categories")),
            (DateColumn, ("date",)),
            (TextColumn, ("text",)),
        )
        if (number := sum(isinstance(plan, kind) for plan in plans))
    ]
    parts = [
        f"{len(its.used)} of {counted(len(plans), 'column')} used ({', '.join(of_kinds)}), as "
        f"{counted(_n_features(its), 'feature')}"
    ]
    if pairs := places(plans):
        how = "longitudes counted from their middle" if coded else "as points on a sphere"
        halves = [f"{shortened(latitude.name)} and {shortened(longitude.name)}" for latitude, longitude in pairs]
        seen["place"] = {"": Finding("place", "", f"{_some(halves)}, {how}")}
    for name in seen["ordered"]:
        seen["few"].pop(name, None)
    for kind, sentence in SAYS.items():
        if seen[kind] and not (coded and kind == "few"):
            shown = _some([_shown(finding) for finding in seen[kind].values()])
            parts.append(sentence.format(shown, rows="kept row" if donors == 1 else f"of {donors:,} kept rows"))
    if its.blank:
        whose = "whose label says" if its.blank == 1 else "whose labels say"
        parts.append(f"{counted(its.blank, 'row')} without any value, {whose} nothing")
    if not coded:
        parts.append(f"Units: {UNITS[its.scale]}, {'' if its.reason == 'as you asked' else 'as '}{its.reason}")
    if its.preparation.weights:
        parts.append("Weights: " + ", ".join(f"{shortened(name)} {by:g}" for name, by in its.preparation.weights))
    if options:
        options_of_columns = "--as-category, --as-number, --as-ordered, --as-date, --keep, --drop, --na"
        parts.append(f"To decide otherwise: {options_of_columns}{'' if coded else ', --gaps, --scale'}")
    return ". ".join(parts) + "."


def _shown(finding: Finding) -> str:
    """A column in a sentence of the paragraph."""
    name = shortened(finding.column)
    if finding.kind in ("category", "date", "topics"):
        return f"{name}: {finding.detail}"
    if finding.kind == "place":
        return finding.detail
    return f"{name} ({finding.detail})" if finding.detail else name


def _some(names: Sequence[str], most: int = MOST, what: str = "") -> str:
    return "; ".join(names[:most]) + (f"; and {len(names) - most} more{what}" if len(names) > most else "")


def of_fit(plans: Sequence[ColumnPlan], sums: Sequence[ColumnSums]) -> Iterator[Finding]:
    """What a fit has seen that the user should know: texts with several readings, cells that are not used.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    sums : sequence of ColumnSums
        Sums of the columns of `plans`.
    """
    for plan, column in zip(plans, sums, strict=True):
        name, asked_for = plan.name, isinstance(plan, LeftOut) and plan.asked_for
        gaps = getattr(plan, "gaps", 0) - getattr(plan, "unread", 0)  # cells that cannot be read are another finding
        match plan:
            case NumberColumn():
                yield from _of_number(plan, column, sums)
                gaps -= column.infinite  # a third one
            case DateColumn():
                yield from _of_date(plan, column)
            case LeftOut() if plan.kind in WARNS:
                yield Finding(plan.kind, name, plan.reason)
            case _ if column.kind == "text" and not column.categorical and not asked_for:
                yield from (Finding(kind, name, reason) for kind, reason in of_numbers_in(column))
        if column.infinite and (isinstance(plan, NumberColumn) if column.kind == "text" else not asked_for):
            yield Finding("infinite", name, f"{column.infinite:,} of {column.rows:,}", column.infinite)
        if plan.used and 2 * gaps > column.rows and not getattr(plan, "or_gap", False):
            yield Finding("sparse", name, f"{gaps:,} of {column.rows:,}", gaps)


def _of_number(plan: NumberColumn, column: ColumnSums, sums: Iterable[ColumnSums]) -> Iterator[Finding]:
    """What a fit has seen in a column of numbers."""
    name, parts = plan.name, column.by_mark(plan.decimal)
    yield from _open_decimals(column, plan.decimal, sums)
    if plan.bare:
        total = sum(its.n for its in parts.values())
        yield Finding("bare", name, f"{plan.bare:,} of {total:,} without {plan.unit}", plan.bare)
    if reason := mixed_marks(column):
        other = "," if plan.decimal == "." else "."
        taken = (
            f"{reason}; {plan.decimal!r} is taken to be before decimals, and {other!r} between thousands or part of a "
            "word: write them with one mark"
        )
        yield Finding("marks", name, taken)
    if plan.strange:
        others = ", ".join(f"{mark}: {parts[mark].n:,}" for mark in plan.strange)
        count = sum(parts[mark].n for mark in plan.strange)
        yield Finding("foreign", name, f"{others}; the unit is {plan.unit or 'none'}", count)
    yield from _of_unread(plan, column)


def _of_date(plan: DateColumn, column: ColumnSums) -> Iterator[Finding]:
    """What a fit has seen in a column of dates."""
    if plan.both_orders:
        taken, other = (FIRST[order] for order in (ORDERS if plan.form == ORDERS[0] else ORDERS[::-1]))
        example = column.shown[next(order for order in ORDERS if order != plan.form)][:40]
        both = (
            f"with the {taken} first, and others with the {other} first, such as {example!r}, which count as gaps; of "
            f"dates such as 2/3/2024 it is unknown which they are, and they are read with the {taken} first"
        )
        yield Finding("both orders", plan.name, both, example=example)
        return
    if example := column.leaves_order_open():
        yield Finding("open order", plan.name, FIRST[plan.form], example=example[:40])
    yield from _of_unread(plan, column)


def _of_unread(plan: NumberColumn | DateColumn, column: ColumnSums) -> Iterator[Finding]:
    """Cells of a column of numbers, times or dates that are neither readable nor gaps."""
    if not plan.unread or column.kind != "text":
        return
    counts = column.levels or {}
    texts = np.array(list(counts), dtype=object)
    levels = Column(plan.name, "text", texts, decimal=column.decimal, order=column.order, offset=0)
    unread = [text for text in texts[plan.read(levels).unread] if not parsing.is_infinite(text)]
    if isinstance(plan, NumberColumn) and plan.strange:  # cells in other units are a finding of their own
        unread = [text for text in unread if plan.measure.split(text)[1] not in plan.strange]
        if not unread:
            return
    unread.sort(key=lambda text: (-counts[text], text))
    shown = ", ".join(repr(text[:40]) for text in unread[:CELLS]) + (", ..." if len(unread) > CELLS else "")
    count = sum(counts[text] for text in unread) or plan.unread
    what = "date" if isinstance(plan, DateColumn) else plan.clock or "number"
    detail = f"{count:,} of {column.filled:,} are no {what}{f': {shown}' if shown else ''}"
    yield Finding("unread", plan.name, detail, count, unread[0] if unread else "")


def of_codes(plans: Sequence[ColumnPlan], columns: Sequence[Column]) -> Iterator[Finding]:
    """Numbers that are often written for gaps, and are farther from all others than these from each other.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    columns : sequence of Column
        Rows of the columns of `plans`, all or a sample.
    """
    for plan, column in zip(plans, columns, strict=True):
        if not isinstance(plan, NumberColumn) or CODES.isdisjoint(plan.extremes):
            continue
        values = plan.read(column).values
        values = values[np.isfinite(values)]
        counts = {code: int((values == code).sum()) for code in plan.extremes if code in CODES}
        often = [code for code, count in counts.items() if count >= max(FEWEST_OF_CODE, RARE_CODE * len(values))]
        others = values[~np.isin(values, often)]
        if not often or not len(others) or others.min() == others.max():
            continue
        low, high = others.min(), others.max()
        for code in often:
            if max(low - code, code - high) > high - low:
                detail = f"{code:g} in {counts[code]:,} of {len(values):,}, others from {low:.4g} to {high:.4g}"
                yield Finding("code", plan.name, detail, counts[code], f"{code:g}")


CODES = frozenset({-1.0, -9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0})
"""Numbers that are often written for gaps."""

FEWEST_OF_CODE, RARE_CODE = 5, 0.01
"""Cells, and share of all, from which on such a number may be one."""


def warnings_of(findings: Iterable[Finding]) -> Iterator[str]:
    """The warnings about findings: one for each kind, or for each column where its sentence is about one."""
    by_kind: dict[str, list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault(finding.kind, []).append(finding)
    for kind, sentence in WARNS.items():
        its = by_kind.get(kind, [])
        if "{0." in sentence:
            yield from (sentence.format(finding) for finding in its)
        elif its:
            names = [finding.column for finding in its[:COLUMNS]]
            shown = [f"{shortened(finding.column)!r} ({finding.detail})" for finding in its]
            yield sentence.format(_some(shown, COLUMNS, " columns"), option=as_option(names), names=names)


def of_rows(plan: ColumnPlan, column: Column) -> Iterator[str]:
    """Sentences about a column of new rows that can be read in several ways, or is read otherwise than in the fit.

    Parameters
    ----------
    plan : ColumnPlan
        Plan of the column in the fit.
    column : Column
    """
    if isinstance(plan, NumberColumn):
        yield from of_numbers(column, plan.decimal)
    if column.kind == "text" and not column.offset and isinstance(plan, DateColumn) and plan.form in ORDERS:
        row = _reversed(column, plan.form)
        if row is not None:
            now, then = ("day", "month") if plan.form == MONTH_FIRST else ("month", "day")
            yield (
                f"column {column.name!r}: dates between slashes are read with the {now} first, as "
                f"{str(column.values[row])[:40]!r} in {column.row(row)} shows; in the fit the {then} was first"
            )


def of_numbers(column: Column, mark: str) -> Iterator[str]:
    """A sentence about a column of numbers whose texts leave open whether they have decimals or thousands.

    Parameters
    ----------
    column : Column
        The column, or its first piece for a table in pieces; other pieces give no sentence.
    mark : {".", ","}
        Decimal mark that is assumed.
    """
    if column.kind != "text" or column.decimal is not None or column.offset:
        return
    if not ColumnSums.of(column.take(slice(LOOKED_AT))).mark_shown:  # the first cells of most columns show it
        yield from warnings_of(_open_decimals(ColumnSums.of(column), mark))


def warn_of(sentences: Iterable[str], stacklevel: int = 4, category: type[TableWarning] = TableWarning) -> None:
    """Warn of each sentence, at the line that called so many functions above this one."""
    for sentence in sentences:
        warnings.warn(sentence, category, stacklevel=stacklevel)


def _open_decimals(column: ColumnSums, mark: str, others: Iterable[ColumnSums] = ()) -> Iterator[Finding]:
    """Numbers such as 1.234, where nothing shows what they are, and what reads them beside other columns."""
    if not column.leaves_decimals_open():
        return
    example = column.open_number
    point, comma = parsing.readings(example)
    assert point is not None
    assert comma is not None
    taken, other = (point, comma) if mark == "." else (comma, point)
    against = "," if mark == "." else "."
    beside = next((text for text in column.levels or () if ",."["," in example] in text), "")
    detail = f"{example[:40]!r} is read as {taken:.15g} and may mean {other:.15g}, because every cell fits both"
    if beside:
        detail += f"; {beside[:40]!r} beside it has the other mark: write all of them with one"
    elif any(len({*its.by_decimal.values()}) > 1 for its in others):
        whole = max(point, comma, key=abs)
        detail += (
            f". Other columns show their mark, and --decimal would hold for them too: write its cells as {whole:.15g}, "
            f"without a mark, or as {example}0"
        )
    else:
        detail += (
            f". The option --decimal {against} (decimal={against!r} in Python) reads {other:.15g}, and "
            f"--decimal {mark} confirms {taken:.15g}"
        )
    yield Finding("open decimals", column.name, detail, example=example)


def _reversed(column: Column, form: str) -> int | None:
    """The first row that shows the other order of day and month than `form`, if the column is read so."""
    if column.order == form or (column.order is None and column.offset is not None):
        return None
    orders = {i: parsing.only_order(text) for i, text in enumerate(column.values) if text is not None}
    rows = [i for i, order in orders.items() if order is not None and order != form]
    return rows[0] if len(rows) > sum(order == form for order in orders.values()) else None
