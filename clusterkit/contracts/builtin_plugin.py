"""The plugin of the library's own: the built-in stages and recipes, by the hooks that third parties implement.

Each name maps to ``"module:Class"``, a string, so that listing the stages imports nothing; the class is imported when
somebody asks for the name. Adding a stage is one file and one line here; the conformance suite, the list of stages and
the table of legal compositions pick it up.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3
"""Stated as every plugin states it."""


@hookimpl
def clusterkit_featuremaps() -> dict[str, str]:
    """Feature maps by name."""
    return {
        "columns": "clusterkit.featuremaps.columns:Columns",
        "elm": "clusterkit.featuremaps.elm:Elm",
        "graph": "clusterkit.featuremaps.graph:Graph",
        "identity": "clusterkit.featuremaps.scaling:Identity",
        "layout": "clusterkit.featuremaps.layout:Layout",
        "log_tfidf": "clusterkit.featuremaps.log_tfidf:LogTfIdf",
        "minmax": "clusterkit.featuremaps.scaling:MinMax",
        "pca": "clusterkit.featuremaps.pca:Pca",
        "rbf": "clusterkit.featuremaps.rbf:Rbf",
        "relevant": "clusterkit.featuremaps.relevant:Relevant",
        "sphere": "clusterkit.featuremaps.sphere:Sphere",
        "precomputed": "clusterkit.featuremaps.precomputed:Precomputed",
        "unit": "clusterkit.featuremaps.scaling:Unit",
        "zscore": "clusterkit.featuremaps.scaling:ZScore",
    }


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "centroids": "clusterkit.solvers.means.centroids:Centroids",
        "convex_nmf": "clusterkit.solvers.factorisation.convex_nmf:ConvexNmf",
        "cpm3c": "clusterkit.solvers.cutting_plane.cutting_plane:Cpm3c",
        "cpmmc": "clusterkit.solvers.cutting_plane.cutting_plane:Cpmmc",
        "equal": "clusterkit.solvers.equal_size.equal:Equal",
        "fuzzy_cmeans": "clusterkit.solvers.means.fuzzy_cmeans:FuzzyCMeans",
        "geoclust": "clusterkit.solvers.equal_size.equal:GeoClust",
        "gmmc": "clusterkit.solvers.max_cut.gmmc:Gmmc",
        "lapgmm": "clusterkit.solvers.graph.lapgmm:LapGmm",
        "mixed_mixture": "clusterkit.solvers.mixtures.mixed_mixture:MixedMixture",
        "mst": "clusterkit.solvers.trees.mst:Mst",
        "lmsvc": "clusterkit.solvers.one_class.lmsvc:Lmsvc",
        "ncut": "clusterkit.solvers.graph.ncut:Ncut",
        "nmf": "clusterkit.solvers.factorisation.nmf:Nmf",
        "paris": "clusterkit.solvers.graph.paris:Paris",
        "psvdd": "clusterkit.solvers.one_class.psvdd:Psvdd",
        "ridge": "clusterkit.solvers.regression.ridge:Ridge",
        "subsampled": "clusterkit.solvers.one_class.subsampled:Subsampled",
        "svdd": "clusterkit.solvers.one_class.svdd:Svdd",
        "svm": "clusterkit.solvers.regression.support_vector:Svm",
        "svr": "clusterkit.solvers.regression.support_vector:Svr",
    }


@hookimpl
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name."""
    return {
        "argmax": "clusterkit.labelers.codecs:Argmax",
        "bias_threshold": "clusterkit.labelers.codecs:BiasThreshold",
        "complete_graph": "clusterkit.labelers.graphs:CompleteGraph",
        "excess_of_mass": "clusterkit.labelers.trees:ExcessOfMass",
        "genie": "clusterkit.labelers.trees:Genie",
        "mass_cut": "clusterkit.labelers.trees:MassCut",
        "single": "clusterkit.labelers.trees:Single",
        "equilibrium": "clusterkit.labelers.basins:Equilibrium",
        "layers": "clusterkit.labelers.layers:Layers",
        "interval": "clusterkit.labelers.codecs:Interval",
        "most_probable": "clusterkit.labelers.most_probable:MostProbable",
        "rows_kmeans": "clusterkit.labelers.rows_kmeans:RowsKMeans",
        "threshold": "clusterkit.labelers.codecs:Threshold",
        "transition": "clusterkit.labelers.basins:Transition",
    }


