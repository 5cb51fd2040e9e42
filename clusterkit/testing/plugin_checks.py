"""Checks of installed plugins: all that a plugin provides, each with the laws that it breaks.

Stages have the laws of the conformance kit. A recipe fits two groups and what it fits can be saved, a command prints
its help, and everything else loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, final

import attrs

from clusterkit.contracts.providers import Entry, Plugin
from clusterkit.contracts.registry import ABSTRACT_NAMES, registry
from clusterkit.testing.compare import check_recipe_saves
from clusterkit.testing.conformance import cases_of

__all__ = ["EXAMPLES", "PluginCheck", "checks_of"]

EXAMPLES = 25
"""Examples of each law, as many as pytest tries by default."""


@final
@attrs.frozen
class PluginCheck:
    """Laws that a stage or recipe of a plugin fulfils and breaks.

    Parameters
    ----------
    kind, name : str
    holds : tuple of str
        Names of the laws that hold.
    breaks : tuple of (str, str)
        Names of the laws that do not hold, with the message of each.
    """

    kind: str
    name: str
    holds: tuple[str, ...]
    breaks: tuple[tuple[str, str], ...] = ()


def checks_of(plugin: Plugin, examples: int = EXAMPLES) -> Iterator[PluginCheck]:
    """Check each stage and recipe that a plugin provides, one after the other; the same result in every run.

    Parameters
    ----------
    plugin : Plugin
        One of ``clusterkit.plugins()`` that is used.
    examples : int
        Examples of each law of a stage.
    """
    for kind, name in plugin.provides:
        # a name of a built-in reaches the built-in, the longer one the plugin
        reachable = f"{plugin.distribution}:{name}" if (kind, name) in plugin.shadowed else name
        entry = registry.find(kind, reachable)
        laws = [("is_registered", _unreachable)] if entry is None else _laws_of(attrs.evolve(entry, name=reachable))
        holds, breaks = [], []
        with _fixed_examples(examples):
            for law, check in laws:
                try:
                    check()
                except (Exception, SystemExit) as error:  # a plugin's error is a broken law; go on with the others
                    breaks.append((law, f"{type(error).__name__}: {error}"))
                else:
                    holds.append(law)
        yield PluginCheck(kind, name, tuple(holds), tuple(breaks))


def _laws_of(entry: Entry) -> list[tuple[str, Callable[[], object]]]:
    """Name and check of every law of the stage or recipe of an entry."""
    if entry.kind in ABSTRACT_NAMES:
        before = f"{entry.kind}-{entry.name}"  # then "-law", or "[parameter=value]-law" for a variant
        return [(case.label.removeprefix(before).removeprefix("-"), case) for case in cases_of(entry, 1.0)]
    laws: list[tuple[str, Callable[[], object]]] = [("loads", partial(registry.get, entry.kind, entry.name))]
    if entry.kind == "recipe":
        laws.append(("fits_and_can_be_saved", partial(check_recipe_saves, entry.name)))
    elif entry.kind == "command":
        laws.append(("prints_its_help", partial(_prints_help, entry.name)))
    return laws


def _unreachable() -> None:
    raise AssertionError("the registry does not find it")


def _prints_help(name: str) -> None:
    """The command loads, and its help ends without an error."""
    from click.testing import CliRunner

    command: Any = registry.get("command", name)
    answer = CliRunner().invoke(command, ["--help"])
    assert answer.exit_code == 0, f"--help ends with exit code {answer.exit_code}: {answer.output}"


@contextmanager
def _fixed_examples(examples: int) -> Iterator[None]:
    """Use the same examples in every run, and write nothing; afterwards hypothesis is set as before."""
    from hypothesis import settings

    settings.register_profile("before-the-check", parent=settings.default)
    settings.register_profile("plugin-check", max_examples=examples, deadline=None, derandomize=True, database=None)
    settings.load_profile("plugin-check")
    try:
        yield
    finally:
        settings.load_profile("before-the-check")
