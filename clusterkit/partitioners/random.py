"""Balanced random labels."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Labels, Rng, Rows
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Partitioner, Task

__all__ = ["Random"]


@final
@attrs.frozen
class Random(Partitioner["Space | Rows"]):
    """A random partition whose parts differ in size by at most one.

    The start of methods with many starts, and the baseline of the min-max modular SVM. It is poor as the only start,
    because it does not use the data. O(n).

    Notes
    -----
    Source: Zhang, Xia, Liu & Zhang 2013, section on initialisation.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(Random().partition(np.zeros((8, 2)), Task(8, 3), np.random.default_rng(0)))
    array([3, 3, 2])
    """

    name: ClassVar[str] = "random"
    sees: ClassVar[Literal["input", "space"]] = "input"
    sparse: ClassVar[bool] = True

    def partition(self, samples: Space | Rows, task: Task, rng: Rng) -> Labels:
        """Shuffled labels; only the number of samples (raw rows or a space) matters."""
        n = samples.n if isinstance(samples, Space) else len(samples)
        return rng.permutation(np.arange(n) % task.k)
