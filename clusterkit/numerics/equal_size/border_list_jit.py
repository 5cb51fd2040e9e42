"""The loop of equal clustering over tiles of rows, and the list of rows that borders between cells may pass.

While centres go nearly straight on, most rows are far from where a border will be. A sweep over all rows at the centres
of today and at those foreseen some turns ahead finds the others; only these are swept until the centres have strayed so
far from the way foreseen that it may matter (after Verlet 1967, Computer experiments on classical fluids I, Physical
Review 159, whose lists of neighbours have a skin in the same way). Where centres go so fast that it would not pay, all
rows are swept in every turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit.numerics.equal_size.drift_jit import DOUBT, GOING, finish
from clusterkit.numerics.equal_size.sweep_jit import LOOSE, TILE, count, flatten, pack, scores_of

__all__ = ["LONG", "MOST", "START", "UNSURE", "sweep"]

EPS = float(np.finfo(np.float64).eps)
# What `sweep` keeps between calls: rows listed (-1: no list), turns with the list, turns foreseen, the skin in terms of
# the way foreseen, the part of that way made so far, turns without a list to come, rows that were unsure.
START = (-1.0, 0.0, 4.0, 0.2, 0.0, 1.0, 0.0)
LISTED, LIVED, AHEAD, SKIN, PART, REST, UNSURE = range(7)
# A list costs as much as so many sweeps over all rows; it should serve until sweeps over it have cost about as much.
CHEAP, DEAR = 1.0, 3.0
# No list has more than this part of the rows; it is known after one in so many.
LONG, PROBED = 0.4, 8
# Centres may have this norm in single precision.
MOST = 1e15
# After a list that was not worth it, so many turns pass before the next.
RESTS = 4.0


@njit(fastmath=LOOSE)
def _own(scores: Any, m: Any, best: Any, doubled: Any, own: Any, needed: Any) -> None:
    """The cells of the lowest scores, and the gap to the second that each of these needs."""
    for j in range(m):
        value, mine, need = scores[j], np.int32(j), doubled[j]
        for r in range(TILE):
            lowest = value[r] == best[r]
            own[r] = mine if lowest else own[r]
            needed[r] = need if lowest else needed[r]


@njit(fastmath=LOOSE)
def _keep(best: Any, second: Any, needed: Any, own: Any, other: Any, keep: Any, again: Any) -> None:
    for r in range(TILE):
        near = np.int32(second[r] - best[r] <= needed[r])
        keep[r] = keep[r] | near | np.int32(own[r] != other[r]) if again else near


@njit
def narrow(
    tiles: Any, D: Any, n: Any, weights: Any, offsets: Any, doubled: Any, sizes: Any, room: Any, chosen: Any, rows: Any
) -> Any:
    """Copy rows into tiles `chosen`, their numbers into `rows`, that may change their cell.

    ``weights`` and ``offsets`` are those of `pack` at two times, less the skin of each centre. The others have the same
    cell j by scores that differ by more than ``doubled[j]`` at both; their sizes are added to sizes (m,). Returns how
    many rows were copied, or -1 if they are too many to be worth it.
    """
    scores, best, second, needed = room[3:], room[0], room[1], room[2]
    m = len(sizes)
    own, other, keep = np.empty(TILE, np.int32), np.empty(TILE, np.int32), np.empty(TILE, np.int32)
    copied = 0
    filled = (n + TILE - 1) // TILE
    for b in range(filled):
        if copied > LONG * TILE * (b if b * PROBED >= filled else filled):
            return -1
        for time in range(2):
            scores_of(tiles[b], D, weights[time], offsets[time], scores, best, second)
            other, own = own, other
            _own(scores, m, best, doubled, own, needed)
            _keep(best, second, needed, own, other, keep, time > 0)
        for r in range(min(TILE, n - b * TILE)):
            if keep[r]:
                at, place = copied // TILE, copied % TILE
                rows[copied] = b * TILE + r
                for f in range(tiles.shape[1]):
                    for g in range(4):
                        chosen[at, f, g, place] = tiles[b, f, g, r]
                copied += 1
            else:
                sizes[own[r]] += 1
    for f in range(tiles.shape[1]):
        for g in range(4):
            for place in range(copied % TILE, TILE):
                chosen[copied // TILE, f, g, place] = 0.0
    return copied


@njit
def _stays(F: Any, begin: Any, way: Any, part: Any, radius: Any, near: Any, skins: Any, room: Any) -> Any:
    """Whether no difference of two scores has fallen by more than the two centres' skins.

    Centres F (D, m) were at `begin` and foreseen at ``begin + way``. With the deviation e of a centre from its place l,
    a `part` of the way from 0 to 1, a row x of norm up to `radius` changes its score by ``l · e + |e|² / 2 - x · e``;
    along the way the difference is a parabola that falls below its chord by at most ``|way|² / 8``. Rounding may take
    `near`. Room (D, m).
    """
    D, m = F.shape
    bend = 0.0
    own = np.zeros(m)
    for j in range(m):
        length = 0.0
        for f in range(D):
            place = begin[f, j] + part * way[f, j]
            room[f, j] = F[f, j] - place
            own[j] += (place + 0.5 * room[f, j]) * room[f, j]
            length += way[f, j] ** 2
        bend = max(bend, length)
    near += 0.125 * bend
    for a in range(m):
        for b in range(a):
            allowed = skins[a] + skins[b] - abs(own[a] - own[b]) - near
            square = 0.0
            for f in range(D):
                square += (room[f, a] - room[f, b]) ** 2
            if not (allowed > 0.0 and radius * radius * square < allowed * allowed):
                return False
    return True


@njit
def _skins(way: Any, scale: Any, skins: Any) -> None:
    """`scale` times how far centres go from the others on their way; part of it, the mean for all."""
    D, m = way.shape
    for j in range(m):
        skins[j] = 0.0
    for f in range(D):
        mean = way[f].sum() / m
        for j in range(m):
            skins[j] += (way[f, j] - mean) ** 2
    total = 0.0
    for j in range(m):
        skins[j] = scale * np.sqrt(skins[j])
        total += skins[j]
    for j in range(m):
        skins[j] = 0.7 * skins[j] + 0.3 * total / m


@njit
def _part(F: Any, begin: Any, way: Any) -> Any:
    """The part of the way, from 0 to 1, at which centres F come nearest to it."""
    made, square = 0.0, 0.0
    for f in range(F.shape[0]):
        for j in range(F.shape[1]):
            made += (F[f, j] - begin[f, j]) * way[f, j]
            square += way[f, j] * way[f, j]
    return min(1.0, max(0.0, made / square)) if square > 0.0 else 1.0


@njit
def _foresee(F: Any, before: Any, turns: Any, begin: Any, way: Any, there: Any) -> None:
    for f in range(F.shape[0]):
        for j in range(F.shape[1]):
            begin[f, j] = F[f, j]
            way[f, j] = turns * (F[f, j] - before[f, j])
            there[f, j] = F[f, j] + way[f, j]


@njit
def _rounding(
    longest: Any, radius: Any, d: Any, D: Any, turned: Any, unit: Any, size: Any, stray: Any, off: Any
) -> Any:
    """How much rounding may change the difference of two scores, or of two half squared distances as `count` has them.

    `unit` is the rounding error of the tiles' numbers, `longest` and `radius` the largest norm of a row and of a row in
    the flat, `size` that of a centre there, `stray` and `off` those of `flatten`.
    """
    # a row's own coordinates: rounded once, or sums of d products
    placed = longest * (np.sqrt(D) * (d + 8) if turned else 2.0)
    scores = 4.0 * unit * size * (size + radius * (D + 8) + placed)
    far = longest + size + off
    return scores + 4.0 * stray * far + 4.0 * (d + 16) * EPS * far * far + 1e-36


@njit
def sweep(
    X: Any,
    C: Any,
    sizes: Any,
    tiles: Any,
    every: Any,
    origin: Any,
    axes: Any,
    scale: Any,
    unit: Any,
    norms: Any,
    weights: Any,
    offsets: Any,
    skins: Any,
    doubled: Any,
    chosen: Any,
    rows: Any,
    settled: Any,
    paths: Any,
    rest: Any,
    room: Any,
    plan: Any,
    first: Any,
    last: Any,
    rule: Any,
    ends: Any,
    best: Any,
    heights: Any,
    record: Any,
) -> Any:
    """`line` for centres anywhere: sizes by sweeps over tiles, of all rows or of those in a list.

    ``tiles``, ``origin``, ``scale`` and ``norms`` are those of `lay`, ``axes`` those of `flatten`, ``unit`` is the
    rounding error of the tiles' numbers, ``every`` (n,) the numbers of all rows. ``weights`` (2, …) and ``offsets``
    (3, …) are room for `pack`, ``skins`` and ``doubled`` (m,) for the skins of centres; ``chosen`` like ``tiles`` and
    ``rows`` (n,) for the list, ``settled`` (m,) for the sizes without it; ``paths`` (5, D, m) for centres, ``rest``
    (d, m) and ``room`` (3 more than m made even, TILE) for sums; ``plan`` begins as `START`. It also stops with
    `DOUBT`, where the tiles' numbers decide too little.
    """
    n, d = X.shape
    D, m, turned = paths.shape[1], len(sizes), len(axes) > 0
    longest, radius, near = norms[:, 0].max(), norms[:, 1].max(), np.empty(len(norms))
    F, before, begin, way, apart = paths[0], paths[1], paths[2], paths[3], paths[4]
    delta, steps, shares = np.empty(m), np.empty(m), np.empty((m, m))
    for turn in range(first, last):
        stray, off = flatten(C, origin, axes, scale, F, rest)
        size = pack(F, weights[0], offsets[0])
        if size > MOST and unit > 2.0 * EPS:
            return turn, DOUBT
        for b in range(len(near)):
            near[b] = _rounding(norms[b, 0], norms[b, 1], d, D, turned, unit, size, stray, off)
        least = near.max()
        if plan[LISTED] >= 0.0:
            plan[PART] = _part(F, begin, way)
            if _stays(F, begin, way, plan[PART], radius, least, skins, apart):
                plan[LIVED] += 1.0
            else:
                _learn(plan, n)
        if plan[LISTED] < 0.0 and plan[REST] > 0.0:
            plan[REST] -= 1.0
        elif plan[LISTED] < 0.0:
            _foresee(F, before, plan[AHEAD], begin, way, apart)
            _skins(way, plan[SKIN] * radius, skins)
            longer = max(size, pack(apart, weights[1], offsets[2]))
            unsure = _rounding(longest, radius, d, D, turned, unit, longer, stray, off) + 4.0 * unit * skins.max()
            for j in range(m, offsets.shape[1]):
                offsets[1, j] = np.inf
            for j in range(m):
                offsets[1, j] = offsets[0, j] - skins[j]
                offsets[2, j] -= skins[j]
                doubled[j] = 2.0 * skins[j] + unsure
                settled[j] = 0
            if longer < MOST or unit < 2.0 * EPS:
                plan[LISTED] = narrow(tiles, D, n, weights, offsets[1:], doubled, settled, room, chosen, rows)
            plan[LIVED], plan[PART] = 1.0, 0.0
            if plan[LISTED] < 0.0:
                plan[REST] = RESTS
        for f in range(D):
            for j in range(m):
                before[f, j] = F[f, j]
        short = plan[LISTED] >= 0.0
        for j in range(m):
            sizes[j] = settled[j] if short else 0
        for b in range(len(near)):
            near[b] = least if short else near[b]
        swept, numbers, many = (chosen, rows, int(plan[LISTED])) if short else (tiles, every, n)
        plan[UNSURE] += count(swept, D, numbers, many, X, C, weights[0], offsets[0], near, sizes, room)
        why = finish(turn, n, C, sizes, rule, ends, best, heights, record, shares, delta, steps)
        if why != GOING:
            return turn + 1, why
        if plan[UNSURE] > n + 0.02 * n * turn:
            return turn + 1, DOUBT
    return last, GOING


@njit
def _learn(plan: Any, n: Any) -> None:
    """Give up the list; next time foresee more or less, so that lists and sweeps over them cost about the same."""
    cost = plan[LISTED] / n * plan[LIVED]
    if cost < CHEAP:
        if plan[PART] > 0.95:
            plan[AHEAD] *= 1.6
        else:
            plan[AHEAD] *= 1.1
            plan[SKIN] = min(0.6, 1.3 * plan[SKIN])
    elif cost > DEAR:
        if plan[PART] < 0.6:
            plan[AHEAD] = max(2.0, 0.7 * plan[AHEAD])
        else:
            plan[SKIN] = max(0.05, plan[SKIN] / 1.3)
    plan[REST] = RESTS if plan[LIVED] < 3.0 else 0.0
    plan[LISTED] = -1.0
