"""Arrays on the simulated devices of array-api-strict, which refuse to be mixed and have nothing but the standard."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from clusterkit import recipe

COMPOSITIONS = {
    "k-means": ("kmeans", {"n_init": 1}),
    "k-means from random rows": ("cmeans", {"n_init": 1}),
    "k-means of principal components": (
        "cmeans",
        {"n_init": 1, "featuremap": ["zscore", {"name": "pca", "n_components": 3}]},
    ),
    "k-means in random features": ("elm-kmeans", {"n_init": 1, "featuremap__n_hidden": 40}),
    "EMMC": ("emmc-multi", {"balancer": None, "featuremap__n_hidden": 40}),
    "EMMC within bounds": ("emmc-multi", {"featuremap__n_hidden": 40}),
    "EMMC of two clusters in a band": ("emmc", {"n_clusters": 2, "featuremap__n_hidden": 40}),
    "EMMC of equal clusters": ("emmc-multi", {"balancer": "transport", "featuremap__n_hidden": 40}),
    "EMMC with one output": ("emmc-single", {"featuremap__n_hidden": 40}),
    "EMMC as published": ("emmc-paper", {"n_clusters": 2, "featuremap__n_hidden": 40}),
    "fuzzy c-means": ("fuzzy-cmeans", {"n_init": 1}),
    "EMMC of a graph": ("emmc-graph", {}),
    "k-means of a graph": ("spectral", {}),
}  # fmt: skip
"""Recipes that have a path on a device, with changes."""

DEVICES = ("CPU_DEVICE", "device1")


def strict(array, device="device1"):
    """The same array, of array-api-strict, on a simulated device."""
    xp = pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    return xp.asarray(array, device=xp.Device(device))


def blobs(dtype=np.float64, n=700):
    return make_blobs(n, 5, centers=4, cluster_std=2.0, random_state=0)[0].astype(dtype)


def model_of(name, **changes):
    recipe_name, parameters = COMPOSITIONS[name]
    return recipe(recipe_name, **{"n_clusters": 4, "random_state": 3, **parameters, **changes})
