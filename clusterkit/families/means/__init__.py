"""k-means, kernel k-means and fuzzy c-means, with their starts.

Recipes: ``kmeans``, ``cmeans``, ``kernel-kmeans``, ``elm-kmeans``, ``fuzzy-cmeans``.

- ``kmeans.py``: `Centroids`, ``min Σ_i ‖h_i - c_{y_i}‖²`` on features and in the space of a kernel. Lloyd (1982). Sums
  by clusters are in ``_class_means.py``, distances in ``_geometry.py``, bounds that save distances in ``_hamerly.py``.
- ``fuzzy_cmeans.py``: `FuzzyCMeans`, ``min Σ_ij u_ij^m ‖h_i - c_j‖²``. Bezdek (1981).
- ``starts.py``: first centres, k-means++ (Arthur, Vassilvitskii 2007), and k-means|| by passes in
  ``_kmeans_parallel.py``; first labels by k-means on the rows.
- ``rows_kmeans.py``: labels of an embedding by k-means on its rows.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "centroids": "clusterkit.families.means.kmeans:Centroids",
        "fuzzy_cmeans": "clusterkit.families.means.fuzzy_cmeans:FuzzyCMeans",
    }


@hookimpl
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name."""
    return {
        "rows_kmeans": "clusterkit.families.means.rows_kmeans:RowsKMeans",
    }


@hookimpl
def clusterkit_partitioners() -> dict[str, str]:
    """Partitioners by name."""
    return {
        "kmeans": "clusterkit.families.means.starts:KMeans",
        "kmeans_mapped": "clusterkit.families.means.starts:KMeansMapped",
        "seeds": "clusterkit.families.means.starts:Seeded",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "cmeans": "clusterkit.families.means.recipes:CMEANS",
        "elm-kmeans": "clusterkit.families.means.recipes:ELM_KMEANS",
        "fuzzy-cmeans": "clusterkit.families.means.recipes:FUZZY_CMEANS",
        "kernel-kmeans": "clusterkit.families.means.recipes:KERNEL_KMEANS",
        "kmeans": "clusterkit.families.means.recipes:KMEANS",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "Memberships": "clusterkit.families.means.fuzzy_cmeans:Memberships",
        "NearestKernelMeans": "clusterkit.families.means._geometry:NearestKernelMeans",
        "NearestMeans": "clusterkit.families.means._geometry:NearestMeans",
        "NearestCentre": "clusterkit.families.means.rows_kmeans:NearestCentre",
    }
