"""The whole plugin interface on one screen: what a third-party distribution may answer.

A distribution names a light module in the entry-point group ``clusterkit``. The module sets ``API_VERSION`` and
implements any of these hooks with `clusterkit.hookimpl`. A hook of a stage kind answers
``{name: "module:Class"}``; the class is imported when somebody asks for the name.
"""

from __future__ import annotations

from typing import Any

import pluggy

__all__ = ["API_VERSION", "GROUP", "HOOKS", "hookimpl", "hookspec"]

API_VERSION = 1
"""Raised when the protocol of `clusterkit.core.stages` changes so that old plugins would break."""

GROUP = "clusterkit"

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def clusterkit_featuremaps() -> dict[str, str]:  # type: ignore[empty-body]
    """Feature maps by name."""


@hookspec
def clusterkit_solvers() -> dict[str, str]:  # type: ignore[empty-body]
    """Solvers by name."""


@hookspec
def clusterkit_labelers() -> dict[str, str]:  # type: ignore[empty-body]
    """Labelers by name."""


@hookspec
def clusterkit_balancers() -> dict[str, str]:  # type: ignore[empty-body]
    """Balancers by name."""


@hookspec
def clusterkit_partitioners() -> dict[str, str]:  # type: ignore[empty-body]
    """Partitioners by name."""


@hookspec
def clusterkit_consensus() -> dict[str, str]:  # type: ignore[empty-body]
    """Consensus functions by name."""


@hookspec
def clusterkit_tuners() -> dict[str, str]:  # type: ignore[empty-body]
    """Tuners by name."""


@hookspec
def clusterkit_drivers() -> dict[str, str]:  # type: ignore[empty-body]
    """Drivers by name."""


@hookspec
def clusterkit_recipes() -> dict[str, dict[str, Any]]:  # type: ignore[empty-body]
    """Recipes by name, each the keyword arguments of `clusterkit.Recipe`."""


@hookspec
def clusterkit_iteration(report: Any) -> None:
    """Called after each turn of the loop with a `clusterkit.core.progress.Report`."""


HOOKS = {
    "featuremap": "clusterkit_featuremaps",
    "solver": "clusterkit_solvers",
    "labeler": "clusterkit_labelers",
    "balancer": "clusterkit_balancers",
    "partitioner": "clusterkit_partitioners",
    "consensus": "clusterkit_consensus",
    "tuner": "clusterkit_tuners",
    "driver": "clusterkit_drivers",
    "recipe": "clusterkit_recipes",
}
"""The hook that answers for each kind."""
