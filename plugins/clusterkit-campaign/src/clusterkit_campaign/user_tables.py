"""Tables as people keep them: what is read, prepared and shown must be what they hold.

`TABLES` has an entry for each kind of table: a function of a random generator that makes one, and says what is wrong
with what the library made of it. A further kind is a further entry.
"""

from __future__ import annotations

import html
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from clusterkit._typing import Rng
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.estimators.build import recipe
from clusterkit.profiles import assign
from clusterkit.tables import Preparation, TableError, TableWarning, read_table
from clusterkit.tables.cells.parsing import number
from clusterkit.tables.reading.chunks import table_chunks
from clusterkit.testing import check_clusters
from clusterkit_campaign.findings import DOCUMENTED, SILENT, Problem, of_error

__all__ = ["TABLES", "check_table"]

MARKUP = (
    "#000000", "#222222", "#ffffff", "#cccccc", 'id="a"', 'href="#b"', "url(#c)", "font: 'x'", "$\\frac{$", "<b>",
    "&amp;", "2 clusters of 3 samples,", "{{ 7 }}", "currentColor",
)  # fmt: skip
"""Texts that a page, a style or a formula could take for its own."""

SHOWN = 32
"""Characters of a name that a picture shows."""

PICTURE = re.compile(r"<svg.*?</svg>", re.DOTALL)
"""A picture of a page."""

TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")
"""A text of a picture."""

CELL = re.compile(r"<t[hd][^>]*>([^<]*)<")
"""A text of a cell, up to the first tag in it."""

WORDS = ("None", "NA", "?", "-", "n/a", "null")
"""Texts that may be gaps, or levels."""

ROWS = 30
"""Rows of a table."""

GAPS = (["None"], ["broken"], ["inf", "-inf"])
"""Texts of gaps, of cells that cannot be read, and of infinite ones."""


def check_table(kind: str, counts: Counter[str], seed: int) -> list[tuple[Problem, str]]:
    """Make a table of a kind, and check its preparation; the problems with the programs that show them."""
    counts["tables"] += 1
    program = (
        "import numpy as np\nfrom clusterkit_campaign.user_tables import TABLES\n"
        f"print(list(TABLES[{kind!r}](np.random.default_rng({seed}))))"
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ClusterkitWarning)
            wrong = list(TABLES[kind](np.random.default_rng(seed)))
    except Exception as error:
        problem = of_error(error, documented=(*DOCUMENTED, TableError))
        return [] if problem is None else [(problem, program)]
    return [(Problem(SILENT, what, message), program) for what, message in wrong]


