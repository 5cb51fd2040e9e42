"""Columns as people have them, by the command line: marks, blank rows, names with commas, files without names."""

import numpy as np
import pytest

pytest.importorskip("pandas", reason="text that is not plain numbers is read by pandas")

KMEANS = ("-r", "kmeans", "-k", "2", "-o", "-")


@pytest.fixture
def write(tmp_path):
    def writer(name, **columns):
        names = ",".join(f'"{column}"' for column in columns)
        rows = "\n".join(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))
        path = tmp_path / name
        path.write_text(f"{names}\n{rows}\n", encoding="utf-8")
        return str(path)

    return writer


RNG = np.random.default_rng(0)
SHARES = np.round(np.r_[RNG.normal(10, 1, 20), RNG.normal(40, 1, 20)], 1)
OTHER = np.round(RNG.normal(size=40), 2)


def test_names_with_commas(run, write):
    path = write("a.csv", **{"a,b": SHARES, "c": range(40), "d, e": range(100, 140)})
    for options in (("--keep", "d, e", "--keep", "c"), ("--keep", '"d, e",c'), ("--keep", "c", "--keep", '"d, e"')):
        answer = run("fit", path, "-r", "kmeans", "-k", "2", *options)
        assert "3 of 3 columns used" in answer.stdout
    answer = run("fit", path, "-r", "kmeans", "-k", "2", "--drop", "a,b", "--keep", "c")
    assert "1 of 3 columns used" in answer.stdout
    assert "A name with a comma" in run("fit", "--help").stdout


def test_a_file_of_words_without_names(run, write, tmp_path):
    model = str(tmp_path / "m.clusterkit")
    words = np.array(["x", "y"] * 20)
    labels = run("fit", write("a.csv", p=words, q=words[::-1]), *KMEANS, "--save", model).stdout
    path = tmp_path / "bare.csv"
    path.write_text("x,y\ny,x\n")
    answer = run("predict", model, str(path))
    assert "none of the 2 columns that the model was fitted on (p, q); the names in it are x, y" in answer.stderr
    assert answer.exit_code == 2
    assert "add --no-header" in answer.stderr
    assert run("predict", model, str(path), "--no-header").stdout.split() == labels.split()[:3]


def test_names_that_are_all_in_another_case(run, write, tmp_path):
    model = str(tmp_path / "m.clusterkit")
    run("fit", write("a.csv", share=SHARES, b=OTHER), *KMEANS, "--save", model)
    answer = run("predict", model, write("new.csv", SHARE=SHARES, B=OTHER))
    assert "'SHARE' for 'share', 'B' for 'b': write them as in the fit" in " ".join(answer.stderr.split())
    assert "--no-header" not in answer.stderr
    assert answer.exit_code == 2


def test_a_table_in_another_sheet(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("pandas")
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


def test_a_name_in_another_case(run, write, tmp_path):
    model = str(tmp_path / "m.clusterkit")
    run("fit", write("a.csv", Share=SHARES, b=OTHER), *KMEANS, "--save", model)
    answer = run("predict", model, write("b.csv", share=SHARES, b=OTHER))
    assert "it has 'share', but not 'Share'" in answer.stderr
