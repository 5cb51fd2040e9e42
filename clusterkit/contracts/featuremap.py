"""The abstract feature map, and a chain of feature maps as one feature map."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal, final

import attrs

from clusterkit._typing import Array, Rng
from clusterkit.contracts.params import free
from clusterkit.contracts.stage import Stage, Task
from clusterkit.errors import InvalidData, UnknownName, nearest_names
from clusterkit.samples import FeatureSpace, FittedMap, Space, identity_space


class FeatureMap(Stage):
    """Turns data into a space."""

    kind: ClassVar[str] = "featuremap"
    reads: ClassVar[Literal["passes", "all"]] = "all"
    """How `fit` reads the samples. "passes": by ``samples.reduce(part)``, what is derived from that, and
    ``samples.rows(index)``, in memory or elsewhere; it then returns a `FittedMap`. "all": by ``samples.points``, which
    are then in memory."""
    gives: ClassVar[type[Space]] = FeatureSpace
    """The type of space that comes out: features, a kernel or distances."""
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
    takes_degrees: ClassVar[bool] = False
    """True if the data are two columns of degrees, latitude and longitude; others are refused with `InvalidData`."""
    takes_pairs: ClassVar[Literal["", "distances", "kernel"]] = ""
    """What the data hold where they are a square matrix with a value for each pair of samples; "" for coordinates."""
    takes_tables: ClassVar[bool] = False
    """True if the columns of a table come as they are: a number each, the code of a level, or NaN in a gap. The map
    then has the parameters `kinds` and `names`, which say for each column what it is."""
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
        return attrs.evolve(fitted, before=(*seen.before, *fitted.before)) if seen.before else fitted


def _maps(value: Any) -> str | None:
    fine = isinstance(value, tuple) and value and all(isinstance(part, FeatureMap) for part in value)
    return None if fine else "a non-empty tuple of feature maps"


@final
@attrs.frozen
class Chain(FeatureMap):
    """Feature maps in sequence; only the last may give a kernel.

    Parameters
    ----------
    maps : tuple of FeatureMap
        The first sees the raw data. The features of all but the last are kept in memory, sparse ones as they are.
    """

    name: ClassVar[str] = "chain"
    maps: tuple[FeatureMap, ...] = free((), _maps, invalid=((), 3))

    @property
    def gives(self) -> type[Space]:  # type: ignore[override] # a property for a class attribute
        """Type of the last map's space."""
        return self.maps[-1].gives

    @property
    def nonnegative(self) -> bool | None:  # type: ignore[override] # a property for a class attribute
        """The declaration of the last map."""
        return self.maps[-1].nonnegative if self.maps else None

    @property
    def exact_on_training(self) -> bool:  # type: ignore[override] # a property for a class attribute
        """Whether all maps are."""
        return all(part.exact_on_training for part in self.maps)

    @property
    def sparse(self) -> bool:  # type: ignore[override] # a property for a class attribute
        """Whether the first map takes sparse rows."""
        return bool(self.maps) and self.maps[0].sparse

    @property
    def keeps_sparse(self) -> bool:  # type: ignore[override] # a property for a class attribute
        """Whether the first map keeps rows sparse."""
        return bool(self.maps) and self.maps[0].keeps_sparse

    @property
    def makes_dense(self) -> bool:  # type: ignore[override] # a property for a class attribute
        """Whether any map does."""
        return any(part.makes_dense for part in self.maps)

    @property
    def reads(self) -> Literal["passes", "all"]:  # type: ignore[override] # a property for a class attribute, as those above
        """How the chain reads: "passes" if all maps do, else "all"."""
        return "passes" if all(part.reads == "passes" for part in self.maps) else "all"

    @property
    def small(self) -> bool:  # type: ignore[override] # a property for a class attribute, as those above
        """Whether any map is; all maps are then fitted on the host."""
        return any(part.small for part in self.maps)

    @property
    def takes_tables(self) -> bool:  # type: ignore[override] # a property for a class attribute, as those above
        """False: the parameters about columns belong to one map."""
        return False

    @property
    def counts_rows(self) -> bool:  # type: ignore[override] # a property for a class attribute, as those above
        """Whether any map does."""
        return any(part.counts_rows for part in self.maps)

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> Space:
        """Fit each map on the features of the one before."""
        space = self.maps[0].space_of(samples, task, rng)
        resolved = dict(space.resolved)
        for following in self.maps[1:]:
            space = following.space_of(_features_for(following, space).as_samples(), task, rng)
            resolved.update(space.resolved)
        return attrs.evolve(space, resolved=resolved)

    def entering_last(self, X: Array, task: Task, rng: Rng) -> Array:
        """Input of the last map in a fit to X (n, d) with the same stream: the features of the map before it."""
        if len(self.maps) == 1:
            return X
        return _features_for(self.maps[-1], Chain(self.maps[:-1]).space_of(X, task, rng)).rows()

    def with_last(self, featuremap: FeatureMap) -> Chain:
        """The chain with another last map."""
        return Chain((*self.maps[:-1], featuremap))

    def owner(self, parameter: str) -> int:
        """Index of the map that has a parameter: the last one if several have it.

        Raises
        ------
        UnknownName
            If none has it.
        """
        for index in reversed(range(len(self.maps))):
            if parameter in self.maps[index].parameters():
                return index
        known = {name for part in self.maps for name in part.parameters()}
        raise UnknownName(
            f"no map of the chain {[part.name for part in self.maps]} has a parameter {parameter!r}. "
            f"{nearest_names(parameter, known)}"
        )


def maps_of(featuremap: FeatureMap) -> tuple[FeatureMap, ...]:
    """The maps of a chain, or the only map."""
    return featuremap.maps if isinstance(featuremap, Chain) else (featuremap,)


def _features_for(following: FeatureMap, space: Space) -> FeatureSpace:
    """The space that a map of a chain gave, if the map that follows can be fitted to its features."""
    if not isinstance(space, FeatureSpace):
        raise TypeError("only the last map of a chain may give a kernel")
    if space.sparse and not following.sparse:
        raise InvalidData(
            f"featuremap '{following.name}' takes no sparse features, and those before it are. Put 'pca' in "
            "front of it, which makes them few and dense."
        )
    return space
