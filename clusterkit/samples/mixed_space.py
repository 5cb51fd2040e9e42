"""Samples whose columns are numbers and levels side by side, with gaps: the space of mixtures of mixed columns.

A level stays a code, one number a column: dummies would count a category of many levels as many columns. `MixedColumns`
is the fitted row map, from columns as they are to standardised numbers and codes; which column becomes what is decided
by `clusterkit.families.mixtures.columns`.
"""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices
from clusterkit.numerics.shapes import array, scalar, wide
from clusterkit.samples.features import Space

FORMS = ("identity", "log", "asinh")
"""What is done to a number before it is standardised."""

LEVEL_FORMS = ("free", "ordered", "count")
"""What the levels of a category may be in a cluster, see `clusterkit.families.mixtures.levels`."""

CLIPPED = 5.0
"""Standard deviations from the mean at which numbers are cut off, so that no outlier is a cluster of its own."""


@final
@attrs.frozen
class NumberPart:
    """A column, or what is left of it beside one frequent value, as a number: ``(g(x) - mean) / deviation``.

    Parameters
    ----------
    column : int
        Number of the column.
    form : {"identity", "log", "asinh"}
        g: x itself, ln x, or asinh((x - centre) / scale).
    centre, scale : float
    mean, deviation : float
        Of g(x) in the fit.
    grid : float
        ``h² / 12`` for numbers in steps of h, in units of the deviation.
    atom : float or None
        A value that a `LevelPart` of the same column has; it is a gap here.
    """

    column: int = attrs.field(validator=scalar(least=0))
    form: str = attrs.field(default="identity", validator=attrs.validators.in_(FORMS))
    centre: float = attrs.field(default=0.0, validator=scalar())
    scale: float = attrs.field(default=1.0, validator=scalar())
    mean: float = attrs.field(default=0.0, validator=scalar())
    deviation: float = attrs.field(default=1.0, validator=scalar())
    grid: float = attrs.field(default=0.0, validator=scalar(least=0))
    atom: float | None = None

    def transformed(self, x: Array) -> Array:
        """g(x), float64, for numbers (m,), NaN in gaps."""
        y = x.astype(np.float64, copy=False)
        if self.atom is not None:
            y = np.where(x == self.atom, np.nan, y)
        if self.form == "log":
            y = np.log(np.where((y > 0.0) | np.isnan(y), y, np.finfo(np.float64).tiny))
        elif self.form == "asinh":
            y = np.arcsinh((y - self.centre) / self.scale)
        return y

    def __call__(self, x: Array) -> Array:
        """Standardised numbers, cut off at 5 deviations."""
        return np.clip((self.transformed(x) - self.mean) / self.deviation, -CLIPPED, CLIPPED)

    def inverse(self, z: Array) -> Array:
        """The numbers that are standardised as z."""
        y = z * self.deviation + self.mean
        return np.exp(y) if self.form == "log" else np.sinh(y) * self.scale + self.centre if self.form == "asinh" else y


@final
@attrs.frozen
class LevelPart:
    """A column as levels, or whether it has one frequent value.

    Parameters
    ----------
    column : int
    values : tuple of float
        The levels, ascending; other values are gaps.
    is_atom : bool
        Whether the levels are "another value" and this one.
    form : {"free", "ordered", "count"}
        What the levels are in a cluster (`clusterkit.families.mixtures.levels`). Counts have all whole numbers from 0
        on, and larger ones are the last of them.
    """

    column: int = attrs.field(validator=scalar(least=0))
    values: tuple[float, ...] = attrs.field(validator=array("levels", ascending=True, distinct=True))
    is_atom: bool = False
    form: str = attrs.field(default="free", validator=attrs.validators.in_(LEVEL_FORMS))

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return 2 if self.is_atom else len(self.values)

    def __call__(self, x: Array) -> Array:
        """Codes from 0, NaN in gaps, float64."""
        if self.is_atom:
            return np.where(np.isnan(x), np.nan, x == self.values[0])
        values, x = np.array(self.values), x.astype(np.float64, copy=False)
        if self.form == "count":
            x = np.where(x > values[-1], values[-1], x)
        places = np.minimum(np.searchsorted(values, x), len(values) - 1)
        return np.where(values[places] == x, places, np.nan)

    def inverse(self, codes: Array) -> Array:
        """The values of codes, NaN in gaps, and where a frequent value is another one."""
        values = np.array([*[np.nan] * self.is_atom, *self.values, np.nan])
        return values[np.nan_to_num(codes, nan=-1).astype(np.intp)]


