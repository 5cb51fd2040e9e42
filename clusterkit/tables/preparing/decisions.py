"""Decision of a plan for each column, from the sums of a table.

`several_scales`, `several_units`, `mixed_marks`, `other_decimals` and `or_gap` find columns that are not what they look
like: numbers in several units or with another mark before decimals, and gaps that say something.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import attrs
import numpy as np

from clusterkit.errors import TableError, counted, shortened
from clusterkit.numerics.distances import differing_units
from clusterkit.tables.cells.column_names import no_such_column
from clusterkit.tables.cells.measures import are_alike
from clusterkit.tables.cells.moments import Moments
from clusterkit.tables.cells.parsing import DIGITS, number, unread_value
from clusterkit.tables.cells.readings import NATIVE
from clusterkit.tables.cells.times import clock_text
from clusterkit.tables.preparing.places import paired
from clusterkit.tables.preparing.plans import (
    CLOCK,
    FLAG,
    HOURS,
    CategoryColumn,
    ColumnPlan,
    DateColumn,
    LeftOut,
    NumberColumn,
    size_of,
)
from clusterkit.tables.preparing.sums import ColumnSums, TableSums
from clusterkit.tables.preparing.texts import with_topics
from clusterkit.tables.reading.frames import COMPLEX, NA, NONE, TEXTS, as_level
from clusterkit.tables.reading.row_sample import RowSample

if TYPE_CHECKING:
    from clusterkit.tables.preparing.preparation import Preparation

SCALES = ("auto", "none", "zscore", "spread", "minmax")
"""Choices for the scaling of columns in different units."""


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
"""Set of the codes of countries in `CODES`."""

ZONES = frozenset({"APAC", "EMEA", "EMEIA", "JAPAC", "LATAM"})
"""Parts of the world beside which NA is North America."""

MOSTLY = 0.9
"""Share of the filled cells that must be numbers, or dates, for a column of texts to be one of these; the others count
as gaps. Below it the words are likely to mean something."""

SIGNS = frozenset({"?", "-", "--", "."})
"""Signs that mean a gap, and may be levels where a column is said to be a category."""

FREQUENT = 0.01
"""Share of the rows from which None may be a level."""

MOST_BESIDE = 20
"""Largest number of other levels for which None is a level; among more it is more likely to be a gap."""

SLIPS = 0.1
"""Share of the numbers that show the mark before decimals up to which those with the other mark are slips."""

MOST_UNITS = 10
"""Units of a column that a reason names; with more, the words behind numbers are none."""


def with_words(column: ColumnSums, choice: str, *, as_category: bool = False) -> ColumnSums:
    """The sums of a column in which texts such as NA, None and ? count as levels where they are likely to be levels.

    Parameters
    ----------
    column : ColumnSums
    choice : {"auto", "level", "gap"}
        "auto": NA where all other texts are countries, or one is a part of the world such as EMEA; None where it is
        frequent beside a few other levels; in a column that is a category because that is asked for, also signs such as
        ? and -.
    as_category : bool, default False
        Whether the user asked for a category.
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
        return bool(levels) and not small and (levels.keys() <= COUNTRIES or bool(levels.keys() & ZONES))
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
    """The plan of a column of one value, by whether a cell has it; None if there are fewer gaps than `fewest`."""
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
        column.name, levels, 0, 0, column.gaps, weight=FLAG, or_gap=True,
        infinite=0 if column.kind == "text" else column.infinite, **words_of(column),
    )  # fmt: skip


class WordsOfPlan(TypedDict):
    """The fields of `clusterkit.tables.preparing.plans.CategoryColumn` about texts that are gaps."""

    na: int
    spelled: tuple[str, ...]
    words: tuple[str, ...]


def words_of(column: ColumnSums) -> WordsOfPlan:
    """Fields of a category's plan about texts that are gaps, and about those that are levels."""
    ranked = sorted(column.spelled, key=lambda word: (-column.spelled[word], word))
    return {
        "na": sum(column.spelled.values()),
        "spelled": tuple(dict.fromkeys(map(as_level, ranked))),
        "words": column.words_of_gaps,
    }


