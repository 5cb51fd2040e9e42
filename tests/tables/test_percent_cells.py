"""Cells of Excel that are formatted as percent are the numbers that its CSV has."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from clusterkit.estimators.preparing import fit_prepared
from clusterkit.tables import Preparation, read_table

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
SHARES = np.round(np.r_[RNG.normal(0.1, 0.01, 30), RNG.normal(0.4, 0.01, 30)], 3)
OTHER = np.round(RNG.normal(size=60), 2)


@pytest.fixture
def files(tmp_path):
    """The same table as Excel and as its CSV; the sheet has a title, an empty column and a gap."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([None, "shares of shops"])
    sheet.append([])
    sheet.append([None, "share", "size", "age"])
    rows = []
    for i, (share, size) in enumerate(zip(SHARES, OTHER, strict=True)):
        sheet.append([None, None if i == 7 else float(share), float(size), i % 7])
        sheet.cell(sheet.max_row, 2).number_format = "0%" if i % 2 else "0.0 %"
        rows.append(["" if i == 7 else f"{100 * share:.1f} %", size, i % 7])
    book.save(tmp_path / "shares.xlsx")
    with open(tmp_path / "shares.csv", "w", newline="") as file:
        csv.writer(file).writerows([["share", "size", "age"], *rows])
    return tmp_path / "shares.xlsx", tmp_path / "shares.csv"


def test_both_files_have_one_table(files):
    of_excel, of_csv = (read_table(path) for path in files)
    one, two = (Preparation().fit(table) for table in (of_excel, of_csv))
    assert one.resolved()["units"] == two.resolved()["units"] == {"share": "%"}
    np.testing.assert_allclose(one.transform(of_excel), two.transform(of_csv), rtol=1e-9)


def test_a_model_of_the_csv_labels_the_rows_of_excel(files, recwarn):
    from clusterkit import recipe

    of_excel, of_csv = (read_table(path) for path in files)
    model = recipe("kmeans", n_clusters=2, random_state=0)
    fit_prepared(model, of_csv)
    np.testing.assert_array_equal(model.predict(of_excel), model.labels_)
    assert not [one for one in recwarn if "%" in str(one.message)]


def test_other_formats_are_left_alone(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["share", "text"])
    for i in range(20):
        sheet.append([i / 20, f"{i} %"])
        sheet.cell(i + 2, 1).number_format = '0.00" %"'  # a sign only
    book.save(tmp_path / "a.xlsx")
    first, second = read_table(tmp_path / "a.xlsx").columns()
    assert first.kind == "number"
    assert second.values[3] == "3 %"
