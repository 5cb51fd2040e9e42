"""The recipes of maximum margin clustering as data."""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

CITATION = (
    "Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Transactions on Information and Systems"
)

BASE = {"featuremap": "elm", "solver": "ridge", "balancer": "band", "init": "kmeans"}
"""The stages that all variants share; they differ in labeler, coding and starts."""

EMMC = Recipe(
    name="emmc",
    title="Extreme maximum margin clustering with defaults that need no labels",
    citation=CITATION,
    parameters={**BASE, "labeler": "auto"},
    use_when="The first choice for clusters of similar size that a smooth surface separates; linear in n.",
)

EMMC_SINGLE = Recipe(
    name="emmc-single",
    title="EMMC with one output for all clusters",
    citation=CITATION,
    parameters={**BASE, "labeler": "interval"},
    use_when="To reproduce the published multi-class tables; otherwise prefer emmc-multi.",
)

EMMC_MULTI = Recipe(
    name="emmc-multi",
    title="EMMC with one output a cluster",
    citation=CITATION,
    parameters={**BASE, "labeler": "argmax"},
    use_when="More than two clusters of similar size.",
)

EMMC_GRAPH = Recipe(
    name="emmc-graph",
    title="EMMC on the leading eigenvectors of a self-tuned graph of nearest neighbours",
    citation=CITATION + "; Zelnik-Manor, Perona (2004), Self-tuning spectral clustering, NIPS 17",
    parameters={
        "featuremap": "graph",
        "solver": "ridge",
        # weak: the columns are orthogonal and of like weight, and any C from 1 to 10^6 gives nearly the same labels
        "solver__C": 10.0,
        "balancer": None,
        "init": "kmeans_mapped",
        "labeler": "auto",
    },
    use_when="Clusters of any shape and size with gaps between them; margins instead of the means of spectral.",
)

EMMC_PAPER = Recipe(
    name="emmc-paper",
    title="EMMC as published",
    citation=CITATION,
    parameters={
        **BASE,
        "init": "kmeans_mapped",
        "labeler": "interval",
        "labeler__rule": "signed",
        "featuremap__activation": "radbas",
        "featuremap__width": 1.0,
        "solver__C": 500.0,
    },
    use_when="To reproduce the paper; for data of your own emmc has nodes and a complexity that fit more of them.",
)
"""The reading of the paper that its text supports best. Section 5.3 has "the radial basis function", one output for two
and for more clusters, k-means in the feature space as the start, and C = 500, later chosen for each data set. The
nodes are ``exp(-(a · x + b)²)``, which the ELM programs for MATLAB, in which the paper computed, call by that name;
with them alone table 3 is nearly as printed, and on seven of the ten sets besides USPS they are nearer to print. The
other reading is the Gaussian ``exp(-b |x - a|²)`` of its equation 7 with a drawn from U[-1, 1]^d
(``featuremap__activation="gaussian", featuremap__centers="uniform"``). It alone gives the printed values of
Ringnorm, but it cannot have made table 6: on the 256 attributes of USPS such nodes do not tell the classes apart as
well as printed even where they are trained on them.
"""

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
