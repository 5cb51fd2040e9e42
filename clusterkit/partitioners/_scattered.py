"""Centres scattered over many rows: k-means||, a start in a few passes whatever the number of clusters."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.sums import Sums
from clusterkit.core.survey import draw_weighted
from clusterkit.numerics.lloyd import weighted_kmeans

__all__ = ["NearestOf", "scattered_centres"]

ROUNDS = 5
"""Rounds of k-means||; the authors find no gain after five."""
DRAWN_PER_CENTRE = 2
"""Rows drawn in each round for each centre: the authors' oversampling factor of 2 k."""
RECLUSTERINGS = 10
"""Starts of k-means++ on the rows drawn, which are few: a bad start there would be a bad start for all rows."""
MARGIN = 16.0
"""Squared distances below this many times eps times the numbers they are computed from are taken as rounding errors, as
in the partitioner `seeds`."""


@final
@attrs.frozen(eq=False)
class NearestOf:
    """The label of each row of a block: the number of the nearest centre, the lowest at ties.

    Parameters
    ----------
    origin : ndarray of shape (L,)
        One of the rows; large squared norms cancel in distances about it.
    centres : ndarray of shape (k, L)
    seeds : ndarray of shape (k,) or None
        Rows that are the centres, which get their numbers as labels; None if they are no rows.
    """

    origin: Array
    centres: Array
    seeds: Indices | None = None

    def __call__(self, rows: slice, H: Array) -> Labels:
        """Labels of the rows."""
        labels = np.argmin(self._relative(self._about(H)), axis=1)
        if self.seeds is not None:
            inside = np.flatnonzero((self.seeds >= rows.start) & (self.seeds < rows.stop))
            labels[self.seeds[inside] - rows.start] = inside
        return labels

    def distances(self, H: Array) -> Array:
        """Squared distances to the nearest centre, (b,); those within rounding errors of 0 are 0."""
        D = self._about(H)
        lengths = np.einsum("ij,ij->i", D, D)
        distances = self._relative(D).min(axis=1) + lengths
        largest = np.einsum("ij,ij->i", self.centres - self.origin, self.centres - self.origin).max()
        return np.where(distances > MARGIN * np.finfo(H.dtype).eps * (lengths + largest), distances, 0.0)

    def _about(self, H: Array) -> Array:
        return (H - self.origin).astype(H.dtype, copy=False)

    def _relative(self, D: Array) -> Array:
        """Squared distances to the centres, less the squared lengths of the rows D about the origin, (b, k)."""
        C = (self.centres - self.origin).T.astype(D.dtype, copy=False)
        return np.einsum("ij,ij->j", C, C, dtype=np.float64) - 2.0 * (D @ C).astype(np.float64, copy=False)


def scattered_centres(
    space: FeatureSpace, k: int, rng: Rng, n_init: int = RECLUSTERINGS, weights: Array | None = None
) -> Array:
    """Centres (k, L) by k-means||: `ROUNDS` passes that draw rows far from those drawn before, one to weigh them.

    Each pass draws 2 k rows with probabilities in proportion to their squared distances from the nearest row drawn
    before, by exponential keys, so that one pass is enough and no number is kept for any row. The rows drawn are
    weighted by the rows nearest to them and clustered in memory, by the best of `n_init` starts of weighted k-means++.
    With `weights` (n,) the rows are drawn, and count, in proportion to these as well.

    References
    ----------
    Bahmani, Moseley, Vattani, Kumar, Vassilvitskii (2012), Scalable k-means++, Proceedings of the VLDB Endowment 5(7).
    Efraimidis, Spirakis (2006), Weighted random sampling with a reservoir, Information Processing Letters 97(5).
    """
    entropy = int(rng.integers(2**63))
    first = draw_weighted(rng, weights, 1) if weights is not None else rng.integers(space.n, size=1)
    candidates = space.rows(first).astype(np.float64)
    origin = candidates[0]
    for number in range(ROUNDS):
        draw = _Draw(NearestOf(origin, candidates), (entropy, number), DRAWN_PER_CENTRE * k, weights)
        drawn = space.reduce(draw)
        if not len(drawn.keys):  # every row lies on a candidate
            break
        candidates = np.concatenate([candidates, drawn.rows.astype(np.float64)])
    counts = space.reduce(_Weigh(NearestOf(origin, candidates), weights)).arrays[0]
    return weighted_kmeans(candidates, counts, k, n_init=n_init, seed=int(rng.integers(2**31 - 1)))


@final
@attrs.frozen(eq=False)
class _Drawn:
    """The rows of smallest key among those seen, at most `size` of them."""

    keys: Array
    rows: Array
    size: int

    def __add__(self, following: _Drawn) -> _Drawn:
        keys = np.concatenate([self.keys, following.keys])
        chosen = np.sort(np.argsort(keys, kind="stable")[: self.size])
        return _Drawn(keys[chosen], np.concatenate([self.rows, following.rows])[chosen], self.size)


@final
@attrs.frozen(eq=False)
class _Draw:
    """Part of a round: keys of the rows of a block, exponential with their squared distances as rates."""

    nearest: NearestOf
    seed: tuple[int, int]
    size: int
    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> _Drawn:
        distances = self.nearest.distances(H)
        if self.weights is not None:
            distances = distances * self.weights[rows]
        far = np.flatnonzero(distances > 0.0)  # the others are candidates, or equal to one
        exponential = np.random.default_rng([*self.seed, rows.start]).exponential(size=len(H))
        keys = exponential[far] / distances[far]
        chosen = np.sort(np.argsort(keys, kind="stable")[: self.size])
        return _Drawn(keys[chosen], H[far[chosen]], self.size)


@final
@attrs.frozen(eq=False)
class _Weigh:
    """Part of the weights: how many rows are nearest to each candidate."""

    nearest: NearestOf
    weights: Array | None = None

    def __call__(self, rows: slice, H: Any) -> Sums:
        weights = None if self.weights is None else self.weights[rows]
        return Sums.of(np.bincount(self.nearest(rows, H), weights, minlength=len(self.nearest.centres)))
