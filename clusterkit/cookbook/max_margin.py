"""Baselines of the maximum margin papers."""

from __future__ import annotations

from clusterkit.core.recipe import Recipe

__all__ = ["CPM3C", "CPMMC", "GMMC", "ITERSVM", "ITERSVR"]

ZHANG = (
    "Zhang, Tsang, Kwok (2009), Maximum margin clustering made practical, IEEE Transactions on Neural Networks 20(4)"
)

ITERSVM = Recipe(
    name="itersvm",
    title="Maximum margin clustering by support vector machines trained in turn on their own labels",
    citation=ZHANG,
    parameters={
        "featuremap": "rbf",
        "featuremap__sigma_fraction": 0.3,
        "solver": "svm",
        "solver__C": 1.0,
        "labeler": "bias_threshold",
        "labeler__loss": "hinge",
        "balancer": "band",
        "init": "kmeans",
    },
    clusters="two",
    use_when="To compare with: it stops near its start. Prefer itersvr.",
)
ITERSVR = Recipe(
    name="itersvr",
    title="Maximum margin clustering by support vector regressions trained in turn on their own labels",
    citation=ZHANG,
    parameters={
        "featuremap": "rbf",
        "featuremap__sigma_fraction": 0.3,
        "solver": "svr",
        "solver__C": 1.0,
        "solver__loss": "laplacian",
        "labeler": "bias_threshold",
        "labeler__loss": "laplacian",
        "balancer": "band",
        "init": "kmeans",
    },
    clusters="two",
    use_when="Two clusters of similar size with a smooth border, some thousand rows, outliers among them.",
)
GMMC = Recipe(
    name="gmmc",
    title="Generalised maximum margin clustering: a semidefinite relaxation with a bound on its optimum",
    citation="Valizadegan, Jin (2006), Generalized maximum margin clustering and unsupervised kernel learning, "
    "Advances in Neural Information Processing Systems 19",
    parameters={"featuremap": "rbf", "featuremap__sigma_fraction": 0.2, "solver": "gmmc", "labeler": "threshold"},
    clusters="two",
    use_when="Two clusters of similar size, up to one or two thousand rows, where no start shall decide the result.",
)
CPMMC = Recipe(
    name="cpmmc",
    title="Two-class maximum margin clustering by cutting planes",
    citation="Zhao, Wang, Zhang (2008), Efficient maximum margin clustering via cutting plane algorithm, SIAM "
    "International Conference on Data Mining",
    # unit variances make C a number without units
    parameters={"featuremap": "zscore", "solver": "cpmmc", "labeler": "threshold", "init": "kmeans"},
    clusters="two",
    use_when="Two clusters on either side of a plane, very many rows: a few passes over the data.",
)
CPM3C = Recipe(
    name="cpm3c",
    title="Multiclass maximum margin clustering by cutting planes",
    citation="Zhao, Wang, Zhang (2008), Efficient multiclass maximum margin clustering, ICML",
    parameters={
        "featuremap": "rbf",
        "featuremap__sigma_fraction": 0.3,
        "solver": "cpm3c",
        "solver__C": 10.0,
        "labeler": "argmax",
        "init": "kmeans",
    },
    use_when="To compare with: clusters of similar size with smooth borders, some thousand rows. Prefer emmc.",
)
