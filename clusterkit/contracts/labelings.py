"""Several labellings of the same samples: checked, numbered by first appearance, equal label columns found once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from clusterkit._typing import ArrayLike, Labels
from clusterkit.errors import InvalidData
from clusterkit.numerics.shapes import array

NOISE = -1
"""Label of a sample that belongs to no cluster."""

COUNTED = 2**18
"""Labels that are counted at once: counting sorts a copy of them."""

SPREAD = 4
"""Numbers of clusters over samples up to which a table of all numbers takes the place of sorting."""


@final
@attrs.frozen(eq=False)
class Labelings:
    """M labellings of n samples, and their distinct label columns.

    Two samples that every labelling labels alike cannot be told apart: work on the u columns, weighted by `counts`,
    and give ``labels_of_columns[column_of]``. With ten k-means labellings of 10,000 samples u is some hundreds.

    Parameters
    ----------
    members : ndarray of shape (M, n), int64
        Each labelling numbered from 0 by first appearance, so that the names of its clusters are forgotten; -1 where
        a labelling says nothing. Every sample is labelled by at least one of them.
    columns : ndarray of shape (u, M), int64
        The distinct columns of `members`, in order of appearance.
    column_of : ndarray of shape (n,)
        Index into `columns` of each sample.
    counts : ndarray of shape (u,), int64
        How many samples have it.
    """

    members: Labels
    columns: Labels
    column_of: Labels
    counts: Labels

    @classmethod
    def of(cls, members: Labels) -> Labelings:
        """Labelings (M, n) of ints, -1 for noise; every sample in a cluster of at least one of them.

        O(M n log n).
        """
        numbered = np.stack([by_appearance(member) for member in members])
        code, size = np.zeros(members.shape[1], dtype=np.int64), 1
        for member in numbered:
            radix = int(member.max()) + 2
            if size > 2**62 // radix:
                code = np.unique(code, return_inverse=True)[1]
                size = int(code.max()) + 1
            code = code * radix + (member + 1)
            size *= radix
        _, first, inverse, counts = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        columns = np.ascontiguousarray(numbered[:, first[order]].T)
        return cls(numbered, columns, rank[inverse], counts[order])

    @property
    def n_members(self) -> int:
        """M."""
        return len(self.members)

    @property
    def n_clusters(self) -> Labels:
        """Number of clusters of each member, (M,)."""
        return self.members.max(axis=1) + 1

    @property
    def offsets(self) -> Labels:
        """Number of the first cluster of each member where those of all members are numbered in a row, (M,)."""
        return np.concatenate([[0], np.cumsum(self.n_clusters)[:-1]])

    @property
    def unanimous(self) -> bool:
        """Whether all members are the same partition."""
        return bool((self.members == self.members[0]).all())


def cluster_sizes(labels: Labels) -> dict[int, int]:
    """Number of samples of each cluster, by ascending label; noise is not a cluster.

    Examples
    --------
    >>> cluster_sizes(np.array([2, 0, -1, 2]))
    {0: 1, 2: 2}
    """
    sizes: Counter[int] = Counter()
    for start in range(0, len(labels), COUNTED):
        names, counts = np.unique(labels[start : start + COUNTED], return_counts=True)
        sizes.update(dict(zip(names.tolist(), counts.tolist(), strict=True)))
    return {name: sizes[name] for name in sorted(sizes) if name > NOISE}


def by_appearance(labels: Labels) -> Labels:
    """Labels renumbered from 0 by first appearance; -1 stays.

    Examples
    --------
    >>> import numpy as np
    >>> by_appearance(np.array([7, -1, 3, 7])).tolist()
    [0, -1, 1, 0]
    """
    numbered = np.full(len(labels), NOISE, dtype=np.int64)
    known = np.flatnonzero(labels != NOISE)
    if not len(known):
        return numbered
    names = labels[known].astype(np.int64)
    low, high = int(names.min()), int(names.max())
    if high - low > SPREAD * len(names):
        names = np.unique(names, return_inverse=True)[1]
    else:
        names -= low
    first = np.full(int(names.max()) + 1, -1)
    first[names[::-1]] = np.arange(len(names))[::-1]  # the last of several values stays
    present = np.flatnonzero(first >= 0)
    rank = np.empty(len(first), dtype=np.int64)
    rank[present[np.argsort(first[present])]] = np.arange(len(present))
    numbered[known] = rank[names]
    return numbered


def checked(labelings: ArrayLike | Sequence[ArrayLike], names: Sequence[str] | None = None) -> Labels:
    """Labelings as an int64 array of shape (M, n).

    Parameters
    ----------
    labelings : array-like of shape (M, n), or sequence of M array-likes of shape (n,)
        Whole numbers from 0; -1 is noise: the labelling says nothing about the sample.
    names : sequence of M str, optional
        Names for errors; by default "labelings[0]" and so on.

    Raises
    ------
    InvalidData
        If there is none, if one is empty, not 1-D, not of whole numbers or holds numbers below -1, or if the
        lengths differ.
    """
    if hasattr(labelings, "to_numpy"):  # a table iterates over the names of its columns
        labelings = labelings.to_numpy()
    try:
        parts: list[ArrayLike] = list(labelings)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidData(f"labelings must be a sequence of label vectors, got {labelings!r}") from None
    if not parts:
        raise InvalidData("labelings is empty; at least one labelling is needed")
    called = [f"labelings[{i}]" for i in range(len(parts))] if names is None else list(names)
    if len(called) != len(parts):
        raise InvalidData(f"{len(called)} names are given for {len(parts)} labellings")
    vectors = [_vector(part, name) for part, name in zip(parts, called, strict=True)]
    for other, name in zip(vectors, called, strict=True):
        if len(other) != len(vectors[0]):
            raise InvalidData(
                f"all labellings must be of the same samples: {called[0]} has {len(vectors[0])} labels, "
                f"{name} has {len(other)}"
            )
    return np.stack(vectors)


def _vector(part: ArrayLike, name: str) -> Labels:
    if np.ma.is_masked(part):  # the values under the mask would count as labels
        raise InvalidData(f"{name} has masked values; give -1 where a labelling says nothing")
    try:
        labels = np.asarray(part)
    except ValueError as error:
        raise InvalidData(f"{name} must be a vector of labels: {error}") from None
    if labels.ndim != 1:
        raise InvalidData(f"{name} must be one-dimensional, got shape {labels.shape}: labellings are rows of (M, n)")
    if labels.size == 0:
        raise InvalidData(f"{name} is empty; at least one sample is needed")
    if labels.dtype.kind not in "iuf":
        raise InvalidData(f"{name} has values of type {labels.dtype}; labels must be whole numbers, -1 for noise")
    bad = ~((labels >= NOISE) & (labels < 2**62) & (labels == np.floor(labels)))
    if bad.any():
        position = int(np.argmax(bad))
        raise InvalidData(
            f"{name}[{position}] is {labels[position]}; labels must be whole numbers from 0, or -1 for noise"
        )
    return labels.astype(np.int64)


@final
@attrs.frozen(eq=False)
class ClusterLayer:
    """One of several clusterings of the same samples, from coarse to fine.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Cluster of each sample, numbered by first appearance; -1 is noise.
    strength : float
        How well the layer stands out; the largest of all layers has 1.
    stability : float
        Agreement of independent runs on it, an adjusted Rand index; 1 where nothing is drawn.
    persistence : float
        How far its similarity, or for trees the smallest size of a cluster, may change before clusters merge or part: a
        factor e for 1.
    chosen : bool
        Whether `labels_` of the model are those of the layer.
    """

    labels: Labels = attrs.field(validator=array("n", least=NOISE))
    strength: float
    stability: float
    persistence: float
    chosen: bool

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def sizes(self) -> dict[int, int]:
        """Samples of each cluster."""
        return cluster_sizes(self.labels)


def cluster_limit(n: int, rule: str) -> int:
    """The most clusters of a member of an ensemble: the cube root of n, or the square root, rounded down; at least 2.

    Examples
    --------
    >>> cluster_limit(1000, "cbrt"), cluster_limit(1000, "sqrt"), cluster_limit(5, "cbrt")
    (10, 31, 2)
    """
    # cube roots of cubes may come out just below the whole number
    return max(2, math.isqrt(n) if rule == "sqrt" else math.floor(n ** (1 / 3) + 1e-9))
