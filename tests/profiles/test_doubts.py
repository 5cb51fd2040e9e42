"""Reasons to doubt clusters: single far rows, levels of categories, and rows at few points."""

from __future__ import annotations

import numpy as np
import pytest

from clusterkit import Auto, ClusterkitWarning, profile, search
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.numerics.selection import few_points
from clusterkit.profiles.doubts import doubts
from clusterkit.report.analysis import odd_rows


def with_a_far_row(n=80, far=(60.0, 55.0)):
    rows = np.vstack([np.random.default_rng(0).normal(size=(n, 2)), [far]])
    return {"a": rows[:, 0], "b": rows[:, 1]}


def fitted(table, **parameters):
    model = Auto(random_state=0, **parameters)
    X = fit_prepared(model, table)
    return model, X


@pytest.mark.parametrize("n", [80, 1500])  # in more than a hundred rows a leaf of the tree has several
def test_a_far_row_alone_stands_out_and_has_a_rule(n):
    table = with_a_far_row(n)
    alone = profile(np.repeat([0, 1], [n, 1]), np.column_stack(list(table.values()))).clusters[1]
    assert alone.name == "high x0, high x1" or alone.name == "high x1, high x0"
    assert (alone.rule.precision, alone.rule.recall) == (1.0, 1.0)


def test_a_row_alone_among_the_others_does_not_stand_out():
    X = np.random.default_rng(0).normal(size=(80, 2))
    assert [one.name for one in profile(np.arange(80) // 79, X).clusters] == ["no column stands out"] * 2
    # the farthest of the rows is expected to be that far
    farthest = np.arange(80) == np.abs(X[:, 0]).argmax()
    assert profile(farthest.astype(int), X).clusters[1].name == "no column stands out"


def test_a_far_row_alone_is_an_outlier_and_on_no_border():
    X = np.column_stack(list(with_a_far_row().values()))
    borders, outliers = odd_rows(X, np.repeat([0, 1], [80, 1]), 10, np.random.default_rng(0))
    assert 80 not in [one.row for one in borders]
    assert outliers[0].row == 80
    assert outliers[0].value > 50


def test_a_far_row_alone_is_told():
    table = with_a_far_row()
    model, X = fitted(table, n_clusters=2, pool=["kmeans"])
    assert doubts(model, table, X).of_single == (
        "Cluster 1 is row 81 alone, which is far from all others: an outlier, rather than a group of rows."
    )
    near = with_a_far_row(far=(0.0, 0.1))
    model, X = fitted(near, n_clusters=2, pool=["kmeans"])
    assert doubts(model, near, X).of_single == ""


def categories(columns, n=150):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, n)
    return {
        f"c{j}": np.where(rng.random(n) < 0.9, np.array(list("xyz"))[groups], rng.choice(list("xyz"), n))
        for j in range(columns)
    }


def test_a_confidence_of_levels_is_doubted():
    table = categories(4)
    model, X = fitted(table, pool=["kmeans", "genie"])
    sentence = doubts(model, table, X).of_levels
    assert sentence.startswith("All features are levels of categories")
    assert ("may be as good an answer" in sentence) == (model.second_n_clusters_ is not None)
    mostly = {**categories(6), "n": 0.5 * (np.arange(150) % 50 == 0)}
    model, X = fitted(mostly, pool=["kmeans", "genie"])
    assert doubts(model, mostly, X).of_levels.startswith("What rows differ in is mostly levels of categories")
    mixed = {**categories(3), **{f"n{j}": np.random.default_rng(j).normal(size=150) for j in range(2)}}
    with pytest.warns(ClusterkitWarning, match="the clusters restate the column 'c2'"):
        model, X = fitted(mixed, pool=["kmeans", "genie"])
    assert len(model.preparation_.features) == 11, "the levels are more features, and a small part of the variance"
    assert doubts(model, mixed, X).of_levels == ""


def test_tests_for_one_cluster_say_nothing_of_rows_at_few_points():
    which = np.random.default_rng(3).integers(0, 3, 200)
    table = {"a": np.array([0.0, 10.0, 3.0])[which], "b": np.array([0.0, 1.0, 12.0])[which]}
    model, X = fitted(table)
    assert model.perhaps_one_cluster_ is None
    assert model.resolved_["auto"]["points"] == 3
    assert "The rows lie at 3 points only" in doubts(model, table, X).of_points
    assert ("-k 3" in doubts(model, table, X).of_points) == (model.n_clusters_ < 3)
    model, X = fitted(table, n_clusters=3)
    assert doubts(model, table, X).of_points.endswith("every cluster is one of them, of equal rows.")
    assert search("kmeans", {"n_clusters": [2, 3]}, X, random_state=0).facts["perhaps_one_cluster"] is None


def test_many_rows_are_at_many_points():
    rng = np.random.default_rng(0)
    assert few_points(rng.normal(size=(200, 2))) is None
    assert few_points(np.arange(20.0)[:, None]) is None
    assert few_points(np.repeat(np.arange(20.0), 5)[:, None]) == 20
    assert few_points(np.repeat(np.arange(21.0), 50)[:, None]) is None
    table = with_a_far_row()
    model, X = fitted(table)
    assert doubts(model, table, X).of_points == ""


def test_a_cluster_of_a_word_that_may_be_a_level_is_told_the_option_that_makes_it_one():
    rng, part = np.random.default_rng(0), np.repeat([0, 1, 2], 30)
    table = {"a": rng.normal(size=90) + 60 * (part == 1), "b": rng.normal(size=90) + 60 * (part == 2)}
    table["use"] = np.array(["rare", "often", "NA"], dtype=object)[part]
    model, X = fitted(table, n_clusters=3)
    assert (
        "compare with --na level (na='level' in Python), as NA may be a level, or with -k 2,"
        in doubts(model, table, X).of_gaps
    )
