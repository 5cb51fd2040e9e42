"""Balanced random labels."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng, Rows
from clusterkit.core import sums
from clusterkit.core.namespaces import BlockFunction
from clusterkit.core.params import choice
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import BlockLabels, Partitioner, Task

__all__ = ["Random"]


@final
@attrs.frozen
class Random(Partitioner["Space | Rows"]):
    """A random partition into parts of equal size.

    The start of methods with many starts, and the baseline of the min-max modular SVM. It is poor as the only start,
    because it does not use the data. O(n).

    Parameters
    ----------
    leftover : {"spread", "last"}, default "spread"
        Where the n mod k samples go that are left over when every part has n // k: one each to the first parts, so that
        sizes differ by at most one, or all to the last part, as in the random partition of the min-max modular network.

    Notes
    -----
    Sources: Zhang, Xia, Liu & Zhang (2013), section on initialisation; Wen, Lu, Zhao (2005), Equal clustering makes
    min-max modular support vector machine more efficient, for ``leftover="last"``.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(Random().partition(np.zeros((8, 2)), Task(8, 3), np.random.default_rng(0)))
    array([3, 3, 2])
    >>> np.bincount(Random("last").partition(np.zeros((11, 2)), Task(11, 3), np.random.default_rng(0)))
    array([3, 3, 5])
    """

    name: ClassVar[str] = "random"
    weighted: ClassVar[bool] = True  # it looks at nothing but the number of rows

    leftover: str = choice("spread", ("spread", "last"))

    def partition(self, samples: Space | Rows, task: Task, rng: Rng) -> Labels:
        """Shuffled labels; only the number of samples (raw rows or a space) matters."""
        n = samples.n if isinstance(samples, Space) else len(samples)
        if n > sums.GROUP and self.leftover == "spread":
            shuffles = _GroupShuffles(n, task.k, int(rng.integers(2**63)))
            return np.concatenate([shuffles.of_group(rows) for rows in sums.groups(n)])
        numbers = np.arange(n)
        if self.leftover == "last" and n >= task.k:
            return rng.permutation(np.minimum(numbers // (n // task.k), task.k - 1))
        return rng.permutation(numbers % task.k)

    def why_not_by_blocks(self) -> str | None:
        """The last part would come from the last group of rows alone."""
        return None if self.leftover == "spread" else "with leftover='last' needs all rows at once; 'spread' does not"

    def starts(self, samples: FeatureSpace, task: Task, rng: Rng) -> BlockLabels:
        """The labels, shuffled within each group of rows, so that those of a group follow from its number."""
        return _GroupShuffles(samples.n, task.k, int(rng.integers(2**63)))


@final
@attrs.frozen
class _GroupShuffles(BlockFunction):
    """Labels 0..k-1 in equal numbers, shuffled within each group of rows by a stream of its own."""

    array_api: ClassVar[bool] = True
    """the features are not looked at"""

    n: int
    k: int
    seed: int

    def __call__(self, rows: slice, H: Array) -> Labels:
        """Labels of a block."""
        start = rows.start // sums.GROUP * sums.GROUP
        return self.of_group(slice(start, min(self.n, start + sums.GROUP)))[rows.start - start : rows.stop - start]

    def of_group(self, group: slice) -> Labels:
        """Labels of a whole group."""
        return _shuffled(group.start, group.stop, self.k, self.seed)


@lru_cache(maxsize=2)
def _shuffled(start: int, stop: int, k: int, seed: int) -> Labels:
    """The labels of one group; those of the last group are kept for its other blocks."""
    labels = np.random.default_rng([seed, start]).permutation(np.arange(start, stop) % k)
    labels.flags.writeable = False
    return labels
