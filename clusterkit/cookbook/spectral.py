"""Clusterings by a graph of the samples: k-means on its eigenvectors, normalised cut, mixtures smooth over it."""

from __future__ import annotations

from clusterkit.cookbook.centroid import LLOYD, POOL_STARTS
from clusterkit.core.recipe import Recipe

__all__ = ["LAPGMM", "MIXTURE", "NCUT", "SPECTRAL"]

SPECTRAL = Recipe(
    name="spectral",
    title="k-means on the leading eigenvectors of a self-tuned graph of nearest neighbours",
    citation="Zelnik-Manor, Perona (2004), Self-tuning spectral clustering, NIPS 17; Ng, Jordan, Weiss (2002), On "
    "spectral clustering: analysis and an algorithm, NIPS 14",
    parameters={"featuremap": "graph", **LLOYD},
    use_when="Clusters of any shape and density with gaps between them; nearly linear in n.",
    family="graph",
    pool=({"n_init": POOL_STARTS},),
)

NCUT = Recipe(
    name="ncut",
    title="Normalised cut",
    citation="Shi, Malik (2000), Normalized cuts and image segmentation, IEEE Transactions on Pattern Analysis and "
    "Machine Intelligence 22(8); Zelnik-Manor, Perona (2004), Self-tuning spectral clustering, NIPS 17",
    parameters={"featuremap": "identity", "solver": "ncut", "solver__normalize": True},
    use_when="Clusters of any shape and density with gaps between them, without labels for new rows.",
)
LAPGMM = Recipe(
    name="lapgmm",
    title="Gaussian mixture with posteriors smooth over a neighbour graph",
    citation="He, Cai, Shao, Bao, Han (2011), Laplacian regularized Gaussian mixture model for data clustering, IEEE "
    "Transactions on Knowledge and Data Engineering 23(9)",
    parameters={"featuremap": "minmax", "solver": "lapgmm", "labeler": "argmax", "n_init": 5},
    use_when="Elliptic clusters of different spread, many more rows than attributes.",
)
MIXTURE = Recipe(
    name="mixture",
    title="Gaussian mixture",
    citation="Dempster, Laird, Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm, Journal of "
    "the Royal Statistical Society B 39(1)",
    parameters={
        "featuremap": "zscore",
        "solver": "lapgmm",
        "solver__smoothness": 0.0,
        "labeler": "argmax",
        "n_init": 5,
    },
    use_when="Elliptic clusters of different size and spread that may overlap; probabilities of membership.",
    family="mixture",
    # one start at each of many numbers of clusters, and as many iterations as tell the clusters apart
    pool=({"n_init": 1, "solver__tol": 3e-4},),
    # the middle of 1 to 3, which are equal within .003 of the mean index on the sets of tests/benchmarks/dimensions.py
    pool_known={"solver__covariance_pooling": 2.0},
)
