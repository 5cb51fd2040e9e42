"""clusterkit: clustering algorithms as compositions of typed, pluggable stages.

>>> import clusterkit
>>> sorted(clusterkit.stages("labeler"))[:2]
['argmax', 'bias_threshold']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from clusterkit._version import __version__

# Public names load on first use, so that importing clusterkit costs next to nothing.
_HOME = {
    "API_VERSION": "clusterkit.contracts.hookspecs",
    "Auto": "clusterkit.estimators.auto",
    "ClusterkitWarning": "clusterkit.errors",
    "ConsensusClustering": "clusterkit.estimators.ensemble",
    "Links": "clusterkit.contracts.links",
    "Pipeline": "clusterkit.estimators.pipeline",
    "Recipe": "clusterkit.contracts.providers",
    "assign": "clusterkit.profiles",
    "compare": "clusterkit.profiles",
    "compositions": "clusterkit.catalogue",
    "config": "clusterkit.samples.devices",
    "ensemble": "clusterkit.estimators.ensemble",
    "explain": "clusterkit.profiles",
    "hookimpl": "clusterkit.contracts.hookspecs",
    "open": "clusterkit.tables.reading.opening",
    "load": "clusterkit.estimators.loading",
    "plugins": "clusterkit.catalogue",
    "profile": "clusterkit.profiles",
    "recipe": "clusterkit.estimators.build",
    "recipes": "clusterkit.estimators.build",
    "register": "clusterkit.catalogue",
    "relabel": "clusterkit.profiles",
    "representatives": "clusterkit.profiles",
    "save": "clusterkit.estimators.loading",
    "search": "clusterkit.estimators.search",
    "stages": "clusterkit.catalogue",
}
_MODULES = (
    "consensus", "contracts", "fitting", "metrics", "plots", "profiles", "report", "samples", "saving",
    "tables", "testing",
)  # fmt: skip
"""Packages that are attributes of the root; each is imported when it is used first."""

# written out, because type checkers read it
__all__ = [
    "API_VERSION",
    "Auto",
    "ClusterkitWarning",
    "ConsensusClustering",
    "Links",
    "Pipeline",
    "Recipe",
    "__version__",
    "assign",
    "compare",
    "compositions",
    "config",
    "consensus",
    "contracts",
    "ensemble",
    "explain",
    "fitting",
    "hookimpl",
    "load",
    "metrics",
    "open",
    "plots",
    "plugins",
    "profile",
    "profiles",
    "recipe",
    "recipes",
    "register",
    "relabel",
    "report",
    "representatives",
    "samples",
    "save",
    "saving",
    "search",
    "stages",
    "tables",
    "testing",
]

if TYPE_CHECKING:
    from clusterkit import (
        consensus,
        contracts,
        fitting,
        metrics,
        plots,
        profiles,
        report,
        samples,
        saving,
        tables,
        testing,
    )
    from clusterkit.catalogue import compositions, plugins, register, stages
    from clusterkit.contracts.hookspecs import API_VERSION, hookimpl
    from clusterkit.contracts.links import Links
    from clusterkit.contracts.providers import Recipe
    from clusterkit.errors import ClusterkitWarning
    from clusterkit.estimators.auto import Auto
    from clusterkit.estimators.build import recipe, recipes
    from clusterkit.estimators.ensemble import ConsensusClustering, ensemble
    from clusterkit.estimators.loading import load, save
    from clusterkit.estimators.pipeline import Pipeline
    from clusterkit.estimators.search import search
    from clusterkit.profiles import assign, compare, explain, profile, relabel, representatives
    from clusterkit.samples.devices import config
    from clusterkit.tables.reading.opening import open


if not TYPE_CHECKING:  # a checker would take every misspelt name for one that exists

    def __getattr__(name: str) -> object:
        if name in _HOME:
            value = getattr(importlib.import_module(_HOME[name]), name)
            globals()[name] = value
            return value
        if name in _MODULES:
            return importlib.import_module(f"clusterkit.{name}")
        raise AttributeError(f"module 'clusterkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
