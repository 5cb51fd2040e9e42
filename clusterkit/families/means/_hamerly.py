"""Lloyd's iterations without a table of scores: bounds settle most labels, and class sums are updated, not recomputed.

Used by `centroids` only. On features each sample has a Hamerly bound, a lower bound of how much farther its second
nearest centre is than its nearest (Hamerly 2010, Making k-means even faster, SIAM International Conference on Data
Mining). An iteration lowers the bound by the movement of the centres and computes distances only for samples whose
bound is used up, by compiled loops (`NearestByLoops`) or by products with the centres (`NearestByProducts`). The class
sums are moved with the samples that change their class (`UpdatesByLoops`, `UpdatesByProducts`). On a kernel the sums of
kernel values over the classes are updated by the samples that change their class, O(n r) for r such samples.

Updated sums accumulate rounding errors, so they are recomputed every `RENEWAL` iterations.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import count
from typing import Protocol, TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.families.means._class_means import CentroidSums, ExactSums
from clusterkit.families.means._geometry import FeatureMeans, KernelMeans, blocks_of, minus_distances
from clusterkit.numerics.lloyd import LEAST_WORK, compiled_pays
from clusterkit.numerics.threads import THIN, ParallelFor, each_block, limited_threads, thread_pool
from clusterkit.samples import FeatureSpace
from clusterkit.samples.coding import Coded
from clusterkit.samples.transform import BLOCK_ROWS


class ClassSumUpdates(Protocol):
    """Sums of the features of each class, for labels that change a little from iteration to iteration."""

    sizes: Counts
    """number of samples in each class, (k,), at the last `settle`"""

    @property
    def total(self) -> Array:
        """Class sums (L, k), float64, at the last `settle`."""

    def renew(self, labels: Labels) -> None:
        """Add up all samples."""

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """Note that the rows `index` of H change from the classes `old` to `new`, (r,) each."""

    def settle(self) -> None:
        """Take in what was noted in this iteration."""


class _ClassSizeUpdates:
    """Base of the class sum updates: class sizes that follow the labels."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.sizes: Counts = np.zeros(k, dtype=np.intp)
        self.growth: Counts = np.zeros(k, dtype=np.intp)

    def count(self, labels: Labels) -> None:
        """Count all samples."""
        self.sizes, self.growth = np.bincount(labels, minlength=self.k), np.zeros(self.k, dtype=np.intp)

    def note(self, old: Labels, new: Labels) -> None:
        """Note samples that change their class."""
        self.growth += np.bincount(new, minlength=self.k) - np.bincount(old, minlength=self.k)

    def settle(self) -> None:
        """Take in what was noted."""
        self.sizes, self.growth = self.sizes + self.growth, np.zeros_like(self.growth)


class _Rounded(_ClassSizeUpdates):
    """Sums with rounding errors: the changes of an iteration are added up first, and then to the sums."""

    def __init__(self, space: FeatureSpace, targets: Coded) -> None:
        super().__init__(targets.k)
        self.space, self.targets = space, targets
        self.total: Array = np.zeros((space.width, targets.k))
        self.change = np.zeros((targets.k, space.width))

    def renew(self, labels: Labels) -> None:
        """Add up all samples, in the order of `clusterkit.samples.sums`."""
        self.count(labels)
        self.total = self.space.adjoint(attrs.evolve(self.targets, labels=labels[None]))

    def settle(self) -> None:
        """Take in the changes of this iteration."""
        super().settle()
        self.total = self.total + self.change.T
        self.change[:] = 0.0


@final
class UpdatesByProducts(_Rounded):
    """Rounded sums, moved by a product with one column for each class."""

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """Note a change of the classes of rows, as `ClassSumUpdates.move`."""
        self.note(old, new)
        self.change += (H[index].T @ transfers(old, new, self.k, np.float64)).T


@final
class UpdatesByLoops(_Rounded):
    """Rounded sums, moved by compiled loops in float64."""

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """Note a change of the classes of rows, as `ClassSumUpdates.move`."""
        from clusterkit.numerics.nearest_jit import transfer

        self.note(old, new)
        transfer(H, index, old, new, self.change)


