"""Pictures of what is in the clusters: each shows the numbers that it is made of."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score

import clusterkit
from clusterkit import Auto, plots, recipe
from clusterkit.errors import InvalidParameter

X, Y = make_blobs([30, 20, 10], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)


def axes():
    return Figure().subplots()


class TestSizes:
    def test_a_bar_for_each_cluster_and_noise(self):
        ax = plots.sizes(np.r_[Y, -1, -1], axes())
        assert [bar.get_width() for bar in ax.patches] == [30, 20, 10, 2]
        assert [label.get_text() for label in ax.get_yticklabels()][-1] == "noise"
        assert [text.get_text() for text in ax.texts] == ["30 (48%)", "20 (32%)", "10 (16%)", "2 (3%)"]

    def test_many_clusters_share_a_bar(self):
        ax = plots.sizes(np.arange(100) % 50, axes())
        assert len(ax.patches) == 31
        assert sum(bar.get_width() for bar in ax.patches) == 100


class TestNumberCurve:
    def test_the_chosen_number_has_the_ring(self):
        model = Auto(pool=["kmeans", "genie"], random_state=0).fit(X)
        ax = plots.number_curve(model, axes())
        line = ax.lines[0].get_ydata()
        ring = ax.collections[-1].get_offsets()[0]
        assert ring[1] == max(line)
        assert ring[0] == model.n_clusters_ == 3

    def test_others_chose_nothing(self):
        with pytest.raises(InvalidParameter, match="did not choose"):
            plots.number_curve(recipe("kmeans", n_clusters=2, random_state=0).fit(X), axes())


class TestSilhouette:
    def test_the_line_is_at_the_mean(self):
        ax = plots.silhouette(Y, X, axes())
        assert ax.lines[0].get_xdata()[0] == pytest.approx(silhouette_score(X, Y))

    def test_noise_is_left_out(self):
        labels = np.where(np.arange(60) < 3, -1, Y)
        ax = plots.silhouette(labels, X, axes())
        assert ax.lines[0].get_xdata()[0] == pytest.approx(silhouette_score(X[3:], Y[3:]))

    @pytest.mark.parametrize("labels", [np.zeros(60, dtype=int), np.arange(60)])
    def test_it_needs_clusters_of_several_rows(self, labels):
        with pytest.raises(InvalidParameter, match="at least two clusters"):
            plots.silhouette(labels, X, axes())


class TestProfile:
    def test_cells_are_the_differences(self):
        summary = clusterkit.profile(Y, X, names=["$a$", "b\x1b"])
        ax = plots.profile(summary, axes())
        drawn = np.ma.filled(ax.collections[0].get_array(), np.nan).reshape(2, 3)
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert ax.get_xticklabels()[1].get_text().startswith(f"1: {summary[1].name}"[:9])
        assert sorted(names) == ["$a$", "b\N{REPLACEMENT CHARACTER}"]
        row = drawn[names.index("$a$")]
        for cluster, value in zip(summary.clusters, row, strict=True):
            feature = next(one for one in cluster.features if one.column == "$a$")
            assert value == pytest.approx(feature.difference) or feature.low <= 0 <= feature.high

    def test_labels_are_no_profile(self):
        with pytest.raises(InvalidParameter, match=r"clusterkit\.profile"):
            plots.profile(Y, axes())


def test_roles_are_bars_in_the_order_of_what_they_say():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = np.column_stack([9.0 * y + rng.normal(size=90), rng.normal(size=90), 2.0 * (y == 0) + rng.normal(size=90)])
    summary = clusterkit.profile(y, X, names=["most", "none", "some"])
    ax = plots.roles(summary, Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["most", "some", "none"]
    assert {text.get_text() for text in ax.get_legend().get_texts()} >= {"cluster-dependent", "irrelevant"}
    assert "nothing" in [text.get_text() for text in ax.texts]
    with pytest.raises(InvalidParameter, match="no roles; two clusters"):
        plots.roles(clusterkit.profile(y[:4], X[:4]), Figure().subplots())
