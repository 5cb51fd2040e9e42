"""Parsing of the text of a cell: a number with a comma, thousands, a percent sign; a date in one of many forms.

Whole months and quarters, and days written as eight digits, are moments in time as well.
"""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType

NAMES_OF_MONTHS = """
january february march april may june july august september october november december
januar februar marz april mai juni juli august september oktober november dezember
janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
janner februari mrz april maj juni juli augusti september oktober november december
januar februar mrt april maj juni juli august september oktober november december
"""
"""The months in English, German, French, Spanish, Italian, Portuguese, Dutch and Swedish, without accents. The last two
lines have the Austrian January and abbreviations that are no beginnings of names."""

SHORTEST_NAME = 3
"""Letters of the shortest beginning of a name of a month."""


def _months() -> dict[str, int]:
    """The number of each month, from 1, by all beginnings of its names that no other month has."""
    numbers: dict[str, set[int]] = {}
    for names in NAMES_OF_MONTHS.split("\n"):
        for month, name in enumerate(names.split(), 1):
            for end in range(SHORTEST_NAME, len(name) + 1):
                numbers.setdefault(name[:end], set()).add(month)
    return {name: month for name, its in numbers.items() for month in its if len(its) == 1}


MONTHS: Mapping[str, int] = MappingProxyType(_months())
"""The number of each month by its names."""

WORD = r"(?P<month>[^\W\d_]{3,10})\.?"
"""A word that may be the name of a month, or its beginning and a point."""

WHOLE_MONTHS = tuple(
    map(
        re.compile,
        (
            r"(?P<year>\d{4})[-/](?P<month>\d{1,2})",
            r"(?P<month>\d{1,2})[-/](?P<year>\d{4})",
            WORD + r"(?:[-/ ]| de )(?P<year>\d{4})",
            r"(?!(?i:set|gen|out|mag))" + WORD + r"[-/ ]?['’/-](?P<year>\d\d)",  # Gen-10 and Set-12 are products
            r"(?P<year>\d{4})[-/ ]" + WORD,
            r"(?P<year>\d{4})[- ]?Q(?P<quarter>[1-4])",
            r"Q(?P<quarter>[1-4])[-/ ]?(?P<year>\d{4})",
        ),
    )
)
"""Patterns of months and quarters, which are read as their first day."""

LONGEST_MONTH = len("septiembre de 2020")
"""Characters of the longest month."""

YEARS = (1800, 2200)
"""Years that a month may be of: 4711-12 is no month, but the number of a part."""

DIGITS = "%Y%m%d"
"""The form of days written as eight digits. They are numbers as well, so that no single cell tells."""

DIGIT_DAYS = (19000101, 21001231)
"""The first and the last of such days. Three or four in a hundred numbers between them are days by chance."""

EPOCH = datetime.datetime(1970, 1, 1)
"""The moment from which seconds count."""


def month_number(text: str) -> int:
    """The number of a month, from 1, from its number or its name in one of the languages of `NAMES_OF_MONTHS`.

    Raises
    ------
    ValueError
        If it has no such name.

    Examples
    --------
    >>> month_number("02"), month_number("Feb"), month_number("FEBRUARY"), month_number("März"), month_number("août")
    (2, 2, 2, 3, 8)
    """
    if text.isdigit():
        return int(text)
    name = _letters(text)
    if name not in MONTHS:
        raise ValueError(f"{text} is no month")
    return MONTHS[name]


def _letters(text: str) -> str:
    """The letters of a text, small and without accents."""
    letters = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in letters if letter.isalpha())


def first_of_month(text: str) -> datetime.datetime | None:
    """The first day of a month or quarter; None, or a ValueError, for another text.

    Examples
    --------
    >>> [first_of_month(text).strftime("%m.%Y") for text in ("2020-02", "02/2020", "Feb 2020", "Sept. 2020", "Mar-24")]
    ['02.2020', '02.2020', '02.2020', '09.2020', '03.2024']
    >>> first_of_month("4711-02")
    """
    if len(text) > LONGEST_MONTH:
        return None
    for pattern in WHOLE_MONTHS:
        if (parts := pattern.fullmatch(text)) is not None:
            named = parts.groupdict()
            year = _year(named["year"])
            month = month_number(named["month"]) if "month" in named else 3 * int(named["quarter"]) - 2
            return datetime.datetime(year, month, 1) if YEARS[0] <= year <= YEARS[1] else None
    return None


