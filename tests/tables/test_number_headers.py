"""Headers of numbers, as years and pandas' own 0, 1, 2, ... are, and tables of numbers without a header."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from clusterkit.tables import Table, TableWarning, read_table
from clusterkit.tables.reading.chunks import table_chunks
from clusterkit.tables.reading.headers import first_row

pandas = pytest.importorskip("pandas", reason="needs pandas")

Made = Callable[[np.random.Generator], object]

TAKEN = "the first row .* is taken as the names of the columns, because .*; --no-header"


def numbers(rng: np.random.Generator, rows: int = 60, columns: int = 4) -> list[list[str]]:
    """Rows of decimals as texts."""
    return [[f"{value:.3f}" for value in row] for row in rng.normal(size=(rows, columns)).tolist()]


def read(rows: list[list[str]], header: bool | None = None) -> Table:
    """A table in commas."""
    return read_table(io.BytesIO("\n".join(map(",".join, rows)).encode()), header=header)


def texts(X: object) -> list[list[str]]:
    """The numbers of an array as %g writes them, which leaves out the decimals of whole ones."""
    return [[f"{value:g}" for value in row] for row in np.asarray(X).tolist()]


@pytest.mark.parametrize(
    "titles",
    [
        "2019,2020,2021,2022", "0,1,2,3", "1,2,3,4", "2000,2005,2010,2015", "400.5,401.0,401.5,402.0", "7,12,19,3",
        "10,20,40,80",
    ],
)  # fmt: skip
def test_numbers_above_decimals_are_names(titles: str) -> None:
    """Years, positions, wavelengths and whole numbers are names, with one notice that says how to refuse that."""
    rows = [titles.split(","), *numbers(np.random.default_rng(0))]
    with pytest.warns(TableWarning, match=TAKEN) as caught:
        table = read(rows)
    assert table.names == tuple(titles.split(","))
    assert (table.named, table.n_rows, len(caught)) == (True, 60, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(rows, header=False).n_rows == 61
        assert read(rows, header=True).n_rows == 60


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_what_pandas_writes_by_default(index: bool, whole: bool) -> None:
    """A frame without names of columns comes back with its numbers as names."""
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 30, (80, 5)) if whole else rng.normal(size=(80, 5))
    text = pandas.DataFrame(X).to_csv(index=index)
    with pytest.warns(TableWarning, match=TAKEN):
        table = read_table(io.BytesIO(text.encode()))
    assert table.names == (*["x1"] * index, "0", "1", "2", "3", "4")
    assert table.n_rows == 80


def test_an_empty_corner_and_words_beside_numbers() -> None:
    """Names of rows, an index that is not in order, a column of words: the numbers above the others are names."""
    rng = np.random.default_rng(2)
    body = numbers(rng, columns=2)
    order = rng.permutation(60)
    for label in (lambda i: f"row{i}", lambda i: str(order[i]), lambda i: f"2024-{i // 28 + 1:02d}-{i % 28 + 1:02d}"):
        with pytest.warns(TableWarning, match="because its first cell is empty"):
            table = read([["", "2019", "2030"], *([label(i), *row] for i, row in enumerate(body))])
        assert table.names == ("x1", "2019", "2030")
    with pytest.warns(TableWarning, match=TAKEN):
        table = read([["2019", "2020", "2021", "g"], *([*row, row[0], "u"] for row in body)])
    assert table.names == ("2019", "2020", "2021", "g")
    with pytest.warns(TableWarning, match=TAKEN):
        table = read([["city", "2019", "2020"], *([f"city{i}", *row] for i, row in enumerate(body[:30]))])
    assert table.names == ("city", "2019", "2020")
    with pytest.warns(TableWarning, match=TAKEN):
        table = read([["0", "1", "2"], *([*row, "red"] for row in body)])
    assert table.names == ("0", "1", "2")


MADE: dict[str, Made] = {
    "small whole": lambda rng: rng.integers(0, 10, (60, 4)).astype(np.float64),
    "large whole": lambda rng: rng.integers(0, 10_000, (60, 3)).astype(np.float64),
    "grades": lambda rng: rng.integers(1, 6, (60, 8)).astype(np.float64),
    "ranks": lambda rng: np.array([rng.permutation(4) + 1.0 for _ in range(60)]),
    "one decimal": lambda rng: np.round(rng.normal(5, 2, (60, 4)), 1),
    "log-normal": lambda rng: np.round(np.exp(rng.normal(5, 2, (60, 3))), 1),
    "sorted ids": lambda rng: np.sort(rng.integers(1, 1000, (60, 3)).astype(np.float64), axis=0),
    "numbered": lambda rng: np.column_stack([np.arange(1.0, 61), rng.integers(0, 10, (60, 3))]),
    "following": lambda rng: np.arange(60.0)[:, None] + np.arange(4.0),
    "random walk": lambda rng: np.round(np.cumsum(rng.normal(size=(60, 3)), axis=0), 2),
    "few": lambda rng: rng.integers(0, 10, (4, 4)).astype(np.float64),
    "sparse": lambda rng: (rng.random((60, 6)) < 0.1) * rng.integers(1, 5, (60, 6)).astype(np.float64),
}
"""Tables without a header."""


@pytest.mark.parametrize("name", MADE)
def test_tables_of_numbers_without_a_header_stay_data(name: str) -> None:
    """Of a hundred random tables none loses its first row."""
    for seed in range(100):
        assert not first_row(texts(MADE[name](np.random.default_rng(seed)))[:51]).named, (name, seed)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_known_tables_without_a_header_stay_data(load: Callable[..., object]) -> None:
    """Whatever row comes first, with the name of its class or without it."""
    bunch = load()
    X, y = bunch.data, bunch.target  # type: ignore[attr-defined] # scikit-learn has no types of its bunches
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = rng.permutation(len(X))[:51]
        plain = texts(X[rows])
        for body in (plain, [[*row, f"class{label}"] for row, label in zip(plain, y[rows], strict=True)]):
            assert first_row(body).named is False
            assert first_row(body).notice == ""


def test_a_series_that_begins_with_whole_numbers_stays_data() -> None:
    """The state of a simulation at its start is not the names of its columns."""
    t = np.linspace(0.0, 6.0, 61)
    assert first_row(texts(np.column_stack([t, np.cos(t) + 0.0, 2 + np.sin(t)]))[:51]).named is False
    assert first_row(texts(np.column_stack([t, np.cos(t)]))[:51]).named is False


def test_pieces_and_spreadsheets_have_the_same_names(tmp_path: Path) -> None:
    """A text in pieces is told of once, and cells of Excel that are numbers are names as texts are."""
    pytest.importorskip("openpyxl", reason="needs openpyxl")
    X = np.random.default_rng(4).normal(size=(40, 4))
    frame = pandas.DataFrame(X, columns=[2019, 2020, 2021, 2022])
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    with pytest.warns(TableWarning, match=TAKEN) as caught:
        pieces = list(table_chunks(str(tmp_path / "t.csv"), rows=15))
    assert len(caught) == 1
    assert [piece.n_rows for piece in pieces] == [15, 15, 10]
    with pytest.warns(TableWarning, match=TAKEN):
        sheet = read_table(tmp_path / "t.xlsx")
    assert sheet.names == pieces[0].names == ("2019", "2020", "2021", "2022")
    pandas.DataFrame(X).to_excel(tmp_path / "n.xlsx", index=False, header=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(tmp_path / "n.xlsx").n_rows == 40


@pytest.mark.parametrize("index", [True, False])
def test_dates_above_numbers_of_a_spreadsheet_are_names(index: bool, tmp_path: Path) -> None:
    """Months as Excel has them; above dates they are data."""
    pytest.importorskip("openpyxl", reason="needs openpyxl")
    X = np.random.default_rng(5).normal(size=(30, 3))
    months = pandas.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01"])
    pandas.DataFrame(X, columns=months).to_excel(tmp_path / "m.xlsx", index=index)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_table(tmp_path / "m.xlsx")
    assert table.names == (*["x1"] * index, "2024-01-01", "2024-02-01", "2024-03-01")
    assert table.n_rows == 30
    frame = pandas.DataFrame({"a": pandas.date_range("2024-01-05", periods=20), "b": X[:20, 0]})
    frame.to_excel(tmp_path / "d.xlsx", index=False, header=False)
    assert read_table(tmp_path / "d.xlsx").n_rows == 20
