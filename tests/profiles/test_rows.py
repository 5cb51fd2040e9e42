"""What is known of each row: assigned labels beside a table, and numbers of clusters that last over refits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clusterkit
from clusterkit.errors import InvalidParameter, TableWarning
from clusterkit.profiles.raw_table import RawTable
from clusterkit.profiles.representing import coordinates
from clusterkit.profiles.rows import degrees_of_rows
from clusterkit.report.analysis import odd_rows


def _blobs(rng, each=40):
    return np.concatenate([rng.normal((0, 0), 0.4, (each, 2)), rng.normal((6, 0), 0.4, (each, 2)), [[3.0, 0.0]]])


def test_new_rows_get_their_cluster_beside_their_columns_and_index():
    pd = pytest.importorskip("pandas")
    X = _blobs(np.random.default_rng(0))
    model = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(X)
    frame = pd.DataFrame(X[::2], columns=["x", "y"], index=[f"r{i}" for i in range(len(X[::2]))])
    answer = clusterkit.assign(model, frame)
    assert list(answer.columns) == ["x", "y", "cluster", "certainty", "distance"]
    assert list(answer.index) == list(frame.index)
    assert (answer["cluster"] == model.predict(frame.to_numpy())).all()
    assert answer["certainty"].iloc[0] == 1.0
    alone = [clusterkit.assign(model, frame.iloc[[i]]) for i in range(3)]
    assert pd.concat(alone).equals(answer.iloc[:3])  # what is said of a row depends on the rows of the fit alone
    assert answer["distance"].idxmax() == "r40"  # the row between the clusters is far from its neighbours
    with pytest.raises(InvalidParameter, match="prefix='new_'"):
        clusterkit.assign(model, answer)


def test_rows_of_a_mixture_of_columns_may_have_gaps():
    X = _blobs(np.random.default_rng(0), 20)
    table = {"x": X[:, 0].copy(), "y": X[:, 1].copy(), "z": np.where(X[:, 0] > 3, "u", "v")}
    table["x"][::7] = np.nan
    model = clusterkit.recipe("mixture", n_clusters=2, random_state=0).fit(table)
    table["y"][:] = np.nan  # new rows may lack a column
    with pytest.warns(TableWarning, match="column 'y' has no value"):
        answer = clusterkit.assign(model, table)
    assert np.isfinite(answer["distance"]).all()
    assert set(answer["cluster"]) == {0, 1}
    row = {name: values[1] for name, values in table.items() if name != "y"} | {"y": 0.0}
    assert clusterkit.assign(model, row)["cluster"].tolist() == model.predict([row]).tolist()


def test_distances_see_levels_as_different_and_no_more():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=600)
    frame = pd.DataFrame({"x": 3.0 * y + rng.normal(size=600)})
    for j, n in enumerate((2, 3, 5)):
        weights = 1.5 ** -np.arange(n)
        levels = np.where(rng.random(600) < 0.5, y % n, rng.choice(n, size=600, p=weights / weights.sum()))
        frame[f"c{j}"] = np.array(list("azbyc"))[levels]
    model = clusterkit.recipe("mixture", n_clusters=3, random_state=0).fit(frame)
    assert (clusterkit.assign(model, frame)["distance"] >= 2.5).mean() < 0.1
    assert clusterkit.assign(model, frame.iloc[[0]].assign(x=40.0))["distance"][0] >= 2.5
    rows = frame.iloc[[0] * 5].assign(c2=list("azbyc"))
    points = coordinates(model, RawTable.of(rows, None, model, "test"), np.arange(5))
    np.testing.assert_allclose(np.linalg.norm(points[:, None] - points, axis=2), np.sqrt(2.0) * (1 - np.eye(5)))


def test_a_row_among_rows_of_another_cluster_is_uncertain():
    X = np.r_[np.zeros(20), np.ones(20)][:, None] + np.linspace(0, 0.1, 40)[:, None]
    labels = np.repeat([0, 1], 20)
    labels[5] = 1
    degrees = degrees_of_rows(X, labels, np.arange(40))
    assert degrees.share[5] == 1.0
    assert degrees.other[5] == 0
    assert degrees.share[30] < 0.1
    [border, *_], _ = odd_rows(X, labels, 3, np.random.default_rng(0))
    assert (border.row, border.other) == (5, 0)
    labels[7] = -1
    assert clusterkit.assign(labels, X)["certainty"][7] == 0.0


def test_no_row_of_a_model_without_clusters_has_a_certainty():
    pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(30, 60))
    model = clusterkit.recipe("embeddings").fit(X)
    model.predict_proba, model.predict = (lambda rows: np.zeros((len(rows), 0))), (lambda rows: np.full(len(rows), -1))
    assert (clusterkit.assign(model, X)["certainty"] == 0.0).all()


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=30), st.permutations(range(5)))
def test_permuted_numbers_come_back(labels, order):
    labels = np.array(labels)
    permuted = np.where(labels < 0, -1, np.array(order)[labels])
    again = clusterkit.relabel(permuted, like=labels)
    assert (again.labels == labels).all()
    assert (again(permuted) == labels).all()


def test_a_cluster_that_is_new_gets_a_number_that_no_earlier_one_had():
    assert clusterkit.relabel([0, 0, 1, 1, 2, 2], like=[3, 3, 3, 3, 1, 1]).labels.tolist() == [3, 3, 4, 4, 1, 1]
