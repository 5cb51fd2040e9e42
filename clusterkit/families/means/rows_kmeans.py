"""k-means on the rows of an embedding."""

from __future__ import annotations

import math
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import Labeler, Labeling, Task
from clusterkit.contracts.links import LinkedGroups
from clusterkit.contracts.outcomes import Embedding, Extension, Outcome
from clusterkit.contracts.params import MOST_REPEATS, integer
from clusterkit.errors import InvalidData
from clusterkit.numerics.shapes import array
from clusterkit.samples import Space
from clusterkit.samples.array_libraries import BlockFunction, array_namespace, as_type, is_device_array, to_device_of


@final
@attrs.frozen
class RowsKMeans(Labeler[Embedding]):
    """Clusters the rows of an embedding by k-means.

    Choose it if the columns of an embedding do not correspond to clusters: NMF factors of data with a large common
    part, spectral coordinates. O(n_init · iterations · n k r) for r columns. The iteration is in numerics/lloyd.py
    (`kmeans`).

    Parameters
    ----------
    n_init : int, default 10
        Number of k-means++ starts; the result with the smallest within-cluster sum of squares is used.
    max_iter : int, default 300
        Largest number of Lloyd iterations from a start.

    Notes
    -----
    Links are kept by Lloyd's iteration in which the labels of linked rows are those of least cost under the links, from
    the centres without them. Clusters are numbered by first appearance, with seeds by these. If there are fewer
    distinct rows than clusters, only so many labels are used. New samples get the label of the centre nearest to their
    embedded row; if the embedding has no extension to new samples, there is no prediction.

    References
    ----------
    He, Jin, Du, Zhuang, Shi (2014), Clustering in extreme learning machine feature space, Neurocomputing 128,
    algorithm 2, last step. Lloyd (1982), Least squares quantization in PCM.
    """

    name: ClassVar[str] = "rows_kmeans"
    consumes: ClassVar[type[Outcome]] = Embedding
    scores_alone: ClassVar[bool] = True
    linked: ClassVar[bool] = True

    n_init: int = integer(10, at_least=1, at_most=MOST_REPEATS)
    max_iter: int = integer(300, at_least=1)

    def label(self, outcome: Embedding, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels by k-means on `outcome.rows`, (n, r)."""
        from clusterkit.numerics.lloyd import kmeans

        _refuse_overflow(outcome.rows)
        labels, centres, _ = kmeans(
            outcome.rows,
            task.k,
            n_init=self.n_init,
            max_iter=self.max_iter,
            seed=int(rng.integers(2**31 - 1)),
        )
        facts: dict[str, object] = {}
        if task.links is not None:
            labels, centres, gap = _linked(outcome.rows, labels, centres, task.links, self.max_iter)
            facts["gap"] = gap
        present, labels = np.unique(labels, return_inverse=True)  # fewer rows may be distinct than clusters asked for
        centres = centres[present]
        predict = None if outcome.extend is None else NearestCentre(outcome.extend, centres)
        exact = outcome.exact_on_training and task.links is None
        return Labeling(labels, predict, exact=exact, facts=facts)


def _linked(
    rows: Array, labels: Labels, centres: Array, links: LinkedGroups, max_iter: int
) -> tuple[Labels, Array, float]:
    """Labels, centres and the gap of the last labels of Lloyd's iteration under links, from centres without them."""
    from clusterkit.numerics.distances import squared_distances

    k, gap = len(centres), 0.0
    for _ in range(max_iter):
        costs = squared_distances(rows, centres)
        following, gap = links.cheapest("labeler 'rows_kmeans'", costs, np.argmin(costs, axis=1))
        if np.array_equal(following, labels):
            break
        labels, sizes = following, np.bincount(following, minlength=k)
        for j in np.flatnonzero(sizes):
            centres[j] = rows[labels == j].mean(axis=0)
    return labels, centres, gap


def _refuse_overflow(rows: Array) -> None:
    """Refuse an embedding whose squared distances overflow: coordinates may be squares of the data already."""
    most = math.sqrt(float(np.finfo(rows.dtype).max) / (16.0 * rows.shape[1]))
    largest = max(float(rows.max()), -float(rows.min()))
    if largest > most:
        raise InvalidData(
            f"labeler 'rows_kmeans': the embedding has values up to {largest:.3g}, and squared distances above "
            f"{most:.1g} overflow {rows.dtype}; divide the data by a constant, or use featuremap 'minmax' first"
        )


@final
@attrs.frozen(eq=False)
class NearestCentre(BlockFunction):
    """Labels raw rows by the nearest centre of their embedded rows; a frozen callable, so that a fit can be pickled.

    Parameters
    ----------
    extend : callable
        Maps raw rows (p, d) to embedded rows (p, r).
    centres : ndarray of shape (k, r)
    """

    extend: Extension
    centres: Array = attrs.field(validator=array("k r"))

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (p, d) to (p,), on their device."""
        from clusterkit.numerics.lloyd import nearest

        rows = self.extend(Y)
        if not is_device_array(rows):
            return nearest(rows, self.centres)
        xp = array_namespace(rows)
        wide, centres = as_type(rows, np.float64), to_device_of(self.centres, rows, np.float64)
        squares = [xp.sum((wide - centres[j, :]) ** 2, axis=1) for j in range(len(self.centres))]
        labels: Labels = xp.argmin(xp.stack(squares, axis=1), axis=1)
        return labels
