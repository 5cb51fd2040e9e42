"""`clusterkit.register`: stages, recipes and plugin modules made known in a running session."""

from __future__ import annotations

import types
from typing import ClassVar, final

import attrs
import numpy as np
import pytest

import clusterkit
from clusterkit import Pipeline, Recipe, recipe
from clusterkit.core.errors import BrokenPlugin, UnknownName
from clusterkit.core.stages import Partitioner

pytestmark = pytest.mark.usefixtures("no_external_plugins")

X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
STAGES = {"featuremap": "identity", "solver": "centroids", "labeler": "argmax"}


def make(stage_name: str) -> type[Partitioner]:
    """A new partitioner class."""

    @final
    @attrs.frozen
    class Halves(Partitioner):
        """The first half, the second half."""

        name: ClassVar[str] = stage_name
        sees: ClassVar[str] = "input"

        def partition(self, samples, task, rng):
            return np.arange(len(samples)) * task.k // len(samples)

    return Halves


def test_a_class_is_known_by_its_name_from_then_on():
    halves = make("halves")
    with pytest.raises(UnknownName, match="no partitioner named 'halves'"):
        Pipeline(**STAGES, init="halves", n_clusters=2).fit(X)
    assert clusterkit.register(halves) is halves
    assert Pipeline(**STAGES, init="halves", n_clusters=2).fit_predict(X).tolist() == [0, 0, 0, 1, 1, 1]
    assert clusterkit.stages("partitioner")["halves"] is halves
    assert any(c.init is not None and c.init.name == "halves" for c in clusterkit.compositions())


def test_as_a_decorator():
    bare = clusterkit.register(make("one"))
    named = clusterkit.register(name="another")(make("two"))
    stages = clusterkit.stages("partitioner")
    assert stages["one"] is bare
    assert stages["another"] is named
    assert "two" not in stages


def test_a_recipe():
    clusterkit.register(Recipe("my-means", "k-means of mine", "nobody", {**STAGES, "init": "seeds"}))
    assert recipe("my-means", n_clusters=2, random_state=0).fit(X).converged_
    assert "my-means" in clusterkit.recipes()


def test_a_plugin_module():
    module = types.ModuleType("mine")
    module.API_VERSION = 2
    module.clusterkit_partitioners = clusterkit.hookimpl(
        lambda: {"random_again": "clusterkit.partitioners.random:Random"}
    )
    # pluggy takes the name of the hook from the attribute
    assert clusterkit.register(module) is module
    assert clusterkit.stages("partitioner")["random_again"].name == "random"


def test_a_plugin_module_without_a_version_is_refused():
    with pytest.raises(BrokenPlugin, match="set API_VERSION in the plugin module"):
        clusterkit.register(types.ModuleType("mine"))


class TestClash:
    def test_a_taken_name_is_refused(self):
        clusterkit.register(make("halves"))
        other = make("halves")
        other.__qualname__ = "Other"
        with pytest.raises(BrokenPlugin, match=r"'halves' is already provided by this session.*replace=True"):
            clusterkit.register(other)

    def test_a_notebook_cell_may_run_twice(self):
        clusterkit.register(make("halves"))
        again = clusterkit.register(make("halves"))
        assert clusterkit.stages("partitioner")["halves"] is again

    def test_a_built_in_name_is_refused(self):
        with pytest.raises(BrokenPlugin, match="partitioner 'kmeans' is already provided by clusterkit-toolkit"):
            clusterkit.register(make("kmeans"))

    def test_the_same_class_again_is_fine(self):
        halves = make("halves")
        assert clusterkit.register(clusterkit.register(halves)) is halves

    def test_replace_takes_the_place(self):
        clusterkit.register(make("halves"))
        second = clusterkit.register(make("halves"), replace=True)
        assert clusterkit.stages("partitioner")["halves"] is second

    def test_a_built_in_may_be_replaced_on_request(self):
        mine = clusterkit.register(make("kmeans"), replace=True)
        assert clusterkit.stages("partitioner")["kmeans"] is mine

    def test_a_module_does_not_replace_silently(self):
        module = types.ModuleType("mine")
        module.API_VERSION = 2
        module.clusterkit_partitioners = clusterkit.hookimpl(
            lambda: {"kmeans": "clusterkit.partitioners.random:Random"}
        )
        with pytest.raises(BrokenPlugin, match="partitioner 'kmeans' is already provided by clusterkit-toolkit"):
            clusterkit.register(module)
        assert clusterkit.stages("partitioner")["kmeans"].name == "kmeans"


@pytest.mark.parametrize("thing", [3, "ridge", Partitioner, int, make("halves")()])
def test_what_cannot_be_registered(thing):
    with pytest.raises(BrokenPlugin, match="register takes a concrete stage class, a Recipe or a plugin module"):
        clusterkit.register(thing)
