"""Columns as numbers that can be compared, a sample of their rows, and the labels of a model.

A number stays as it is, a category is one indicator for each level. In a sample (`draw`) small clusters are not lost,
and weights undo their larger share. `labels_of` takes a fitted model or labels.
"""

from __future__ import annotations

from collections import Counter
from typing import final

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, Indices, Labels, Rng
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.families.mixtures.relevant import LabelEvidence, evidence_of
from clusterkit.numerics.selection import sample_rows
from clusterkit.profiles.raw_table import RawColumn, RawTable

MOST_LEVELS = 20
"""Largest number of levels of a category that are used, the most frequent ones: a level beyond them is in few rows."""

GONE = "missing"
"""Level of a missing cell in any column."""

TEXT_FROM = 50
"""Levels of a column of words, most of which occur once, above which it is an identifier or free text."""


@final
@attrs.frozen(eq=False)
class Measure:
    """A column of numbers, made of a column of the table.

    Parameters
    ----------
    column : RawColumn
    level : str or None
        Level of the indicator; None for the numbers of a column.
    values : ndarray of shape (m,)
        nan where missing.
    """

    column: RawColumn
    level: str | None
    values: Array

    @property
    def key(self) -> tuple[str, str | None]:
        """Name of the column, and the level."""
        return self.column.name, self.level


def measures_of(columns: list[RawColumn]) -> tuple[list[Measure], dict[str, str]]:
    """The measures of all columns, and the columns that have none with the reason.

    A column with missing cells also has the indicator of being missing.
    """
    measures: list[Measure] = []
    left_out: dict[str, str] = {}
    for column in columns:
        if column.left_out:
            left_out[column.name] = column.left_out
            continue
        if column.kind == "category":
            reason = _unsuited(column)
            if reason:
                left_out[column.name] = reason
                continue
            measures += _of_levels(column)
        else:
            values = np.asarray(column.values, dtype=np.float64)
            values = np.where(np.isfinite(values), values, np.nan)
            if np.isnan(values).all():
                left_out[column.name] = "empty"
                continue
            if np.nanmin(values) == np.nanmax(values) and not np.isnan(values).any():
                left_out[column.name] = "constant"
                continue
            measures.append(Measure(attrs.evolve(column, values=values), None, values))
            if np.isnan(values).any():
                measures.append(Measure(column, GONE, np.isnan(values).astype(np.float64)))
    return measures, left_out


