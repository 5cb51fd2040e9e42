"""Clusters of embeddings: communities of a graph of shared neighbours, at several layers.

Recipe: ``embeddings``.

- ``layout.py``: `Layout`, the graph of nearest rows and its layouts, computed in ``layout_jit.py``. McInnes, Healy,
  Melville (2018).
- ``paris.py``: `Paris`, the tree in which communities merge. Bonald, Charpentier, Galland,
  Hollocou (2018).
- ``layers.py``: `Layers`, what is read from the trees, and the score of a layer.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_featuremaps() -> dict[str, str]:
    """Feature maps by name."""
    return {
        "layout": "clusterkit.families.embeddings.layout:Layout",
    }


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "paris": "clusterkit.families.embeddings.paris:Paris",
    }


@hookimpl
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name."""
    return {
        "layers": "clusterkit.families.embeddings.layers:Layers",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "embeddings": "clusterkit.families.embeddings.recipes:EMBEDDINGS",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "LayoutRows": "clusterkit.families.embeddings.layout:LayoutRows",
        "NearestVotes": "clusterkit.families.embeddings.layers:NearestVotes",
    }
