"""The border is the level, marks are where the support vectors are, and what has no domain is refused."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs

from clusterkit import Pipeline, plots, recipe
from clusterkit.errors import IncompatibleStages, InvalidData, InvalidParameter

DOMAINS = ("svc", "psvc", "fsvc", "sgd-lmsvc")


def title(ax) -> str:
    return ax.get_title(loc="left")


def rows_of(places) -> set[tuple[float, ...]]:
    return {tuple(np.round(row, 9)) for row in np.asarray(places).tolist()}


def test_border_clusters_noise_and_supports(svc, moons, named):
    ax = plots.contours(svc, moons)
    assert isinstance(ax, Axes)
    domain, labels = svc.outcome_, svc.labels_
    border = named(ax, "border of the domain")
    assert border.levels.tolist() == [domain.level]
    line = np.concatenate([path.vertices for path in border.get_paths()])
    assert np.allclose(domain.value(line), domain.level, rtol=0.02)
    for label in set(labels.tolist()) - {-1}:
        assert rows_of(named(ax, f"cluster {label}").get_offsets()) == rows_of(moons[labels == label])
    assert rows_of(named(ax, "noise").get_offsets()) == rows_of(moons[labels < 0])

    weights, C = domain.weights, domain.support_counts.bound
    bounded = np.isclose(weights, C)
    assert bounded.sum() == domain.support_counts.n_bounded
    assert rows_of(named(ax, "bounded support vectors").get_offsets()) == rows_of(domain.centres[bounded])
    assert rows_of(named(ax, "free support vectors").get_offsets()) == rows_of(domain.centres[~bounded])
    k = labels.max() + 1
    assert title(ax) == (
        f"{k} clusters of 123 samples, {np.sum(labels < 0)} noise\n"
        f"{len(weights)} support vectors, {bounded.sum()} at the bound"
    )
    assert len(ax.get_legend().get_texts()) <= 10


def test_nothing_is_drawn_twice_and_the_axes_given_are_used(svc, moons):
    from matplotlib import pyplot

    ax = Figure().subplots()
    assert plots.contours(svc, moons, ax=ax, legend=False, supports=False) is ax
    assert ax.get_legend() is None
    drawn = sum(
        len(artist.get_offsets()) for artist in ax.collections if str(artist.get_label())[:5] in ("clust", "noise")
    )
    assert drawn == len(moons)
    assert not any("support" in str(artist.get_label()) for artist in ax.collections)
    assert not pyplot.get_fignums()


def test_the_whole_border_is_in_the_picture(svc, moons):
    ax = plots.contours(svc, moons, grid=60)
    ax.figure.draw_without_rendering()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    xs, ys = np.linspace(left, right, 100), np.linspace(bottom, top, 100)
    for x in (left, right):
        assert np.all(svc.outcome_.value(np.column_stack([np.full(100, x), ys])) < svc.outcome_.level)
    for y in (bottom, top):
        assert np.all(svc.outcome_.value(np.column_stack([xs, np.full(100, y)])) < svc.outcome_.level)


def test_the_border_is_fine_on_both_axes_where_units_differ(compose, named):
    X = np.random.default_rng(0).normal(size=(60, 2)) * [1.0, 100.0]
    model = compose(0.01, 0.2).fit(X)
    ax = plots.contours(model, X)
    assert ax.get_aspect() == "auto"
    line = np.concatenate([path.vertices for path in named(ax, "border of the domain").get_paths()])
    assert np.quantile(np.abs(model.outcome_.value(line) / model.outcome_.level - 1.0), 0.9) < 0.03


def test_legend_and_data_do_not_overlap(svc, moons):
    ax = plots.contours(svc, moons)
    ax.figure.draw_without_rendering()
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())
    inner, outer = ax.get_tightbbox(), ax.figure.bbox
    assert inner.x0 >= outer.x0 - 1
    assert inner.x1 <= outer.x1 + 1
    assert inner.y1 <= outer.y1 + 1
    assert ax.get_aspect() == 1.0


@pytest.mark.parametrize("name", DOMAINS)
def test_recipes_with_a_domain(name, named):
    X, _ = make_blobs([40, 40], cluster_std=0.4, random_state=0)
    model = recipe(name, random_state=0, **({"tuner": None} if name == "svc" else {}), featuremap__gamma=1.0).fit(X)
    ax = plots.contours(model, X)
    assert named(ax, "border of the domain").levels.tolist() == [model.outcome_.level]
    assert "support vectors" in title(ax)


def test_bounds_by_position(moons, named):
    model = recipe("psvc", featuremap__gamma=12.0).fit(moons)
    counts = model.outcome_.support_counts
    assert counts.bound is None
    assert counts.n_bounded > 0
    assert len(named(plots.contours(model, moons), "bounded support vectors").get_offsets()) == counts.n_bounded


def test_equal_samples_share_a_support_vector_that_is_bounded_only_outside(compose, named):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(25, 2)), 3, axis=0)
    model = compose(1.0, 0.5).fit(X)
    counts = model.outcome_.support_counts
    ax = plots.contours(model, X)
    bounded = named(ax, "bounded support vectors").get_offsets()
    assert 3 * len(bounded) == counts.n_bounded
    assert np.all(model.outcome_.value(np.asarray(bounded)) < model.outcome_.level)
    assert f"{counts.n_support} support vectors" in title(ax)


def test_coordinates_behind_maps(moons, named):
    X = moons * [100.0, 1.0]
    model = Pipeline(["zscore", {"name": "rbf", "gamma": 6.0}], {"name": "svdd", "nu": 0.1}, "complete_graph").fit(X)
    ax = plots.contours(model, X, names=["length", "weight"])
    assert ax.get_xlabel() == "length (scaled)"
    assert rows_of(named(ax, "cluster 0").get_offsets()) == rows_of(model.space_.points[model.labels_ == 0])


def test_one_coordinate_has_its_value_above_it(compose, named):
    x = np.concatenate([np.random.default_rng(0).normal(size=40), [8.0]])[:, None]
    model = compose(2.0, 0.4).fit(x)
    ax = plots.contours(model, x)
    domain = model.outcome_
    places = np.asarray(named(ax, "noise").get_offsets())
    assert np.allclose(places[:, 1], domain.value(places[:, :1]))
    curve, level = ax.lines
    assert np.allclose(curve.get_ydata(), domain.value(np.asarray(curve.get_xdata())[:, None]))
    assert set(level.get_ydata()) == {domain.level}
    assert ax.get_ylabel() == "value of the domain"


@pytest.mark.parametrize("dims", [None, (29, 3)])
def test_many_coordinates_are_projected_without_a_border(dims, compose, named):
    X, _ = make_blobs([30, 30], n_features=30, random_state=0)
    model = compose(0.01).fit(X)
    ax = plots.contours(model, X, dims=dims)
    assert "no border" in title(ax)
    assert named(ax, "border of the domain") is None
    places = np.asarray(named(ax, "cluster 0").get_offsets())
    members = X[model.labels_ == 0]
    if dims is not None:
        assert np.array_equal(places, members[:, dims])
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("X[:, 29]", "X[:, 3]")
    else:
        centred = X - X.mean(axis=0)
        directions = np.linalg.svd(centred)[2][:2]
        assert np.allclose(np.abs(places), np.abs((members - X.mean(axis=0)) @ directions.T))


def test_two_coordinates_may_be_swapped(svc, moons, named):
    ax = plots.contours(svc, moons, dims=(1, 0))
    line = np.concatenate([path.vertices for path in named(ax, "border of the domain").get_paths()])
    assert np.allclose(svc.outcome_.value(line[:, ::-1]), svc.outcome_.level, rtol=0.02)


@pytest.mark.filterwarnings("ignore:with gamma.*numerically the identity")
def test_noise_only(compose, named):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = compose(1e4, 1.0).fit(X)
    assert set(model.labels_) == {-1}
    ax = plots.contours(model, X)
    assert title(ax).startswith("0 clusters of 20 samples, 20 noise")
    assert len(named(ax, "noise").get_offsets()) == 20
    assert named(ax, "border of the domain") is None


@pytest.mark.parametrize("X", [np.ones((6, 2)), np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 2.0]])])
@pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")
def test_degenerate_data(X, compose):
    model = compose(1.0).fit(X)
    ax = plots.contours(model, X)
    ax.figure.draw_without_rendering()
    assert title(ax).startswith(f"1 cluster of {len(X)} sample")


def test_a_data_frame_names_the_axes(svc, moons):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(moons, columns=["height", "width"])
    model = Pipeline(**svc.get_params(deep=False)).fit(frame)
    assert plots.contours(model, frame).get_xlabel() == "height"
    assert plots.contours(model, frame, names=["a", "b"]).get_ylabel() == "b"


class TestRefusals:
    def test_no_domain(self, moons):
        from matplotlib import pyplot

        model = recipe("kmeans", n_clusters=2, random_state=0).fit(moons)
        with pytest.raises(IncompatibleStages, match=r"recipe 'svc'.*clusterkit\.plots\.clusters"):
            plots.contours(model, moons)
        assert not pyplot.get_fignums()

    def test_no_model(self, moons):
        with pytest.raises(InvalidParameter, match=r"got ndarray; clusterkit\.plots\.clusters"):
            plots.contours(np.zeros(len(moons), dtype=int), moons)
        with pytest.raises(InvalidParameter, match="got type"):
            plots.contours(Pipeline, moons)

    def test_other_rows(self, svc, moons):
        with pytest.raises(InvalidData, match="5 rows and there are 123 labels"):
            plots.contours(svc, moons[:5])
        with pytest.raises(InvalidData, match="3 attributes and the model was fitted on 2"):
            plots.contours(svc, np.ones((len(moons), 3)))

    @pytest.mark.parametrize("dims", [(0, 0), (-1, 0), 3, (0.5, 1)])
    def test_dims(self, svc, moons, dims):
        with pytest.raises(InvalidParameter, match="dims must be two different coordinates between 0 and 1"):
            plots.contours(svc, moons, dims=dims)

    def test_axes(self, svc, moons):
        with pytest.raises(InvalidParameter, match="got ndarray; give one of them"):
            plots.contours(svc, moons, ax=Figure().subplots(1, 2))

    def test_names(self, svc, moons):
        with pytest.raises(InvalidParameter, match="each of the 2 attributes, got 1"):
            plots.contours(svc, moons, names=["one"])


def test_grid(svc, moons):
    with pytest.raises(InvalidParameter, match="grid must be an integer >= 2 or None"):
        plots.contours(svc, moons, grid=1)
