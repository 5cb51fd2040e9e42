"""The nearest of few centres for many rows, and the label of the nearest of many labelled rows.

Squared distances to centres need no table: `approach` and its relatives say which centre is nearest, and by how much.
Rows are taken in batches that are transposed first, so that the loops over the rows of a batch become vector
instructions whatever the number of attributes is. What is written for a row depends on that row and the centres alone,
not on the batch, the thread or the block that contains it: parts of a pass may be done anywhere, and anew, with the
same bits. Distances are computed from differences, in the type of the centres.

`LabelledGroups` finds the label of the nearest labelled row, mostly without looking at more than some dozen of them.
`fill` does so for rows outside all clusters, from a matrix of distances.
"""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Labels, Mask
from clusterkit.numerics.gaussian_jit import FAST, distances_to
from clusterkit.numerics.threads import ParallelFor, over_rows

BATCH = 64
"""Rows of a batch: their attributes stay in the first-level cache up to about 60 attributes in float64."""

WIDE = 512
"""Bytes of a row from which on few centres are compared with it as it lies: to transpose a batch of rows of 128
attributes in float64 takes longer than their distances to seven centres."""


def approach(H: Array, centres: Array, first: int, distances: Array, nearest: Labels) -> None:
    """Take further centres into account in the squared distances of rows to the nearest centre, and its number.

    Parameters
    ----------
    H : ndarray of shape (b, L)
    centres : ndarray of shape (c, L)
    first : int
        Number of the first of these centres.
    distances : ndarray of shape (b,)
        Squared distances to the nearest centre so far, in the type of H; infinite before the first centre. Overwritten.
    nearest : ndarray of shape (b,)
        Number of the nearest centre, the lowest on ties. Overwritten.
    """
    H, centres = np.ascontiguousarray(H), np.ascontiguousarray(centres, dtype=H.dtype)
    over_rows(lambda start, stop: _approach(H, start, stop, centres, first, distances, nearest), len(H), centres.size)


def compare(
    H: Array, first: int, index: Indices, centres: Array, distances: Array, over: ParallelFor | None = None
) -> None:
    """Squared distances of some rows to all centres.

    Parameters
    ----------
    H : ndarray of shape (b, L)
    first : int
        Index of the first row of H.
    index : ndarray of shape (r,)
        Indices of the rows to compare, all in H.
    centres : ndarray of shape (c, L)
    distances : ndarray of shape (c, r)
        float64, written.
    over : callable, optional
        Makes the pass, for callers that make many; None: threads of its own.
    """
    H, centres = np.ascontiguousarray(H), np.ascontiguousarray(centres, dtype=H.dtype)
    loop = _compare if H.shape[1] * H.itemsize < WIDE else _compare_wide

    def part(start: int, stop: int) -> None:
        loop(H, first, index, start, stop, centres, distances)

    if over is None:
        over_rows(part, len(index), centres.size)
    else:
        over(part, 0, len(index), centres.size)