def day_of_digits(value: float) -> float | None:
    """Seconds since 1970 of a day that is written as eight digits; None for a number that is none.

    Examples
    --------
    >>> day_of_digits(19700102.0), day_of_digits(19701301.0), day_of_digits(19700230.0), day_of_digits(47110102.0)
    (86400.0, None, None, None)
    """
    if not DIGIT_DAYS[0] <= value <= DIGIT_DAYS[1] or value != math.floor(value):
        return None
    number = int(value)
    try:
        moment = datetime.datetime(number // 10000, number // 100 % 100, number % 100)
    except ValueError:
        return None
    return (moment - EPOCH).total_seconds()


MISSING = frozenset(
    {
        "", "?", "na", "n/a", "n.a.", "nan", "null", "none", "-", "--", ".", "<na>", "nat",
        "#n/a", "#na", "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!",
    }
)  # fmt: skip
"""Cells that mean a missing value, in lower case: those of UCI files, R, pandas, SQL and spreadsheets."""

WESTERN = str.maketrans(
    "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹０１２３４５６７８９٫٬٪．，％",
    "0123456789" * 3 + ".,%" * 2,
    "\u200b\u200e\u200f\u061c\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
)
"""Digits and marks of Arabic, Persian and full-width numbers, and letters without a width: marks of direction, which
right-to-left programs write around numbers, spaces of no width and marks of the order of bytes."""


def plain(text: str) -> str:
    """A text without blanks and marks of direction around it, with Western digits.

    Examples
    --------
    >>> plain(" 7 kg"), plain("\u200f١٬٢٣٤٫٥ ر.س.\u200f")
    ('7 kg', '1,234.5 ر.س.')
    """
    return (text if text.isascii() else text.translate(WESTERN)).strip()


SIGNS = "$€£¥¢₩₹₽₺₴₦₱₫₪₡₲₵₸₼₾₮₭₨฿៛৳﷼؋֏₿￥￡￦＄元円원"
"""Signs of currencies, which may stand before or behind a number."""

CODES = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF "
    "CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL "
    "HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD "
    "MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG "
    "QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD "
    "TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG"
)
"""Codes of currencies (ISO 4217)."""

CURRENCIES = tuple(CODES.split())
"""The codes of currencies, which stand where the signs do."""

CURRENCY = rf"[{re.escape(SIGNS)}]|{'|'.join(CURRENCIES)}"
"""Pattern of a currency. A code before digits that begin with a zero is part of a code: CUP001."""

MONEY_BEFORE = re.compile(rf"(?P<minus>[+-]?)\s*(?P<money>{CURRENCY})(?!0\d)\s*(?=[-+(]?[.,]?\d)")
"""Pattern of a currency before a number."""

MONEY_BEHIND = re.compile(rf"(?<=[\d.,)–-])\s*(?P<money>{CURRENCY})$")
"""Pattern of a currency behind a number."""

REMARK = re.compile(
    r"(?<=[\w%])\s*(?:\([+−±-]?\s?(?:\d[\d.,]*\s?%?|(?<=[+−-]))\)|\(\d[+−-]\)|\[\w{1,3}\]|(?:±|\+/?-)\s*\d[\d.,]*)$"
)
"""Pattern of what stands behind a measurement: the charge of an ion, a share or an uncertainty in brackets, the mark of
a footnote, or an uncertainty after its sign."""

THOUSANDS_BY_COMMA = re.compile("[$£¥₹₩₱₦฿₪]|USD|GBP|INR|JPY|CNY|KRW|PHP|NGN|THB|ILS|SGD|HKD|AUD|NZD|TWD|MYR")
"""Currencies in whose countries the comma stands between thousands."""

DASHES = "-–—"
"""Signs behind a number: of a minus, or of cents that are none."""

BLANKS = dict.fromkeys(map(ord, " \u00a0\u202f\u2009'’"))
"""Separators of thousands other than points and commas: blanks of four widths, apostrophes."""

