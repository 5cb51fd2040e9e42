"""The loop of equal clustering over tiles of rows, and the list of rows that may change their centre.

While the centres move nearly straight on, most rows are far from where a border between two centres will be. A sweep
over all rows, at the present centres and at those extrapolated some iterations ahead, finds the other rows. Only these
are swept until the centres have deviated so far from the extrapolated path that a row outside the list might change its
centre. (Verlet 1967, Computer experiments on classical fluids I, Physical Review 159, keeps lists of neighbours with a
margin in the same way; 8,000 blobs in 20 parts are 1.8 times as fast.) If the centres move too fast for a list to pay,
all rows are swept in every iteration.

`run_with_tiles` is the loop, `_stays` the proof that a list is still complete, `narrow` makes a list, and `_learn`
adapts how far ahead the next one looks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices
from clusterkit.numerics.equal_size.drift_jit import (
    DOUBT,
    GOING,
    LOOSE,
    TILE,
    DriftRecord,
    DriftSettings,
    TiledRows,
    finish,
    flatten,
    pack,
    scores_of,
    tally,
    tally_near,
    update_room,
)

__all__ = ["LONGEST", "MOST", "BorderList", "SweepRoom", "first_plan", "run_with_tiles"]

EPS = float(np.finfo(np.float64).eps)
"""Relative rounding error of double precision."""
CHEAP, DEAR = 1.0, 3.0
"""To make a list costs about two sweeps over all rows. It should serve until the sweeps over its rows have cost about
as much: between these numbers of full sweeps."""
LONGEST, CHECKED = 0.4, 8
"""A list with more than this share of the rows does not pay. The share is checked after one tile in `CHECKED`, so that
a list that becomes too long costs no full sweep."""
MOST = 1e15
"""Largest norm of a centre in single precision: its square stays far below the largest number, 3e38."""
PAUSE = 4.0
"""Iterations without a list after one that did not pay."""

PLAN = np.dtype(
    (np.record, [(name, "f8") for name in ("length", "age", "ahead", "margin", "progress", "pause", "unsure")])
)
"""The state of a list between two calls, a record that the loop changes in place:

