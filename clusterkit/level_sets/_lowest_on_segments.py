"""The lowest point of a Gaussian kernel sum on a segment, from values at points of the segment only.

On a line on which t measures scaled length, ``(log g)'' = 4 Var_p - 2 >= -2`` (`_ascent_jit`: p are the shares of the
centres, the variance that of their coordinates along the line). So ``L(t) = log g + t²`` is convex, and its chord over
an interval, extended, lies below it outside the interval. Between two points L is therefore at least the larger of the
two extended chords of the intervals beside, and log g at least that minus t², which is concave on both sides of the
point where the chords meet: it is least there or at the ends. An interval in which this bound is not below the least
value known needs no further points, however far its ends are apart; the others are halved.
"""

from __future__ import annotations

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Mask
from clusterkit.level_sets._ascent import Ascent

__all__ = ["lowest_on_segments"]

SEGMENTS_AT_A_TIME = 1024
"""Segments whose points are evaluated at a time: bounds the memory."""
REFINEMENTS = (11, 11, 11)
"""Points about the lowest point of a segment, in each refinement over the two intervals beside it."""
EXCESS = 1e-3
"""How far the logarithm of a lowest value may lie above the true one: about what the refinements leave at a kink."""
SHORT = 0.25
"""Scaled length up to which the intervals beside the lowest point go to the refinements as they are.

Between two low points in them log g rises by SHORT² at most, as its second derivative is at least -2.
"""
UNDERFLOW = 1e-200
"""Sums up to this count as 0: terms that underflow do not follow the law of the second derivative."""
ROUNDING = 1e-6
"""Places nearer than this part of an interval are one: far above rounding, far below the shortest interval beside."""


@attrs.frozen(eq=False)
class _Intervals:
    """Intervals of segments, with what bounds the sum in each; arrays of shape (q,) but for `lengths`.

    Parameters
    ----------
    segments : ndarray
        Number of the segment of each interval.
    starts, steps : ndarray
        Where it starts, and how long it is, as parts of the segment.
    at_start, at_end : ndarray
        The convex function L at its ends.
    before, after : ndarray
        Slopes of chords of L over intervals on its left and on its right.
    lengths : ndarray of shape (e,)
        Scaled length of each segment.
    """

    segments: Indices
    starts: Array
    steps: Array
    at_start: Array
    at_end: Array
    before: Array
    after: Array
    lengths: Array

    def where(self, is_in: Mask) -> _Intervals:
        """Some of the intervals."""
        return _Intervals(
            self.segments[is_in],
            self.starts[is_in],
            self.steps[is_in],
            self.at_start[is_in],
            self.at_end[is_in],
            self.before[is_in],
            self.after[is_in],
            self.lengths,
        )

    def floors(self) -> Array:
        """A lower bound of log g inside each interval, but for its ends: its value where the extended chords meet."""
        turn = self.after - self.before
        meet = (self.at_start - self.at_end + self.after * self.steps) / np.where(turn > 0.0, turn, np.inf)
        meet = np.clip(meet, 0.0, self.steps)
        return self.at_start + self.before * meet - np.square(self.lengths[self.segments] * (self.starts + meet))

    def halves(self, middles: Array) -> _Intervals:
        """Both halves of each interval, given L in the middles."""
        steps = 0.5 * self.steps
        left, right = (middles - self.at_start) / steps, (self.at_end - middles) / steps
        return _Intervals(
            np.concatenate([self.segments, self.segments]),
            np.concatenate([self.starts, self.starts + steps]),
            np.concatenate([steps, steps]),
            np.concatenate([self.at_start, middles]),
            np.concatenate([middles, self.at_end]),
            np.concatenate([self.before, left]),
            np.concatenate([right, self.after]),
            self.lengths,
        )


