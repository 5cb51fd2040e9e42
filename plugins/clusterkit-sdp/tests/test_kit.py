"""The conformance kit over all solvers, and how the plugin is discovered."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import clusterkit
from clusterkit.errors import BrokenPlugin
from clusterkit.testing import parametrize_with_laws

pytest.importorskip("cvxpy", reason="the solvers of clusterkit-sdp need cvxpy")

X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])


# a solve takes a tenth of a second and most laws take several an example
@parametrize_with_laws(distribution="clusterkit-sdp", share=0.24)
def test_laws(law):
    law()


def test_discovered_through_the_entry_point_alone():
    [plugin] = [entry for entry in clusterkit.plugins() if entry.distribution == "clusterkit-sdp"]
    assert plugin.problem is None
    assert set(plugin.provides) == {
        ("solver", "gmmc_sdp"),
        ("solver", "mmc_multi_sdp"),
        ("solver", "mmc_sdp"),
        ("recipe", "gmmc-sdp"),
        ("recipe", "mmc"),
        ("recipe", "mmc-multi"),
    }


def test_the_core_knows_what_the_plugin_provides():
    from clusterkit.contracts.providers import PLUGINS

    [known] = [entry for entry in PLUGINS if entry.distribution == "clusterkit-sdp"]
    [plugin] = [entry for entry in clusterkit.plugins() if entry.distribution == "clusterkit-sdp"]
    assert {(kind, name) for kind, names in known.provides.items() for name in names} == set(plugin.provides)


@pytest.mark.parametrize(
    ("name", "solver", "clusters"),
    [("mmc", "mmc_sdp", "two"), ("mmc-multi", "mmc_multi_sdp", "given"), ("gmmc-sdp", "gmmc_sdp", "two")],
)
class TestRecipes:
    def test_fits(self, name, solver, clusters):
        model = clusterkit.recipe(name, n_clusters=2, random_state=0).fit(X)
        assert model.labels_.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
        assert not hasattr(model, "predict")

    def test_is_complete_and_says_its_clusters(self, name, solver, clusters):
        recipe = clusterkit.recipes()[name]
        assert recipe.clusters == clusters
        assert recipe.citation
        assert recipe.use_when
        if clusters == "two":
            with pytest.raises(ValueError, match="finds at most 2 clusters, not 3"):
                clusterkit.recipe(name, n_clusters=3).fit(X)
        else:
            assert clusterkit.recipe(name, n_clusters=3, random_state=0).fit(X).labels_.max() == 2

    def test_without_cvxpy_is_listed_and_the_error_names_what_is_missing(self, name, solver, clusters, monkeypatch):
        monkeypatch.setitem(sys.modules, "cvxpy", None)
        assert name in clusterkit.recipes()
        assert solver in clusterkit.stages("solver")
        with pytest.raises(BrokenPlugin, match=f"solver '{solver}' of clusterkit-sdp needs cvxpy, which cannot be imp"):
            clusterkit.recipe(name, n_clusters=2).fit(X)
