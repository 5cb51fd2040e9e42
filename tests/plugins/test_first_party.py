"""Plugins of this checkout: a name that one of them provides leads to its folder, never to a public index."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import clusterkit
from clusterkit import Pipeline, recipe
from clusterkit.contracts.providers import PLUGINS
from clusterkit.contracts.registry import registry
from clusterkit.errors import UnknownName

ROOT = Path(__file__).parents[2]
NAMES = [(plugin, kind, name) for plugin in PLUGINS for kind, names in plugin.provides.items() for name in names]


@pytest.fixture
def absent(monkeypatch, no_external_plugins):
    """No plugin is installed."""

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.distribution)
def test_the_folder_has_the_distribution(plugin):
    project = tomllib.loads((ROOT / f"plugins/{plugin.distribution}" / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert project["name"] == plugin.distribution


@pytest.mark.parametrize(("plugin", "kind", "name"), NAMES, ids=[name for _, _, name in NAMES])
@pytest.mark.usefixtures("absent")
def test_a_name_of_an_absent_plugin_leads_to_its_folder(plugin, kind, name):
    for query in (name, f"{plugin.distribution}:{name}"):
        with pytest.raises(UnknownName) as caught:
            registry.get(kind, query)
        message = str(caught.value)
        assert message.startswith(f"no {kind} named {query!r}. The plugin {plugin.distribution} provides it")
        assert f"in the folder plugins/{plugin.distribution} of the checkout" in message
        assert f"pip install ./plugins/{plugin.distribution}" in message
        assert f"pip install {plugin.distribution}" not in message


@pytest.mark.usefixtures("absent")
class TestWhereUsersAsk:
    def test_recipe(self):
        with pytest.raises(UnknownName, match=r"no recipe named 'mmc'.*pip install \./plugins/clusterkit-sdp"):
            recipe("mmc", n_clusters=2)

    def test_slot(self):
        with pytest.raises(UnknownName, match=r"no solver named 'mmc_sdp'.*pip install \./plugins/clusterkit-sdp"):
            Pipeline("rbf", "mmc_sdp", "threshold", n_clusters=2).fit([[0.0], [1.0]])

    def test_start(self):
        with pytest.raises(UnknownName, match=r"The plugin clusterkit-sdp provides it"):
            Pipeline(init="mmc", n_clusters=2).fit([[0.0], [1.0]])

    def test_other_names_get_the_nearest(self):
        with pytest.raises(UnknownName, match=r"no recipe named 'kmean'\. Did you mean 'kmeans'"):
            recipe("kmean")

    def test_nothing_is_listed(self):
        assert "mmc" not in clusterkit.recipes()
        assert "mmc_sdp" not in clusterkit.stages("solver")


@pytest.mark.usefixtures("no_external_plugins")
def test_an_installed_plugin_that_is_switched_off_is_said_to_be(monkeypatch):
    monkeypatch.setattr(metadata, "distribution", lambda name: name)
    with pytest.raises(
        UnknownName, match="is installed, but not used: look at the environment variable CLUSTERKIT_PLU"
    ):
        recipe("mmc", n_clusters=2)
