"""The abstract partitioner."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Generic, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages.stage import Stage, Task
from clusterkit.core.stages.type_parameters import SamplesT

__all__ = ["BlockLabels", "Partitioner", "StartsByBlocks", "labels_by_blocks"]

BlockLabels: TypeAlias = Callable[[slice, Array], Labels]
"""The labels of a block of rows from its position and its features, (b, L) to (b,); a frozen callable that pickles."""


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
    weighted: ClassVar[bool] = False
    """True if `Task.sample_weight` counts, or could make no difference."""

    @abstractmethod
    def partition(self, samples: SamplesT, task: Task, rng: Rng) -> Labels:
        """Labels 0..task.k-1 of the samples: a space, or for ``sees = "input"`` the rows (n, d)."""


@runtime_checkable
class StartsByBlocks(Protocol):
    """A partitioner that can say the label of a row without those of the others, wherever the rows lie.

    Not part of `Partitioner`. Above one group of rows (`clusterkit.core.sums.GROUP`) `partition` of such a partitioner
    gives the labels of `starts`, so that a fit begins alike in memory and elsewhere.
    """

    def why_not_by_blocks(self) -> str | None:
        """Why parameters rule that out; None if they do not."""

    def starts(self, samples: FeatureSpace, task: Task, rng: Rng) -> BlockLabels:
        """The labels as a function of a block; the samples are read by passes (``samples.reduce``) and by single rows.

        For a partitioner with ``sees = "input"`` the features of the samples are the rows as the feature map scales
        them.
        """


def labels_by_blocks(labels: BlockLabels, samples: FeatureSpace) -> Labels:
    """The labels of all samples of a space in memory, (n,)."""
    return np.concatenate([values for _, values in samples.passed(labels)])
