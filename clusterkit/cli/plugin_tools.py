"""``clusterkit plugins --check`` runs the laws of what is installed, with a readable verdict."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from clusterkit.cli import console
from clusterkit.cli.failures import UNEXPECTED, BadInput

if TYPE_CHECKING:
    from clusterkit.contracts.providers import Plugin
    from clusterkit.testing.conformance import PluginCheck

STORAGE = "HYPOTHESIS_STORAGE_DIRECTORY"
"""Environment variable with the folder that hypothesis writes to; otherwise it is one in the current folder."""


def chosen(plugins: Sequence[Plugin], name: str | None) -> list[Plugin]:
    """The plugins of a name, that of the entry point or of the distribution; all without a name.

    Raises
    ------
    UnknownName
        If there is none, with the nearest names.
    """
    if name is None:
        return list(plugins)
    matching = [plugin for plugin in plugins if name in (plugin.name, plugin.distribution)]
    if not matching:
        from clusterkit.errors import UnknownName, nearest_names

        names = {each for plugin in plugins for each in (plugin.name, plugin.distribution)}
        advice = nearest_names(name, names) if names else "No plugins are installed."
        raise UnknownName(f"no plugin named {name!r}. {advice}")
    return matching


def check(plugins: Sequence[Plugin], examples: int, as_json: bool) -> None:
    """Check plugins and print what holds, each when it is known; the exit code is 1 if a law is broken.

    Parameters
    ----------
    plugins : sequence of Plugin
    examples : int
        Examples of each law of a stage.
    as_json : bool
        Print one JSON document at the end instead.

    Raises
    ------
    BadInput
        If the packages of the conformance kit are missing.
    """
    try:
        from clusterkit.testing.conformance import checks_of
    except ImportError as error:
        raise BadInput(f"--check needs {error.name}: install clusterkit-toolkit with the extra 'testing'") from error

    documents = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault(STORAGE, folder)
        for plugin in plugins:
            if not as_json:
                console.heading(f"{plugin.name} ({plugin.distribution} {plugin.version})")
            checks = []
            if plugin.problem and not as_json:
                console.text(f"  not used: {plugin.problem}")
            if not plugin.problem:
                for check in checks_of(plugin, examples):
                    checks.append(check)
                    if not as_json:
                        _print(check)
            documents.append(_document(plugin, checks))
    failed = [document for document in documents if not document["passes"]]
    if as_json:
        console.as_json(documents)
    else:
        _print_sum(len(documents), len(failed))
    if failed:
        raise click.exceptions.Exit(UNEXPECTED)


def _print(check: PluginCheck) -> None:
    """A line for a thing that a plugin provides, and two for each law that it breaks."""
    number = len(check.holds) + len(check.breaks)
    laws = "1 law" if number == 1 else f"{number} laws"
    summary = f"breaks {len(check.breaks)} of {laws}" if check.breaks else f"{laws} hold{'s' * (number == 1)}"
    console.text(f"  {check.kind} {check.name}: {summary}")
    for law, message in check.breaks:
        console.text(f"    {law}")
        for line in message.splitlines():
            console.text(f"      {line}")


def _print_sum(number: int, failed: int) -> None:
    """The sentence on all plugins together."""
    if not number:
        console.text("No plugins are installed (entry points of the group clusterkit).")
        return
    subject = "1 plugin" if number == 1 else f"{number} plugins"
    console.text(f"{subject} checked: {f'{failed} not as they should be' if failed else 'every law holds'}")


def _document(plugin: Plugin, checks: Sequence[PluginCheck]) -> dict[str, object]:
    """JSON document about a plugin."""
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "problem": plugin.problem,
        "passes": plugin.problem is None and not any(check.breaks for check in checks),
        "verdicts": [
            {
                "kind": check.kind,
                "name": check.name,
                "holds": list(check.holds),
                "breaks": [{"law": law, "message": message} for law, message in check.breaks],
            }
            for check in checks
        ],
    }
