"""Preparation of the columns of a table as features that clustering methods can compare, and the same for new rows."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Mask
from clusterkit.contracts.params import as_float
from clusterkit.errors import InvalidParameter, TableError
from clusterkit.numerics.shapes import scalar
from clusterkit.tables.cells.column_names import check_distinct
from clusterkit.tables.cells.parsing import order_of
from clusterkit.tables.cells.readings import as_levels
from clusterkit.tables.preparing.decisions import SCALES, decide
from clusterkit.tables.preparing.findings import facts, of_codes, of_fit, of_rows, paragraph, warn_of, warnings_of
from clusterkit.tables.preparing.new_rows import NewRows, matched, warn_of_blanks
from clusterkit.tables.preparing.places import places, with_spheres, write_points
from clusterkit.tables.preparing.plans import GAP_CHOICES, ColumnPlan, Donors, LeftOut, Observer, has_gaps
from clusterkit.tables.preparing.redundant_columns import RepeatedColumns, of_redundant_columns
from clusterkit.tables.preparing.sums import TableSums
from clusterkit.tables.preparing.texts import weighted
from clusterkit.tables.reading.frames import Column, HoldsFrame, columns_of
from clusterkit.tables.reading.row_sample import RowSample
from clusterkit.tables.reading.table import of_total_row

HEAVIEST = 1e30
"""Largest weight of a column."""

NA_CHOICES = ("auto", "level", "gap")
"""Choices for texts such as NA."""


def _names(value: Any) -> Any:
    return (value,) if isinstance(value, str) else tuple(value)


def _check_names(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not all(isinstance(name, str) for name in value):
        raise InvalidParameter(f"Preparation: {attribute.name} must be names of columns, got {value!r}")


def _pairs(value: Any) -> Any:
    return tuple(dict(value).items())


def _names_field() -> Any:
    return attrs.field(default=(), converter=_names, validator=_check_names)


@final
@attrs.frozen
class Preparation:
    """Makes the columns of a table comparable: gaps, categories, dates and units.

    The preparation itself stores no data; `fit` returns a `FittedPreparation`. It decides column by column, from sums
    and counts:

    - **Gaps** take the value of the row that is most similar in the other columns, among up to 500 rows that the fit
      keeps (`clusterkit.tables.preparing.plans`); only in rows without any value they become the mean of the column, or
      its most frequent level. Where another column has other values in the rows with gaps (by half a standard
      deviation), the gaps are a feature of their own. A column that is empty in 95 % of the rows is left out. Of a
      column of one value and gaps, whether the value is there is the feature.
    - **Numbers** in texts are read with thousands, a comma before the decimals, percent signs, currencies and units,
      which are remembered (`clusterkit.tables.cells.measures`): units of one dimension are converted, others never
      added up.
    - **Categories** become a feature for each level, or one if there are two levels; levels below 1 % of the rows, and
      those after the twentieth, count as one.
    - **Dates** become the elapsed time, and hour, weekday and month where they cover two days, weeks or years and
      are not spread evenly. Months and quarters are their first day. Numbers of eight digits are dates if all of them
      are days of 1900 to 2100, and ten or more differ.
    - **Times of day and durations** become hours. Times on both sides of midnight are counted from an hour that has
      none; times all around the clock become sine and cosine.
    - **Places**: latitudes and longitudes by their names (such as start_lat and start_lon) and ranges become points on
      a sphere, so that distances are those on the ground and 180° is no border; methods of mixed columns take degrees,
      longitudes counted from the middle of them all. Where no number may be negative they stay numbers.
    - **Free text** becomes the scores of its topics, where words that come together show some
      (`clusterkit.tables.preparing.texts`).
    - **Identifiers**, free text without topics, constant and empty columns are left out.
    - **Units**: if the standard deviations of the numbers differ by more than a factor of ten, or there are other
      features than numbers, each number is divided by its standard deviation after its mean is subtracted, and columns
      of 0 and 1, levels and gaps get a weight of 1/2. Columns that mostly share one range, such as pixels, are in one
      unit already.

    Parameters
    ----------
    as_category, as_number, as_date : sequence of str, default ()
        Columns that are used as this.
    as_ordered : sequence of str, default ()
        Columns of ordered levels: numbers, or texts with a number each, such as "18-24". Methods of mixed columns count
        their places; for others they are numbers, or a category.
    keep : sequence of str, default ()
        Columns that are used although they look like identifiers or are constant.
    drop : sequence of str, default ()
        Columns that are left out.
    scale : {"auto", "none", "zscore", "spread", "minmax"}, default "auto"
        Scaling of columns in different units; "auto" is "zscore" where units differ, else "none". "spread" divides by
        the standard deviation and subtracts nothing, so that no number becomes negative.
    decimal : {".", ","} or None, default None
        Decimal mark of numbers in the texts of every table, that of the fit and of new rows; None: the mark that each
        table shows.
    day_first : bool or None, default None
        Whether the day is before the month in the dates between slashes of every table; None: what each column shows.
    na : {"auto", "level", "gap"}, default "auto"
        Whether texts such as NA, None or ? are levels of their column. "auto": NA where all other texts are codes of
        countries, so that it is Namibia's, or one is a zone such as EMEA; None where it is frequent beside at most
        twenty other levels; ? and - in columns of `as_category`.
    gaps : {"similar", "typical"}, default "similar"
        Method of filling gaps: "similar" takes the value of the most similar of some rows that the fit keeps, "typical"
        the mean, or most frequent level, of the column. With "typical" a model holds no rows of its table for this.
    sphere : bool, default True
        Whether columns that are latitudes and longitudes by their names and ranges become points on a sphere.
    weights : mapping of str to float, default ()
        How many times squared distances count a column, with all that it becomes; 0 leaves it out. That of a place is
        the weight of its latitude.

    Notes
    -----
    **Privacy.** Where a used column has gaps, the fitted preparation, and a model that is saved with it, holds the
    features of up to 500 rows of the table. ``gaps="typical"`` avoids it.

    Examples
    --------
    >>> import numpy as np
    >>> from clusterkit.tables import Preparation
    >>> table = {"age": np.array([31.0, np.nan, 45.0, 38.0]), "town": np.array(["Ulm", "Bonn", "Ulm", "Ulm"])}
    >>> fitted = Preparation().fit(table)
    >>> fitted.features
    ('age', 'town=Bonn')
    >>> fitted.transform(table).round(2).tolist()
    [[-1.22, 0.0], [0.0, 0.5], [1.22, 0.0], [0.0, 0.0]]
    """

    as_category: tuple[str, ...] = _names_field()
    as_number: tuple[str, ...] = _names_field()
    as_date: tuple[str, ...] = _names_field()
    keep: tuple[str, ...] = _names_field()
    drop: tuple[str, ...] = _names_field()
    scale: str = "auto"
    decimal: str | None = None
    day_first: bool | None = None
    na: str = "auto"
    gaps: str = "similar"
    as_ordered: tuple[str, ...] = _names_field()
    sphere: bool = True
    weights: tuple[tuple[str, float], ...] = attrs.field(default=(), converter=_pairs)

    def __attrs_post_init__(self) -> None:
        allowed: dict[str, tuple[object, ...]] = {
            "scale": SCALES,
            "decimal": (None, ".", ","),
            "na": NA_CHOICES,
            "gaps": GAP_CHOICES,
            "day_first": (None, True, False),
        }
        for name, values in allowed.items():
            if (value := getattr(self, name)) not in values:
                raise InvalidParameter(f"Preparation: {name} must be one of {values}, got {value!r}")
        if not isinstance(self.sphere, bool):
            raise InvalidParameter(f"Preparation: sphere must be True or False, got {self.sphere!r}")
        if not all(0 <= as_float(weight) <= HEAVIEST for _, weight in self.weights):
            raise InvalidParameter(f"Preparation: weights must be numbers of at least 0, got {dict(self.weights)!r}")
        uses = (*self.as_category, *self.as_number, *self.as_date, *self.as_ordered, *self.drop)
        twice = [name for name in dict.fromkeys(uses) if uses.count(name) > 1]
        if twice:
            raise InvalidParameter(f"Preparation: column {twice[0]!r} has two uses")

    def fit(self, table: object) -> FittedPreparation:
        """The preparation of a table.

        Parameters
        ----------
        table : data frame, or mapping of str to array of shape (n,)
            Table of pandas, Polars or PyArrow, or a `Table`.

        Returns
        -------
        FittedPreparation

        Raises
        ------
        TableError
            If no column can be used, one that a parameter names does not exist or suit its use, or two that are used
            have one name.

        Warns
        -----
        TableWarning
            If texts leave open whether a number such as 1.234 has decimals or thousands, or whether the day or the
            month of a date such as 2/3/2024 is first. If numbers lack the unit of their column, have one that cannot be
            converted into it, or are no numbers with the mark that was asked for. If cells of a column of numbers or
            dates are none, or infinite. If a row has no value at all, or the last one is called a total and has the
            sums of others.
        """
        return self.fit_blocks([table])

    def fit_blocks(self, blocks: Iterable[object]) -> FittedPreparation:
        """The preparation of a table that comes in blocks of rows; each is read once."""
        total: BlockSums | None = None
        parts, columns = 0, list[Column]()
        for block in blocks:
            parts += 1
            columns = self._columns(block)
            of_block = self._sums_of(block, columns)
            total = of_block if total is None else total + of_block
        return self._of_sums(total, columns if parts == 1 else ())

    def sums_of(self, block: object) -> BlockSums:
        """What `fit_sums` needs of a block of rows, also of another process: it holds the last row, and no other."""
        of_block = self._sums_of(block, self._columns(block))
        end = max(of_block.rows - 1, 0)
        last = [attrs.evolve(column.take(slice(end, None)), offset=end) for column in of_block.last]
        return attrs.evolve(of_block, last=tuple(last))

    def fit_sums(self, blocks: Iterable[BlockSums]) -> FittedPreparation:
        """The preparation of a table of which the sums of neighbouring blocks are known."""
        every = list(blocks)
        return self._of_sums(reduce(operator.add, every) if every else None, ())

    def _columns(self, block: object) -> list[Column]:
        return [self._as_asked(column) for column in columns_of(block)]

    def _sums_of(self, block: object, columns: list[Column]) -> BlockSums:
        title = getattr(block, "title", "the table")
        shared = {column.name: column.header for column in columns if column.header}
        # column names of a file are unique; in a frame a name means all columns that have it
        meant = () if isinstance(block, HoldsFrame) else columns
        drop = frozenset({*self.drop, *(column.name for column in meant if column.header in self.drop)})
        drop |= {name for name, weight in self.weights if not weight}
        if not len(columns[0].values):
            return BlockSums(title, drop, shared)
        return BlockSums(title, drop, shared, TableSums.of(columns), RowSample.of(columns), tuple(columns))

    def _of_sums(self, total: BlockSums | None, columns: Sequence[Column]) -> FittedPreparation:
        """The preparation of the sums of all rows; `columns` are the rows themselves, where they are one block."""
        if total is None or total.sums is None or total.row_sample is None:
            raise TableError("the table has no row")
        sums, row_sample, last = total.sums, total.row_sample, total.last
        plans, scale, reason = decide(sums, row_sample, self, total.drop)
        plans = with_spheres(plans, row_sample, scale)
        weights = dict(self.weights)
        for latitude, longitude in places(plans):
            if longitude.name in weights:
                raise InvalidParameter(
                    f"Preparation: weights: {longitude.name!r} is half of a place, whose weight is that of "
                    f"{latitude.name!r}"
                )
        plans = tuple(weighted(plan, weights.get(plan.name, 1.0)) for plan in plans)
        names = [plan.name for plan in plans]
        check_distinct([plan.name for plan in plans if plan.used], total.shared, names, total.title)
        warn_of(
            [
                *warnings_of([*of_fit(plans, sums.columns), *of_codes(plans, columns or row_sample.columns)]),
                *of_total_row(plans, sums.columns, last),
            ],
            stacklevel=5,
        )
        warn_of(of_redundant_columns(plans, row_sample, self.keep), stacklevel=5, category=RepeatedColumns)
        narrow = all(c.narrow for c, plan in zip(sums.columns, plans, strict=True) if plan.used)
        blank = 0
        if columns:
            pairs = [(plan, column) for plan, column in zip(plans, columns, strict=True) if plan.used]
            blank = warn_of_blanks([column for _, column in pairs], [plan for plan, _ in pairs])
        fitted = FittedPreparation(self, plans, sums.rows, scale, reason, narrow, blank)
        return fitted.with_donors(row_sample) if self.gaps == "similar" else fitted

    def read_as_asked(self, column: Column) -> Column:
        """The column, with the mark before decimals and the order of day and month that the parameters say."""
        order = order_of(self.day_first)
        return attrs.evolve(column, decimal=self.decimal or column.decimal, order=order or column.order)

    def _as_asked(self, column: Column) -> Column:
        """The column, read as the parameters say: texts where values are levels of a category, marks and orders."""
        column = self.read_as_asked(column)
        if column.name in self.as_category:
            return attrs.evolve(column, kind="text", values=as_levels(column), categorical=True)
        if column.name in self.as_ordered and column.kind == "text":
            return attrs.evolve(column, categorical=True)
        return column


@final
@attrs.frozen(eq=False)
class BlockSums:
    """What a fit needs of a block of rows of a table; those of neighbouring blocks are added.

    Parameters
    ----------
    title : str
        What the table is called in errors.
    drop : frozenset of str
        Names of the columns to leave out.
    shared : mapping of str to str
        Name to name in the table, of columns with one name there.
    sums : TableSums or None
        None without rows.
    row_sample : RowSample or None
    last : tuple of Column
        At least the last row.
    """

    title: str
    drop: frozenset[str]
    shared: Mapping[str, str]
    sums: TableSums | None = None
    row_sample: RowSample | None = None
    last: tuple[Column, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return 0 if self.sums is None else self.sums.rows

    def __add__(self, other: BlockSums) -> BlockSums:
        """The sums of both blocks."""
        shared, drop = {**self.shared, **other.shared}, self.drop | other.drop
        if other.sums is None or other.row_sample is None:
            return attrs.evolve(self, shared=shared, drop=drop)
        if self.sums is None or self.row_sample is None:
            return attrs.evolve(other, title=self.title, shared=shared, drop=drop)
        sums, row_sample = self.sums + other.sums, self.row_sample + other.row_sample
        return BlockSums(self.title, drop, shared, sums, row_sample, other.last)


@final
@attrs.frozen
class FittedPreparation:
    """The fitted plan of each column; a part of the model, saved with it.

    Parameters
    ----------
    preparation : Preparation
    plans : tuple of ColumnPlan
        Plan of each column of the table.
    rows : int
        Number of rows of the fit.
    scale : {"none", "zscore", "spread", "minmax"}
        Scaling of columns in different units.
    reason : str
        Why.
    narrow : bool
        Whether features are of single precision, as all used columns were.
    blank : int
        Rows of the fit without a value in the used columns; 0 where the table came in several blocks.
    donors : Donors or None
        The rows of the fit from which gaps are filled; None where the mean, or the most frequent level, fills them, and
        where the fit had no gaps.
    coded : bool
        Whether `transform` gives numbers as they are, codes of levels, and NaN in gaps in place of features, for
        methods of mixed columns.
    """

    saved_schema: ClassVar[int] = 1

    preparation: Preparation
    plans: tuple[ColumnPlan, ...]
    rows: int = attrs.field(validator=scalar(least=1))
    scale: str
    reason: str
    narrow: bool = False
    blank: int = 0
    donors: Donors | None = None
    coded: bool = False

    def __attrs_post_init__(self) -> None:
        if self.donors is not None:
            widths = self.donors.features.shape[1], self.donors.has.shape[1]
            if widths != (len(self.features), len(self.used)):
                raise ValueError("donors must have the features and the used columns of the preparation")

    def check_saved(self) -> None:
        """Raise ValueError unless each column has as many gaps as rows, or fewer."""
        for plan in self.plans:
            if not 0 <= getattr(plan, "gaps", 0) <= self.rows:
                raise ValueError(f"FittedPreparation: a column has other than 0 to {self.rows} gaps")

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns of the table."""
        return tuple(plan.name for plan in self.plans)

    @property
    def used(self) -> tuple[str, ...]:
        """Names of the columns that are used."""
        return tuple(plan.name for plan in self.plans if plan.used)

    @property
    def left_out(self) -> dict[str, str]:
        """Why each unused column is left out."""
        return {plan.name: plan.reason for plan in self.plans if isinstance(plan, LeftOut)}

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features, the columns of what `transform` returns, unless it gives codes."""
        return tuple(name for plan in self.plans for name in plan.features)

    @property
    def names_of_codes(self) -> tuple[str, ...]:
        """Names of the columns of numbers and codes."""
        return tuple(name for plan in self.plans for name, _ in plan.coded)

    @property
    def kinds_of_codes(self) -> tuple[str, ...]:
        """Kinds of these columns, see `clusterkit.families.mixtures.columns.Columns`."""
        forced = dict.fromkeys(self.preparation.as_number, "number")
        forced |= dict.fromkeys(self.preparation.as_ordered, "ordered")
        return tuple(forced.get(plan.name, kind) for plan in self.plans for _, kind in plan.coded)

    def transform(self, table: object, *, by_position: bool = False, quiet: bool = False) -> Array:
        """The features of the rows of a table.

        Columns are found by their names, in whatever order; other columns are ignored, and those that the fit left out
        need not be there.

        Parameters
        ----------
        table : data frame, mapping of str to array, or array of shape (n, number of columns)
            An array has no names, so that its columns are those of the fit in their order.
        by_position : bool, default False
            Whether names are ignored here too: all columns of the fit, or those that are used, in their order.
        quiet : bool, default False
            Whether the warnings below are left out, as for the table of the fit, of which `paragraph` tells them.

        Returns
        -------
        ndarray of shape (n, len(features))
            Finite; float64, or float32 where all columns of the fit were. With `coded` numbers and codes, float64.

        Raises
        ------
        TableError
            If columns are missing, are there twice, or hold something else than in the fit: no number, another
            currency, numbers of another size without their unit, levels in another case. If there is no row.

        Warns
        -----
        TableWarning
            If cells cannot be read, or are levels that the fit did not see; they count as gaps. If a column has gaps
            only, which is unlikely by those of the fit. If texts leave open whether a number such as 1.234 has decimals
            or thousands, or show that the day and the month of dates such as 2/3/2024 are not in the order of the fit.
            If numbers lack the unit of the fit, or are of another size, or a row has no value. One for each kind.
        """
        columns = [self.preparation.read_as_asked(its) for its in matched(table, self.plans, by_position=by_position)]
        n = len(columns[0].values)
        if not n:
            shape = (0, len(self.used))
            raise TableError(f"Found table with 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
        observer = Observer() if quiet else NewRows(self.rows, similar=self.donors is not None, coded=self.coded)
        plans = self._used_plans
        out, gaps = self._written(columns, observer, coded=self.coded)
        if isinstance(observer, NewRows):
            observer.warn()
            warn_of_blanks(columns, plans)
        if self.donors is not None and not self.coded:
            self.donors.fill(out, gaps, plans)
        return out

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of features or codes of each used column, in their order."""
        return tuple(len(plan.coded if self.coded else plan.features) for plan in self._used_plans)

    @property
    def _used_plans(self) -> list[ColumnPlan]:
        return [plan for plan in self.plans if plan.used]

    def _written(self, columns: Sequence[Column], observer: Observer, *, coded: bool = False) -> tuple[Array, Mask]:
        """The features of the used columns, with what is typical in gaps, and the gaps, (n, used columns).

        With `coded` numbers and codes, NaN in gaps.
        """
        n = len(columns[0].values)
        width = len(self.names_of_codes if coded else self.features)
        out = np.empty((n, width), dtype=np.float32 if self.narrow and not coded else np.float64)
        gaps = np.zeros((n, len(columns)), dtype=bool)
        at = 0
        for j, (plan, column) in enumerate(zip(self._used_plans, columns, strict=True)):
            part = out[:, at : at + len(plan.coded if coded else plan.features)]
            if coded:
                plan.write_codes(column, part, observer)
            else:
                gaps[:, j] = plan.write(column, part, observer)
            if isinstance(observer, NewRows):
                observer.gaps(plan, column)
                warn_of(of_rows(plan, column))
            at += part.shape[1]
        if not coded:
            write_points(self._used_plans, out, gaps)
        return out, gaps

    def with_donors(self, rows: RowSample) -> FittedPreparation:
        """This preparation, with those rows of the fit from which gaps are filled; none where there is no gap."""
        if not has_gaps(self.plans):
            return self
        pairs = [(plan, column) for plan, column in zip(self.plans, rows.columns, strict=True) if plan.used]
        # a part of the rows must be read as the whole: it decides nothing by itself
        columns = [
            attrs.evolve(column, decimal=column.decimal or getattr(plan, "decimal", None), offset=0)
            for plan, column in pairs
        ]
        X, gaps = self._written(columns, Observer())
        return attrs.evolve(self, donors=Donors.among(X, gaps, self._used_plans))

    def resolved(self) -> dict[str, object]:
        """Every decision, as `resolved_` of a model has it."""
        return facts(self)

    def paragraph(self, *, options: bool = False) -> str:
        """Every decision in words.

        Parameters
        ----------
        options : bool, default False
            Whether the paragraph ends with the options of the command line that change the decisions.
        """
        return paragraph(self, options=options)
