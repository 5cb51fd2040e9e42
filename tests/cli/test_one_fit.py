"""One fit gives labels, how certain they are, a model and a page, and the model gives them again."""

import csv

import numpy as np
import pytest

from clusterkit.estimators.base import FittedAttributes

KMEANS = ("-r", "kmeans", "-k", 3, "--drop", "id")


@pytest.fixture
def fits(monkeypatch):
    """Solvers that were fitted to all thirty rows, in order."""
    solvers, fitted = [], FittedAttributes._set_fitted

    def count(self, fit, *rest):
        if len(fit.labels) == 30:
            solvers.append(str(self.solver).partition("(")[0])
        return fitted(self, fit, *rest)

    monkeypatch.setattr(FittedAttributes, "_set_fitted", count)
    monkeypatch.setattr("clusterkit.report.analysis.RIVALS", ("kmeans", "genie"))
    monkeypatch.setattr(
        "clusterkit.report.page.pictures", lambda analysis: {"map": "", "sizes": ""}
    )  # they take most of the time
    return solvers


def cells(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_nothing_is_fitted_twice(run, table, tmp_path, fits, write, error_of):
    pytest.importorskip("jinja2", reason="a report needs jinja2")
    model, page, labels = (tmp_path / name for name in ("m.clusterkit", "page.html", "l.csv"))
    answer = run("fit", table, *KMEANS, "-o", labels, "--certainty", "--save", model, "--report", page)
    assert (answer.exit_code, answer.stderr, fits) == (0, "", ["centroids", "Mst"])
    assert f"report in  {page}" in answer.stdout
    verdict = "into 3 clusters, as asked for, of 10, 10 and 10 rows, found by the method kmeans"
    assert verdict in page.read_text()
    fits.clear()
    again = tmp_path / "again.html"
    answer = run("report", table, "--model", model, "-o", again)
    assert (answer.exit_code, answer.stderr, fits) == (0, "", ["Mst"])
    assert verdict in again.read_text()
    assert run("predict", model, table, "-o", tmp_path / "p.csv", "--certainty").exit_code == 0
    assert cells(tmp_path / "p.csv") == cells(labels)
    other = write("other.csv", "\n".join(table.read_text().splitlines()[:21]))
    answer = run("report", other, "--model", model, "-o", again)
    assert "the rows are not those of the fit, and their clusters are predicted" in answer.stderr
    assert "20 rows" in answer.stdout
    for words, message in (
        (("report", table, "-o", page, "--model", model, "-k", 3), "are those of the model"),
        (
            ("report", write("one.csv", "height,width\n1,2"), "-o", page, "--model", model),
            "all rows are in one cluster",
        ),
        (("report", table, "-o", "-"), "a report needs a file; standard output (-) takes labels only"),
    ):
        assert message in error_of(run(*words))


def test_certainty_is_written_after_the_labels(run, table, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "l.parquet"
    assert run("fit", table, *KMEANS, "-o", path, "--certainty", "--with-data").exit_code == 0
    frame = pandas.read_parquet(path)
    assert [*frame] == ["id", "height", "width", "label", "certainty", "distance"]
    assert frame["label"].dtype.kind == "i"
    assert frame["certainty"].eq(1.0).all()
    assert np.isclose(frame["distance"].groupby(frame["label"]).median(), 1.0, atol=1e-4).all()
