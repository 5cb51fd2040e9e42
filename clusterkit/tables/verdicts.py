"""What columns are not what they look like: numbers in several units or with another mark, gaps that say something."""

from __future__ import annotations

import attrs

from clusterkit.core.wording import counted
from clusterkit.tables.frames import NA
from clusterkit.tables.measures import are_alike
from clusterkit.tables.moments import Moments
from clusterkit.tables.plans import FLAG, CategoryColumn
from clusterkit.tables.sums import ColumnSums

__all__ = ["COUNTRIES", "MOSTLY", "or_gap", "other_decimals", "several_scales", "several_units", "with_na"]

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

MOST_UNITS = 10
"""Units of a column that a reason names; with more, the words behind numbers are none."""


def with_na(column: ColumnSums, choice: str) -> ColumnSums:
    """The sums of a column with texts that are NA as a level: where all other texts are countries, or as asked for.

    Parameters
    ----------
    column : ColumnSums
    choice : {"auto", "level", "gap"}
    """
    levels = column.levels
    if not column.spelled or choice == "gap" or column.kind != "text" or levels is None:
        return column
    if choice == "auto" and (column.small_na or not levels.keys() <= COUNTRIES):  # codes are written in capitals
        return column
    more = {**levels, NA: column.spelled}
    return attrs.evolve(column, levels=more, gaps=column.gaps - column.spelled, spelled=0)


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
        column.name, levels, 0, 0, column.gaps, weight=FLAG, na=column.spelled, or_gap=True, infinite=column.infinite
    )


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
