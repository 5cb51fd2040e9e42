"""The dual of data description with a Gaussian kernel, solved exactly without a matrix or columns of all samples.

    minimise  β'Kβ   subject to  Σ β_i = 1,  0 <= β_i <= bound_i,   gradient  G = 2 K β - 1

The start: a random sample of the points is solved first, and its start comes from a sample of the sample, and so on.
The kernel sum of a sample's solution orders all points from outside to inside and so gives a feasible start.

The improvement: working sets, chosen by the gradient, are solved one after the other. A set that is still large is
itself solved by working sets, a small one by pair moves (`_move_gaussian` in _steps_jit.py; Fan, Chen & Lin 2005,
WSS 2). Whatever changes in a set reaches the gradient of the set around it by a single kernel sum over the changed
weights. The search ends only where the optimality gap over all points is within the tolerance. (Decomposition in
general: Osuna, Freund & Girosi 1997; Joachims 1999.) `SetSizes` has the sizes at which the strategy switches.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.families.support_vectors._steps_jit import (
    BETA_ZERO,
    MAX_GRADIENT_CHECKS,
    MORE,
    GaussianSubproblem,
    Minimum,
    filled_in_order,
    snapped_to_bounds,
    violation,
)
from clusterkit.numerics.sparse_rows import from_mean
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import Report, notify, spend


@final
@attrs.frozen
class SetSizes:
    """Set sizes at which the solver switches its strategy: all points, working sets, samples.

    Parameters
    ----------
    max_direct : int
        Up to this many points, pairs move over all of them.
    min_candidates : int
        A working set has at least this many candidates to grow, and as many to shrink.
    candidate_divisor : int
        A working set of n points has at least ``n / candidate_divisor`` candidates of each kind.
    max_free : int
        Most variables off their bounds in a working set.
    sample_divisor : int
        A sample has ``n / sample_divisor`` of n points.
    """

    max_direct: int = 2048
    min_candidates: int = 512
    candidate_divisor: int = 16
    max_free: int = 2048
    sample_divisor: int = 8

    def candidates(self, n: int) -> int:
        """Candidates of each kind in a working set of n points."""
        return max(self.min_candidates, n // self.candidate_divisor)


SET_SIZES = SetSizes()
"""The sizes in use. They decide how fast the optimum is reached, not which; the tests use small ones."""


SAMPLE_TOLERANCE = 2e-3
"""Optimality gap at which a sample is solved, in units of the largest bound: it only gives a start."""

PROBE_ROWS = 64
"""Rows whose kernel values show whether kernels overlap at all; enough for a mean within some per cent."""

MIN_OVERLAP = 3.0
"""If the mean kernel mass that a point receives from all others is below this, nearly every point is a support vector,
and equal weights are the better start."""

SAMPLE_SEED = 20170101
"""Seed of the samples. It is a constant: the optimum does not depend on them, and nothing else is random."""

FEWEST_SAMPLED = 400
"""Points of a sample at least (but not more than are solved by pair moves alone): fewer order the rest too roughly."""


def minimise_gaussian(
    points: Array,
    kernel: Gaussian,
    bounds: Array,
    tol: float,
    max_iter: int,
    pool_bytes: int,
    *,
    sizes: SetSizes = SET_SIZES,
) -> Minimum:
    """Minimise over all β within the bounds.

    Parameters
    ----------
    points : ndarray of shape (n, d), float64 or float32
        Distinct rows; with equal rows the minimum is not unique. Kernel values are computed in the type of the points.
    kernel : Gaussian
    bounds : ndarray of shape (n,)
        Upper bounds, sum at least 1.
    tol : float
        Optimality gap over all points at which to stop, in units of the gradient.
    max_iter : int
        Most pairs moved, including those of the samples.
    pool_bytes : int
        Memory for the kernel columns of a working set.
    sizes : SetSizes

    Returns
    -------
    Minimum
        After Ctrl-C, or where `max_iter` or rounding ends the search before `tol`, the feasible point reached, marked
        as not converged.

    Notes
    -----
    About ``n s`` kernel values for s support vectors and as many again in hard cases; O(n d) memory and the pool.
    """
    search = WorkingSetSearch(points, bounds, kernel, tol, max_iter, pool_bytes, sizes)
    interrupted, gradient, n_checks = False, None, 0
    # `clusterkit.contracts.iteration` cannot run this search: sets are solved within sets, Ctrl-C has to leave a
    # feasible point at any depth, and the gap after the search says how it ended
    try:
        root = search.solve_all()
        beta, gradient = root.beta, root.gradient
        while True:
            # The updated gradient collects the rounding of every update: only a fresh one may end the search.
            if search.gradient_is_stale:
                gradient = root.gradient = search.gradient(points, beta, is_root=True)
            low, high = violation(beta, gradient, bounds)
            n_checks += 1
            if high - low <= tol or search.exhausted or n_checks == MAX_GRADIENT_CHECKS:
                break
            before = search.n_moved
            search.improve(root, tol)
            if search.n_moved == before:
                break
    except KeyboardInterrupt:
        interrupted, gradient = True, None
        beta = search.feasible_beta()
    # Where tol is tiny, weights may be set to 0 only where this cannot open the gap again.
    snapped = snapped_to_bounds(beta, bounds, min(BETA_ZERO, 1e-3 * tol))
    if gradient is None:
        gradient = search.gradient(points, snapped, is_root=True)
    elif not np.array_equal(snapped, beta):
        search.add_change(gradient, points, np.arange(len(points)), snapped - beta)
    low, high = violation(snapped, gradient, bounds)
    return Minimum.ended(
        snapped, gradient, max(0.0, high - low), search.n_moved, tol, max_iter, interrupted=interrupted,
        rounds=search.n_sets,
    )  # fmt: skip


@final
@attrs.define(eq=False)
class DualIterate:
    """A feasible β on a set of points and the gradient there; `beta` and `gradient` are changed in place.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    bounds, beta, gradient : ndarray of shape (n,)
    is_root : bool
        Whether the points are all points, not a sample or a working set.
    """

    points: Array
    bounds: Array
    beta: Array
    gradient: Array
    is_root: bool = False


@final
@attrs.define(eq=False)
class WorkingSetSearch:
    """The search for the minimum over all points, with counts of its work so far.

    `solve_all` finds a start by recursion over samples; `improve` closes the gap by recursion over working sets.

    Parameters
    ----------
    points, bounds, kernel, tol, max_iter, pool_bytes, sizes
        Parameters of `minimise_gaussian`.
    n_moved : int
        Pairs moved, in all sets together.
    n_sets : int
        Working sets solved that were chosen from all points.
    n_updates : int
        Updates of the gradient of all points since it was last computed afresh.
    whole : GaussianSubproblem or None
        Kernel columns of all points, where pairs move over all of them.
    root_beta : ndarray of shape (n,) or None
        β of all points, feasible whenever an interrupt can come; None while only samples are solved.
    """

    points: Array
    bounds: Array
    kernel: Gaussian
    tol: float
    max_iter: int
    pool_bytes: int
    sizes: SetSizes
    n_moved: int = 0
    n_sets: int = 0
    n_updates: int = 0
    whole: GaussianSubproblem | None = None
    root_beta: Array | None = None

    @property
    def exhausted(self) -> bool:
        """Whether `max_iter` pairs have moved."""
        return self.n_moved >= self.max_iter

    @property
    def gradient_is_stale(self) -> bool:
        """Whether rounding may have moved the gradient of all points by a part of the tolerance that counts.

        Pair moves over all points update the gradient at every move, so after them it always counts as stale.
        """
        if len(self.points) <= self.sizes.max_direct:
            return True
        error = 128.0 * np.finfo(self.points.dtype).eps * self.n_updates
        return bool(error > 0.01 * self.tol)

    def feasible_beta(self) -> Array:
        """The feasible point at an interrupt."""
        if self.root_beta is not None:
            return self.root_beta
        return filled_in_order(np.arange(len(self.points)), self.bounds)

    def gradient(self, points: Array, beta: Array, *, is_root: bool = False) -> Array:
        """``2 Σ β_s k(x_s, x) - 1`` at the points themselves, (n,), computed afresh."""
        support = np.flatnonzero(beta)
        gradient = self.kernel.weighted_sum(points, points[support], 2.0 * beta[support])
        gradient -= 1.0
        if is_root:
            self.n_updates = 0
        return gradient

    def add_change(self, gradient: Array, points: Array, rows: Indices, change: Array) -> None:
        """Update the gradient at the points, in place, for the change of the weights of some rows."""
        changed = np.flatnonzero(change)
        gradient += self.kernel.weighted_sum(points, points[rows[changed]], 2.0 * change[changed])

    def solve_all(self) -> DualIterate:
        """β of all points from random samples; the order that defines the samples is drawn once."""
        n = len(self.points)
        order = np.random.default_rng(SAMPLE_SEED).permutation(n) if n > self.sizes.max_direct else None
        return self.solve(self.points, self.bounds, self.tol, order, is_root=True)

    def solve(
        self, points: Array, bounds: Array, tol: float, order: Indices | None, *, is_root: bool = False
    ) -> DualIterate:
        """β of some points up to a gap of `tol`; the first part of the random `order`, if any, is the sample."""
        if self._nearly_all_support(points):
            beta = bounds / bounds.sum()
            np.minimum(beta, bounds, out=beta)
            return self.improved(points, bounds, beta, tol, is_root=is_root)
        if len(points) <= self.sizes.max_direct or order is None:
            beta = filled_in_order(np.argsort(-from_mean(points), kind="stable"), bounds)
            return self.improved(points, bounds, beta, tol, is_root=is_root)
        sample, sample_beta = self._solve_sample(points, bounds, tol, order)
        support = np.flatnonzero(sample_beta)
        values = self.kernel.weighted_sum(points, points[sample[support]], sample_beta[support])
        if np.all(sample_beta <= bounds[sample]):
            beta = np.zeros(len(points))
            beta[sample] = sample_beta
            return self.improved(points, bounds, beta, tol, is_root=is_root, gradient=2.0 * values - 1.0)
        beta = self._start_outside(points, bounds, tol, values, is_root)
        return self.improved(points, bounds, beta, tol, is_root=is_root)

    def improved(
        self,
        points: Array,
        bounds: Array,
        beta: Array,
        tol: float,
        *,
        is_root: bool = False,
        gradient: Array | None = None,
    ) -> DualIterate:
        """The iterate after `improve`, from a feasible start, which is changed in place."""
        if is_root:
            self.root_beta = beta
        if gradient is None:
            gradient = self.gradient(points, beta, is_root=is_root)
        iterate = DualIterate(points, bounds, beta, gradient, is_root)
        self.improve(iterate, tol)
        return iterate

    def _solve_sample(self, points: Array, bounds: Array, tol: float, order: Indices) -> tuple[Indices, Array]:
        """Sorted indices of a sample and its β; its bounds are widened, so that their sum is that of all bounds."""
        n = len(points)
        size = max(n // self.sizes.sample_divisor, min(FEWEST_SAMPLED, self.sizes.max_direct))
        sample = np.sort(order[:size])
        widened = np.minimum(bounds[sample] * (bounds.sum() / bounds[sample].sum()), 1.0)
        rank = np.empty(n, dtype=np.intp)
        rank[sample] = np.arange(size)
        sample_tol = max(tol, SAMPLE_TOLERANCE * float(widened.max()))
        return sample, self.solve(points[sample], widened, sample_tol, rank[order[:size]]).beta

    def _start_outside(self, points: Array, bounds: Array, tol: float, values: Array, is_root: bool) -> Array:
        """A start that fills the outermost points up to their bounds, in the order of the sample's kernel sum `values`.

        If that takes less than half of the points, the set of these and of the candidates next to them is solved
        first.
        """
        n = len(points)
        n_filled = min(n, int(np.ceil(1.0 / float(bounds.min()))) + 1)
        size = min(n, n_filled + self.sizes.candidates(n))
        outer = np.argpartition(values, size - 1)[:size] if size < n else np.arange(n)
        outer = outer[np.argsort(values[outer], kind="stable")]
        beta = np.zeros(n)
        beta[outer] = filled_in_order(np.arange(size), bounds[outer])
        if is_root:
            self.root_beta = beta
        outer.sort()
        if 2 * size < n:
            outer_beta, outer_points = beta[outer], points[outer]
            gradient = self.gradient(outer_points, outer_beta)
            try:
                self.improve(DualIterate(outer_points, bounds[outer], outer_beta, gradient), 0.3 * tol)
            finally:
                beta[outer] = outer_beta
        return beta

    def _nearly_all_support(self, points: Array) -> bool:
        """Whether most points will have a weight, so that equal weights are a better start than few."""
        n = len(points)
        rows = points[np.linspace(0, n - 1, min(n, PROBE_ROWS)).astype(np.intp)]
        others = float(self.kernel(rows, rows).sum()) - len(rows)
        return others * n < MIN_OVERLAP * len(rows) * max(1, len(rows) - 1)

    def improve(self, iterate: DualIterate, tol: float, *, direct: bool = False) -> None:
        """Change β and its gradient, in place, until the gap over these points is at most `tol`.

        `direct` asks for pair moves over all of them, whatever their number.
        """
        if direct or len(iterate.beta) <= self.sizes.max_direct:
            self._move_pairs(iterate, tol)
            self.n_sets += iterate.is_root
            return
        while not self.exhausted:
            low, high = violation(iterate.beta, iterate.gradient, iterate.bounds)
            if high - low <= tol:
                return
            if not self._improve_working_set(iterate, max(0.3 * tol, 0.05 * (high - low))):
                return
            self.n_sets += iterate.is_root
            self.n_updates += iterate.is_root

    def _improve_working_set(self, iterate: DualIterate, tol: float) -> bool:
        """Choose a working set, solve it up to a gap of `tol`, and update the gradient; False if no weight changed."""
        rows = self._working_set(iterate)
        before = iterate.beta[rows]
        part = DualIterate(iterate.points[rows], iterate.bounds[rows], before.copy(), iterate.gradient[rows])
        try:
            # A set hardly smaller than the one around it would choose itself again, without end.
            self.improve(part, tol, direct=2 * len(rows) > len(iterate.beta))
        finally:  # Ctrl-C leaves a feasible β
            iterate.beta[rows] = part.beta
        if np.array_equal(part.beta, before):
            return False
        self.add_change(iterate.gradient, iterate.points, rows, part.beta - before)
        return True

    def _move_pairs(self, iterate: DualIterate, tol: float) -> None:
        problem = self.whole if iterate.is_root else None
        if problem is None:
            problem = GaussianSubproblem.of(iterate.points, self.kernel, iterate.bounds, self.pool_bytes)
        if iterate.is_root:
            self.whole = problem
        code = MORE
        while code == MORE and not self.exhausted:
            used = problem.used
            code, moved = problem.move(iterate.beta, iterate.gradient, tol, self.max_iter - self.n_moved)
            self.n_moved += moved
            # a pair costs a pass over the points, and so does a column of the matrix
            spend(len(iterate.beta) * (moved + max(0, problem.used - used)))
            notify(Report("smo", self.n_moved, self.max_iter))

    def _working_set(self, iterate: DualIterate) -> Indices:
        """Sorted indices of the points that violate optimality most on either side, and of those off their bounds."""
        beta, G, bounds = iterate.beta, iterate.gradient, iterate.bounds
        n = len(beta)
        size, max_free = self.sizes.candidates(n), self.sizes.max_free
        grow, shrink = np.flatnonzero(beta < bounds), np.flatnonzero(beta > 0.0)
        free = shrink[beta[shrink] < bounds[shrink]]
        if len(grow) > size:
            grow = grow[np.argpartition(G[grow], size)[:size]]
        if len(shrink) > size:
            shrink = shrink[np.argpartition(-G[shrink], size)[:size]]
        if len(free) > max_free:
            deviation = np.abs(G[free] - np.median(G[free]))
            free = free[np.argpartition(-deviation, max_free)[:max_free]]
        chosen = np.zeros(n, dtype=bool)
        chosen[grow] = chosen[shrink] = chosen[free] = True
        return np.flatnonzero(chosen)
