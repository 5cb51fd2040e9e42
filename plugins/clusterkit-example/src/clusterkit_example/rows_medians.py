"""k-medians on the rows of an embedding."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit.contracts import Labeler, Labeling, Task, array, params
from clusterkit.contracts.outcomes import Embedding, Extension, Outcome
from clusterkit.samples import Space


@final
@attrs.frozen
class RowsMedians(Labeler[Embedding]):
    """Clusters the rows of an embedding by k-medians, which a few outliers do not move.

    Choose it over `rows_kmeans` where the embedding has outliers. O(max_iter · n k r) for r columns.

    Parameters
    ----------
    max_iter : int, default 100
        Maximum number of iterations.
    """

    name: ClassVar[str] = "rows_medians"
    consumes: ClassVar[type[Outcome]] = Embedding
    max_iter: int = params.integer(100, at_least=1)

    def label(self, outcome: Embedding, space: Space, task: Task, rng: np.random.Generator) -> Labeling:
        """k-medians on `outcome.rows`, (n, r), started from rows far apart."""
        medians = far_apart(outcome.rows, task.k, rng)
        for _ in range(self.max_iter):
            labels = nearest(outcome.rows, medians)
            parts = [outcome.rows[labels == j] for j in range(task.k)]
            # a median without rows stays where it is
            centres = [np.median(part, axis=0) if len(part) else m for part, m in zip(parts, medians, strict=True)]
            if np.array_equal(centres, medians):
                break
            medians = np.stack(centres).astype(outcome.rows.dtype)
        predict = None if outcome.extend is None else NearestMedian(outcome.extend, medians)
        exact = outcome.exact_on_training
        return Labeling(nearest(outcome.rows, medians), predict, exact=exact)


@final
@attrs.frozen(eq=False)
class NearestMedian:
    """Labels raw rows by the nearest median; a frozen object instead of a lambda, so that a fit can be saved."""

    extend: Extension
    medians: np.ndarray = attrs.field(validator=array("k r"))

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Labels of raw rows, (m, d) to (m,)."""
        return nearest(self.extend(Y), self.medians)


def nearest(rows: np.ndarray, medians: np.ndarray) -> np.ndarray:
    """Index of the nearest median of each row in city-block distance, the lowest on ties; (n,)."""
    return np.argmin([np.abs(rows - median).sum(axis=1) for median in medians], axis=0)


def far_apart(rows: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """k rows, (k, r): a random row, then repeatedly the row farthest from the rows chosen before."""
    chosen = rows[rng.integers(len(rows))][None, :]
    while len(chosen) < k:
        distances = np.min([np.abs(rows - row).sum(axis=1) for row in chosen], axis=0)
        chosen = np.concatenate([chosen, rows[np.argmax(distances)][None, :]])
    return chosen
