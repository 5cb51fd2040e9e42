"""Published algorithms as data: stages, parameters, citation. The function `clusterkit.recipe` builds them.

By family: the choice among clusterings of several families; clusters of nearly equal size; k-means in the input space,
in random features and in kernel space, and its fuzzy relative; extreme maximum margin clustering (EMMC) with its
variants, and the baselines of the maximum margin papers; nonnegative matrix factorisation of the data, of random
features or of a kernel matrix, clustered by its factors; graphs of the samples: k-means on eigenvectors, normalised
cut, mixtures smooth over the graph; support vector clustering; minimum spanning trees: mass cut, Genie, HDBSCAN, single
linkage.
"""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

__all__ = [
    "AUTO",
    "CMEANS",
    "CPM3C",
    "CPMMC",
    "EDSVC",
    "ELM_KMEANS",
    "ELM_NMF",
    "EMBEDDINGS",
    "EMMC",
    "EMMC_AUTO",
    "EMMC_GRAPH",
    "EMMC_MULTI",
    "EMMC_MULTISTART",
    "EMMC_PAPER",
    "EMMC_SINGLE",
    "EQUAL_CLUSTERING",
    "FSVC",
    "FUZZY_CMEANS",
    "GENIE",
    "GEOCLUST",
    "GMMC",
    "HDBSCAN",
    "ITERSVM",
    "ITERSVR",
    "KERNEL_KMEANS",
    "KERNEL_NMF",
    "KMEANS",
    "LAPGMM",
    "LLOYD",
    "MASS_CUT",
    "MIXTURE",
    "NCUT",
    "NMF",
    "POOL_STARTS",
    "PSVC",
    "SGD_LMSVC",
    "SGD_LMSVC_STRIP",
    "SINGLE_LINKAGE",
    "SPECTRAL",
    "SVC",
]


AUTO = Recipe(
    name="auto",
    title="The best of k-means, mixture, spectral, tree and density clusterings, chosen without labels",
    citation="Hubert, Arabie (1985), Comparing partitions, Journal of Classification 2, for the agreement; Campello, "
    "Moulavi, Zimek, Sander (2015), Hierarchical density estimates for data clustering, visualization, and outlier "
    "detection, ACM Transactions on Knowledge Discovery from Data 10(1), for the distances of the spanning tree; the "
    "criteria are described in clusterkit/criteria",
    driver="auto",
    clusters="found",
    use_when=(
        "The first choice where nothing is known of the shape of the clusters, with the number of clusters or without."
    ),
)


EQUAL_CLUSTERING = Recipe(
    name="equal-clustering",
    title="Compact clusters of equal size",
    citation="Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, "
    "International Conference on Neural Information Processing",
    parameters={"featuremap": "identity", "solver": "equal", "solver__repair": True, "labeler": "argmax"},
    use_when="Compact parts of even size are wanted, whatever gaps the data have.",
)
GEOCLUST = Recipe(
    name="geoclust",
    title="The original GeoClust rule, which equal clustering modifies",
    citation="Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, "
    "International Conference on Neural Information Processing: its account of GeoClust",
    parameters={"featuremap": "identity", "solver": "geoclust", "labeler": "argmax"},
    use_when="Comparisons with equal clustering.",
)


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
EMMC_MULTISTART = Recipe(
    name="emmc-multistart",
    title="EMMC from many random starts under several random maps, best pooled objective",
    citation=CITATION,
    driver="pooled",
    parameters={
        "n_maps": 5,
        "featuremap": "elm",
        "solver": "ridge",
        "balancer": "band",
        "init": "random",
        "n_init": 60,
        "max_iter": 60,
        "solver__df": 25.0,
        "labeler": "auto",
    },
    use_when=(
        "When k-means starts in the wrong basin and clusters are of similar size (handwritten digits: half the error "
        "of emmc). About a hundred times the work of emmc; look at the agreement of the maps."
    ),
)
EMMC_AUTO = Recipe(
    name="emmc-auto",
    title="EMMC from many starts, with complexity and start chosen without labels",
    citation=CITATION
    + "; Tibshirani, Walther, Hastie (2001), Estimating the number of clusters in a data set via the gap statistic, "
    "Journal of the Royal Statistical Society B 63",
    driver="auto_pooled",
    parameters={
        "featuremap": "elm",
        "solver": "ridge",
        "balancer": "band",
        "init": "random",
        "n_init": 60,
        "max_iter": 60,
        "solver__df": None,
        "labeler": "auto",
    },
    use_when=(
        "As emmc-multistart, but falling back on the k-means start where the lower objective rests on few attributes. "
        "About twice the work of emmc-multistart."
    ),
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
    tables={"featuremap": "columns", "solver": "mixed_mixture", "labeler": "auto", "n_init": 1},
)


