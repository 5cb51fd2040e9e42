"""The dual of data description with a Gaussian kernel, exactly, without a matrix or columns of all samples.

    minimise  β'Kβ   subject to  Σ β_i = 1,  0 <= β_i <= bound_i,   gradient  G = 2 K β - 1

A random sample is solved first, and so on recursively; its solution orders all points and so gives a start. Then
small working sets, chosen by the gradient, are solved by pair moves (Fan, Chen & Lin 2005, WSS 2) inside sets of
medium size, inside all points: what a level changes reaches the gradient of the next larger one by a single kernel
sum over the changed weights. The search ends only where the gap over all points is within the tolerance.
(Decomposition in general: Osuna, Freund & Girosi 1997; Joachims 1999.)
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.kernel import Gaussian
from clusterkit.core.progress import Report, tell
from clusterkit.numerics.sparse_rows import from_mean
from clusterkit.solvers.one_class._smo_any_kernel_jit import BETA_ZERO, REFUTED, Minimum, nearest_start, without_dust
from clusterkit.solvers.one_class._smo_gaussian_jit import MORE, Pairs, violation

__all__ = ["SIZES", "Sizes", "minimise_gaussian"]

SAMPLE_TOLERANCE = 2e-3
"""Gap at which a sample is solved, in units of the largest bound: a start needs no digits."""

PROBE = 64
"""Rows that tell whether kernels overlap at all."""

ALONE = 3.0
"""Kernel mass of the others on a point below which most points support the sphere."""

SEED = 20170101
"""Of the samples. A constant: the optimum does not depend on them, and nothing else is random."""


@final
@attrs.frozen
class Sizes:
    """Where the levels change.

    Parameters
    ----------
    direct : int
        Points up to which pairs move over all of them.
    half : int
        Candidates to grow, and as many to shrink, in a working set.
    share : int
        Of n points, a set has ``n / share`` candidates of each kind at least.
    free : int
        Most variables off their bounds in a working set.
    ratio : int
        Points for each one of the sample that starts them.
    """

    direct: int = 1500
    half: int = 512
    share: int = 16
    free: int = 2048
    ratio: int = 8


SIZES = Sizes()


def minimise_gaussian(
    points: Array,
    kernel: Gaussian,
    bounds: Array,
    tol: float,
    max_iter: int,
    pool_bytes: int,
    *,
    start: Array | None = None,
    sizes: Sizes = SIZES,
) -> Minimum:
    """Minimise over all β within the bounds.

    Parameters
    ----------
    points : ndarray of shape (n, d), float64 or float32
        Distinct, or the problem has flat directions. Kernel values are computed in their type.
    kernel : Gaussian
    bounds : ndarray of shape (n,)
        Upper bounds, sum at least 1.
    tol : float
        Gap at which to stop, in units of the gradient, over all points.
    max_iter : int
        Most pairs moved, those for the samples included.
    pool_bytes : int
        For columns of the working sets.
    start : ndarray of shape (n,), optional
        Feasible, not changed; takes the place of the samples.
    sizes : Sizes

    Returns
    -------
    Minimum
        After Ctrl-C, or where `max_iter` or rounding ends it before `tol`, the feasible point reached, marked as
        not converged.

    Notes
    -----
    About ``n s`` kernel values for s support vectors and as many again in hard cases; O(n d) memory and the pool.
    """
    search = _Search(kernel, tol, max_iter, pool_bytes, sizes)
    interrupted, G, refuted = False, None, 0
    try:
        beta, G = search.warm(points, bounds, start) if start is not None else search.cold(points, bounds)
        while True:
            # The running gradient collects the rounding of every update: only a fresh one may end the search.
            if search.stale(len(points), points.dtype):
                G = search.gradient(points, points, beta)
            low, high = violation(beta, G, bounds)
            refuted += 1
            if high - low <= tol or search.exhausted or refuted == REFUTED:
                break
            before = search.done
            search.improve(points, bounds, beta, G, tol)
            if search.done == before:
                break
    except KeyboardInterrupt:
        interrupted, G = True, None
        beta = search.reached(points, bounds)
    # Where tol is tiny, what counts as dust must not be able to open the gap again.
    clean = without_dust(beta, bounds, min(BETA_ZERO, 1e-3 * tol))
    if G is None:
        G = search.gradient(points, points, clean)
    elif not np.array_equal(clean, beta):
        search.shift(G, points, np.arange(len(points)), clean - beta)
    low, high = violation(clean, G, bounds)
    return Minimum.ended(
        clean, G, max(0.0, high - low), search.done, tol, max_iter, interrupted=interrupted, rounds=search.rounds
    )


@attrs.define(eq=False)
class _Search:
    """The search and what it has spent so far."""

    kernel: Gaussian
    tol: float
    max_iter: int
    pool_bytes: int
    sizes: Sizes
    done: int = 0  # pairs moved
    rounds: int = 0  # sets solved over all points
    shifts: int = 0  # updates of the gradient of all points since it was computed
    beta: Array | None = None  # of all points, feasible whenever an interrupt can come

    @property
    def exhausted(self) -> bool:
        return self.done >= self.max_iter

    def reached(self, points: Array, bounds: Array) -> Array:
        """The feasible point at an interrupt."""
        return self.beta if self.beta is not None else nearest_start(np.arange(len(points)), bounds)

    def stale(self, n: int, dtype: np.dtype) -> bool:
        """Whether rounding may have moved the gradient of all points by a part of the tolerance that counts."""
        if n <= self.sizes.direct:
            return True
        error = 128.0 * np.finfo(dtype).eps * self.shifts
        return error > 0.01 * self.tol

    def gradient(self, Y: Array, points: Array, beta: Array) -> Array:
        """``2 Σ β_s k(x_s, y) - 1`` at the rows of Y."""
        support = np.flatnonzero(beta)
        G = self.kernel.weighted_sum(Y, points[support], 2.0 * beta[support])
        G -= 1.0
        if Y is points and len(points) == len(self.beta if self.beta is not None else ()):
            self.shifts = 0
        return G

    def shift(self, G: Array, points: Array, rows: Array, change: Array) -> None:
        """Add to the gradient what the change of the weights of some rows means."""
        moved = np.flatnonzero(change)
        G += self.kernel.weighted_sum(points, points[rows[moved]], 2.0 * change[moved])

    def warm(self, points: Array, bounds: Array, start: Array) -> tuple[Array, Array]:
        """From a feasible start."""
        self.beta = beta = start.copy()
        G = self.gradient(points, points, beta)
        self.improve(points, bounds, beta, G, self.tol)
        return beta, G

    def cold(self, points: Array, bounds: Array) -> tuple[Array, Array]:
        """From samples."""
        order = np.random.default_rng(SEED).permutation(len(points)) if len(points) > self.sizes.direct else None
        return self.solve(points, bounds, self.tol, order, whole=True)

    def solve(
        self, points: Array, bounds: Array, tol: float, order: Array | None, whole: bool = False
    ) -> tuple[Array, Array]:
        """β and its gradient; `order` is random, its first part the sample."""
        n = len(points)
        if self._alone(points):
            beta = bounds / bounds.sum()
            np.minimum(beta, bounds, out=beta)
            if whole:
                self.beta = beta
            G = self.gradient(points, points, beta)
            self.improve(points, bounds, beta, G, tol)
            return beta, G
        if n <= self.sizes.direct or order is None:
            beta = nearest_start(np.argsort(-from_mean(points), kind="stable"), bounds)
            if whole:
                self.beta = beta
            G = self.gradient(points, points, beta)
            self.improve(points, bounds, beta, G, tol)
            return beta, G
        size = max(n // self.sizes.ratio, min(400, self.sizes.direct))
        sample = np.sort(order[:size])
        inner = np.minimum(bounds[sample] * (bounds.sum() / bounds[sample].sum()), 1.0)
        rank = np.empty(n, dtype=np.intp)
        rank[sample] = np.arange(size)
        found, _ = self.solve(
            points[sample], inner, max(tol, SAMPLE_TOLERANCE * float(inner.max())), rank[order[:size]]
        )
        support = np.flatnonzero(found)
        values = self.kernel.weighted_sum(points, points[sample[support]], found[support])
        beta = np.zeros(n)
        if np.all(found <= bounds[sample]):
            beta[sample] = found
            if whole:
                self.beta = beta
            G = 2.0 * values - 1.0
            self.improve(points, bounds, beta, G, tol)
            return beta, G
        # The points outermost for the sample fill up to their bounds; a set around them is solved before the rest.
        filled = min(n, int(np.ceil(1.0 / float(bounds.min()))) + 1)
        near = min(n, filled + max(self.sizes.half, n // self.sizes.share))
        outer = np.argpartition(values, near - 1)[:near] if near < n else np.arange(n)
        outer = outer[np.argsort(values[outer], kind="stable")]
        beta[outer] = nearest_start(np.arange(near), bounds[outer])
        if whole:
            self.beta = beta
        outer.sort()
        if 2 * near < n:
            part = beta[outer]
            G = self.gradient(points[outer], points[outer], part)
            try:
                self.improve(points[outer], bounds[outer], part, G, 0.3 * tol)
            finally:
                beta[outer] = part
        G = self.gradient(points, points, beta)
        self.improve(points, bounds, beta, G, tol)
        return beta, G

    def _alone(self, points: Array) -> bool:
        """Whether most points will have a weight, so that equal weights are a better start than few."""
        n = len(points)
        rows = points[np.linspace(0, n - 1, min(n, PROBE)).astype(np.intp)]
        others = float(self.kernel(rows, rows).sum()) - len(rows)
        return others * n < ALONE * len(rows) * max(1, len(rows) - 1)

    def improve(self, points: Array, bounds: Array, beta: Array, G: Array, tol: float, *, direct: bool = False) -> None:
        """Close the gap on these points, `beta` and `G` in place."""
        n, whole = len(beta), beta is self.beta
        if direct or n <= self.sizes.direct:
            self._pairs(points, bounds, beta, G, tol)
            self.rounds += whole
            return
        while not self.exhausted:
            low, high = violation(beta, G, bounds)
            if high - low <= tol:
                return
            rows = self._working_set(beta, G, bounds)
            before = beta[rows]
            part, g = before.copy(), G[rows]
            target = max(0.3 * tol, 0.05 * (high - low))
            try:
                # A set hardly smaller than what it was taken from would be taken from itself for ever.
                self.improve(points[rows], bounds[rows], part, g, target, direct=2 * len(rows) > n)
            finally:
                beta[rows] = part
            if np.array_equal(part, before):
                return
            self.shift(G, points, rows, part - before)
            self.rounds += whole
            self.shifts += whole

    def _pairs(self, points: Array, bounds: Array, beta: Array, G: Array, tol: float) -> None:
        pairs, code = Pairs.of(points, self.kernel, bounds, self.pool_bytes), MORE
        while code == MORE and not self.exhausted:
            code, moved = pairs.move(beta, G, tol, self.max_iter - self.done)
            self.done += moved
            tell(Report("smo", self.done, self.max_iter))

    def _working_set(self, beta: Array, G: Array, bounds: Array) -> Array:
        """The points that violate most on either side, and those off their bounds; sorted."""
        n = len(beta)
        half = max(self.sizes.half, n // self.sizes.share)
        grow, shrink = np.flatnonzero(beta < bounds), np.flatnonzero(beta > 0.0)
        free = shrink[beta[shrink] < bounds[shrink]]
        chosen = np.zeros(n, dtype=bool)
        if len(grow) > half:
            grow = grow[np.argpartition(G[grow], half)[:half]]
        if len(shrink) > half:
            shrink = shrink[np.argpartition(-G[shrink], half)[:half]]
        if len(free) > self.sizes.free:
            middle = np.abs(G[free] - np.median(G[free]))
            free = free[np.argpartition(-middle, self.sizes.free)[: self.sizes.free]]
        chosen[grow] = chosen[shrink] = chosen[free] = True
        return np.flatnonzero(chosen)