GROUPED = {
    ".": re.compile(
        r"[+-]?(?=[.]?\d)(?:[1-9]\d{0,2}(,\d{3})+(\.\d*)?|[1-9]\d?(,\d\d)+,\d{3}(\.\d*)?|\d*(\.\d*)?([eE][+-]?\d+)?|\d*\.\d*D[+-]\d+)"
    ),
    ",": re.compile(r"[+-]?(?=,?\d)(?:[1-9]\d{0,2}(\.\d{3})+(,\d*)?|\d*(,\d*)?([eE][+-]?\d+)?|\d*,\d*D[+-]\d+)"),
}
"""Pattern of a number, by the decimal mark. Thousands begin with no zero: 0,234 is less than one. A number with an
exponent has no separators: 1.260E-01 is no 1260E-01. Fortran writes the D of a double before its exponent. In India
there are two digits in each group above the thousands: 1,20,000."""

SPACED = re.compile(r"[+-]?\d{1,3}([ \u00a0\u202f\u2009'’]\d{3})+([.,]\d*)?")
"""Pattern of a number with separated thousands."""

ARABIC = r"[ء-ي](?:\.[ء-ي]){1,2}|درهم|دينار|ريال|جنيه|ليرة|تومان|ریال"
"""Pattern of a currency in Arabic or Persian letters: an abbreviation with points, or a word."""

UNIT = re.compile(
    rf".*\d(?:\s+([^\W\d_]|[°Ω²³·/%]){{1,10}}\.?|([a-zµ]|°)([^\W\d_]|[°Ω²³·/%]){{0,9}}|\s*(?:{ARABIC})\.?)"
)
"""A number and its unit: letters after a blank, or from a small one on without it. 4711DE is no number with a unit."""

POINT = re.compile(r"[+-]?(?:(?:0|\d{4,})\.\d+|\d+\.(?:\d{1,2}|\d{4,}))")
"""Pattern of numbers whose mark can only be a decimal point."""

ADDRESS = re.compile(r"(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}")
"""Four numbers up to 255 with points between them: the address of a computer, and no number with thousands."""

CODE = re.compile(r"0\d+")
"""Digits that begin with a zero: a code, such as a postal code, and no number."""

LONGEST = 40
"""Characters of the longest cell that is tried as a number or a date."""


def is_code(text: str) -> bool:
    """Whether a text consists of digits after a zero.

    Examples
    --------
    >>> is_code("00501"), is_code("0"), is_code("0.5")
    (True, False, False)
    """
    return CODE.fullmatch(text) is not None


def money(text: str) -> str:
    """The sign or code of the currency before or behind a number; "" for none.

    Examples
    --------
    >>> money("₹ 1,200"), money("-USD 5"), money("12 CHF"), money("CUP001"), money("12 kg")
    ('₹', 'USD', 'CHF', '', '')
    """
    before = None if text[:1].isdecimal() else MONEY_BEFORE.match(text.lstrip("("))
    if before is not None:
        return before["money"]
    behind = MONEY_BEHIND.search(text) if text[-1:] in SIGNS or text.endswith(CURRENCIES) else None
    return "" if behind is None else behind["money"]


def without_unit(text: str, unit: str) -> str:
    """A text without the unit behind its number."""
    return text.removesuffix(unit).rstrip() if unit else text


