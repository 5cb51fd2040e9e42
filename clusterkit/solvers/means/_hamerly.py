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
from clusterkit.solvers.means._geometry import FeatureMeans, KernelMeans, minus_distances

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


Turns: TypeAlias = Generator[tuple[float, Labels], None, bool]
"""Objectives and labels of iterations; the value returned says whether the next iteration is the last."""


def feature_turns(geometry: FeatureMeans, targets: Coded, shift_tol: float) -> Turns:
    """Iterations on features: O(n), plus O(L k) for each sample in doubt; memory of n numbers and a block.

    Yields the objective of the labels entering an iteration and the labels it produces. Ends before an iteration that
    changes nothing or meets an empty class, and returns False, or before the first one whose centres have moved by no
    more than `shift_tol` (the sum of squares over all coordinates), and returns True; the caller then goes on with the
    full tables.
    """
    space, rounding_error = geometry.space, geometry.rounding_error
    labels, k, last = targets.labels[0], targets.k, np.inf
    # A gap above `safe` is also a gap between computed scores, and the second distance is above the rounding error.
    safe = float(np.sqrt(3.0 * rounding_error))
    sums: Array = np.empty(0)
    centres = gap = steps = sums
    following = 0.0
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
        else:
            # the decrease by the samples that changed their class, and by the centres that moved (Huygens' theorem)
            objective = following - float(sizes @ steps)
            gap -= _shrinkage(np.sqrt(steps))[labels]
        constants = geometry.constants(centres)
        doubtful = np.flatnonzero(gap <= safe)
        new, total, decrease, change = labels.copy(), 0.0, 0.0, np.zeros_like(sums)
        for index, H in _gathered(space, doubtful):
            rows = minus_distances(H @ centres, constants, geometry.radii[index], rounding_error)
            old = labels[index]
            nearest, current, best, gap[index] = _nearest(rows, old, rounding_error)
            total -= float(current.sum(dtype=np.float64))
            movers = np.flatnonzero(nearest != old)
            if len(movers):
                new[index] = nearest
                decrease += float((best - current).sum(dtype=np.float64))
                change += H[movers].T @ _transfers(old[movers], nearest[movers], k, H.dtype)
        objective = total if renewal else objective
        if not decrease > 0.0 or not objective < last * (1.0 - SMALLEST_DECREASE):
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
