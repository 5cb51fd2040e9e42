"""The recipes of support vector clustering as data."""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

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
    citation="Huang, Wang, Lai, Liang, Bian, Chen, Ensemble-driven support vector clustering: from ensemble learning "
    "to automatic parameter estimation (its text gives no year): the search of kernel width and bound by average "
    "normalised mutual information with an ensemble (Strehl, Ghosh (2002), Cluster ensembles, Journal of Machine "
    "Learning Research 3)",
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
    parameters={"featuremap": "rbf", "solver": "psvdd", "labeler": "complete_graph", "tuner": "svc_auto"},
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
        "tuner": "svc_auto",
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
        "tuner": "svc_auto",
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
        "tuner": "svc_auto",
    },
    clusters="found",
    use_when="To reproduce the published labelling; in sgd-lmsvc every sample ascends.",
)
