"""The picture of the search of edsvc shows every candidate and marks the winner."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs

from clusterkit import plots, recipe
from clusterkit.errors import InvalidParameter


@pytest.fixture(scope="module")
def fits():
    X, _ = make_blobs(60, centers=3, random_state=0)
    sizes = {"random_state": 0, "tuner__n_gamma": 8, "tuner__n_bounds": 6}
    return {search: recipe("edsvc", tuner__search=search, **sizes).fit(X) for search in ("coordinate", "plane")}


def test_widths_and_bounds_side_by_side(fits):
    model = fits["coordinate"]
    curves = model.resolved_["tuner"]["curves"]
    for source in (model, model.resolved_["tuner"], curves):
        grid = plots.edsvc_curves(source)
        assert grid.shape == (2, 2)
    for column, (step, x) in enumerate(((0, curves.gamma), (1, curves.C))):
        of = curves.step == step
        for row, y in enumerate((curves.score, curves.n_clusters)):
            line = grid[row, column].lines[0]
            np.testing.assert_array_equal(line.get_xdata(), x[of])
            np.testing.assert_array_equal(line.get_ydata(), y[of])
    ends = grid[0, 1].get_xlim()
    assert ends[0] > ends[1], "bounds fall to the right"
    mark = grid[0, 1].lines[-1]
    assert mark.get_xdata()[0] == curves.C[curves.chosen]
    assert mark.get_ydata()[0] == curves.score[curves.chosen]
    assert f"{curves.score[curves.chosen]:.3f}" in grid[0, 1].get_title(loc="left")


def test_the_plane_as_maps(fits):
    curves = fits["plane"].resolved_["tuner"]["curves"]
    grid = plots.edsvc_curves(fits["plane"], axes=Figure().subplots(1, 2))
    assert grid.shape == (2,)
    table = grid[0].collections[0].get_array()
    assert np.ma.count(np.ma.masked_invalid(table)) == curves.qualified.sum()
    assert np.ma.masked_invalid(table).max() == curves.score[curves.chosen]
    assert grid[1].collections[0].get_array().size == len(curves)


def test_a_step_of_its_own():
    X, _ = make_blobs(40, centers=2, random_state=1)
    for changes in ({"featuremap__gamma": 0.5}, {"solver__nu": 0.3}, {"solver__C": 1.0, "tuner__search": "plane"}):
        grid = plots.edsvc_curves(recipe("edsvc", tuner__n_gamma=5, tuner__n_bounds=4, **changes).fit(X))
        assert grid.shape in ((2, 1), (2,))


def test_what_is_no_search_is_refused(fits):
    X, _ = make_blobs(30, centers=2, random_state=1)
    with pytest.raises(InvalidParameter, match="without curves"):
        plots.edsvc_curves(recipe("kmeans", n_clusters=2).fit(X))
    with pytest.raises(InvalidParameter, match="4 matplotlib axes"):
        plots.edsvc_curves(fits["coordinate"], axes=Figure().subplots(1, 2))
    with pytest.raises(InvalidParameter, match="matplotlib axes"):
        plots.edsvc_curves(fits["plane"], axes=[1, 2])
