"""Balanced random labels."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Labels, Rng, Rows
from clusterkit.core.params import choice
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Partitioner, Task

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

    leftover: str = choice("spread", ("spread", "last"))

    def partition(self, samples: Space | Rows, task: Task, rng: Rng) -> Labels:
        """Shuffled labels; only the number of samples (raw rows or a space) matters."""
        n = samples.n if isinstance(samples, Space) else len(samples)
        numbers = np.arange(n)
        if self.leftover == "last" and n >= task.k:
            return rng.permutation(np.minimum(numbers // (n // task.k), task.k - 1))
        return rng.permutation(numbers % task.k)
