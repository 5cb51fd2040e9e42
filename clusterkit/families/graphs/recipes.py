"""The recipes of graphs of the samples as data."""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

LLOYD = {
    "solver": "centroids",
    "labeler": "argmax",
    "init": "seeds",
    "init__weighting": "kmeans++",
    "init__trials": 4,
    "n_init": 10,
    "max_iter": 300,
}

POOL_STARTS = 3
"""Starts of k-means as a candidate of recipe ``auto``, which fits it at twenty numbers of clusters: greedy k-means++
seldom gains more from further ones."""

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
