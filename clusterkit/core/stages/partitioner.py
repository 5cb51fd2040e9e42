"""The abstract partitioner."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Generic, Literal

from clusterkit._typing import Labels, Rng
from clusterkit.core.spaces import Space
from clusterkit.core.stages.stage import Stage, Task
from clusterkit.core.stages.type_parameters import SamplesT

__all__ = ["Partitioner"]


class Partitioner(Stage, Generic[SamplesT]):
    """Splits samples into k parts: initial labels, or the modules of a classifier."""

    kind: ClassVar[str] = "partitioner"
    sees: ClassVar[Literal["input", "space"]] = "space"
    """What `partition` receives: the rows ("input"), or the fitted space.

    As the start of a fit the rows are those before the last feature map, by the scaling inside that map or, if it does
    nothing else, by the map itself: distances in the units of the raw attributes would not be those that the solver
    sees. As modules of a classifier they are the raw rows.
    """
    spaces: ClassVar[tuple[type[Space], ...]] = (Space,)
    """Types of space that the partitioner works on."""
    varies: ClassVar[bool] = True
    """True if another random stream may give another partition; otherwise several starts would be the same one."""
    sparse: ClassVar[bool] = False
    """For partitioners that see the input: True if it may be `SparseRows`."""

    @abstractmethod
    def partition(self, samples: SamplesT, task: Task, rng: Rng) -> Labels:
        """Labels 0..task.k-1 of the samples: a space, or for ``sees = "input"`` the rows (n, d)."""
