"""Recipes made small enough for tests that go over all of them."""

import pytest

import clusterkit
from oracles.builtin_names import TABLE

NAMES = sorted(TABLE["recipe"])
"""Those of clusterkit itself; a plugin tests its own."""

OF_EACH_CLASS = {
    "auto", "emmc", "fuzzy-cmeans", "genie", "kernel-kmeans", "kmeans", "mixture",
    "nmf", "psvc", "spectral",
}  # fmt: skip
"""Recipes of every class of estimators, of features, kernels, domains and trees, with memberships and transductive."""

EACH_CLASS = [name if name in OF_EACH_CLASS else pytest.param(name, marks=pytest.mark.deep) for name in NAMES]
"""All recipes, of which every change tries those of `OF_EACH_CLASS`."""

SMALL = {
    "auto": {"pool": ("kmeans", "genie")},
    "edsvc": {"tuner__n_gamma": 4, "tuner__n_bounds": 3, "tuner__n_members": 2},
}


def small(name, **changes):
    """A recipe for two clusters, or for as many as it finds."""
    finds_k = clusterkit.recipes()[name].clusters == "found"
    return clusterkit.recipe(name, **({} if finds_k else {"n_clusters": 2}), **SMALL.get(name, {}), **changes)
