"""Names to stages: the table of built-ins is right, and nothing is loaded or scanned before its time."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable

import attrs
import pytest
from oracles.builtin_names import TABLE

import clusterkit
from clusterkit.contracts.hookspecs import HOOKS, hookimpl
from clusterkit.contracts.providers import BUILTIN, VARIABLE, Entry, Plugin, Recipe
from clusterkit.contracts.registry import ABSTRACT, Registry
from clusterkit.errors import BrokenPlugin, UnknownName, nearest_names

STAGES = [(kind, name) for kind in ABSTRACT for name in TABLE[kind]]


@pytest.fixture
def fresh(monkeypatch):
    """A registry that has not looked at installed plugins, in an environment that allows none."""
    monkeypatch.setenv(VARIABLE, "")
    return Registry()


class TestTable:
    def test_a_stage_has_the_name_and_kind_it_is_listed_under(self, fresh):
        for kind, name in STAGES:
            stage = fresh.get(kind, name)
            assert issubclass(stage, ABSTRACT[kind])
            assert (stage.kind, stage.name) == (kind, name)

    def test_a_recipe_has_its_name_and_is_complete(self, fresh):
        for name in TABLE["recipe"]:
            recipe = fresh.get("recipe", name)
            assert isinstance(recipe, Recipe)
            assert recipe.name == name == name.lower().replace("_", "-")
            assert all((recipe.title, recipe.citation, recipe.use_when)), name

    def test_every_kind_has_a_hook_and_a_place_in_the_table(self):
        assert set(TABLE) == {*ABSTRACT, "recipe", "engine", "savable", "namer", "view"}
        assert set(HOOKS) == {*TABLE, "command", "reader"}

    def test_the_public_lists_follow_it(self, no_external_plugins):
        listed = clusterkit.stages()
        assert {kind: sorted(stages) for kind, stages in listed.items()} == {
            kind: sorted(TABLE[kind]) for kind in ABSTRACT
        }
        assert clusterkit.stages("solver") == listed["solver"]
        assert sorted(clusterkit.recipes()) == sorted(TABLE["recipe"])


class TestLookingUp:
    def test_a_built_in_name_scans_nothing(self, fresh):
        for kind, name in STAGES:
            fresh.get(kind, name)
        assert fresh._scanned is None
        assert fresh.iteration_listeners() == []

    def test_an_unknown_name_offers_the_nearest(self, fresh):
        with pytest.raises(UnknownName) as caught:
            fresh.get("labeler", "treshold")
        assert str(caught.value).startswith("no labeler named 'treshold'. Did you mean 'threshold'")

    def test_a_name_of_another_kind_is_unknown(self, fresh):
        with pytest.raises(UnknownName, match="no labeler named 'ridge'"):
            fresh.get("labeler", "ridge")

    def test_an_unknown_kind_offers_the_nearest(self, no_external_plugins):
        with pytest.raises(UnknownName, match=r"no kind of stage named 'solvers'\. Did you mean 'solver'"):
            clusterkit.stages("solvers")

    def test_an_entry_says_who_provides_it(self, fresh):
        assert fresh.find("solver", "ridge") == Entry("solver", "ridge", TABLE["solver"]["ridge"], BUILTIN)
        assert fresh.find("solver", "nothing") is None
        assert [entry.name for entry in fresh.entries("solver")] == sorted(TABLE["solver"])

    def test_a_distribution_that_is_not_there_gives_nothing(self, fresh):
        assert fresh.find("solver", "nobody:ridge") is None

    def test_a_defect_of_a_built_in_is_not_hidden(self, fresh, monkeypatch):
        broken = hookimpl(lambda: {"broken": "clusterkit.no_such_module:Thing"})
        monkeypatch.setattr("clusterkit.families.means.clusterkit_solvers", broken)
        with pytest.raises(ModuleNotFoundError, match="no_such_module"):
            fresh.get("solver", "broken")


class TestNearestNames:
    def test_far_names_are_listed_without_a_guess(self):
        assert nearest_names("zzz", ["b", "a"]) == "Available: a, b."

    def test_of_nothing(self):
        assert nearest_names("zzz", []) == "Available: none."


class TestForgetting:
    def test_registered_names_are_gone(self, fresh):
        thing = Recipe("mine", "title", "citation")
        fresh.register(thing)
        assert fresh.get("recipe", "mine") is thing
        fresh.forget()
        with pytest.raises(UnknownName):
            fresh.get("recipe", "mine")

    def test_plugins_are_looked_for_again(self, fresh, monkeypatch):
        assert fresh.plugins() == []
        monkeypatch.setenv(VARIABLE, "nowhere")
        assert fresh.plugins() == []
        fresh.forget()
        [plugin] = fresh.plugins()
        assert plugin.name == "nowhere"
        assert "no such plugin is installed" in plugin.problem


def test_a_recipe_that_a_plugin_answers_as_a_mapping_becomes_one(fresh):
    parameters = {"solver": "ridge"}
    fresh._session["recipe", "mine"] = Entry(
        "recipe", "mine", {"title": "t", "citation": "c", "parameters": parameters}, "x"
    )
    assert fresh.get("recipe", "mine") == Recipe("mine", "t", "c", parameters)
    fresh._session["recipe", "bad"] = Entry("recipe", "bad", {"titel": "t"}, "somebody")
    with pytest.raises(BrokenPlugin, match="recipe 'bad' of somebody cannot be loaded: TypeError"):
        fresh.get("recipe", "bad")
    assert sorted(set(fresh.available("recipe")) - set(TABLE["recipe"])) == ["mine"]


def test_entries_are_values():
    assert Entry("solver", "a", "m:A", "d") == attrs.evolve(Entry("solver", "b", "m:A", "d"), name="a")


def test_listing_names_imports_no_stage():
    script = """
