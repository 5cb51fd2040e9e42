"""Commands of plugins: listed after the built-in ones, loaded on use, and unable to break the others."""

import sys
import types
from importlib import metadata

import click
import pytest

from clusterkit.contracts import hookspecs
from clusterkit.contracts.providers import Plugin
from clusterkit.contracts.registry import registry
from clusterkit.errors import BrokenPlugin


def plugin(commands: dict[str, str], name: str = "a_plugin") -> types.ModuleType:
    """A plugin module whose hook answers these commands."""
    module = types.ModuleType(name)
    module.API_VERSION = hookspecs.API_VERSION
    module.clusterkit_commands = hookspecs.hookimpl(lambda: commands)
    return module


@pytest.fixture
def commands(monkeypatch):
    """A module with two commands, and a thing that is none."""

    @click.command(short_help="Print a report.")
    @click.option("--times", default=1)
    def abridge(times):
        click.echo("report " * times)

    module = types.ModuleType("a_command_module")
    module.abridge, module.number = abridge, 3
    monkeypatch.setitem(sys.modules, "a_command_module", module)
    return module


def section(shown: str, title: str) -> list[str]:
    """Names of the commands under a heading of the help."""
    lines = shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]


def test_it_is_listed_and_runs(run, commands):
    builtin = section(run("--help").stdout, "Commands")
    registry.register(plugin({"abridge": "a_command_module:abridge"}))
    shown = run("--help").stdout
    assert section(shown, "Commands") == builtin
    assert section(shown, "Commands of plugins") == ["abridge"]
    assert "abridge  Print a report." in shown
    answer = run("abridge", "--times", 2)
    assert (answer.exit_code, answer.stdout) == (0, "report report \n")
    assert "--times INTEGER" in run("abridge", "--help").stdout


def test_its_errors_are_one_line_like_all_others(run, commands, error_of):
    registry.register(plugin({"abridge": "a_command_module:abridge"}))
    assert "No such option" in error_of(run("abridge", "--tiems", 2))
    assert "no command named 'abrigde'. Did you mean 'abridge'?" in error_of(run("abrigde"))


def test_a_broken_one_says_so_on_use_only(run, commands, error_of):
    reasons = {
        "a_module_that_is_nowhere:abridge": "cannot be loaded: ModuleNotFoundError: No module named",
        "a_command_module:nothing": "cannot be loaded: AttributeError",
        "a_command_module:number": "is no click command: 3",
    }
    names = {f"broken{j}": target for j, target in enumerate(reasons)}
    registry.register(plugin({**names, "abridge": "a_command_module:abridge"}))
    answer = run("--help")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert section(answer.stdout, "Commands of plugins") == ["abridge", *names]
    assert answer.stdout.count("Cannot be loaded; run it to see why.") == 3
    for name, target in names.items():
        for args in ((), ("--help",), ("a", "--b", "c")):
            message = error_of(run(name, *args))
            assert message.startswith(f"command '{name}' of this session")
            assert reasons[target] in message
    assert run("abridge").exit_code == 0


def test_a_built_in_command_cannot_be_replaced(run, commands):
    registry.register(plugin({"recipes": "a_command_module:abridge"}))
    assert "emmc" in run("recipes").stdout
    assert "recipes" not in section(run("--help").stdout, "Commands of plugins")


def test_the_name_with_the_distribution_reaches_a_command(run, commands, monkeypatch):
    """Where two plugins have one name, the second is reached by the longer one, as for stages."""
    from clusterkit.contracts.providers import Entry
    from clusterkit.contracts.registry import _Scan

    entries = tuple(
        Entry("command", "abridge", "a_command_module:abridge", name) for name in ("first-dist", "second-dist")
    )
    monkeypatch.setattr(registry, "_scanned", _Scan((), {("command", "abridge"): entries}))
    assert run("second-dist:abridge").stdout == "report \n"


def test_a_command_of_this_checkout_leads_to_its_folder(run, error_of, monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    message = error_of(run("reproduce", "emmc-table4", "--quick"))
    assert message.startswith("no command named 'reproduce'. The plugin clusterkit-papers provides it, in the folder ")
    assert "plugins/clusterkit-papers of the checkout" in message
    assert "pip install ./plugins/clusterkit-papers" in message


def test_an_unknown_command_mentions_plugins_that_are_not_used(run, error_of, monkeypatch):
    monkeypatch.setattr(type(registry), "plugins", lambda self: [Plugin("bad", "bad-dist", "1.0", "ImportError: x")])
    assert "Some plugins are not used; see: clusterkit plugins." in error_of(run("abridge"))


def test_a_wrong_answer_of_the_hook_is_refused():
    module = plugin({})
    module.clusterkit_commands = hookspecs.hookimpl(lambda: ["abridge"])
    with pytest.raises(BrokenPlugin, match="clusterkit_commands must answer a mapping of names"):
        registry.register(module)