def number(text: str, decimal: str) -> float | None:
    """The number that a text represents; None if it is no number.

    Parameters
    ----------
    text : str
    decimal : {".", ","}
        The decimal mark; the other one separates thousands.

    Percent signs and currencies beside it are left out; `clusterkit.tables.cells.measures` says what they mean.

    Examples
    --------
    >>> number("45,920", "."), number("1.234,5", ","), number("32.5 %", "."), number("€ 12", "."), number("e7", ".")
    (45920.0, 1234.5, 32.5, 12.0, None)
    >>> number("1.234.567.890", ","), number("192.168.100.200", ","), number("900’000 CHF", "."), number("EUR", ".")
    (1234567890.0, None, 900000.0, None)
    >>> number("(1,234.50)", "."), number("1.234,50-", ","), number("-$12", "."), number("2-", ".")
    (-1234.5, -1234.5, -12.0, None)
    >>> number("0.126D-01", "."), number("12D-1", "."), number("76 (+1)", "."), number("[98]", ".")
    (0.0126, None, 76.0, 98.0)
    >>> number("₹ 1,20,000", "."), number("-SGD 5", "."), number("$(5)", "."), number("5 [a]", "."), number("12,-", ",")
    (120000.0, -5.0, -5.0, 5.0, 12.0)
    """
    if decimal == ".":
        try:
            value = float(text)
        except ValueError:
            pass
        else:
            return value if math.isfinite(value) and "_" not in text else None
    if len(text) > LONGEST:
        return None
    bare = text.strip().replace("−", "-")
    if bare[-1:] in "])" or "±" in bare or "+" in bare[1:]:
        if bare.startswith("[") and bare.endswith("]"):  # mass numbers in tables of elements
            bare = bare[1:-1]
        bare = REMARK.sub("", bare)
    if bare.startswith("(") and bare.endswith(")"):  # bookkeepers write negative numbers so
        bare = "-" + bare[1:-1].strip()
    bare = bare.removesuffix("%").rstrip()
    if bare[-1:] in SIGNS or bare.endswith(CURRENCIES):
        bare = MONEY_BEHIND.sub("", bare)
    before = None if bare[:1].isdecimal() else MONEY_BEFORE.match(bare)
    if before is not None:
        rest = bare[before.end() :]
        bare = before["minus"] + ("-" + rest[1:-1] if rest.startswith("(") and rest.endswith(")") else rest)
    if bare[-1:] in DASHES and ("." in bare or "," in bare):
        # 12,- has no cents; elsewhere the minus is behind the number
        bare = bare[:-1] if bare[-2:-1] == decimal else "-" + bare[:-1]
    if SPACED.fullmatch(bare):
        bare = bare.translate(BLANKS)
    if GROUPED[decimal].fullmatch(bare) is None or (bare.count(".") == 3 and ADDRESS.fullmatch(bare)):
        return None
    thousands = "," if decimal == "." else "."
    value = float(bare.replace(thousands, "").replace(decimal, ".").replace("D", "e"))
    return value if math.isfinite(value) else None


def is_infinite(text: str) -> bool:
    """Whether a text is an infinite number: by its word or sign, or by an exponent beyond the floats.

    Examples
    --------
    >>> is_infinite("-Inf"), is_infinite("∞"), is_infinite("1,5e999"), is_infinite("inf %"), is_infinite("info")
    (True, True, True, True, False)
    """
    try:
        return math.isinf(float(text.removesuffix("%").replace("∞", "inf").replace("−", "-").replace(",", ".")))
    except ValueError:
        return False


def readings(text: str) -> tuple[float | None, float | None]:
    """The number that a text represents with a decimal point, and with a decimal comma.

    If the text is a number with one of the marks alone, it shows the mark of its table; if it is a different number
    with each, such as 1.234, the mark stays open. Both are None for a text without point and comma, which shows
    nothing, and for one that ends with a mark, such as the ordinal number 1. Dollars and pounds have no thousandths:
    $1,234 shows a point.

    Examples
    --------
    >>> readings("1,5"), readings("1.234"), readings("1.234,5"), readings("12"), readings("0.234"), readings("$1,234")
    ((None, 1.5), (1.234, 1234.0), (None, 1234.5), (None, None), (0.234, None), (1234.0, None))
    >>> readings("1.260E-01"), readings("1,260e3")
    ((0.126, None), (None, 1260.0))
    """
    if ("." not in text and "," not in text) or len(text) > LONGEST or text.endswith((".", ",")):
        return None, None
    if POINT.fullmatch(text) is not None:  # most cells, so that they take a third of the time
        return float(text), None
    point, comma = number(text, "."), number(text, ",")
    return (point, None) if comma != point and in_dollars(text) else (point, comma)


def in_dollars(text: str) -> bool:
    """Whether a number with a comma has the sign of a currency in whose countries the comma is between thousands.

    Examples
    --------
    >>> in_dollars("$1,234"), in_dollars("$1.234"), in_dollars("1,234 €")
    (True, False, False)
    """
    return "," in text and THOUSANDS_BY_COMMA.search(text) is not None


def is_undivided(text: str) -> bool:
    """Whether a text is a whole number of four digits or more: its column has no marks between thousands.

    Examples
    --------
    >>> is_undivided("1234"), is_undivided("-1234"), is_undivided("123"), is_undivided("1.234")
    (True, True, False, False)
    """
    digits = text.lstrip("+-")
    return len(digits) > 3 and digits.isdigit()


