"""The plugin of the library's own: the built-in stages and recipes, by the hooks that third parties implement.

A name stands for ``"module:Class"``, a string, so that asking imports nothing; the class is imported when somebody asks
for the name. Adding a stage is one file and one line here; the conformance suite, the list of stages and the table of
legal compositions pick it up.
"""

from __future__ import annotations

from clusterkit.core.hookspecs import hookimpl

API_VERSION = 3
"""Stated as every plugin states it."""


@hookimpl
def clusterkit_featuremaps() -> dict[str, str]:
    """Feature maps by name."""
    return {
        "elm": "clusterkit.featuremaps.elm:Elm",
        "graph": "clusterkit.featuremaps.graph:Graph",
        "identity": "clusterkit.featuremaps.identity:Identity",
        "log_tfidf": "clusterkit.featuremaps.log_tfidf:LogTfIdf",
        "minmax": "clusterkit.featuremaps.minmax:MinMax",
        "pca": "clusterkit.featuremaps.pca:Pca",
        "rbf": "clusterkit.featuremaps.rbf:Rbf",
        "zscore": "clusterkit.featuremaps.zscore:ZScore",
    }


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "centroids": "clusterkit.solvers.means.centroids:Centroids",
        "convex_nmf": "clusterkit.solvers.factorisation.convex_nmf:ConvexNmf",
        "cpm3c": "clusterkit.solvers.cutting_plane.cpm3c:Cpm3c",
        "cpmmc": "clusterkit.solvers.cutting_plane.cpmmc:Cpmmc",
        "equal": "clusterkit.solvers.equal_size.equal:Equal",
        "fuzzy_cmeans": "clusterkit.solvers.means.fuzzy_cmeans:FuzzyCMeans",
        "geoclust": "clusterkit.solvers.equal_size.geoclust:GeoClust",
        "gmmc": "clusterkit.solvers.max_cut.gmmc:Gmmc",
        "lapgmm": "clusterkit.solvers.graph.lapgmm:LapGmm",
        "mst": "clusterkit.solvers.trees.mst:Mst",
        "lmsvc": "clusterkit.solvers.one_class.lmsvc:Lmsvc",
        "ncut": "clusterkit.solvers.graph.ncut:Ncut",
        "nmf": "clusterkit.solvers.factorisation.nmf:Nmf",
        "psvdd": "clusterkit.solvers.one_class.psvdd:Psvdd",
        "ridge": "clusterkit.solvers.regression.ridge:Ridge",
        "subsampled": "clusterkit.solvers.one_class.subsampled:Subsampled",
        "svdd": "clusterkit.solvers.one_class.svdd:Svdd",
        "svm": "clusterkit.solvers.regression.svm:Svm",
        "svr": "clusterkit.solvers.regression.svr:Svr",
    }


