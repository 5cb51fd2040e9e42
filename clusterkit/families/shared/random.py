"""Balanced random labels."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import BlockLabels, Partitioner, Task
from clusterkit.contracts.params import choice
from clusterkit.samples import Space, sums
from clusterkit.samples.array_libraries import BlockFunction


@final
@attrs.frozen
class Random(Partitioner[Space]):
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
    >>> from clusterkit.samples import identity_space
    >>> np.bincount(Random().start(identity_space(np.zeros((8, 2))), Task(8, 3), np.random.default_rng(0)))
    array([3, 3, 2])
    >>> np.bincount(Random("last").start(identity_space(np.zeros((11, 2))), Task(11, 3), np.random.default_rng(0)))
    array([3, 3, 5])
    """

    name: ClassVar[str] = "random"
    weighted: ClassVar[bool] = True  # it looks at nothing but the number of rows

    leftover: str = choice("spread", ("spread", "last"))

    @property
    def reads(self) -> str:  # type: ignore[override] # a property for a class attribute
        """All rows for "last": the last part would come from the last group of rows alone."""
        if self.leftover == "spread":
            return "passes"
        return "with leftover='last' needs all rows at once; 'spread' does not"

    def start(self, samples: Space, task: Task, rng: Rng) -> Labels | BlockLabels:
        """Shuffled labels; only the number of samples matters. Many rows are shuffled within each group of rows."""
        n = samples.n
        if self.leftover == "spread" and (n > sums.GROUP or not samples.in_memory):
            shuffles = _GroupShuffles(n, task.k, int(rng.integers(2**63)))
            if not samples.in_memory:
                return shuffles
            # a pass would compute features that are not looked at
            return np.concatenate([shuffles.of_group(rows) for rows in sums.groups(n)])
        numbers = np.arange(n)
        if self.leftover == "last" and n >= task.k:
            return rng.permutation(np.minimum(numbers // (n // task.k), task.k - 1))
        return rng.permutation(numbers % task.k)


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
        parts = []  # a block on a device may be larger than a group
        for start in range(rows.start // sums.GROUP * sums.GROUP, max(rows.stop, rows.start + 1), sums.GROUP):
            labels = self.of_group(slice(start, min(self.n, start + sums.GROUP)))
            parts.append(labels[max(0, rows.start - start) : rows.stop - start])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def of_group(self, group: slice) -> Labels:
        """Labels of a whole group."""
        return _shuffled(group.start, group.stop, self.k, self.seed)


@lru_cache(maxsize=2)
def _shuffled(start: int, stop: int, k: int, seed: int) -> Labels:
    """The labels of one group; the last groups are cached for their other blocks."""
    labels = np.random.default_rng([seed, start]).permutation(np.arange(start, stop) % k)
    labels.flags.writeable = False
    return labels
