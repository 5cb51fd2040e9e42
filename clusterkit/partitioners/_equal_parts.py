"""Parts of nearly equal size, for the partitioners `equal` and `geoclust`."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.errors import InvalidData
from clusterkit.core.progress import Report, tell
from clusterkit.core.stages import Partitioner
from clusterkit.numerics.equal_size.drift import DriftRule, minus_distances
from clusterkit.numerics.equal_size.fade import find_even_parts
from clusterkit.numerics.equal_size.repair import even_out

__all__ = ["equal_parts"]


def equal_parts(stage: Partitioner, rule: DriftRule, X: Array, k: int, rng: Rng) -> Labels:
    """Labels of rows (n, d), by a rule for moving centres.

    Every part gets a row if there are k rows. Raises `InvalidData` if there are fewer, and KeyboardInterrupt if the
    search was interrupted.
    """
    if len(X) < k:
        raise InvalidData(f"partitioner '{stage.name}': {len(X)} rows cannot make {k} parts")
    if k == 1:
        return np.zeros(len(X), dtype=np.intp)

    def report(iterations: int, imbalance: float) -> None:
        tell(Report(stage.name, iterations, rule.max_iter, imbalance))

    parts = find_even_parts(X, k, rule, rng, report)
    if parts.interrupted:
        raise KeyboardInterrupt
    scores = minus_distances(X, parts.centres, np.zeros(k))
    labels = np.argmax(even_out(scores)[0] if rule.repair else scores, axis=1)
    _fill_empty_parts(labels, scores, k)
    return labels


def _fill_empty_parts(labels: Labels, scores: Array, k: int) -> None:
    """Move one row to every empty part: the row farthest from its centre, out of a part with several rows."""
    sizes = np.bincount(labels, minlength=k)
    closeness = scores[np.arange(len(labels)), labels]
    for part in np.flatnonzero(sizes == 0):
        row = int(np.argmin(np.where(sizes[labels] > 1, closeness, np.inf)))
        sizes[labels[row]] -= 1
        sizes[part] = 1
        labels[row], closeness[row] = part, 0.0
