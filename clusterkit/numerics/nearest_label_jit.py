"""The label of the nearest of many labelled rows, mostly without looking at more than some dozen of them."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Labels, Mask
from clusterkit.numerics.gaussian_jit import distances_to
from clusterkit.numerics.threads import over_rows

__all__ = ["LabelledGroups"]

SIZE = 32
"""Most rows of a group: about the square root of the usual number of rows, so that there are as many groups."""
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
        Where each group begins, and u.
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
