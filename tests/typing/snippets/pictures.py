"""Plots; matplotlib has types of its own."""

from typing import assert_type

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from clusterkit import Pipeline, plots, recipe, search


def draw(X: NDArray[np.float64]) -> None:
    model = Pipeline("rbf", "svdd", "complete_graph").fit(X)
    ax = Figure().subplots()
    assert_type(plots.contours(model, X, ax=ax, grid=50), Axes)
    assert_type(plots.clusters(model.labels_, X, dims=(0, 1), names=["a", "b"]), Axes)
    assert_type(plots.clusters(recipe("kmeans", n_clusters=2).fit(X), X), Axes)
    assert_type(plots.search_curve(search("kmeans", {"n_clusters": [2, 3]}, X), params="n_clusters"), Axes)
    plots.contours(X)  # type: ignore[call-arg, arg-type]
    plots.contour  # type: ignore[attr-defined]  # noqa: B018
