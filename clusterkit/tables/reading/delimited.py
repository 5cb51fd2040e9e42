"""Text with a delimiter: CSV, TSV, and numbers between spaces.

pandas reads the cells; here are the questions that it leaves open: which delimiter, whether there is a header, which
mark stands before decimals.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import attrs
import numpy as np

from clusterkit.errors import TableError, counted, need
from clusterkit.tables.cells import parsing
from clusterkit.tables.cells.column_names import NAMES_SHOWN, numbered, shared_names, unique
from clusterkit.tables.cells.text_counts import marks_in
from clusterkit.tables.reading.frames import na_options, word_columns
from clusterkit.tables.reading.headers import (
    PREVIEW,
    FirstRow,
    first_row,
    is_again,
    is_value,
    may_repeat,
    tell_of_first_row,
    tell_of_repeats,
)
from clusterkit.tables.reading.table import Table

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

SAMPLE = 1000
"""Number of rows from which codes and the mark before decimals are detected."""

SEPARATOR_LINE = re.compile(r'"?sep=([^\n"])"?\n', re.IGNORECASE)
"""The first line of texts that spreadsheets write and read with a delimiter of their own."""

BETWEEN_APOSTROPHES = re.compile(r"(?:^|[,;\t|])\s*'[^']*'\s*(?=[,;\t|]|$)")
"""A cell between apostrophes."""

FIRST = "\t;|"
"""Delimiters that hardly occur inside a cell, as commas and blanks do."""

MARKS = frozenset(",;\t|")
"""Delimiters. Where one stands between blanks in every row, they belong to it."""

FEWEST_EQUAL = 0.8
"""Share of rows that a delimiter must cut into the same number of cells."""

AT_ONCE = 2**20
"""Characters in which names that come again are looked for at once."""

LONGEST_NAME = 80
"""Characters of a column name that the error about a table without rows shows."""

"""Advice where pandas is missing."""


@attrs.frozen
class Form:
    """Detected format of a text.

    Parameters
    ----------
    title : str
        The name in messages.
    sep : str
        Between the cells.
    names : list of str
    named : bool
        Whether the names are from the first row.
    skip : int
        Lines before the first one that may have data.
    decimal : {".", ","} or None
    texts : list of int
        Columns that stay texts: codes such as 007, and numbers that pandas would read with the wrong mark.
    shared : dict of str to str
        Unique name to name in the table, from `clusterkit.tables.cells.column_names.shared_names`.
    decimal_marks : dict of str to str
        Columns with another mark before the decimals than `decimal`.
    orders : dict of str to str
        The order of day and month between slashes, by column, where the first rows show it.
    lead : int
        Lines of words before the table, which are left out.
    records : int
        Rows before the first one that may have data; fewer than `skip` where a quoted name has several lines.
    words : list of int
        Columns of words, in which NA may be one.
    quote : {'"', "'"}
        Around cells.
    header : sequence of list of str
        Rows of names, which are left out where they come again.
    notice : str
        Notice to the user about the first row.
    """

    title: str
    sep: str
    names: list[str]
    named: bool
    skip: int
    decimal: str | None
    texts: list[int]
    shared: dict[str, str]
    decimal_marks: dict[str, str]
    orders: dict[str, str]
    lead: int = 0
    records: int = 0
    words: list[int] = attrs.field(factory=list)
    notice: str = ""
    quote: str = '"'
    header: Sequence[Sequence[str]] = ()

    @property
    def as_text(self) -> list[int] | None:
        """Columns that are read as texts; None: all."""
        return None if self.decimal == "," else self.texts

    def table(self, frame: object, offset: int | None = None) -> Table:
        """The table of a data frame with the cells of the text, or of a piece of it after so many rows."""
        return Table(
            self.title, frame, tuple(self.names), self.named, decimal=self.decimal, shared=self.shared,
            decimal_marks=self.decimal_marks, orders={} if offset is None else self.orders, offset=offset,
        )  # fmt: skip


def read_delimited(
    text: str, title: str, delimiter: str | None, header: bool | None, decimal: str | None, notes: tuple[str, ...] = ()
) -> Table:
    """A table in delimited text.

    Parameters
    ----------
    text : str
        The content of the file, with line ends of one kind.
    title : str
        The name in messages.
    delimiter : str or None
        Detected if None.
    header : bool or None
        Whether the first row has names; detected if None.
    decimal : str or None
        The mark before the decimals; detected if None.
    notes : tuple of str
        Notices about the file.

    Raises
    ------
    TableError
        If it is no table: empty, without rows of data, or with rows of different lengths.
    """
    form = form_of(text, title, delimiter, header, decimal)
    tell_of_first_row(form.notice)
    once = NamedOnce(io.StringIO(text), form)
    text = "".join(iter(lambda: once.read(AT_ONCE), ""))
    tell_of_repeats(title, once.places, "line")
    reader = _CellReader(text, form)
    if form.lead:
        notes = (*notes, f"{counted(form.lead, 'line')} before the table left out")
    return attrs.evolve(form.table(reader.frame()), notes=notes, line_of=reader.place, raw=reader.cells)


def form_of(text: str, title: str, delimiter: str | None, header: bool | None, decimal: str | None) -> Form:
    """Delimiter, names and decimals of a text, or of its first lines; parameters and errors of `read_delimited`."""
    separator_line = SEPARATOR_LINE.match(text)
    sep = delimiter or (separator_line[1] if separator_line else "")
    quote = _quote(text)
    sep = sep or ("\t" if ".tsv" in Path(title.lower()).suffixes else _delimiter(text, quote))
    try:
        sample = list(_rows(text, sep, SAMPLE + 1, quote=quote))
    except csv.Error as error:
        raise TableError(f"{title} is no delimited text: {error}") from None
    if not sample:
        raise TableError(f"{title} is empty")
    lead = _lead([row for _, row in sample[bool(separator_line) :]]) + bool(separator_line)
    sample = sample[lead:]
    if not sample:
        raise TableError(f"{title} has no row of data")
    preview = [row for _, row in sample[: PREVIEW + 1]]
    first = first_row(preview) if header is None else FirstRow(header)
    named, head = first.named, first.rows
    titles = list(first.names) or preview[0]
    names = unique(titles) if named else numbered(len(titles))
    rows_of_names = may_repeat([row for _, row in sample[:head]], chosen=bool(header))
    body = [row for _, row in sample[head:] if not is_again(row, rows_of_names)]
    if not body:
        shown = ", ".join(name[:LONGEST_NAME] for name in names[:NAMES_SHOWN])
        raise TableError(f"{title} has no row of data, only the names {shown}")
    if len(body[0]) == len(names) + 1 and all(len(row) == len(body[0]) and not row[-1].strip() for row in body):
        names = unique([*names, ""])  # every row ends with a delimiter, the header does not
    shared = shared_names(titles, names) if named else {}
    signs = [sign for sign in ".," if sign != sep or quote in text]
    rows = (row for _, row in _rows(text, sep, quote=quote))
    seen = marks_in(islice(rows, lead + head, None), len(names), SAMPLE, more=any(sign in text for sign in signs))
    mark = decimal or seen.of_table
    decimal_marks = {} if decimal else seen.of_columns(mark)
    texts = [
        j
        for j in range(len(names))
        if any(len(row) > j and parsing.is_code(row[j].strip()) for row in body)
        or decimal_marks.get(j) == ","
        or (mark is None and j in seen.open)
    ]
    orders = {name: _order(row[j].strip() for row in body if len(row) > j) for j, name in enumerate(names)}
    return Form(
        title, sep, names, named, sample[max(head - 1, 0)][0] - (not named), mark, texts, shared,
        {names[j]: its for j, its in decimal_marks.items()}, {name: order for name, order in orders.items() if order},
        lead - bool(separator_line), _records(text, sep, sample[max(head - 1, 0)][0], quote) - (not named),
        word_columns(body, len(names), is_value), first.notice and f"{title}: {first.notice}", quote,
        rows_of_names,
    )  # fmt: skip


class NamedOnce:
    """A file of text with blank lines in place of those that have the names of the columns again.

    A blank line is no row, and the others keep their numbers.

    Parameters
    ----------
    file : text file
    form : Form
    """

    def __init__(self, file: TextIO, form: Form) -> None:
        self.file, self.form, self.line = file, form, 1
        self.places: list[int] = []

    def read(self, size: int) -> str:
        """The next lines, of about so many characters; "" at the end."""
        block = self.file.read(size) + self.file.readline()
        lines = block.split("\n")
        signs = [max(row, key=len) for row in self.form.header]
        # a search of the block costs little beside its lines, which few texts need
        for i, line in enumerate(lines if any(sign in block for sign in signs) else (), self.line):
            if i <= self.form.skip or not any(sign in line for sign in signs):
                continue
            # files that are put together may have a mark at their beginning
            rows = _rows(line.removeprefix("\ufeff"), self.form.sep, quote=self.form.quote)
            if any(is_again(row, self.form.header) for _, row in rows):
                lines[i - self.line] = ""
                self.places.append(i)
        self.line += len(lines) - 1
        return "\n".join(lines)


def _lead(rows: list[list[str]]) -> int:
    """Number of rows before the table: titles and remarks of one filled cell, where all rows after them are longer."""
    if not rows or not any(cell.strip() for cell in rows[0]):
        return 0
    width, _ = Counter(len(row) for row in rows[:PREVIEW]).most_common(1)[0]
    lead = next((i for i, row in enumerate(rows[:PREVIEW]) if not _is_title(row, width)), 0)
    after = rows[lead : lead + PREVIEW]
    if len(after) < 2 or not all(len(row) == width for row in after):
        return 0
    if any(len(row) == width for row in rows[:lead]):  # may be a header of one name, unless another one follows
        names = [cell.strip() for cell in after[0]]
        return lead if all(name and not is_value(name) for name in names) else 0
    return lead


def _is_title(row: list[str], width: int) -> bool:
    """Whether a row is a title above a table of this width: shorter than its rows, or filled up with empty cells."""
    if any(cell.strip() for cell in row[1:]):
        return False
    return len(row) < width or (width > 2 and not (row[0].strip() and is_value(row[0])))


def _order(texts: Iterator[str]) -> str | None:
    """The order of day and month that a column shows by its dates between slashes."""
    return parsing.date_order(Counter(text for text in texts if "/" in text))


def pandas_options(form: Form) -> dict[str, object]:
    """Arguments with which `pandas.read_csv` reads a text of this form."""
    single = len(form.names) == 1
    return {
        "sep": r"\s+" if form.sep == " " else form.sep,
        "quotechar": form.quote,
        "header": None,
        "names": range(len(form.names)),
        "index_col": False,
        "skiprows": form.records,
        "skipinitialspace": True,
        **na_options(len(form.names), form.words),
        "low_memory": False,
        "dtype": str if form.as_text is None else dict.fromkeys(form.as_text, str),
        # in a single column an empty line is a gap; skipping it would shift the rows
        "skip_blank_lines": not single,
    }


class _CellReader:
    """Reads the cells of a text whose form is known.

    Parameters
    ----------
    text : str
    form : Form
    """

    def __init__(self, text: str, form: Form) -> None:
        self.text, self.form = text, form
        self.source = io.StringIO(text.rstrip("\n") + "\n" if len(form.names) == 1 else text)
        self.title, self.sep, self.names, self.skip = form.title, form.sep, form.names, form.skip

    def frame(self) -> pandas.DataFrame | dict[str, NDArray[np.float64]]:
        """The cells by pandas; the columns `Form.as_text`, or all if it is None, stay texts.

        Without pandas a table of plain numbers is read by numpy.
        """
        try:
            import pandas
        except ImportError:
            return self._plain_numbers()
        single = len(self.names) == 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pandas.errors.ParserWarning)
                warnings.simplefilter("ignore", pandas.errors.DtypeWarning)
                options = cast("dict[str, Any]", pandas_options(self.form))
                frame = pandas.read_csv(self.source, **options)
        except (pandas.errors.ParserError, pandas.errors.ParserWarning, ValueError) as error:
            self._check_widths()
            raise TableError(f"{self.title} is no table: {error}") from None
        except pandas.errors.EmptyDataError:
            raise TableError(f"{self.title} has no row of data") from None
        if not single and frame.iloc[:, -1].isna().any():
            self._check_widths()  # pandas fills short rows with gaps
        frame.columns = self.names
        return frame

    def _plain_numbers(self) -> dict[str, NDArray[np.float64]]:
        blank = None if self.sep == " " else self.sep
        try:
            if self.form.as_text != []:
                raise ValueError("not plain")
            rows = np.loadtxt(
                self.source, delimiter=blank, quotechar=self.form.quote, comments=None, skiprows=self.skip, ndmin=2
            )
            return dict(zip(self.names, rows.T, strict=True))
        except ValueError:
            self._check_widths()
            need("pandas", f"{self.title}: reading text that is not plain numbers", "tables")
            raise

    def cells(self) -> list[list[str]]:
        """All cells as texts of the file, row by row."""
        return [[*row, *[""] * (len(self.names) - len(row))] for _, row in self._body()]

    def place(self, row: int) -> str:
        """The number of a row, and its line."""
        for number, (line, _) in enumerate(self._body()):
            if number == row:
                return f"row {row + 1} (line {line})"
        return f"row {row + 1}"

    def _body(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of each row of data."""
        rows = _rows(self.text, self.sep, blank_too=len(self.names) == 1, quote=self.form.quote)
        try:
            for line, row in rows:
                if line > self.skip:
                    yield line, row
        except csv.Error as error:
            raise TableError(f"{self.title} is no delimited text: {error}") from None

    def _check_widths(self) -> None:
        """Raise the error about the first row with more or fewer cells than there are names."""
        for number, (line, row) in enumerate(self._body(), 1):
            if len(row) != len(self.names):
                cells = counted(len(row), "cell")
                raise TableError(f"{self.title}: row {number} (line {line}) has {cells} instead of {len(self.names)}")


