"""Contracts of stages: the abstract stages, the records that pass between them, the loop, the registry and the hooks.

A clustering algorithm is a composition of stages. Three of them, to see why the parts are cut where they are:

- **Extreme maximum margin clustering** (EMMC) = feature map `elm` (random hidden nodes, H is n x L) + solver `ridge`
  (least squares of targets -1/+1 on H) + labeler `threshold` (the sign of the fitted value) + balancer `band` (cluster
  sizes within a band), started by the partitioner `kmeans`. The solver learns from the labels, so the loop alternates:
  solve, read labels, balance them, until they repeat.
- **Support vector clustering** (SVC) = feature map `rbf` (a kernel instead of features) + solver `svdd` (the smallest
  sphere around the samples in the kernel space; its outcome is a *domain*, where a kernel sum exceeds a level)
  + labeler `complete_graph` (two samples belong together if the line between them stays in the domain). The solver
  learns from no labels, so the loop ends after one iteration, and the labeler finds the number of clusters.
- **k-means** = feature map `identity` + solver `centroids` (means of the labelled samples, scores are minus squared
  distances) + labeler `argmax`, started by the partitioner `seeds`. With the map `rbf` the same solver is kernel
  k-means, with the balancer `transport` it is k-means of fixed cluster sizes.

Replace one stage and the others go on working, because only two types pass between them: a `Space` (features or a
kernel) from map to solver, and an `Outcome` (scores, an embedding or a domain) from solver to labeler.

Every concrete stage is a frozen attrs class whose fields are hyper-parameters; arrays live in what it returns.
Nothing concrete is overridden: a method here is either abstract or final.

- `stage.py`, and `featuremap.py`, `solver.py`, `labeler.py`, `balancer.py`, `partitioner.py`, `consensus.py`,
  `driver.py` (with the tuner): what all stages have in common, and the abstract class of each kind;
- `outcomes.py`, `labelings.py`, `arguments.py`: what a solver gives, several labellings of the same samples, and types
  for annotations;
- `params.py`, `seeds.py`, `checks.py`: parameters of stages, random streams, and checks of what a stage returns;
- `composition.py`: the stages of one algorithm, and the rules on which of them fit together;
- `iteration.py`, `pass_solver.py`: the loop, and solvers whose iterations are sums over the rows;
- `registry.py`, `providers.py`, `hookspecs.py`, `builtin_plugin.py`: names to stages, what plugins and recipes are,
  the hooks, and the plugin of the built-in stages.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

# A stage is loaded on first use, because the registry and the hooks beside them are asked before numpy is needed.
_HOME = {
    "BalanceDecision": "clusterkit.contracts.balancer",
    "Balancer": "clusterkit.contracts.balancer",
    "BlockLabels": "clusterkit.contracts.partitioner",
    "Codec": "clusterkit.contracts.labeler",
    "Consensus": "clusterkit.contracts.consensus",
    "CostTable": "clusterkit.contracts.balancer",
    "Costs": "clusterkit.contracts.balancer",
    "Decoder": "clusterkit.contracts.labeler",
    "Driver": "clusterkit.contracts.driver",
    "DriverResult": "clusterkit.contracts.driver",
    "FeatureMap": "clusterkit.contracts.featuremap",
    "FittedMap": "clusterkit.samples",
    "GivenLabels": "clusterkit.contracts.partitioner",
    "Labeler": "clusterkit.contracts.labeler",
    "Labeling": "clusterkit.contracts.labeler",
    "Partitioner": "clusterkit.contracts.partitioner",
    "Path": "clusterkit.contracts.solver",
    "Predict": "clusterkit.contracts.labeler",
    "Prepared": "clusterkit.contracts.pass_solver",
    "Solver": "clusterkit.contracts.solver",
    "Stage": "clusterkit.contracts.stage",
    "Task": "clusterkit.contracts.stage",
    "Tuned": "clusterkit.contracts.driver",
    "Tuner": "clusterkit.contracts.driver",
    "array": "clusterkit.numerics.shapes",
    "labels_by_blocks": "clusterkit.contracts.partitioner",
    "outcome_labeler": "clusterkit.contracts.labeler",
    "scalar": "clusterkit.numerics.shapes",
}

__all__ = [
    "BalanceDecision",
    "Balancer",
    "BlockLabels",
    "Codec",
    "Consensus",
    "CostTable",
    "Costs",
    "Decoder",
    "Driver",
    "DriverResult",
    "FeatureMap",
    "FittedMap",
    "GivenLabels",
    "Labeler",
    "Labeling",
    "Partitioner",
    "Path",
    "Predict",
    "Prepared",
    "Solver",
    "Stage",
    "Task",
    "Tuned",
    "Tuner",
    "array",
    "labels_by_blocks",
    "outcome_labeler",
    "scalar",
]

if TYPE_CHECKING:
    from clusterkit.contracts.balancer import BalanceDecision, Balancer, Costs, CostTable
    from clusterkit.contracts.consensus import Consensus
    from clusterkit.contracts.driver import Driver, DriverResult, Tuned, Tuner
    from clusterkit.contracts.featuremap import FeatureMap
    from clusterkit.contracts.labeler import Codec, Decoder, Labeler, Labeling, Predict, outcome_labeler
    from clusterkit.contracts.partitioner import BlockLabels, GivenLabels, Partitioner, labels_by_blocks
    from clusterkit.contracts.pass_solver import Prepared
    from clusterkit.contracts.solver import Path, Solver
    from clusterkit.contracts.stage import Stage, Task
    from clusterkit.numerics.shapes import array, scalar
    from clusterkit.samples import FittedMap
else:  # a checker would take every misspelt name for one that exists

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'clusterkit.contracts' has no attribute {name!r}")
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