def _report(rng: Rng) -> Iterator[tuple[str, str]]:
    """Names and levels that look like markup are in the texts and the pictures of a report as they are in the table."""
    from clusterkit.report import make_report

    far = np.repeat([0.0, 9.0], ROWS // 2)
    texts = rng.permutation(MARKUP).tolist()
    of_levels, *levels = (text[: SHOWN // 3] for text in texts[:3])
    names = [" ".join(texts[i : i + 2])[:SHOWN] for i in range(3, len(texts), 2)]
    columns = {name: rng.normal(size=ROWS) + far for name in names}
    columns[of_levels] = np.where(far > 0, *levels)
    page, _ = make_report(columns, n_clusters=2, methods=["kmeans"])
    drawn = [html.unescape(text) for picture in PICTURE.findall(page) for text in TEXT.findall(picture)]
    written = [html.unescape(text).strip() for text in CELL.findall(PICTURE.sub("", page))]
    features = {*names, *(f"{of_levels}: {level}" for level in levels)}
    for place, wanted, shown in (
        ("a picture", features, drawn),
        ("the text of a report", features | {of_levels, *levels}, written),
    ):
        if not wanted <= set(shown):
            yield f"a text of the table is changed in {place}", f"{sorted(wanted - set(shown))} is not among {shown}"


def _workbook(rng: Rng) -> Iterator[tuple[str, str]]:
    """Merged cells and two rows of names change no cell of a table."""
    from openpyxl import Workbook

    parts = np.sort(rng.choice(np.arange(1, ROWS), int(rng.integers(1, 5)), replace=False)).tolist()
    bounds = list(zip([0, *parts], [*parts, ROWS], strict=True))
    groups = [f"part {i}" for i, (start, end) in enumerate(bounds) for _ in range(start, end)]
    numbers = np.round(rng.normal(size=(ROWS, 2)), 3) + 0.0  # turns -0 into 0
    two_rows, title = bool(rng.integers(2)), bool(rng.integers(2))
    book = Workbook()
    sheet = book.active
    if title:
        sheet.append(["a title"])
    if two_rows:
        sheet.append([None, "m", None])
    sheet.append(["g", "a", "b"])
    first = sheet.max_row + 1
    for group, row in zip(groups, numbers.tolist(), strict=True):
        sheet.append([group, *row])
    for start, end in bounds:
        if end - start > 1:
            sheet.merge_cells(start_row=first + start, end_row=first + end - 1, start_column=1, end_column=1)
    if two_rows and rng.integers(2):
        sheet.merge_cells(start_row=first - 2, end_row=first - 2, start_column=2, end_column=3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.xlsx"
        book.save(path)
        table = read_table(path)
        cells = table.cells()
    wanted = [[group, *(f"{value:g}" for value in row)] for group, row in zip(groups, numbers.tolist(), strict=True)]
    if [[row[0], *(f"{float(value):g}" for value in row[1:])] for row in cells] != wanted:
        yield "a sheet is read as another table", f"{cells[:3]} instead of {wanted[:3]}"
    names = ("g", "m a", "m b") if two_rows else ("g", "a", "b")
    if table.names != names:
        yield "a sheet has other names than it shows", f"{table.names} instead of {names}"


def _again(rng: Rng) -> Iterator[tuple[str, str]]:
    """Names that come again are told with their places, and are no rows, in texts, pieces of texts and sheets."""
    from openpyxl import Workbook

    numbers = np.round(rng.normal(size=(ROWS, 2)), 3) + 0.0
    names = [["m", ""], ["a", "b"]][int(rng.integers(2)) :]
    cuts = np.sort(rng.choice(np.arange(1, ROWS), int(rng.integers(1, 4)), replace=False)).tolist()
    rows = [*names]
    for start, end in zip([0, *cuts], [*cuts, ROWS], strict=True):
        rows += ([*names] if start else []) + numbers[start:end].tolist()
    lines = [str(i) for i, row in enumerate(rows, 1) if i > len(names) and row in names]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text, sheet = Path(folder) / "table.csv", Path(folder) / "table.xlsx"
        text.write_text("\n".join(",".join(map(str, row)) for row in rows))
        book = Workbook()
        for row in rows:
            book.active.append(row)
        book.save(sheet)
        for place, tables in (
            ("text", [read_table(text)]),
            ("pieces", table_chunks(str(text), rows=int(rng.integers(1, ROWS)))),
            ("sheet", [read_table(sheet)]),
        ):
            cells = [[number(cell, ".") for cell in row] for table in tables for row in table.cells()]
            if cells != numbers.tolist():
                yield f"names that come again are rows of a {place}", f"{len(cells)} of {ROWS} rows: {cells[:3]}"
    warned = [re.sub(r"[^\d ]", "", str(one.message).rpartition(":")[2]).split() for one in caught]
    if sum(its[: len(lines[:5])] == lines[:5] for its in warned if its) != 3:
        yield "names come again, and nothing says where", f"{lines}: {[str(one.message) for one in caught]}"


def _words(rng: Rng) -> Iterator[tuple[str, str]]:
    """A word that may be a gap is a level, or the paragraph says that it is a gap."""
    word = str(rng.choice(WORDS))
    levels = np.array([word, "some", "often"], dtype=object)
    cells = np.array([*levels, *rng.choice(levels, ROWS - 3)], dtype=object)
    other = np.round(rng.normal(size=ROWS), 3)
    choice = str(rng.choice(["auto", "level"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text("use,b\n" + "\n".join(f"{cell},{number}" for cell, number in zip(cells, other, strict=True)))
        table = read_table(path) if rng.integers(2) else {"use": cells, "b": other}
        fitted = Preparation(na=choice).fit(table)
    level = f"use={word}" in fitted.features
    if choice == "level" and not level:
        yield "a word is no level though that is asked for", f"{word!r}: {fitted.features}"
    if not level and f"written {word}: --na level" not in fitted.paragraph():
        yield "a word becomes a gap, and nothing says so", f"{word!r}: {fitted.paragraph()}"


def _sentences(rng: Rng) -> Iterator[tuple[str, str]]:
    """What is said of a table is what its cells say: gaps, words, infinite numbers, equal rows, measurements, hours."""
    from clusterkit.report.sentences import quality_of_cells

    gaps, words, infinite, twins = (int(rng.integers(least, most)) for least, most in ((0, 7), (0, 3), (1, 4), (0, 3)))
    places = np.split(rng.permutation(ROWS), np.cumsum([gaps, words, infinite]))
    cells = rng.normal(40.0, 5.0, ROWS).round(3).astype(str).astype(object)
    for rows, text in zip(places, ("", "broken", rng.choice(["inf", "-inf"])), strict=False):
        cells[rows] = text
    at_midnight = rng.random() < 0.5
    days = np.datetime64("2020-01-01T00:00:00") + rng.choice(2000, ROWS, replace=False) * np.timedelta64(86400, "s")
    days[: ROWS // 4 if at_midnight else ROWS] += np.timedelta64(22 * 3600 + 1210, "s")
    columns = {
        "a": np.array([cell or None for cell in cells], dtype=object),
        "b": rng.normal(size=ROWS).round(4),
        "radius": np.array([f"~{number}" for number in rng.permutation(ROWS)]),
        "when": days.astype(str).astype(object),
    }
    columns = {name: np.append(its, its[ROWS - twins :]) for name, its in columns.items()}
    gaps, words, infinite = (int(np.isin(columns["a"][: ROWS + twins].astype(str), its).sum()) for its in GAPS)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = Path(folder) / "table.csv"
        lines = [
            ",".join("" if cell is None else str(cell) for cell in row) for row in zip(*columns.values(), strict=True)
        ]
        path.write_text("\n".join([",".join(columns), *lines]) + "\n", encoding="utf-8")
        table = read_table(path)
        fitted = Preparation(as_number=("a",)).fit(table if rng.integers(2) else columns)
    warned = "\n".join(str(one.message) for one in caught if issubclass(one.category, TableWarning))
    n = ROWS + twins
    for count, words_of in (
        (infinite, f"infinite cells count as gaps: 'a' ({infinite} of {n})"),
        (words, f"cells that cannot be read count as gaps: 'a' ({words} of {n - gaps} are no number: 'broken')"),
        (1, "columns that look like numbers or dates are not used as such: 'radius' ("),
    ):
        if count and words_of not in warned:
            yield "a warning is not what the cells say, or is none", f"{words_of!r} is not in {warned!r}"
    detail = str(fitted.resolved()["gaps"])
    if gaps + words + infinite and f"'a': '{gaps + words + infinite}" not in detail:
        yield "gaps are not counted as they are in the cells", f"{detail} and {gaps}, {words}, {infinite}"
    equal = quality_of_cells(table, fitted.plans)
    if (f"{2 * twins} rows are equal to another row" in equal) != (twins > 0) or ("no row occurs" in equal) != (
        not twins
    ):
        yield "equal rows are not counted as they are in the cells", f"{equal!r} of {twins} twins"
    if at_midnight and any("hour" in name for name in fitted.features):
        yield "hours are a feature where most dates have none", f"{fitted.features}"


def _hide(part: Any, by_size: bool) -> None:
    """Hide a row or a column of a sheet, by its size or as spreadsheet programs do it."""
    if by_size:
        setattr(part, "width" if hasattr(part, "width") else "height", 0.1)
    else:
        part.hidden = True


def _hidden(rng: Rng) -> Iterator[tuple[str, str]]:
    """Rows and columns that a sheet does not show are told with their number, or left out."""
    from openpyxl import Workbook

    numbers = np.round(rng.normal(size=(ROWS, 3)), 3) + 0.0
    unseen, column = rng.random(ROWS) < rng.random(), int(rng.integers(4))
    unseen[0] &= column != 3  # something is hidden
    unseen[0] |= column == 3
    unseen[-1], by_size = False, bool(rng.integers(2))
    book = Workbook()
    sheet = book.active
    sheet.append(["a", "b", "c"])
    for i, row in enumerate(numbers.tolist()):
        sheet.append(row)
        if unseen[i]:
            _hide(sheet.row_dimensions[i + 2], by_size)
    if column < 3:
        _hide(sheet.column_dimensions["ABC"[column]], by_size)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.xlsx"
        book.save(path)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            whole = read_table(path)
        shown = read_table(path, hidden="drop")
    sentences = " ".join(str(one.message) for one in caught)
    if whole.n_rows != ROWS or not all(
        part in sentences
        for part in (
            f"{unseen.sum()} row" if unseen.any() else "",
            f"('{'abc'[column]}')" if column < 3 else "",
            "--hidden",
        )
    ):
        yield "hidden cells are read, and nothing says so", f"{unseen.sum()} rows, column {column}: {sentences}"
    left = np.delete(numbers[~unseen], column, axis=1) if column < 3 else numbers[~unseen]
    if [[float(cell) for cell in row] for row in shown.cells()] != left.tolist():
        yield "hidden cells are not left out though that is asked for", f"{shown.cells()[:3]} instead of {left[:3]}"


def _values(rng: Rng) -> Iterator[tuple[str, str]]:
    """An amount or a date in one of many forms is read as what it is, or it is told; it is no identifier."""
    amounts = 1000.0 + 7 * rng.permutation(ROWS)
    days = np.array(["1971-03-01"], dtype="datetime64[D]") + 400 * rng.permutation(ROWS)
    sign, form = str(rng.choice(MONEY)), str(rng.choice(FORMS))
    known = len(MONTHS) - ("%y" in form)  # of a language that is not known the year shows that it is a month
    language = MONTHS[int(rng.integers(known))].split()
    cells, wanted = list[str](), list[float]()
    for amount, day in zip(amounts.tolist(), days.tolist(), strict=True):
        name = language[day.month - 1]
        cells.append(form.format(amount, sign, day, name, name[:4] if len(name) > 4 else name))
        start = day if "%d" in form else day.replace(day=1)
        dated = "2:" in form
        wanted.append(start.toordinal() if dated else -amount if form[0] in "-(" or "-{0" in form else amount)
    if rng.random() < 0.2:
        cells = [cell.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")) for cell in cells]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = Preparation(scale="none").fit({"x": np.array(cells, dtype=object), "b": rng.normal(size=ROWS)})
    if any("'x'" in str(one.message) for one in caught):
        return
    if "x" in fitted.left_out or fitted.plans[0].name not in fitted.features:
        yield "a value is left out, and nothing says so", f"{cells[:2]}: {fitted.paragraph()}"
        return
    read = fitted.transform({"x": np.array(cells, dtype=object), "b": np.zeros(ROWS)})[:, 0]
    if not np.allclose(np.diff(read), np.diff(wanted)):
        yield "a value is read as another one", f"{cells[:2]}: {read[:2]} instead of {wanted[:2]}"


MONEY = (*"$€£¥₹₩₽₺₴₦₱₫₪฿₡₸", "SGD", "KRW", "INR", "XOF", "ZMW", "BHD", "CLP", "kr", "Rs.", "zł", "د.إ", "ر.س", "ريال")
"""Signs, codes and words of currencies."""

FORMS = (
    "{1} {0:,.2f}", "{1}{0:.0f}", "{0:.0f} {1}", "-{1} {0:.0f}", "({1} {0:.2f})", "{1}-{0:.0f}", "{0:.1f} (+1)",
    "[{0:.0f}]", "\u200e-{0:.0f}", "{0:.2f} {1}\u200f",
    "{0:.0f} ± 0.5", "{0:.0f} [a]", "{2:%d}. {3} {2:%Y}", "{2:%d} {4} {2:%Y}", "{3} {2:%d}th, {2:%Y}",
    "{2:%d} de {3} de {2:%Y}",
    "{2:%a, %d %b %Y} 00:00:00 +0000", "{4}. {2:%Y}", "{3} {2:%Y}", "{4}-{2:%y}", "~{0:.0f}", "{0:.0f} per 9",
)  # fmt: skip
"""Forms of an amount, its currency, a day, its month and the beginning of its month."""

MONTHS = (
    "January February March April May June July August September October November December",
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
)
"""Months in languages that the reader knows, and in one that it does not."""


def _components(rng: Rng) -> Iterator[tuple[str, str]]:
    """A mixture asked for more clusters than a table has groups has the same ones in labels, tables and assignments."""
    group, other = rng.integers(0, 3, ROWS), rng.normal(size=ROWS)
    table: Any = {"a": rng.normal(size=ROWS) + 6.0 * group, "b": other, "c": np.array(list("xyz"))[group]}
    model = recipe("mixture", n_clusters=int(rng.integers(ROWS // 2, ROWS)), random_state=0).fit(table)
    far = table | {"a": rng.uniform(-1e3, 1e3, ROWS), "b": rng.uniform(-30.0, 30.0, ROWS)}
    beside: Any = assign(model, far)
    certainty = np.asarray(beside["certainty"])
    try:
        check_clusters(model, table)
        shares = model.predict_proba(far)
        np.testing.assert_array_equal(certainty, shares[np.arange(ROWS), model.predict(far)], "certainty")
        np.testing.assert_array_equal(certainty, shares.max(axis=1), "largest probability")
    except AssertionError as error:
        yield "tables have other clusters than the labels", str(error)[:400]


def _drawn(rng: Rng) -> Iterator[tuple[str, str]]:
    """A picture of the table of the fit, with texts, days and gaps, has every row; that of a chain has every merge."""
    from matplotlib.figure import Figure

    from clusterkit import plots

    far = np.repeat([0.0, 9.0], ROWS // 2)
    length = rng.normal(size=ROWS) + far
    length[rng.integers(ROWS, size=int(rng.integers(3)))] = np.nan
    days = np.datetime64("2024-01-01") + rng.permutation(ROWS)
    table: Any = {
        "length": length,
        "width": rng.normal(size=ROWS) + far,
        "day": days,
        "town": np.where(far > 0, "Ulm", "Bonn"),
    }
    model = recipe("mixture", n_clusters=2, random_state=0).fit(table)
    for draw in (plots.clusters, plots.silhouette):
        try:
            ax: Any = draw(model, table, Figure().subplots())
        except InvalidData as error:
            yield f"{draw.__name__} refuses the table of the fit", str(error)
            continue
        points = sum(len(artist.get_offsets()) for artist in ax.collections)
        if draw is not plots.silhouette and points != ROWS:
            yield f"{draw.__name__} draws {points} of {ROWS} rows", ax.get_title(loc="left")


def _alike(rng: Rng) -> Iterator[tuple[str, str]]:
    """Columns say the same where one follows from the other, and not where they share far rows alone."""
    a, b = rng.normal(size=(2, ROWS))
    follows = rng.random() < 0.5
    b = rng.uniform(1.0, 9.0) * a - 3.0 if follows else b
    far = int(rng.integers(3))
    a[:far] = b[:far] = 10.0 ** rng.integers(3, 9)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Preparation().fit({"a": a, "b": b})
    if any("say the same" in str(one.message) for one in caught) != follows:
        yield "columns say the same, or not, where it is otherwise", f"{far} far rows, follows: {follows}"


TABLES: Mapping[str, Callable[[Rng], Iterator[tuple[str, str]]]] = MappingProxyType(
    {
        "workbook": _workbook, "words": _words, "sentences": _sentences, "report": _report, "pictures": _drawn,
        "components": _components, "hidden cells": _hidden,
        "forms of values": _values, "names again": _again, "alike": _alike,
    }
)  # fmt: skip
"""The kinds of tables by name."""