@final
class ExactUpdates(_ClassSizeUpdates):
    """Exact sums: bit for bit the sums of the labels, whatever the sequence of updates that led to them."""

    def __init__(self, space: FeatureSpace, k: int, exact: ExactSums) -> None:
        super().__init__(k)
        self.space, self.exact, self.tables = space, exact, exact.zeros(k, space.width)
        self.fresh = True

    @property
    def total(self) -> Array:
        """Class sums, (L, k)."""
        return self.exact.sums(self.tables)

    def renew(self, labels: Labels) -> None:
        """Add up all samples; needed once."""
        if self.fresh:
            self.count(labels)
            for rows, H in self.space.pieces():
                self.exact.add(self.tables, H, labels[rows])
            self.fresh = False

    def move(self, H: Array, index: Indices, old: Labels, new: Labels) -> None:
        """Change the class sums at once, instead of noting the change for `settle`."""
        self.note(old, new)
        self.exact.move(self.tables, H, index, old, new)


def transfers(old: Labels, new: Labels, k: int, dtype: np.dtype | type) -> Array:
    """One row per sample that changes its class: -1 for the old class, +1 for the new, (r, k)."""
    steps = np.zeros((len(old), k), dtype=dtype)
    movers = np.arange(len(old))
    steps[movers, old] = -1.0
    steps[movers, new] = 1.0
    return steps


GATHERED_BYTES = 4 * 1024**2
"""Bytes of the rows gathered for one product: enough for a fast product, few enough to stay in the cache."""


PRODUCTS = 16_384
"""Numbers of a table of centres from which on products find the nearest one faster than loops."""
WIDE = 64
"""Smallest number of features for that: of narrower rows the comparisons cost more than the products."""


def products_pay(width: int, k: int) -> bool:
    """Whether rows of so many features are compared with so many centres by products of matrices.

    Examples
    --------
    >>> products_pay(128, 256), products_pay(20, 8), products_pay(10, 10_000)
    (True, False, False)
    """
    return width >= WIDE and width * k >= PRODUCTS


_Batch: TypeAlias = tuple[Array, tuple[slice, Array] | None]
"""Rows in doubt, and the block that they are in, with its rows."""


class NearestSearch(Protocol):
    """Search for the nearest centres of the samples in doubt: those whose bound allows another nearest centre."""

    def renew(self) -> None:
        """Have the next iteration look at all samples."""

    def __call__(self, centres: Array, shrinkage: Array, labels: Labels, new: Labels) -> tuple[float, float]:
        """Lower the bounds (n,) by the shrinkage (k,) of their labels, and write new labels into a copy of the labels.

        The class sums take note of the samples that change their class. Returns the sum of the squared distances of the
        samples looked at to the centres of their labels, and what it falls by.
        """


def safe_bounds(noise: Array) -> Array:
    """Hamerly bounds (n,) above which rounding cannot change the nearest centres of samples with this noise (n,).

    Above it computed scores have the same order, and the second distance exceeds the noise.
    """
    return np.asarray(np.sqrt(3.0 * noise))


