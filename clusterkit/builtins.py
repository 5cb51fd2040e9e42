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
        "log_tfidf": "clusterkit.featuremaps.log_tfidf:LogTfIdf",
        "minmax": "clusterkit.featuremaps.minmax:MinMax",
        "pca": "clusterkit.featuremaps.pca:Pca",
        "rbf": "clusterkit.featuremaps.rbf:Rbf",
        "zscore": "clusterkit.featuremaps.zscore:ZScore",
    },
    "solver": {
        "centroids": "clusterkit.solvers.centroids:Centroids",
        "convex_nmf": "clusterkit.solvers.convex_nmf:ConvexNmf",
        "cpm3c": "clusterkit.solvers.cpm3c:Cpm3c",
        "cpmmc": "clusterkit.solvers.cpmmc:Cpmmc",
        "equal": "clusterkit.solvers.equal:Equal",
        "fuzzy_cmeans": "clusterkit.solvers.fuzzy_cmeans:FuzzyCMeans",
        "geoclust": "clusterkit.solvers.geoclust:GeoClust",
        "gmmc": "clusterkit.solvers.gmmc:Gmmc",
        "lapgmm": "clusterkit.solvers.lapgmm:LapGmm",
        "lmsvc": "clusterkit.solvers.lmsvc:Lmsvc",
        "ncut": "clusterkit.solvers.ncut:Ncut",
        "nmf": "clusterkit.solvers.nmf:Nmf",
        "psvdd": "clusterkit.solvers.psvdd:Psvdd",
        "ridge": "clusterkit.solvers.ridge:Ridge",
        "subsampled": "clusterkit.solvers.subsampled:Subsampled",
        "svdd": "clusterkit.solvers.svdd:Svdd",
        "svm": "clusterkit.solvers.svm:Svm",
        "svr": "clusterkit.solvers.svr:Svr",
    },
    "labeler": {
        "argmax": "clusterkit.labelers.argmax:Argmax",
        "bias_threshold": "clusterkit.labelers.bias_threshold:BiasThreshold",
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
        "transport": "clusterkit.balancers.transport:Transport",
    },
    "partitioner": {
        "equal": "clusterkit.partitioners.equal:Equal",
        "geoclust": "clusterkit.partitioners.geoclust:GeoClust",
        "kmeans": "clusterkit.partitioners.kmeans:KMeans",
        "kmeans_mapped": "clusterkit.partitioners.kmeans_mapped:KMeansMapped",
        "random": "clusterkit.partitioners.random:Random",
        "seeds": "clusterkit.partitioners.seeds:Seeded",
    },
    "consensus": {
        "coassociation": "clusterkit.consensus.evidence:Coassociation",
        "comusa": "clusterkit.consensus.expansion:Comusa",
        "comusacl": "clusterkit.consensus.cluster_level:Comusacl",
        "comusacl_dew": "clusterkit.consensus.cluster_level:ComusaclDew",
        "cspa": "clusterkit.consensus.spectral:Cspa",
        "diclens": "clusterkit.consensus.divisive:Diclens",
        "hbgf": "clusterkit.consensus.spectral:Hbgf",
        "voting": "clusterkit.consensus.plurality:Voting",
    },
    "tuner": {
        "edsvc": "clusterkit.tuners.edsvc:EdSvc",
        "svc_auto": "clusterkit.tuners.svc_auto:SvcAuto",
    },
    "recipe": {
        "cmeans": "clusterkit.published.centroid:CMEANS",
        "cpm3c": "clusterkit.published.margin_baselines:CPM3C",
        "cpmmc": "clusterkit.published.margin_baselines:CPMMC",
        "edsvc": "clusterkit.published.support:EDSVC",
        "elm-kmeans": "clusterkit.published.centroid:ELM_KMEANS",
        "elm-nmf": "clusterkit.published.nmf:ELM_NMF",
        "emmc": "clusterkit.published.margin:EMMC",
        "emmc-multi": "clusterkit.published.margin:EMMC_MULTI",
        "emmc-auto": "clusterkit.published.margin:EMMC_AUTO",
        "emmc-multistart": "clusterkit.published.margin:EMMC_MULTISTART",
        "emmc-paper": "clusterkit.published.margin:EMMC_PAPER",
        "emmc-single": "clusterkit.published.margin:EMMC_SINGLE",
        "fuzzy-cmeans": "clusterkit.published.centroid:FUZZY_CMEANS",
        "equal-clustering": "clusterkit.published.balanced:EQUAL_CLUSTERING",
        "fsvc": "clusterkit.published.support:FSVC",
        "geoclust": "clusterkit.published.balanced:GEOCLUST",
        "gmmc": "clusterkit.published.margin_baselines:GMMC",
        "itersvm": "clusterkit.published.margin_baselines:ITERSVM",
        "itersvr": "clusterkit.published.margin_baselines:ITERSVR",
        "kernel-kmeans": "clusterkit.published.centroid:KERNEL_KMEANS",
        "kernel-nmf": "clusterkit.published.nmf:KERNEL_NMF",
        "kmeans": "clusterkit.published.centroid:KMEANS",
        "lapgmm": "clusterkit.published.spectral:LAPGMM",
        "ncut": "clusterkit.published.spectral:NCUT",
        "nmf": "clusterkit.published.nmf:NMF",
        "psvc": "clusterkit.published.support:PSVC",
        "sgd-lmsvc": "clusterkit.published.support:SGD_LMSVC",
        "svc": "clusterkit.published.support:SVC",
    },
}
