"""The registration table of the built-in stages and recipes: names as strings, so that registering imports nothing.

Adding a stage is one file and one line here; the conformance suite, the list of stages and the table of legal
compositions pick it up.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["TABLE"]

TABLE: Mapping[str, Mapping[str, str]] = {
    "featuremap": {
        "elm": "clusterkit.featuremaps.elm:Elm",
        "identity": "clusterkit.featuremaps.identity:Identity",
        "minmax": "clusterkit.featuremaps.minmax:MinMax",
        "rbf": "clusterkit.featuremaps.rbf:Rbf",
        "zscore": "clusterkit.featuremaps.zscore:ZScore",
    },
    "solver": {
        "centroids": "clusterkit.solvers.centroids:Centroids",
        "fuzzy_cmeans": "clusterkit.solvers.fuzzy_cmeans:FuzzyCMeans",
        "lmsvc": "clusterkit.solvers.lmsvc:Lmsvc",
        "nmf": "clusterkit.solvers.nmf:Nmf",
        "psvdd": "clusterkit.solvers.psvdd:Psvdd",
        "ridge": "clusterkit.solvers.ridge:Ridge",
        "subsampled": "clusterkit.solvers.subsampled:Subsampled",
        "svdd": "clusterkit.solvers.svdd:Svdd",
    },
    "labeler": {
        "argmax": "clusterkit.labelers.argmax:Argmax",
        "complete_graph": "clusterkit.labelers.complete_graph:CompleteGraph",
        "equilibrium": "clusterkit.labelers.equilibrium:Equilibrium",
        "interval": "clusterkit.labelers.interval:Interval",
        "proximity": "clusterkit.labelers.proximity:Proximity",
        "rows_kmeans": "clusterkit.labelers.rows_kmeans:RowsKMeans",
        "support_graph": "clusterkit.labelers.support_graph:SupportGraph",
        "threshold": "clusterkit.labelers.threshold:Threshold",
        "transition": "clusterkit.labelers.transition:Transition",
    },
    "balancer": {
        "band": "clusterkit.balancers.band:Band",
        "ordinal": "clusterkit.balancers.ordinal:Ordinal",
    },
    "partitioner": {
        "kmeans": "clusterkit.partitioners.kmeans:KMeans",
        "kmeans_mapped": "clusterkit.partitioners.kmeans_mapped:KMeansMapped",
        "random": "clusterkit.partitioners.random:Random",
        "seeds": "clusterkit.partitioners.seeds:Seeded",
    },
    "tuner": {
        "svc_auto": "clusterkit.tuners.svc_auto:SvcAuto",
    },
    "recipe": {
        "cmeans": "clusterkit.published.centroid:CMEANS",
        "elm-kmeans": "clusterkit.published.centroid:ELM_KMEANS",
        "elm-nmf": "clusterkit.published.nmf:ELM_NMF",
        "emmc": "clusterkit.published.margin:EMMC",
        "emmc-multi": "clusterkit.published.margin:EMMC_MULTI",
        "emmc-multistart": "clusterkit.published.margin:EMMC_MULTISTART",
        "emmc-paper": "clusterkit.published.margin:EMMC_PAPER",
        "emmc-single": "clusterkit.published.margin:EMMC_SINGLE",
        "fuzzy-cmeans": "clusterkit.published.centroid:FUZZY_CMEANS",
        "fsvc": "clusterkit.published.support:FSVC",
        "kernel-kmeans": "clusterkit.published.centroid:KERNEL_KMEANS",
        "kmeans": "clusterkit.published.centroid:KMEANS",
        "nmf": "clusterkit.published.nmf:NMF",
        "psvc": "clusterkit.published.support:PSVC",
        "sgd-lmsvc": "clusterkit.published.support:SGD_LMSVC",
        "svc": "clusterkit.published.support:SVC",
    },
}