@njit
def settle(
    H: Array,
    first: int,
    start: int,
    stop: int,
    centres: Array,
    shrinkage: Array,
    labels: Labels,
    noise: Array,
    safe: Array,
    gap: Array,
    distances: Array,
    movers: Indices,
    nearest: Labels,
    gains: Array,
    ties: Indices,
) -> tuple[int, int]:
    """Find the nearest centre of the rows whose gap is used up, and list those for which it is another one than before.

    The results of a row depend on this row alone, so that ranges may be settled in any thread and in any order.

    Parameters
    ----------
    H : ndarray of shape (b, L)
        Contiguous.
    first : int
        Index of the first row of H.
    start, stop : int
        Indices of the rows to settle, all in H.
    centres : ndarray of shape (k, L)
        Contiguous, float64, as the distances are whatever the type of H.
    shrinkage : ndarray of shape (k,)
        Amount by which the gaps of the rows of each label shrink.
    labels : ndarray of shape (n,)
    noise : ndarray of shape (n,)
        Squared distances of a row below this value count as 0, so that duplicates stay together.
    safe : ndarray of shape (n,)
        Gaps that are larger settle the label of a row.
    gap : ndarray of shape (n,)
        A lower bound of how much farther the second nearest centre is than the nearest; overwritten.
    distances : ndarray of shape (n,)
        Overwritten for the rows looked at: the squared distance to the centre of the label.
    movers, nearest, gains : ndarray of shape (n,)
        From place `start` on: the rows that have another nearest centre than their label, ascending, its number (the
        lowest on ties), and by how much their squared distances fall.
    ties : ndarray of shape (n,)
        From place `start` on: the rows with two nearest centres that are as near up to rounding, ascending.

    Returns
    -------
    n_movers, n_ties : int
    """
    columns, out, error = np.zeros((H.shape[1], BATCH)), np.empty(BATCH), np.zeros(BATCH)
    least, second, of_label = np.empty(BATCH), np.empty(BATCH), np.empty(BATCH)
    number, old = np.empty(BATCH, dtype=np.int64), np.zeros(BATCH, dtype=np.int64)
    index, bounds = np.empty(2 * BATCH, dtype=np.int64), np.empty(BATCH)
    waiting = n_movers = n_ties = 0
    for begin in range(start, stop, BATCH):
        end = min(stop, begin + BATCH)
        for i in range(begin, end):
            bound = gap[i] - shrinkage[labels[i]]
            gap[i] = bound
            index[waiting] = i
            waiting += bound <= safe[i]
        if waiting < BATCH and end < stop:
            continue
        for done in range(0, waiting, BATCH):
            size = min(BATCH, waiting - done)
            if size < BATCH and end < stop:
                break
            for s in range(size):
                i = index[done + s]
                for c in range(H.shape[1]):
                    columns[c, s] = H[i - first, c]
                old[s], error[s] = labels[i], noise[i]
            least[:] = np.inf
            second[:] = np.inf
            number[:] = 0
            for j in range(len(centres)):
                distances_to(centres[j], columns, 0, BATCH, out)
                _two_nearest(out, j, error, old, least, second, of_label, number)
            for s in range(BATCH):
                bounds[s] = np.sqrt(max(second[s] - error[s], 0.0)) - np.sqrt(least[s] + error[s])
            for s in range(size):
                i = index[done + s]
                distances[i], gap[i] = of_label[s], bounds[s]
                movers[start + n_movers], nearest[start + n_movers] = i, number[s]
                gains[start + n_movers] = of_label[s] - least[s]
                n_movers += number[s] != old[s]
                ties[start + n_ties] = i
                n_ties += bounds[s] <= 0.0
        rest = waiting % BATCH if end < stop else 0
        for s in range(rest):
            index[s] = index[waiting - rest + s]
        waiting = rest
    return n_movers, n_ties


@njit
def two_largest(
    products: Array, constants: Array, lengths: Array, noise: Array, labels: Labels
) -> tuple[Labels, Array, Array, Array]:
    """The largest score of each row ``2 h·c - constant - |h|²``, (b, k); no table is kept.

    Parameters
    ----------
    products : ndarray of shape (b, k)
        ``h·c``.
    constants : ndarray of shape (k,)
    lengths : ndarray of shape (b,)
    noise : ndarray of shape (b,)
        Squared distances of a row below this value count as 0.
    labels : ndarray of shape (b,)

    Returns
    -------
    nearest : ndarray of shape (b,)
        Number of the largest score, the lowest on ties.
    current, best : ndarray of shape (b,)
        The score of the label, and the largest one.
    bounds : ndarray of shape (b,)
        A lower bound of how much farther the second nearest centre is than the nearest.
    """
    b, k = products.shape
    nearest, bounds = np.empty(b, dtype=np.int64), np.empty(b)
    current, best, scores = np.empty(b), np.empty(b), np.empty(k)
    for i in range(b):
        for j in range(k):
            score = 2.0 * products[i, j] - constants[j] - lengths[i]
            scores[j] = score if score <= -noise[i] else 0.0
        largest, number = scores[0], 0
        second = scores[0] - np.inf
        for j in range(1, k):
            if scores[j] > largest:
                largest, second, number = scores[j], largest, j
            elif scores[j] > second:
                second = scores[j]
        nearest[i], best[i], current[i] = number, largest, scores[labels[i]]
        bounds[i] = np.sqrt(max(-second - noise[i], 0.0)) - np.sqrt(noise[i] - largest)
    return nearest, current, best, bounds


