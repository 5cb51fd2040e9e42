"""The abstract feature map."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Protocol, final, runtime_checkable

import attrs

from clusterkit._typing import Array, Rng
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages.stage import Stage, Task
from clusterkit.core.transform import RowMap

__all__ = ["FeatureMap", "FittedMap", "MapsByPasses"]


class FeatureMap(Stage):
    """Turns data into a space."""

    kind: ClassVar[str] = "featuremap"
    gives: ClassVar[type[Space]] = FeatureSpace
    nonnegative: ClassVar[bool | None] = None
    """True if no feature is negative, False if some may be, None if that depends on the data."""
    exact_on_training: ClassVar[bool] = True
    """False if mapping the samples as new rows gives other features than they have in the fitted space."""
    takes_negative: ClassVar[bool] = True
    """True if data with negative values are accepted; otherwise `fit` refuses them with `InvalidData`."""
    sparse: ClassVar[bool] = False
    """True if sparse input is accepted. An estimator densifies it up to 1 GiB and passes it as `SparseRows` above."""
    keeps_sparse: ClassVar[bool] = False
    """True if sparse input is passed as `SparseRows` whatever its size."""
    makes_dense: ClassVar[bool] = False
    """True if the features of sparse samples are dense."""
    made_on_host: ClassVar[bool] = False
    """True if a map that needs all rows at once is fitted on the host for samples that a device computes: its features
    are few for each row, and go to the device, where everything behind the map works. `resolved_` then says so."""
    counts_rows: ClassVar[bool] = False
    """True if clusters follow from the map itself, as from a graph of the samples, and it takes no weights of them.
    Fits with sample weights are then refused; other maps are fitted to the samples as they are."""

    @abstractmethod
    def fit(self, X: Array, task: Task, rng: Rng) -> Space:
        """The space of the samples X (n, d); it maps new rows with what was fitted here.

        Parameters
        ----------
        X : ndarray or SparseRows of shape (n, d)
        task : Task
            The number of clusters, for maps that depend on it: a spectral map takes that many eigenvectors.
        rng : Generator
            The only source of randomness.
        """


@final
@attrs.frozen(eq=False)
class FittedMap:
    """A fitted map of rows, without the rows.

    Parameters
    ----------
    mapping : RowMap
    resolved : mapping
        Values of parameters that the fit chose, for `resolved_`.
    """

    mapping: RowMap
    resolved: Mapping[str, object] = attrs.field(factory=dict)


@runtime_checkable
class MapsByPasses(Protocol):
    """A feature map that is fitted by passes over the samples and by single rows, wherever they lie.

    Not part of `FeatureMap`: a map may need all samples at once. `fit` of such a map makes a space of what `row_map`
    returns, so that samples in memory and elsewhere are mapped alike.
    """

    def row_map(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The map of the samples, which are the features of a space that may lie outside memory.

        It reads them by ``samples.reduce(part)``, what is derived from that, and ``samples.rows(index)``.
        """
