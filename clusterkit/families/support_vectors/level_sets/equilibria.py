"""Equilibria of a Gaussian kernel sum: the end of the ascent from each start.

An equilibrium is a point that the mean-shift step leaves unchanged; a stable one is a maximum of the sum. The step, and
the reason why an ascent may end as soon as it enters a certified ball, are in `_ascent_jit`.
"""

from __future__ import annotations

import math
import warnings
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.errors import ClusterkitWarning, IncompatibleStages
from clusterkit.families.support_vectors.level_sets._likely_edges import cover, single_link
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import Report, notify

__all__ = [
    "Ascent",
    "Balls",
    "Basins",
    "cover",
    "find_basins",
    "single_link",
    "warn_unfinished",
]

FIRST_ROUND, LARGEST_ROUND = 32, 4096
"""Starts of the first round, which ascend to the end before anything is certified, and of the largest one."""
SMALLEST_RADIUS = 1e-3
"""Radius, in units of 1 / sqrt(gamma), below which balls are dropped: an ascent that meets one is nearly over."""
FEWEST_BALLS = 64
"""Number of balls that is always allowed; otherwise half the number of centres, so that the search for one is cheap."""
GOLDEN = 0.6180339887498949
"""Golden ratio modulo 1: its multiples modulo 1 are evenly spread, whatever their number."""


@final
@attrs.frozen(eq=False)
class Basins:
    """The equilibria that starts ascend to.

    Parameters
    ----------
    points : ndarray of shape (M, d)
        Equilibria, scaled.
    of_start : ndarray of shape (p,)
        Number of the equilibrium of each start.
    balls : Balls
        Certified balls; their `limits` are numbers of equilibria.
    steps : int
        Number of steps of all ascents.
    caught : int
        Number of starts whose ascent ended in a ball.
    unfinished : int
        Number of starts that still moved after `max_iter` steps.
    """

    points: Array = attrs.field(validator=array("M d"))
    of_start: Indices = attrs.field(validator=array("p", below="M"))
    balls: Balls
    steps: int = attrs.field(validator=scalar(least=0))
    caught: int = attrs.field(validator=scalar(least=0))
    unfinished: int = attrs.field(validator=scalar(least=0))

    def check_saved(self) -> None:
        """Raise ValueError unless the limits of the balls are equilibria."""
        M, d = self.points.shape
        if self.balls.limits.max(initial=-1) >= M or self.balls.centres.shape[1] != d:
            raise ValueError("Basins: the balls are not those of the equilibria")


@attrs.define(eq=False)
class _BasinSearch:
    """The state of `find_basins`.

    Parameters
    ----------
    ascent : Ascent
    most_balls : int
        Largest number of balls.
    balls : Balls
        Their `limits` are indices into `limits`.
    limits : list of ndarray of shape (d,)
        Limit points so far; some of them may be the same equilibrium.
    steps, caught, unfinished : int
        As in `Basins`.
    """

    ascent: Ascent
    most_balls: int
    balls: Balls
    limits: list[Array]
    steps: int = 0
    caught: int = 0
    unfinished: int = 0

    def round(self, starts: Array, certify: bool) -> Indices:
        """The limit of each start, (p,); adds certified balls for the rounds that follow."""
        from clusterkit.families.support_vectors.level_sets._ascent_jit import UNFINISHED

        ends, steps, end_balls = self.ascent.climb(starts, self.balls)
        self.steps += int(steps.sum())
        self.caught += int((end_balls >= 0).sum())
        self.unfinished += int((end_balls == UNFINISHED).sum())
        limits = np.empty(len(starts), dtype=np.intp)
        limits[end_balls >= 0] = self.balls.limits[end_balls[end_balls >= 0]]
        for i in np.flatnonzero(end_balls < 0):
            limits[i] = self._limit(ends[i], certify and end_balls[i] != UNFINISHED)
        return limits

    def _limit(self, end: Array, certify: bool) -> int:
        """The number of a limit point: a known one if it lies in the ball of that one, else a new one."""
        from clusterkit.families.support_vectors.level_sets._ascent_jit import SumArrays, limit_ball_radius

        ball = self.balls.around(end) if certify else -1
        if ball >= 0:
            return int(self.balls.limits[ball])
        self.limits.append(end)
        number = len(self.limits) - 1
        if certify and len(self.balls.radii) < self.most_balls:
            radius = limit_ball_radius(end, SumArrays(self.ascent.columns, self.ascent.weights))
            if radius > SMALLEST_RADIUS:
                self.balls = self.balls.with_ball(end, radius, number)
        return number


