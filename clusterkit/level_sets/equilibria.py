"""Equilibria of a Gaussian kernel sum: where the ascent from each start ends.

An equilibrium is a point that the mean-shift step leaves where it is; a stable one is a maximum of the sum. What the
step is, and why an ascent may end as soon as it enters a certified ball, is said in `_ascent_jit`.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import ClusterkitWarning, IncompatibleStages
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import KernelDomain
from clusterkit.core.progress import Report, tell

__all__ = [
    "Ascent",
    "Balls",
    "Basins",
    "cover",
    "curvatures",
    "extended",
    "find_basins",
    "leave_saddles",
    "single_link",
    "warn_unfinished",
]

PILOTS = 32
"""Rows that ascend to the end before anything is certified."""
LARGEST_ROUND = 4096
RECORDED = 48
"""Steps of an ascent that are kept for balls around them."""
CHAINS = 96
"""Most ascents a round whose starts get a ball: certifying a point costs as much as some tens of steps."""
LEAST_RADIUS = 0.01
"""Smaller balls, in units of 1 / sqrt(gamma), catch too few."""
LEAST_AROUND_LIMIT = 1e-3
"""The same around equilibria, where all ascents of a basin come by."""
STABLE = 1e-9
"""A curvature up to which an equilibrium counts as stable."""


@final
@attrs.frozen(eq=False)
class Ascent:
    """A Gaussian kernel sum and the rules of its ascent, in coordinates ``sqrt(gamma) (x - origin)``.

    Parameters
    ----------
    origin : ndarray of shape (d,)
        Mean of the centres: sums of coordinates lose no digits to a common offset.
    root : float
        sqrt(gamma).
    columns : ndarray of shape (d, s)
        Centres.
    weights : ndarray of shape (s,)
        All > 0.
    tol, merge : float
        In units of 1 / sqrt(2 gamma): a step that ends an ascent, and how near two equal equilibria are.
    max_iter : int
    """

    origin: Array
    root: float
    columns: Array
    weights: Array
    tol: float
    merge: float
    max_iter: int

    @classmethod
    def of(cls, domain: KernelDomain, labeler: str, *, tol: float, merge: float, max_iter: int) -> Ascent:
        """The ascent of a domain.

        Raises
        ------
        IncompatibleStages
            If the kernel is not Gaussian, or a weight is negative.
        """
        if not isinstance(domain.kernel, Gaussian):
            raise IncompatibleStages(
                f"labeler '{labeler}' ascends Gaussian kernel sums only, and this domain has a "
                f"{type(domain.kernel).__name__} kernel; use labeler 'complete_graph' or 'proximity', which take any"
            )
        weights = np.asarray(domain.weights, dtype=np.float64)
        if (weights < 0).any() or not (weights > 0).any():
            raise IncompatibleStages(
                f"labeler '{labeler}' needs weights >= 0, not all 0: the least of this domain is {weights.min():g}; "
                "use labeler 'complete_graph' or 'proximity'"
            )
        centres = np.asarray(domain.centres, dtype=np.float64)[weights > 0]
        origin, root = centres.mean(axis=0), math.sqrt(domain.kernel.gamma)
        columns = np.ascontiguousarray(((centres - origin) * root).T)
        unit = math.sqrt(0.5)
        return cls(origin, root, columns, weights[weights > 0], tol * unit, merge * unit, max_iter)

    def scaled(self, points: Array) -> Array:
        """Coordinates of the space to those of the ascent."""
        return np.ascontiguousarray((points - self.origin) * self.root)

    def unscaled(self, points: Array) -> Array:
        """Back again."""
        return points / self.root + self.origin

    def climb(self, starts: Array, balls: Balls, recorded: int = 0) -> tuple[Array, Array, Array, Array]:
        """Ends (p, d), steps (p,), balls they ended in (p,), and the first `recorded` points (p, recorded, d)."""
        from clusterkit.level_sets._ascent_jit import climb
        from clusterkit.numerics.threads import over_rows

        p, d = starts.shape
        ends, steps, caught = np.empty((p, d)), np.zeros(p, dtype=np.intp), np.empty(p, dtype=np.intp)
        trace = np.empty((p, recorded, d))
        centres = np.ascontiguousarray(balls.centres.T)

        def work(first: int, last: int) -> None:
            climb(
                starts, first, last, self.columns, self.weights, self.tol, self.max_iter, centres, balls.radii,
                ends, steps, caught, trace,
            )  # fmt: skip

        over_rows(work, p, 64 * self.columns.size)
        return ends, steps, caught, trace

    def values(self, points: Array) -> Array:
        """The sum at scaled points, (p,)."""
        from clusterkit.numerics.gaussian_jit import gaussian_sums

        return gaussian_sums(points, self.columns.T, self.weights, 1.0)


@final
@attrs.frozen(eq=False)
class Balls:
    """Balls whose points share a limit.

    Parameters
    ----------
    centres : ndarray of shape (J, d)
    radii : ndarray of shape (J,)
    limits : ndarray of shape (J,)
        Number of the limit.
    """

    centres: Array
    radii: Array
    limits: Array

    @classmethod
    def none(cls, d: int) -> Balls:
        """No ball."""
        return cls(np.empty((0, d)), np.empty(0), np.empty(0, dtype=np.intp))

    def with_ball(self, centre: Array, radius: float, limit: int) -> Balls:
        """One more."""
        return Balls(
            np.concatenate([self.centres, centre[None]]), np.append(self.radii, radius), np.append(self.limits, limit)
        )

    def around(self, point: Array) -> int:
        """A ball that holds the point, or -1."""
        inner = self.radii - np.sqrt(np.square(self.centres - point).sum(axis=1))
        return int(np.argmax(inner)) if len(inner) and inner.max() > 0 else -1


@final
@attrs.frozen(eq=False)
class Basins:
    """Where starts ascend to.

    Parameters
    ----------
    points : ndarray of shape (M, d)
        Equilibria, scaled.
    of_start : ndarray of shape (p,)
        The equilibrium of each start.
    balls : Balls
        What was certified on the way; their `limits` are equilibria.
    steps : int
        In all.
    caught : int
        Starts that ended in a ball.
    unfinished : int
        Starts still moving after `max_iter` steps.
    """

    points: Array
    of_start: Array
    balls: Balls
    steps: int
    caught: int
    unfinished: int


@attrs.define(eq=False)
class _Search:
    """The state of `find_basins`."""

    ascent: Ascent
    most_balls: int
    balls: Balls
    limits: list[Array]
    steps: int = 0
    caught: int = 0
    unfinished: int = 0

    def round(self, starts: Array, certify: bool) -> Array:
        """The limit of each start; balls around what was learnt."""
        from clusterkit.level_sets._ascent_jit import UNFINISHED

        known = len(self.balls.radii)
        growing = certify and known < self.most_balls
        ends, steps, caught, trace = self.ascent.climb(starts, self.balls, RECORDED if growing and known else 0)
        self.steps += int(steps.sum())
        self.caught += int((caught >= 0).sum())
        self.unfinished += int((caught == UNFINISHED).sum())
        found = np.empty(len(starts), dtype=np.intp)
        found[caught >= 0] = self.balls.limits[caught[caught >= 0]]
        if growing and known:
            self._add_chains(ends, steps, caught, trace)
        for i in np.flatnonzero(caught < 0):
            found[i] = self._limit(ends[i], certify and caught[i] != UNFINISHED)
        return found

    def _limit(self, end: Array, certify: bool) -> int:
        """The number of a limit point, an old one if it lies in its ball."""
        from clusterkit.level_sets._ascent_jit import certify as certified_radius

        ball = self.balls.around(end) if certify else -1
        if ball >= 0:
            return int(self.balls.limits[ball])
        self.limits.append(end)
        number = len(self.limits) - 1
        if certify and len(self.balls.radii) < self.most_balls:
            radius = certified_radius(end, self.ascent.columns, self.ascent.weights)
            if radius > LEAST_AROUND_LIMIT:
                self.balls = self.balls.with_ball(end, radius, number)
        return number

    def _add_chains(self, ends: Array, steps: Array, caught: Array, trace: Array) -> None:
        """Balls around the starts of some ascents that ended in a ball."""
        from clusterkit.level_sets._ascent_jit import certify_chain

        before, chains = self.balls, 0
        usable = np.flatnonzero((caught >= 0) & (steps > 0) & (steps <= RECORDED))
        radii = np.empty(RECORDED)
        for i in usable:
            if chains == CHAINS or len(self.balls.radii) == self.most_balls:
                break
            fresh = Balls(*(part[len(before.radii) :] for part in attrs.astuple(self.balls, recurse=False)))
            if fresh.around(trace[i, 0]) >= 0:
                continue
            ball, count = caught[i], steps[i]
            depth = before.radii[ball] - math.sqrt(np.square(ends[i] - before.centres[ball]).sum())
            certify_chain(trace[i], count, depth, self.ascent.columns, self.ascent.weights, LEAST_RADIUS, radii)
            chains += 1
            if radii[0] > LEAST_RADIUS:
                self.balls = self.balls.with_ball(trace[i, 0], radii[0], before.limits[ball])


def find_basins(ascent: Ascent, starts: Array, stage: str, *, certify: bool = True, pilots: int = PILOTS) -> Basins:
    """Ascend from every start and merge what is the same equilibrium.

    Parameters
    ----------
    ascent : Ascent
    starts : ndarray of shape (p, d)
        Scaled; should be distinct.
    stage : str
        Name for progress reports.
    certify : bool, default True
        Whether ascents end in certified balls. It changes no result but by rounding, and most of the time.
    pilots : int
        Starts that ascend to the end first.

    Notes
    -----
    O(p I s d) for I steps a start; with certified balls I falls from about a hundred to a few where starts are dense.
    Rounds double in size: each one's ascents give balls to the next. The number of balls is at most half that of the
    centres (64 at least), so that looking for one costs less than a step.
    """
    p, d = starts.shape
    # An even spread over the rows whatever their order says: multiples of the golden ratio, modulo 1.
    order = np.argsort((np.arange(p) * 0.6180339887498949) % 1.0, kind="stable")
    search = _Search(ascent, max(64, ascent.columns.shape[1] // 2), Balls.none(d), [])
    found = np.empty(p, dtype=np.intp)
    first, size = 0, pilots
    while first < p:
        rows = order[first : first + size]
        found[rows] = search.round(np.ascontiguousarray(starts[rows]), certify)
        first, size = first + len(rows), min(2 * size, LARGEST_ROUND)
        tell(Report(stage, first, p))
    limits = np.array(search.limits)
    group, points = _merged(ascent, limits)
    balls = attrs.evolve(search.balls, limits=group[search.balls.limits])
    return Basins(points, group[found], balls, search.steps, search.caught, search.unfinished)


def _merged(ascent: Ascent, limits: Array) -> tuple[Array, Array]:
    """The equilibrium of each limit point, and the equilibria: the highest point of each group."""
    group = single_link(limits, ascent.merge)
    # ties by coordinates, so that the order of the samples has no say
    order = np.lexsort((*limits.T[::-1], -ascent.values(limits)))
    _, first = np.unique(group[order], return_index=True)
    return group, limits[order[first]]


def leave_saddles(ascent: Ascent, basins: Basins) -> Basins:
    """Basins of stable equilibria only: those of a saddle point go to the higher of its two ends (ties: the first).

    The saddle is left along the eigenvector of the largest eigenvalue, its largest component positive first.
    """
    points, target = list(basins.points), np.arange(len(basins.points))
    for i, point in enumerate(basins.points):
        curvature, directions, _ = curvatures(ascent, point)
        if curvature[-1] <= STABLE:
            continue
        direction = directions[:, -1]
        direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
        ends, _, caught, _ = ascent.climb(point + ascent.merge * np.stack([direction, -direction]), basins.balls)
        for side in np.flatnonzero(caught >= 0):
            ends[side] = basins.points[basins.balls.limits[caught[side]]]
        points.append(ends[int(np.argmax(ascent.values(ends)))])
        target[i] = len(points) - 1
    if len(points) == len(target):
        return basins
    group, merged = _merged(ascent, np.array(points))
    # a group of left points only is no equilibrium any more
    used, of_point = np.unique(group[target], return_inverse=True)
    balls = attrs.evolve(basins.balls, limits=of_point.reshape(-1)[basins.balls.limits])
    return attrs.evolve(basins, points=merged[used], of_start=of_point.reshape(-1)[basins.of_start], balls=balls)


def curvatures(ascent: Ascent, point: Array) -> tuple[Array, Array, Array]:
    """Of log g at a scaled point, divided by 2: eigenvalues of the Hessian, rising, its eigenvectors, the gradient.

    The gradient is P(x) - x and the Hessian 2 Cov_p - 1.
    """
    exponents = np.log(ascent.weights) - np.square(ascent.columns.T - point).sum(axis=1)
    shares = np.exp(exponents - exponents.max())
    shares /= shares.sum()
    mean = ascent.columns @ shares
    centred = ascent.columns - mean[:, None]
    values, vectors = np.linalg.eigh(2.0 * (centred * shares) @ centred.T)
    return values - 1.0, vectors, mean - point


def extended(ascent: Ascent, basins: Basins, starts: Array) -> tuple[Basins, Array]:
    """The equilibrium of each scaled start (p, d), and the basins with those that are new."""
    ends, _, caught, _ = ascent.climb(np.ascontiguousarray(starts), basins.balls)
    found = np.empty(len(starts), dtype=np.intp)
    for i, end in enumerate(ends):
        distances = np.sqrt(np.square(basins.points - end).sum(axis=1))
        if caught[i] >= 0:
            found[i] = basins.balls.limits[caught[i]]
        elif distances.min() <= ascent.merge:
            found[i] = np.argmin(distances)
        else:
            found[i] = len(basins.points)
            basins = attrs.evolve(basins, points=np.concatenate([basins.points, end[None]]))
    return basins, found


def warn_unfinished(basins: Basins, stage: Any) -> None:
    """Say how many ascents were given up."""
    if basins.unfinished:
        warnings.warn(
            f"labeler '{stage.name}': {basins.unfinished} of {len(basins.of_start)} starts still moved after "
            f"max_iter={stage.max_iter} steps; the basin of each is where it stood",
            ClusterkitWarning,
            stacklevel=3,
        )


def single_link(points: Array, radius: float) -> Array:
    """Numbers 0.. of the groups of points (p, d) that steps of at most `radius` connect.

    Cells whose diagonal is half the radius hold one group each; only pairs of near cells are compared point by
    point, so that many points at one place cost no pairs.
    """
    from scipy.spatial import cKDTree

    from clusterkit.numerics.disjoint_jit import join, roots

    side = radius / (2.0 * math.sqrt(points.shape[1]))
    keys = np.floor((points - points.min(axis=0)) / side)
    _, first, cell = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    cell = cell.reshape(-1)
    parent = np.arange(len(first))
    if len(first) > 1:
        members = np.split(np.argsort(cell, kind="stable"), np.cumsum(np.bincount(cell))[:-1])
        for a, b in cKDTree(points[first]).query_pairs(2.0 * radius):
            tree = cKDTree(points[members[a]])
            if tree.query(points[members[b]], distance_upper_bound=radius * (1 + 1e-12))[0].min() <= radius:
                join(parent, a, b)
    return np.unique(roots(parent)[cell], return_inverse=True)[1].reshape(-1)


def cover(points: Array, radius: float) -> Array:
    """For each of the distinct points (u, d) the index of its representative, at most `radius` away.

    The points of a grid cell with diagonal `radius` are represented by the one nearest to their mean (ties: the
    smallest coordinates). The grid starts at the smallest coordinates, so that shifts and orders change nothing.
    """
    side = radius / math.sqrt(points.shape[1])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        keys = np.floor((points - points.min(axis=0)) / side)
    if not np.isfinite(keys).all():  # the radius is nothing beside the data
        return np.arange(len(points))
    _, cell, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    cell = cell.reshape(-1)
    mean = np.stack([np.bincount(cell, weights=column) for column in points.T], axis=1) / count[:, None]
    distance = np.sqrt(np.square(points - mean[cell]).sum(axis=1))
    nearest = np.full(len(count), np.inf)
    np.minimum.at(nearest, cell, distance)
    # the two points of a cell of two are equally near but for rounding
    candidates = np.flatnonzero(distance <= nearest[cell] + 1e-9 * radius)
    order = candidates[np.lexsort((*points[candidates].T[::-1], cell[candidates]))]
    cells, first = np.unique(cell[order], return_index=True)
    chosen = np.empty(len(count), dtype=np.intp)
    chosen[cells] = order[first]
    return chosen[cell]