@final
class NearestByLoops:
    """A `NearestSearch` by compiled loops on several threads, for many samples of few features.

    Parameters
    ----------
    geometry : FeatureMeans
    sums : ClassSumUpdates
    over : callable
        Makes a pass over rows.
    as_in_blocks : bool
        Whether samples with two nearest centres up to rounding get the labels that the scores of their block give them.
    """

    def __init__(self, geometry: FeatureMeans, sums: ClassSumUpdates, over: ParallelFor, as_in_blocks: bool) -> None:
        self.geometry, self.sums, self.over, self.as_in_blocks = geometry, sums, over, as_in_blocks
        n = geometry.space.n
        self.hamerly_bound, self.distances, self.gains = np.empty(n), np.empty(n), np.empty(n)
        self.safe = safe_bounds(geometry.noise)
        self.movers, self.nearest, self.ties = (np.empty(n, dtype=np.intp) for _ in range(3))
        self.fresh = True

    def renew(self) -> None:
        """Have the next iteration look at all samples."""
        self.hamerly_bound[:] = -np.inf
        self.fresh = True

    def __call__(self, centres: Array, shrinkage: Array, labels: Labels, new: Labels) -> tuple[float, float]:
        """Update labels and class sums, as `NearestSearch.__call__`; returns a sum of nan unless all are looked at."""
        geometry = self.geometry
        means = (centres + geometry.origin[:, None]).T
        falls: list[Array] = []
        for rows, H in geometry.space.pieces():
            movers, nearest, gains, ties = self._settled(rows, H, means, shrinkage, labels)
            falls.append(gains)
            if len(ties) and self.as_in_blocks:
                decided = self._in_blocks(rows, H, centres, ties)
                sure = ~np.isin(movers, ties, assume_unique=True)
                others = decided != labels[ties]
                movers = np.concatenate([movers[sure], ties[others]])
                nearest = np.concatenate([nearest[sure], decided[others]])
            self.sums.move(H, movers - rows.start, labels[movers], nearest)
            new[movers] = nearest
        total = float(self.distances.sum()) if self.fresh else float("nan")
        self.fresh = False
        return total, float(np.concatenate(falls).sum())

    def _settled(
        self, rows: slice, H: Array, means: Array, shrinkage: Array, labels: Labels
    ) -> tuple[Indices, Labels, Array, Indices]:
        """The samples of a piece with another nearest centre, its number, their gains, and the samples between two."""
        from clusterkit.numerics.nearest_jit import settle

        H, means = np.ascontiguousarray(H), np.ascontiguousarray(means)
        counts: dict[int, tuple[int, int]] = {}

        def part(start: int, stop: int) -> None:
            counts[start] = settle(
                H, rows.start, start, stop, means, shrinkage, labels, self.geometry.noise, self.safe,
                self.hamerly_bound, self.distances, self.movers, self.nearest, self.gains, self.ties,
            )  # fmt: skip

        self.over(part, rows.start, rows.stop, means.size)
        order = sorted(counts)
        n_movers = np.array([counts[start][0] for start in order])
        of_movers = _places(order, n_movers)
        of_ties = _places(order, np.array([counts[start][1] for start in order]))
        return self.movers[of_movers], self.nearest[of_movers], self.gains[of_movers], self.ties[of_ties]

    def _in_blocks(self, rows: slice, H: Array, centres: Array, ties: Indices) -> Labels:
        """The labels of some samples by the scores of the blocks of the block plan that they are in."""
        geometry, constants = self.geometry, self.geometry.constants(centres)
        decided = np.empty(len(ties), dtype=np.intp)
        blocks = blocks_of(geometry.space, rows)
        borders = np.searchsorted(ties, [rows.start, *(block.stop for block in blocks)])
        mixed = np.flatnonzero(np.diff(borders))  # the blocks that have some

        def part(first: int, last: int) -> None:
            for number in mixed[first:last]:
                block, some = blocks[number], slice(borders[number], borders[number + 1])
                inside = H[block.start - rows.start : block.stop - rows.start]
                scores = geometry.block_scores(inside, block, centres, constants)
                decided[some] = np.argmax(scores[ties[some] - block.start], axis=1)

        self.over(part, 0, len(mixed), (blocks[0].stop - blocks[0].start) * centres.size)
        return decided


def _places(starts: list[int], counts: Indices) -> Indices:
    """The first `counts` places from each start on, behind each other."""
    skipped = np.repeat(np.array(starts, dtype=np.intp) - np.cumsum(counts) + counts, counts)
    return skipped + np.arange(len(skipped))


@final
class NearestByProducts:
    """A `NearestSearch` by matrix products of the samples with the centres.

    Parameters
    ----------
    geometry : FeatureMeans
    sums : ClassSumUpdates
    as_in_blocks : bool
        As in `NearestByLoops`.
    """

    def __init__(self, geometry: FeatureMeans, sums: ClassSumUpdates, as_in_blocks: bool) -> None:
        self.geometry, self.sums, self.as_in_blocks = geometry, sums, as_in_blocks
        self.n, self.width = geometry.space.n, geometry.space.width
        self.safe, self.hamerly_bound = safe_bounds(geometry.noise), np.empty(self.n)

    def renew(self) -> None:
        """Have the next iteration look at all samples."""
        self.hamerly_bound[:] = -np.inf

    def __call__(self, centres: Array, shrinkage: Array, labels: Labels, new: Labels) -> tuple[float, float]:
        """Update labels and class sums, as `NearestSearch.__call__`."""
        geometry = self.geometry
        constants = geometry.about.constants(centres)
        many = self.n * centres.size >= LEAST_WORK  # else loading the compiled loop takes longer than it saves

        def look(index: Indices, batch: _Batch) -> tuple[Array, Labels, Array, Array]:
            """The rows, their nearest centres, and the scores of their labels and of these; several threads call it."""
            H, block = batch
            products, old = H @ centres, labels[index]
            if many:
                from clusterkit.numerics.nearest_jit import two_largest

                nearest, current, best, bounds = two_largest(
                    products, constants, geometry.radii[index], geometry.noise[index], old
                )
            else:
                rows = minus_distances(products, constants, geometry.radii[index], geometry.noise[index])
                nearest, current, best, bounds = _nearest(rows, old, geometry.noise[index])
            self.hamerly_bound[index] = bounds
            ties = np.flatnonzero(bounds <= 0.0) if block is not None else ()
            if block is not None and len(ties):
                inside, whole = block
                scores = geometry.block_scores(whole, inside, centres, constants)
                nearest[ties] = np.argmax(scores[index[ties] - inside.start], axis=1)
            return H, nearest, current, best

        total, decrease = 0.0, 0.0
        self.hamerly_bound -= shrinkage[labels]
        doubtful = np.flatnonzero(self.hamerly_bound <= self.safe)
        batches = (_in_blocks if self.as_in_blocks else gathered)(geometry.space, doubtful)
        for index, (H, nearest, current, best) in each_block(look, batches, self.n, self.width):
            old = labels[index]
            total -= float(current.sum(dtype=np.float64))
            movers = np.flatnonzero(nearest != old)
            if len(movers):
                new[index[movers]] = nearest[movers]
                decrease += float((best - current).sum(dtype=np.float64))
                self.sums.move(H, movers, old[movers], nearest[movers])
        return total, decrease


