"""Neighbours stay neighbours, the same samples give the same picture, and degenerate data one too."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from clusterkit import plots, recipe
from clusterkit.errors import InvalidData, InvalidParameter

X, Y = make_blobs([30, 30, 30], n_features=60, random_state=0)


def places(ax):
    return np.concatenate([np.asarray(artist.get_offsets()) for artist in ax.collections])


def purity(ax):
    """Share of the samples whose six nearest places are of their own group; there is a collection for each group."""
    groups = np.repeat([0, 1, 2], 30)
    nearest = NearestNeighbors(n_neighbors=6).fit(places(ax)).kneighbors(return_distance=False)
    return (groups[nearest] == groups[:, None]).mean()


def test_groups_stay_apart():
    ax = plots.embedding(Y, X)
    assert purity(ax) == 1.0
    first, second = ax.get_title(loc="left").splitlines()
    assert first == "3 clusters of 90 samples, no noise"
    assert second == "t-SNE of 60 attributes: near samples are alike, distances between groups mean nothing"


def test_a_model_is_drawn_as_it_scales():
    """An attribute in another unit hides the groups, unless the model scales it."""
    wide = 9 * X[:, :3].std(axis=0).min()  # up to tenfold is taken for one unit where no model scales
    spoilt = np.column_stack([X[:, :3], np.random.default_rng(0).normal(scale=wide, size=90)])
    model = recipe("kmeans", featuremap="zscore", n_clusters=3, random_state=0).fit(spoilt)
    assert purity(plots.embedding(model, spoilt)) == 1.0


def test_many_samples_are_thinned_out():
    ax = plots.embedding(Y, X, max_rows=40, legend=False)
    assert len(places(ax)) == 40
    assert ax.get_title(loc="left").startswith("3 clusters of 90 samples, no noise, 40 drawn")
    assert ax.get_legend() is None


@pytest.mark.parametrize("rows", [np.ones((6, 4)), np.eye(4), np.arange(12.0)[:, None], np.arange(24.0).reshape(12, 2)])
def test_what_has_no_neighbourhoods_is_drawn_by_coordinates(rows):
    ax = plots.embedding(np.zeros(len(rows), dtype=int), rows)
    ax.figure.draw_without_rendering()
    assert np.isfinite(places(ax)).all()
    assert ax.get_title(loc="left").splitlines()[1].startswith("Coordinates of")


def test_refusals():
    with pytest.raises(InvalidData, match="3 rows and there are 90 labels"):
        plots.embedding(Y, X[:3])
    with pytest.raises(InvalidParameter, match="max_rows"):
        plots.embedding(Y, X, max_rows=0)
    with pytest.raises(InvalidParameter, match="ax must be matplotlib axes"):
        plots.embedding(Y, X, ax=[])
