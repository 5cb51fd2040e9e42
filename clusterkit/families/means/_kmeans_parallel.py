"""The start k-means||: it draws centres in a few passes over the rows, whatever the number of clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any, ClassVar, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.numerics.lloyd import weighted_kmeans
from clusterkit.numerics.selection import smallest
from clusterkit.numerics.threads import in_threads
from clusterkit.samples import DenseSpace, EmbeddedSpace, FeatureSpace, distance_noise, squared_distances_to
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    device_copy,
    device_product,
    is_device_array,
    move_to,
    row_chunks,
    row_squares,
    to_device_of,
    to_host,
)
from clusterkit.samples.sums import Addable, Sums
from clusterkit.samples.survey import draw_weighted, uniforms_of

Part = TypeVar("Part", bound=Addable)

ROUNDS = 5
"""Rounds of k-means||; the authors find no gain after five."""
DRAWN_PER_CENTRE = 2
"""Rows drawn in each round for each centre: the authors' oversampling factor of 2 k."""
RECLUSTERINGS = 10
"""Starts of k-means++ on the rows drawn, which are few: a bad start there would be a bad start for all rows."""
RANGE = 2**15
"""Rows in memory whose keys are drawn at once."""
COMPARED_CENTRES = 64
"""Largest number of centres that a device compares one by one, from differences, which need no rule for cancellation;
more are compared by products, which need less memory traffic."""


@final
@attrs.frozen(eq=False)
class NearestOf(BlockFunction):
    """The label of each row of a block: the number of the nearest centre, the lowest at ties.

    Parameters
    ----------
    origin : ndarray of shape (L,)
        One of the rows; large squared norms cancel in distances about it.
    centres : ndarray of shape (k, L)
    feature_error : float
        As in `Transform`: how far apart the features of equal rows may be.
    seeds : ndarray of shape (k,) or None
        Index of the row that is each centre: this row gets the number of the centre as label. None if centres are no
        rows.
    """

    array_api: ClassVar[bool] = True

    origin: Array
    centres: Array
    feature_error: float
    seeds: Indices | None = None

    def __call__(self, rows: slice, H: Array) -> Labels:
        """Labels of the rows."""
        labels = self._nearest(H)[1]
        if self.seeds is not None:
            inside = np.flatnonzero((self.seeds >= rows.start) & (self.seeds < rows.stop))
            if len(inside):
                labels = np.array(to_host(labels)) if is_device_array(labels) else labels
                labels[self.seeds[inside] - rows.start] = inside
        return labels

    def distances(self, rows: slice, H: Array) -> Array:
        """Squared distances to the nearest centre, (b,), float64; those within rounding errors of 0 are 0."""
        return self.rounded(self._nearest(H)[0], squared_distances_to(H, self.origin))

    def rounded(self, distances: Array, lengths: Array) -> Array:
        """Squared distances (b,) with 0 for those within rounding errors of 0, from those to the origin, (b,).

        Features that are computed have rounding errors of their own, which differ between blocks of other sizes.
        """
        xp, distances = array_namespace(distances), as_type(distances, np.float64)
        noise = distance_noise(xp.sqrt(lengths), float(np.linalg.norm(self.origin)), self.feature_error)
        rounded: Array = xp.where(distances > noise, distances, xp.zeros_like(distances))
        return rounded

    def _nearest(self, H: Array) -> tuple[Array, Labels]:
        """Squared distances to the nearest centre, (b,), and its number."""
        if is_device_array(H):
            return self._nearest_on_device(H)
        from clusterkit.numerics.nearest_jit import approach

        distances, numbers = np.full(len(H), np.inf, dtype=H.dtype), np.zeros(len(H), dtype=np.intp)
        approach(H, self.centres, 0, distances, numbers)
        return distances, numbers

    def _nearest_on_device(self, H: Any) -> tuple[Any, Any]:
        """`_nearest` of a block of another library: from differences, or from products with many centres."""
        xp = array_namespace(H)
        if len(self.centres) > COMPARED_CENTRES:
            about = to_device_of(self.origin, H, np.float64)
            moved = device_copy(self, H, lambda: move_to(self.centres - self.origin, H, np.float64), "candidates")
            parts = [
                _nearest_by_products(as_type(chunk, np.float64) - about, moved)
                for _, chunk in row_chunks(H, len(self.centres))
            ]
            first, second = zip(*parts, strict=True)
            return xp.concat(first), xp.concat(second)
        centres = to_device_of(self.centres, H)
        distances = row_squares(H - centres[0, :])
        numbers = xp.zeros(H.shape[0], dtype=xp.int64, device=H.device)
        for number in range(1, len(self.centres)):
            others = row_squares(H - centres[number, :])
            nearer = others < distances
            distances = xp.where(nearer, others, distances)
            numbers = xp.where(nearer, xp.full((), number, dtype=xp.int64, device=H.device), numbers)
        return distances, numbers