def several_scales(column: ColumnSums) -> str:
    """Reason why numbers with and without their unit have different scales; "" if they may have one."""
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
    """Reason why texts that are numbers cannot be used as such; "" if their units can be added up."""
    parts, enough = column.by_mark(column.mark), MOSTLY * column.filled
    if column.are_codes or column.as_number()[1].n >= enough or sum(its.n for its in parts.values()) < enough:
        return ""
    units = sorted(parts, key=lambda mark: (-parts[mark].n, mark))
    shown = ", ".join(f"{unit or 'no unit'} ({parts[unit].n:,})" for unit in units)
    return "" if len(units) > MOST_UNITS else f"its numbers are in units that cannot be added up: {shown}"


def mixed_marks(column: ColumnSums) -> str:
    """Reason why numbers with different decimal marks cannot be read; "" where there is one mark."""
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
    if total < MOSTLY * column.finite:
        return ""
    points, commas = shown["."][:40], shown[","][:40]
    return f"its numbers have points and commas before decimals, such as {points!r} and {commas!r}"


def other_decimals(column: ColumnSums) -> str:
    """Reason why texts that would be numbers with the other decimal mark cannot be read; "" if they would not be."""
    other, enough = "," if column.mark == "." else ".", MOSTLY * column.filled
    if column.decimal is None or column.are_codes or column.as_number()[1].n >= enough:
        return ""
    if column.by_decimal[other] < enough:
        return ""
    example = next((text for text in column.levels or () if other in text), "")
    shown = f", such as {example[:40]!r}," if example else ""
    return f"its cells{shown} are no numbers with a {_name(column.mark)} before decimals"


def partly_numbers(column: ColumnSums) -> str:
    """Reason why texts of which more than half are numbers cannot be used as such; "" for others."""
    mark, numbers = column.as_number()
    measure = column.measure
    strange = next((text for text in column.levels or () if measure.number(text, mark) is None), None)
    return "" if column.are_codes else _partly(column, numbers.n, "numbers", strange)


def partly_dates(column: ColumnSums) -> str:
    """Reason why texts of which more than half are dates cannot be used as such; "" for others."""
    return _partly(column, column.as_date()[1].n, "dates", column.strange())


def _partly(column: ColumnSums, n: int, what: str, strange: str | None) -> str:
    """The reason, where more than half of the texts are what is looked for, with a text that is not."""
    example = "" if strange is None else f", and others are not, such as {strange[:40]!r}"
    return f"{100 * n / column.filled:.0f} % of its cells are {what}{example}" if 2 * n > column.filled else ""


def unread_values(column: ColumnSums) -> str:
    """Reason why texts that look like numbers or dates of a form that is not known are not used; "" for others."""
    example = unread_value(column.levels or ())
    return example and f"its cells, such as {example!r}, hold digits in a form that is not known"


NUMBER_LIKE: Mapping[str, Callable[[ColumnSums], str]] = {
    "units": several_units,
    "decimals": other_decimals,
    "mixed": mixed_marks,
}
"""Kinds of columns of texts that look like numbers, and their reasons why they are none."""


def of_numbers_in(column: ColumnSums) -> Iterator[tuple[str, str]]:
    """Kinds and reasons of `NUMBER_LIKE` that apply to a column of texts."""
    for kind, reason_of in NUMBER_LIKE.items():
        if reason := reason_of(column):
            yield kind, reason


def _name(mark: str) -> str:
    return "point" if mark == "." else "comma"


NAME, REASON = 60, 200
"""Largest number of characters of a name and of a reason in an error: those of a damaged file may be as long as the
file."""

ALMOST_EMPTY = 0.95
"""Share of gaps from which a column is left out: the filled values would outweigh the observed ones."""

RARE = 0.01
"""Share of the filled cells below which a level counts as rare."""

MOST_GROUPS = 20
"""Largest number of levels with a feature each; more would make as many features of one column."""

MOST_AMOUNTS = 10
"""Largest number of distinct amounts in units that cannot be added up for which they are levels, such as 6 months and 1
year."""

