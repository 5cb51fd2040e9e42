"""The abstract feature map."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal, final

import attrs

from clusterkit._typing import Array, Rng
from clusterkit.core.spaces import FeatureSpace, FittedMap, Space, identity_space
from clusterkit.core.stages.stage import Stage, Task

__all__ = ["FeatureMap", "FittedMap"]


class FeatureMap(Stage):
    """Turns data into a space."""

    kind: ClassVar[str] = "featuremap"
    reads: ClassVar[Literal["passes", "all"]] = "all"
    """What `fit` reads of the samples. "passes": ``samples.reduce(part)``, what is derived from that, and
    ``samples.rows(index)``, wherever they lie; it then returns a `FittedMap`. "all": ``samples.points``, which are then
    in memory."""
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
    small: ClassVar[bool] = False
    """For maps that read all samples: True if the features are few for each sample. Samples that a device computes are
    then mapped on the host, and the features go to the device, where everything behind the map works; `resolved_` says
    so."""
    counts_rows: ClassVar[bool] = False
    """True if clusters follow from the map itself, as from a graph of the samples, and it takes no weights of them.
    Fits with sample weights are then refused; other maps are fitted to the samples as they are."""

    @abstractmethod
    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap | Space:
        """The map of the samples, or the space where they are mapped together.

        Parameters
        ----------
        samples : FeatureSpace
            The samples as they are: the space of the identity map. In memory ``samples.points`` is their array (n, d),
            or `SparseRows`.
        task : Task
            The number of clusters, for maps that depend on it: a spectral map takes that many eigenvectors.
        rng : Generator
            The only source of randomness.
        """

    @final
    def space_of(self, samples: Array | FeatureSpace, task: Task, rng: Rng) -> Space:
        """The space that the map makes of the samples that it is fitted to; it maps new rows as well."""
        seen = samples if isinstance(samples, FeatureSpace) else identity_space(samples)
        fitted = self.fit(seen, task, rng)
        if isinstance(fitted, FittedMap):
            return seen.mapped(fitted)
        return attrs.evolve(fitted, before=seen.before) if seen.before else fitted
