"""The recipes of nonnegative factorisations as data."""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

FACTORS = {"solver": "nmf", "labeler": "rows_kmeans"}

NMF = Recipe(
    name="nmf",
    title="Clustering by nonnegative matrix factorisation",
    citation="Lee, Seung (2001), Algorithms for non-negative matrix factorization, NIPS 13",
    parameters={"featuremap": "minmax", **FACTORS},
    use_when="Nonnegative data whose clusters are additive parts: counts, spectra, pixels.",
)

ELM_NMF = Recipe(
    name="elm-nmf",
    title="NMF in the feature space of an extreme learning machine",
    citation="He, Jin, Du, Zhuang, Shi (2014), Clustering in extreme learning machine feature space, "
    "Neurocomputing 128",
    parameters={
        "featuremap": "elm",
        "featuremap__n_hidden": 1000,
        "featuremap__centers": "uniform",
        "featuremap__width": 1.0,
        **FACTORS,
    },
    use_when="NMF for data with negative entries or clusters that are not linear.",
)

KERNEL_NMF = Recipe(
    name="kernel-nmf",
    title="NMF of a Gaussian kernel matrix",
    citation="Zhang, Zhou, Chen (2006), Non-negative matrix factorization on kernels, PRICAI, LNAI 4099",
    parameters={"featuremap": "rbf", **FACTORS},
    use_when="NMF for clusters that are not linear, up to some thousand rows.",
)
