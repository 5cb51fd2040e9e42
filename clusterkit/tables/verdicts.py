"""What columns are not what they look like: numbers in several units or with another mark, gaps that say something."""

from __future__ import annotations

from collections import Counter
from typing import TypedDict

import attrs

from clusterkit.core.wording import counted
from clusterkit.tables.cells import number
from clusterkit.tables.frames import NA, NONE, as_level
from clusterkit.tables.measures import are_alike
from clusterkit.tables.moments import Moments
from clusterkit.tables.plans import FLAG, CategoryColumn
from clusterkit.tables.sums import ColumnSums

__all__ = [
    "COUNTRIES",
    "MOSTLY",
    "mixed_marks",
    "or_gap",
    "other_decimals",
    "several_scales",
    "several_units",
    "with_words",
    "words_of",
]

CODES = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA "
    "CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA "
    "GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP "
    "KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS "
    "MT MU MV MW MX MY MZ NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU "
    "RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ "
    "UA UG UK UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW EL EU"
)
"""Codes of countries (ISO 3166-1, and some in use beside them), but that of Namibia."""

COUNTRIES = frozenset(CODES.split())
"""Each of them."""

MOSTLY = 0.9
"""Share of the filled cells that must be numbers, or dates, for a column of texts to be one of these; the others count
as gaps. Below it the words are likely to mean something."""

SIGNS = frozenset({"?", "-", "--", "."})
"""Signs that mean a gap, and may be levels where a column is said to be a category."""

FREQUENT = 0.01
"""Share of the rows from which None may be a level."""

MOST_BESIDE = 20
"""Most other levels beside which None is one; among more it is more likely to be a gap."""

SLIPS = 0.1
"""Share of the numbers that show the mark before decimals up to which those with the other mark are slips."""

MOST_UNITS = 10
"""Units of a column that a reason names; with more, the words behind numbers are none."""


def with_words(column: ColumnSums, choice: str, *, as_category: bool = False) -> ColumnSums:
    """The sums of a column with texts of gaps as levels: NA, None, ? and their like, where they are likely to be some.

    Parameters
    ----------
    column : ColumnSums
    choice : {"auto", "level", "gap"}
        "auto": NA where all other texts are countries; None where it is frequent beside a few other levels; in a column
        that is a category because that is asked for, also signs such as ? and -.
    as_category : bool, default False
        Whether that is asked for.
    """
    if not column.spelled or choice == "gap" or column.kind not in ("text", "empty") or column.levels is None:
        return column
    if column.kind == "empty" and choice == "auto":
        return column
    if not as_category and _is_measured(column):
        return column
    words = {as_level(word) for word in column.spelled if choice == "level" or _is_level(word, column, as_category)}
    if not words:
        return column
    levels = Counter(column.levels)
    for word, count in column.spelled.items():
        if as_level(word) in words:
            levels[as_level(word)] += count
    rest = {word: count for word, count in column.spelled.items() if as_level(word) not in words}
    gaps = column.gaps - sum(column.spelled.values()) + sum(rest.values())
    return attrs.evolve(
        column, kind="text", levels=dict(levels), gaps=gaps, spelled=rest, words_of_gaps=tuple(sorted(words))
    )


def _is_level(word: str, column: ColumnSums, as_category: bool) -> bool:
    """Whether a text that may be a gap is likely to be a level."""
    levels = column.levels or {}
    if word.upper() == NA:  # codes are written in capitals
        small = any(its.upper() == NA != its for its in column.spelled)
        return bool(levels) and not small and levels.keys() <= COUNTRIES
    if word.lower() == NONE:
        few = 0 < len(levels) <= MOST_BESIDE and column.spelled[word] >= FREQUENT * column.rows
        return as_category or few
    return as_category and word in SIGNS


def _is_measured(column: ColumnSums) -> bool:
    """Whether texts are numbers, dates or times, among which a word is a gap."""
    enough = max(MOSTLY * column.filled, 1)
    numbers = 0 if column.are_codes else column.as_number()[1].n
    return max(numbers, column.as_date()[1].n, column.clock.n) >= enough


