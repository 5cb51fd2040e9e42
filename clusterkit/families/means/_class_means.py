"""An iteration of k-means on features as sums over the rows: class sums, class sizes, and the cost of the labels.

Above one group of rows the class sums are exact on a grid (`ExactSums`), so that all ways to the same labels give the
same centres.
"""

from __future__ import annotations

from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.contracts.outcomes import Ending, Status
from clusterkit.contracts.pass_solver import Finished, RowFunction
from clusterkit.families.means._geometry import FeatureGeometry, NearestMeans
from clusterkit.samples import squared_distances_to
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    is_device_array,
    move_to,
    to_host,
)
from clusterkit.samples.coding import Coded, Coding, unit_vectors
from clusterkit.samples.sums import Sums, class_totals


@final
@attrs.frozen
class ExactSums:
    """Class sums without rounding errors, on the two grids of `clusterkit.families.means._loops_jit`.

    Parameters
    ----------
    coarse, fine : float
        Numbers whose addition and subtraction round to the grids.
    """

    coarse: float
    fine: float

    @classmethod
    def of(cls, about: FeatureGeometry) -> ExactSums:
        """Grids that are fine enough for samples with this spread about their mean."""
        from clusterkit.families.means._loops_jit import grids

        radius = float(np.sqrt(about.radii.largest)) * (1.0 + 1e-3)  # (room for the rounding errors of distances)
        largest = radius + float(np.abs(about.origin).max(initial=0.0))
        return cls(*grids(largest, int(about.radii.count)))

    def zeros(self, k: int, width: int) -> list[Array]:
        """Empty sums: a table (k, L) for each grid."""
        return [np.zeros((k, width)), np.zeros((k, width))]

    def add(self, parts: list[Array], H: Array, labels: Labels) -> None:
        """Add the rows of H (b, L) to the sums of their classes."""
        from clusterkit.families.means._loops_jit import add_rows

        add_rows(np.ascontiguousarray(H), labels, self.coarse, self.fine, *parts)

    def move(self, parts: list[Array], H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """Take rows of H from their old classes to their new ones."""
        from clusterkit.families.means._loops_jit import move_rows

        move_rows(np.ascontiguousarray(H), index, old, new, self.coarse, self.fine, *parts)

    @staticmethod
    def sums(parts: list[Array]) -> Array:
        """The class sums, (L, k), of both tables."""
        high, low = parts
        return (high + low).T


@final
@attrs.frozen(eq=False)
class CentroidSums(BlockFunction):
    """k-means on features: the means of the classes, and minus the squared distances to them as scores.

    Parameters
    ----------
    about : FeatureGeometry
    k : int
    tol : float
        Parameter of the solver `centroids`.
    exact : ExactSums or None
        Exact summation of the rows of a class; None: sums by products, whose rounding errors depend on the blocks.
    """

    array_api: ClassVar[bool] = True

    about: FeatureGeometry
    k: int
    tol: float
    exact: ExactSums | None = None

    @property
    def shift_tol(self) -> float:
        """`tol` in the units of a squared movement of the centres."""
        return self.tol * self.about.radii.added / self.about.radii.count / len(self.about.origin)

    @property
    def settled_reason(self) -> str:
        """Why the labels may be final."""
        return f"tolerance reached: the centres move by no more than tol = {self.tol:g}"

    def part(self, H: Array, targets: Coded, scores: Array | None) -> Sums:
        """Class sums, class sizes (k,), and with scores their cost and for how many rows that is.

        All of them count the rows by their weights, where there are some. Class sums are a table (L, k), or two tables
        (k, L) where they are exact.
        """
        cost, measured = np.float64(0.0), 0
        if scores is not None:
            each = _of_labels(scores, targets.labels[0, :])
            if targets.weights is not None:
                each = each * (move_to(targets.weights, each) if is_device_array(each) else targets.weights)
            xp = array_namespace(each)
            cost, measured = -xp.sum(each, dtype=xp.float64), each.shape[0]
        if self.exact is None and targets.weights is None and _loop_pays(H, self.k):
            from clusterkit.numerics.nearest_jit import add_to_classes

            added = np.zeros((self.k, H.shape[1]))
            add_to_classes(np.ascontiguousarray(H), targets.labels[0], added)
            return Sums.of(added.T, targets.sizes()[0], cost, np.int64(measured))
        if is_device_array(H):
            return Sums.of(*self._tables_there(H, targets), cost, np.int64(measured))
        if self.exact is None or targets.weights is not None:
            return Sums.of(*class_totals(H, targets), cost, np.int64(measured))
        tables = self.exact.zeros(self.k, H.shape[1])
        self.exact.add(tables, H, targets.labels[0])
        return Sums.of(*tables, targets.sizes()[0], cost, np.int64(measured))

    def labelled_part(self, H: Array, function: RowFunction) -> tuple[Labels, Counts, Sums] | None:
        """Labels of a block on a device by the centres of the iteration before, class sizes, and the part of both."""
        if not isinstance(function, NearestMeans) or self.about.all_equal:
            return None
        labels, each = function.nearest(H)
        coded = Coded(labels[None, :], Coding.ONEHOT, self.k, unit_vectors(self.k))
        *tables, sizes = self._tables_there(H, coded)
        cost = -array_namespace(H).sum(each)
        return labels, sizes, Sums.of(*tables, sizes, cost, np.int64(H.shape[0]))

    def _tables_there(self, H: Any, targets: Coded) -> tuple[Any, ...]:
        """Class sums as `part` has them, rounded, and class sizes, of a block on a device.

        In float64: the objective is a difference of squares of these sums.
        """
        xp = array_namespace(H)
        class_sums, sizes = class_totals(as_type(H, np.float64), targets)
        if self.exact is None or targets.weights is not None:
            return class_sums, sizes
        return class_sums.T, xp.zeros_like(class_sums.T), sizes

    def finish(self, total: Sums, previous: RowFunction | None) -> Finished | RefillEmpty:
        """The class means; if a class is empty, one more pass for the samples that its centre moves to."""
        *tables, sizes, cost, measured = total.arrays
        class_sums = tables[0] if len(tables) == 1 else ExactSums.sums(tables)
        if self.about.all_equal:
            return Finished(self.about.extension(self.about.overall(self.k)), np.zeros(1))
        centres = self.about.centres(class_sums, np.where(sizes > 0, sizes, 1))
        before = previous.centres if isinstance(previous, NearestMeans) else None
        if measured and before is not None:
            # distances to other centres are known: the class means are nearer by their movement (Huygens' theorem)
            value = float(cost) - _moved(centres, before) @ sizes
        else:
            value = self.about.radii.added - _moved(centres, np.zeros_like(centres)) @ sizes
        objective = np.array([max(0.0, value)])
        if not sizes.all():
            return RefillEmpty(self, centres, sizes, objective, before)
        return self.ended(centres, objective, before)

    def ended(self, centres: Array, objective: Array, before: Array | None, status: Status | None = None) -> Finished:
        """The iteration with final centres; settled if they have hardly moved."""
        tol = self.shift_tol
        if status is None and tol > 0 and before is not None and _moved(centres, before).sum() <= tol:
            status = Status(1, Ending.SETTLED, self.settled_reason, settled=True)
        return Finished(self.about.extension(centres), objective, status)


LOOPED = 400_000
"""Products of a block, b L k, from which on a compiled loop adds the rows of a class: a fifth of the time or less."""


def _loop_pays(H: Any, k: int) -> bool:
    """Whether the rows of a block on the host are added one by one, and not by a product with mostly zeros."""
    return isinstance(H, np.ndarray) and H.size * k >= LOOPED


def _of_labels(scores: Array, labels: Labels) -> Array:
    """The score of each row for its label, (b,), on the device of the scores."""
    xp = array_namespace(scores)
    labels = move_to(labels, scores) if is_device_array(scores) else labels
    return xp.take_along_axis(scores, labels[:, None], axis=1)[:, 0]


def _moved(centres: Array, before: Array) -> Array:
    """Squared movement of each centre, (k,)."""
    return np.asarray(np.sum(np.subtract(centres, before, dtype=np.float64) ** 2, axis=0))


@final
@attrs.frozen(eq=False)
class RefillEmpty(BlockFunction):
    """Second pass of an iteration with empty classes: their centres become the samples farthest from their own centres.

    Parameters
    ----------
    iteration : CentroidSums
    centres : ndarray of shape (L, k)
        Class means.
    sizes : ndarray of shape (k,)
        Or sums of weights.
    objective : ndarray of shape (1,)
    before : ndarray of shape (L, k) or None
        The centres of the iteration before.
    """

    array_api: ClassVar[bool] = True

    iteration: CentroidSums
    centres: Array
    sizes: Array
    objective: Array
    before: Array | None

    def part(self, H: Array, targets: Coded, scores: Array | None) -> Farthest:
        """The samples of the block that may become centres."""
        scores = self.iteration.about.extension(self.centres).on(H)
        distances = -as_type(to_host(_of_labels(scores, targets.labels[0, :])), np.float64)
        labels = to_host(targets.labels[0, :])
        if targets.weights is not None:
            distances *= targets.weights > 0  # a sample that does not count is no centre
        about = self.iteration.about
        noise = about.noise(to_host(squared_distances_to(H, about.origin)))
        if not is_device_array(H):
            return Farthest(distances, labels, H, noise, self._count).candidates()
        index = _candidates(distances, self._count, noise)  # only these leave the device
        rows = to_host(array_namespace(H).take(H, move_to(index, H), axis=0))
        return Farthest(distances[index], labels[index], rows, noise[index], self._count)

    def finish(self, total: Farthest, previous: RowFunction | None) -> Finished:
        """The centres with the empty classes at samples."""
        about, empty = self.iteration.about, np.flatnonzero(self.sizes == 0)
        centres = self.centres.copy()
        chosen = farthest_of(total.distances, len(empty), total.noise)
        off_centre = total.distances[chosen] > total.noise[chosen]
        centres[:, empty] = centres[:, total.labels[chosen]]
        centres[:, empty[off_centre]] = about.centred(total.rows[chosen[off_centre]])
        status = None if off_centre.any() else too_few(self.iteration.k, self.iteration.k - len(empty))
        return self.iteration.ended(centres, self.objective, self.before, status)

    @property
    def _count(self) -> int:
        return int(np.sum(self.sizes == 0))


@final
@attrs.frozen(eq=False)
class Farthest:
    """The samples among which `farthest_of` chooses, in the order of the rows.

    Parameters
    ----------
    distances : ndarray of shape (b,)
        Squared distances of the samples from the centres of their classes, float64.
    labels : ndarray of shape (b,)
    rows : ndarray of shape (b, L)
        Features of the samples.
    noise : ndarray of shape (b,)
        Distances that differ by no more are equal.
    count : int
        Number of samples to choose.
    """

    distances: Array
    labels: Labels
    rows: Array
    noise: Array
    count: int

    def __add__(self, following: Farthest) -> Farthest:
        """The candidates of both blocks."""
        joined = Farthest(
            np.concatenate([self.distances, following.distances]),
            np.concatenate([self.labels, following.labels]),
            np.concatenate([self.rows, following.rows]),
            np.concatenate([self.noise, following.noise]),
            self.count,
        )
        return joined.candidates()

    def candidates(self) -> Farthest:
        """A copy without the samples that cannot be chosen."""
        index = _candidates(self.distances, self.count, self.noise)
        if len(index) == len(self.distances):
            return self
        return Farthest(self.distances[index], self.labels[index], self.rows[index], self.noise[index], self.count)


def _bounds(distances: Array, noise: Array) -> tuple[Array, Array]:
    """Bounds below and above each distance; -1 for samples that may lie on their centres, so that they come last."""
    is_off = distances > noise
    return np.where(is_off, distances - noise, -1.0), np.where(is_off, distances + noise, -1.0)


def _candidates(distances: Array, count: int, noise: Array) -> Indices:
    """Indices of the samples that may be chosen: those that may be as far as the `count`-th farthest.

    Of samples with equal bounds only the first `count` are kept.
    """
    if len(distances) <= count:
        return np.arange(len(distances))
    below, above = _bounds(distances, noise)
    near = np.flatnonzero(above >= np.partition(below, -count)[-count])
    _, group = np.unique(np.column_stack((below, above))[near], axis=0, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    position = np.empty(len(near), dtype=np.intp)
    position[order] = np.arange(len(near)) - np.repeat(starts, np.diff(np.append(starts, len(near))))
    return near[position < count]


def farthest_of(distances: Array, count: int, noise: Array) -> Indices:
    """Indices of the `count` largest distances, no index twice; of distances equal up to rounding the lowest index.

    Distances are equal if none of them is surely the largest: each has its own rounding error, so that the one that
    seems largest must not decide alone.
    """
    below, above = _bounds(distances, noise)
    farthest = np.empty(count, dtype=np.intp)
    for position in range(count):
        farthest[position] = np.argmax(above >= below.max())
        below[farthest[position]] = above[farthest[position]] = -np.inf
    return farthest


def too_few(k: int, distinct: int) -> Status:
    """The status if every sample lies on a centre and there are more classes than distinct samples."""
    empty = f"only {distinct} distinct samples for n_clusters={k}: {k - distinct} clusters stay empty"
    return Status(1, Ending.CONVERGED, "every sample lies on its centre", empty_clusters=empty)