@njit
def transfer(H: Array, index: Indices, old: Labels, new: Labels, change: Array) -> None:
    """Add the rows `index` (r,) of H to the sums `change` (k, L), float64, of their new classes (r,).

    The rows are subtracted from the sums of their old classes, one after the other, because rounding depends on the
    order.
    """
    for position in range(len(index)):
        row, before, after = H[index[position]], old[position], new[position]
        for c in range(len(row)):
            change[before, c] -= row[c]
            change[after, c] += row[c]


@njit
def add_to_classes(H: Array, labels: Labels, sums: Array) -> None:
    """Add the rows of H (b, L) to the sums (k, L), float64, of their classes, one after the other."""
    for i in range(len(H)):
        row, to = H[i], sums[labels[i]]
        for c in range(len(row)):
            to[c] += row[c]


@njit
def cumulate(distances: Array, noise: Array, sums: Array) -> None:
    """Write the cumulative sums of the distances (n,), where distances up to the noise (n,) of a row count as 0."""
    total = 0.0
    for i in range(len(distances)):
        if distances[i] > noise[i]:
            total += distances[i]
        sums[i] = total


@njit
def reachable(best: Array, labels: Labels, reach: Array, index: Indices) -> int:
    """Write to `index` the rows that are farther from the centre of their label than its reach; return their number.

    `best` and `reach` are squared distances.
    """
    count = 0
    for i in range(len(best)):
        index[count] = i
        count += best[i] > reach[labels[i]]
    return count


@njit
def gains(distances: Array, index: Indices, best: Array) -> Array:
    """Total by which each of c new centres would lower the squared distances `best` of the rows, (c,).

    `distances` (c, r) are the squared distances of the rows `index` (r,) to the new centres.
    """
    total = np.zeros(len(distances))
    for position in range(len(index)):
        for j in range(len(distances)):
            gain = best[index[position]] - distances[j, position]
            total[j] += gain if gain > 0.0 else 0.0
    return total


@njit
def adopt(distances: Array, index: Indices, number: int, best: Array, labels: Labels) -> None:
    """Give some rows the label of a further centre where that is nearer than `best`, and lower this."""
    for position in range(len(index)):
        i = index[position]
        if distances[position] < best[i]:
            best[i], labels[i] = distances[position], number


@njit
def _approach(H: Any, start: Any, stop: Any, centres: Any, first: Any, distances: Any, nearest: Any) -> None:
    columns, out = np.zeros((H.shape[1], BATCH), dtype=H.dtype), np.empty(BATCH, dtype=H.dtype)
    best, number = np.zeros(BATCH, dtype=H.dtype), np.zeros(BATCH, dtype=np.int64)
    for begin in range(start, stop, BATCH):
        size = min(BATCH, stop - begin)
        for s in range(size):
            for c in range(H.shape[1]):
                columns[c, s] = H[begin + s, c]
            best[s], number[s] = distances[begin + s], nearest[begin + s]
        for j in range(len(centres)):
            distances_to(centres[j], columns, 0, BATCH, out)
            _nearer(out, first + j, best, number)
        for s in range(size):
            distances[begin + s], nearest[begin + s] = best[s], number[s]


@njit
def _nearer(out: Any, j: Any, best: Any, number: Any) -> None:
    for s in range(len(out)):
        lower = out[s] < best[s]
        best[s] = out[s] if lower else best[s]
        number[s] = j if lower else number[s]


