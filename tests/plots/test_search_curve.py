"""Curve and map of a search: the numbers of the result, the best marked, candidates without a score visible."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from matplotlib.figure import Figure

from clusterkit import plots
from clusterkit.errors import InvalidParameter
from clusterkit.estimators._search_results import Candidate, SearchResult


def search_of(params, scores, score="ami"):
    labels = np.array([0, 1])
    candidates = tuple(
        Candidate(p, s, labels, 2, 0, 0.1, "excluded" if np.isnan(s) else "scored")
        for p, s in zip(params, scores, strict=True)
    )
    best = int(np.nanargmin(scores) if score == "objective" else np.nanargmax(scores))
    return SearchResult(score, candidates, best, None, 0)


def marks(ax):
    return {line.get_label(): (line.get_xdata().tolist(), line.get_ydata().tolist()) for line in ax.lines}


def test_a_curve_is_sorted_and_marks_the_best():
    search = search_of([{"k": 4}, {"k": 2}, {"k": 3}], [0.4, np.nan, 0.7])
    ax = plots.search_curve(search)
    drawn = marks(ax)
    assert drawn["ami"] == ([3, 4], [0.7, 0.4])
    assert drawn["best"] == ([3], [0.7])
    assert drawn["no score"][0] == [2]
    assert drawn["no score"][1][0] < 0.4
    assert ax.get_title(loc="left") == "highest ami 0.7: k = 3, 2 clusters"
    assert ax.get_xscale() == "linear"
    wide = search_of([{"C": c} for c in (0.1, 1.0, 10.0)], [3.0, 1.0, 2.0], "objective")
    ax = plots.search_curve(wide, ax=Figure().subplots())
    assert ax.get_xscale() == "log"
    assert marks(ax)["best"] == ([1.0], [1.0])


def test_words_stay_in_the_order_of_the_grid():
    ax = plots.search_curve(search_of([{"map": "rbf"}, {"map": ["zscore", "elm"]}], [0.1, 0.2]))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["rbf", "['zscore', 'elm']"]


def test_a_map_shows_the_best_over_the_rest():
    params = [{"a": a, "b": b, "c": c} for a in (1, 2) for b in ("x", "y", "z") for c in (0, 1)]
    scores = np.arange(12.0)
    scores[[4, 5]] = np.nan
    search = search_of(params, scores)
    ax = plots.search_curve(search)
    assert np.array_equal(
        ax.images[0].get_array().filled(np.nan), [[1.0, 7.0], [3.0, 9.0], [np.nan, 11.0]], equal_nan=True
    )
    (frame,) = ax.patches
    assert frame.get_xy() == (0.5, 1.5)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    assert marks(plots.search_curve(search, params="c"))["ami"] == ([0, 1], [10.0, 11.0])
    assert plots.search_curve(search, params=["b", "c"]).images[0].get_array().shape == (2, 3)


def test_wrong_arguments():
    search = search_of([{"k": 2}, {"k": 3}], [0.1, 0.2])
    with pytest.raises(InvalidParameter, match=r"needs what clusterkit.search returns, got list"):
        plots.search_curve([])
    with pytest.raises(InvalidParameter, match="no parameter 'l' in the grid"):
        plots.search_curve(search, params="l")
    with pytest.raises(InvalidParameter, match="one or two names, got 0"):
        plots.search_curve(search, params=[])
    with pytest.raises(InvalidParameter, match="ax must be matplotlib axes"):
        plots.search_curve(search, ax=1)
    with pytest.raises(InvalidParameter, match="names no parameter"):
        plots.search_curve(
            attrs.evolve(search, candidates=(attrs.evolve(search.candidates[0], params={}),), best_index=0)
        )
