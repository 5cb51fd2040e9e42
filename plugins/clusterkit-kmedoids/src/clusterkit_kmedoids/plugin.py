"""Hooks by which clusterkit learns what this distribution offers; names only, so that asking costs nothing."""

from __future__ import annotations

import clusterkit

API_VERSION = 3
"""Version of the plugin interface for which this distribution is written."""


@clusterkit.hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {"medoids": "clusterkit_kmedoids.medoids:Medoids"}


@clusterkit.hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {"MedoidDistances": "clusterkit_kmedoids.medoids:MedoidDistances"}


@clusterkit.hookimpl
def clusterkit_recipes() -> dict[str, dict[str, object]]:
    """Recipes by name."""
    return {
        "k-medoids": {
            "title": "k-medoids: a row as the centre of each cluster",
            "citation": "Schubert, Rousseeuw (2021), Fast and eager k-medoids clustering: O(k) runtime improvement of "
            "the PAM, CLARA, and CLARANS algorithms, Information Systems 101",
            "parameters": {"featuremap": "identity", "solver": "medoids", "labeler": "argmax"},
            "use_when": "Distances without coordinates, other metrics than the Euclidean one, or rows as centres.",
        }
    }
