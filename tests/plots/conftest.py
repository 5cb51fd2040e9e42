from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons

from clusterkit import Pipeline

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def agg(monkeypatch):
    """No window, no figures of other tests, and none left for them."""
    import matplotlib
    from matplotlib import pyplot

    monkeypatch.setenv("CLUSTERKIT_PLUGINS", "")
    matplotlib.use("Agg")
    pyplot.close("all")
    yield
    pyplot.close("all")


def composed(gamma: float, nu: float | None = None, labeler="complete_graph") -> Pipeline:
    return Pipeline({"name": "rbf", "gamma": gamma}, {"name": "svdd", "nu": nu}, labeler, random_state=0)


@pytest.fixture
def compose():
    return composed


@pytest.fixture(scope="session")
def moons() -> np.ndarray:
    X, _ = make_moons(120, noise=0.06, random_state=0)
    return np.vstack([X, [[-1.5, -1.0], [2.5, 1.4], [2.4, 1.3]]])


@pytest.fixture(scope="session")
def svc(moons) -> Pipeline:
    """Two moons and outliers: free and bounded support vectors, noise."""
    model = composed(12.0, 0.25).fit(moons)
    assert set(model.labels_) >= {-1, 0, 1}
    assert 0 < model.outcome_.support_counts.n_bounded < model.outcome_.support_counts.n_support
    return model


@pytest.fixture
def named():
    """The artist of axes whose label begins so; None if there is none."""

    def find(ax, label):
        artists = [
            artist for artist in [*ax.collections, *ax.lines] if str(artist.get_label()).partition(":")[0] == label
        ]
        assert len(artists) < 2
        return artists[0] if artists else None

    return find