TOO_MANY = 0.5
"""Share of rows in rare levels above which a column is no category."""

WHOLE = 2.0**53
"""Bound below which every whole number has a float of its own."""

FEWEST_NUMBERED = 10
"""Rows from which the whole numbers from a to b, each once, are a numbering and no coincidence."""

COUNTING = 0.75
"""Share of whole numbers that must be by one greater than the one before for a column to count rows, which may begin
anew in each part of a table."""

ID_NAME = re.compile(
    r"(?:.*[\W_])?(id|ids|uuid|guid|key|nr|no|index|idx|serial|rowid|row)(?:[\W_].*)?|unnamed: \d+|.*[a-z]Id|.*ID"
)
"""Names of identifiers, in lower case or as written."""

LABEL_NAME = re.compile(r"label_*")
"""Names of the column of labels that the command line writes beside the data. A clustering that used it would find the
earlier one again."""

ROWS_OF_LABEL = 2
"""Rows for each label, on average, from which whole numbers are taken for labels."""

FREE_TEXT, LISTS = "free text", "its cells are lists or objects"
"""Reasons for leaving out columns that can be converted into others."""

ADVICE = {
    FREE_TEXT: f"{TEXTS[0].upper()}{TEXTS[1:]}; or add columns of your own, such as a topic or the length",
    LISTS: "Of lists of one length make a column for each place, or an array: numpy.vstack(frame[name])",
}
"""Advice for the error that no columns are left."""

WORDY, LONG = 3.0, 30.0
"""Words and letters of a cell above which, on average, texts are free text."""

GAP_EFFECT, GAP_CERTAINTY = 0.5, 4.0
"""Difference between the means of a column where another one has gaps and where it has none, in standard deviations,
and this difference divided by its standard error, from which gaps carry information: a medium effect (Cohen 1988) that
is no coincidence among the pairs of a hundred columns."""

UNEVEN, CERTAIN = 0.2, 3.0
"""Smallest mean resultant length of a part of dates on its circle, or on the circle turned twice as fast, and the same
in units of what chance gives: parts that are spread evenly show no groups, and only blur others."""

ONE_DAY = 1e-4
"""Difference of the length of the mean from 1 up to which dates are of one day of the year, which leap years move."""

ROUNDING = 1e-9
"""Difference from 1 that is only rounding."""

RADII = {"none": CLOCK / (2 * math.pi), "minmax": 0.5}
"""Radius of the clock by the scale, so that times are apart as numbers are: an hour by one, or all by at most 1. Else
it is 1, with which the squared distances of times all around are on average those of a number of variance 1."""

MOST_TIMES = 1e6
"""Ratio from which only its power of ten is worth reading."""

FEWEST_GAPS = 5
"""Smallest number of gaps that are tested for information."""


