"""Installed plugins: found by entry point, isolated from each other, loaded as late as can be."""

import pytest

LISTED = """
for plugin in clusterkit.plugins():
    answer[plugin.distribution] = [
        plugin.name, plugin.version, plugin.problem, sorted(plugin.provides), plugin.shadowed
    ]
"""


@pytest.fixture(scope="module")
def listed(ask):
    return ask(LISTED)


class TestListing:
    def test_a_good_one_says_what_it_provides(self, listed):
        provides = [["partitioner", "stripes"], ["recipe", "striped-means"]]
        assert listed["dummy-good"] == ["good", "1.0", None, provides, []]

    @pytest.mark.parametrize(
        ("distribution", "reason"),
        [
            ("dummy-broken", "ModuleNotFoundError: No module named 'a_module_that_is_nowhere'"),
            ("dummy-new", "it says API_VERSION = 99, this clusterkit speaks 3; update clusterkit"),
            (
                "dummy-old",
                "it says API_VERSION = 1, this clusterkit speaks 3; update the plugin: FeatureMap.fit",
            ),
            ("dummy-unversioned", "it says API_VERSION = None"),
            ("dummy-exit", "SystemExit: enough"),
            ("dummy-wrong-hook", "clusterkit_lablers"),
            ("dummy-list", "clusterkit_partitioners must answer a mapping of names, got ['stripes']"),
        ],
    )
    def test_an_unusable_one_is_listed_with_the_reason(self, listed, distribution, reason):
        _, _, problem, provides, _ = listed[distribution]
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
answer["iterations heard"] = plugin.SEEN[:1]
check_stage("stripes", share=0.05)
"""
    )
    expected = {"sizes": [3, 3], "recipe": "Pipeline", "init": True, "listed": True, "iterations heard": [1]}
    assert answer == expected


def test_built_in_names_load_no_plugin(ask, trace):
    answer = ask(
        """
import numpy as np
X = np.arange(12.0).reshape(6, 2)
clusterkit.recipe("kmeans", n_clusters=2, n_init=1).composition()
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


@pytest.fixture(scope="module")
def bad_answers(ask):
    return ask(
        """
from clusterkit.contracts.registry import registry
try:
    clusterkit.Pipeline(solver="ridg").composition()
except ValueError as error:
    answer["unknown"] = str(error)
for name in ("nonsense", "missing"):
    try:
        registry.get("partitioner", name)
    except ValueError as error:
        answer[name] = [type(error).__name__, str(error)]
answer["stages"] = sorted(clusterkit.stages("partitioner"))
answer["legal"] = sum(c.init is not None and c.init.name == "stripes" for c in clusterkit.compositions())
"""
    )


class TestBadAnswers:
    def test_an_unknown_name_tells_of_plugins_that_could_not_be_used(self, bad_answers):
        message = bad_answers["unknown"]
        assert "no solver named 'ridg'. Did you mean 'ridge'?" in message
        assert "Plugin 'broken' (dummy-broken 1.0) is not used: ModuleNotFoundError" in message
        assert "Plugin 'new' (dummy-new 1.0) is not used: it says API_VERSION = 99" in message

    def test_something_that_is_no_stage(self, bad_answers):
        assert bad_answers["nonsense"] == [
            "BrokenPlugin",
            "partitioner 'nonsense' of dummy-nonsense is no Partitioner: 3",
        ]

    def test_a_module_that_does_not_exist(self, bad_answers):
        kind, message = bad_answers["missing"]
        assert kind == "BrokenPlugin"
        assert message.startswith("partitioner 'missing' of dummy-missing cannot be loaded: ModuleNotFoundError")

    def test_everything_else_goes_on(self, bad_answers):
        assert {"stripes", "twin", "weighty", "kmeans"} <= set(bad_answers["stages"])
        assert not {"nonsense", "missing"} & set(bad_answers["stages"])
        assert bad_answers["legal"] > 0


