"""Each file is read as it says itself, whatever the file of the fit said, and the options work on every command."""

import numpy as np
import pytest

pytest.importorskip("pandas")

from clusterkit.metrics import adjusted_rand

KMEANS = ("-k", 3, "-r", "kmeans")
GROUPS = np.arange(90) % 3


@pytest.fixture
def revenues():
    rng = np.random.default_rng(3)
    return np.array([1200, 5400, 9800])[GROUPS] + 90 * rng.normal(size=90), rng.normal(size=90) + 11 * GROUPS + 9


@pytest.fixture
def english(tmp_path, revenues):
    """Points before decimals, commas between cells."""
    path = tmp_path / "english.csv"
    path.write_text("rev,share\n" + "".join(f"{a:.2f},{b:.2f}\n" for a, b in zip(*revenues, strict=True)))
    return path


@pytest.fixture
def german(tmp_path, revenues):
    """Commas before decimals, semicolons between cells, points between thousands."""
    path = tmp_path / "german.csv"
    lines = (f"{a:,.2f};{b:.2f}\n".translate(str.maketrans(",.", ".,")) for a, b in zip(*revenues, strict=True))
    path.write_text("rev;share\n" + "".join(lines))
    return path


@pytest.fixture
def whole(tmp_path, revenues):
    """German thousands without decimals: nothing in the file says that the point is between thousands."""
    path = tmp_path / "whole.csv"
    lines = (f"{a:,.0f}".replace(",", ".") + f";{b:.0f}\n" for a, b in zip(*revenues, strict=True))
    path.write_text("rev;share\n" + "".join(lines))
    return path


def fitted(run, path, *options):
    """The model of a file, and its labels."""
    model, labels = path.with_suffix(".clusterkit"), path.with_suffix(".labels.csv")
    answer = run("fit", path, *KMEANS, "--save", model, "-o", labels, *options)
    assert answer.exit_code == 0, answer.output
    return model, labels.read_text()


class TestWholeThousands:
    def test_fit_and_predict(self, run, english, whole):
        model, labels = fitted(run, english)
        assert "'rev': '1." in run("fit", whole, *KMEANS).stderr
        assert "The option --decimal , " in run("predict", model, whole).stderr
        decided = run("fit", whole, *KMEANS, "--decimal", ",", "-o", "-")
        assert "'rev'" not in decided.stderr
        assert adjusted_rand(GROUPS, np.array(decided.stdout.split()[1:], dtype=int)) == 1.0
        answer = run("predict", model, whole, "--decimal", ",")
        assert (answer.stderr, answer.stdout) == ("", labels)

    def test_in_pieces(self, run, english, german, whole, monkeypatch):
        (model, labels), (of_commas, _) = fitted(run, english), fitted(run, german)
        monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "1K")
        assert "'rev': '1." in run("predict", model, whole).stderr
        assert run("predict", model, whole, "--decimal", ",").stdout == labels
        assert run("predict", of_commas, whole).stdout == labels


def test_an_option_says_what_no_cell_does(run, tmp_path):
    lines = [f"01/{1 + i % 12:02d}/2024,{i % 12 // 6 * 9 + 0.1 * i}\n" for i in range(96)]
    path = tmp_path / "months.csv"
    path.write_text("month,x\n" + "".join(lines))
    assert "'month': no day is above 12" in run("fit", path, *KMEANS).stderr
    for option, shown in (("--day-first", "2/3 is 2 March"), ("--month-first", "2/3 is February 3")):
        answer = run("fit", path, *KMEANS, option)
        assert answer.stderr == ""
        assert shown in answer.stdout


def test_labels_beside_the_data_are_no_feature(run, english, tmp_path):
    both = tmp_path / "both.csv"
    assert run("fit", english, *KMEANS, "-o", both, "--with-data").exit_code == 0
    again = run("fit", both, *KMEANS)
    assert "Left out: label (labels of clusters, by its name and values)" in again.stdout
    assert "columns    3 (rev, share, label)" in run("fit", both, *KMEANS, "--keep", "label").stdout


def test_a_table_in_another_sheet(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Made by the sales team"])
    book.active.append(["see the next sheet"])
    for row in [["a", "b"], *([i, i % 7] for i in range(20)), *([i, i % 5] for i in range(90, 99))]:
        (book["All data"] if "All data" in book.sheetnames else book.create_sheet("All data")).append(row)
    path, model = str(tmp_path / "t.xlsx"), str(tmp_path / "m.clusterkit")
    book.save(path)
    hint = "the file has another sheet: 'All data': choose one with --sheet 'All data'"
    assert hint in " ".join(run("fit", path, *KMEANS).stderr.split())
    assert run("fit", path, *KMEANS, "--sheet", "All data", "--save", model).exit_code == 0
    by_name, by_number = (run("fit", path, *KMEANS, "--sheet", sheet, "-o", "-").stdout for sheet in ("All data", "2"))
    assert by_name == by_number != ""
    assert hint in " ".join(run("predict", model, path).stderr.split())
