"""Columns of one name on the command line: one of them can be used, the same one in new rows."""

from __future__ import annotations

import pytest

pytest.importorskip("pandas")


@pytest.fixture
def files(tmp_path, blobs):
    """A table with the columns a, a, its copy with the columns in another order, and one with a single a."""
    for name, header, order in (("fit.csv", "a,a,b", [0, 1, 1]), ("new.csv", "b,a", [1, 0])):
        lines = [",".join(map(str, row)) for row in blobs[:, order].tolist()]
        (tmp_path / name).write_text("\n".join([header, *lines]))
    return tmp_path


def test_used_twice(run, files, error_of):
    answer = run("fit", files / "fit.csv", "-k", 3)
    assert "fit.csv: the columns 1, 2 have one name, 'a'" in error_of(answer)


def test_one_of_them(run, files, error_of):
    model = files / "m.clusterkit"
    fitted = run("fit", files / "fit.csv", "-k", 3, "-r", "kmeans", "--drop", 2, "--save", model, "-o", "-")
    assert fitted.exit_code == 0, fitted.output
    assert run("predict", model, files / "fit.csv", "--drop", 2).stdout == fitted.stdout
    assert run("predict", model, files / "new.csv").stdout == fitted.stdout
    message = error_of(run("predict", model, files / "fit.csv"))
    assert "fit.csv has 2 columns named 'a', and the model uses one" in message
    assert "here they are called a, a.2" in message


def test_another_one_in_new_rows(run, files):
    model = files / "m.clusterkit"
    fitted = run("fit", files / "new.csv", "-k", 3, "-r", "kmeans", "--save", model, "-o", "-")
    (files / "old.csv").write_text("\n".join(["a,a,b", *["0," + line for line in _swapped(files)]]))
    assert run("predict", model, files / "old.csv", "--drop", 1).stdout == fitted.stdout


def _swapped(files):
    """The rows of new.csv with the column a before b."""
    rows = [line.split(",") for line in (files / "new.csv").read_text().split("\n")[1:]]
    return [f"{a},{b}" for b, a in rows]