@hookimpl
def clusterkit_balancers() -> dict[str, str]:
    """Balancers by name."""
    return {
        "band": "clusterkit.balancers.band:Band",
        "links": "clusterkit.balancers.links:LinksBalancer",
        "ordinal": "clusterkit.balancers.band:Ordinal",
        "transport": "clusterkit.balancers.transport:Transport",
    }


@hookimpl
def clusterkit_partitioners() -> dict[str, str]:
    """Partitioners by name."""
    return {
        "equal": "clusterkit.partitioners.equal:EqualParts",
        "geoclust": "clusterkit.partitioners.equal:GeoClustParts",
        "kmeans": "clusterkit.partitioners.kmeans:KMeans",
        "kmeans_mapped": "clusterkit.partitioners.kmeans:KMeansMapped",
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
        "comusacl": "clusterkit.consensus.expansion:Comusacl",
        "comusacl_dew": "clusterkit.consensus.expansion:ComusaclDew",
        "cspa": "clusterkit.consensus.spectral:Cspa",
        "diclens": "clusterkit.consensus.evidence:Diclens",
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
        "auto": "clusterkit.drivers.auto:AutoDriver",
        "auto_pooled": "clusterkit.drivers.auto_pooled:AutoPooledDriver",
        "pooled": "clusterkit.drivers.pooled:PooledDriver",
        "single": "clusterkit.drivers.single:SingleDriver",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "auto": "clusterkit.cookbook:AUTO",
        "cmeans": "clusterkit.cookbook:CMEANS",
        "cpm3c": "clusterkit.cookbook:CPM3C",
        "cpmmc": "clusterkit.cookbook:CPMMC",
        "edsvc": "clusterkit.cookbook:EDSVC",
        "elm-kmeans": "clusterkit.cookbook:ELM_KMEANS",
        "elm-nmf": "clusterkit.cookbook:ELM_NMF",
        "embeddings": "clusterkit.cookbook:EMBEDDINGS",
        "emmc": "clusterkit.cookbook:EMMC",
        "emmc-graph": "clusterkit.cookbook:EMMC_GRAPH",
        "emmc-multi": "clusterkit.cookbook:EMMC_MULTI",
        "emmc-auto": "clusterkit.cookbook:EMMC_AUTO",
        "emmc-multistart": "clusterkit.cookbook:EMMC_MULTISTART",
        "emmc-paper": "clusterkit.cookbook:EMMC_PAPER",
        "emmc-single": "clusterkit.cookbook:EMMC_SINGLE",
        "fuzzy-cmeans": "clusterkit.cookbook:FUZZY_CMEANS",
        "equal-clustering": "clusterkit.cookbook:EQUAL_CLUSTERING",
        "fsvc": "clusterkit.cookbook:FSVC",
        "geoclust": "clusterkit.cookbook:GEOCLUST",
        "genie": "clusterkit.cookbook:GENIE",
        "hdbscan": "clusterkit.cookbook:HDBSCAN",
        "mass-cut": "clusterkit.cookbook:MASS_CUT",
        "single-linkage": "clusterkit.cookbook:SINGLE_LINKAGE",
        "gmmc": "clusterkit.cookbook:GMMC",
        "itersvm": "clusterkit.cookbook:ITERSVM",
        "itersvr": "clusterkit.cookbook:ITERSVR",
        "kernel-kmeans": "clusterkit.cookbook:KERNEL_KMEANS",
        "kernel-nmf": "clusterkit.cookbook:KERNEL_NMF",
        "kmeans": "clusterkit.cookbook:KMEANS",
        "lapgmm": "clusterkit.cookbook:LAPGMM",
        "mixture": "clusterkit.cookbook:MIXTURE",
        "ncut": "clusterkit.cookbook:NCUT",
        "nmf": "clusterkit.cookbook:NMF",
        "psvc": "clusterkit.cookbook:PSVC",
        "sgd-lmsvc": "clusterkit.cookbook:SGD_LMSVC",
        "sgd-lmsvc-strip": "clusterkit.cookbook:SGD_LMSVC_STRIP",
        "spectral": "clusterkit.cookbook:SPECTRAL",
        "svc": "clusterkit.cookbook:SVC",
    }


