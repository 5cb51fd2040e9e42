"""Passes between the equilibria of a Gaussian kernel sum: saddle points, and the tree of the highest passes."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.progress import Report, tell
from clusterkit.level_sets.equilibria import Ascent, Basins, curvatures, extended
from clusterkit.numerics.neighbours import unique_pairs

__all__ = ["Passes", "border_pairs", "components_above", "highest_passes", "neighbour_pairs", "saddle_near"]

TURNS = 100
STRIDE = 0.25
"""Longest step of the saddle search, in units of 1 / sqrt(gamma)."""
SOFTEST = 1e-3
"""Curvatures nearer to 0 are taken as this, or a Newton step would have no length."""
STILL = 1e-9
"""Length of the gradient of log g at a saddle point."""
LINES_AT_A_TIME = 1024
REFINEMENTS = (11, 11, 11)
"""Samples about the lowest point of a line, each time over the two intervals beside it."""
BORDER_SAMPLES = 8
"""Pairs of near samples tried for each two basins."""
BORDER_POINTS = 3
"""Samples on the line between near samples."""


@final
@attrs.frozen(eq=False)
class Passes:
    """Ways between equilibria on which the sum does not fall below a value.

    Parameters
    ----------
    pairs : ndarray of shape (e, 2)
        Equilibria.
    values : ndarray of shape (e,)
        Lowest value on the way.
    saddles : ndarray of shape (e, d)
        The saddle point, scaled; for a way over a straight line its lowest point.
    """

    pairs: Array
    values: Array
    saddles: Array


def neighbour_pairs(points: Array, neighbors: int) -> Array:
    """Pairs (e, 2), i < j, of points (M, d): each with its nearest `neighbors`, and a shortest spanning tree.

    The tree makes sure that every point is reached from every other.
    """
    from scipy.spatial.distance import cdist

    count = len(points)
    if count - 1 <= neighbors:
        return np.stack(np.triu_indices(count, 1), axis=1)
    pairs = []
    nearest, parent = np.full(count, np.inf), np.zeros(count, dtype=np.intp)
    inside, last = np.zeros(count, dtype=bool), 0
    for step in range(count):
        inside[last] = True
        distances = cdist(points[last : last + 1], points)[0]
        distances[last] = np.inf
        for j in np.argsort(distances, kind="stable")[:neighbors]:
            pairs.append((last, j))
        closer = ~inside & (distances < nearest)
        nearest[closer], parent[closer] = distances[closer], last
        if step < count - 1:
            last = int(np.argmin(np.where(inside, np.inf, nearest)))
            pairs.append((last, parent[last]))
    return unique_pairs(np.array(pairs, dtype=np.intp), count)[0]


def border_pairs(ascent: Ascent, rows: Array, of_row: Array, neighbors: int) -> tuple[Array, Array]:
    """Near samples in different basins: indices (e, 2) of scaled rows (u, d), and the basins (e, 2), the lower first.

    For each two basins that share a border, of the pairs of nearest neighbours across it those `BORDER_SAMPLES` whose
    lower sample is highest.
    """
    from scipy.spatial import cKDTree

    k = min(neighbors + 1, len(rows))
    near = cKDTree(rows).query(rows, k=k)[1].reshape(len(rows), k)
    pairs = np.stack([np.repeat(np.arange(len(rows)), k), near.reshape(-1)], axis=1)
    pairs = pairs[of_row[pairs[:, 0]] != of_row[pairs[:, 1]]]
    if not len(pairs):
        return pairs, pairs
    pairs, _ = unique_pairs(pairs, len(rows))
    basins = of_row[pairs]
    turned = basins[:, 0] > basins[:, 1]
    pairs[turned], basins[turned] = pairs[turned, ::-1], basins[turned, ::-1]
    values = np.zeros(len(rows))
    used = np.unique(pairs)
    values[used] = ascent.values(rows[used])
    order = np.lexsort((-values[pairs].min(axis=1), basins[:, 1], basins[:, 0]))
    pairs, basins = pairs[order], basins[order]
    first = np.flatnonzero(np.r_[True, (basins[1:] != basins[:-1]).any(axis=1)])
    rank = np.arange(len(pairs)) - np.repeat(first, np.diff(np.r_[first, len(pairs)]))
    return pairs[rank < BORDER_SAMPLES], basins[rank < BORDER_SAMPLES]


def highest_passes(
    ascent: Ascent, basins: Basins, rows: Array, of_row: Array, m: int, neighbors: int, stage: str
) -> tuple[Basins, Passes]:
    """Passes between neighbouring equilibria, and the basins with equilibria that were met on the way.

    Parameters
    ----------
    ascent : Ascent
    basins : Basins
    rows : ndarray of shape (u, d)
        Samples, scaled.
    of_row : ndarray of shape (u,)
        Their equilibria.
    m : int
        Samples a line; from its lowest point starts a saddle search.
    neighbors : int
    stage : str
        Name for progress reports.

    Notes
    -----
    A line between two equilibria is a way like any other, and so is the ascent from one sample, the line to a near
    one, and its ascent, reversed. Their lowest points count along with what the searches find, so that a search that
    fails separates nobody, and one component is always possible.
    """
    pairs = neighbour_pairs(basins.points, neighbors)
    if not len(pairs):
        return basins, Passes(pairs.reshape(0, 2), np.empty(0), np.empty((0, basins.points.shape[1])))
    lowest, values = _lowest(ascent, basins.points[pairs[:, 0]], basins.points[pairs[:, 1]], m)
    ends, borders = border_pairs(ascent, rows, of_row, neighbors)
    if len(ends):
        border_lowest, border_values = _lowest(ascent, rows[ends[:, 0]], rows[ends[:, 1]], BORDER_POINTS)
        order = np.lexsort((-border_values, borders[:, 1], borders[:, 0]))
        best = order[np.unique(borders[order], axis=0, return_index=True)[1]]
        pairs = np.concatenate([pairs, borders[best]])
        lowest = np.concatenate([lowest, border_lowest[best]])
        values = np.concatenate([values, border_values[best]])
    found, heights, places = [pairs], [values], [lowest]
    for turn, start in enumerate(lowest):
        saddle = saddle_near(ascent, start)
        if saddle is not None:
            point, direction = saddle
            sides = point + ascent.merge * np.stack([direction, -direction])
            basins, reached = extended(ascent, basins, sides)
            if reached[0] != reached[1]:
                found.append(np.sort(reached)[None])
                heights.append(ascent.values(point[None]))
                places.append(point[None])
        if turn % 64 == 63 or turn == len(lowest) - 1:
            tell(Report(stage, turn + 1, len(lowest)))
    return basins, Passes(np.concatenate(found), np.concatenate(heights), np.concatenate(places))


def _lowest(ascent: Ascent, starts: Array, ends: Array, m: int) -> tuple[Array, Array]:
    """The lowest point of each line, (e, d) and (e, d) to (e, d), and its value: of m samples, then finer ones."""
    lowest, values = np.empty(starts.shape), np.empty(len(starts))
    for first in range(0, len(starts), LINES_AT_A_TIME):
        rows = slice(first, first + LINES_AT_A_TIME)
        a, b = starts[rows], ends[rows]
        at, width = np.full(len(a), 0.5), 0.5
        for samples in (m + 2, *REFINEMENTS):
            grid = np.clip(at[:, None] + width * np.linspace(-1.0, 1.0, samples), 0.0, 1.0)
            along = a[:, None] + grid[:, :, None] * (b - a)[:, None]
            sums = ascent.values(along.reshape(-1, a.shape[1])).reshape(grid.shape)
            least = np.argmin(sums, axis=1)[:, None]
            at, width = np.take_along_axis(grid, least, axis=1)[:, 0], 2.0 * width / (samples - 1)
            values[rows] = np.take_along_axis(sums, least, axis=1)[:, 0]
        lowest[rows] = a + at[:, None] * (b - a)
    return lowest, values


def saddle_near(ascent: Ascent, start: Array) -> tuple[Array, Array] | None:
    """A transition point and its direction of ascent, both (d,), scaled; None if the search leads to none.

    Newton steps on the gradient of log g in the basis of its Hessian, up along every eigenvector but the one of the
    largest eigenvalue, down along that; no longer than `STRIDE`. A transition point has exactly one direction in
    which the sum is convex. O(s d² + d³) a step.
    """
    x = start.copy()
    for _ in range(TURNS):
        curvature, directions, pull = curvatures(ascent, x)
        if np.linalg.norm(pull) <= STILL:
            saddle = curvature[-1] > STILL and (len(x) == 1 or curvature[-2] < -STILL)
            return (x, directions[:, -1]) if saddle else None
        along = directions.T @ pull
        move = along / np.maximum(np.abs(curvature), SOFTEST)
        move[-1] = -move[-1]
        x = x + directions @ (move * min(1.0, STRIDE / float(np.linalg.norm(move))))
    return None


def components_above(
    passes: Passes, count: int, cut: float, clusters: int | None, size: Array, least: int
) -> tuple[Array | None, float, list[float], int]:
    """Components of the equilibria, joined over the highest passes first.

    Parameters
    ----------
    passes : Passes
    count : int
        Number of equilibria.
    cut : float
        Passes at least that high join.
    clusters : int or None
        Instead of the cut: join until this number of components has `least` samples.
    size : ndarray of shape (count,)
        Samples of each equilibrium.
    least : int

    Returns
    -------
    component : ndarray of shape (count,), or None
        None if no cut gives that many clusters.
    cut : float
        The lowest pass used (inf if none was), or the cut that was given.
    heights : list of float
        Of the passes of the whole tree, falling.
    most : int
        Most components with `least` samples at any cut.
    """
    part = np.arange(count)
    weight = size.astype(np.float64)
    alive = int((weight >= least).sum())
    most, heights, lowest = alive, [], np.inf
    chosen = part.copy() if clusters is None or alive == clusters else None
    order = np.lexsort((passes.pairs[:, 1], passes.pairs[:, 0], -passes.values))
    for i in order:
        a, b = part[passes.pairs[i]]
        if a == b:
            continue
        height = float(passes.values[i])
        a, b = min(a, b), max(a, b)
        alive -= int(weight[a] >= least) + int(weight[b] >= least) - int(weight[a] + weight[b] >= least)
        weight[a] += weight[b]
        part[part == b] = a
        heights.append(height)
        most = max(most, alive)
        if clusters is None:
            if height >= cut:
                chosen = part.copy()
        elif chosen is None and alive == clusters:
            chosen, lowest = part.copy(), height
    return chosen, lowest if clusters is not None else cut, heights, most
