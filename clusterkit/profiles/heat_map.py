"""The cells of a map of the differences between clusters."""

from __future__ import annotations

import math

import numpy as np

from clusterkit._typing import Array
from clusterkit.profiles.profiling import ClusterProfile, Profile

__all__ = ["heat_cells"]

MOST_CLUSTERS = 20
"""Most columns of the map, the largest clusters."""


def heat_cells(clusters: Profile, max_features: int = 20) -> tuple[list[ClusterProfile], list[str], Array]:
    """Clusters, names and differences of the map; nan where the interval holds 0."""
    shown = sorted(sorted(clusters.clusters, key=lambda one: -one.size)[:MOST_CLUSTERS], key=lambda one: one.label)
    strength: dict[str, float] = {}
    for cluster in shown:
        for feature in cluster.features:
            difference = 0.0 if math.isnan(feature.difference) else abs(feature.difference)
            key = max(feature.strength, 1e-3 * difference)
            strength[feature.text] = max(strength.get(feature.text, 0.0), key)
    names = sorted(strength, key=lambda name: -strength[name])[:max_features]
    values = np.full((len(names), len(shown)), np.nan)
    for column, cluster in enumerate(shown):
        for feature in cluster.features:
            if feature.text in names and not feature.low <= 0 <= feature.high:
                values[names.index(feature.text), column] = feature.difference
    filled = np.flatnonzero(np.isfinite(values).any(axis=1))
    if len(filled):
        names, values = [names[row] for row in filled], values[filled]
    return shown, names, values
