"""A row of sums below a table and names that come again are told, and nothing else is taken for them."""

from __future__ import annotations

import io
import warnings

import numpy as np
import openpyxl
import pytest

from clusterkit.tables import Preparation, TableWarning, read_table
from clusterkit.tables.reading.chunks import table_chunks

RNG = np.random.default_rng(0)
NAMES = [f"shop {i}" for i in range(30)]
SALES, STAFF = np.round(RNG.lognormal(5, 1, 30), 2), RNG.integers(1, 40, 30)


def content(last, sep=";"):
    rows = [f"{n}{sep}{a}{sep}{b}{sep}{a / b:.2f}" for n, a, b in zip(NAMES, SALES, STAFF, strict=True)]
    return "\n".join([sep.join(("shop", "sales", "staff", "each")), *rows, *([last] if last else [])]).encode()


def warned(table, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = Preparation(**settings).fit(table)
    return fitted, [str(one.message) for one in caught]


@pytest.mark.parametrize("word", ["Total", "SUM", "Summe:", "gesamt", "Grand Total"])
def test_a_total_is_told_and_stays(word):
    fitted, sentences = warned(read_table(io.BytesIO(content(f"{word};{SALES.sum():.2f};{STAFF.sum()};"))))
    assert fitted.rows == 31
    assert len(sentences) == 1
    assert f"the last row (row 31, '{word}') has the sums of the rows above in 'sales', 'staff'" in sentences[0]


@pytest.mark.parametrize(
    "last",
    [
        "",
        f"Total;{SALES.mean():.2f};{STAFF.mean():.2f};",  # no sums
        f"shop 31;{SALES.sum():.2f};{STAFF.sum()};",  # sums by another name
        "Total;;;",
        "Total;0;0;0",
    ],
)
def test_other_last_rows_are_not(last):
    assert not [text for text in warned(read_table(io.BytesIO(content(last))))[1] if "sums of the rows" in text]


def test_rounded_sums_and_amounts_in_texts():
    cells = [f"{value:,.2f} €" for value in SALES] + [f"{round(SALES.sum()):,} €"]
    table = {"shop": np.array([*NAMES, "Total"]), "sales": np.array(cells, dtype=object), "y": RNG.normal(size=31)}
    assert "in 'sales'" in warned(table)[1][0]


def test_a_table_in_blocks():
    table = {"shop": np.array([*NAMES, "Total"]), "sales": np.r_[SALES, SALES.sum()]}
    blocks = [{name: values[part] for name, values in table.items()} for part in (slice(0, 20), slice(20, 31))]
    with pytest.warns(TableWarning, match="'Total'"):
        Preparation().fit_blocks(blocks)


@pytest.mark.parametrize("rows_of_names", [[["size", "kind"]], [["m", ""], ["size", "kind"]]])
@pytest.mark.parametrize("ending", ["csv", "pieces", "xlsx"])
def test_names_that_come_again_are_no_row(tmp_path, ending, rows_of_names):
    """Files are put together with their headers, in quotes or not."""
    body = [[f"{i}.5", "ab"[i % 2]] for i in range(12)]
    lines = [*rows_of_names, *body, *rows_of_names, ["3", "a"]]
    path = tmp_path / f"t.{'xlsx' if ending == 'xlsx' else 'csv'}"
    if ending == "xlsx":
        book = openpyxl.Workbook()
        for line in lines:
            book.active.append([float(cell) if cell[:1].isdigit() else cell for cell in line])
        book.save(path)
    else:
        head, tail = ("\n".join(map(",".join, part)) for part in (lines[:-2], lines[-2:]))
        mark = "\ufeff" * (len(rows_of_names) == 1)
        path.write_text(f'{head}\n{mark}"size", {tail.removeprefix("size,")}', encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tables = list(table_chunks(str(path), rows=5)) if ending == "pieces" else [read_table(path)]
    line = 12 + len(rows_of_names) + 1
    where = f"in {'row' if ending == 'xlsx' else 'line'} {', '.join(map(str, range(line, line + len(rows_of_names))))};"
    assert sum(where in str(one.message) for one in caught) == 1
    assert [float(row[0]) for table in tables for row in table.cells()] == [*(i + 0.5 for i in range(12)), 3.0]
    assert {table.columns()[0].kind for table in tables} == {"number"}
    names = ("size", "kind") if len(rows_of_names) == 1 else ("m size", "m kind")
    assert {table.names for table in tables} == {names}
    assert tables[-1].line_of(0).startswith("row 11" if ending == "pieces" else "row 1 ")


def test_levels_in_the_first_row_are_no_names():
    assert read_table(io.BytesIO(b"y,n\nn,n\n" + b"y,y\nn,y\ny,n\n" * 3)).n_rows == 11


def test_a_row_like_names_that_a_user_chose_is_data():
    assert read_table(io.BytesIO(b"0,1\n" * 9), header=True).n_rows == 8