@hookimpl
def clusterkit_engines() -> dict[str, str]:
    """Engines, named after the package whose collections they take."""
    return {"clusterkit": "clusterkit.samples.engines:LocalEngine"}


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        # the estimators
        "Auto": "clusterkit.estimators.auto:Auto",
        "AutoPooled": "clusterkit.estimators.auto:AutoPooled",
        "ConsensusClustering": "clusterkit.estimators.ensemble:ConsensusClustering",
        "Driven": "clusterkit.estimators.driven:Driven",
        "MinMaxModularSVC": "clusterkit.estimators.min_max_svc:MinMaxModularSVC",
        "Modules": "clusterkit.estimators._modules:Modules",
        "Pipeline": "clusterkit.estimators.pipeline:Pipeline",
        "Pooled": "clusterkit.estimators.auto:Pooled",
        # spaces, row maps and kernels; saved models know two maps by the names that their classes had
        "Affine": "clusterkit.featuremaps.scaling:Affine",
        "DenseSpace": "clusterkit.samples.features:DenseSpace",
        "DistanceSpace": "clusterkit.samples.kernel_space:DistanceSpace",
        "Gaussian": "clusterkit.samples.kernels:Gaussian",
        "EmbeddedSpace": "clusterkit.samples.features:EmbeddedSpace",
        "GaussianNodes": "clusterkit.featuremaps.elm:GaussianNodes",
        "Keep": "clusterkit.samples.transform:IdentityMap",
        "KernelSpace": "clusterkit.samples.kernel_space:KernelSpace",
        "LayoutRows": "clusterkit.featuremaps.layout:LayoutRows",
        "Linear": "clusterkit.samples.kernels:Linear",
        "LevelForms": "clusterkit.numerics.mixed.levels:LevelForms",
        "MatrixKernel": "clusterkit.samples.kernels:MatrixKernel",
        "LevelPart": "clusterkit.samples.mixed_space:LevelPart",
        "MapOfHost": "clusterkit.samples.rows_space:HostMap",
        "MixedColumns": "clusterkit.samples.mixed_space:MixedColumns",
        "MixedSpace": "clusterkit.samples.mixed_space:MixedSpace",
        "NumberPart": "clusterkit.samples.mixed_space:NumberPart",
        "NystromMap": "clusterkit.featuremaps.graph:NystromMap",
        "PcaProjection": "clusterkit.featuremaps.pca:_PcaProjection",
        "RidgeNodes": "clusterkit.featuremaps.elm:RidgeNodes",
        "SigmoidNodes": "clusterkit.featuremaps.elm:SigmoidNodes",
        "ChosenColumns": "clusterkit.samples.transform:ChosenColumns",
        "RowSpan": "clusterkit.estimators.samples:RowSpan",
        "SpanPredictor": "clusterkit.estimators.samples:SpanPredictor",
        "SparseSpace": "clusterkit.samples.features:SparseSpace",
        "StreamedSpace": "clusterkit.samples.features:StreamedSpace",
        "TfIdfWeights": "clusterkit.featuremaps.log_tfidf:_TfIdfWeights",
        "SpherePoints": "clusterkit.featuremaps.sphere:SpherePoints",
        "UnitRows": "clusterkit.featuremaps.scaling:UnitRows",
        "Transform": "clusterkit.samples.transform:Transform",
        # plans for the columns of a table
        "CategoryColumn": "clusterkit.tables.preparing.plans:CategoryColumn",
        "DateColumn": "clusterkit.tables.preparing.plans:DateColumn",
        "Donors": "clusterkit.tables.preparing.plans:Donors",
        "FittedPreparation": "clusterkit.tables.preparing.preparation:FittedPreparation",
        "LeftOut": "clusterkit.tables.preparing.plans:LeftOut",
        "NumberColumn": "clusterkit.tables.preparing.plans:NumberColumn",
        "Preparation": "clusterkit.tables.preparing.preparation:Preparation",
        # outcomes and their parts
        "CentredKernelRows": "clusterkit.solvers.regression._libsvm:CentredKernelRows",
        "CentredRows": "clusterkit.solvers.regression._libsvm:CentredRows",
        "Embedding": "clusterkit.contracts.outcomes:Embedding",
        "Ending": "clusterkit.contracts.outcomes:Ending",
        "FoldIn": "clusterkit.solvers.factorisation._updates:FoldIn",
        "FunctionDomain": "clusterkit.contracts.outcomes:FunctionDomain",
        "InnerProduct": "clusterkit.solvers.one_class._gram:InnerProduct",
        "KernelDomain": "clusterkit.contracts.outcomes:KernelDomain",
        "KernelPower": "clusterkit.solvers.one_class.svdd:KernelPower",
        "KernelRows": "clusterkit.contracts.outcomes:KernelRows",
        "LinearRows": "clusterkit.contracts.outcomes:LinearRows",
        "MarginFunction": "clusterkit.solvers.max_cut.gmmc:MarginFunction",
        "Memberships": "clusterkit.solvers.means.fuzzy_cmeans:Memberships",
        "MinusSquaredDistance": "clusterkit.solvers.one_class.svdd:MinusSquaredDistance",
        "MixedPosteriors": "clusterkit.solvers.mixtures.mixed_mixture:MixedPosteriors",
        "MixtureModel": "clusterkit.numerics.mixed.expectation:MixtureModel",
        "MixtureScores": "clusterkit.contracts.outcomes:MixtureScores",
        "Mixture": "clusterkit.solvers.graph.lapgmm:Mixture",
        "Nearness": "clusterkit.solvers.equal_size._drifting_centres:Nearness",
        "NearestKernelMeans": "clusterkit.solvers.means._geometry:NearestKernelMeans",
        "NearestMeans": "clusterkit.solvers.means._geometry:NearestMeans",
        "OffsetExtension": "clusterkit.solvers.cutting_plane._cuts:OffsetExtension",
        "Posteriors": "clusterkit.solvers.graph.lapgmm:Posteriors",
        "RowUpdate": "clusterkit.solvers.factorisation._updates:RowUpdate",
        "Scores": "clusterkit.contracts.outcomes:Scores",
        "SquaredNorm": "clusterkit.solvers.regression._libsvm:SquaredNorm",
        "Status": "clusterkit.contracts.outcomes:Status",
        "SupportCounts": "clusterkit.contracts.outcomes:SupportCounts",
        "ClusterLayer": "clusterkit.contracts.labelings:ClusterLayer",
        "MergeTree": "clusterkit.numerics.communities.records:MergeTree",
        "MergeTrees": "clusterkit.contracts.outcomes:MergeTrees",
        "NearestVotes": "clusterkit.labelers.layers:NearestVotes",
        "NeighbourGraph": "clusterkit.numerics.communities.records:NeighbourGraph",
        "Tree": "clusterkit.contracts.outcomes:Tree",
        # predictors, and reports of tuners
        "AllZero": "clusterkit.fitting.fit:AllZero",
        "Ascent": "clusterkit.level_sets._ascent:Ascent",
        "Balls": "clusterkit.level_sets._ascent:Balls",
        "BasinPredictor": "clusterkit.labelers.basins:BasinPredictor",
        "Basins": "clusterkit.level_sets.equilibria:Basins",
        "Decoder": "clusterkit.contracts.labeler:Decoder",
        "NearestRowInTree": "clusterkit.labelers.trees:NearestRow",
        "LinkedComponents": "clusterkit.fitting.links:LinkedComponents",
        "Renumbered": "clusterkit.fitting.numbering:Renumbered",
        "DomainPredictor": "clusterkit.labelers._outliers:DomainPredictor",
        "EdSvcCurves": "clusterkit.tuners.edsvc_candidates:EdSvcCurves",
        "NearestCentre": "clusterkit.labelers.rows_kmeans:NearestCentre",
        "NearestSampleRow": "clusterkit.drivers.on_sample:NearestSampleRow",
        "NoiseToNearest": "clusterkit.drivers.auto_fits:Complete",
        "Votes": "clusterkit.drivers.auto_fits:Votes",
    }
