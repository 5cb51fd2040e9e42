"""The abstract partitioner, and the labels that it gives: an array, or a function of blocks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Generic, Literal, TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts.stage import SpaceT, Stage, Task
from clusterkit.samples import FeatureSpace, Space
from clusterkit.samples.array_libraries import is_device_array, move_to

BlockLabels: TypeAlias = Callable[[slice, Array], Labels]
"""The labels of a block of rows from its position and its features, (b, L) to (b,); a frozen callable that pickles."""


class Partitioner(Stage, Generic[SpaceT]):
    """Splits samples into k parts: initial labels, or the modules of a classifier."""

    kind: ClassVar[str] = "partitioner"
    sees: ClassVar[Literal["input", "space"]] = "space"
    """Space that `start` receives: that of the fitted features or kernel ("space"), or of the rows ("input").

    At the start of a fit the rows are those before the last feature map, by the scaling inside that map or, if it does
    nothing else, by the map itself: distances in the units of the raw attributes would not be those that the solver
    sees. In modules of a classifier the rows are raw. In memory they are the `points` of the space, (n, d).
    """
    spaces: ClassVar[tuple[type[Space], ...]] = (Space,)
    """Types of space that the partitioner works on."""
    reads: ClassVar[str] = "all"
    """How `start` reads the samples: "passes" over them and single rows, or "all" of them in memory at once.

    Any other text says why parameters need all, for an error, where it follows the name of the partitioner.
    """
    varies: ClassVar[bool] = True
    """True if another random stream may give another partition; otherwise several starts would be the same one."""
    sparse: ClassVar[bool] = False
    """For partitioners that see the input: True if its points may be `SparseRows`."""
    weighted: ClassVar[bool] = False
    """True if `Task.sample_weight` counts, or could make no difference."""

    @abstractmethod
    def start(self, samples: SpaceT, task: Task, rng: Rng) -> Labels | BlockLabels:
        """Labels 0..task.k-1 of the samples, (n,), or where ``samples.by_blocks`` a function of a block.

        With ``reads = "passes"`` the samples may lie outside memory, and are read by ``samples.reduce`` and by single
        rows only. In memory above one group of rows the labels are the same, so that a fit begins alike everywhere.
        """


def labels_by_blocks(labels: Labels | BlockLabels, samples: Space) -> Labels:
    """The labels of all samples of a space in memory, (n,), from the value of `Partitioner.start`."""
    if not callable(labels):
        return np.asarray(labels)
    assert isinstance(samples, FeatureSpace)
    return np.concatenate([values for _, values in samples.passed(labels)])


@final
@attrs.frozen(eq=False)
class GivenLabels:
    """Labels known beforehand, given out block by block.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    """

    labels: Labels
    array_api: ClassVar[bool] = True

    def __call__(self, rows: slice, H: Array) -> Labels:
        """The labels of the rows, on the device of their features."""
        labels = self.labels[rows]
        return move_to(labels, H) if is_device_array(H) else labels
