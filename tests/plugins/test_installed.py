"""Installed plugins: found by entry point, isolated from each other, loaded as late as can be."""

from __future__ import annotations

import pytest

LISTED = """
for plugin in clusterkit.plugins():
    answer[plugin.distribution] = [plugin.name, plugin.version, plugin.problem, sorted(plugin.provides)]
"""


@pytest.fixture(scope="module")
def listed(ask):
    return ask(LISTED)


class TestListing:
    def test_a_good_one_says_what_it_provides(self, listed):
        provides = [["partitioner", "stripes"], ["recipe", "striped-means"]]
        assert listed["dummy-good"] == ["good", "1.0", None, provides]

    @pytest.mark.parametrize(
        ("distribution", "reason"),
        [
            ("dummy-broken", "ModuleNotFoundError: No module named 'a_module_that_is_nowhere'"),
            ("dummy-new", "it says API_VERSION = 99, this clusterkit speaks 1; update clusterkit"),
            ("dummy-unversioned", "it says API_VERSION = None"),
            ("dummy-wrong-hook", "clusterkit_lablers"),
            ("dummy-list", "clusterkit_partitioners must answer a mapping of names, got ['stripes']"),
        ],
    )
    def test_an_unusable_one_is_listed_with_the_reason(self, listed, distribution, reason):
        _, _, problem, provides = listed[distribution]
        assert reason in problem
        assert provides == []


def test_a_good_one_works_like_a_built_in(ask):
    answer = ask(
        """
import numpy as np
from clusterkit import Pipeline, recipe, recipes
from clusterkit.testing import check_stage
X = np.arange(12.0).reshape(6, 2)
model = Pipeline("identity", "centroids", "argmax", init="stripes", n_clusters=2).fit(X)
answer["sizes"] = np.bincount(model.labels_).tolist()
answer["recipe"] = type(recipe("striped-means", n_clusters=2).fit(X)).__name__
answer["init"] = Pipeline("identity", "centroids", "argmax", init="striped-means", n_clusters=2).fit(X).n_iter_ > 0
answer["listed"] = "striped-means" in recipes() and "stripes" in clusterkit.stages("partitioner")
from dummy_good import plugin
answer["turns heard"] = plugin.SEEN[:1]
check_stage("stripes")
"""
    )
    expected = {"sizes": [3, 3], "recipe": "Pipeline", "init": True, "listed": True, "turns heard": [1]}
    assert answer == expected


def test_built_in_names_load_no_plugin(ask, trace):
    answer = ask(
        """
import numpy as np
X = np.arange(12.0).reshape(6, 2)
clusterkit.recipe("kmeans", n_clusters=2, n_init=1).fit(X)
clusterkit.Pipeline(n_clusters=2, init="kmeans").get_params()
from pathlib import Path
import os
answer["quiet"] = not Path(os.environ["DUMMY_TRACE"]).exists()
clusterkit.stages("solver")
""",
        trace=trace,
    )
    assert answer["quiet"]
    assert trace.read_text() == "good was imported\n"


def test_an_unknown_name_tells_of_plugins_that_could_not_be_used(ask):
    answer = ask(
        """
try:
    clusterkit.Pipeline(solver="ridg").composition()
except ValueError as error:
    answer["said"] = str(error)
"""
    )
    assert "no solver named 'ridg'. Did you mean 'ridge'?" in answer["said"]
    assert "Plugin 'broken' (dummy-broken 1.0) is not used: ModuleNotFoundError" in answer["said"]
    assert "Plugin 'new' (dummy-new 1.0) is not used: it says API_VERSION = 99" in answer["said"]


class TestBadAnswers:
    @pytest.fixture(scope="class")
    def answer(self, ask):
        return ask(
            """
from clusterkit.core.registry import registry
for name in ("nonsense", "missing"):
    try:
        registry.get("partitioner", name)
    except ValueError as error:
        answer[name] = [type(error).__name__, str(error)]
answer["stages"] = sorted(clusterkit.stages("partitioner"))
answer["legal"] = sum(c.init is not None and c.init.name == "stripes" for c in clusterkit.compositions())
"""
        )

    def test_something_that_is_no_stage(self, answer):
        assert answer["nonsense"] == [
            "BrokenPlugin",
            "partitioner 'nonsense' of dummy-nonsense is no Partitioner: 1",
        ]

    def test_a_module_that_does_not_exist(self, answer):
        kind, said = answer["missing"]
        assert kind == "BrokenPlugin"
        assert said.startswith("partitioner 'missing' of dummy-missing cannot be loaded: ModuleNotFoundError")

    def test_everything_else_goes_on(self, answer):
        assert {"stripes", "twin", "weighty", "kmeans"} <= set(answer["stages"])
        assert not {"nonsense", "missing"} & set(answer["stages"])
        assert answer["legal"] > 0


