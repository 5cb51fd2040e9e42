"""A sample of rows in which small clusters are not lost, with weights that undo their larger share."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng

__all__ = ["GroupedSample", "draw"]

FEWEST = 200
"""Rows of a cluster below which it is sampled more densely than the others: the standard error of a share is then at
most .035."""


@final
@attrs.frozen(eq=False)
class GroupedSample:
    """Sampled rows, sorted by cluster; the rows of one cluster have one weight.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        Indices of the rows; those of a cluster lie together, in ascending order.
    names : ndarray of shape (g,)
        Labels of the groups, ascending; -1, if there is noise, comes first.
    starts : ndarray of shape (g + 1,)
        Group j has the rows ``starts[j]:starts[j + 1]``.
    sizes : ndarray of shape (g,)
        Rows of the whole data in each group.
    """

    rows: Indices
    names: Labels
    starts: Indices
    sizes: Indices

    @property
    def counts(self) -> Indices:
        """Sampled rows of each group, (g,)."""
        return np.diff(self.starts)

    @property
    def weights(self) -> Array:
        """How many rows of the data each sampled row stands for, (m,); 1 if all rows are sampled."""
        return np.repeat(self.sizes / self.counts, self.counts)

    @property
    def alike(self) -> Array:
        """Weights with which every cluster counts alike, (m,); noise counts only where there is one cluster."""
        weights = np.repeat(1.0 / self.counts, self.counts)
        if (self.names >= 0).sum() > 1:
            weights[self.names[self.group] < 0] = 0.0
        return weights

    @property
    def group(self) -> Indices:
        """Group of each sampled row, (m,)."""
        return np.repeat(np.arange(len(self.names)), self.counts)

    def part(self, j: int) -> slice:
        """Where the rows of group j are."""
        return slice(int(self.starts[j]), int(self.starts[j + 1]))


def draw(labels: Labels, max_rows: int, rng: Rng) -> GroupedSample:
    """Sample about `max_rows` rows, each cluster in proportion to its size but at least 200 of its rows.

    With up to `max_rows` rows all are taken. Many clusters with fewer than 200 sampled rows share `max_rows` equally.
    O(n log n) for n labels.
    """
    order = np.argsort(labels, kind="stable")
    names, first, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    if len(labels) > max_rows:
        least = np.minimum(sizes, min(FEWEST, max(max_rows // len(names), 1)))
        counts = np.maximum(sizes * max_rows // len(labels), least)
        parts = [
            np.sort(rng.choice(order[start : start + size], count, replace=False))
            for start, size, count in zip(first, sizes, counts, strict=True)
        ]
        order, first = np.concatenate(parts), np.concatenate([[0], np.cumsum(counts)[:-1]])
    return GroupedSample(order, names, np.append(first, len(order)), sizes)
