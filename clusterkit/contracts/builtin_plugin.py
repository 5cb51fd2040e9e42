"""The plugin of the core: what belongs to no family of methods, by the hooks that third parties implement.

Each name maps to ``"module:Class"``, a string, so that listing the stages imports nothing; the class is imported when
somebody asks for the name. The families, in `clusterkit.families`, do the same for their stages and recipes.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3
"""Stated as every plugin states it."""


@hookimpl
def clusterkit_partitioners() -> dict[str, str]:
    """Partitioners by name."""
    return {
        "recipe": "clusterkit.estimators.as_partitioner:ByRecipe",
    }


@hookimpl
def clusterkit_drivers() -> dict[str, str]:
    """Drivers by name."""
    return {
        "auto": "clusterkit.drivers.auto:AutoDriver",
        "single": "clusterkit.drivers.single:SingleDriver",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "auto": "clusterkit.drivers.recipes:AUTO",
    }


@hookimpl
def clusterkit_engines() -> dict[str, str]:
    """Engines, named after the package whose collections they take."""
    return {
        "clusterkit": "clusterkit.samples.engines:LocalEngine",
    }


@hookimpl
def clusterkit_namers() -> dict[str, str]:
    """What names clusters."""
    return {
        "rules": "clusterkit.profiles.profiling:profiles_of_fit",
    }


@hookimpl
def clusterkit_views() -> dict[str, str]:
    """What a notebook shows."""
    return {
        "notebook": "clusterkit.report.page:in_notebook",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "Auto": "clusterkit.estimators.auto:Auto",
        "ConsensusClustering": "clusterkit.estimators.ensemble:ConsensusClustering",
        "Driven": "clusterkit.estimators.driven:Driven",
        "Pipeline": "clusterkit.estimators.pipeline:Pipeline",
        "DenseSpace": "clusterkit.samples.features:DenseSpace",
        "DistanceSpace": "clusterkit.samples.kernel_space:DistanceSpace",
        "Gaussian": "clusterkit.samples.kernels:Gaussian",
        "EmbeddedSpace": "clusterkit.samples.features:EmbeddedSpace",
        "Keep": "clusterkit.samples.transform:IdentityMap",
        "KernelSpace": "clusterkit.samples.kernel_space:KernelSpace",
        "Linear": "clusterkit.samples.kernels:Linear",
        "MatrixKernel": "clusterkit.samples.kernels:MatrixKernel",
        "LevelPart": "clusterkit.samples.mixed_space:LevelPart",
        "MapOfHost": "clusterkit.samples.rows_space:HostMap",
        "MixedColumns": "clusterkit.samples.mixed_space:MixedColumns",
        "MixedSpace": "clusterkit.samples.mixed_space:MixedSpace",
        "NumberPart": "clusterkit.samples.mixed_space:NumberPart",
        "ChosenColumns": "clusterkit.samples.transform:ChosenColumns",
        "RowSpan": "clusterkit.estimators.samples:RowSpan",
        "SpanPredictor": "clusterkit.estimators.samples:SpanPredictor",
        "SparseSpace": "clusterkit.samples.features:SparseSpace",
        "StreamedSpace": "clusterkit.samples.features:StreamedSpace",
        "Transform": "clusterkit.samples.transform:Transform",
        "CategoryColumn": "clusterkit.tables.preparing.plans:CategoryColumn",
        "DateColumn": "clusterkit.tables.preparing.plans:DateColumn",
        "Donors": "clusterkit.tables.preparing.plans:Donors",
        "FittedPreparation": "clusterkit.tables.preparing.preparation:FittedPreparation",
        "LeftOut": "clusterkit.tables.preparing.plans:LeftOut",
        "NumberColumn": "clusterkit.tables.preparing.plans:NumberColumn",
        "TextColumn": "clusterkit.tables.preparing.texts:TextColumn",
        "Preparation": "clusterkit.tables.preparing.preparation:Preparation",
        "Embedding": "clusterkit.contracts.outcomes:Embedding",
        "Ending": "clusterkit.contracts.outcomes:Ending",
        "FunctionDomain": "clusterkit.contracts.outcomes:FunctionDomain",
        "KernelDomain": "clusterkit.contracts.outcomes:KernelDomain",
        "KernelRows": "clusterkit.contracts.outcomes:KernelRows",
        "LinearRows": "clusterkit.contracts.outcomes:LinearRows",
        "MixtureScores": "clusterkit.contracts.outcomes:MixtureScores",
        "Scores": "clusterkit.contracts.outcomes:Scores",
        "Status": "clusterkit.contracts.outcomes:Status",
        "SupportCounts": "clusterkit.contracts.outcomes:SupportCounts",
        "ClusterLayer": "clusterkit.contracts.labelings:ClusterLayer",
        "MergeTree": "clusterkit.contracts.outcomes:MergeTree",
        "MergeTrees": "clusterkit.contracts.outcomes:MergeTrees",
        "NeighbourGraph": "clusterkit.samples.features:NeighbourGraph",
        "Tree": "clusterkit.contracts.outcomes:Tree",
        "AllZero": "clusterkit.fitting.fit:AllZero",
        "Decoder": "clusterkit.contracts.labeler:Decoder",
        "LinkedComponents": "clusterkit.fitting.links:LinkedComponents",
        "Renumbered": "clusterkit.fitting.numbering:Renumbered",
        "NearestSampleRow": "clusterkit.drivers.single:NearestSampleRow",
        "NoiseToNearest": "clusterkit.drivers.auto_fits:Complete",
        "Votes": "clusterkit.drivers.auto_fits:Votes",
    }
