"""Clusterings by the eigenvectors of a graph of the samples, and mixtures that are smooth over it.

Recipes: ``spectral``, ``ncut``, ``lapgmm``.

- ``spectral.py``: `Graph`, the leading eigenvectors of the normalised affinities as features. Ng, Jordan, Weiss (2002).
- ``ncut.py``: `Ncut`, normalised cuts. Shi, Malik (2000).
- ``lapgmm.py``: `LapGmm`, a Gaussian mixture whose posteriors vary slowly over the graph, and the plain mixture. He,
  Cai, Shao, Bao, Han (2011). The graph is in ``_neighbour_graph.py``.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_featuremaps() -> dict[str, str]:
    """Feature maps by name."""
    return {
        "graph": "clusterkit.families.graphs.spectral:Graph",
    }


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "lapgmm": "clusterkit.families.graphs.lapgmm:LapGmm",
        "ncut": "clusterkit.families.graphs.ncut:Ncut",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "lapgmm": "clusterkit.families.graphs.recipes:LAPGMM",
        "ncut": "clusterkit.families.graphs.recipes:NCUT",
        "spectral": "clusterkit.families.graphs.recipes:SPECTRAL",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "NystromMap": "clusterkit.families.graphs.spectral:NystromMap",
        "Mixture": "clusterkit.families.graphs.lapgmm:Mixture",
        "Posteriors": "clusterkit.families.graphs.lapgmm:Posteriors",
    }
