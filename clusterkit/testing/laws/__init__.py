"""The laws, one module for each kind of stage."""

from __future__ import annotations

from collections.abc import Mapping

from clusterkit.testing.law import Law
from clusterkit.testing.laws import (
    array_api,
    balancer,
    by_passes,
    codec,
    consensus,
    driver,
    featuremap,
    iterating,
    labeler,
    partitioner,
    solver,
    summing,
    tuner,
)

__all__ = ["CODEC_LAWS", "LAWS"]

LAWS: Mapping[str, list[Law]] = {
    "featuremap": [*featuremap.LAWS, *by_passes.MAP_LAWS, *array_api.MAP_LAWS],
    "solver": [*solver.LAWS, *summing.LAWS, *iterating.LAWS, *array_api.SOLVER_LAWS],
    "labeler": labeler.LAWS,
    "balancer": [*balancer.LAWS, *by_passes.BALANCER_LAWS],
    "partitioner": [*partitioner.LAWS, *by_passes.START_LAWS, *array_api.START_LAWS],
    "consensus": consensus.LAWS,
    "tuner": tuner.LAWS,
    "driver": driver.LAWS,
}
"""The laws of each kind."""

CODEC_LAWS = [*codec.LAWS, *array_api.CODEC_LAWS]
"""Further laws for a labeler that is a codec."""