ANY, MONTH_FIRST, DAY_FIRST = "ISO", "%m/%d/%Y", "%d/%m/%Y"
"""The forms of dates. Every form that says itself which part is the day is read under all three names; they differ for
dates between slashes, of which the first reads none."""


def order_of(day_first: bool | None) -> str | None:
    """The order of day and month that a user asks for; None for none."""
    return None if day_first is None else DAY_FIRST if day_first else MONTH_FIRST


CENTURY = 69
"""Years of two digits from this one on are of the twentieth century, as POSIX has it."""

TIME = (
    r"(?:(?:,? |T)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,6}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)(?: \([A-Z]{2,5}\))?)?)?"
)
"""A time after a day, of 24 or of twice 12 hours, and perhaps its distance from Greenwich."""

SLASHED = re.compile(r"(?P<first>\d{1,2})/(?P<next>\d{1,2})/(?P<year>\d{4}|\d\d)" + TIME)
"""A date of which nothing but its numbers tells the day from the month."""

NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?"
"""The number of a day in words: 1st, 1er, 1."""

DAY_NAME = r"(?:[^\W\d_]{2,10}\.?, ?|[^\W\d_]{2,3}\.? )?"
"""The name of a day of the week before a date, with a comma or in three letters at most, or the French article."""

CLEAR = tuple(
    re.compile(day)
    for day in (
        r"(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>\d{4}|\d\d)" + TIME,
        r"(?P<day>\d{1,2})-(?P<month>\d{1,2})-(?P<year>\d{4})" + TIME,
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})" + TIME,
        DAY_NAME + NTH + r"(?:-| (?:of |de )?|(?<=\.))" + WORD + r"(?:,? |-| de )(?P<year>\d{4}|\d\d)" + TIME,
        DAY_NAME + WORD + r" " + NTH + r",? (?P<year>\d{4})" + TIME,
        DAY_NAME + WORD + r" {1,2}(?P<day>\d{1,2})" + TIME + r" (?P<year>\d{4})",  # as C and mailboxes write it
        r"(?P<year>\d{4})[- ]" + WORD + r"[- ](?P<day>\d{1,2})" + TIME,
    )
)
"""Dates that tell the day from the month by their form."""


def is_slashed(text: str) -> bool:
    """Whether a text has the form of a date between slashes."""
    return "/" in text and SLASHED.fullmatch(text) is not None


def only_order(text: str) -> str | None:
    """The one order of day and month in which a text between slashes is a date; None if there are two, or none.

    Examples
    --------
    >>> only_order("2/13/2024"), only_order("13/2/2024"), only_order("2/3/2024"), only_order("2024-02-03")
    ('%m/%d/%Y', '%d/%m/%Y', None, None)
    """
    if not is_slashed(text):
        return None
    month_first, day_first = (seconds(text, form) is not None for form in (MONTH_FIRST, DAY_FIRST))
    if month_first == day_first:
        return None
    return MONTH_FIRST if month_first else DAY_FIRST


def date_order(counts: Mapping[str, int]) -> str | None:
    """The order of day and month that dates between slashes show; what more of them show where they differ.

    None where they leave it open, because no day is above 12, or there is no date between slashes.

    Parameters
    ----------
    counts : mapping of str to int
        How often each text occurs.

    Examples
    --------
    >>> date_order({"2/13/2024": 1, "2024-02-03": 5}), date_order({"13/2/2024": 2, "2/13/2024": 1})
    ('%m/%d/%Y', '%d/%m/%Y')
    >>> date_order({"2/3/2024": 1, "x": 2})
    """
    votes = {MONTH_FIRST: 0, DAY_FIRST: 0}
    for text, count in counts.items():
        order = only_order(text)
        if order is not None:
            votes[order] += count
    if votes[MONTH_FIRST] == votes[DAY_FIRST]:
        return None
    return max(votes, key=lambda form: votes[form])