def _nearest_by_products(differences: Any, centres: Any) -> tuple[Any, Any]:
    """Squared distances to the nearest centre and its number, (b,) each, of rows and centres about one origin."""
    xp = array_namespace(differences)
    costs = row_squares(centres) - 2.0 * device_product(differences, centres.T)
    distances = xp.min(costs, axis=1) + row_squares(differences)
    return xp.where(distances > 0.0, distances, xp.zeros_like(distances)), xp.argmin(costs, axis=1)


@final
@attrs.define(eq=False)
class _Remembered:
    """`NearestOf` for rows in memory, with the distances stored: an update compares only the new centres.

    Parameters
    ----------
    space : FeatureSpace
    lengths : ndarray of shape (n,)
        Squared distances to the origin.
    squares : ndarray of shape (n,)
        Squared distances to the nearest centre.
    numbers : ndarray of shape (n,)
        Number of the nearest centre of each row.
    count : int
        Number of centres compared so far.
    nearest : NearestOf
        The nearest-centre function for all centres.
    """

    space: FeatureSpace
    lengths: Array
    squares: Array
    numbers: Labels
    count: int
    nearest: NearestOf

    @classmethod
    def of(cls, space: FeatureSpace, origin: Array) -> _Remembered:
        """The state before the first centre."""
        lengths = space.squared_distances_to(origin)
        nothing = np.full(space.n, np.inf, dtype=space.dtype)
        nearest = NearestOf(origin, origin[None], space.transform.feature_error)
        return cls(space, lengths, nothing, np.zeros(space.n, dtype=np.intp), 0, nearest)

    def to(self, nearest: NearestOf) -> _Remembered:
        """Compare the centres of `nearest` from number `count` on; those before were compared already."""
        from clusterkit.numerics.nearest_jit import approach

        more = nearest.centres[self.count :]
        for rows, H in self.space.pieces():
            approach(H, more, self.count, self.squares[rows], self.numbers[rows])
        self.count, self.nearest = len(nearest.centres), nearest
        return self

    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """The sum of a part over all rows, as `space.reduce`, for parts that do not depend on the cut into blocks.

        The blocks are larger than those of the space, because small blocks cost more calls than work.
        """
        [(_, H)] = self.space.pieces()
        starts = range(0, len(H), RANGE)
        ranges = ((slice(start, start + RANGE), H[start : start + RANGE]) for start in starts)
        return reduce(add, (value for _, value in in_threads(part, ranges)))

    def distances(self, rows: slice, H: Array) -> Array:
        """Squared distances of the rows to the nearest centre, as `NearestOf.distances` computes them, bit for bit."""
        return self.nearest.rounded(self.squares[rows], self.lengths[rows])

    def __call__(self, rows: slice, H: Array) -> Labels:
        """Index of the nearest centre of each row of the slice, (b,), from the stored values."""
        return self.numbers[rows]


