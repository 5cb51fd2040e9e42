"""Minimum spanning trees and what is read from them: HDBSCAN, Genie, mass cut, single linkage.

Recipes: ``hdbscan``, ``genie``, ``mass-cut``, ``single-linkage``.

- ``mst.py``: `Mst`, the minimum spanning tree of distances or of mutual reachabilities.
- ``cuts.py``: `ExcessOfMass`, the clusters of HDBSCAN (Campello, Moulavi, Zimek, Sander 2015); `Genie` (Gagolewski,
  Bartoszuk, Cena 2016); `MassCut`; `Single`; layers, the cuts that persist.
- ``hierarchy_jit.py``: the loops over the merges, among them the choice of clusters by their stability.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "mst": "clusterkit.families.trees.mst:Mst",
    }


@hookimpl
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name."""
    return {
        "excess_of_mass": "clusterkit.families.trees.cuts:ExcessOfMass",
        "genie": "clusterkit.families.trees.cuts:Genie",
        "mass_cut": "clusterkit.families.trees.cuts:MassCut",
        "single": "clusterkit.families.trees.cuts:Single",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "genie": "clusterkit.families.trees.recipes:GENIE",
        "hdbscan": "clusterkit.families.trees.recipes:HDBSCAN",
        "mass-cut": "clusterkit.families.trees.recipes:MASS_CUT",
        "single-linkage": "clusterkit.families.trees.recipes:SINGLE_LINKAGE",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "NearestRowInTree": "clusterkit.families.trees.cuts:NearestRow",
    }
