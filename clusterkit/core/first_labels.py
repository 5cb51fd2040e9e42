"""The labels that a fit starts with, from the init stage, and as a function of the rows where these lie elsewhere."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core import sums
from clusterkit.core.compat import Composition
from clusterkit.core.contracts import During, named
from clusterkit.core.devices import on_host
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.namespaces import BlockFunction, is_device_array, move_to
from clusterkit.core.rows import read_whole
from clusterkit.core.seeds import Seeds
from clusterkit.core.spaces import FeatureSpace, Space, build_space
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import Partitioner, Task

__all__ = ["GivenLabels", "HostStarts", "first_labels"]


def first_labels(c: Composition, samples: Array | Space, task: Task, seeds: Seeds, start: int) -> Labels:
    """Labels of one start, (n,).

    Parameters
    ----------
    c : Composition
    samples : ndarray of shape (n, d), or Space
        What the init stage sees: the rows as the feature map scales them, or the space.
    task : Task
    seeds : Seeds
    start : int
    """
    init, k = c.init, task.k
    assert isinstance(init, Partitioner)
    rng = seeds.stream("init", start) if start else seeds.stream("init")
    with During(init):
        labels = np.asarray(init.partition(samples, task, rng))
    if labels.shape != (task.n,) or labels.dtype.kind not in "iu":
        raise InvalidParameter(
            f"init '{init.name}' must give {task.n} integer labels, got shape {labels.shape} of {labels.dtype} "
            f"({named(init)})"
        )
    if labels.min() < 0 or labels.max() >= k:
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise InvalidParameter(f"init '{init.name}' gave the label {wrong}, outside 0..{k - 1} ({named(init)})")
    return labels.astype(np.intp, copy=False)


@final
@attrs.frozen(eq=False)
class GivenLabels(BlockFunction):
    """Labels that are there already, as those of a block.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    """

    labels: Labels
    array_api: ClassVar[bool] = True

    def __call__(self, rows: slice, H: Array) -> Labels:
        """The labels of the rows, where their features lie."""
        labels = self.labels[rows]
        return move_to(labels, H) if is_device_array(H) else labels


@attrs.define(eq=False)
class HostStarts:
    """The starts of a fit on a device: its rows are brought to the host once, and the init stage works as in memory.

    Only for rows of at most one group (`clusterkit.core.sums.GROUP`); of more, a start comes from passes.

    Parameters
    ----------
    composition : Composition
    space : RowsSpace
    task : Task
    seeds : Seeds
    """

    composition: Composition
    space: RowsSpace
    task: Task
    seeds: Seeds
    _samples: Array | Space | None = attrs.field(default=None, init=False)

    @staticmethod
    def serve(n: int) -> bool:
        """Whether n rows are so few."""
        return n <= sums.GROUP

    def labels(self, start: int) -> GivenLabels:
        """The labels of a start."""
        if self._samples is None:
            self._samples = self._seen()
        with on_host():  # a start may be a recipe
            return GivenLabels(first_labels(self.composition, self._samples, self.task, self.seeds, start))

    def _seen(self) -> Array | Space:
        """What the init stage sees, as in memory."""
        space, init = self.space, self.composition.init
        assert init is not None
        if space.made is not None:
            return space.made.scaled_points() if init.sees == "input" else space.made
        samples = read_whole(
            space.source,
            f"the {space.n:,} rows of the start of a fit on a device",
            "Fit fewer rows, or compute on the host: clusterkit.config(device='cpu').",
        )
        points = space.coordinates(samples)
        seen = build_space(
            points, space.mapping, storage="streamed" if init.sees == "input" else "auto", before=space.before
        )
        assert isinstance(seen, FeatureSpace)
        return seen.scaled_points() if init.sees == "input" else seen