class TestOneNameTwice:
    @pytest.fixture(scope="class")
    def answer(self, ask):
        return ask(
            """
import warnings
from clusterkit.core.registry import registry
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        answer["first"] = registry.get("partitioner", "twin").__module__
    clusterkit.stages()
    answer["second"] = registry.get("partitioner", "dummy-second:twin").__module__
    answer["built-in"] = registry.get("partitioner", "kmeans").__module__
    answer["shadow"] = registry.get("partitioner", "dummy-shadow:kmeans").__module__
    composition = clusterkit.Pipeline(init="dummy-second:twin", n_clusters=2).composition()
    answer["init"] = type(composition.init).__module__
answer["warnings"] = [[type(w.message).__name__, str(w.message)] for w in caught]
"""
        )

    def test_the_first_distribution_wins(self, answer):
        assert answer["first"] == "dummy_first.twin"

    def test_the_longer_name_reaches_the_other(self, answer):
        assert answer["second"] == answer["init"] == "dummy_second.twin"

    def test_it_is_said_once(self, answer):
        [[category, text]] = [entry for entry in answer["warnings"] if "twin" in entry[1]]
        assert category == "ClusterkitWarning"
        assert "'twin' comes from dummy-first" in text
        assert "'dummy-second:twin'" in text

    def test_a_built_in_wins_over_a_plugin(self, answer):
        assert answer["built-in"] == "clusterkit.partitioners.kmeans"
        assert answer["shadow"] == "dummy_shadow.kmeans"


class TestLoadedLate:
    def test_nothing_heavy_before_it_is_used(self, ask):
        answer = ask(
            """
import sys
clusterkit.plugins()
from clusterkit.core.registry import registry
answer["named"] = "weighty" in registry.names("partitioner")
answer["before"] = "sklearn" in sys.modules
registry.get("partitioner", "weighty")
answer["after"] = "sklearn" in sys.modules
"""
        )
        assert answer == {"named": True, "before": False, "after": True}

    def test_the_conformance_kit_objects(self, ask):
        answer = ask(
            """
from clusterkit.testing import laws_of
try:
    dict(laws_of("weighty"))["imports_nothing_heavy"]()
except AssertionError as error:
    answer["said"] = str(error)
"""
        )
        assert "importing dummy_heavy.weighty also imports sklearn" in answer["said"]


class TestChoice:
    @pytest.mark.parametrize(
        ("plugins", "used"),
        [
            ("good", {"dummy-good"}),
            ("dummy-first", {"dummy-first"}),
            (" good , second ", {"dummy-good", "dummy-second"}),
            ("", set()),
        ],
    )
    def test_the_variable_names_the_plugins_to_use(self, ask, plugins, used):
        assert set(ask(LISTED, plugins=plugins)) == used

    def test_empty_means_that_no_module_is_loaded(self, ask, trace):
        ask(LISTED, plugins="", trace=trace)
        assert not trace.exists()

    def test_a_missing_one_is_said_to_be_missing(self, ask):
        answer = ask(LISTED, plugins="good,absent")
        assert answer["not installed"][0] == "absent"
        assert "CLUSTERKIT_PLUGINS names it but no such plugin is installed" in answer["not installed"][2]
        assert answer["dummy-good"][2] is None


def test_a_stage_that_needs_arguments_does_not_spoil_the_rest(ask, needy):
    """The legal compositions, and what to offer for an illegal one, try every registered stage."""
    answer = ask(
        """
answer["compositions"] = len(list(clusterkit.compositions()))
try:
    clusterkit.Pipeline("rbf", "nmf", n_clusters=2).composition()
except ValueError as error:
    answer["said"] = [type(error).__name__, str(error)]
""",
        site=needy,
    )
    assert answer["compositions"] > 100
    assert answer["said"][0] == "IncompatibleStages"