def decide(
    sums: TableSums, rows: RowSample, wishes: Preparation, drop: frozenset[str]
) -> tuple[tuple[ColumnPlan, ...], str, str]:
    """Plan of each column, the scale, and the reason for the scale.

    By the sums of all rows, some of the rows, what the user wishes, and the columns to drop.

    Raises
    ------
    TableError
        If no column can be used, or an override does not suit its column.
    """
    names = [column.name for column in sums.columns]
    as_wished = {*wishes.as_category, *wishes.as_number, *wishes.as_date, *wishes.as_ordered}
    for name in sorted({*as_wished, *wishes.keep, *drop, *dict(wishes.weights)}):
        if name not in names:
            raise no_such_column(name, names, "the table")
    sums = attrs.evolve(sums, columns=tuple(_timed(column, wishes) for column in sums.columns))
    plans = [_plan(column, wishes, drop) for column in sums.columns]
    if wishes.scale != "spread":  # topics are negative as well
        plans = with_topics(plans, rows, [column.gaps for column in sums.columns])
    reasons = {plan.reason for plan in plans if isinstance(plan, LeftOut)}
    if not any(plan.used for plan in plans) and FREE_TEXT not in reasons:
        # a table of distinct numbers is better than none
        plans = [_last_resort(column, plan) for column, plan in zip(sums.columns, plans, strict=True)]
    if not any(plan.used for plan in plans):
        left_out = [plan for plan in plans[:5] if isinstance(plan, LeftOut)]
        shown = "; ".join(f"{plan.name[:NAME]} ({plan.reason[:REASON]})" for plan in left_out)
        more = "; ..." if len(plans) > 5 else ""
        if sums.rows == 1:
            shown, more = "the table has one row, and one row cannot be divided", ""
        elif all(plan.reason.startswith("always") for plan in plans if isinstance(plan, LeftOut)):
            more += f". All {sums.rows:,} rows are equal, so that there is nothing to divide"
        advice = "".join(f". {ADVICE[reason]}" for reason in ADVICE if reason in reasons and sums.rows > 1)
        raise TableError(f"no column is left to cluster: {shown}{more}{advice}")
    for plan, column in zip(plans, sums.columns, strict=True):
        if isinstance(plan, NumberColumn):
            _check_sums(column, _numbers_of(plan, column), scaled=wishes.scale != "none")
    used = [plan.used for plan in plans]
    plans = [_with_gaps(j, plan, sums, used) for j, plan in enumerate(plans)]
    if wishes.sphere and wishes.scale != "spread":  # coordinates on a sphere are negative as well
        plans = paired(plans, sums.columns, frozenset(wishes.as_number + wishes.as_ordered))
    scale, reason = _scale(plans, sums, wishes)
    return tuple(_scaled(p, c, scale) for p, c in zip(plans, sums.columns, strict=True)), scale, reason


def _timed(column: ColumnSums, wishes: Preparation) -> ColumnSums:
    """The sums of a column, with times without a colon as hours if its numbers are likely to be times, or are to be."""
    wanted = column.name in wishes.as_date and not column.as_date()[1].n
    if not column.digits.n or not (wanted or column.digits.are_times(column.name)):
        return column
    return attrs.evolve(column, clock=column.digits)


def _plan(column: ColumnSums, wishes: Preparation, drop: frozenset[str]) -> ColumnPlan:
    """Plan of a column, without regard to units."""
    name = column.name
    if name in drop:
        return LeftOut(name, "as you asked", True)
    if column.kind == "complex":
        raise TableError(f"column {shortened(name)!r} has {COMPLEX}, or leave it out")
    if name in wishes.as_number:
        mark, numbers = column.as_number()
        if column.clock.native or (column.clock.n and not numbers.n):
            return _clock(column, keep=True)
        if not numbers.n:
            raise TableError(f"column {shortened(name)!r} cannot be used as numbers: no cell is one")
        return _number(column, mark, numbers)
    if name in wishes.as_ordered:
        return _ordered(column)
    if name in wishes.as_date:
        form, moments = column.as_date()
        if column.clock.minutes:
            return _clock(column, keep=True)
        if not moments.n:
            raise TableError(f"column {shortened(name)!r} cannot be used as dates: no cell is one")
        return _date(column, form, moments)
    keep = name in wishes.keep
    column = with_words(column, wishes.na, as_category=name in wishes.as_category)
    if name in wishes.as_category:
        return _category(column, keep=True)
    if column.kind == "empty":
        return LeftOut(
            name, f"empty but for {counted(column.infinite, 'infinite cell')}" if column.infinite else "empty"
        )
    if column.kind == "other":
        return LeftOut(name, LISTS, kind="lists")
    if not keep and column.gaps >= ALMOST_EMPTY * column.rows:
        return LeftOut(name, f"{100 * column.gaps / column.rows:.0f} % of it are gaps")
    if column.categorical and not _rises(column.ranked, column.mark):
        return _by_type(column, keep)
    if column.are_days and not _is_id_name(name):
        return _date(column, DIGITS, column.as_date()[1], keep)
    if column.clock.native or column.clock.n >= max(MOSTLY * column.filled, 1):
        return _clock(column, keep)
    if column.kind in ("number", "truth"):
        return _number_unless_id(column, ".", column.moments, keep)
    if column.kind == "date":
        return _date(column, NATIVE, column.moments, keep)
    return _in_order(_of_texts(column, keep), column)


