"""Lloyd's iterations without a table of scores: bounds settle most labels, and class sums are updated, not recomputed.

Used by `centroids` only. On features each sample has a `gap`, a lower bound of how much farther its second nearest
centre is than its nearest (Hamerly 2010, Making k-means even faster, SIAM International Conference on Data Mining). An
iteration lowers the gap by the movement of the centres and computes distances only for samples whose gap is used up. On
a kernel the sums of kernel values over the classes are updated by the samples that change their class, O(n r) for r
such samples.

Updated sums accumulate rounding errors, so they are recomputed every `RENEWAL` iterations.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import count
from typing import TypeAlias

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.coding import Coded
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.transform import BLOCK_ROWS
from clusterkit.numerics.nearest import compiled_pays
from clusterkit.solvers.means._geometry import FeatureMeans, KernelMeans
from clusterkit.solvers.means._nearness import minus_distances

__all__ = ["feature_turns", "kernel_turns"]

RENEWAL = 50
"""Iterations after which sums and bounds are recomputed, so that their rounding errors stay those of 50 additions.

Not sensitive: 25 and 100 gave the same labels in the same number of iterations, 25 in 1.04 to 1.22 of the time and 100
in 0.87 to 0.97 (`tests/benchmarks/constants.py`).
"""
GATHERED_BYTES = 4 * 1024**2
"""Bytes of the rows gathered for one product: enough for a fast product, few enough to stay in the cache."""
KERNEL_ROWS = 256
"""Rows of the kernel matrix copied for one product."""
SMALLEST_DECREASE = 1e-12
"""Objectives whose relative difference is smaller are equal up to rounding."""


Turns: TypeAlias = Generator[tuple[float, Labels], None, bool | float]
"""Objectives and labels of iterations; the value returned says whether the next iteration is the last by the tolerance,
or is the objective of labels that it would not change."""


def feature_turns(geometry: FeatureMeans, targets: Coded, shift_tol: float) -> Turns:
    """Iterations on features: O(n), plus O(L k) for each sample in doubt; memory of n numbers and a block.

    Yields the objective of the labels entering an iteration and the labels it produces. Ends before an iteration that
    changes nothing, and returns the objective, or meets an empty class, and returns False, or before the first one
    whose centres have moved by no more than `shift_tol` (the sum of squares over all coordinates), and returns True;
    the caller then goes on with the full tables.
    """
    space, rounding_error = geometry.space, geometry.rounding_error
    labels, k, last = targets.labels[0], targets.k, np.inf
    # A gap above `safe` is also a gap between computed scores, and the second distance is above the rounding error.
    safe = float(np.sqrt(3.0 * rounding_error))
    sums: Array = np.empty(0)
    centres = gap = steps = sums
    following = 0.0
    look = _by_loops if compiled_pays(space.n, space.width, k) and not space.sparse else _by_products
    spare: Indices = np.empty(0, dtype=np.intp)
    for turn in count():
        sizes = np.bincount(labels, minlength=k)
        if not sizes.all():
            return False
        renewal = turn % RENEWAL == 0
        if renewal:
            sums = space.adjoint(attrs.evolve(targets, labels=labels[None]))
        before, centres = centres, geometry.centres(sums, sizes)
        if turn:
            steps = np.sum(np.subtract(centres, before, dtype=np.float64) ** 2, axis=0)
            if shift_tol > 0 and float(steps.sum()) <= shift_tol:
                return True
        if renewal:
            gap = np.full(space.n, -np.inf)
            doubtful: Indices = np.arange(space.n)
        else:
            # the decrease by the samples that changed their class, and by the centres that moved (Huygens' theorem)
            objective = following - float(sizes @ steps)
            spare = np.empty(space.n, dtype=np.intp) if not len(spare) else spare
            doubtful = _doubtful(gap, labels, _shrinkage(np.sqrt(steps)), safe, spare if look is _by_loops else None)
        new, change = labels.copy(), np.zeros_like(sums)
        total, decrease = look(geometry, doubtful, centres, labels, new, gap, change)
        objective = total if renewal else objective
        if not decrease > 0.0:
            return objective if np.array_equal(new, labels) else False
        if not objective < last * (1.0 - SMALLEST_DECREASE):
            return False
        yield objective, new
        labels, last, following = new, objective, objective - decrease
        sums += change
    return False  # (the count never ends)


def kernel_turns(geometry: KernelMeans, targets: Coded) -> Turns:
    """Iterations on a kernel matrix: O(n k), plus O(n k) for each sample that changed its class; memory of n k numbers.

    Yields and ends as `feature_turns` does, without a tolerance.
    """
    K, rounding_error = geometry.K, geometry.rounding_error
    labels, k, last = targets.labels[0], targets.k, np.inf
    samples = np.arange(len(K))
    sums: Array = np.empty(0)
    for turn in count():
        sizes = np.bincount(labels, minlength=k)
        if not sizes.all():
            return False
        if turn % RENEWAL == 0:
            sums = _class_sums(K, samples, np.eye(k, dtype=K.dtype)[labels])
        norms = np.bincount(labels, weights=sums[samples, labels], minlength=k) / sizes.astype(np.float64) ** 2
        rows = minus_distances(sums / sizes, norms, geometry.diagonal, rounding_error)
        objective = max(0.0, -float(rows[samples, labels].sum()))
        new = np.argmax(rows, axis=1)
        movers = np.flatnonzero(new != labels)
        if not len(movers) or not objective < last * (1.0 - SMALLEST_DECREASE):
            return False
        yield objective, new
        if (turn + 1) % RENEWAL:
            sums += _class_sums(K, movers, _transfers(labels[movers], new[movers], k, K.dtype))
        labels, last = new, objective
    return False  # (the count never ends)


def _doubtful(gap: Array, labels: Labels, shrinkage: Array, safe: float, spare: Indices | None) -> Indices:
    """Lower the gaps by the shrinkage of their classes, and list the samples whose gap is used up.

    Compiled if there is an array (n,) to write the list into.
    """
    if spare is None:
        gap -= shrinkage[labels]
        return np.flatnonzero(gap <= safe)
    from clusterkit.numerics.nearest_jit import used_up

    return spare[: used_up(gap, labels, shrinkage, safe, spare)]


def _by_products(
    geometry: FeatureMeans,
    doubtful: Indices,
    centres: Array,
    labels: Labels,
    new: Labels,
    gap: Array,
    change: Array,
) -> tuple[float, float]:
    """Look at the samples in doubt, by products with the centres.

    Writes their labels into `new` and their gaps, and adds to `change` (L, k) what the class sums change by. Returns
    the sum of their squared distances to the centres of `labels`, and what it falls by.
    """
    total, decrease, k = 0.0, 0.0, centres.shape[1]
    constants, rounding_error = geometry.constants(centres), geometry.rounding_error
    for index, H in _gathered(geometry.space, doubtful):
        rows = minus_distances(H @ centres, constants, geometry.radii[index], rounding_error)
        old = labels[index]
        nearest, current, best, gap[index] = _nearest(rows, old, rounding_error)
        total -= float(current.sum(dtype=np.float64))
        movers = np.flatnonzero(nearest != old)
        if len(movers):
            new[index] = nearest
            decrease += float((best - current).sum(dtype=np.float64))
            change += H[movers].T @ _transfers(old[movers], nearest[movers], k, H.dtype)
    return total, decrease


def _by_loops(
    geometry: FeatureMeans,
    doubtful: Indices,
    centres: Array,
    labels: Labels,
    new: Labels,
    gap: Array,
    change: Array,
) -> tuple[float, float]:
    """The same by compiled loops, for many samples of few features."""
    from clusterkit.numerics.nearest_jit import examine, transfer

    begin = 0
    means, moved = (centres + geometry.origin[:, None]).T, np.zeros(change.shape[::-1])
    currents, bests = np.empty(len(doubtful)), np.empty(len(doubtful))
    for rows, H in geometry.space.pieces():
        end = begin + int(np.searchsorted(doubtful[begin:], rows.stop))
        if begin < end:
            index, part = doubtful[begin:end], slice(begin, end)
            nearest, currents[part], bests[part] = examine(
                H, rows.start, index, means, labels, geometry.rounding_error, gap
            )
            transfer(H, rows.start, index, nearest, new, moved)
        begin = end
    # added over all pieces at once, so that sums do not depend on how the features are stored
    change += moved.T
    return float(currents.sum()), float((currents - bests).sum())


def _gathered(space: FeatureSpace, index: Indices) -> Iterator[tuple[Indices, Array]]:
    """Some rows of H with their indices, gathered from the blocks: the same batches whether H is stored or streamed.

    The rows of a batch are overwritten by the next batch.
    """
    if not len(index):
        return
    most = max(64, min(BLOCK_ROWS, GATHERED_BYTES // (space.width * space.dtype.itemsize)))
    batch = np.empty((min(most, len(index)), space.width), dtype=space.dtype)
    begin = end = 0  # the rows index[begin:end] are in the batch
    for rows, H in space.blocks():
        last = end + int(np.searchsorted(index[end:], rows.stop))
        if last - end == len(H):
            if begin < end:
                yield index[begin:end], batch[: end - begin]
            yield index[end:last], H
            begin = end = last
        while end < last:
            stop = min(last, begin + len(batch))
            # "clip" because the default mode would copy once more
            np.take(H, index[end:stop] - rows.start, axis=0, out=batch[end - begin : stop - begin], mode="clip")
            end = stop
            if end - begin == len(batch):
                yield index[begin:end], batch
                begin = end
        if end == len(index):
            break
    if begin < end:
        yield index[begin:end], batch[: end - begin]


def _nearest(rows: Array, labels: Labels, rounding_error: float) -> tuple[Labels, Array, Array, Array]:
    """Columns of the largest scores, the scores of the labels, the largest scores, and the gap to the second largest.

    Overwrites entries of `rows`.
    """
    samples = np.arange(len(rows))
    nearest = np.argmax(rows, axis=1)
    current, best = rows[samples, labels], rows[samples, nearest]
    rows[samples, nearest] = -np.inf
    second = rows.max(axis=1).astype(np.float64)
    gap = np.sqrt(np.maximum(-second - rounding_error, 0.0)) - np.sqrt(rounding_error - best.astype(np.float64))
    return nearest, current, best, gap


def _shrinkage(steps: Array) -> Array:
    """Amount by which the gaps of a class shrink when centres move: its step plus the largest other step, (k,)."""
    others = np.full(len(steps), steps.max())
    top = int(np.argmax(steps))
    others[top] = np.delete(steps, top).max(initial=0.0)
    return steps + others


def _transfers(old: Labels, new: Labels, k: int, dtype: np.dtype) -> Array:
    """One row per sample that changes its class: -1 for the old class, +1 for the new, (r, k)."""
    transfers = np.zeros((len(old), k), dtype=dtype)
    movers = np.arange(len(old))
    transfers[movers, old] = -1.0
    transfers[movers, new] = 1.0
    return transfers


def _class_sums(K: Array, index: Indices, weights: Array) -> Array:
    """``K[:, index] weights``, (n, k), in float64 over batches; K is symmetric, and its rows are faster to read."""
    total = np.zeros((len(K), weights.shape[1]))
    for start in range(0, len(index), KERNEL_ROWS):
        batch = index[start : start + KERNEL_ROWS]
        rows = K[batch[0] : batch[-1] + 1] if batch[-1] - batch[0] == len(batch) - 1 else K[batch]
        total += rows.T @ weights[start : start + KERNEL_ROWS]
    return total
