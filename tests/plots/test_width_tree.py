"""Bars are as high as clusters are large, bands as high as the samples they lead."""

from __future__ import annotations

import numpy as np
import pytest

from clusterkit import plots, width_path
from clusterkit.drivers.width_path import WidthPath
from clusterkit.errors import InvalidParameter


def path_of(labels):
    labels = np.array(labels)
    steps = len(labels)
    none = np.full(steps, -1)
    return WidthPath(
        gamma=np.geomspace(0.1, 10.0, steps), n_clusters=labels.max(axis=1) + 1, n_sv=none, n_bsv=none,
        n_noise=(labels < 0).sum(axis=1), seconds=np.zeros(steps), labels=labels,
    )  # fmt: skip


def areas(ax):
    """Left and right end of every shape, and its height at both ends."""
    shapes = []
    for shape in ax.collections:
        corners = shape.get_paths()[0].vertices
        left, right = corners[:, 0].min(), corners[:, 0].max()
        heights = [np.ptp(corners[np.isclose(corners[:, 0], x), 1]) for x in (left, right)]
        shapes.append((left, right, *(round(float(height), 6) for height in heights)))
    return shapes


def test_bars_and_bands():
    """One cluster of ten, split into six and four, then three of the six are lost to noise."""
    path = path_of([[0] * 10, [0] * 6 + [1] * 4, [0] * 3 + [-1] * 3 + [1] * 4])
    ax = plots.width_tree(path)
    shapes = areas(ax)
    bars = sorted((round((left + right) / 2), low) for left, right, low, _ in shapes if right - left < 0.4)
    assert bars == [(0, 10.0), (1, 4.0), (1, 6.0), (2, 3.0), (2, 4.0)]
    bands = sorted((round(left), low, high) for left, right, low, high in shapes if right - left > 0.4)
    assert bands == [(0, 4.0, 4.0), (0, 6.0, 6.0), (1, 3.0, 3.0), (1, 4.0, 4.0)]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.1\nk = 1", "1\nk = 2", "10\nk = 2"]
    assert ax.get_title(loc="left") == "Clusters of 10 samples at 3 widths"


def test_small_clusters_are_left_out():
    path = path_of([[0] * 99 + [1]])
    assert len(plots.width_tree(path).collections) == 1
    assert len(plots.width_tree(path, min_share=0.0).collections) == 2


def test_colours_are_those_of_the_longest_plateau():
    split = [0] * 6 + [1] * 4
    ax = plots.width_tree(path_of([[0] * 10, split, split, split, [0] * 6 + [1, 1, 2, 2]]))
    bars = [shape for shape in ax.collections if shape.get_alpha() is None]
    colors = [tuple(shape.get_facecolor()[0]) for shape in bars]
    assert colors[0] == colors[1] == colors[3]  # the larger part of the first cluster
    assert colors[2] == colors[-1] == colors[-2] != colors[1]


def test_a_real_path_and_only_noise(moons):
    path = width_path(moons, n_gammas=8, nu=0.1)
    ax = plots.width_tree(path)
    ax.figure.draw_without_rendering()
    assert len(ax.collections) > 8
    assert not plots.width_tree(path_of([[-1] * 5])).collections


def test_refusals():
    with pytest.raises(InvalidParameter, match=r"needs what clusterkit.width_path\(X\) returns, got list"):
        plots.width_tree([1, 2])
    with pytest.raises(InvalidParameter, match="min_share"):
        plots.width_tree(path_of([[0, 0]]), min_share=1.0)
    none = np.empty(0, dtype=int)
    empty = WidthPath(none, none, none, none, none, none, np.empty((0, 2), dtype=int))
    with pytest.raises(InvalidParameter, match="no step"):
        plots.width_tree(empty)
