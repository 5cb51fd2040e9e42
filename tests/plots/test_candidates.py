"""`plots.candidates`."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs

from clusterkit import Auto, plots
from clusterkit.errors import InvalidParameter

X, _ = make_blobs([40, 40, 40], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)


@pytest.mark.parametrize("k", [None, 3])
def test_draws_every_candidate_and_names_the_answer(k):
    model = Auto(k, pool=["kmeans", "genie"], random_state=0).fit(X)
    ax = plots.candidates(model, Figure().subplots())
    points = sum(len(part.get_offsets()) for part in ax.collections)
    assert points == len(model.candidates_) + 1  # the answer has a ring
    assert "3 clusters" in ax.get_title(loc="left")
    assert f"{model.confidence_:.2f}" in ax.get_title(loc="left")


@pytest.mark.parametrize("model", ["auto", Auto()], ids=["a name", "not fitted"])
def test_wrong_models_are_refused(model):
    with pytest.raises(InvalidParameter, match="candidates"):
        plots.candidates(model, Figure().subplots())
