"""Paths between the equilibria of a Gaussian kernel sum over saddle points, and the tree of the highest paths.

A path needs the lowest point of the kernel sum on a segment (`lowest_on_segments`), which values at some points of the
segment give. On a line on which t measures scaled length, ``(log g)'' = 4 Var_p - 2 >= -2`` (p are the shares of the
centres as in `_ascent_jit`, the variance that of their coordinates along the line). So ``L(t) = log g + t²`` is convex,
and its chord over an interval, extended, lies below it outside the interval. Between two points L is therefore at least
the larger of the two extended chords of the adjacent intervals, and log g at least that minus t², which is concave on
both sides of the point where the chords meet: it is least there or at the ends. An interval in which this bound is not
below the least value known needs no further points, however far its ends are apart; the others are halved.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Mask
from clusterkit.families.support_vectors.level_sets._ascent import Ascent
from clusterkit.families.support_vectors.level_sets.equilibria import Basins, curvatures, extended
from clusterkit.numerics.neighbour_graph import unique_pairs
from clusterkit.samples.limits import Report, notify

__all__ = [
    "Passes",
    "border_pairs",
    "components_above",
    "highest_passes",
    "lowest_on_segments",
    "neighbour_pairs",
    "saddle_near",
]


SEGMENTS_AT_A_TIME = 1024
"""Segments whose points are evaluated at a time: bounds the memory."""
REFINEMENTS = (11, 11, 11)
"""Points around the lowest point of a segment, in each refinement over the two intervals that meet there."""
EXCESS = 1e-3
"""Largest accepted error of the logarithm of a lowest value: about the error that the refinements leave at a kink."""
SHORT = 0.25
"""Scaled length up to which the intervals at the lowest point are refined without being halved first.