@njit
def _compare(H: Any, first: Any, index: Any, start: Any, stop: Any, centres: Any, distances: Any) -> None:
    columns, out = np.zeros((H.shape[1], BATCH), dtype=H.dtype), np.empty(BATCH, dtype=H.dtype)
    for begin in range(start, stop, BATCH):
        size = min(BATCH, stop - begin)
        for s in range(size):
            row = H[index[begin + s] - first]
            for c in range(len(row)):
                columns[c, s] = row[c]
        for j in range(len(centres)):
            distances_to(centres[j], columns, 0, BATCH, out)
            for s in range(size):
                distances[j, begin + s] = out[s]


@njit
def _compare_wide(H: Any, first: Any, index: Any, start: Any, stop: Any, centres: Any, distances: Any) -> None:
    last = len(centres) - 1
    for i in range(start, stop):
        row = H[index[i] - first]
        for j in range(0, last + 1, 4):
            a, b, c = min(j + 1, last), min(j + 2, last), min(j + 3, last)
            four = _to_four(row, centres[j], centres[a], centres[b], centres[c])
            distances[j, i], distances[a, i], distances[b, i], distances[c, i] = four


@njit(fastmath=FAST)
def _to_four(row: Any, u: Any, v: Any, w: Any, z: Any) -> Any:
    """Squared distances of a row to four centres; the row is read once."""
    of_u = of_v = of_w = of_z = 0 * row[0]
    for c in range(len(row)):
        to_u, to_v, to_w, to_z = row[c] - u[c], row[c] - v[c], row[c] - w[c], row[c] - z[c]
        of_u += to_u * to_u
        of_v += to_v * to_v
        of_w += to_w * to_w
        of_z += to_z * to_z
    return of_u, of_v, of_w, of_z


@njit(fastmath=FAST)
def _two_nearest(out: Any, j: Any, error: Any, old: Any, least: Any, second: Any, of_label: Any, number: Any) -> None:
    for s in range(len(out)):
        distance = out[s] if out[s] >= error[s] else 0 * out[s]
        lower = distance < least[s]
        runner_up = least[s] if lower else distance
        second[s] = runner_up if runner_up < second[s] else second[s]
        least[s] = distance if lower else least[s]
        number[s] = j if lower else number[s]
        of_label[s] = distance if old[s] == j else of_label[s]


SIZE = 32
"""Largest number of rows of a group: about the square root of the usual number of rows, so that there are as many
groups."""
MARGIN = 1e-9
"""Share of a radius or a distance that bounds leave for rounding."""


@final
@attrs.frozen(eq=False)
class LabelledGroups:
    """Rows in groups of near neighbours with equal labels.

    Parameters
    ----------
    rows : ndarray of shape (u, d), float64
        Sorted by group.
    first : ndarray of shape (g + 1,)
        Index of the first row of each group, and u.
    middles : ndarray of shape (d, g)
        One row of each group, near its middle.
    radius : ndarray of shape (g,)
        Distance from there to the farthest row of the group.
    labels : ndarray of shape (g,)
    """

    rows: Array
    first: Indices
    middles: Array
    radius: Array
    labels: Labels

    @classmethod
    def of(cls, rows: Array, labels: Labels) -> LabelledGroups:
        """The groups of rows (u, d) with labels (u,); O(u d log u)."""
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        groups = [part for label in np.unique(labels) for part in _halved(rows, np.flatnonzero(labels == label))]
        middles, radius = np.empty((len(groups), rows.shape[1])), np.empty(len(groups))
        for i, group in enumerate(groups):
            members = rows[group]
            box = 0.5 * (members.min(axis=0) + members.max(axis=0))
            middles[i] = members[np.argmin(np.square(members - box).sum(axis=1))]
            radius[i] = np.sqrt(np.square(members - middles[i]).sum(axis=1).max())
        order, sizes = np.concatenate(groups), [len(group) for group in groups]
        return cls(
            rows[order],
            np.concatenate([[0], np.cumsum(sizes)]),
            np.ascontiguousarray(middles.T),
            radius * (1.0 + MARGIN),
            labels[order[np.cumsum(sizes) - 1]].astype(np.intp),
        )

    def label(self, Y: Array, reach: float = np.inf) -> tuple[Labels, Mask]:
        """Label of the row nearest to each row of Y (p, d), and whether that is farther than `reach`; (p,) each.

        A group is looked through only if it may hold a nearer row of another label, or decide what `reach` asks. The
        answer for a row depends on that row alone.
        """
        Y = np.ascontiguousarray(Y, dtype=np.float64)
        if Y.shape[1] != len(self.middles):
            raise ValueError(f"rows of {Y.shape[1]} numbers among rows of {len(self.middles)}")
        labels, far = np.empty(len(Y), dtype=np.intp), np.empty(len(Y), dtype=np.bool_)
        parts = (self.rows, self.first, self.middles, self.radius, self.labels)
        over_rows(lambda start, stop: _label(Y, start, stop, *parts, reach, labels, far), len(Y), self.middles.size)
        return labels, far