import sys
from clusterkit.contracts.registry import registry
names = registry.names("solver"), registry.names("recipe")
heavy = ("clusterkit.families.means.", "clusterkit.estimators", "sklearn", "numba")
loaded = [m for m in sys.modules if m.startswith(heavy) and not m.endswith(".recipes")]
assert not loaded, loaded
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@attrs.frozen
class Point:
    """An entry point of a plugin whose module `load` makes."""

    load: Callable[[], object]


def module_of(**attributes):
    module = types.ModuleType("a_plugin_of_a_test")
    module.API_VERSION = 3
    for name, value in attributes.items():
        setattr(module, name, hookimpl(value) if name.startswith("clusterkit_") else value)
    return module


@pytest.fixture
def installing(monkeypatch):
    """Make plugins look installed: a function that gives the module of each, by the name of its distribution."""

    def install(**loads):
        points = [(Plugin(name, f"{name}-dist", "1.0"), Point(load)) for name, load in loads.items()]
        monkeypatch.setattr("clusterkit.contracts.registry.installed", lambda: iter(points))
        return Registry()

    return install


def raising(error):
    def load():
        raise error

    return load


class TestScan:
    def test_one_that_is_cut_short_is_not_kept(self, installing):
        presses = [KeyboardInterrupt()]

        def load():
            if presses:
                raise presses.pop()
            return module_of(clusterkit_readers=lambda: {".one": "m:one"})

        registry = installing(first=lambda: module_of(clusterkit_readers=lambda: {".first": "m:first"}), second=load)
        with pytest.raises(KeyboardInterrupt):
            registry.plugins()
        assert registry._scanned is None
        assert [plugin.problem for plugin in registry.plugins()] == [None, None]
        assert registry.names("reader") == [".first", ".one"]

    @pytest.mark.parametrize("error", [SystemExit("enough"), RuntimeError("enough"), RecursionError("enough")])
    def test_an_exit_is_the_failure_of_that_plugin(self, installing, error):
        good = module_of(clusterkit_readers=lambda: {".good": "m:good"})
        registry = installing(
            bad=raising(error), worse=lambda: module_of(clusterkit_readers=raising(error)), good=lambda: good
        )
        problems = [plugin.problem for plugin in registry.plugins()]
        assert problems == [f"{type(error).__name__}: enough"] * 2 + [None]
        assert registry.names("reader") == [".good"]

    def test_a_stage_whose_module_exits_is_a_broken_plugin(self, fresh, monkeypatch):
        import importlib

        monkeypatch.setattr(importlib, "import_module", lambda name: raising(SystemExit("enough"))())
        fresh._session["reader", ".x"] = Entry("reader", ".x", "m:x", "somebody")
        with pytest.raises(BrokenPlugin, match=r"reader '\.x' of somebody cannot be loaded: SystemExit: enough"):
            fresh.get("reader", ".x")

    @pytest.mark.parametrize("version", [True, False, "3", 3.0, None, (3,), 0, 1, 2, 4, 99])
    def test_a_version_must_be_the_one_spoken_and_an_int(self, installing, version):
        registry = installing(odd=lambda: module_of(API_VERSION=version))
        [plugin] = registry.plugins()
        assert plugin.problem.startswith(f"it says API_VERSION = {version!r}, this clusterkit speaks 3; ")
        if version in (0, 1) and type(version) is int:
            assert "FeatureMap.fit(X, rng) is now fit(X, task, rng)" in plugin.problem
        if version in (0, 1, 2) and type(version) is int:
            assert "Balancer.assign and decide are balance(costs, task)" in plugin.problem


class TestBuiltinsAreSafe:
    def test_no_plugin_may_register_while_it_is_loaded(self, installing):
        def replace():
            registry.register(Recipe("emmc", "mine", "nobody"), replace=True)
            return module_of()

        registry = installing(
            importing=replace, answering=lambda: module_of(clusterkit_readers=lambda: {".a": replace() and "m:a"})
        )
        problems = [plugin.problem for plugin in registry.plugins()]
        assert [problem.partition(" calls register")[0] for problem in problems] == ["importing-dist", "answering-dist"]
        assert registry.get("recipe", "emmc").title != "mine"

    def test_the_table_cannot_be_edited(self, fresh):
        with pytest.raises(TypeError, match="does not support item assignment"):
            fresh.builtins()["solver", "ridge"] = Entry("solver", "ridge", "os:system", "somebody")

    def test_a_name_that_differs_from_the_class_is_refused(self, fresh):
        fresh._session["partitioner", "mine"] = Entry(
            "partitioner", "mine", "clusterkit.families.shared.random:Random", "somebody"
        )
        with pytest.raises(BrokenPlugin, match="partitioner 'mine' of somebody calls itself 'random'"):
            fresh.get("partitioner", "mine")
        for target in (Recipe("other", "t", "c"), {"name": "other", "title": "t", "citation": "c"}):
            fresh._session["recipe", "mine"] = Entry("recipe", "mine", target, "somebody")
            with pytest.raises(BrokenPlugin, match="recipe 'mine' of somebody calls itself 'other'"):
                fresh.get("recipe", "mine")