def _in_order(plan: ColumnPlan, column: ColumnSums) -> ColumnPlan:
    """The plan with the order of the levels, where the frame says it."""
    if isinstance(plan, CategoryColumn) and not plan.or_gap and set(plan.levels) <= set(column.ranked):
        return attrs.evolve(plan, ranks=tuple(column.ranked.index(level) for level in plan.levels))
    if isinstance(plan, NumberColumn) and column.ranked and not plan.clock:
        return attrs.evolve(plan, ordered=_rises(column.ranked, plan.decimal))
    return plan


def _rises(ranked: Sequence[str], mark: str) -> bool:
    """Whether there are levels in an order, and it is that of the numbers that they are."""
    numbers = [number(text, mark) for text in ranked]
    known = [value for value in numbers if value is not None]
    return bool(ranked) and len(known) == len(numbers) and known == sorted(known)


def _by_type(column: ColumnSums, keep: bool) -> ColumnPlan:
    """Plan of a column whose type in its data frame is a category: of levels, whatever they look like."""
    plan = _in_order(_category(column, keep), column)
    if not _is_measured(column):
        return plan
    if isinstance(plan, CategoryColumn):
        return attrs.evolve(plan, by_type=True)
    assert isinstance(plan, LeftOut)
    return attrs.evolve(plan, reason=f"{plan.reason}, as a category, which is its type; --as-number reads numbers")


def _ordered(column: ColumnSums) -> ColumnPlan:
    """A column of ordered levels: numbers, or a category whose levels are in the order of the numbers in them."""
    if column.kind in ("number", "truth"):
        return _number(column, ".", column.moments)
    plan = _in_order(_category(column, keep=True), column)
    if not isinstance(plan, CategoryColumn) or plan.or_gap or plan.ranks:
        return plan
    places = [re.search(r"[-+]?[0-9]+([.][0-9]+)?", level) for level in plan.levels]
    numbers = [math.nan if place is None else float(place[0]) for place in places]
    if plan.rare or not all(map(math.isfinite, numbers)) or len(set(numbers)) < len(numbers):
        raise TableError(
            f"column {shortened(column.name)!r} cannot be used as ordered levels: its texts "
            f"({', '.join(map(repr, plan.levels[:3]))}, ...) do not show an order; write numbers, or a number in each"
        )
    order = np.argsort(numbers)
    levels = tuple(plan.levels[i] for i in order)
    return attrs.evolve(plan, levels=levels, fill=levels.index(plan.levels[plan.fill]))


def _of_texts(column: ColumnSums, keep: bool) -> ColumnPlan:
    """Plan of a column of texts: numbers or dates if most of them are, else a category or left out."""
    if not keep and (reason := mixed_marks(column)):
        return LeftOut(column.name, reason, kind="mixed")
    mark, numbers = column.as_number()
    if numbers.n >= MOSTLY * column.finite and 2 * numbers.n > column.filled and not column.are_codes:
        reason = "" if keep else several_scales(column)
        return LeftOut(column.name, reason, kind="scales") if reason else _number_unless_id(column, mark, numbers, keep)
    form, moments = column.as_date()
    if moments.n >= MOSTLY * column.filled:
        return _date(column, form, moments, keep)
    plan = _category(column, keep)
    if not keep and (isinstance(plan, LeftOut) or len(column.levels or ()) > MOST_AMOUNTS):
        for kind, reason in of_numbers_in(column):
            return LeftOut(column.name, reason, kind=kind)
    if isinstance(plan, LeftOut):
        for kind, reason in (("partly dates", partly_dates(column)), ("partly numbers", partly_numbers(column))):
            if reason:
                return LeftOut(column.name, reason, kind=kind)
    return plan


