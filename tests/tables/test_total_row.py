"""A row of sums below a table and names that come again are told, and nothing else is taken for them."""

from __future__ import annotations

import io
import warnings

import numpy as np
import openpyxl
import pytest

from clusterkit.tables import Preparation, TableWarning, read_table

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


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_names_that_come_again_are_no_row(tmp_path, ending):
    """Files are put together with their headers."""
    lines = [["size", "kind"], *[[str(i), "ab"[i % 2]] for i in range(12)], ["size", "kind"], ["3", "a"]]
    path = tmp_path / f"t.{ending}"
    if ending == "csv":
        path.write_text("\n".join(map(",".join, lines)))
    else:
        book = openpyxl.Workbook()
        for line in lines:
            book.active.append(line)
        book.save(path)
    with pytest.warns(TableWarning, match=f"come again, in {'line' if ending == 'csv' else 'row'} 14; left out"):
        table = read_table(path)
    assert (table.n_rows, table.cells()[-1]) == (13, ["3", "a"])
    assert "15" in table.line_of(12)
