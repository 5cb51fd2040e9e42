"""Clusters of nearly equal size: equal clustering, and the GeoClust rule from which it comes.

Recipes: ``equal-clustering``, ``geoclust``.

- ``equal.py``: `Equal`, `GeoClust`, centres that drift until clusters have even sizes, and both as first labels. Wen,
  Lu, Zhao (2005). The sweeps are in ``drift.py`` and ``drift_jit.py``, the slower steps at the end in ``fade.py``.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "equal": "clusterkit.families.equal.equal:Equal",
        "geoclust": "clusterkit.families.equal.equal:GeoClust",
    }


@hookimpl
def clusterkit_partitioners() -> dict[str, str]:
    """Partitioners by name."""
    return {
        "equal": "clusterkit.families.equal.equal:EqualParts",
        "geoclust": "clusterkit.families.equal.equal:GeoClustParts",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "equal-clustering": "clusterkit.families.equal.recipes:EQUAL_CLUSTERING",
        "geoclust": "clusterkit.families.equal.recipes:GEOCLUST",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "Nearness": "clusterkit.families.equal.equal:Nearness",
    }
