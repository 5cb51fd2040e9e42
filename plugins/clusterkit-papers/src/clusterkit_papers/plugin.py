"""Hooks by which clusterkit learns what this distribution offers; names only, so that asking costs nothing."""

from __future__ import annotations

import clusterkit

API_VERSION = 3
"""Version of the plugin interface this distribution was written for."""


@clusterkit.hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers that a table compares, by name."""
    return {"convex_nmf": "clusterkit_papers.elm.convex_nmf:ConvexNmf"}


@clusterkit.hookimpl
def clusterkit_commands() -> dict[str, str]:
    """Commands of the command line by name; the module is imported when help is shown or the command runs."""
    return {
        "reproduce": "clusterkit_papers.command:reproduce",
        "benchmark": "clusterkit_papers.benchmark_command:benchmark",
    }


@clusterkit.hookimpl
def clusterkit_drivers() -> dict[str, str]:
    """Drivers by name."""
    return {
        "auto_pooled": "clusterkit_papers.emmc.auto_pooled:AutoPooledDriver",
        "pooled": "clusterkit_papers.emmc.pooled:PooledDriver",
    }


@clusterkit.hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "emmc-auto": "clusterkit_papers.emmc.recipes:EMMC_AUTO",
        "emmc-multistart": "clusterkit_papers.emmc.recipes:EMMC_MULTISTART",
    }