def or_gap(column: ColumnSums, fewest: float) -> CategoryColumn | None:
    """The plan of a column of one value, by whether it is there; None where fewer gaps than these say nothing."""
    if column.gaps < fewest:
        return None
    levels = tuple(column.levels or ()) if column.kind == "text" else ()
    if column.kind in ("number", "truth"):
        value = column.moments.low
        text = f"{value:.0f}" if value.is_integer() else repr(value)
        levels = (str(bool(value)) if column.kind == "truth" else text,)
    if len(levels) != 1:
        return None
    return CategoryColumn(
        column.name, levels, 0, 0, column.gaps, weight=FLAG, or_gap=True, infinite=column.infinite,
        **words_of(column),
    )  # fmt: skip


class WordsOfPlan(TypedDict):
    """The fields of `clusterkit.tables.plans.CategoryColumn` about texts that are gaps."""

    na: int
    spelled: tuple[str, ...]
    words: tuple[str, ...]


def words_of(column: ColumnSums) -> WordsOfPlan:
    """What the plan of a category says about texts that are gaps, and about those that are levels."""
    ranked = sorted(column.spelled, key=lambda word: (-column.spelled[word], word))
    return {
        "na": sum(column.spelled.values()),
        "spelled": tuple(dict.fromkeys(map(as_level, ranked))),
        "words": column.words_of_gaps,
    }


def several_scales(column: ColumnSums) -> str:
    """Why numbers with and without their unit are not in one; "" if they may be."""
    if column.kind != "text":
        return ""
    parts, measure = column.by_mark(column.mark), column.measure
    bare = parts.pop("", Moments())
    factors = {mark: measure.factor(mark) for mark in parts}
    alone = sum((parts[mark].times(by) for mark, by in factors.items() if by is not None), Moments())
    if not measure.unit or not bare.n or not alone.n:
        return ""
    if are_alike((bare.low, bare.high, bare.mean), (alone.low, alone.high), measure.unit, marked=False):
        return ""
    return (
        f"{counted(alone.n, 'number')} with {measure.unit}, from {alone.low:.4g} to {alone.high:.4g}, and {bare.n:,} "
        f"without, from {bare.low:.4g} to {bare.high:.4g}, are not in one unit"
    )


def several_units(column: ColumnSums) -> str:
    """Why texts that are numbers cannot be used as such; "" if their units can be added up."""
    parts, enough = column.by_mark(column.mark), MOSTLY * column.filled
    if column.are_codes or column.as_number()[1].n >= enough or sum(its.n for its in parts.values()) < enough:
        return ""
    units = sorted(parts, key=lambda mark: (-parts[mark].n, mark))
    shown = ", ".join(f"{unit or 'no unit'} ({parts[unit].n:,})" for unit in units)
    return "" if len(units) > MOST_UNITS else f"its numbers are in units that cannot be added up: {shown}"


def mixed_marks(column: ColumnSums) -> str:
    """Why numbers, some with a point and some with a comma before decimals, are none; "" where there is one mark."""
    if column.kind != "text" or column.levels is None or column.are_codes:
        return ""
    shown, counts, total = dict[str, str](), Counter[str](), 0
    for text, times in column.levels.items():
        readings = number(text, "."), number(text, ",")
        total += times * (readings != (None, None))
        if None in readings and readings != (None, None):
            mark = "," if readings[0] is None else "."
            counts[mark] += times
            shown.setdefault(mark, text)
    if min(counts["."], counts[","]) < SLIPS * counts.total() or not counts["."] or not counts[","]:
        return ""
    if total < MOSTLY * column.filled:
        return ""
    points, commas = shown["."][:40], shown[","][:40]
    return f"its numbers have points and commas before decimals, such as {points!r} and {commas!r}"


def other_decimals(column: ColumnSums) -> str:
    """Why texts that would be numbers with the other mark before decimals are none; "" if they would not."""
    other, enough = "," if column.mark == "." else ".", MOSTLY * column.filled
    if column.decimal is None or column.are_codes or column.as_number()[1].n >= enough:
        return ""
    if sum(its.n for its in column.by_mark(other).values()) < enough:
        return ""
    example = next((text for text in column.levels or () if other in text), "")
    shown = f", such as {example[:40]!r}," if example else ""
    return f"its cells{shown} are no numbers with a {_name(column.mark)} before decimals"


def _name(mark: str) -> str:
    return "point" if mark == "." else "comma"
