"""The laws, one module for each kind of stage."""

from __future__ import annotations

from collections.abc import Mapping

from clusterkit.testing.law import Law
from clusterkit.testing.laws import balancer, consensus, driver, featuremap, labeler, place, solver

__all__ = ["CODEC_LAWS", "LAWS"]

LAWS: Mapping[str, list[Law]] = {
    "featuremap": [*featuremap.LAWS, *place.MAP_LAWS, *place.ARRAY_MAP_LAWS],
    "solver": [*solver.LAWS, *solver.PASS_LAWS],
    "labeler": labeler.LAWS,
    "balancer": [*balancer.LAWS, *place.BALANCER_LAWS],
    "partitioner": [*balancer.PARTITIONER_LAWS, *place.START_LAWS, *place.ARRAY_START_LAWS],
    "consensus": consensus.LAWS,
    "tuner": driver.TUNER_LAWS,
    "driver": driver.LAWS,
}
"""The laws of each kind."""

CODEC_LAWS = [*labeler.CODEC_LAWS, *place.ARRAY_CODEC_LAWS]
"""Further laws for a labeler that is a codec."""
