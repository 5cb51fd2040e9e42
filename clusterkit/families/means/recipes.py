"""The recipes of k-means as data."""

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

KMEANS = Recipe(
    name="kmeans",
    title="k-means",
    citation="Lloyd (1982), Least squares quantization in PCM, IEEE Transactions on Information Theory 28(2)",
    parameters={"featuremap": "identity", **LLOYD},
    use_when="Compact clusters in comparable units; the baseline of everything else.",
    family="centroid",
    pool=({"n_init": POOL_STARTS},),
)

CMEANS = Recipe(
    name="cmeans",
    title="k-means from one random start",
    citation="MacQueen (1967), Some methods for classification and analysis of multivariate observations, Berkeley "
    "Symposium on Mathematical Statistics and Probability; Lloyd (1982), Least squares quantization in PCM, IEEE "
    "Transactions on Information Theory 28(2)",
    parameters={"featuremap": "identity", **LLOYD, "init__weighting": "uniform", "init__trials": 1, "n_init": 1},
    use_when="The baseline as older papers run it, or many different clusterings for an ensemble.",
)

FUZZY_CMEANS = Recipe(
    name="fuzzy-cmeans",
    title="Fuzzy c-means",
    citation="Bezdek (1981), Pattern Recognition with Fuzzy Objective Function Algorithms, Plenum",
    parameters={"featuremap": "identity", "solver": "fuzzy_cmeans", "labeler": "argmax", "n_init": 10},
    use_when="Compact clusters that overlap, where the degree of membership matters.",
)

KERNEL_KMEANS = Recipe(
    name="kernel-kmeans",
    title="k-means in the feature space of a kernel",
    citation="Schölkopf, Smola, Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem, Neural "
    "Computation 10(5); Dhillon, Guan, Kulis (2004), Kernel k-means, spectral clustering and normalized cuts, KDD",
    parameters={"featuremap": "rbf", **LLOYD},
    use_when="Clusters that are not convex, a few thousand rows (it keeps the n x n kernel matrix).",
)

ELM_KMEANS = Recipe(
    name="elm-kmeans",
    title="k-means in the feature space of an extreme learning machine",
    citation="He, Jin, Du, Zhuang, Shi (2014), Clustering in extreme learning machine feature space, "
    "Neurocomputing 128",
    parameters={
        "featuremap": "elm",
        "featuremap__n_hidden": 1000,
        "featuremap__centers": "uniform",
        "featuremap__width": 1.0,
        **LLOYD,
    },
    use_when="Like kernel k-means at a cost linear in n.",
)