def seconds(text: str, form: str) -> float | None:
    """Seconds since 1970 of a date; None if it is none. A time zone is taken into account.

    Parameters
    ----------
    text : str
    form : {ANY, MONTH_FIRST, DAY_FIRST}
        Order of day and month in dates with slashes; all other forms of dates are read in every case.

    Examples
    --------
    >>> seconds("1970-01-02", ANY), seconds("2.1.1970", ANY), seconds("2/1/1970", DAY_FIRST), seconds("2/1/1970", ANY)
    (86400.0, 86400.0, 86400.0, None)
    >>> seconds("1970-02", ANY) == seconds("Feb 1970", ANY) == seconds("1.2.1970", ANY)
    True
    >>> days = ("2. Jänner 1970", "2 de enero de 1970", "January 2nd, 1970", "Fri, 02 Jan 1970 01:00:00 +0100")
    >>> [seconds(text, ANY) for text in days]
    [86400.0, 86400.0, 86400.0, 86400.0]
    """
    if not 6 <= len(text) <= LONGEST or text.isdigit():
        return None
    if not (text[0].isdigit() or text[-1].isdigit() or text[-1] in "Mm.TC)"):  # mostly words; times may end so
        return None
    try:
        moment = _moment(text, form)
    except ValueError:
        return None
    if moment is None:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - EPOCH).total_seconds()


def _moment(text: str, form: str) -> datetime.datetime | None:
    """The moment in time of a date; None, or a ValueError, for another text."""
    if "/" in text and (parts := SLASHED.fullmatch(text)) is not None:
        if form == ANY:
            return None
        day, month = (parts["next"], parts["first"]) if form == MONTH_FIRST else (parts["first"], parts["next"])
        return _made(parts, int(day), int(month))
    for pattern in CLEAR:
        if (parts := pattern.fullmatch(text)) is not None:
            return _made(parts, int(parts["day"]), month_number(parts["month"]))
    month = first_of_month(text)
    if month is not None:
        return month
    return datetime.datetime.fromisoformat(text) if len(text) >= 8 else None


def _made(parts: re.Match[str], day: int, month: int) -> datetime.datetime:
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    if parts["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(f"{hour} is no hour of a half day")
        hour = hour % 12 + 12 * (parts["half"] in "Pp")
    fraction = int((parts["fraction"] or "").ljust(6, "0"))
    moment = datetime.datetime(_year(parts["year"]), month, day, hour, minute, second, fraction)
    zone = (parts["zone"] or "").replace(":", "")
    if zone[:1] not in ("+", "-"):
        return moment
    ahead = datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[3:]))
    return moment - ahead if zone[0] == "+" else moment + ahead


def _year(digits: str) -> int:
    """A year of four digits or of two."""
    year = int(digits)
    return year + (1900 if year >= CENTURY else 2000) * (len(digits) == 2)


LONGEST_UNIT = 4
"""Letters of the longest word beside a number that may be a unit or a code; longer ones are names, as of streets."""

LETTERS = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*")
"""A word, or an abbreviation with points."""

CODED = re.compile(r"[\w./:@+-]+|[^\W\d_]+\.?(?! (?:1[89]|2[01])\d\d$)[\s#:-]*\d+|[+(]?\d[\d\s()/-]{5,}")
"""Digits in what is no measurement: codes without blanks, names with a number such as Sample 12, telephone numbers."""

YEAR = re.compile(r"(?<!\d)(?:1[89]|2[01])\d\d(?!\d)")
"""Four digits that may be a year."""


def unread_value(texts: Iterable[str]) -> str:
    """The first of some texts if all look like numbers or dates of a form that is not known; else "".

    They hold digits beside at most one short word, or beside a month or a year, and are no codes.

    Examples
    --------
    >>> unread_value(["XYZ 12.50", "XYZ 7.10"]), unread_value(["24-Mar", "3-Apr"]), unread_value(["~5", "~7"])
    ('XYZ 12.50', '24-Mar', '~5')
    >>> unread_value(["lutego 1994", "czerwca 2001"])
    'lutego 1994'
    >>> unread_value(["A-17", "A-18"]), unread_value(["Sample 1", "Sample 2"]), unread_value(["9 Long Street", "~5"])
    ('', '', '')
    """
    first = ""
    for text in texts:
        if len(text) > LONGEST or not any(map(str.isdecimal, text)):
            return ""
        words = LETTERS.findall(text)
        month = any(_letters(word) in MONTHS for word in words)
        apart = len(words) > 1 or any(len(word) > LONGEST_UNIT for word in words)
        if not month and (CODED.fullmatch(text) or (apart and not YEAR.search(text))):
            return ""
        first = first or text
    return first
