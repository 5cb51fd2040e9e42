"""What is compared: the recipes, and the clusterings of other libraries that are installed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module, metadata
from typing import Literal, TypeAlias

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.errors import UnknownName, nearest_names
from clusterkit.core.recipe import Recipe

__all__ = ["Method", "peers", "recipe_methods"]

Labeller: TypeAlias = Callable[[Array, int | None, int], Labels]
"""From samples (n, d), a number of clusters or None, and a seed to labels (n,)."""

MIN_CLUSTER_SIZE = 15
"""Least number of rows of a cluster for HDBSCAN, between its default of 5, which finds many small clusters, and the 50
of large tables."""

NEIGHBORS = 10
"""Nearest neighbours of the peers' graphs, scikit-learn's default."""


@attrs.frozen
class Method:
    """A clustering that can be compared.

    Parameters
    ----------
    name : str
    library : str
        Distribution that it belongs to.
    version : str
        Of that distribution.
    clusters : {"given", "two", "found", "either"}
        Whether it needs the number of clusters, always makes two, finds the number, or takes it if there is one.
    labels : callable
        From the samples (n, d), the number of clusters or None, and a seed to labels (n,), -1 for noise.
    """

    name: str
    library: str
    version: str
    clusters: Literal["given", "two", "found", "either"]
    labels: Labeller

    def suits(self, n_classes: int, k_known: bool) -> bool:
        """Whether it can look for that many classes, with their number given or not."""
        if self.clusters == "either":
            return True
        if self.clusters == "found":
            return not k_known
        return k_known and (self.clusters == "given" or n_classes == 2)


def recipe_methods(names: Collection[str] | None = None) -> list[Method]:
    """The recipes of these names, by default all, with their default parameters.

    Raises
    ------
    UnknownName
        If there is no such recipe.
    """
    import clusterkit

    known = clusterkit.recipes()
    for name in names or ():
        if name not in known:
            raise UnknownName(f"no recipe named {name!r}. {nearest_names(name, known)}")
    return [
        Method(name, "clusterkit", clusterkit.__version__, _takes(known[name]), _fit_recipe(name))
        for name in (known if names is None else names)
    ]


def _takes(recipe: Recipe) -> Literal["given", "two", "found", "either"]:
    """What a recipe does about the number of clusters: the driver `auto` takes it or leaves it."""
    return "either" if recipe.driver == "auto" else recipe.clusters


def _fit_recipe(name: str) -> Labeller:
    def labels(X: Array, n_clusters: int | None, seed: int) -> Labels:
        import clusterkit

        number = (
            {} if n_clusters is None or clusterkit.recipes()[name].clusters == "two" else {"n_clusters": n_clusters}
        )
        return np.asarray(clusterkit.recipe(name, random_state=seed, **number).fit(X).labels_)

    return labels


def _sklearn(path: str, parameters: Mapping[str, object], k: str = "n_clusters", seed: bool = True) -> Labeller:
    def labels(X: Array, n_clusters: int | None, number: int) -> Labels:
        module, _, name = path.rpartition(".")
        more: dict[str, object] = {} if n_clusters is None else {k: n_clusters}
        more |= {"random_state": number} if seed else {}
        return np.asarray(getattr(import_module(module), name)(**parameters, **more).fit_predict(X))

    return labels


KMEANS = _sklearn("sklearn.cluster.KMeans", {"n_init": 10})
MIXTURE = _sklearn("sklearn.mixture.GaussianMixture", {"n_init": 5}, "n_components")
SPECTRAL = _sklearn("sklearn.cluster.SpectralClustering", {"affinity": "nearest_neighbors", "n_neighbors": NEIGHBORS})
DENSITY: Mapping[str, object] = {"min_cluster_size": MIN_CLUSTER_SIZE}

PEERS: Mapping[str, tuple[str, Literal["given", "found"], Labeller]] = {
    "KMeans": ("scikit-learn", "given", KMEANS),
    "GaussianMixture": ("scikit-learn", "given", MIXTURE),
    "SpectralClustering": ("scikit-learn", "given", SPECTRAL),
    "Ward": ("scikit-learn", "given", _sklearn("sklearn.cluster.AgglomerativeClustering", {}, seed=False)),
    "HDBSCAN (scikit-learn)": ("scikit-learn", "found", _sklearn("sklearn.cluster.HDBSCAN", DENSITY, seed=False)),
    "HDBSCAN (hdbscan)": ("hdbscan", "found", _sklearn("hdbscan.HDBSCAN", DENSITY, seed=False)),
    "HDBSCAN (fast_hdbscan)": ("fast_hdbscan", "found", _sklearn("fast_hdbscan.HDBSCAN", DENSITY, seed=False)),
    "Genie (genieclust)": ("genieclust", "given", _sklearn("genieclust.Genie", {"gini_threshold": 0.3}, seed=False)),
}
"""Name to distribution, what it does about the number of clusters, and its fit. The settings are the usual ones: ten
starts of k-means and five of the mixture, neighbours as by default, least cluster size as above."""


def peers() -> list[Method]:
    """The clusterings of other libraries, those that are installed."""
    installed = []
    for name, (distribution, clusters, labels) in PEERS.items():
        try:
            version = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
        installed.append(Method(name, distribution, version, clusters, labels))
    return installed