def find_basins(
    ascent: Ascent, starts: Array, stage: str, *, certify: bool = True, first_round: int = FIRST_ROUND
) -> Basins:
    """Ascend from every start and merge ends that are the same equilibrium.

    Parameters
    ----------
    ascent : Ascent
    starts : ndarray of shape (p, d)
        Scaled; should be distinct.
    stage : str
        Name for progress reports.
    certify : bool, default True
        Whether ascents end in certified balls. That saves most of the time and changes the result by rounding only.
    first_round : int
        Number of starts that ascend to the end before balls are certified.

    Notes
    -----
    O(p I s d) for I steps from a start; with certified balls, around the equilibria, I falls to a quarter or less.
    Rounds double in size: the ascents of each round give balls to the next. The number of balls is at most half the
    number of centres (64 at least), so that the search for the ball around a point costs less than a step.
    """
    p, d = starts.shape
    # an even spread over the rows whatever their order
    order = np.argsort((np.arange(p) * GOLDEN) % 1.0, kind="stable")
    search = _BasinSearch(ascent, max(FEWEST_BALLS, ascent.columns.shape[1] // 2), Balls.none(d), [])
    limit_of_start = np.empty(p, dtype=np.intp)
    first, size = 0, first_round
    while first < p:
        rows = order[first : first + size]
        limit_of_start[rows] = search.round(np.ascontiguousarray(starts[rows]), certify)
        first, size = first + len(rows), min(2 * size, LARGEST_ROUND)
        notify(Report(stage, first, p))
    group, points = _merged(ascent, np.array(search.limits))
    balls = attrs.evolve(search.balls, limits=group[search.balls.limits])
    return Basins(points, group[limit_of_start], balls, search.steps, search.caught, search.unfinished)


def _merged(ascent: Ascent, limits: Array) -> tuple[Labels, Array]:
    """The number of the equilibrium of each limit point, and the equilibria: the highest point of each group."""
    group = single_link(limits, ascent.merge)
    # of equal values the smallest coordinates, so that the order of the samples does not matter
    order = np.lexsort((*limits.T[::-1], -ascent.values(limits)))
    _, first = np.unique(group[order], return_index=True)
    return group, limits[order[first]]


def warn_unfinished(basins: Basins, labeler: str, max_iter: int) -> None:
    """Warn about ascents that were ended by the limit of their steps."""
    if basins.unfinished:
        warnings.warn(
            f"labeler '{labeler}': {basins.unfinished} of {len(basins.of_start)} starts still moved after "
            f"max_iter={max_iter} steps; the point reached by then counts as their equilibrium",
            ClusterkitWarning,
            stacklevel=3,
        )


CLIMB_COST = 64
"""Kernel sums assumed for an ascent, to decide on the number of threads; with certified balls it is often fewer."""


@final
@attrs.frozen(eq=False)
class Balls:
    """Balls all of whose points ascend to the same limit.

    Parameters
    ----------
    centres : ndarray of shape (J, d)
    radii : ndarray of shape (J,)
    limits : ndarray of shape (J,)
        Number of the limit of each ball.
    """

    centres: Array = attrs.field(validator=array("J d"))
    radii: Array = attrs.field(validator=array("J", least=0))
    limits: Indices = attrs.field(validator=array("J", least=0))

    @classmethod
    def none(cls, d: int) -> Balls:
        """An empty set of balls in d dimensions."""
        return cls(np.empty((0, d)), np.empty(0), np.empty(0, dtype=np.intp))

    def with_ball(self, centre: Array, radius: float, limit: int) -> Balls:
        """A copy of the balls with one more."""
        return Balls(
            np.concatenate([self.centres, centre[None]]), np.append(self.radii, radius), np.append(self.limits, limit)
        )

    def around(self, point: Array) -> int:
        """Index of the ball in which a point lies deepest, or -1 if it lies in none."""
        inner = self.radii - np.sqrt(np.square(self.centres - point).sum(axis=1))
        return int(np.argmax(inner)) if len(inner) and inner.max() > 0 else -1


@final
@attrs.frozen(eq=False)
class Ascent:
    """A Gaussian kernel sum and the rules of its ascent, in coordinates ``sqrt(gamma) (x - origin)``.

    The mean-shift step and its properties are in `_ascent_jit.py` (`step`).

    Parameters
    ----------
    origin : ndarray of shape (d,)
        Mean of the centres: without it, sums of coordinates would lose digits to a common offset.
    root : float
        sqrt(gamma).
    columns : ndarray of shape (d, s)
        Centres.
    weights : ndarray of shape (s,)
        Weights of the centres, all > 0.
    tol, merge : float
        In scaled coordinates: the length of a step that ends an ascent, and the distance up to which two ends of
        ascents are the same equilibrium.
    max_iter : int
        Largest number of steps of an ascent.
    """

    origin: Array = attrs.field(validator=array("d"))
    root: float = attrs.field(validator=scalar(least=0))
    columns: Array = attrs.field(validator=array("d s"))
    weights: Array = attrs.field(validator=array("s", least=0))
    tol: float = attrs.field(validator=attrs.validators.gt(0))
    merge: float = attrs.field(validator=scalar(least=0))
    max_iter: int = attrs.field(validator=scalar(least=1))

    @classmethod
    def of(cls, domain: KernelDomain, labeler: str, *, tol: float, merge: float, max_iter: int) -> Ascent:
        """The ascent of a domain; `tol` and `merge` are in units of ``1 / sqrt(2 gamma)``, `labeler` is for errors.

        Raises
        ------
        IncompatibleStages
            If the kernel is not Gaussian, or the weights are not >= 0, or all 0.
        """
        if not isinstance(domain.kernel, Gaussian):
            raise IncompatibleStages(
                f"labeler '{labeler}' ascends Gaussian kernel sums only, and this domain has a "
                f"{type(domain.kernel).__name__} kernel; use labeler 'complete_graph', which takes any"
            )
        weights = np.asarray(domain.weights, dtype=np.float64)
        if (weights < 0).any() or not (weights > 0).any():
            raise IncompatibleStages(
                f"labeler '{labeler}' needs weights >= 0, not all 0: the least of this domain is {weights.min():g}; "
                "use labeler 'complete_graph'"
            )
        centres = np.asarray(domain.centres, dtype=np.float64)[weights > 0]
        origin, root = centres.mean(axis=0), math.sqrt(domain.kernel.gamma)
        columns = np.ascontiguousarray(((centres - origin) * root).T)
        unit = math.sqrt(0.5)
        return cls(origin, root, columns, weights[weights > 0], tol * unit, merge * unit, max_iter)

    def scaled(self, points: Array) -> Array:
        """Points in the coordinates of the ascent."""
        return np.ascontiguousarray((points - self.origin) * self.root)

    def unscaled(self, points: Array) -> Array:
        """Points in the coordinates of the domain: the inverse of `scaled`."""
        return points / self.root + self.origin

    def climb(self, starts: Array, balls: Balls) -> tuple[Array, Counts, Indices]:
        """Ascend from each scaled start until a step is at most `tol` long or ends in a ball.

        Parameters
        ----------
        starts : ndarray of shape (p, d)
        balls : Balls

        Returns
        -------
        ends : ndarray of shape (p, d)
        steps : ndarray of shape (p,)
            Number of steps.
        end_balls : ndarray of shape (p,)
            The ball that the ascent ended in; `NO_BALL` or `UNFINISHED` of `_ascent_jit` if it ended otherwise.
        """
        from clusterkit.families.support_vectors.level_sets._ascent_jit import Ascents, BallArrays, SumArrays, climb
        from clusterkit.numerics.threads import over_rows

        p, d = starts.shape
        if not len(self.columns) == d == balls.centres.shape[1]:
            raise ValueError(f"points of {d} coordinates in an ascent of {len(self.columns)}")
        ascents = Ascents(np.empty((p, d)), np.zeros(p, dtype=np.intp), np.empty(p, dtype=np.intp))
        kernel_sum = SumArrays(self.columns, self.weights)
        ball_arrays = BallArrays(np.ascontiguousarray(balls.centres.T), balls.radii)

        def work(first: int, last: int) -> None:
            climb(starts, first, last, kernel_sum, self.tol, self.max_iter, ball_arrays, ascents)

        over_rows(work, p, CLIMB_COST * self.columns.size)
        return ascents.ends, ascents.steps, ascents.end_balls

    def values(self, points: Array) -> Array:
        """The kernel sum at scaled points, (p,)."""
        from clusterkit.numerics.gaussian_jit import gaussian_sums

        return gaussian_sums(points, self.columns.T, self.weights, 1.0)