SVC = Recipe(
    name="svc",
    title="Support vector clustering with the complete graph",
    citation="Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, Journal of Machine Learning "
    "Research 2",
    parameters={
        "featuremap": "rbf",
        "solver": "svdd",
        "labeler": "complete_graph",
        "labeler__outliers": "nearest",
        "labeler__max_work": 20_000_000_000,
        "tuner": "svc_auto",
    },
    clusters="found",
    use_when="Clusters of any shape and unknown number; the width of the kernel is chosen, or yours.",
)
EDSVC = Recipe(
    name="edsvc",
    title="Support vector clustering whose width and bound agree best with an ensemble of k-means partitions",
    citation="Ensemble-Driven Support Vector Clustering: the search of kernel width and bound by average normalised "
    "mutual information with an ensemble (Strehl, Ghosh (2002), Cluster ensembles, Journal of Machine Learning "
    "Research 3)",
    parameters={
        "featuremap": "rbf",
        "solver": "svdd",
        "labeler": "complete_graph",
        "labeler__outliers": "nearest",
        "tuner": "edsvc",
    },
    clusters="found",
    use_when="As svc on up to some thousand rows, where k-means partitions say something about the clusters.",
)
PSVC = Recipe(
    name="psvc",
    title="Support vector clustering with bounds by position instead of C",
    citation="Wang, Lai (2013), Position regularized support vector domain description, Pattern Recognition 46",
    parameters={"featuremap": "rbf", "solver": "psvdd", "labeler": "complete_graph"},
    clusters="found",
    use_when="Like svc, when outliers must be excluded and their number is unknown.",
)
FSVC = Recipe(
    name="fsvc",
    title="Fast support vector clustering: a part of the samples draws the contour, few climb to its peaks",
    citation="Jung, Lee, Lee (2010), Fast support-based clustering method for large-scale problems, Pattern "
    "Recognition 43",
    parameters={
        "featuremap": "rbf",
        "solver": "subsampled",
        "solver__solver": "svdd",
        "solver__fraction": 0.5,
        "labeler": "equilibrium",
        "labeler__start": "cover",
        "labeler__radius": 0.5,
        "labeler__outliers": "basin",
    },
    clusters="found",
    use_when="As svc, on more samples than its training or the complete graph allow; every sample gets a cluster.",
)
SGD_LMSVC = Recipe(
    name="sgd-lmsvc",
    title="Large margin support vector clustering by stochastic gradient descent",
    citation="Pham, Dang, Le, Le (2017), Fast support vector clustering, Vietnam Journal of Computer Science 4",
    parameters={
        "featuremap": "rbf",
        "solver": "lmsvc",
        "labeler": "equilibrium",
        "labeler__start": "all",
        "labeler__outliers": "basin",
    },
    clusters="found",
    use_when="As svc, on so many samples that training must not grow with them; the labels vary with the seed.",
)
SGD_LMSVC_STRIP = Recipe(
    name="sgd-lmsvc-strip",
    title="Large margin support vector clustering in which only samples near the contour ascend",
    citation="Pham, Dang, Le, Le (2017), Fast support vector clustering, Vietnam Journal of Computer Science 4, "
    "algorithm 2",
    parameters={
        "featuremap": "rbf",
        "solver": "lmsvc",
        "labeler": "equilibrium",
        "labeler__start": "strip",
        "labeler__outliers": "basin",
    },
    clusters="found",
    use_when="To reproduce the published labelling; in sgd-lmsvc every sample ascends.",
)


EMBEDDINGS = Recipe(
    name="embeddings",
    title="Clusters of embeddings by shared neighbours: layouts, communities, their merge tree",
    citation="McInnes, Healy, Melville (2018), UMAP: uniform manifold approximation and projection, arXiv:1802.03426, "
    "for the layout; Bonald, Charpentier, Galland, Hollocou (2018), Hierarchical graph clustering using node pair "
    "sampling, arXiv:1806.01664, for the tree; the choice among its cuts is this library's own",
    parameters={"featuremap": ["unit", "layout"], "solver": "paris", "labeler": "layers"},
    clusters="found",
    use_when="Embeddings of texts, images or cells: a thousand to some hundred thousand rows of many attributes, "
    "compared by the cosine; the number of clusters is found, or given.",
)


MASS_CUT = Recipe(
    name="mass-cut",
    title="Mass cut of the tree of mutual reachability",
    citation="Campello, Moulavi, Zimek, Sander (2015), Hierarchical density estimates for data clustering, "
    "visualization, and outlier detection, ACM Transactions on Knowledge Discovery from Data 10(1), for the tree; the "
    "cut is this library's own",
    parameters={"featuremap": "identity", "solver": "mst", "solver__n_neighbors": 6, "labeler": "mass_cut"},
    use_when="A given number of clusters of any shape, density and size, in few attributes.",
    family="mass",
    pool=({},),
)
GENIE = Recipe(
    name="genie",
    title="Genie: single linkage that avoids uneven sizes",
    citation="Gagolewski, Bartoszuk, Cena (2016), Genie: a new, fast, and outlier-resistant hierarchical clustering "
    "algorithm, Information Sciences 363",
    parameters={"featuremap": "identity", "solver": "mst", "solver__n_neighbors": 1, "labeler": "genie"},
    use_when="A given number of clusters of any shape and of similar sizes.",
    family="genie",
    # clusters of unlike sizes need the second, and one tree serves both
    pool=({}, {"labeler__gini": 0.5}),
)
HDBSCAN = Recipe(
    name="hdbscan",
    title="HDBSCAN: the most stable clusters at varying density",
    citation="Campello, Moulavi, Zimek, Sander (2015), Hierarchical density estimates for data clustering, "
    "visualization, and outlier detection, ACM Transactions on Knowledge Discovery from Data 10(1)",
    parameters={"featuremap": "identity", "solver": "mst", "solver__n_neighbors": 5, "labeler": "excess_of_mass"},
    clusters="found",
    use_when="An unknown number of clusters of any shape, in noise.",
    family="density",
    pool=(
        {"labeler__min_cluster_size": 15, "solver__n_neighbors": 15},
        {"labeler__min_cluster_size": 15, "solver__n_neighbors": 5},
    ),
)
SINGLE_LINKAGE = Recipe(
    name="single-linkage",
    title="Single linkage",
    citation="Gower, Ross (1969), Minimum spanning trees and single linkage cluster analysis, Applied Statistics 18(1)",
    parameters={"featuremap": "identity", "solver": "mst", "solver__n_neighbors": 1, "labeler": "single"},
    use_when="Clusters with wide gaps between them and without outliers; comparisons.",
)