def _rows(
    text: str, delimiter: str, most: int | None = None, *, blank_too: bool = False, quote: str
) -> Iterator[tuple[int, list[str]]]:
    """Number of the last line, and cells, of each row that is not blank, of at most `most` rows."""
    lines = io.StringIO(text.rstrip("\n") if blank_too else text)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, quotechar=quote)
    for row in reader:
        if blank_too or (row and (len(row) > 1 or row[0].strip())):
            yield reader.line_num, [cell for cell in row if cell] if delimiter == " " else row
            most = None if most is None else most - 1
            if most == 0:
                return


def _records(text: str, delimiter: str, line: int, quote: str) -> int:
    """Number of rows, with blank ones, up to the one that ends on a line; a quoted cell may have several lines."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True, quotechar=quote)
    return next(count for count, _ in enumerate(reader, 1) if reader.line_num >= line)


def _quote(text: str) -> str:
    """The character around cells: an apostrophe if each of the first lines has a cell between two, else a quote.

    The line of names, the first one, need not have such a cell.
    """
    lines = [line for line in islice(io.StringIO(text), PREVIEW) if line.strip()]
    if not lines or any('"' in line for line in lines):
        return '"'
    return "'" if all(BETWEEN_APOSTROPHES.search(line.rstrip("\n")) for line in lines[1:] or lines) else '"'


def _delimiter(text: str, quote: str) -> str:
    """The delimiter that cuts all of the first rows into the same number of cells; if none does, most of them.

    If several do, tabs, semicolons and bars come first, as between them commas may stand before decimals; then the one
    that cuts into most cells. Blanks stand between words too: they delimit only where every row has the same number of
    cells, or most rows have and all their cells are numbers.
    """
    best, most = ",", (False, False, FEWEST_EQUAL, 1)
    for mark in ",;\t| ":
        try:
            widths = Counter(len(row) for _, row in _rows(text, mark, PREVIEW, quote=quote))
        except csv.Error:  # a cell longer than the reader takes; another delimiter may cut it
            continue
        if not widths:
            continue
        width, rows = widths.most_common(1)[0]
        share = rows / sum(widths.values())
        rank = (share == 1.0, share == 1.0 and mark in FIRST, share, width)
        if width > 1 and rank > most and (mark != " " or _between_blanks(text, width, quote)):
            best, most = mark, rank
    return best


def _between_blanks(text: str, width: int, quote: str) -> bool:
    """Whether blanks delimit cells, and do not only stand between the words of sentences."""
    rows = [row for _, row in _rows(text, " ", SAMPLE, quote=quote)]
    if all(any(cell in MARKS for cell in row) for row in rows):
        return False
    if all(len(row) == width for row in rows):
        return True
    return all(is_value(cell) for row in rows[1:] if len(row) == width for cell in row)
