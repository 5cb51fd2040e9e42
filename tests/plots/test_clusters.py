"""Every sample is drawn once, in the style of its cluster, for the labels of any method."""

from __future__ import annotations

import attrs
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import silhouette_score

from clusterkit import plots, recipe
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.plots.figure import STYLES

X, Y = make_blobs([25, 25], cluster_std=0.5, random_state=3)
X = X - X.min(axis=0)  # for methods that want nonnegative data


def points(ax) -> int:
    return sum(len(artist.get_offsets()) for artist in ax.collections)


def title(ax) -> str:
    return ax.get_title(loc="left")


def test_labels_alone_and_other_estimators():
    ax = plots.clusters(Y.tolist(), X)
    places = [np.asarray(artist.get_offsets()) for artist in ax.collections]
    assert np.array_equal(places[0], X[Y == 0])
    assert np.array_equal(places[1], X[Y == 1])
    assert title(plots.clusters(DBSCAN(eps=1.0).fit(X), X)).endswith("no noise")


def test_a_cluster_keeps_its_colour_in_a_part_of_the_data():
    labels = np.arange(len(X)) % 4
    part = labels >= 2
    whole, some = plots.clusters(labels, X), plots.clusters(labels[part], X[part])
    color = {str(artist.get_label())[:9]: to_hex(artist.get_facecolor()[0]) for artist in whole.collections}
    for artist in some.collections:
        assert to_hex(artist.get_facecolor()[0]) == color[str(artist.get_label())[:9]]


@pytest.mark.parametrize("k", [10, 11, len(STYLES) + 1])
def test_many_clusters(k):
    labels = np.arange(600) % k
    places = np.random.default_rng(0).normal(size=(600, 2))
    ax = plots.clusters(labels, places)
    assert points(ax) == 600
    assert len(ax.collections) == min(k, len(STYLES))
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(entries) <= 10
    assert len(ax.texts) == (0 if k <= 10 else min(k, 40))
    if k > 10:
        assert entries[-1] == f"and {k - 9} more clusters"


def test_styles_tell_all_apart():
    assert len(set(STYLES)) == len(STYLES) > 40
    assert not {marker for _, marker in STYLES[6:]} & {"o", "s", "x", "*"}  # these mean something else


def test_labels_that_are_no_small_numbers(named):
    ax = plots.clusters([7000, 7000, -1, 12, -5], X[:5])
    assert len(named(ax, "cluster 12").get_offsets()) == 1
    assert len(named(ax, "cluster 7000").get_offsets()) == 2
    assert len(named(ax, "noise").get_offsets()) == 2
    assert title(ax) == "2 clusters of 5 samples, 2 noise"


def test_noise_only_and_one_cluster(named):
    ax = plots.clusters(np.full(len(X), -1), X)
    assert title(ax) == "0 clusters of 50 samples, 50 noise"
    assert len(named(ax, "noise").get_offsets()) == 50
    assert title(plots.clusters(np.zeros(len(X), dtype=int), X)) == "1 cluster of 50 samples, no noise"


def test_one_attribute_in_rows():
    ax = plots.clusters([3, 3, 1, -1], [[0.0], [1.0], [5.0], [9.0]])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["noise", "1", "3"]
    heights = np.concatenate([np.asarray(artist.get_offsets()) for artist in ax.collections])
    assert sorted(map(tuple, heights.tolist())) == [(0.0, 2.0), (1.0, 2.0), (5.0, 1.0), (9.0, 0.0)]
    assert ax.get_aspect() == "auto"


def test_one_cluster_of_many_attributes_is_seen_along_principal_components():
    wide = np.random.default_rng(0).normal(size=(80, 5))
    ax = plots.clusters(np.zeros(80, dtype=int), wide * np.geomspace(1, 1000, 5))
    assert title(ax).endswith("First two principal components of 5 attributes, standardised")
    assert "% of the variance" in ax.get_xlabel()


@pytest.mark.parametrize("k", [2, 3])
def test_clusters_are_seen_from_where_they_differ_whatever_else_there_is(k):
    """Columns with stripes of their own, and sixty with noise, do not cover three columns with clusters."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % k
    rows = rng.normal(size=(300, 65)) + np.hstack([6.0 * np.eye(3)[y], np.zeros((300, 62))])
    rows[:, 3:5] += 90.0 * rng.integers(3, size=(300, 2))
    ax = plots.clusters(y, rows)
    assert silhouette_score(np.vstack([artist.get_offsets() for artist in ax.collections]), np.sort(y)) > 0.4
    frame = pd.DataFrame(rows[:, :4], columns=["a", "b", "c", "stripes"])
    model = recipe("mixture", n_clusters=k, random_state=0).fit(frame)
    assert model.column_roles_["stripes"] == "irrelevant"
    assert "stripes" in title(plots.clusters(model, frame)).splitlines()[-1]


@pytest.mark.parametrize("rows", [np.ones((4, 3)), np.ones((1, 5)), np.eye(3)[:2]])
def test_degenerate_data(rows):
    ax = plots.clusters(np.zeros(len(rows), dtype=int), rows)
    ax.figure.draw_without_rendering()
    assert points(ax) == len(rows)


def test_units_are_equal_unless_that_leaves_a_line():
    assert plots.clusters(Y, X).get_aspect() == 1.0
    assert plots.clusters(Y, X * [1000.0, 1.0]).get_aspect() == "auto"


def test_refusals():
    with pytest.raises(NotFittedError, match=r"clusters: this Pipeline is not fitted; call its fit\(X\) first"):
        plots.clusters(recipe("kmeans", n_clusters=2), X)
    with pytest.raises(InvalidData, match="3 rows and there are 50 labels"):
        plots.clusters(Y, X[:3])
    for labels in ("abc", ["a"] * 50, np.zeros(50), np.zeros((50, 1), dtype=int), [[1], [2, 3]], None):
        with pytest.raises(InvalidParameter, match="integer"):
            plots.clusters(labels, X)
    with pytest.raises(ValueError, match="NaN"):
        plots.clusters([0, 1], [[np.nan, 1.0], [0.0, 1.0]])


def test_vector_graphics_of_many_points_hold_an_image(tmp_path):
    rng = np.random.default_rng(0)
    few, many = (plots.clusters(np.zeros(n, dtype=int), rng.normal(size=(n, 2))) for n in (500, 20_000))
    sizes = []
    for ax, name in ((few, "few.svg"), (many, "many.svg")):
        ax.figure.savefig(tmp_path / name)
        sizes.append((tmp_path / name).stat().st_size)
    assert sizes[1] < 10 * sizes[0]


def table():
    """Rows of three groups with a text, a date and gaps, as dict of columns."""
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    width = 5.0 * group + rng.normal(size=60)
    width[3] = np.nan
    days = np.datetime64("2024-01-01") + rng.permutation(60)
    town = np.array(["Ulm", "Bonn", "Kiel"])[group]
    return {"width": width, "height": 3.0 * group + rng.normal(size=60), "town": town, "day": days}


@pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")
def test_the_table_of_the_fit_is_drawn_by_its_features():
    frame = pd.DataFrame(table())
    model = recipe("mixture", n_clusters=3, random_state=0).fit(frame)
    features = attrs.evolve(model.preparation_, coded=False)
    assert points(plots.clusters(model, frame)) == 60
    town = features.features.index("town=Kiel")
    assert plots.clusters(model, frame, dims=(0, town)).get_ylabel() == "town=Kiel"
    assert title(plots.silhouette(model, table())).startswith("Mean silhouette 0.")