def scattered_centres(
    space: FeatureSpace, k: int, rng: Rng, n_init: int = RECLUSTERINGS, weights: Array | None = None
) -> Array:
    """Centres (k, L) by k-means||: `ROUNDS` passes that draw rows far from those drawn before, and one to weigh them.

    Each pass draws 2 k rows with probabilities in proportion to their squared distances from the nearest row drawn
    before, by exponential keys (`clusterkit.families.means._loops_jit`), so that one pass is enough. The rows drawn are
    weighted by the rows nearest to them and clustered in memory, by the best of `n_init` starts of weighted k-means++.
    With `weights` (n,) the rows are drawn, and count, in proportion to these as well.

    References
    ----------
    Bahmani, Moseley, Vattani, Kumar, Vassilvitskii (2012), Scalable k-means++, Proceedings of the VLDB Endowment 5(7).
    Efraimidis, Spirakis (2006), Weighted random sampling with a reservoir, Information Processing Letters 97(5).
    """
    seeds = rng.integers(2**64, size=ROUNDS, dtype=np.uint64)
    first = draw_weighted(rng, weights, 1) if weights is not None else rng.integers(space.n, size=1)
    candidates = space.rows(first).astype(np.float64)
    origin = candidates[0]
    remembered = _Remembered.of(space, origin) if isinstance(space, DenseSpace | EmbeddedSpace) else None
    over = space if remembered is None else remembered  # the smallest keys are the same by whatever parts
    for seed in seeds:
        nearest = NearestOf(origin, candidates, space.transform.feature_error)
        known = nearest if remembered is None else remembered.to(nearest)
        drawn = over.reduce(_Draw(known, int(seed), DRAWN_PER_CENTRE * k, weights))
        if not len(drawn.keys):  # every row lies on a candidate
            break
        candidates = np.concatenate([candidates, drawn.rows.astype(np.float64)])
    nearest = NearestOf(origin, candidates, space.transform.feature_error)
    known = nearest if remembered is None else remembered.to(nearest)
    # counts are exact, sums of weights are not
    counts = (over if weights is None else space).reduce(_Weigh(known, len(candidates), weights)).arrays[0]
    return weighted_kmeans(candidates, counts, k, n_init=n_init, seed=int(rng.integers(2**31 - 1)))


@final
@attrs.frozen(eq=False)
class _Drawn:
    """The `size` rows of smallest key among the rows seen so far (all rows while there are fewer)."""

    keys: Array
    rows: Array
    size: int

    def __add__(self, following: _Drawn) -> _Drawn:
        if len(self.keys) == self.size and not (following.keys < self.keys.max()).any():
            return self
        keys = np.concatenate([self.keys, following.keys])
        chosen = smallest(keys, self.size)
        return _Drawn(keys[chosen], np.concatenate([self.rows, following.rows])[chosen], self.size)


@final
@attrs.frozen(eq=False)
class _Draw(BlockFunction):
    """Part of a round: keys of the rows of a block, exponential with their squared distances as rates."""

    nearest: NearestOf | _Remembered
    seed: int
    size: int
    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> _Drawn:
        from clusterkit.families.means._loops_jit import smallest_keys

        # rows at distance 0 are candidates already, or equal to one: they are not drawn
        distances = self.nearest.distances(rows, H)
        if is_device_array(H):
            return self._on_device(rows, H, distances)
        if self.weights is not None:
            distances = distances * self.weights[rows]
        keys, index = smallest_keys(distances, rows.start, self.seed, self.size)
        return _Drawn(keys, H[index], self.size)

    def _on_device(self, rows: slice, H: Any, distances: Any) -> _Drawn:
        """The rows of smallest key by a sort there; their keys are those of the host up to rounding."""
        xp = array_namespace(H)
        if self.weights is not None:
            distances = distances * move_to(self.weights[rows], H, np.float64)
        uniform = uniforms_of(self.seed, rows, H) + 2.0**-53  # in (0, 1]
        never = xp.full((), np.inf, dtype=xp.float64, device=H.device)
        far = distances > 0.0
        keys = xp.where(far, -xp.log(uniform) / xp.where(far, distances, xp.ones_like(distances)), never)
        index = xp.argsort(keys)[: min(self.size, H.shape[0])]
        chosen = to_host(xp.take(keys, index, axis=0))
        order = np.argsort(to_host(index), kind="stable")
        order = order[chosen[order] < np.inf]
        return _Drawn(chosen[order], to_host(xp.take(H, index, axis=0))[order], self.size)


@final
@attrs.frozen(eq=False)
class _Weigh(BlockFunction):
    """Part of the weights: how many rows are nearest to each candidate."""

    nearest: NearestOf | _Remembered
    count: int
    weights: Array | None = None

    def __call__(self, rows: slice, H: Any) -> Sums:
        weights = None if self.weights is None else self.weights[rows]
        return Sums.of(np.bincount(to_host(self.nearest(rows, H)), weights, minlength=self.count))
