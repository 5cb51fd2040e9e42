"""A Gaussian kernel sum that points ascend, and balls whose points all ascend to the same equilibrium."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.errors import IncompatibleStages
from clusterkit.samples import coding
from clusterkit.samples.array_libraries import as_type, is_device_array, row_chunks, to_device_of
from clusterkit.samples.kernels import Gaussian

__all__ = ["Ascent", "Balls"]

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

    centres: Array = attrs.field(validator=coding.shaped("J", "d"))
    radii: Array = attrs.field(validator=coding.shaped("J"))
    limits: Indices = attrs.field(validator=coding.shaped("J"))

    @classmethod
    def none(cls, d: int) -> Balls:
        """An empty set of balls in d dimensions."""
        return cls(np.empty((0, d)), np.empty(0), np.empty(0, dtype=np.intp))

    def with_ball(self, centre: Array, radius: float, limit: int) -> Balls:
        """These balls and one more."""
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
        All > 0.
    tol, merge : float
        In scaled coordinates: the length of a step that ends an ascent, and the distance up to which two ends of
        ascents are the same equilibrium.
    max_iter : int
        Largest number of steps of an ascent.
    """

    origin: Array = attrs.field(validator=coding.shaped("d"))
    root: float
    columns: Array = attrs.field(validator=coding.shaped("d", "s"))
    weights: Array = attrs.field(validator=coding.shaped("s"))
    tol: float = attrs.field(validator=attrs.validators.gt(0))
    merge: float
    max_iter: int

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
        """Points, of any library, in the coordinates of the ascent."""
        if is_device_array(points):
            origin = to_device_of(self.origin, points, np.float64)
            scaled: Array = (as_type(points, np.float64) - origin) * self.root
            return scaled
        return np.ascontiguousarray((points - self.origin) * self.root)

    def unscaled(self, points: Array) -> Array:
        """Points in the coordinates of the domain: the inverse of `scaled`."""
        return points / self.root + self.origin

    def climb(self, starts: Array, balls: Balls, recorded: int = 0) -> tuple[Array, Counts, Indices, Array]:
        """Ascend from each scaled start until a step is at most `tol` long or ends in a ball.

        Parameters
        ----------
        starts : ndarray of shape (p, d)
        balls : Balls
        recorded : int
            Number of points of each ascent to record.

        Returns
        -------
        ends : ndarray of shape (p, d)
        steps : ndarray of shape (p,)
            Number of steps.
        end_balls : ndarray of shape (p,)
            The ball that the ascent ended in; `NO_BALL` or `UNFINISHED` of `_ascent_jit` if it ended otherwise.
        trace : ndarray of shape (p, recorded, d)
            The first points of each ascent, the start first; undefined after its last step.
        """
        from clusterkit.level_sets._ascent_jit import Ascents, BallArrays, SumArrays, climb
        from clusterkit.numerics.threads import over_rows

        p, d = starts.shape
        if not len(self.columns) == d == balls.centres.shape[1]:
            raise ValueError(f"points of {d} coordinates in an ascent of {len(self.columns)}")
        ascents = Ascents(
            np.empty((p, d)), np.zeros(p, dtype=np.intp), np.empty(p, dtype=np.intp), np.empty((p, recorded, d))
        )
        kernel_sum = SumArrays(self.columns, self.weights)
        ball_arrays = BallArrays(np.ascontiguousarray(balls.centres.T), balls.radii)

        def work(first: int, last: int) -> None:
            climb(starts, first, last, kernel_sum, self.tol, self.max_iter, ball_arrays, ascents)

        over_rows(work, p, CLIMB_COST * self.columns.size)
        return ascents.ends, ascents.steps, ascents.end_balls, ascents.trace

    def limits(self, points: Array, balls: Balls) -> tuple[Array, Indices]:
        """`ends` and `end_balls` of `climb`, of numpy, for points of any library; ends in balls are undefined.

        The points are in the coordinates of the domain, the ends are scaled.
        """
        if is_device_array(points):
            from clusterkit.level_sets.on_blocks import climb_together

            parts = [climb_together(self, self.scaled(part), balls) for _, part in row_chunks(points)]
            ends, end_balls = zip(*parts, strict=True)
            return np.concatenate(ends), np.concatenate(end_balls)
        every_end, _, every_ball, _ = self.climb(self.scaled(points), balls)
        return every_end, every_ball

    def trajectories(self, starts: Array, most: int) -> list[Array]:
        """All points of the ascent from each scaled start (p, d), up to `most` steps and the end, (steps + 1, d) each.

        No ball ends these ascents early, so each goes on to its equilibrium.
        """
        none = Balls.none(starts.shape[1])
        _, steps, _, _ = self.climb(starts, none)
        ends, steps, _, trace = self.climb(starts, none, min(int(steps.max(initial=0)), most))
        return [np.concatenate([trace[i, : steps[i]], ends[i][None]]) for i in range(len(starts))]

    def values(self, points: Array) -> Array:
        """The kernel sum at scaled points, (p,)."""
        from clusterkit.numerics.gaussian_jit import gaussian_sums

        return gaussian_sums(points, self.columns.T, self.weights, 1.0)
