"""The abstract partitioner."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal

from clusterkit._typing import Labels, Rng
from clusterkit.core.spaces import Space
from clusterkit.core.stages.stage import Stage, Task

__all__ = ["Partitioner"]


class Partitioner(Stage):
    """Splits samples into k parts: initial labels, or the modules of a classifier."""

    kind: ClassVar[str] = "partitioner"
    sees: ClassVar[Literal["input", "space"]] = "space"
    spaces: ClassVar[tuple[type[Space], ...]] = (Space,)
    """types of space it works on"""
    varies: ClassVar[bool] = True
    """whether another random stream may give another partition; if not, several starts are one"""
    sparse: ClassVar[bool] = False
    """of one that sees the input: whether it takes `SparseRows`"""

    @abstractmethod
    def partition(self, samples: Any, task: Task, rng: Rng) -> Labels:
        """Labels 0..task.k-1 of the samples: a space, or for ``sees = "input"`` the raw rows (n, d)."""