def _number_unless_id(column: ColumnSums, mark: str, numbers: Moments, keep: bool) -> ColumnPlan:
    """A column of numbers, or an identifier."""
    if not keep:
        if numbers.low == numbers.high:
            beyond = " or so: whole numbers above 2^53 are not told apart" * (abs(numbers.low) > WHOLE)
            return or_gap(column, max(FEWEST_GAPS, RARE * column.rows)) or LeftOut(
                column.name, f"always {numbers.low:g}{beyond}"
            )
        unit = column.measure.unit  # numbers with a unit are no identifiers
        if not unit and numbers.n >= FEWEST_NUMBERED and numbers.is_numbering():
            return LeftOut(
                column.name, f"an identifier: the numbers from {numbers.low:.0f} to {numbers.high:.0f}, each once"
            )
        named = not unit and _is_id_name(column.name)
        if named and numbers.whole and numbers.many and numbers.high - numbers.low + 1 >= column.filled:
            return LeftOut(column.name, "an identifier, by its name")
        if named and numbers.whole and numbers.low in (0.0, 1.0) and column.steps >= COUNTING * numbers.n:
            return LeftOut(column.name, "an identifier, by its name: it counts the rows")
        if LABEL_NAME.fullmatch(column.name) and _are_labels(numbers) and not column.gaps:
            return LeftOut(column.name, "labels of clusters, by its name and values")
    return _number(column, mark, numbers)


def _is_id_name(name: str) -> bool:
    return bool(ID_NAME.fullmatch(name) or ID_NAME.fullmatch(name.lower()))


def _are_labels(numbers: Moments) -> bool:
    """Whether numbers can be labels of clusters: whole ones from 0, or from -1 for noise, each for some rows."""
    return numbers.whole and numbers.low in (-1.0, 0.0) and ROWS_OF_LABEL * numbers.high <= numbers.n


def _number(column: ColumnSums, mark: str, numbers: Moments) -> NumberColumn:
    _check_sums(column, numbers)
    flag = len(numbers.values) == 2
    fill = numbers.mean
    if flag:
        fill = numbers.high if numbers.mean > (numbers.low + numbers.high) / 2 else numbers.low
    return NumberColumn(
        column.name, fill, decimal=mark, flag=flag, gaps=column.rows - numbers.n, unread=column.finite - numbers.n,
        extremes=(numbers.low, numbers.high), weight=FLAG, size=size_of(numbers.sizes),
        infinite=column.infinite, few=column.few_whole, **column.units(mark),
    )  # fmt: skip


def _check_sums(column: ColumnSums, numbers: Moments, *, scaled: bool = False) -> None:
    """Refuse numbers without a mean, and without a spread where they are to be scaled."""
    if not math.isfinite(numbers.spread if scaled else numbers.mean):
        raise TableError(
            f"column {shortened(column.name)!r} has numbers that are too large to add up: {numbers.high:.3g}"
        )
    if scaled and numbers.low < numbers.high and not numbers.spread:
        raise TableError(
            f"column {shortened(column.name)!r} has numbers that are too close together, from {numbers.low:.6g} to "
            f"{numbers.high:.6g}: squares of their differences are 0. Multiply them by a constant, or leave it out"
        )


def _clock(column: ColumnSums, keep: bool) -> ColumnPlan:
    """A column of times of day or of durations, in hours."""
    begin = column.clock.begin()
    hours = column.clock.moments(begin)
    if hours.low == hours.high and not keep:
        return LeftOut(column.name, f"always {clock_text(3600.0 * (hours.low % 24 if begin else hours.low))}")
    return NumberColumn(
        column.name, hours.mean, gaps=column.rows - hours.n, unread=column.finite - hours.n,
        clock=column.clock.kind(), begin=begin, weight=FLAG, circle=float(column.clock.is_round()),
        digits=bool(column.clock.minutes), infinite=column.infinite,
    )  # fmt: skip


def _numbers_of(plan: NumberColumn, column: ColumnSums) -> Moments:
    """The sums of a column of numbers, in the unit in which its plan reads them."""
    return column.clock.moments(plan.begin) if plan.clock else column.as_number()[1]


