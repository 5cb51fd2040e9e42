"""Columns of one name on the command line: one of them can be used, the same one in new rows."""

import pytest

pytest.importorskip("pandas")


@pytest.fixture
def files(tmp_path, blobs):
    """A table with the columns a, a, its copy with the columns in another order, and one with a single a."""
    for name, header, order in (("fit.csv", "a,a,b", [0, 1, 1]), ("new.csv", "b,a", [1, 0])):
        lines = [",".join(map(str, row)) for row in blobs[:, order].tolist()]
        (tmp_path / name).write_text("\n".join([header, *lines]))
    return tmp_path


def test_one_of_them(run, files, error_of):
    model = files / "m.clusterkit"
    fitted = run("fit", files / "fit.csv", "-k", 3, "-r", "kmeans", "--drop", 2, "--save", model, "-o", "-")
    assert fitted.exit_code == 0, fitted.output
    assert run("predict", model, files / "fit.csv", "--drop", 2).stdout == fitted.stdout
    assert run("predict", model, files / "new.csv").stdout == fitted.stdout
    message = error_of(run("predict", model, files / "fit.csv"))
    assert "fit.csv has 2 columns named 'a', and the model uses one" in message
    assert "here they are called a, a.2" in message
