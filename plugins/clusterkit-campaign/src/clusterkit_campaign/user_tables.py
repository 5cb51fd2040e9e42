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

import numpy as np

from clusterkit._typing import Rng
from clusterkit.errors import ClusterkitWarning
from clusterkit.tables import Preparation, TableError, TableWarning, read_table
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
    """Merged cells, two rows of names and cells far from the table change no cell of it."""
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
    if rng.integers(2):
        sheet.cell(int(rng.integers(first + ROWS + 1, 2000)), int(rng.integers(5, 200)), "a note")
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


def _infinite(rng: Rng) -> Iterator[tuple[str, str]]:
    """Infinite cells are told with their column and number, in numbers and in texts with decimal commas."""
    count = int(rng.integers(1, 6))
    values = rng.normal(size=ROWS)
    values[rng.choice(ROWS, count, replace=False)] = rng.choice([np.inf, -np.inf])
    if rng.integers(2):
        values = np.array([str(value).replace(".", ",") for value in values], dtype=object)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Preparation().fit({"a": values, "b": rng.normal(size=ROWS)})
    sentences = [str(one.message) for one in caught if issubclass(one.category, TableWarning)]
    if not any(f"infinite cells count as gaps: 'a' ({count} of {ROWS})" in text for text in sentences):
        yield "infinite cells become gaps, and nothing says so", str(sentences)


TABLES: Mapping[str, Callable[[Rng], Iterator[tuple[str, str]]]] = MappingProxyType(
    {"workbook": _workbook, "words": _words, "infinite cells": _infinite, "report": _report}
)
"""The kinds of tables by name."""
