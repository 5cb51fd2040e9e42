"""What `equal` and `geoclust` share as partitioners."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Labels, Rng
from clusterkit.core.errors import InvalidData
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import Partitioner
from clusterkit.numerics.equal_size.drift import Rule, find_parts, minus_distances
from clusterkit.numerics.equal_size.repair import even_out

__all__ = ["split"]


def split(stage: Partitioner, rule: Rule, samples: Any, k: int, rng: Rng) -> Labels:
    """Labels of raw rows (n, d), or of a feature space, by a rule of drifting centres."""
    X = samples.rows() if isinstance(samples, FeatureSpace) else samples
    if len(X) < k:
        raise InvalidData(f"partitioner '{stage.name}': {len(X)} rows cannot make {k} parts")
    if k == 1:
        return np.zeros(len(X), dtype=np.intp)

    def report(turns: int, height: float) -> None:
        tell(Report(stage.name, turns, rule.max_iter, height))

    parts = find_parts(X, k, rule, rng, report)
    if parts.interrupted:
        raise KeyboardInterrupt
    rows = minus_distances(X, parts.centres, np.zeros(k))
    labels = np.argmax(even_out(rows)[0] if rule.repair else rows, axis=1)
    _fill(labels, rows, k)
    return labels


def _fill(labels: Labels, rows: Any, k: int) -> None:
    """Give every empty part one row, the farthest from its centre, of a part that keeps others."""
    sizes = np.bincount(labels, minlength=k)
    own = rows[np.arange(len(labels)), labels]
    for part in np.flatnonzero(sizes == 0):
        row = int(np.argmin(np.where(sizes[labels] > 1, own, np.inf)))
        sizes[labels[row]] -= 1
        sizes[part] = 1
        labels[row], own[row] = part, 0.0