def _halved(rows: Array, index: Indices) -> list[Indices]:
    """Groups of at most `SIZE` rows: sets are halved along their widest attribute."""
    groups, stack = [], [index]
    while stack:
        part = stack.pop()
        if len(part) <= SIZE:
            groups.append(part)
            continue
        widest = int(np.argmax(np.ptp(rows[part], axis=0)))
        part = part[np.argsort(rows[part, widest], kind="stable")]
        stack += [part[len(part) // 2 :], part[: len(part) // 2]]
    return groups


@njit
def _label(
    Y: Any,
    start: Any,
    stop: Any,
    rows: Any,
    first: Any,
    middles: Any,
    radius: Any,
    group_labels: Any,
    reach: Any,
    labels: Any,
    far: Any,
) -> None:
    count = len(radius)
    bound, done = np.empty(count), np.empty(count, dtype=np.bool_)
    for i in range(start, stop):
        y = Y[i]
        distances_to(y, middles, 0, count, bound)
        least, label = bound[0], group_labels[0]
        for g in range(1, count):
            if bound[g] < least:
                least, label = bound[g], group_labels[g]
        least = np.sqrt(least)
        for g in range(count):
            bound[g] = np.sqrt(bound[g]) * (1.0 - MARGIN) - radius[g]
            done[g] = False
        again = True
        while again:  # until no group of another label can hold a nearer row
            again = False
            for g in range(count):
                if group_labels[g] != label and not done[g] and bound[g] < least:
                    # rows of the same label may be nearer still, and spare this group
                    for h in range(count):
                        if group_labels[h] == label and not done[h] and bound[h] < least:
                            least, done[h] = _nearest_in(y, rows, first[h], first[h + 1], least), True
                    if bound[g] < least:
                        nearer, done[g] = _nearest_in(y, rows, first[g], first[g + 1], least), True
                        if nearer < least:
                            least, label, again = nearer, group_labels[g], True
                            break
        for g in range(count):
            if least > reach and not done[g] and bound[g] <= reach:
                least, done[g] = _nearest_in(y, rows, first[g], first[g + 1], least), True
        labels[i], far[i] = label, least > reach


@njit
def _nearest_in(y: Any, rows: Any, begin: Any, end: Any, least: Any) -> Any:
    """The distance from y to the nearest of some rows, or `least` if all are farther."""
    limit = least * least
    for r in range(begin, end):
        total = 0.0
        for c in range(len(y)):
            difference = y[c] - rows[r, c]
            total += difference * difference
        if total < limit:
            limit = total
            least = np.sqrt(total)
    return least


@njit
def fill(labels: Any, D: Any) -> Any:
    """Labels (m,) with every -1 replaced by the label of the nearest row that has one; `D` (m, m) has the distances.

    O(m) for each row labelled -1; ties go to the lowest index.
    """
    m = len(labels)
    filled = labels.copy()
    for i in range(m):
        if labels[i] < 0:
            least = math.inf
            for j in range(m):
                if labels[j] >= 0 and D[i, j] < least:
                    least = D[i, j]
                    filled[i] = labels[j]
    return filled