def _in_blocks(space: FeatureSpace, doubtful: Indices) -> Iterator[tuple[Indices, _Batch]]:
    """Samples in doubt with their rows, and the block that they are in with its rows."""
    begin = 0
    for rows, H in space.blocks():
        end = begin + int(np.searchsorted(doubtful[begin:], rows.stop))
        if begin < end:
            index = doubtful[begin:end]
            yield index, (H if len(index) == len(H) else H[index - rows.start], (rows, H))
        begin = end


def gathered(space: FeatureSpace, index: Indices) -> Iterator[tuple[Indices, _Batch]]:
    """Some rows of H with their indices, gathered from the blocks: the same batches whether H is stored or streamed."""
    if not len(index):
        return
    width, dtype = space.width, space.dtype
    most = max(64, min(BLOCK_ROWS, GATHERED_BYTES // (width * dtype.itemsize)))
    batch = np.empty((min(most, len(index)), width), dtype=dtype)
    begin = end = 0  # the rows index[begin:end] are in the batch
    for rows, H in space.blocks():
        last = end + int(np.searchsorted(index[end:], rows.stop))
        if last - end == len(H):
            if begin < end:
                yield index[begin:end], (batch[: end - begin], None)
                batch = np.empty_like(batch)  # others may be at work on the one before
            yield index[end:last], (H, None)
            begin = end = last
        while end < last:
            stop = min(last, begin + len(batch))
            # "clip" because the default mode would copy once more
            np.take(H, index[end:stop] - rows.start, axis=0, out=batch[end - begin : stop - begin], mode="clip")
            end = stop
            if end - begin == len(batch):
                yield index[begin:end], (batch, None)
                batch = np.empty_like(batch)
                begin = end
        if end == len(index):
            break
    if begin < end:
        yield index[begin:end], (batch[: end - begin], None)


def _nearest(rows: Array, labels: Labels, noise: Array) -> tuple[Labels, Array, Array, Array]:
    """Columns of the largest scores, the scores of the labels, the largest scores, and the gap to the second largest.

    Overwrites entries of `rows`.
    """
    samples = np.arange(len(rows))
    nearest = np.argmax(rows, axis=1)
    current, best = rows[samples, labels], rows[samples, nearest]
    rows[samples, nearest] = -np.inf
    hamerly_bound = np.sqrt(np.maximum(-rows.max(axis=1) - noise, 0.0)) - np.sqrt(noise - best)
    return nearest, current, best, hamerly_bound


RENEWAL = 50
"""Iterations after which sums and bounds are recomputed, so that rounding errors of at most 50 additions add up.

Not sensitive: 25 and 100 gave the same labels in the same number of iterations, 25 in 1.04 to 1.22 of the time and 100
in 0.87 to 0.97.
"""
KERNEL_ROWS = 256
"""Rows of the kernel matrix copied for one product."""
SMALLEST_DECREASE = 1e-12
"""Objectives whose relative difference is smaller are equal up to rounding."""


Iterations: TypeAlias = Generator[tuple[float, Labels], None, bool | float]
"""Objectives and labels of iterations; the value returned says whether the next iteration is the last by the tolerance,
or is the objective of labels that it would not change."""


def feature_iterations(geometry: FeatureMeans, targets: Coded, summing: CentroidSums) -> Iterations:
    """Iterations on features: O(n), plus O(L k) for each sample in doubt; memory of a few numbers a sample and a block.

    Yields the objective of the labels entering an iteration and the labels it produces. Ends before an iteration that
    changes nothing, and returns the objective, or meets an empty class, and returns False, or before the first one
    whose centres have moved by no more than the tolerance of `summing` (the sum of squares over all coordinates), and
    returns True; the caller then goes on with the full tables. Where class sums are exact, labels and centres are those
    of full iterations bit for bit: nearest centres that are as near up to rounding are compared by the full tables.
    """
    space, k, exact = geometry.space, targets.k, summing.exact
    loops = compiled_pays(space.n, space.width, k) and not space.sparse and not products_pay(space.width, k)
    sums: ClassSumUpdates
    if exact is not None:
        sums = ExactUpdates(space, k, exact)
    else:
        sums = (UpdatesByLoops if loops else UpdatesByProducts)(space, targets)
    as_in_blocks = exact is not None
    with limited_threads(0 if loops else THIN), thread_pool() as over:
        by_loops = NearestByLoops(geometry, sums, over, as_in_blocks) if loops else None
        search: NearestSearch = by_loops or NearestByProducts(geometry, sums, as_in_blocks)
        labels, last = targets.labels[0], np.inf
        centres: Array = np.empty(0)
        steps = centres
        following = 0.0
        for iteration in count():
            renewal = iteration % RENEWAL == 0
            if renewal:
                sums.renew(labels)
                search.renew()
            sizes = sums.sizes
            if not sizes.all():
                return False
            before, centres = centres, geometry.about.centres(sums.total, sizes)
            if iteration:
                steps = np.sum(np.subtract(centres, before, dtype=np.float64) ** 2, axis=0)
                if summing.shift_tol > 0 and float(steps.sum()) <= summing.shift_tol:
                    return True
            shrinkage = np.zeros(k) if renewal else _shrinkage(np.sqrt(steps))
            new = labels.copy()
            total, decrease = search(centres, shrinkage, labels, new)
            # else the decrease by the samples that changed their class, and by the centres that moved (Huygens)
            objective = total if renewal else following - float(sizes @ steps)
            if not decrease > 0.0:
                return objective if np.array_equal(new, labels) else False
            if not objective < last * (1.0 - SMALLEST_DECREASE):
                return False
            yield objective, new
            labels, last, following = new, objective, objective - decrease
            sums.settle()
        return False  # (the count never ends)


def kernel_iterations(geometry: KernelMeans, targets: Coded) -> Iterations:
    """Iterations on a kernel matrix: O(n k), plus O(n k) for each sample that changed its class; memory of n k numbers.

    Yields and ends as `feature_iterations` does, without a tolerance.
    """
    K = geometry.K
    labels, k, last = targets.labels[0], targets.k, np.inf
    samples = np.arange(len(K))
    sums: Array = np.empty(0)
    for iteration in count():
        sizes = np.bincount(labels, minlength=k)
        if not sizes.all():
            return False
        if iteration % RENEWAL == 0:
            sums = _class_sums(K, samples, np.eye(k, dtype=K.dtype)[labels])
        norms = np.bincount(labels, weights=sums[samples, labels], minlength=k) / sizes.astype(np.float64) ** 2
        rows = minus_distances(sums / sizes, norms, geometry.diagonal, geometry.noise)
        objective = max(0.0, -float(rows[samples, labels].sum()))
        new = np.argmax(rows, axis=1)
        movers = np.flatnonzero(new != labels)
        if not len(movers) or not objective < last * (1.0 - SMALLEST_DECREASE):
            return False
        yield objective, new
        if (iteration + 1) % RENEWAL:
            sums += _class_sums(K, movers, transfers(labels[movers], new[movers], k, K.dtype))
        labels, last = new, objective
    return False  # (the count never ends)


def _shrinkage(steps: Array) -> Array:
    """Amount by which the gaps of a class shrink when centres move: its step plus the largest other step, (k,)."""
    others = np.full(len(steps), steps.max())
    top = int(np.argmax(steps))
    others[top] = np.delete(steps, top).max(initial=0.0)
    return steps + others


def _class_sums(K: Array, index: Indices, weights: Array) -> Array:
    """``K[:, index] weights``, (n, k), in float64 over batches; K is symmetric, and its rows are faster to read."""
    total = np.zeros((len(K), weights.shape[1]))
    for start in range(0, len(index), KERNEL_ROWS):
        batch = index[start : start + KERNEL_ROWS]
        rows = K[batch[0] : batch[-1] + 1] if batch[-1] - batch[0] == len(batch) - 1 else K[batch]
        total += rows.T @ weights[start : start + KERNEL_ROWS]
    return total
