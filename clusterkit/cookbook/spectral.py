"""Clusterings by a graph of the samples: normalised cut, and Gaussian mixtures smooth over it."""

from __future__ import annotations

from clusterkit.core.recipe import Recipe

__all__ = ["LAPGMM", "NCUT"]

NCUT = Recipe(
    name="ncut",
    title="Normalised cut",
    citation="Shi, Malik (2000), Normalized cuts and image segmentation, IEEE Transactions on Pattern Analysis and "
    "Machine Intelligence 22(8)",
    parameters={"featuremap": "rbf", "featuremap__sigma_fraction": 0.2, "solver": "ncut"},
    use_when="Clusters of any shape with gaps between them, up to some ten thousand rows.",
)
LAPGMM = Recipe(
    name="lapgmm",
    title="Gaussian mixture with posteriors smooth over a neighbour graph",
    citation="He, Cai, Shao, Bao, Han (2011), Laplacian regularized Gaussian mixture model for data clustering, IEEE "
    "Transactions on Knowledge and Data Engineering 23(9)",
    parameters={"featuremap": "minmax", "solver": "lapgmm", "labeler": "argmax", "n_init": 5},
    use_when="Elliptic clusters of different spread, many more rows than attributes.",
)
