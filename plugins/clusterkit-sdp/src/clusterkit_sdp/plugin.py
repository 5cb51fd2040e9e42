"""Hooks through which clusterkit reads what this distribution offers: names only, so that no stage is imported."""

from __future__ import annotations

import clusterkit

API_VERSION = 3
"""Version of the plugin interface that this module is written for."""


@clusterkit.hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name; a class is imported when its name is first used."""
    return {
        "gmmc_sdp": "clusterkit_sdp.gmmc_sdp:GmmcSdp",
        "mmc_multi_sdp": "clusterkit_sdp.mmc_multi_sdp:MmcMultiSdp",
        "mmc_sdp": "clusterkit_sdp.mmc_sdp:MmcSdp",
    }


@clusterkit.hookimpl
def clusterkit_recipes() -> dict[str, dict[str, object]]:
    """Recipes by name."""
    return {
        "mmc": {
            "title": "Maximum margin clustering as a semidefinite program",
            "citation": (
                "Xu, Neufeld, Larson, Schuurmans (2004), Maximum margin clustering, Advances in Neural Information "
                "Processing Systems 17"
            ),
            "parameters": {
                "featuremap": "rbf",
                "featuremap__sigma_fraction": 0.3,
                "solver": "mmc_sdp",
                "labeler": "threshold",
            },
            "clusters": "two",
            "use_when": "At most some hundred rows, two clusters of equal size, and a lower bound is wanted.",
        },
        "mmc-multi": {
            "title": "Multi-class maximum margin clustering as a semidefinite program",
            "citation": (
                "Xu, Schuurmans (2005), Unsupervised and semi-supervised multi-class support vector machines, "
                "Proceedings of the 20th National Conference on Artificial Intelligence (AAAI)"
            ),
            "parameters": {
                "featuremap": "rbf",
                "featuremap__sigma_fraction": 0.3,
                "solver": "mmc_multi_sdp",
                "labeler": "argmax",
            },
            "clusters": "given",
            "use_when": "At most a hundred rows, clusters of equal size, and a lower bound is wanted.",
        },
        "gmmc-sdp": {
            "title": "Generalised maximum margin clustering as a semidefinite program",
            "citation": (
                "Valizadegan, Jin (2006), Generalized maximum margin clustering and unsupervised kernel learning, "
                "Advances in Neural Information Processing Systems 19"
            ),
            "parameters": {
                "featuremap": "rbf",
                "featuremap__sigma_fraction": 0.2,
                "solver": "gmmc_sdp",
                "labeler": "threshold",
            },
            "clusters": "two",
            "use_when": "To check the recipe gmmc, which solves the same program faster, by general conic solvers.",
        },
    }