@pytest.fixture(scope="module")
def twins(ask):
    return ask(
        """
import warnings
from clusterkit.contracts.registry import registry
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


class TestOneNameTwice:
    def test_the_first_distribution_wins(self, twins):
        assert twins["first"] == "dummy_first.twin"

    def test_the_longer_name_reaches_the_other(self, twins):
        assert twins["second"] == twins["init"] == "dummy_second.twin"

    def test_it_is_said_once(self, twins):
        [[category, text]] = [entry for entry in twins["warnings"] if "twin" in entry[1]]
        assert category == "ClusterkitWarning"
        assert "'twin' comes from dummy-first" in text
        assert "'dummy-second:twin'" in text

    def test_a_built_in_wins_over_a_plugin(self, twins):
        assert twins["built-in"] == "clusterkit.families.means.starts"
        assert twins["shadow"] == "dummy_shadow.kmeans"

    def test_a_name_of_a_built_in_is_warned_of_once(self, twins):
        [[category, text]] = [entry for entry in twins["warnings"] if "kmeans" in entry[1]]
        assert category == "ClusterkitWarning"
        assert "partitioner 'dummy-shadow:kmeans'" in text

    def test_the_listing_says_so(self, listed):
        assert listed["dummy-shadow"][-1] == [["partitioner", "kmeans"]]
        assert listed["dummy-good"][-1] == []


def test_a_plugin_that_only_listens_is_called_with_the_arguments_it_takes(ask):
    answer = ask(
        """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    clusterkit.recipe("kmeans", n_clusters=2, n_init=1).fit(np.arange(12.0).reshape(6, 2))
from dummy_listener import plugin
answer["calls"] = plugin.CALLS > 0
answer["warnings"] = [str(w.message) for w in caught if "dummy-fails" in str(w.message)]
"""
    )
    assert answer["calls"]
    [text] = answer["warnings"]
    assert "is not called again: ZeroDivisionError" in text


def test_a_stage_is_imported_when_it_is_used(ask):
    answer = ask(
        """
import sys
clusterkit.plugins()
from clusterkit.contracts.registry import registry
answer["named"] = "weighty" in registry.names("partitioner")
answer["before"] = "sklearn" in sys.modules
registry.get("partitioner", "weighty")
answer["after"] = "sklearn" in sys.modules
"""
    )
    assert answer == {"named": True, "before": False, "after": True}


@pytest.mark.deep
def test_a_stage_whose_import_is_heavy_breaks_a_law(ask):
    answer = ask(
        """
from clusterkit.testing import laws_of
try:
    dict(laws_of("weighty"))["imports_nothing_heavy"]()
except AssertionError as error:
    answer["message"] = str(error)
"""
    )
    assert "importing dummy_heavy.weighty also imports sklearn" in answer["message"]


@pytest.fixture(scope="module")
def chosen(ask, tmp_path_factory):
    return ask(
        """
import os
from pathlib import Path
from clusterkit.contracts.registry import registry

def used(value):
    os.environ["CLUSTERKIT_PLUGINS"] = value
    registry.forget()
    return {p.distribution: [p.name, p.problem] for p in clusterkit.plugins()}

answer[""] = used("")
answer["loaded"] = Path(os.environ["DUMMY_TRACE"]).exists()
for value in ("good", "dummy-first", " good , second ", "good,absent"):
    answer[value] = used(value)
""",
        trace=tmp_path_factory.mktemp("trace") / "trace",
    )


class TestChoice:
    @pytest.mark.parametrize(
        ("value", "distributions"),
        [
            ("good", {"dummy-good"}),
            ("dummy-first", {"dummy-first"}),
            (" good , second ", {"dummy-good", "dummy-second"}),
            ("", set()),
        ],
    )
    def test_the_variable_names_the_plugins_to_use(self, chosen, value, distributions):
        assert set(chosen[value]) == distributions

    def test_empty_loads_no_module(self, chosen):
        assert not chosen["loaded"]

    def test_a_missing_one_is_said_to_be_missing(self, chosen):
        name, problem = chosen["good,absent"]["not installed"]
        assert name == "absent"
        assert "CLUSTERKIT_PLUGINS names it but no such plugin is installed" in problem
        assert chosen["good,absent"]["dummy-good"] == ["good", None]


def test_a_stage_that_needs_arguments_does_not_spoil_the_rest(ask, needy):
    """The legal compositions, and what to offer for an illegal one, try every registered stage."""
    answer = ask(
        """
from itertools import islice
answer["compositions"] = len(list(islice(clusterkit.compositions(), 101)))
try:
    clusterkit.Pipeline("elm", "svdd", n_clusters=2).composition()
except ValueError as error:
    answer["message"] = [type(error).__name__, str(error)]
""",
        site=needy,
    )
    assert answer["compositions"] > 100
    assert answer["message"][0] == "IncompatibleStages"