def _unsuited(column: RawColumn) -> str | None:
    """Reason why a category is left out; None if it is used."""
    # values of a category are numbers of levels
    known = column.values[column.values >= 0]  # type: ignore[operator]
    if not len(known):
        return "empty"
    if len(column.levels) == 1 and len(known) == len(column.values):
        return "constant"
    if len(column.levels) > max(TEXT_FROM, len(known) // 2):
        return "almost every row has a value of its own: an identifier or free text"
    return None


def _of_levels(column: RawColumn) -> list[Measure]:
    codes = column.values.tolist()
    common = [code for code, _ in Counter(code for code in codes if code >= 0).most_common(MOST_LEVELS)]
    measures = [Measure(column, column.levels[code], (column.values == code).astype(np.float64)) for code in common]
    if (column.values == -1).any():
        measures.append(Measure(column, GONE, (column.values == -1).astype(np.float64)))
    return measures


MOST_JUDGED, FEWEST_JUDGED, MOST_COLUMNS = 5000, 20, 300
"""Rows on which roles are judged, at most and at least, and columns of which a role says something."""


def evidence_of_table(table: RawTable, labels: Labels, rng: Rng) -> LabelEvidence | None:
    """What the columns say about labels; None for less than two clusters, twenty rows or two columns, and above 300.

    Noise is left out; of more than 5,000 rows a random sample is judged.
    """
    rows = np.flatnonzero(labels >= 0)
    if len(rows) < FEWEST_JUDGED or len(table.names) > MOST_COLUMNS:
        return None
    rows = rows[sample_rows(len(rows), MOST_JUDGED, rng)]
    names, members = np.unique(labels[rows], return_inverse=True)
    columns = [column for column in table.columns(rows) if not column.left_out]
    if len(names) < 2 or len(names) > len(rows) // 2 or len(columns) < 2:
        return None
    fitted = table.preparation
    kind_of = {} if fitted is None else dict(zip(fitted.names_of_codes, fitted.kinds_of_codes, strict=True))
    X = np.empty((len(rows), len(columns)))
    for j, column in enumerate(columns):
        values = np.asarray(column.values, dtype=np.float64)
        X[:, j] = np.where(column.missing, np.nan, values)
    kinds = tuple(
        "category"
        if column.kind == "category"
        else kind_of.get(column.name, "auto")
        if column.kind == "number"
        else "number"
        for column in columns
    )
    return evidence_of(members.reshape(-1), X, kinds, tuple(column.name for column in columns))


FEWEST = 200
"""Rows of a cluster below which it is sampled more densely than the others: the standard error of a share is then at
most .035."""


@final
@attrs.frozen(eq=False)
class GroupedSample:
    """Sampled rows, sorted by cluster; the rows of one cluster have one weight.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        Indices of the rows; those of a cluster lie together, in ascending order.
    names : ndarray of shape (g,)
        Labels of the groups, ascending; -1, if there is noise, comes first.
    starts : ndarray of shape (g + 1,)
        Group j has the rows ``starts[j]:starts[j + 1]``.
    sizes : ndarray of shape (g,)
        Rows of the whole data in each group.
    """

    rows: Indices
    names: Labels
    starts: Indices
    sizes: Indices

    @property
    def counts(self) -> Indices:
        """Sampled rows of each group, (g,)."""
        return np.diff(self.starts)

    @property
    def weights(self) -> Array:
        """Number of rows of the data that each sampled row represents, (m,); 1 if all rows are sampled."""
        return np.repeat(self.sizes / self.counts, self.counts)

    @property
    def alike(self) -> Array:
        """Weights that make all clusters count alike, (m,); noise counts only where there is one cluster."""
        weights = np.repeat(1.0 / self.counts, self.counts)
        if (self.names >= 0).sum() > 1:
            weights[self.names[self.group] < 0] = 0.0
        return weights

    @property
    def group(self) -> Indices:
        """Group of each sampled row, (m,)."""
        return np.repeat(np.arange(len(self.names)), self.counts)

    def part(self, j: int) -> slice:
        """Slice of the rows of group j."""
        return slice(int(self.starts[j]), int(self.starts[j + 1]))


def draw(labels: Labels, max_rows: int, rng: Rng) -> GroupedSample:
    """Sample about `max_rows` rows, each cluster in proportion to its size but at least 200 of its rows.

    With up to `max_rows` rows all are taken. Many clusters with fewer than 200 sampled rows share `max_rows` equally.
    O(n log n) for n labels.
    """
    order = np.argsort(labels, kind="stable")
    names, first, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    if len(labels) > max_rows:
        least = np.minimum(sizes, min(FEWEST, max(max_rows // len(names), 1)))
        counts = np.maximum(sizes * max_rows // len(labels), least)
        parts = [
            np.sort(rng.choice(order[start : start + size], count, replace=False))
            for start, size, count in zip(first, sizes, counts, strict=True)
        ]
        order, first = np.concatenate(parts), np.concatenate([[0], np.cumsum(counts)[:-1]])
    return GroupedSample(order, names, np.append(first, len(order)), sizes)


def is_model(value: object) -> bool:
    """Whether a value is an estimator, and not labels or a class of estimators."""
    return hasattr(value, "fit") and not isinstance(value, type)


def labels_of(model: object, n: int, caller: str, rows: str = "X") -> Labels:
    """Labels of the n rows of what `rows` names, from a fitted model or an array.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    InvalidParameter
        If there are no labels.
    InvalidData
        If there is another number of them.
    """
    if is_model(model):
        if not hasattr(model, "labels_"):
            raise not_fitted(model, caller)
        labels: AnyArray = np.asarray(model.labels_)
    else:
        try:
            labels = np.asarray(model)
        except ValueError as error:  # a ragged list
            raise InvalidParameter(f"{caller}: labels must be one integer a row") from error
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise InvalidParameter(
            f"{caller}: needs a fitted model or an array of one integer label a row (-1 is noise), got "
            f"{type(model).__name__}" + (f" of shape {labels.shape} and type {labels.dtype}" if labels.ndim else "")
        )
    if len(labels) != n:
        raise InvalidData(
            f"{caller}: {rows} has {n} rows and there are {len(labels)} labels; give the rows that were fitted"
        )
    return labels.astype(np.intp)


def not_fitted(model: object, caller: str) -> Exception:
    """The error for a model without labels."""
    from sklearn.exceptions import NotFittedError

    steps = getattr(model, "steps", None)
    if steps and hasattr(steps[-1][1], "labels_"):
        return InvalidParameter(
            f"{caller}: takes the clustering alone: the last step of this Pipeline, model[-1], and the rows that "
            "it was fitted to, model[:-1].transform(X)"
        )
    return NotFittedError(f"{caller}: this {type(model).__name__} is not fitted; call its fit(X) first")