@final
@attrs.frozen(eq=False)
class MixedColumns:
    """The row map from columns as they are, (m, d), NaN in gaps, to numbers and then codes, (m, p + q).

    Parameters
    ----------
    d : int
        Number of columns.
    numbers : tuple of NumberPart
    levels : tuple of LevelPart
    names : tuple of str
        Names of the d columns.
    """

    d: int = attrs.field(validator=scalar(least=1))
    numbers: tuple[NumberPart, ...]
    levels: tuple[LevelPart, ...]
    names: tuple[str, ...] = ()

    def check_saved(self) -> None:
        """Raise ValueError unless the parts are of columns that there are."""
        last = max((part.column for part in self.parts), default=-1)  # constant columns have no part
        if last >= self.d or len(self.names) not in (0, self.d):
            raise ValueError(f"MixedColumns: parts or names are not those of {self.d} columns")

    @property
    def width(self) -> int:
        """Numbers and codes."""
        return len(self.numbers) + len(self.levels)

    def __call__(self, Y: Array) -> Array:
        """Numbers and codes of rows, in the type of Y; NaN in gaps."""
        out = np.empty((len(Y), self.width), dtype=Y.dtype)
        for j, part in enumerate(self.parts):
            out[:, j] = part(Y[:, part.column])
        return out

    def inverse(self, points: Array) -> Array:
        """Columns as they are, of numbers and codes, (m, d); NaN in gaps and in columns without a part."""
        out = np.full((len(points), self.d), np.nan)
        for part, values in zip(self.parts, points.T, strict=True):
            known = part.inverse(values)
            out[:, part.column] = np.where(np.isnan(known), out[:, part.column], known)
        return out

    @property
    def parts(self) -> tuple[NumberPart | LevelPart, ...]:
        """All parts, in the order of the columns of the result."""
        return (*self.numbers, *self.levels)

    @property
    def all_names(self) -> list[str]:
        """Names of all columns."""
        return [self.name(j) for j in range(self.d)]

    def name(self, column: int) -> str:
        """The name of a column; x1, x2, ... without names."""
        return self.names[column] if self.names else f"x{column + 1}"


@final
@attrs.frozen(eq=False)
class MixedSpace(Space):
    """Samples of mixed columns.

    Parameters
    ----------
    points : ndarray of shape (n, p + q)
        Standardised numbers, then codes of levels; NaN in gaps.
    columns : MixedColumns
        The last map, to these points.
    """

    same_products: ClassVar[bool] = True
    has_gaps: ClassVar[bool] = True

    points: Array = attrs.field(validator=array("n columns", finite=False))
    columns: MixedColumns = attrs.field(validator=wide("columns"), kw_only=True)

    @property
    def sparse(self) -> bool:
        """False: gaps and levels are stored as they are."""
        return False

    @property
    def n_numbers(self) -> int:
        """Number of numbers, p."""
        return len(self.columns.numbers)

    def take(self, index: Indices) -> MixedSpace:
        """The space of some samples."""
        return attrs.evolve(self, points=self.points[index])

    def without_samples(self) -> MixedSpace:
        """The space itself: it keeps nothing beside the points."""
        return self

    def parts(self, points: Array) -> tuple[Array, NDArray[np.int32]]:
        """Numbers (m, p), float64 with NaN in gaps, and codes (m, q), with -1 in gaps, of points."""
        return split_points(points, self.n_numbers)

    @property
    def grid(self) -> Array:
        """The part of each number's variance that its steps hide, (p,)."""
        return np.array([part.grid for part in self.columns.numbers], dtype=np.float64)

    @property
    def n_levels(self) -> Indices:
        """Number of levels of each category, (q,)."""
        return np.array([part.n_levels for part in self.columns.levels], dtype=np.intp)

    @property
    def level_forms(self) -> tuple[str, ...]:
        """The form of the levels of each category."""
        return tuple(part.form for part in self.columns.levels)


def split_points(points: Array, p: int) -> tuple[Array, NDArray[np.int32]]:
    """Numbers, (m, p), and codes, (m, q), of the points of a `MixedSpace`, (m, p + q)."""
    codes = points[:, p:]
    return points[:, :p].astype(np.float64), np.where(np.isnan(codes), -1.0, codes).astype(np.int32)