def _date(column: ColumnSums, form: str, moments: Moments, keep: bool = True) -> ColumnPlan:
    if moments.low == moments.high and not keep:
        return LeftOut(column.name, "always the same date")
    hours = (moments.high - moments.low) / 3600.0
    *circles, (firsts, midnights) = np.abs(column.date_circles())
    # all dates of one month each year, but for the days by which years and months differ
    same = (1 - np.array([ROUNDING, ROUNDING, ONE_DAY])) * moments.n
    parts = tuple(
        part
        for (part, period), its, one in zip(HOURS.items(), circles, same, strict=True)
        if hours >= 2 * period
        and its.max() >= max(UNEVEN, CERTAIN / math.sqrt(moments.n)) * moments.n
        and its[0] <= one
        and not (part == "weekday" and firsts == moments.n)
        and not (part == "hour" and 2 * midnights > moments.n)  # of most dates the hour is not known
    )
    unread = column.filled - moments.n
    return DateColumn(
        column.name, moments.mean, moments.mean, 1.0, form, parts, gaps=column.gaps + unread, unread=unread,
        both_orders=len(column.shown) > 1, weight=FLAG,
    )  # fmt: skip


def _category(column: ColumnSums, keep: bool) -> ColumnPlan:
    """Plan of a category, or of a text that is left out."""
    levels = column.levels
    if levels is None or (not keep and len(levels) > max(2, column.filled / 2)):
        if keep:
            raise TableError(f"column {shortened(column.name)!r} has too many different values for a category")
        return _no_category(column, levels)
    if len(levels) == 1 and (not keep or column.gaps):
        plan = or_gap(column, max(FEWEST_GAPS, RARE * column.rows))
        if plan is not None or not keep:
            return plan or LeftOut(column.name, f"always {next(iter(levels))[:40]!r}")
    ranked = sorted(levels, key=lambda level: (-levels[level], level))
    frequent = [level for level in ranked[:MOST_GROUPS] if levels[level] >= RARE * column.filled]
    rare = ranked[len(frequent) :]
    if len(rare) == 1 and len(frequent) < MOST_GROUPS:  # alone it needs no common name
        frequent, rare = ranked, []
    if not frequent or (not keep and sum(levels[level] for level in rare) > TOO_MANY * column.filled):
        if keep:
            raise TableError(
                f"column {shortened(column.name)!r} has no level with {100 * RARE:.0f} % of the rows: no category"
            )
        many = f"too many different values ({len(levels):,} in {column.filled:,} rows)"
        return LeftOut(column.name, many, kind="many")
    return CategoryColumn(column.name, tuple(frequent), len(rare), 0, column.gaps, weight=FLAG, **words_of(column))


def _no_category(column: ColumnSums, levels: Mapping[str, int] | None) -> LeftOut:
    """A column of texts that is left out, and the reason."""
    count = "more than 10,000" if levels is None else f"{len(levels):,}"
    if reason := unread_values(column):
        return LeftOut(column.name, reason, kind="unread value")
    if column.words > WORDY * column.filled or column.letters > LONG * column.filled:
        return LeftOut(column.name, FREE_TEXT, kind="text")
    if levels is not None and len(levels) >= MOSTLY * column.filled:
        return LeftOut(column.name, f"an identifier: {count} different values in {column.filled:,} rows")
    return LeftOut(column.name, f"too many different values ({count} in {column.filled:,} rows)", kind="many")


def _last_resort(column: ColumnSums, plan: ColumnPlan) -> ColumnPlan:
    """The plan of a column of distinct numbers where no other column can be used."""
    numbers = column.moments
    if isinstance(plan, LeftOut) and not plan.asked_for and column.kind == "number" and numbers.low < numbers.high:
        return _number(column, ".", column.moments)
    return plan


