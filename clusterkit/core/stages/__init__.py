"""The abstract stages: the methods of feature map, solver, labeler, balancer, partitioner, consensus, tuner, driver.

Every concrete stage is a frozen attrs class whose fields are hyper-parameters; arrays live in what it returns.
Nothing concrete is overridden: a method here is either abstract or final.
"""

from __future__ import annotations

from clusterkit.core.stages.balancer import Assignment, Balancer
from clusterkit.core.stages.consensus import Consensus
from clusterkit.core.stages.driver import Driver, DriverResult
from clusterkit.core.stages.featuremap import FeatureMap
from clusterkit.core.stages.labeler import Codec, Decoder, Labeler, Labeling, Predict, outcome_labeler
from clusterkit.core.stages.partitioner import Partitioner
from clusterkit.core.stages.solver import Path, Prepared, Resumable, Solver
from clusterkit.core.stages.stage import Stage, Task
from clusterkit.core.stages.tuner import Tuned, Tuner

__all__ = [
    "Assignment",
    "Balancer",
    "Codec",
    "Consensus",
    "Decoder",
    "Driver",
    "DriverResult",
    "FeatureMap",
    "Labeler",
    "Labeling",
    "Partitioner",
    "Path",
    "Predict",
    "Prepared",
    "Resumable",
    "Solver",
    "Stage",
    "Task",
    "Tuned",
    "Tuner",
    "outcome_labeler",
]
