"""Mixtures of columns of several kinds, with a role for each column.

Recipe: ``mixture``.

- ``mixed_mixture.py``: `MixedMixture`, ``max Σ_i log Σ_c π_c Π_j p(x_ij | c)`` with roles of columns, by expectation
  and maximisation in ``expectation.py``; the search for the number of components and for the roles is in ``search.py``,
  the evidence that it compares in ``evidence.py``.
- ``columns.py``: `Columns`, the columns of a table as parts of a mixture, held by ``mixed_table.py``.
- ``relevant.py``: `Relevant`, the columns that depend on the clusters.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_featuremaps() -> dict[str, str]:
    """Feature maps by name."""
    return {
        "columns": "clusterkit.families.mixtures.columns:Columns",
        "relevant": "clusterkit.families.mixtures.relevant:Relevant",
    }


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "mixed_mixture": "clusterkit.families.mixtures.mixed_mixture:MixedMixture",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "mixture": "clusterkit.families.mixtures.recipes:MIXTURE",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "LevelForms": "clusterkit.families.mixtures.levels:LevelForms",
        "MixedPosteriors": "clusterkit.families.mixtures.mixed_mixture:MixedPosteriors",
        "MixtureModel": "clusterkit.families.mixtures.expectation:MixtureModel",
    }
