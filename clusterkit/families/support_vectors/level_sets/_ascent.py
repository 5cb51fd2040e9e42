"""A Gaussian kernel sum that points ascend, and balls whose points all ascend to the same equilibrium.

Points of numpy ascend one by one in compiled loops. Points of another library of the array API ascend together by
matrix products (`climb_together`).
"""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Mask
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.errors import IncompatibleStages
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples.array_libraries import (
    array_namespace,
    as_type,
    is_device_array,
    move_to,
    row_chunks,
    to_device_of,
    to_host,
)
from clusterkit.samples.kernels import Centres, Gaussian, pair_chunks, rows_at

__all__ = ["Ascent", "Balls", "climb_together"]

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
        """Points, of any library, in the coordinates of the ascent."""
        if is_device_array(points):
            origin = to_device_of(self.origin, points, np.float64)
            scaled: Array = (as_type(points, np.float64) - origin) * self.root
            return scaled
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

    def limits(self, points: Array, balls: Balls) -> tuple[Array, Indices]:
        """`ends` and `end_balls` of `climb`, of numpy, for points of any library; ends in balls are undefined.

        The points are in the coordinates of the domain, the ends are scaled.
        """
        if is_device_array(points):
            parts = [climb_together(self, self.scaled(part), balls) for _, part in row_chunks(points)]
            ends, end_balls = zip(*parts, strict=True)
            return np.concatenate(ends), np.concatenate(end_balls)
        every_end, _, every_ball = self.climb(self.scaled(points), balls)
        return every_end, every_ball

    def values(self, points: Array) -> Array:
        """The kernel sum at scaled points, (p,)."""
        from clusterkit.numerics.gaussian_jit import gaussian_sums

        return gaussian_sums(points, self.columns.T, self.weights, 1.0)


def climb_together(ascent: Ascent, starts: Array, balls: Balls) -> tuple[Array, Indices]:
    """Ascend from each scaled start until a step is at most `tol` long or ends in a ball.

    Parameters
    ----------
    ascent : Ascent
    starts : array of shape (p, d)
        Scaled points, an array of any library, float64.
    balls : Balls

    Returns
    -------
    ends : ndarray of shape (p, d)
        Ends of the ascents, on the host; undefined where the ascent ended in a ball.
    end_balls : ndarray of shape (p,)
        The ball that each ascent ended in, as returned by `Ascent.climb`.
    """
    from clusterkit.families.support_vectors.level_sets._ascent_jit import NO_BALL, UNFINISHED

    p = starts.shape[0]
    ends, end_balls = np.empty((p, starts.shape[1])), np.full(p, UNFINISHED, dtype=np.intp)
    steps = _Steps.of(ascent, starts)
    search = _Enclosing.of(balls, starts)
    for rows in pair_chunks(p, starts.shape[1], max(len(ascent.weights), len(balls.radii))):
        x, numbers = starts[rows, :], np.arange(rows.start, rows.stop)
        for iteration in range(ascent.max_iter + 1):
            enclosing = search.balls_of(x)
            caught = enclosing >= 0
            end_balls[numbers[caught]] = enclosing[caught]
            x, numbers = _without(caught, x, numbers)
            if iteration == ascent.max_iter or not len(numbers):
                break
            x, arrived = steps.step(x, ascent.tol)
            end_balls[numbers[arrived]] = NO_BALL
            ends[numbers[arrived]] = to_host(rows_at(x, np.flatnonzero(arrived))) if arrived.any() else 0.0
            x, numbers = _without(arrived, x, numbers)
        if len(numbers):
            ends[numbers] = to_host(x)
    return ends, end_balls


def _without(gone: Mask, x: Array, numbers: Indices) -> tuple[Array, Indices]:
    """The points and numbers without those whose ascent has ended."""
    if not gone.any():
        return x, numbers
    return rows_at(x, np.flatnonzero(~gone)), numbers[~gone]


@final
@attrs.frozen(eq=False)
class _Steps:
    """Mean-shift steps in the library and on the device of the points: ``P(x) = Σ_s p_s(x) c_s``.

    Parameters
    ----------
    centres : Centres
    log_weights : array of shape (s,)
    moments : array of shape (s, d + 1)
        Rows ``(1, c_s)``: the sum of the terms and the sum of the centres in one product.
    """

    centres: Centres
    log_weights: Any
    moments: Any

    @classmethod
    def of(cls, ascent: Ascent, block: Array) -> _Steps:
        points = ascent.columns.T
        centres = Centres.to_device_of(block, points)
        moments = np.concatenate([np.ones((len(points), 1)), points], axis=1)
        return cls(centres, move_to(np.log(ascent.weights), block, np.float64), move_to(moments, block, np.float64))

    def step(self, x: Array, tol: float) -> tuple[Array, Mask]:
        """The points after a step, and whether it was at most `tol` long."""
        xp = self.centres.xp
        terms = self.centres.exponents(self.centres.scaled(x)) + self.log_weights
        shares = xp.exp(terms - xp.max(terms, axis=1, keepdims=True))
        sums = xp.matmul(shares, self.moments)
        after = sums[:, 1:] / sums[:, :1]
        moved = xp.sum(xp.square(after - x), axis=1)
        return after, to_host(moved <= tol * tol)


@final
@attrs.frozen(eq=False)
class _Enclosing:
    """Certified balls on the device of the points; None in both attributes if there are none."""

    centres: Centres | None
    radii: Any

    @classmethod
    def of(cls, balls: Balls, block: Array) -> _Enclosing:
        if not len(balls.radii):
            return cls(None, None)
        return cls(Centres.to_device_of(block, balls.centres), move_to(balls.radii, block, np.float64))

    def balls_of(self, x: Array) -> Indices:
        """Number of the ball in which each point lies deepest, or `NO_BALL`, (b,)."""
        from clusterkit.families.support_vectors.level_sets._ascent_jit import NO_BALL

        if self.centres is None:
            return np.full(x.shape[0], NO_BALL, dtype=np.intp)
        xp = array_namespace(x)
        squares = -self.centres.exponents(self.centres.scaled(x))
        depth = self.radii - xp.sqrt(xp.clip(squares, 0.0))
        best = to_host(xp.argmax(depth, axis=1)).astype(np.intp)
        inside: Indices = np.where(to_host(xp.max(depth, axis=1) > 0.0), best, NO_BALL)
        return inside