def lowest_on_segments(ascent: Ascent, starts: Array, ends: Array, n_segment_points: int) -> tuple[Array, Array]:
    """Lowest point, (e, d), and its value, (e,), on the segments from `starts` to `ends`, both (e, d).

    It is the lowest of `n_segment_points` evenly spaced points, of both ends, of the points that halve intervals which
    may hold a lower one, and of the points of some refinements around the lowest of these.
    """
    lowest, values = np.empty(starts.shape), np.empty(len(starts))
    for first in range(0, len(starts), SEGMENTS_AT_A_TIME):
        rows = slice(first, first + SEGMENTS_AT_A_TIME)
        a, b = starts[rows], ends[rows]
        at, width = _lowest_places(ascent, a, b, n_segment_points + 2)
        for count in REFINEMENTS:
            grid = np.clip(at[:, None] + width[:, None] * np.linspace(-1.0, 1.0, count), 0.0, 1.0)
            sums = _sums(ascent, a, b, grid)
            least = np.argmin(sums, axis=1)[:, None]
            at, width = np.take_along_axis(grid, least, axis=1)[:, 0], 2.0 * width / (count - 1)
            values[rows] = np.take_along_axis(sums, least, axis=1)[:, 0]
        lowest[rows] = a + at[:, None] * (b - a)
    return lowest, values


def _sums(ascent: Ascent, a: Array, b: Array, at: Array) -> Array:
    """The kernel sum at ``a + at (b - a)``, (e, m), for ends (e, d) and places (e, m)."""
    points = a[:, None] + at[:, :, None] * (b - a)[:, None]
    return ascent.values(points.reshape(-1, a.shape[1])).reshape(at.shape)


def _lowest_places(ascent: Ascent, a: Array, b: Array, count: int) -> tuple[Array, Array]:
    """Where on each segment the lowest of its points is, (e,), and how far beside it a lower one may be, (e,).

    The points are `count` evenly spaced ones, both ends among them, and those that halve intervals.
    """
    spacing = 1.0 / (count - 1)
    inner = np.clip(0.5 + 0.5 * np.linspace(-1.0, 1.0, count), 0.0, 1.0)
    # a point beyond each end gives the outermost intervals two chords as well
    even = np.r_[-spacing, inner, 1.0 + spacing]
    sums = _sums(ascent, a, b, np.tile(even, (len(a), 1)))
    at, width = inner[np.argmin(sums[:, 1:-1], axis=1)], np.full(len(a), spacing)
    lengths = np.sqrt(np.square(b - a).sum(axis=1))
    # a smaller value beyond an end counts as this one: its chord is then less steep, and the bound remains one
    logs = np.log(np.maximum(sums, UNDERFLOW))
    least = logs[:, 1:-1].min(axis=1)
    convex = logs + np.square(lengths[:, None] * even)
    steps = np.diff(even)
    slopes = np.diff(convex, axis=1) / steps
    e = len(a)
    intervals = _Intervals(
        np.repeat(np.arange(e), count - 1),
        np.tile(inner[:-1], e),
        np.tile(steps[1:-1], e),
        convex[:, 1:-2].ravel(),
        convex[:, 2:-1].ravel(),
        slopes[:, :-2].ravel(),
        slopes[:, 2:].ravel(),
        lengths,
    )
    intervals = intervals.where(least[intervals.segments] > np.log(UNDERFLOW))
    while True:
        i, s, step = intervals.segments, intervals.starts, intervals.steps
        is_beside = np.minimum(np.abs(s - at[i]), np.abs(s + step - at[i])) < ROUNDING * step
        is_open = intervals.floors() < least[i] - EXCESS
        intervals = intervals.where(is_open & ~(is_beside & (lengths[i] * step <= SHORT)))
        i = intervals.segments
        if not len(i):
            return at, width
        # a kink in an interval that was too long to be refined as it was needs the finer points
        width[i] = np.minimum(spacing, SHORT / lengths[i])
        middles = intervals.starts + 0.5 * intervals.steps
        logs = np.log(np.maximum(_sums(ascent, a[i], b[i], middles[:, None])[:, 0], UNDERFLOW))
        np.minimum.at(least, i, logs)
        is_least = logs == least[i]
        at[i[is_least]] = middles[is_least]
        intervals = intervals.halves(logs + np.square(lengths[i] * middles))