def _with_gaps(j: int, plan: ColumnPlan, sums: TableSums, used: Sequence[bool]) -> ColumnPlan:
    """The plan, with a feature for the gaps if these depend on the values of another column."""
    column = sums.columns[j]
    if not isinstance(plan, NumberColumn | CategoryColumn | DateColumn) or not sums.pairs.shape[1]:
        return plan
    if plan.gaps < max(FEWEST_GAPS, RARE * column.rows) or getattr(plan, "or_gap", False):
        return plan
    best, name = 0.0, ""
    for k, other in enumerate(sums.columns):
        numbers = other.as_number()[1]
        n, total = float(sums.pairs[0, j, k]), float(sums.pairs[1, j, k])
        rest = numbers.n - n
        if k == j or not used[k] or n < FEWEST_GAPS or rest < FEWEST_GAPS or not numbers.spread:
            continue
        effect = abs(total / n - (numbers.mean * numbers.n - total) / rest) / numbers.spread
        certain = effect * math.sqrt(n * rest / numbers.n) >= GAP_CERTAINTY
        if certain and effect >= GAP_EFFECT and effect > best:
            best, name = effect, other.name
    return attrs.evolve(plan, told_by=name)


def _scale(plans: Sequence[ColumnPlan], sums: TableSums, wishes: Preparation) -> tuple[str, str]:
    """The choice in `SCALES` for the numbers of a table, and its reason."""
    if wishes.scale != "auto":
        return wishes.scale, "as you asked"
    numbers = [
        (plan, _numbers_of(plan, column))
        for plan, column in zip(plans, sums.columns, strict=True)
        if isinstance(plan, NumberColumn) and not (plan.flag and column.kind == "truth")
    ]
    if not numbers and not any(isinstance(plan, DateColumn) for plan in plans):
        return "none", "no column is a number"
    # latitude and longitude have one unit, and the spread of longitudes means nothing where they wrap around
    flags = [plan for plan, its in numbers if plan.flag and its.high - its.low <= 1.0]
    several = [(plan.name, its) for plan, its in numbers if plan not in flags and plan.sphere != "longitude"]
    if any(plan.used and not isinstance(plan, NumberColumn) for plan in plans) or any(
        (len(plan.features) > 1 and not getattr(plan, "sphere", ""))
        or (isinstance(plan, NumberColumn) and column.kind == "truth")
        for plan, column in zip(plans, sums.columns, strict=True)
    ):
        return "zscore", "there are other columns than numbers"
    low, high, spread = (np.array([getattr(its, field) for _, its in several]) for field in ("low", "high", "spread"))
    pair = differing_units(low, high, spread)
    if pair is None:
        apart = ", those of two values apart," * bool(flags)
        return "none", f"the spreads of the numbers{apart} are comparable"
    wide, thin = pair
    with np.errstate(divide="ignore", over="ignore"):  # squares of tiny differences are 0
        ratio = spread[wide] / spread[thin]
    times = f"{ratio:,.0f}" if ratio < MOST_TIMES else f"{ratio:.1e}"
    return "zscore", f"the spread of {several[wide][0]} is {times} times that of {several[thin][0]}"


def _scaled(plan: ColumnPlan, column: ColumnSums, scale: str) -> ColumnPlan:
    """The plan with the centre and factor of the scale."""
    if isinstance(plan, DateColumn):
        moments = column.as_date()[1]
        if scale == "minmax":
            width = moments.high - moments.low
            return attrs.evolve(plan, centre=moments.low, factor=1.0 / width if width else 0.0)
        if scale == "none":
            return attrs.evolve(plan, factor=1.0 / 86400.0)  # days: a unit that people read
        centre = moments.low if scale == "spread" else moments.mean
        return attrs.evolve(plan, centre=centre, factor=_inverse(moments.spread))
    if isinstance(plan, NumberColumn) and plan.circle:
        return attrs.evolve(plan, circle=RADII.get(scale, 1.0))
    if not isinstance(plan, NumberColumn) or scale == "none" or plan.sphere:
        return plan
    numbers = _numbers_of(plan, column)
    width = numbers.high - numbers.low
    if scale == "minmax":
        return attrs.evolve(plan, centre=numbers.low, factor=_inverse(width))
    if plan.flag:
        return attrs.evolve(plan, centre=numbers.low, factor=FLAG * _inverse(width))
    return attrs.evolve(plan, centre=0.0 if scale == "spread" else numbers.mean, factor=_inverse(numbers.spread))


def _inverse(width: float) -> float:
    """The reciprocal, or 0 for 0: a constant column becomes 0."""
    return 1.0 / width if width > 0.0 and math.isfinite(1.0 / width) else 0.0