Between two low points in them log g rises by SHORT² at most, as its second derivative is at least -2.
"""
UNDERFLOW = 1e-200
"""Sums up to this count as 0: terms that underflow do not follow the law of the second derivative."""
ROUNDING = 1e-6
"""Positions that differ by less than this part of an interval are equal: far above rounding, far below any interval."""


@attrs.frozen(eq=False)
class _Intervals:
    """Intervals of segments, with the values that bound the sum in each; arrays of shape (q,) but for `lengths`.

    Parameters
    ----------
    segments : ndarray
        Number of the segment of each interval.
    starts, steps : ndarray
        Start and length of each interval, as parts of the segment.
    at_start, at_end : ndarray
        The convex function L at the ends of each interval.
    before, after : ndarray
        Slopes of chords of L over intervals on the left and on the right of each.
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

    The candidates are `n_segment_points` evenly spaced points, both ends, midpoints of intervals that may contain a
    lower point, and the points of some refinements around the lowest of these.
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
    """Position of the lowest tested point on each segment, (e,), and how far from it a lower one may be, (e,).

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
        # an interval that was too long for refinement may have a kink, which only finer points find
        width[i] = np.minimum(spacing, SHORT / lengths[i])
        middles = intervals.starts + 0.5 * intervals.steps
        logs = np.log(np.maximum(_sums(ascent, a[i], b[i], middles[:, None])[:, 0], UNDERFLOW))
        np.minimum.at(least, i, logs)
        is_least = logs == least[i]
        at[i[is_least]] = middles[is_least]
        intervals = intervals.halves(logs + np.square(lengths[i] * middles))


MOST_STEPS = 100
"""Largest number of Newton steps of a saddle search; searches that succeed take far fewer."""
LONGEST_STEP = 0.25
"""Longest step of the saddle search, in units of 1 / sqrt(gamma): the expansion of log g holds up to there."""
SMALLEST_CURVATURE = 1e-3
"""Curvatures nearer to 0 are replaced by this: a Newton step along them would have no limit."""
STATIONARY = 1e-9
"""Largest length of the gradient of log g at a saddle point, and largest curvature that counts as 0."""
BORDER_PAIRS = 8
"""Pairs of near samples that are tried for every two basins."""
BORDER_POINTS = 3
"""Points on the segment between two near samples; `lowest_on_segments` adds more where the sum may be lower."""
REPORT_EVERY = 64
"""Saddle searches between two progress reports."""


@final
@attrs.frozen(eq=False)
class Passes:
    """Paths between equilibria, with the lowest value of the sum on each.

    Parameters
    ----------
    pairs : ndarray of shape (e, 2)
        The two equilibria of each path.
    values : ndarray of shape (e,)
        Lowest value on the path.
    saddles : ndarray of shape (e, d)
        The point with that value, scaled: a saddle point, or the lowest point of a segment.
    """

    pairs: Indices
    values: Array
    saddles: Array


def neighbour_pairs(points: Array, n_neighbors: int) -> Indices:
    """Pairs (e, 2), i < j, of points (M, d): each point with its nearest `n_neighbors`, and a shortest spanning tree.

    The tree connects every point to every other. O(M² d) time.
    """
    from scipy.spatial.distance import cdist

    count = len(points)
    if count - 1 <= n_neighbors:
        return np.stack(np.triu_indices(count, 1), axis=1)
    pairs = []
    nearest, parent = np.full(count, np.inf), np.zeros(count, dtype=np.intp)
    inside, last = np.zeros(count, dtype=bool), 0
    for step in range(count):
        inside[last] = True
        distances = cdist(points[last : last + 1], points)[0]
        distances[last] = np.inf
        for j in np.argsort(distances, kind="stable")[:n_neighbors]:
            pairs.append((last, j))
        closer = ~inside & (distances < nearest)
        nearest[closer], parent[closer] = distances[closer], last
        if step < count - 1:
            last = int(np.argmin(np.where(inside, np.inf, nearest)))
            pairs.append((last, parent[last]))
    return unique_pairs(np.array(pairs, dtype=np.intp), count)[0]


def border_pairs(ascent: Ascent, rows: Array, of_row: Indices, n_neighbors: int) -> tuple[Indices, Indices]:
    """Pairs of near samples in different basins.

    For every two basins that share a border, the result has `BORDER_PAIRS` pairs of nearest neighbours across it: those
    whose lower sample is highest.

    Parameters
    ----------
    ascent : Ascent
    rows : ndarray of shape (u, d)
        Samples, scaled.
    of_row : ndarray of shape (u,)
        Number of the equilibrium of each sample.
    n_neighbors : int
        Nearest other samples considered for each sample.

    Returns
    -------
    pairs : ndarray of shape (e, 2)
        Indices of rows.
    basins : ndarray of shape (e, 2)
        Basins of the samples of each pair, the lower number first.
    """
    from scipy.spatial import cKDTree

    k = min(n_neighbors + 1, len(rows))
    near = cKDTree(rows).query(rows, k=k)[1].reshape(len(rows), k)
    pairs = np.stack([np.repeat(np.arange(len(rows)), k), near.reshape(-1)], axis=1)
    pairs = pairs[of_row[pairs[:, 0]] != of_row[pairs[:, 1]]]
    if not len(pairs):
        return pairs, pairs
    pairs, _ = unique_pairs(pairs, len(rows))
    basins = of_row[pairs]
    descending = basins[:, 0] > basins[:, 1]
    pairs[descending], basins[descending] = pairs[descending, ::-1], basins[descending, ::-1]
    values = np.zeros(len(rows))
    used = np.unique(pairs)
    values[used] = ascent.values(rows[used])
    order = np.lexsort((-values[pairs].min(axis=1), basins[:, 1], basins[:, 0]))
    pairs, basins = pairs[order], basins[order]
    first = np.flatnonzero(np.r_[True, (basins[1:] != basins[:-1]).any(axis=1)])
    rank = np.arange(len(pairs)) - np.repeat(first, np.diff(np.r_[first, len(pairs)]))
    return pairs[rank < BORDER_PAIRS], basins[rank < BORDER_PAIRS]


def highest_passes(
    ascent: Ascent, basins: Basins, rows: Array, of_row: Indices, n_segment_points: int, n_neighbors: int, stage: str
) -> tuple[Basins, Passes]:
    """Paths between neighbouring equilibria, and the basins with the equilibria that the searches added.

    Parameters
    ----------
    ascent : Ascent
    basins : Basins
    rows : ndarray of shape (u, d)
        Samples, scaled.
    of_row : ndarray of shape (u,)
        Number of the equilibrium of each sample.
    n_segment_points : int
        Points on the segment between two equilibria, to which `lowest_on_segments` adds more where the sum may be
        lower; a saddle search starts from the lowest of all.
    n_neighbors : int
        Nearest other equilibria of each equilibrium, and nearest other samples of each sample, that are considered.
    stage : str
        Name for progress reports.

    Notes
    -----
    A segment between two equilibria is a path between them. So is the ascent from a sample, reversed, followed by the
    segment to a near sample and the ascent of that one. The lowest points of these paths count like the saddle points
    that searches find, so that a failed search separates no equilibria, and one component is always possible.
    """
    pairs = neighbour_pairs(basins.points, n_neighbors)
    if not len(pairs):
        return basins, Passes(pairs.reshape(0, 2), np.empty(0), np.empty((0, basins.points.shape[1])))
    lowest, values = lowest_on_segments(
        ascent, basins.points[pairs[:, 0]], basins.points[pairs[:, 1]], n_segment_points
    )
    ends, borders = border_pairs(ascent, rows, of_row, n_neighbors)
    if len(ends):
        border_lowest, border_values = lowest_on_segments(ascent, rows[ends[:, 0]], rows[ends[:, 1]], BORDER_POINTS)
        order = np.lexsort((-border_values, borders[:, 1], borders[:, 0]))
        best = order[np.unique(borders[order], axis=0, return_index=True)[1]]
        pairs = np.concatenate([pairs, borders[best]])
        lowest = np.concatenate([lowest, border_lowest[best]])
        values = np.concatenate([values, border_values[best]])
    all_pairs, all_values, all_saddles = [pairs], [values], [lowest]
    for i, start in enumerate(lowest):
        saddle = saddle_near(ascent, start)
        if saddle is not None:
            point, direction = saddle
            sides = point + ascent.merge * np.stack([direction, -direction])
            basins, reached = extended(ascent, basins, sides)
            if reached[0] != reached[1]:
                all_pairs.append(np.sort(reached)[None])
                all_values.append(ascent.values(point[None]))
                all_saddles.append(point[None])
        if (i + 1) % REPORT_EVERY == 0 or i == len(lowest) - 1:
            notify(Report(stage, i + 1, len(lowest)))
    return basins, Passes(np.concatenate(all_pairs), np.concatenate(all_values), np.concatenate(all_saddles))


def saddle_near(ascent: Ascent, start: Array) -> tuple[Array, Array] | None:
    """A transition point and its direction of ascent, both (d,), scaled; None if the search fails.

    Newton steps on the gradient of log g in the basis of eigenvectors of its Hessian, no longer than `LONGEST_STEP`:
    ascending along every eigenvector but the one of the largest eigenvalue, descending along that one. A transition
    point has exactly one direction in which the sum is convex. O(s d² + d³) for a step.
    """
    x = start.copy()
    for _ in range(MOST_STEPS):
        curvature, directions, gradient = curvatures(ascent, x)
        if np.linalg.norm(gradient) <= STATIONARY:
            is_transition = curvature[-1] > STATIONARY and (len(x) == 1 or curvature[-2] < -STATIONARY)
            return (x, directions[:, -1]) if is_transition else None
        along = directions.T @ gradient
        move = along / np.maximum(np.abs(curvature), SMALLEST_CURVATURE)
        move[-1] = -move[-1]
        x = x + directions @ (move * min(1.0, LONGEST_STEP / float(np.linalg.norm(move))))
    return None


def components_above(
    passes: Passes, count: int, cut: float, n_clusters: int | None, sizes: Counts, min_cluster_size: int
) -> tuple[Labels | None, float, list[float], int]:
    """Components of the equilibria, joined over the highest paths first.

    Parameters
    ----------
    passes : Passes
    count : int
        Number of equilibria.
    cut : float
        Smallest value of a path that joins.
    n_clusters : int or None
        Replaces the cut: equilibria are joined until this number of components has `min_cluster_size` samples.
    sizes : ndarray of shape (count,)
        Number of samples of each equilibrium.
    min_cluster_size : int

    Returns
    -------
    component : ndarray of shape (count,), or None
        None if no cut gives `n_clusters` clusters.
    cut : float
        Value of the lowest path that was used (inf if none was), or the parameter `cut`.
    heights : list of float
        Values of the paths of the whole tree, descending.
    most : int
        Largest number of components with `min_cluster_size` samples at any cut.
    """
    component = np.arange(count)
    sizes = sizes.astype(np.float64)
    clusters = int((sizes >= min_cluster_size).sum())
    most, heights, lowest = clusters, [], np.inf
    chosen = component.copy() if n_clusters is None or clusters == n_clusters else None
    order = np.lexsort((passes.pairs[:, 1], passes.pairs[:, 0], -passes.values))
    for i in order:
        a, b = component[passes.pairs[i]]
        if a == b:
            continue
        height = float(passes.values[i])
        a, b = min(a, b), max(a, b)
        joined_size = sizes[a] + sizes[b]
        clusters -= int(sizes[a] >= min_cluster_size) + int(sizes[b] >= min_cluster_size)
        clusters += int(joined_size >= min_cluster_size)
        sizes[a] = joined_size
        component[component == b] = a
        heights.append(height)
        most = max(most, clusters)
        if n_clusters is None:
            if height >= cut:
                chosen = component.copy()
        elif chosen is None and clusters == n_clusters:
            chosen, lowest = component.copy(), height
    return chosen, lowest if n_clusters is not None else cut, heights, most
