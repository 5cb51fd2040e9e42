"""Features of samples that lie outside memory: what a solver by sums sees of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.samples import memory
from clusterkit.samples.array_libraries import BlockFunction, block_for, is_device_array, move_to, to_host
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.engines import Engine
from clusterkit.samples.features import DenseSpace, FeatureSpace, FittedMap, StreamedSpace, build_space
from clusterkit.samples.rows import Rows, read_whole
from clusterkit.samples.sums import Addable
from clusterkit.samples.transform import IdentityMap, RowMap, Transform

if TYPE_CHECKING:
    from clusterkit.samples.survey import Extremes

Part = TypeVar("Part", bound=Addable)
Value = TypeVar("Value")


@final
@attrs.frozen(eq=False)
class OfFeatures(BlockFunction):
    """A part of features, as a part of the raw rows that they are made of."""

    transform: Transform
    part: Callable[[slice, Array], Addable]

    @property
    def array_api(self) -> bool:
        """Whether the maps have the mark; a part without it gets the features on the host."""
        return self.transform.array_api

    def __call__(self, rows: slice, X: Array) -> Addable:
        """Map the rows and take their part."""
        return self.part(rows, block_for(self.part, self.transform(X)))


@final
@attrs.frozen(eq=False)
class ValuesOf(BlockFunction):
    """A function of features, as a function of the raw rows that they are made of."""

    transform: Transform
    function: Callable[[Array], Array]

    def __call__(self, rows: slice, X: Array) -> Array:
        """Map the rows and take their values."""
        return self.function(self.transform(X))


@final
@attrs.frozen(eq=False)
class HostMap:
    """Maps that work on the host alone, for rows of any place: these are brought there, and their features sent back.

    Parameters
    ----------
    transform : Transform
    """

    array_api: ClassVar[bool] = True

    transform: Transform

    @property
    def width(self) -> int:
        """Number of features."""
        return self.transform.width or 0

    def __call__(self, Y: Array) -> Array:
        """Features of raw rows, (m, d) to (m, L), on the device of the rows."""
        features = self.transform(to_host(Y))
        return move_to(features, Y) if is_device_array(Y) else features


@final
@attrs.frozen(eq=False)
class RowsSpace(FeatureSpace):
    """Features of rows that an engine reads. The points are not stored: the attribute `points` has no rows.

    Parameters
    ----------
    source : Rows
        The raw rows, or those of features that were made on the host.
    engine : Engine
    host_space : FeatureSpace or None
        Space of the raw rows on the host, if the features were computed there.
    known : Extremes or None
        Extremes of the features, if a pass has found them already.
    """

    in_memory: ClassVar[bool] = False

    source: Rows
    engine: Engine
    host_space: FeatureSpace | None = attrs.field(default=None, kw_only=True)
    known: Extremes | None = attrs.field(default=None, kw_only=True)

    @classmethod
    def of(cls, source: Rows, engine: Engine, mapping: RowMap, before: tuple[RowMap, ...] = ()) -> RowsSpace:
        """The space of maps applied to rows, in their order."""
        d = before[-1].width if before else source.d
        return cls(np.empty((0, d), dtype=source.dtype), mapping, source, engine, before=before)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.source.n

    @property
    def reading(self) -> Transform:
        """Rows of the source to features: what passes apply."""
        return Transform((*self.before, self.mapping), self.dtype)

    @property
    def transform(self) -> Transform:
        """Raw rows to features: what predictions apply."""
        return self.reading if self.host_space is None else Transform((HostMap(self.host_space.transform),), self.dtype)

    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """One pass of the engine."""
        # the sum has the type of the parts, which the type of `OfFeatures` does not say
        whole: Part = self.engine.reduce(OfFeatures(self.reading, part), self.source, self.width)  # type: ignore[assignment]
        return whole

    def table(self, function: Callable[[Array], Array], columns: int, what: str) -> Array:
        """One pass of the engine, whose values come to the host."""
        self.require_table(columns, what)
        if not isinstance(self.engine, DeviceEngine):
            return super().table(function, columns, what)
        values = self.engine.values(ValuesOf(self.reading, function), self.source, self.width)
        return np.asarray(to_host(values))

    def require_table(self, columns: int, what: str) -> None:
        """Refuse a table that the memory cap does not allow."""
        memory.require(
            self.n * columns * self.dtype.itemsize,
            f"the {self.n} x {columns} {what}",
            "Use labeler='argmax', which reads the label of each row by itself.",
        )

    def passed(self, function: Callable[[slice, Array], Value]) -> Iterator[tuple[slice, Value]]:
        """The function of all blocks, by this thread: what reads them, and where, is up to the engine."""
        return ((rows, function(rows, H)) for rows, H in self.blocks())

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Blocks of features, as they are read."""
        transform = self.reading
        for rows, X in self.engine.blocks(self.source, self.width):
            yield rows, transform(X)

    def rows(self, index: Indices | None = None) -> Array:
        """Features of some rows, (m, L), gathered; or of all, if the memory cap allows it."""
        return super().rows() if index is None else self.reading(self.source.gather(index))

    def take(self, index: Indices) -> FeatureSpace:
        """The space of some of the samples, in memory."""
        if self.host_space is not None:
            some = self.host_space.take(index)
            assert isinstance(some, FeatureSpace)
            return some
        points = self.coordinates(self.source.gather(index))
        space = build_space(points, self.mapping, before=self.before, resolved=self.resolved)
        assert isinstance(space, DenseSpace | StreamedSpace)
        return space

    def mapped(self, fitted: FittedMap) -> RowsSpace:
        """The features that a fitted map makes of the features of this space."""
        before = self.before if isinstance(self.mapping, IdentityMap) else (*self.before, self.mapping)
        space = RowsSpace.of(self.source, self.engine, fitted.mapping, before)
        return attrs.evolve(space, resolved=dict(fitted.resolved))

    def as_samples(self) -> RowsSpace:
        """The space itself."""
        return self

    def on_host(self, what: str, advice: str, storage: str = "auto") -> FeatureSpace:
        """These features as a space in memory; `what` and `advice` are for the error, `storage` as in `build_space`.

        Raises
        ------
        NeedsMemory
            If the rows exceed the memory cap.
        """
        if self.host_space is not None:
            return self.host_space
        points = self.coordinates(read_whole(self.source, what, advice))
        return build_space(points, self.mapping, storage=storage, before=self.before)

    def without_samples(self) -> FeatureSpace:
        """The space for a finished fit: it maps new rows as this one, without samples but those of the host."""
        if self.host_space is not None:
            return self.host_space.without_samples()
        return StreamedSpace(self.points, self.mapping, before=self.before, resolved=self.resolved)