- ``length``: rows in the list, -1 if there is none;
- ``age``: iterations it has served;
- ``ahead``: iterations that the next list extrapolates;
- ``margin``: margin of a centre, relative to the length of its extrapolated path;
- ``progress``: share of that path, from 0 to 1, made so far;
- ``pause``: iterations without a list still to come;
- ``unsure``: rows counted in double precision so far.
"""


def first_plan(unsure: float) -> np.void:
    """The plan of a new start; ``unsure=-inf`` never gives up the tiles' precision.

    The plan extrapolates 4 iterations with a margin of 0.2. Its first iteration has no list: it gives the direction.
    """
    plan: Any = np.zeros(1, dtype=PLAN)[0]
    plan.length, plan.ahead, plan.margin, plan.pause, plan.unsure = -1.0, 4.0, 0.2, 1.0, unsure
    return plan


class BorderList(NamedTuple):
    """The rows that may change their centre, and the cluster sizes that the other rows contribute.

    Parameters
    ----------
    tiles : ndarray of shape (b, ceil(D / 4), 4, TILE)
        Room for the listed rows, like `TiledRows.tiles`.
    numbers : int32 ndarray of shape (n,)
        Numbers of the listed rows.
    sizes : integer ndarray of shape (m,)
        Sizes that the other rows contribute.
    margins : ndarray of shape (m,)
        How far each centre may deviate from its extrapolated path.
    gaps : ndarray of shape (m,)
        A row is left out only if the second lowest score exceeds the lowest, that of centre j, by more than
        ``gaps[j]``.
    """

    tiles: Array
    numbers: Indices
    sizes: Counts
    margins: Array
    gaps: Array


class SweepRoom(NamedTuple):
    """Work space of the loop.

    Parameters
    ----------
    centres, previous : ndarray of shape (D, m)
        The centres of this and of the previous iteration, in the coordinates of the tiles.
    begin, path : ndarray of shape (D, m)
        The centres when the list was made, and the extrapolated path from there.
    spare : ndarray of shape (D, m)
    weights : ndarray of shape (2, ceil(m / 2), ceil(D / 4), 2, 4)
        Two sets of centres as `pack` arranges them: the present and the extrapolated ones.
    offsets : ndarray of shape (3, m made even)
        Offsets of the centres: present; present minus the margins; extrapolated minus the margins.
    rest : ndarray of shape (d, m)
    scores : ndarray of shape (3 more than m made even, TILE)
    """

    centres: Array
    previous: Array
    begin: Array
    path: Array
    spare: Array
    weights: Array
    offsets: Array
    rest: Array
    scores: Array


@njit(fastmath=LOOSE)
def _nearest_and_gaps(scores, m, best, gaps, nearest, needed):
    """Write the centre with the lowest score of each row, and the gap to the second score that this centre needs."""
    for j in range(m):
        value, number, gap = scores[j], np.int32(j), gaps[j]
        for r in range(TILE):
            lowest = value[r] == best[r]
            nearest[r] = number if lowest else nearest[r]
            needed[r] = gap if lowest else needed[r]


@njit(fastmath=LOOSE)
def _mark(best, second, needed, nearest, other, listed, again):
    """Mark rows whose gap is too small; the second time (`again`) also rows with another centre than the first time."""
    for r in range(TILE):
        near = np.int32(second[r] - best[r] <= needed[r])
        listed[r] = listed[r] | near | np.int32(nearest[r] != other[r]) if again else near


@njit
def narrow(rows: TiledRows, border: BorderList, room: SweepRoom):
    """Copy the rows that may change their centre into the list.

    ``room.weights`` and ``room.offsets[1:]`` are the centres at both ends of the extrapolated path, less their margins.
    A row left out has the same centre j at both, and every other score is more than ``border.gaps[j]`` higher; it is
    added to ``border.sizes``. Returns the length of the list, or -1 if it is too long to pay.
    """
    scores, best, second, needed = room.scores[3:], room.scores[0], room.scores[1], room.scores[2]
    tiles, chosen, numbers, sizes, gaps = rows.tiles, border.tiles, border.numbers, border.sizes, border.gaps
    weights, offsets = room.weights, room.offsets[1:]
    n, D, m = len(rows.numbers), room.centres.shape[0], len(sizes)
    nearest, other, listed = np.empty(TILE, np.int32), np.empty(TILE, np.int32), np.empty(TILE, np.int32)
    length = 0
    filled = (n + TILE - 1) // TILE
    for b in range(filled):
        if length > LONGEST * TILE * (b if b * CHECKED >= filled else filled):
            return -1
        for time in range(2):
            scores_of(tiles[b], D, weights[time], offsets[time], scores, best, second)
            other, nearest = nearest, other
            _nearest_and_gaps(scores, m, best, gaps, nearest, needed)
            _mark(best, second, needed, nearest, other, listed, time > 0)
        for r in range(min(TILE, n - b * TILE)):
            if listed[r]:
                tile, place = length // TILE, length % TILE
                numbers[length] = rows.numbers[b * TILE + r]
                for f in range(tiles.shape[1]):
                    for g in range(4):
                        chosen[tile, f, g, place] = tiles[b, f, g, r]
                length += 1
            else:
                sizes[nearest[r]] += 1
    for f in range(tiles.shape[1]):
        for g in range(4):
            for place in range(length % TILE, TILE):
                chosen[length // TILE, f, g, place] = 0.0
    return length


@njit
def _stays(room: SweepRoom, progress, radius, near, margins):
    """Whether no difference of two scores has fallen by more than the margins of the two centres.

    The centres were at ``room.begin`` and are expected at ``room.begin + progress * room.path``. Let e be the deviation
    of a centre from its expected place l. A row x of norm up to `radius` then changes its score by ``l · e + |e|² / 2 -
    x · e``; along the path the difference of two scores is a parabola that falls below its chord by at most ``|path|² /
    8``. Rounding may take `near`. O(D m²).
    """
    centres, begin, path, deviation = room.centres, room.begin, room.path, room.spare
    D, m = centres.shape
    bend = 0.0
    constants = np.zeros(m)
    for j in range(m):
        length = 0.0
        for f in range(D):
            place = begin[f, j] + progress * path[f, j]
            deviation[f, j] = centres[f, j] - place
            constants[j] += (place + 0.5 * deviation[f, j]) * deviation[f, j]
            length += path[f, j] ** 2
        bend = max(bend, length)
    near += 0.125 * bend
    for a in range(m):
        for b in range(a):
            allowed = margins[a] + margins[b] - abs(constants[a] - constants[b]) - near
            square = 0.0
            for f in range(D):
                square += (deviation[f, a] - deviation[f, b]) ** 2
            if not (allowed > 0.0 and radius * radius * square < allowed * allowed):
                return False
    return True


@njit
def _set_margins(path, scale, margins):
    """Write the margins: `scale` times the length of each path less the mean path, mixed with 30 % of the average."""
    D, m = path.shape
    for j in range(m):
        margins[j] = 0.0
    for f in range(D):
        mean = path[f].sum() / m
        for j in range(m):
            margins[j] += (path[f, j] - mean) ** 2
    total = 0.0
    for j in range(m):
        margins[j] = scale * np.sqrt(margins[j])
        total += margins[j]
    for j in range(m):
        margins[j] = 0.7 * margins[j] + 0.3 * total / m


@njit
def _progress(centres, begin, path):
    """Share of the extrapolated path, from 0 to 1, at which its point is nearest to the present centres."""
    along, square = 0.0, 0.0
    for f in range(centres.shape[0]):
        for j in range(centres.shape[1]):
            along += (centres[f, j] - begin[f, j]) * path[f, j]
            square += path[f, j] * path[f, j]
    return min(1.0, max(0.0, along / square)) if square > 0.0 else 1.0


@njit
def _extrapolate(room: SweepRoom, iterations):
    """Continue the last move of the centres for a number of iterations; the place reached is left in ``room.spare``."""
    centres, previous, begin, path, end = room.centres, room.previous, room.begin, room.path, room.spare
    for f in range(centres.shape[0]):
        for j in range(centres.shape[1]):
            begin[f, j] = centres[f, j]
            path[f, j] = iterations * (centres[f, j] - previous[f, j])
            end[f, j] = centres[f, j] + path[f, j]


@njit
def _rounding(longest, radius, d, D, rotated, unit, size, stray, off):
    """Bound on the rounding error of the difference of two scores, or of two half squared distances in `count`.

    `unit` is the rounding error of the tiles' numbers, `longest` and `radius` the largest norm of a row before and
    after the projection on the hull, `size` the largest norm of a centre there, `stray` and `off` the values of
    `flatten`.
    """
    # a row's coordinates are rounded once, or are sums of d products
    placed = longest * (np.sqrt(D) * (d + 8) if rotated else 2.0)
    scores = 4.0 * unit * size * (size + radius * (D + 8) + placed)
    far = longest + size + off
    return scores + 4.0 * stray * far + 4.0 * (d + 16) * EPS * far * far + 1e-36


@njit
def _make_list(rows: TiledRows, border: BorderList, room: SweepRoom, plan, d, size, stray, off):
    """Extrapolate the centres and list the rows that may change their centre on the way, unless they are too many.

    `size` is the largest norm of a centre, `stray` and `off` the values of `flatten`; `plan` is changed in place.
    """
    margins, offsets = border.margins, room.offsets
    D, m = room.centres.shape
    longest, radius = rows.norms[:, 0].max(), rows.norms[:, 1].max()
    _extrapolate(room, plan.ahead)
    _set_margins(room.path, plan.margin * radius, margins)
    longer = max(size, pack(room.spare, room.weights[1], offsets[2]))
    rotated = len(rows.axes) > 0
    unsure = _rounding(longest, radius, d, D, rotated, rows.unit, longer, stray, off) + 4.0 * rows.unit * margins.max()
    for j in range(m, offsets.shape[1]):
        offsets[1, j] = np.inf
    for j in range(m):
        offsets[1, j] = offsets[0, j] - margins[j]
        offsets[2, j] -= margins[j]
        border.gaps[j] = 2.0 * margins[j] + unsure
        border.sizes[j] = 0
    if longer < MOST or rows.unit < 2.0 * EPS:
        plan.length = narrow(rows, border, room)
    plan.age, plan.progress = 1.0, 0.0
    if plan.length < 0.0:
        plan.pause = PAUSE


@njit
def _learn(plan, n):
    """Drop the list and adapt how far ahead the next one extrapolates: making lists should cost as much as sweeps."""
    cost = plan.length / n * plan.age
    if cost < CHEAP:
        if plan.progress > 0.95:
            plan.ahead *= 1.6
        else:
            plan.ahead *= 1.1
            plan.margin = min(0.6, 1.3 * plan.margin)
    elif cost > DEAR:
        if plan.progress < 0.6:
            plan.ahead = max(2.0, 0.7 * plan.ahead)
        else:
            plan.margin = max(0.05, plan.margin / 1.3)
    plan.pause = PAUSE if plan.age < 3.0 else 0.0
    plan.length = -1.0


@njit
def run_with_tiles(
    X,
    C,
    sizes,
    rows: TiledRows,
    border: BorderList,
    room: SweepRoom,
    plan,
    first,
    last,
    settings: DriftSettings,
    record: DriftRecord,
):
    """`drift_jit.run_on_line` for centres anywhere: sizes are counted by sweeps over all rows or over a list of them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    C : ndarray of shape (d, m)
        Centres; moved in place.
    sizes : integer ndarray of shape (m,)
        Sizes of the last iteration, written in place.
    rows : TiledRows
    border : BorderList
    room : SweepRoom
    plan : record of type PLAN
        Changed in place.
    first, last : int
    settings : DriftSettings
    record : DriftRecord

    Returns
    -------
    int
        Iterations finished since the start.
    int
        Why the loop stopped. `DOUBT`: more than one row per row and 2 % of the rows per iteration needed double
        precision, or the centres have left the range of single precision.
    """
    n, d = X.shape
    D, m, rotated = room.centres.shape[0], len(sizes), len(rows.axes) > 0
    norms, unit = rows.norms, rows.unit
    radius, near = norms[:, 1].max(), np.empty(len(norms))
    update = update_room(m)
    centres, previous, begin, path = room.centres, room.previous, room.begin, room.path
    weights, offsets, scores = room.weights[0], room.offsets[0], room.scores
    for iteration in range(first, last):
        stray, off = flatten(C, rows, centres, room.rest)
        size = pack(centres, weights, offsets)
        if size > MOST and unit > 2.0 * EPS:
            return iteration, DOUBT
        for b in range(len(near)):
            near[b] = _rounding(norms[b, 0], norms[b, 1], d, D, rotated, unit, size, stray, off)
        largest = near.max()
        if plan.length >= 0.0:
            plan.progress = _progress(centres, begin, path)
            if _stays(room, plan.progress, radius, largest, border.margins):
                plan.age += 1.0
            else:
                _learn(plan, n)
        if len(rows.reach):
            pass  # few centres are near a tile, and a list would not pay
        elif plan.length < 0.0 and plan.pause > 0.0:
            plan.pause -= 1.0
        elif plan.length < 0.0:
            _make_list(rows, border, room, plan, d, size, stray, off)
        for f in range(D):
            for j in range(m):
                previous[f, j] = centres[f, j]
        if plan.length >= 0.0:
            tiles, numbers, length = border.tiles, border.numbers, int(plan.length)
            for j in range(m):
                sizes[j] = border.sizes[j]
            for b in range(len(near)):
                near[b] = largest
        else:
            tiles, numbers, length = rows.tiles, rows.numbers, n
            for j in range(m):
                sizes[j] = 0
        if len(rows.reach):
            plan.unsure += tally_near(rows, centres, X, C, weights, offsets, near, sizes, scores)
        else:
            plan.unsure += tally(tiles, D, numbers, length, X, C, weights, offsets, near, sizes, scores)
        why = finish(iteration, n, C, sizes, settings, record, update)
        if why != GOING:
            return iteration + 1, why
        if plan.unsure > n + 0.02 * n * iteration:
            return iteration + 1, DOUBT
    return last, GOING
