"""k-medians on the rows of an embedding."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit.core import params
from clusterkit.core.outcomes import Embedding, Extension, Outcome
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task


@final
@attrs.frozen
class RowsMedians(Labeler[Embedding]):
    """Clusters the rows of an embedding by k-medians, which a few outliers do not move.

    Choose it over `rows_kmeans` where the embedding has outliers. O(max_iter · n k r) for r columns.

    Parameters
    ----------
    max_iter : int, default 100
        Most turns of assigning rows and moving medians.
    """

    name: ClassVar[str] = "rows_medians"
    consumes: ClassVar[type[Outcome]] = Embedding
    max_iter: int = params.integer(100, at_least=1)

    def label(self, outcome: Embedding, space: Space, task: Task, rng: np.random.Generator) -> Labeling:
        """k-medians on `outcome.rows`, (n, r), from rows far apart."""
        medians = far_apart(outcome.rows, task.k, rng)
        for _ in range(self.max_iter):
            labels = nearest(outcome.rows, medians)
            parts = [outcome.rows[labels == j] for j in range(task.k)]
            # a median without rows stays where it is
            moved = np.stack([np.median(p, axis=0) if len(p) else m for p, m in zip(parts, medians, strict=True)])
            if np.array_equal(moved, medians):
                break
            medians = moved.astype(outcome.rows.dtype)
        predict = None if outcome.extend is None else NearestMedian(outcome.extend, medians)
        exact = outcome.exact_on_training
        return Labeling(nearest(outcome.rows, medians), predict, exact=exact)


@final
@attrs.frozen(eq=False)
class NearestMedian:
    """Labels raw rows by the nearest median; a frozen object instead of a lambda, so that a fit pickles."""

    extend: Extension
    medians: np.ndarray

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Labels of raw rows, (m, d) to (m,)."""
        return nearest(self.extend(Y), self.medians)


def nearest(rows: np.ndarray, medians: np.ndarray) -> np.ndarray:
    """Index of the nearest median in the sum of absolute differences, the lowest on ties."""
    return np.argmin([np.abs(rows - median).sum(axis=1) for median in medians], axis=0)


def far_apart(rows: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """A random row, then again and again the row farthest from those chosen."""
    chosen = rows[rng.integers(len(rows))][None, :]
    while len(chosen) < k:
        distances = np.min([np.abs(rows - row).sum(axis=1) for row in chosen], axis=0)
        chosen = np.concatenate([chosen, rows[np.argmax(distances)][None, :]])
    return chosen
