"""Lloyd's iterations without a table of scores: bounds settle most labels, and class sums are updated, not recomputed.

Used by `centroids` only. On features each sample has a `gap`, a lower bound of how much farther its second nearest
centre is than its nearest (Hamerly 2010, Making k-means even faster, SIAM International Conference on Data Mining). An
iteration lowers the gap by the movement of the centres and computes distances only for samples whose gap is used up:
`_looks.py`. The class sums are moved with the samples that change their class: `_moving_sums.py`. On a kernel the sums
of kernel values over the classes are updated by the samples that change their class, O(n r) for r such samples.

Updated sums accumulate rounding errors, so they are recomputed every `RENEWAL` iterations.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import count
from typing import TypeAlias

import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.coding import Coded
from clusterkit.numerics.nearest import compiled_pays
from clusterkit.numerics.thread_limit import THIN, suited
from clusterkit.numerics.threads import crew
from clusterkit.solvers.means._class_means import CentroidSums
from clusterkit.solvers.means._geometry import FeatureMeans, KernelMeans
from clusterkit.solvers.means._looks import Look, LooksByLoops, LooksByProducts
from clusterkit.solvers.means._moving_sums import ExactlyMoved, MovedByLoops, MovedByProducts, MovingSums, transfers
from clusterkit.solvers.means._nearness import minus_distances

__all__ = ["feature_turns", "kernel_turns"]

RENEWAL = 50
"""Iterations after which sums and bounds are recomputed, so that their rounding errors stay those of 50 additions.

Not sensitive: 25 and 100 gave the same labels in the same number of iterations, 25 in 1.04 to 1.22 of the time and 100
in 0.87 to 0.97 (`tests/benchmarks/constants.py`).
"""
KERNEL_ROWS = 256
"""Rows of the kernel matrix copied for one product."""
SMALLEST_DECREASE = 1e-12
"""Objectives whose relative difference is smaller are equal up to rounding."""


Turns: TypeAlias = Generator[tuple[float, Labels], None, bool | float]
"""Objectives and labels of iterations; the value returned says whether the next iteration is the last by the tolerance,
or is the objective of labels that it would not change."""


def feature_turns(geometry: FeatureMeans, targets: Coded, summing: CentroidSums) -> Turns:
    """Iterations on features: O(n), plus O(L k) for each sample in doubt; memory of a few numbers a sample and a block.

    Yields the objective of the labels entering an iteration and the labels it produces. Ends before an iteration that
    changes nothing, and returns the objective, or meets an empty class, and returns False, or before the first one
    whose centres have moved by no more than the tolerance of `summing` (the sum of squares over all coordinates), and
    returns True; the caller then goes on with the full tables. Where class sums are exact, labels and centres are those
    of full iterations bit for bit: nearest centres that are as near up to rounding are compared by the full tables.
    """
    space, k, exact = geometry.space, targets.k, summing.exact
    loops = compiled_pays(space.n, space.width, k) and not space.sparse
    sums: MovingSums
    if exact is not None:
        sums = ExactlyMoved(space, k, exact)
    else:
        sums = (MovedByLoops if loops else MovedByProducts)(space, targets)
    as_in_blocks = exact is not None
    with suited(0 if loops else THIN), crew() as over:
        by_loops = LooksByLoops(geometry, sums, over, as_in_blocks) if loops else None
        look = by_loops or LooksByProducts(geometry, sums, as_in_blocks)
        return (yield from _turns(look, sums, geometry, targets, summing.shift_tol))


def _turns(look: Look, sums: MovingSums, geometry: FeatureMeans, targets: Coded, shift_tol: float) -> Turns:
    """As of `feature_turns`."""
    labels, k, last = targets.labels[0], targets.k, np.inf
    centres: Array = np.empty(0)
    steps = centres
    following = 0.0
    for turn in count():
        renewal = turn % RENEWAL == 0
        if renewal:
            sums.renew(labels)
            look.renew()
        sizes = sums.sizes
        if not sizes.all():
            return False
        before, centres = centres, geometry.centres(sums.total, sizes)
        if turn:
            steps = np.sum(np.subtract(centres, before, dtype=np.float64) ** 2, axis=0)
            if shift_tol > 0 and float(steps.sum()) <= shift_tol:
                return True
        shrinkage = np.zeros(k) if renewal else _shrinkage(np.sqrt(steps))
        new = labels.copy()
        total, decrease = look(centres, shrinkage, labels, new)
        # else the decrease by the samples that changed their class, and by the centres that moved (Huygens' theorem)
        objective = total if renewal else following - float(sizes @ steps)
        if not decrease > 0.0:
            return objective if np.array_equal(new, labels) else False
        if not objective < last * (1.0 - SMALLEST_DECREASE):
            return False
        yield objective, new
        labels, last, following = new, objective, objective - decrease
        sums.settle()
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
