"""The ascent of many points at once, by matrix products: for points of another library of the array API.

The step is that of `_ascent_jit`, computed relative to the largest term, so that no quotient of two sums that underflow
occurs. All points of a chunk move together; those that have arrived leave it.

The segment test for points of another library of the array API: values of the domain at blocks of points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Mask
from clusterkit.contracts.outcomes import Domain
from clusterkit.level_sets._ascent_jit import NO_BALL, UNFINISHED
from clusterkit.level_sets.segment_test import fractions
from clusterkit.samples.array_libraries import array_namespace, as_type, move_to, row_chunks, to_host
from clusterkit.samples.kernels import Centres, pair_chunks, rows_at

if TYPE_CHECKING:
    from clusterkit.level_sets._ascent import Ascent, Balls

__all__ = [
    "SegmentsOfBlocks",
    "climb_together",
]


def climb_together(ascent: Ascent, starts: Array, balls: Balls) -> tuple[Array, Indices]:
    """Ascend from each scaled start until a step is at most `tol` long or ends in a ball.

    Parameters
    ----------
    ascent : Ascent
    starts : array of shape (p, d)
        Of any library, float64.
    balls : Balls

    Returns
    -------
    ends : ndarray of shape (p, d)
        In the memory of the host; undefined where the ascent ended in a ball.
    end_balls : ndarray of shape (p,)
        As of `Ascent.climb`.
    """
    p = starts.shape[0]
    ends, end_balls = np.empty((p, starts.shape[1])), np.full(p, UNFINISHED, dtype=np.intp)
    steps = _Steps.of(ascent, starts)
    search = _Enclosing.of(balls, starts)
    for rows in pair_chunks(p, starts.shape[1], max(len(ascent.weights), len(balls.radii))):
        x, numbers = starts[rows, :], np.arange(rows.start, rows.stop)
        for turn in range(ascent.max_iter + 1):
            enclosing = search.balls_of(x)
            caught = enclosing >= 0
            end_balls[numbers[caught]] = enclosing[caught]
            x, numbers = _without(caught, x, numbers)
            if turn == ascent.max_iter or not len(numbers):
                break
            x, arrived = steps.step(x, ascent.tol)
            end_balls[numbers[arrived]] = NO_BALL
            ends[numbers[arrived]] = to_host(rows_at(x, np.flatnonzero(arrived))) if arrived.any() else 0.0
            x, numbers = _without(arrived, x, numbers)
        if len(numbers):
            ends[numbers] = to_host(x)
    return ends, end_balls


def _without(gone: Mask, x: Array, numbers: Indices) -> tuple[Array, Indices]:
    """The points that go on, with their numbers."""
    if not gone.any():
        return x, numbers
    return rows_at(x, np.flatnonzero(~gone)), numbers[~gone]


@final
@attrs.frozen(eq=False)
class _Steps:
    """Mean-shift steps beside the points: ``P(x) = Σ_s p_s(x) c_s``.

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
    """Certified balls beside the points, or none."""

    centres: Centres | None
    radii: Any

    @classmethod
    def of(cls, balls: Balls, block: Array) -> _Enclosing:
        if not len(balls.radii):
            return cls(None, None)
        return cls(Centres.to_device_of(block, balls.centres), move_to(balls.radii, block, np.float64))

    def balls_of(self, x: Array) -> Indices:
        """The ball in which each point lies deepest, or `NO_BALL`, (b,)."""
        if self.centres is None:
            return np.full(x.shape[0], NO_BALL, dtype=np.intp)
        xp = array_namespace(x)
        squares = -self.centres.exponents(self.centres.scaled(x))
        depth = self.radii - xp.sqrt(xp.clip(squares, 0.0))
        best = to_host(xp.argmax(depth, axis=1)).astype(np.intp)
        inside: Indices = np.where(to_host(xp.max(depth, axis=1) > 0.0), best, NO_BALL)
        return inside


@final
@attrs.frozen(eq=False)
class SegmentsOfBlocks:
    """Tests of points and segments against a domain that takes points of any library; answers are on the host.

    Parameters
    ----------
    domain : Domain
    n_segment_points : int
    """

    domain: Domain
    n_segment_points: int

    def inside(self, Y: Array) -> Mask:
        """Whether the rows of Y (p, d) are inside, (p,)."""
        inside: Mask = to_host(self.domain.value(Y)) >= self.domain.level
        return inside

    def connected(self, A: Array, B: Array) -> Mask:
        """Whether the segments from A[i], of any library, to B[i], of numpy, both (p, d) and inside, stay inside."""
        connected = np.zeros(len(B), dtype=np.bool_)
        for rows, part in row_chunks(A):
            connected[rows] = self._connected(as_type(part, np.float64), B[rows])
        return connected

    def _connected(self, A: Array, B: Array) -> Mask:
        remaining = np.arange(len(B))
        steps: Array = move_to(B, A, np.float64) - A
        for fraction in fractions(self.n_segment_points).tolist():
            stay = self.inside(A + fraction * steps)
            if not stay.all():
                index = np.flatnonzero(stay)
                remaining, A, steps = remaining[index], rows_at(A, index), rows_at(steps, index)
            if not len(remaining):
                break
        connected = np.zeros(len(B), dtype=np.bool_)
        connected[remaining] = True
        return connected
