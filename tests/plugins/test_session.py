"""`clusterkit.register`: stages, recipes and plugin modules made known in a running session."""

from __future__ import annotations

import pickle
import sys
import types
import warnings
from typing import ClassVar, final

import attrs
import numpy as np
import pytest

import clusterkit
from clusterkit import Pipeline, Recipe, recipe
from clusterkit.contracts import Partitioner
from clusterkit.contracts.providers import Plugin, warn_shadowed
from clusterkit.errors import BrokenPlugin, ClusterkitWarning, UnknownName

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

        def start(self, samples, task, rng):
            return np.arange(samples.n) * task.k // samples.n

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
    replaced = clusterkit.register(replace=True)(make("kmeans"))
    stages = clusterkit.stages("partitioner")
    assert stages["one"] is bare
    assert stages["kmeans"] is replaced


def test_a_recipe():
    clusterkit.register(Recipe("my-means", "k-means of mine", "nobody", {**STAGES, "init": "seeds"}))
    assert recipe("my-means", n_clusters=2, random_state=0).fit(X).converged_
    assert "my-means" in clusterkit.recipes()


def test_a_plugin_module(monkeypatch):
    module = types.ModuleType("mine")
    module.API_VERSION = 3
    module.clusterkit_partitioners = clusterkit.hookimpl(lambda: {"stripes": "a_module_of_stripes:Stripes"})
    # pluggy takes the name of the hook from the attribute
    assert clusterkit.register(module) is module
    monkeypatch.setitem(sys.modules, "a_module_of_stripes", types.SimpleNamespace(Stripes=make("stripes")))
    assert clusterkit.stages("partitioner")["stripes"].name == "stripes"


def test_a_plugin_module_without_a_version_is_refused():
    with pytest.raises(BrokenPlugin, match="set API_VERSION in the plugin module"):
        clusterkit.register(types.ModuleType("mine"))


def answering(hook: str, answer: object) -> types.ModuleType:
    """A plugin module with one hook."""
    module = types.ModuleType("answers")
    module.API_VERSION = 3
    setattr(module, hook, clusterkit.hookimpl(lambda: answer))
    return module


ARGUMENTS = {"title": "k-means of mine", "citation": "nobody", "parameters": {**STAGES, "init": "seeds"}}


@pytest.mark.parametrize(
    ("hook", "answer", "message"),
    [
        (
            "clusterkit_partitioners",
            {"stripes": make("stripes")},
            "'stripes', with a colon before the name, got <class",
        ),
        ("clusterkit_partitioners", {"stripes": "a.b.Stripes"}, "with a colon before the name, got 'a.b.Stripes'"),
        ("clusterkit_partitioners", {"stripes": "a/b.py:Stripes"}, "got 'a/b.py:Stripes'"),
        ("clusterkit_partitioners", {3: "a.b:Stripes"}, "partitioner name 3; a name is a text"),
        ("clusterkit_recipes", {"bad one": ARGUMENTS}, "recipe name 'bad one'; .* in lower case with hyphens"),
        ("clusterkit_recipes", {"Bad-Name": ARGUMENTS}, "recipe name 'Bad-Name'"),
        ("clusterkit_recipes", {"my-means": "a.b.RECIPE"}, "or the arguments of a Recipe for 'my-means'"),
    ],
)
def test_a_plugin_module_with_a_malformed_answer_is_refused_at_registration(hook, answer, message):
    with pytest.raises(BrokenPlugin, match=message):
        clusterkit.register(answering(hook, answer))


def test_a_recipe_of_a_wrong_name_is_refused_at_registration():
    with pytest.raises(BrokenPlugin, match="recipe name 'my_means'; a name is a text, in lower case with hyphens"):
        clusterkit.register(Recipe("my_means", **ARGUMENTS))


def test_a_recipe_of_a_module_is_registered_by_its_arguments():
    clusterkit.register(answering("clusterkit_recipes", {"my-means-2": ARGUMENTS}))
    assert clusterkit.recipes()["my-means-2"].title == "k-means of mine"


def test_the_warning_about_shadowed_names_fits_every_kind():
    plugin = Plugin("mine", "mine", "1.0", shadowed=(("savable", "NearestCentre"), ("solver", "ridge")))
    with pytest.warns(ClusterkitWarning, match=r"^built-in names stay with clusterkit; what .* savable 'mine:NearestC"):
        warn_shadowed([plugin])


def listener(heard: list[int], name: str = "listens") -> types.ModuleType:
    """A plugin module that hears of every iteration."""
    module = types.ModuleType(name)
    module.API_VERSION = 3

    def hear(report):
        heard.append(report.iteration)

    module.clusterkit_iteration = clusterkit.hookimpl(hear)
    return module


class TestListener:
    @pytest.mark.parametrize("error", [ZeroDivisionError("oops"), SystemExit("oops"), MemoryError("oops")])
    def test_one_that_raises_is_dropped_for_good_with_one_warning(self, error):
        calls = []

        def fail(report):
            calls.append(report)
            raise error

        module = listener([], "fails")
        module.clusterkit_iteration = clusterkit.hookimpl(fail)
        heard = []
        clusterkit.register(module)
        clusterkit.register(listener(heard))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                recipe("kmeans", n_clusters=2, random_state=0).fit(X)
        [message] = [str(each.message) for each in caught]
        assert message.endswith(f"is not called again: {type(error).__name__}: oops")
        assert len(calls) == 1
        assert len(heard) > 1


def test_a_recipe_cannot_be_edited():
    parameters = {"featuremap": ["zscore", "elm"], "solver": "centroids"}
    mine = clusterkit.register(Recipe("mine", "t", "c", parameters))
    for each in (mine, clusterkit.recipes()["emmc"]):
        with pytest.raises(TypeError, match="does not support item assignment"):
            each.parameters["solver"] = "ridge"
    parameters["featuremap"].append("rbf")
    assert mine.parameters["featuremap"] == ["zscore", "elm"]
    assert pickle.loads(pickle.dumps(mine)) == mine


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
        module.API_VERSION = 3
        module.clusterkit_partitioners = clusterkit.hookimpl(
            lambda: {"kmeans": "clusterkit.families.shared.random:Random"}
        )
        with pytest.raises(BrokenPlugin, match="partitioner 'kmeans' is already provided by clusterkit-toolkit"):
            clusterkit.register(module)
        assert clusterkit.stages("partitioner")["kmeans"].name == "kmeans"

    def test_a_module_that_is_refused_hears_of_no_iteration(self):
        heard = []
        module = listener(heard)
        module.clusterkit_partitioners = clusterkit.hookimpl(
            lambda: {"kmeans": "clusterkit.families.shared.random:Random"}
        )
        with pytest.raises(BrokenPlugin, match="already provided"):
            clusterkit.register(module)
        recipe("kmeans", n_clusters=2, random_state=0).fit(X)
        assert heard == []

    def test_a_module_in_use_stays_in_use_when_it_is_refused_later(self):
        heard = []
        module = clusterkit.register(listener(heard))
        module.clusterkit_partitioners = clusterkit.hookimpl(
            lambda: {"kmeans": "clusterkit.families.shared.random:Random"}
        )
        clusterkit.register(module)  # pluggy read its hooks when it came into use
        recipe("kmeans", n_clusters=2, random_state=0).fit(X)
        assert heard


@pytest.mark.parametrize("thing", [3, "ridge", Partitioner, int, make("halves")()])
def test_what_cannot_be_registered(thing):
    with pytest.raises(BrokenPlugin, match="register takes a concrete stage class, a class that can be saved"):
        clusterkit.register(thing)
