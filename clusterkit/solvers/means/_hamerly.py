"""Lloyd's turns without a table of scores: bounds tell most samples their centre, sums follow the samples that move.

Private to `centroids`. On features a sample keeps `gap`, a lower bound of how much farther its second nearest centre
is than its own (Hamerly 2010, Making k-means even faster, SIAM International Conference on Data Mining); a turn
lowers it by the movement of the centres and looks again only at samples whose bound is used up. On a kernel the
sums of kernel values over the classes follow the samples that move, O(n r) for r of them.

Sums that follow collect rounding errors, so every `RENEWAL` turns all is computed anew.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.coding import Coded
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.transform import BLOCK_ROWS
from clusterkit.solvers.means._geometry import FeatureMeans, KernelMeans, _minus_distances

__all__ = ["feature_turns", "kernel_turns"]

RENEWAL = 50
# Rows looked at together: enough for a fast product, few enough to stay in the cache.
PIECE_BYTES = 4 * 1024**2
# Rows of the kernel matrix copied together.
COPIED = 256
# Objectives that fall by a smaller part are equal up to rounding.
EQUAL = 1e-12


def feature_turns(geometry: FeatureMeans, targets: Coded) -> Iterator[tuple[float, Labels]]:
    """Turns on features: O(n) and O(L k) for each sample in doubt; memory of n numbers and a block."""
    space, noise = geometry.space, geometry.noise
    labels, k, last = targets.labels[0], targets.k, np.inf
    # A gap above it is one between computed scores too, and the second distance is not within the noise.
    safe = float(np.sqrt(3.0 * noise))
    sums = centres = gap = np.empty(0)
    following = 0.0
    for turn in range(10**9):
        sizes = np.bincount(labels, minlength=k)
        if not sizes.all():
            return
        renewal = turn % RENEWAL == 0
        if renewal:
            sums = space.adjoint(attrs.evolve(targets, labels=labels[None]))
            centres = geometry.centres(sums, sizes)
            gap = np.full(space.n, -np.inf)
        else:
            before, centres = centres, geometry.centres(sums, sizes)
            steps = np.sum(np.subtract(centres, before, dtype=np.float64) ** 2, axis=0)
            # what the samples that moved have gained, and what the centres gain by moving (Huygens)
            objective = following - float(sizes @ steps)
            gap -= _shrinkage(np.sqrt(steps))[labels]
        constants = geometry.constants(centres)
        doubtful = np.flatnonzero(gap <= safe)
        new, own, gained, change = labels.copy(), 0.0, 0.0, np.zeros_like(sums)
        for index, H in _picked(space, doubtful):
            rows = _minus_distances(H @ centres, constants, geometry.radii[index], noise)
            old = labels[index]
            found, mine, best, gap[index] = _nearest(rows, old, noise)
            own -= float(mine.sum(dtype=np.float64))
            away = np.flatnonzero(found != old)
            if len(away):
                new[index] = found
                gained += float((best - mine).sum(dtype=np.float64))
                change += H[away].T @ _transfers(old[away], found[away], k, H.dtype)
        objective = own if renewal else objective
        if not gained > 0.0 or not objective < last * (1.0 - EQUAL):
            return
        yield objective, new
        labels, last, following = new, objective, objective - gained
        sums += change


def kernel_turns(geometry: KernelMeans, targets: Coded) -> Iterator[tuple[float, Labels]]:
    """Turns on a kernel matrix: O(n k) and O(n k) for each sample that moved; memory of n k numbers."""
    K, noise = geometry.K, geometry.noise
    labels, k, last = targets.labels[0], targets.k, np.inf
    every = np.arange(len(K))
    sums = np.empty(0)
    for turn in range(10**9):
        sizes = np.bincount(labels, minlength=k)
        if not sizes.all():
            return
        if turn % RENEWAL == 0:
            sums = _class_sums(K, every, np.eye(k, dtype=K.dtype)[labels])
        norms = np.bincount(labels, weights=sums[every, labels], minlength=k) / sizes.astype(np.float64) ** 2
        rows = _minus_distances(sums / sizes, norms, geometry.diagonal, noise)
        objective = max(0.0, -float(rows[every, labels].sum()))
        new = np.argmax(rows, axis=1)
        moved = np.flatnonzero(new != labels)
        if not len(moved) or not objective < last * (1.0 - EQUAL):
            return
        yield objective, new
        if (turn + 1) % RENEWAL:
            sums += _class_sums(K, moved, _transfers(labels[moved], new[moved], k, K.dtype))
        labels, last = new, objective


def _picked(space: FeatureSpace, index: Array) -> Iterator[tuple[Array, Array]]:
    """Some rows of H with their indices, gathered from the blocks: the same pieces whether H is kept or streamed.

    The rows of a piece are overwritten by the next.
    """
    if not len(index):
        return
    most = max(64, min(BLOCK_ROWS, PIECE_BYTES // (space.width * space.dtype.itemsize)))
    piece = np.empty((min(most, len(index)), space.width), dtype=space.dtype)
    begun = end = 0  # the rows index[begun:end] are in the piece
    for rows, H in space.blocks():
        last = end + int(np.searchsorted(index[end:], rows.stop))
        if last - end == len(H):
            if begun < end:
                yield index[begun:end], piece[: end - begun]
            yield index[end:last], H
            begun = end = last
        while end < last:
            stop = min(last, begun + len(piece))
            # "clip" because the default mode would copy once more
            np.take(H, index[end:stop] - rows.start, axis=0, out=piece[end - begun : stop - begun], mode="clip")
            end = stop
            if end - begun == len(piece):
                yield index[begun:end], piece
                begun = end
        if end == len(index):
            break
    if begun < end:
        yield index[begun:end], piece[: end - begun]


def _nearest(rows: Array, labels: Labels, noise: float) -> tuple[Labels, Array, Array, Array]:
    """Columns of the largest scores, the scores of the labels, the largest, the gap to the second; spoils `rows`."""
    every = np.arange(len(rows))
    found = np.argmax(rows, axis=1)
    own, best = rows[every, labels], rows[every, found]
    rows[every, found] = -np.inf
    second = rows.max(axis=1)
    gap = np.sqrt(np.maximum(-second.astype(np.float64) - noise, 0.0)) - np.sqrt(noise - best.astype(np.float64))
    return found, own, best, gap


def _shrinkage(steps: Array) -> Array:
    """By how much gaps shrink when centres move: the own step and the largest of the others, (k,)."""
    others = np.full(len(steps), steps.max())
    top = int(np.argmax(steps))
    others[top] = np.delete(steps, top).max(initial=0.0)
    return steps + others


def _transfers(old: Labels, new: Labels, k: int, dtype: np.dtype) -> Array:
    """A row for each sample that moves: -1 where it leaves, +1 where it arrives, (r, k)."""
    transfers = np.zeros((len(old), k), dtype=dtype)
    every = np.arange(len(old))
    transfers[every, old] = -1.0
    transfers[every, new] = 1.0
    return transfers


def _class_sums(K: Array, index: Array, weights: Array) -> Array:
    """``K[:, index] weights``, (n, k), in float64 over pieces; rows of K, which is symmetric, are read faster."""
    total = np.zeros((len(K), weights.shape[1]))
    for start in range(0, len(index), COPIED):
        piece = index[start : start + COPIED]
        rows = K[piece[0] : piece[-1] + 1] if piece[-1] - piece[0] == len(piece) - 1 else K[piece]
        total += rows.T @ weights[start : start + COPIED]
    return total
