"""The whole plugin interface on one screen: the hooks that a distribution may implement.

A distribution names a light module in the entry-point group ``clusterkit``. The module sets ``API_VERSION`` and
implements any of these hooks with `clusterkit.hookimpl`. Most hooks answer ``{name: "module:Class"}``; the class is
imported when somebody asks for the name. The built-in stages are registered through the same hooks, by
`clusterkit.contracts.builtin_plugin`.
"""

# a hook is declared by its name and signature alone, and pluggy never calls its body
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pluggy

__all__ = ["API_VERSION", "CHANGES", "GROUP", "HOOKS", "hookimpl", "hookspec"]

if TYPE_CHECKING:
    from clusterkit.samples.limits import Report

API_VERSION = 3
"""Raised when the protocol of `clusterkit.contracts` changes so that old plugins would break."""

CHANGES: Mapping[int, tuple[str, ...]] = {
    2: (
        "FeatureMap.fit(X, rng) is now fit(X, task, rng)",
        "Partitioner.partition(samples, k, rng) is now partition(samples, task, rng); the number of clusters is task.k",
        'Status.facts["warning"], ["empty"] and ["exact_on_training"] are the fields warning, empty_clusters and '
        "predicts_labels of Status",
        "Recipe.driver names a registered driver instead of an estimator class: 'auto', not 'Auto'",
    ),
    3: (
        "FeatureMap.fit(samples, task, rng) gets a space (samples.points are the rows in memory) and returns a "
        "FittedMap or a space; row_map and made_on_host are reads = 'passes' and small = True",
        "Partitioner.partition is start(samples, task, rng), which gets a space, and returns a function of blocks "
        "where samples.by_blocks; why_not_by_blocks is the attribute reads",
        "Balancer.assign and decide are balance(costs, task), which returns a BalanceDecision; why_not_by_passes is "
        "reads(k)",
        "Path.sums and held are Path.passes, and Path.prepare returns a PassSolver where samples are not in memory; "
        "iterations without scores are the method leap of Prepared",
        "Status and Ended take an Ending in the place of converged and interrupted",
        "engines inherit clusterkit.samples.engines.Engine",
        "follows, elsewhere, beside, sent, landed and Keep are has_array_api, is_device_array, to_device_of, move_to, "
        "to_host and IdentityMap; functions of blocks inherit BlockFunction",
        "clusterkit.samples.limits.tell is notify, Space.lean is without_samples, FitResult.shortage is "
        "missing_clusters, fold and tree of clusterkit.samples.sums are add_left_to_right and add_as_tree",
        "Solver.targets = 'every_turn' is 'every_iteration'; turn and max_turns of a Report are iteration and max_iter",
    ),
}
"""Changes that a plugin has to make to reach a version of the interface, by version."""

GROUP = "clusterkit"
"""The entry-point group of plugins, and the name of the project in pluggy."""

hookspec = pluggy.HookspecMarker(GROUP)
"""Marks the hooks below."""
hookimpl = pluggy.HookimplMarker(GROUP)
"""Marks the implementations in a plugin module; public as `clusterkit.hookimpl`."""


@hookspec
def clusterkit_featuremaps() -> dict[str, str]:
    """Feature maps by name."""


@hookspec
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""


@hookspec
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name."""


@hookspec
def clusterkit_balancers() -> dict[str, str]:
    """Balancers by name."""


@hookspec
def clusterkit_partitioners() -> dict[str, str]:
    """Partitioners by name."""


@hookspec
def clusterkit_consensus() -> dict[str, str]:
    """Consensus functions by name."""


@hookspec
def clusterkit_tuners() -> dict[str, str]:
    """Tuners by name."""


@hookspec
def clusterkit_drivers() -> dict[str, str]:
    """Drivers by name: how the fits of one or several compositions become one result."""


@hookspec
def clusterkit_recipes() -> dict[str, str | dict[str, object]]:
    """Recipes by name: the keyword arguments of `clusterkit.Recipe`, or the place of a `Recipe`."""


@hookspec
def clusterkit_commands() -> dict[str, str]:
    """Commands of the command line by name: the place of a click command."""


@hookspec
def clusterkit_readers() -> dict[str, str]:
    """Readers of data files by ending, such as ``".arrow"``.

    Each is the place of a function from the path of a file to a mapping of column names to arrays of shape (n,).
    """


@hookspec
def clusterkit_engines() -> dict[str, str]:
    """Engines (`clusterkit.samples.engines`): what runs the sums of a solver over blocks of rows.

    The name is that of the package whose collections the engine takes, such as ``"dask"``.
    """


@hookspec
def clusterkit_namers() -> dict[str, str]:
    """Functions from a fitted model to descriptions of its clusters, each with `label` and `name`; "rules" is used."""


@hookspec
def clusterkit_views() -> dict[str, str]:
    """Functions from a fitted `Auto` to its HTML in a notebook; "notebook" is used."""


@hookspec
def clusterkit_savables() -> dict[str, str]:
    """Frozen classes that may stand in a saved model, by the name that the file gives them."""


@hookspec
def clusterkit_iteration(report: Report) -> None:
    """Called after each iteration of the loop with a `clusterkit.samples.limits.Report`."""


HOOKS: Mapping[str, str] = {
    "featuremap": "clusterkit_featuremaps",
    "solver": "clusterkit_solvers",
    "labeler": "clusterkit_labelers",
    "balancer": "clusterkit_balancers",
    "partitioner": "clusterkit_partitioners",
    "consensus": "clusterkit_consensus",
    "tuner": "clusterkit_tuners",
    "driver": "clusterkit_drivers",
    "recipe": "clusterkit_recipes",
    "command": "clusterkit_commands",
    "reader": "clusterkit_readers",
    "engine": "clusterkit_engines",
    "namer": "clusterkit_namers",
    "view": "clusterkit_views",
    "savable": "clusterkit_savables",
}
"""Hook that provides each kind of thing with a name."""
