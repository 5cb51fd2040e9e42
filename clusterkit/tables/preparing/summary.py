"""The decisions of a preparation, as data and as one paragraph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clusterkit.errors import counted, shortened
from clusterkit.tables.cells.parsing import DAY_FIRST, DIGITS, MONTH_FIRST
from clusterkit.tables.cells.times import clock_text
from clusterkit.tables.preparing.places import places
from clusterkit.tables.preparing.plans import CategoryColumn, ColumnPlan, DateColumn, LeftOut, NumberColumn

__all__ = ["facts", "filling", "paragraph"]

CODED = "the method takes columns as they are"
"""Reason for no scale where columns are numbers and codes."""

MOST = 8
"""Most columns that a sentence names."""


def facts(
    plans: Sequence[ColumnPlan],
    rows: int,
    scale: str,
    reason: str,
    blank: int = 0,
    donors: int = 0,
    *,
    coded: bool = False,
) -> dict[str, object]:
    """Every decision by kind, as texts and numbers; gaps are filled from so many donors, or from none.

    With `coded` the columns are numbers and codes with gaps, which nothing fills or scales.
    """
    numbers = [plan for plan in plans if isinstance(plan, NumberColumn)]
    categories = [plan for plan in plans if isinstance(plan, CategoryColumn)]
    dates = [plan for plan in plans if isinstance(plan, DateColumn)]
    return {
        "rows": rows,
        "features": sum(len(plan.coded if coded else plan.features) for plan in plans),
        "numbers": [plan.name for plan in numbers],
        "categories": {plan.name: _levels(plan) for plan in categories},
        "units": {plan.name: plan.unit for plan in numbers if plan.unit},
        "units_converted": {plan.name: list(plan.converted) for plan in numbers if plan.converted},
        "without_unit": {plan.name: plan.bare for plan in numbers if plan.bare},
        "hours": {plan.name: _clock(plan) for plan in numbers if plan.clock},
        "few_whole_numbers": {plan.name: _few(plan) for plan in numbers if plan.few},
        "places": {latitude.name: longitude.name for latitude, longitude in places(plans)},
        "decimal_commas": [plan.name for plan in numbers if plan.decimal == ","],
        "dates": {plan.name: _date(plan) for plan in dates},
        "left_out": {plan.name: plan.reason for plan in plans if isinstance(plan, LeftOut)},
        "gaps": {plan.name: _gaps(plan, "") for plan in _having(plans)}
        if coded
        else {name: f"({its})" for name, its in _of_gaps(plans, donors).items()},
        "rows_that_fill_gaps": 0 if coded else donors,
        "infinite_cells": dict(_infinite(plans)),
        "gaps_spelled_na": {plan.name: plan.na for plan in categories if plan.na},
        "rows_without_values": blank,
        "scale": "none" if coded else scale,
        "scale_reason": CODED if coded else reason,
    }


def paragraph(
    plans: Sequence[ColumnPlan],
    rows: int,
    scale: str,
    reason: str,
    blank: int = 0,
    donors: int = 0,
    *,
    options: bool,
    coded: bool = False,
) -> str:
    """Every decision in words."""
    features = sum(len(plan.coded if coded else plan.features) for plan in plans)
    used = [plan for plan in plans if plan.used]
    kinds = [
        counted(number, *words)
        for kind, words in (
            (NumberColumn, ("number",)),
            (CategoryColumn, ("category", "categories")),
            (DateColumn, ("date",)),
        )
        if (number := sum(isinstance(plan, kind) for plan in plans))
    ]
    parts = [
        f"{len(used)} of {counted(len(plans), 'column')} used ({', '.join(kinds)}), as {counted(features, 'feature')}"
    ]
    units = [_unit(plan) for plan in plans if isinstance(plan, NumberColumn) and (plan.unit or plan.converted)]
    if units:
        parts.append(f"Units beside numbers: {_some(units)}")
    clocks = [plan for plan in plans if isinstance(plan, NumberColumn) and plan.clock]
    if clocks:
        parts.append(f"In hours: {_some(f'{shortened(plan.name)} ({_clock(plan)})' for plan in clocks)}")
    if pairs := places(plans):
        halves = _some(f"{shortened(latitude.name)} and {shortened(longitude.name)}" for latitude, longitude in pairs)
        how = "longitudes counted from their middle" if coded else "as points on a sphere"
        parts.append(
            f"Places in degrees, so that 180° is no border: {halves}, {how}; --no-sphere leaves them as they are"
        )
    commas = [shortened(plan.name) for plan in plans if isinstance(plan, NumberColumn) and plan.decimal == ","]
    if commas:
        parts.append(f"A comma is before the decimals of {_some(commas)}")
    flags = [plan for plan in plans if isinstance(plan, NumberColumn) and plan.flag]
    if flags:
        parts.append(f"Of two values: {_some(f'{shortened(plan.name)} ({_two(plan)})' for plan in flags)}")
    few = [
        f"{shortened(plan.name)} ({_few(plan)})"
        for plan in plans
        if isinstance(plan, NumberColumn) and plan.few and not plan.ordered
    ]
    ordered = [shortened(plan.name) for plan in plans if isinstance(plan, NumberColumn) and plan.ordered]
    if ordered:
        parts.append(f"Ordered levels that are numbers: {_some(ordered)}")
    if few and not coded:
        parts.append(
            f"Few whole numbers, used as numbers though they may be years or codes: {_some(few)}; --as-category makes "
            "levels of them"
        )
    categories = [f"{shortened(plan.name)}: {_levels(plan)}" for plan in plans if isinstance(plan, CategoryColumn)]
    if categories:
        parts.append(f"Categories: {_some(categories)}")
    dates = [f"{shortened(plan.name)}: {_date(plan)}" for plan in plans if isinstance(plan, DateColumn)]
    if dates:
        parts.append(f"Dates: {_some(dates)}")
    left = [f"{shortened(plan.name)} ({plan.reason})" for plan in plans if isinstance(plan, LeftOut)]
    if left:
        parts.append(f"Left out: {_some(left)}")
    infinite = [f"{shortened(name)} ({number:,})" for name, number in _infinite(plans)]
    if infinite:
        parts.append(f"Infinite cells, which count as gaps: {_some(infinite)}")
    if coded:
        names = [f"{shortened(plan.name)} ({_gaps(plan, '')})" for plan in _having(plans)]
        parts += [f"Gaps count nowhere: {_some(names)}"] if names else []
    else:
        parts += _sentences_of_gaps(plans, donors)
    if blank:
        whose = "whose label says" if blank == 1 else "whose labels say"
        parts.append(f"{counted(blank, 'row')} without any value, {whose} nothing")
    if not coded:
        parts.append(f"Units: {_UNITS[scale]}, {'' if reason == 'as you asked' else 'as '}{reason}")
    if options:
        options_of_columns = "--as-category, --as-number, --as-ordered, --as-date, --keep, --drop, --na"
        parts.append(f"To decide otherwise: {options_of_columns}{'' if coded else ', --gaps, --scale'}")
    return ". ".join(parts) + "."


_UNITS = {
    "none": "left as they are",
    "zscore": "numbers divided by their standard deviations",
    "spread": "numbers divided by their standard deviations, without a shift",
    "minmax": "every number scaled to 0 to 1",
}
"""Scaling of the numbers in words, by choice."""


_ORDERS = {
    MONTH_FIRST: " (2/3 is February 3)",
    DAY_FIRST: " (2/3 is 2 March)",
    DIGITS: " (20240302 is 2 March 2024; --as-number if they are numbers)",
}
"""Reading of dates that can be read in several ways, by form."""


def filling(plan: NumberColumn | CategoryColumn | DateColumn, *, similar: bool = False) -> str:
    """Text about the value that fills the gaps of a column, from similar rows or not."""
    if isinstance(plan, CategoryColumn) and plan.or_gap:
        return f"not {plan.levels[0]!r}"
    if similar:
        return "the value of the most similar kept row"
    if isinstance(plan, CategoryColumn):
        level = plan.levels[plan.fill] if plan.fill < len(plan.levels) else "(other)"
        return f"{level!r}, the most frequent level"
    if isinstance(plan, DateColumn):
        return "the mean date"
    if plan.sphere == "longitude":
        return f"{plan.fill:.4g}, the middle"
    if plan.circle:
        return "the middle of the clock, as far from every hour"
    if plan.clock:
        return f"{clock_text(3600.0 * (plan.fill % 24 if plan.begin else plan.fill)).rpartition(':')[0]}, the mean"
    return f"{plan.fill:.4g}, the {'more frequent value' if plan.flag else 'mean'}"


def _date(plan: DateColumn) -> str:
    """Text about the features of a date, and how it is read where two readings are possible."""
    return ", ".join(("elapsed time", *plan.parts)) + _ORDERS.get(plan.form, "")


def _unit(plan: NumberColumn) -> str:
    """The unit of a column, what was converted into it, and how often it is missing."""
    converted = f", from {' and '.join(plan.converted)} too" if plan.converted else ""
    bare = f", and {plan.bare:,} without" if plan.bare else ""
    return f"{shortened(plan.name)} ({plan.unit or 'ones'}{converted}{bare})"


def _clock(plan: NumberColumn) -> str:
    """Text about the kind of hours in a column: times of day or durations."""
    what = f"{plan.clock}, 517 is 5:17; --as-number if they are numbers" if plan.digits else plan.clock
    if plan.circle:
        return f"{what}, all around the clock: as sine and cosine"
    return f"{what}, the day counted from {plan.begin:.0f}:00" if plan.begin else what


def _few(plan: NumberColumn) -> str:
    """How many different whole numbers a column has."""
    low, high = plan.extremes
    return f"{plan.few} from {low:.0f} to {high:.0f}"


def _two(plan: NumberColumn) -> str:
    """The two values of a number; true and false are read as 1 and 0."""
    if plan.extremes == (0.0, 1.0):
        return "true or false, or 1 or 0"
    return " or ".join(f"{value:.4g}" for value in plan.extremes) or "not known"


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


def _having(plans: Sequence[ColumnPlan]) -> list[NumberColumn | CategoryColumn | DateColumn]:
    """The columns that have gaps."""
    plain = [plan for plan in plans if isinstance(plan, NumberColumn | CategoryColumn | DateColumn)]
    return [plan for plan in plain if plan.gaps]


def _of_gaps(plans: Sequence[ColumnPlan], donors: int) -> dict[str, str]:
    """The gaps of each column that has some, and what fills them."""
    return {plan.name: _gaps(plan, f": {filling(plan, similar=donors > 0)}") for plan in _having(plans)}


def _sentences_of_gaps(plans: Sequence[ColumnPlan], donors: int) -> list[str]:
    """Sentences about gaps: columns that have their own filling, then those that are filled from similar rows."""
    having, sentences = _having(plans), list[str]()
    lent = [plan for plan in having if donors and not getattr(plan, "or_gap", False)]
    others = [f"{shortened(plan.name)} ({_gaps(plan, f': {filling(plan)}')})" for plan in having if plan not in lent]
    if others:
        sentences.append(f"Gaps: {_some(others)}")
    if lent:
        names = _some(f"{shortened(plan.name)} ({_gaps(plan, '')})" for plan in lent)
        rows = "kept row" if donors == 1 else f"of {donors:,} kept rows"
        sentences.append(f"Gaps in {names} take the value of the most similar {rows}")
    return sentences


def _gaps(plan: NumberColumn | CategoryColumn | DateColumn, filled: str) -> str:
    """How many gaps there are, what they are, what fills them, and whether they are a feature."""
    unread = getattr(plan, "unread", 0)
    words = f", {unread:,} of them cells that cannot be read" if unread else ""
    feature = f"; they are a feature too, because {shortened(plan.told_by)} differs there" if plan.told_by else ""
    if isinstance(plan, CategoryColumn) and plan.na:
        its = plan.spelled or ("NA",)
        level = "it a level" if len(its) == 1 else "them levels"
        words = f", {plan.na:,} of them written {' or '.join(its)}: --na level, na='level' in Python, makes {level}"
    return f"{plan.gaps:,}{words}{filled}{feature}"


def _infinite(plans: Sequence[ColumnPlan]) -> list[tuple[str, int]]:
    """The columns that have infinite cells, and their number."""
    able = [plan for plan in plans if isinstance(plan, NumberColumn | CategoryColumn)]
    return [(plan.name, plan.infinite) for plan in able if plan.infinite]


def _some(items: Iterable[str]) -> str:
    names = list(items)
    more = f"; and {len(names) - MOST} more" if len(names) > MOST else ""
    return "; ".join(names[:MOST]) + more
