"""Explanations: the column that was planted decides, exact terms are those of the formulas."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.cluster import KMeans

import clusterkit
from clusterkit.cli import app
from clusterkit.errors import InvalidParameter, TableWarning

NUMBERS = {"kmeans": 2, "mixture": 2, "hdbscan": None, "svc": None, "ncut": 2, "auto": None}
"""Numbers of clusters that recipes are given; "auto" is fitted to a table with a category and gaps."""


def _planted():
    """Rows of two clusters that the column x1 alone separates, and the same beside a category, with gaps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    X[:, 1] += np.repeat([0, 12], 40)
    table = {f"x{j}": X[:, j].copy() for j in range(3)}
    table["town"] = np.array(["Ulm", "Bonn"], dtype=object)[rng.integers(0, 2, 80)]
    table["x0"][::9], table["town"][::7] = np.nan, None
    return X, table


@pytest.mark.parametrize("name", NUMBERS)
def test_a_column_that_alone_separates_the_clusters_comes_first_also_after_saving(name, tmp_path):
    rows = _planted()[name == "auto"]
    model = clusterkit.recipe(name, random_state=0).set_params(n_clusters=NUMBERS[name]).fit(rows)
    answer = clusterkit.explain(model, rows)
    assert {(one.columns[0].column, one.columns[0].contribution > 0) for one in answer.rows} == {("x1", True)}
    assert [one.label for one in answer.rows] == model.labels_.tolist()
    assert {one.how for one in answer.rows} == {"exact" if name in ("kmeans", "mixture", "auto") else "by removal"}
    if hasattr(model, "predict"):
        np.testing.assert_allclose([one.certainty for one in answer.rows], clusterkit.assign(model, rows)["certainty"])
    assert "sd below cluster 1" in answer[0].sentence
    model.save(tmp_path / "m.clusterkit")
    again = clusterkit.explain(clusterkit.load(tmp_path / "m.clusterkit"), rows)
    assert again.to_frame().equals(answer.to_frame())


@pytest.mark.parametrize("method", ["diag", "tied", "full", "mixture", "kmeans"])
def test_terms_are_differences_of_log_likelihoods_or_of_squared_distances(method):
    X, table = _planted()
    model = clusterkit.recipe("kmeans" if method == "kmeans" else "mixture", n_clusters=2, random_state=0)
    of_columns = method in ("diag", "tied", "full")
    if of_columns:
        model.set_params(featuremap="columns", solver="mixed_mixture", labeler="auto", n_init=1)
        model.set_params(solver__covariance=method, solver__roles=False)
    rows = table if of_columns else X
    model.fit(rows)
    with np.errstate(divide="ignore"):
        scores = -np.square(model.transform(rows)) if method == "kmeans" else np.log(model.predict_proba(rows))
    for i, one in enumerate(clusterkit.explain(model, rows).rows):
        terms = {its.column: its.contribution for its in one.columns}
        pair = [one.label, one.other]
        assert sum(terms.values()) + one.rest == pytest.approx(np.subtract(*scores[i, pair]))
        if of_columns:
            mixture, point = model.outcome_.extend.model, model.outcome_.extend.transform(model._rows_of(table))[i]
            spreads = [mixture.spreads[c % len(mixture.spreads)] for c in pair]
            variances = spreads if method == "diag" else [np.diag(spread) for spread in spreads]
            for j in range(3):
                logarithms = [
                    norm.logpdf(point[j], mixture.means[c, j], np.sqrt(v[j])) - 0.5 * mixture.grid[j] / v[j]
                    for c, v in zip(pair, variances, strict=True)
                ]
                assert terms[f"x{j}"] == pytest.approx(np.nan_to_num(np.subtract(*logarithms)))


def test_a_single_row_is_explained_in_the_units_of_its_table_and_what_cannot_be_is_an_error():
    X, table = _planted()
    table["x1"] = [f"{value:.1f} mm" for value in table["x1"]]
    model = clusterkit.Auto(2, random_state=0).fit(table)
    one, other = clusterkit.explain(
        model, [{"x0": 0.1, "x1": "0.5 mm", "x2": 0}, {"x1": "12.5 mm", "town": "Ulm"}]
    ).rows
    assert one.columns[0].text.startswith("x1 0.5 mm is ")
    assert next(its.text for its in one.columns if its.column == "town").startswith("town is missing, as in 1")
    assert (one.label, one.other) == (other.other, other.label)
    with pytest.warns(TableWarning, match="no value"):  # gaps and a new level, without rows beside
        [alone] = clusterkit.explain(model, {"x0": None, "x1": "12.5 mm", "x2": None, "town": "Oslo"}).rows
    assert (alone.label, alone.other) == (other.label, other.other)
    with pytest.raises(InvalidParameter, match="needs a fitted model of clusterkit, got KMeans"):
        clusterkit.explain(KMeans(2).fit(X), X)
    with pytest.raises(InvalidParameter, match="has no rows of its fit"):
        clusterkit.explain(clusterkit.recipe("embeddings").fit(X), X)
    alone = pytest.importorskip("pandas").DataFrame(X).iloc[[4]]
    alone = clusterkit.explain(clusterkit.recipe("kmeans", n_clusters=1).fit(X), alone)
    assert str(alone) == "row 4: cluster 0, the only one."


def test_what_rows_do_not_say_is_not_sure_and_far_rows_are_short():
    model = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(np.repeat(np.eye(2), 15, axis=0))
    assert 0.2 < clusterkit.explain(model, [[0.5, 0.5]])[0].certainty < 0.8  # as near to all rows: ten of them
    far = clusterkit.explain(model.fit(_planted()[0]), [[0.0, 1e9, 0.0]])[0].sentence
    assert ",000 is " in far
    assert ".0 sd" not in far
    radius, turn = np.repeat([1, 4], 100), 2.4 * np.arange(200)
    rings = {"x": radius * np.cos(turn), "y": radius * np.sin(turn)}  # which no mixture answers for
    with pytest.warns(TableWarning, match="no value"):
        empty = clusterkit.explain(clusterkit.Auto(2, random_state=0).fit(rings), {"x": None, "y": None})[0]
    assert np.isnan(empty.certainty)


def test_the_command_explains_all_rows_or_those_that_are_named(tmp_path, capsys):
    X, _ = _planted()
    data, model = tmp_path / "t.csv", tmp_path / "m.clusterkit"
    np.savetxt(data, X, delimiter=",", header="a,b,c", comments="")
    clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(X).save(model)
    printed = []
    for options in ((), ("--row", "3"), ("--row", "81")):
        with pytest.raises(SystemExit):
            app.main(["explain", str(model), str(data), *options])
        printed.append(capsys.readouterr())
    assert printed[0].out.splitlines()[2] == printed[1].out.strip()
    assert printed[1].out.startswith("row 3: cluster ")
    assert "--row 81" in printed[2].err


def test_a_time_of_day_is_compared_around_the_clock():
    hours = np.arange(-1, 1, 0.05)
    clock = [f"{int(h % 24):02}:{int(h * 60 % 60):02}" for h in np.concatenate([hours, hours + 8, hours + 16])]
    model = clusterkit.recipe("mixture", n_clusters=3, random_state=0).fit({"time": clock})
    [one] = clusterkit.explain(model, {"time": "23:50"}).rows
    assert re.fullmatch(
        r"time 23:50 is 0\.\d sd below cluster 0 \((0:0|23:5)\d\) and .* cluster . \(.*\)", one.columns[0].text
    )