@hookimpl
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name."""
    return {
        "argmax": "clusterkit.labelers.codecs.argmax:Argmax",
        "bias_threshold": "clusterkit.labelers.codecs.bias_threshold:BiasThreshold",
        "complete_graph": "clusterkit.labelers.graphs.complete_graph:CompleteGraph",
        "excess_of_mass": "clusterkit.labelers.trees.excess_of_mass:ExcessOfMass",
        "genie": "clusterkit.labelers.trees.genie:Genie",
        "mass_cut": "clusterkit.labelers.trees.mass_cut:MassCut",
        "single": "clusterkit.labelers.trees.single:Single",
        "equilibrium": "clusterkit.labelers.basins.equilibrium:Equilibrium",
        "interval": "clusterkit.labelers.codecs.interval:Interval",
        "proximity": "clusterkit.labelers.graphs.proximity:Proximity",
        "rows_kmeans": "clusterkit.labelers.rows_kmeans:RowsKMeans",
        "support_graph": "clusterkit.labelers.graphs.support_graph:SupportGraph",
        "threshold": "clusterkit.labelers.codecs.threshold:Threshold",
        "transition": "clusterkit.labelers.basins.transition:Transition",
    }


@hookimpl
def clusterkit_balancers() -> dict[str, str]:
    """Balancers by name."""
    return {
        "band": "clusterkit.balancers.band:Band",
        "ordinal": "clusterkit.balancers.ordinal:Ordinal",
        "transport": "clusterkit.balancers.transport:Transport",
    }


@hookimpl
def clusterkit_partitioners() -> dict[str, str]:
    """Partitioners by name."""
    return {
        "equal": "clusterkit.partitioners.equal:EqualParts",
        "geoclust": "clusterkit.partitioners.geoclust:GeoClustParts",
        "kmeans": "clusterkit.partitioners.kmeans:KMeans",
        "kmeans_mapped": "clusterkit.partitioners.kmeans_mapped:KMeansMapped",
        "random": "clusterkit.partitioners.random:Random",
        "recipe": "clusterkit.estimators.as_partitioner:ByRecipe",
        "seeds": "clusterkit.partitioners.seeds:Seeded",
    }


@hookimpl
def clusterkit_consensus() -> dict[str, str]:
    """Consensus functions by name."""
    return {
        "coassociation": "clusterkit.consensus.evidence:Coassociation",
        "comusa": "clusterkit.consensus.expansion:Comusa",
        "comusacl": "clusterkit.consensus.cluster_level:Comusacl",
        "comusacl_dew": "clusterkit.consensus.cluster_level:ComusaclDew",
        "cspa": "clusterkit.consensus.spectral:Cspa",
        "diclens": "clusterkit.consensus.divisive:Diclens",
        "hbgf": "clusterkit.consensus.spectral:Hbgf",
        "voting": "clusterkit.consensus.plurality:Voting",
    }


@hookimpl
def clusterkit_tuners() -> dict[str, str]:
    """Tuners by name."""
    return {
        "edsvc": "clusterkit.tuners.edsvc:EdSvc",
        "svc_auto": "clusterkit.tuners.svc_auto:SvcAuto",
    }


@hookimpl
def clusterkit_drivers() -> dict[str, str]:
    """Drivers by name."""
    return {
        "auto": "clusterkit.drivers.auto.driver:AutoDriver",
        "auto_pooled": "clusterkit.drivers.auto_pooled:AutoPooledDriver",
        "pooled": "clusterkit.drivers.pooled:PooledDriver",
        "single": "clusterkit.drivers.single:SingleDriver",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "auto": "clusterkit.cookbook.auto:AUTO",
        "cmeans": "clusterkit.cookbook.centroid:CMEANS",
        "cpm3c": "clusterkit.cookbook.max_margin:CPM3C",
        "cpmmc": "clusterkit.cookbook.max_margin:CPMMC",
        "edsvc": "clusterkit.cookbook.support_vector:EDSVC",
        "elm-kmeans": "clusterkit.cookbook.centroid:ELM_KMEANS",
        "elm-nmf": "clusterkit.cookbook.nmf:ELM_NMF",
        "emmc": "clusterkit.cookbook.emmc:EMMC",
        "emmc-graph": "clusterkit.cookbook.emmc:EMMC_GRAPH",
        "emmc-multi": "clusterkit.cookbook.emmc:EMMC_MULTI",
        "emmc-auto": "clusterkit.cookbook.emmc:EMMC_AUTO",
        "emmc-multistart": "clusterkit.cookbook.emmc:EMMC_MULTISTART",
        "emmc-paper": "clusterkit.cookbook.emmc:EMMC_PAPER",
        "emmc-single": "clusterkit.cookbook.emmc:EMMC_SINGLE",
        "fuzzy-cmeans": "clusterkit.cookbook.centroid:FUZZY_CMEANS",
        "equal-clustering": "clusterkit.cookbook.balanced:EQUAL_CLUSTERING",
        "fsvc": "clusterkit.cookbook.support_vector:FSVC",
        "geoclust": "clusterkit.cookbook.balanced:GEOCLUST",
        "genie": "clusterkit.cookbook.trees:GENIE",
        "hdbscan": "clusterkit.cookbook.trees:HDBSCAN",
        "mass-cut": "clusterkit.cookbook.trees:MASS_CUT",
        "single-linkage": "clusterkit.cookbook.trees:SINGLE_LINKAGE",
        "gmmc": "clusterkit.cookbook.max_margin:GMMC",
        "itersvm": "clusterkit.cookbook.max_margin:ITERSVM",
        "itersvr": "clusterkit.cookbook.max_margin:ITERSVR",
        "kernel-kmeans": "clusterkit.cookbook.centroid:KERNEL_KMEANS",
        "kernel-nmf": "clusterkit.cookbook.nmf:KERNEL_NMF",
        "kmeans": "clusterkit.cookbook.centroid:KMEANS",
        "lapgmm": "clusterkit.cookbook.spectral:LAPGMM",
        "mixture": "clusterkit.cookbook.spectral:MIXTURE",
        "ncut": "clusterkit.cookbook.spectral:NCUT",
        "nmf": "clusterkit.cookbook.nmf:NMF",
        "psvc": "clusterkit.cookbook.support_vector:PSVC",
        "sgd-lmsvc": "clusterkit.cookbook.support_vector:SGD_LMSVC",
        "sgd-lmsvc-strip": "clusterkit.cookbook.support_vector:SGD_LMSVC_STRIP",
        "spectral": "clusterkit.cookbook.spectral:SPECTRAL",
        "svc": "clusterkit.cookbook.support_vector:SVC",
    }


@hookimpl
def clusterkit_engines() -> dict[str, str]:
    """Engines, named after the package whose collections they take."""
    return {"clusterkit": "clusterkit.core.local_engine:LocalEngine"}


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes beside the stages that may stand in a saved model, by the name that the file gives them."""
    return {
        # the estimators
        "Auto": "clusterkit.estimators.auto:Auto",
        "AutoPooled": "clusterkit.estimators.auto_pooled:AutoPooled",
        "ConsensusClustering": "clusterkit.estimators.consensus:ConsensusClustering",
        "Driven": "clusterkit.estimators.driven:Driven",
        "MinMaxModularSVC": "clusterkit.estimators.min_max_svc:MinMaxModularSVC",
        "Modules": "clusterkit.estimators._modules:Modules",
        "Pipeline": "clusterkit.estimators.pipeline:Pipeline",
        "Pooled": "clusterkit.estimators.pooled:Pooled",
        # spaces, row maps and kernels; saved models know two maps by the names that their classes had
        "Affine": "clusterkit.featuremaps._affine:Affine",
        "DenseSpace": "clusterkit.core.spaces.features:DenseSpace",
        "Gaussian": "clusterkit.core.kernel:Gaussian",
        "EmbeddedSpace": "clusterkit.core.spaces.features:EmbeddedSpace",
        "GaussianNodes": "clusterkit.featuremaps.elm:GaussianNodes",
        "Keep": "clusterkit.core.transform:IdentityMap",
        "KernelSpace": "clusterkit.core.spaces.kernel:KernelSpace",
        "Linear": "clusterkit.core.kernel:Linear",
        "MapOfHost": "clusterkit.core.spaces.rows_space:HostMap",
        "NystromMap": "clusterkit.featuremaps._nystrom:NystromMap",
        "PcaProjection": "clusterkit.featuremaps.pca:_PcaProjection",
        "RidgeNodes": "clusterkit.featuremaps.elm:RidgeNodes",
        "SigmoidNodes": "clusterkit.featuremaps.elm:SigmoidNodes",
        "RowSpan": "clusterkit.estimators.row_span:RowSpan",
        "SpanPredictor": "clusterkit.estimators.row_span:SpanPredictor",
        "SparseSpace": "clusterkit.core.spaces.features:SparseSpace",
        "StreamedSpace": "clusterkit.core.spaces.features:StreamedSpace",
        "TfIdfWeights": "clusterkit.featuremaps.log_tfidf:_TfIdfWeights",
        "Transform": "clusterkit.core.transform:Transform",
        # what becomes of the columns of a table
        "CategoryColumn": "clusterkit.tables.plans:CategoryColumn",
        "DateColumn": "clusterkit.tables.plans:DateColumn",
        "Donors": "clusterkit.tables.donors:Donors",
        "FittedPreparation": "clusterkit.tables.preparation:FittedPreparation",
        "LeftOut": "clusterkit.tables.plans:LeftOut",
        "NumberColumn": "clusterkit.tables.plans:NumberColumn",
        "Preparation": "clusterkit.tables.preparation:Preparation",
        # outcomes and their parts
        "CentredKernelRows": "clusterkit.solvers.regression._libsvm:CentredKernelRows",
        "CentredRows": "clusterkit.solvers.regression._libsvm:CentredRows",
        "Embedding": "clusterkit.core.outcomes:Embedding",
        "Ending": "clusterkit.core.outcomes:Ending",
        "FoldIn": "clusterkit.solvers.factorisation._passes:FoldIn",
        "FunctionDomain": "clusterkit.core.outcomes:FunctionDomain",
        "InnerProduct": "clusterkit.solvers.one_class._gram_blocks:InnerProduct",
        "KernelDomain": "clusterkit.core.outcomes:KernelDomain",
        "KernelPower": "clusterkit.solvers.one_class._sphere:KernelPower",
        "KernelRows": "clusterkit.core.outcomes:KernelRows",
        "LinearRows": "clusterkit.core.outcomes:LinearRows",
        "MarginFunction": "clusterkit.solvers.max_cut.gmmc:MarginFunction",
        "Memberships": "clusterkit.solvers.means._fuzzy_turns:Memberships",
        "MinusSquaredDistance": "clusterkit.solvers.one_class._sphere:MinusSquaredDistance",
        "Mixture": "clusterkit.solvers.graph._mixture:Mixture",
        "Nearness": "clusterkit.solvers.equal_size._drifting_centres:Nearness",
        "NearestKernelMeans": "clusterkit.solvers.means._nearness:NearestKernelMeans",
        "NearestMeans": "clusterkit.solvers.means._nearness:NearestMeans",
        "OffsetExtension": "clusterkit.solvers.cutting_plane._cuts:OffsetExtension",
        "Posteriors": "clusterkit.solvers.graph._mixture:Posteriors",
        "RowUpdate": "clusterkit.solvers.factorisation._passes:RowUpdate",
        "Scores": "clusterkit.core.outcomes:Scores",
        "SquaredNorm": "clusterkit.solvers.regression._libsvm:SquaredNorm",
        "Status": "clusterkit.core.outcomes:Status",
        "SupportCounts": "clusterkit.core.outcomes:SupportCounts",
        "Tree": "clusterkit.core.outcomes:Tree",
        # what predicts, and what tuners report
        "AllZero": "clusterkit.core.run:AllZero",
        "Ascent": "clusterkit.level_sets._ascent:Ascent",
        "Balls": "clusterkit.level_sets._ascent:Balls",
        "BasinPredictor": "clusterkit.labelers.basins._labeling:BasinPredictor",
        "Basins": "clusterkit.level_sets.equilibria:Basins",
        "Decoder": "clusterkit.core.stages.labeler:Decoder",
        "NearestRowInTree": "clusterkit.labelers.trees._prediction:NearestRow",
        "DomainPredictor": "clusterkit.labelers._outliers_and_prediction:DomainPredictor",
        "EdSvcCurves": "clusterkit.tuners.curves:EdSvcCurves",
        "NearestCentre": "clusterkit.labelers.rows_kmeans:NearestCentre",
        "NearestSampleRow": "clusterkit.drivers.on_sample:NearestSampleRow",
        "NoiseToNearest": "clusterkit.drivers.auto.votes:Complete",
        "Votes": "clusterkit.drivers.auto.votes:Votes",
    }
