"""Why a row is in its cluster: the nearest two clusters, and the columns that decide between them.

Where the score of a cluster is a sum over the columns, as a log-likelihood of a mixture or a squared distance to a mean
is, the difference of two scores is split exactly, by the method ``terms`` of a fit's
`clusterkit.contracts.outcomes.Extension`. Elsewhere columns are removed: rows of the other cluster take the values of
the row, one column after the other in random orders, and the mean change of the label is what a column says: its
Shapley value (Strumbelj, Kononenko 2014, Explaining prediction models and individual predictions with feature
contributions, Knowledge and Information Systems 41).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts.labelings import NOISE
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidParameter, percent, shortened
from clusterkit.estimators.base import FittedAttributes
from clusterkit.estimators.preparing import of_records
from clusterkit.numerics.threads import ignoring
from clusterkit.profiles.measures import not_fitted
from clusterkit.profiles.naming import called, names_of_fit
from clusterkit.profiles.raw_table import RawColumn, as_frame, columns_of_samples, in_unit, times
from clusterkit.profiles.rows import FittedRows, certainties, groups_of, has_memberships
from clusterkit.tables.preparing.plans import CLOCK

ORDERS, CELLS = 32, 20_000_000
"""Random orders in which columns are removed, fewer where the rows of all orders have more cells: 160 MB."""

SHOWN, LEAST = 3, 0.1
"""Columns that a sentence names at most, and the least share of all contributions of each."""


@final
@attrs.frozen
class ColumnEvidence:
    """What one column says about the cluster of a row.

    Parameters
    ----------
    column : str
    value : str
        The cell, in the unit of the table.
    contribution : float
        How much it speaks for the cluster of the row and against the other one; below 0 for the other. A logarithm of a
        likelihood ratio for a mixture, a difference of squared distances for means, a share of changed labels by
        removal.
    text : str
        The comparison with both clusters in words.
    """

    column: str
    value: str
    contribution: float
    text: str


@final
@attrs.frozen
class Explanation:
    """Why a row is in its cluster.

    Parameters
    ----------
    row : int or str
        Its name in the index of a data frame, or the number of the row, from 0.
    label, other : int
        The cluster of the row, and the next one; -1 is noise, and where there is one cluster only no other.
    certainty : float
        As `clusterkit.assign` has it, among the rows of the fit.
    how : {"exact", "by removal"}
    columns : tuple of ColumnEvidence
        The column that decides most first.
    rest : float
        What is of the clusters and of no column, such as their sizes: with the contributions it adds up to the
        difference of the scores of the two clusters.
    names : pair of str
        What the two clusters are called.
    """

    row: int | str
    label: int
    other: int
    certainty: float
    how: str
    columns: tuple[ColumnEvidence, ...]
    rest: float
    names: tuple[str, str]

    @property
    def sentence(self) -> str:
        """The explanation in words, without the number of the row."""
        if not self.columns:
            return f"{self.names[0]}, the only one."
        sure = "" if math.isnan(self.certainty) else f", certainty {percent(self.certainty)}"
        least = LEAST * sum(abs(one.contribution) for one in self.columns)
        telling = [one for one in self.columns[:SHOWN] if abs(one.contribution) >= least > 0]
        favourable = "; ".join(one.text for one in telling if one.contribution > 0) or "no single column decides"
        against = "; ".join(one.text for one in telling if one.contribution < 0)
        name, next_one = self.names
        but = f". But for {next_one} speaks that {against}" if against else ""
        how = " (by removal of columns)" * (self.how != "exact")
        return f"{name}, next {next_one}{sure}: {favourable}{but}{how}."

    def __str__(self) -> str:
        return f"row {self.row}: {self.sentence}"


@final
@attrs.frozen
class Explanations:
    """Explanations of several rows: a sequence, that prints as a sentence for each.

    Parameters
    ----------
    rows : tuple of Explanation
    """

    rows: tuple[Explanation, ...]

    def __getitem__(self, row: int) -> Explanation:
        return self.rows[row]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rows))

    def to_frame(self, library: str | None = None) -> object:
        """One line for each row and column, as a data frame of "pandas", "polars" or "pyarrow"."""
        lines = [
            {"row": one.row, "cluster": one.label, "next": one.other, "certainty": one.certainty, "how": one.how}
            | attrs.asdict(evidence)
            for one in self.rows
            for evidence in one.columns
        ]
        return as_frame({name: [line[name] for line in lines] for name in (lines or [{}])[0]}, library)


def explain(model: FittedAttributes, rows: object, *, random_state: int = 0) -> Explanations:
    """Why rows are in their clusters: the nearest two clusters, the certainty, and the columns that decide.

    Parameters
    ----------
    model : fitted estimator
        Of this library, loaded from a file or not.
    rows : data frame, array of shape (m, d), dict or list of dicts
        Rows of the fit or new ones, as `predict` takes them.
    random_state : int, default 0
        Seed of the orders in which columns are removed.

    Returns
    -------
    Explanations
        Printed, it is a sentence for each row; `to_frame` makes a table of it.

    Raises
    ------
    InvalidParameter, NotFittedError
        If it is no model of this library, is not fitted, or stores no rows of its fit, to which new ones are compared.

    Notes
    -----
    Exact for mixtures, whose logarithms of likelihoods are sums over the columns, and for k-means and fuzzy c-means,
    whose squared distances are, wherever the feature map does nothing but scale columns. By removal elsewhere: O(m t d)
    labels of rows for up to 32 random orders t of d columns. A method that cannot predict gives a row the label of the
    nearest row of the fit.

    Examples
    --------
    >>> import clusterkit
    >>> table = {"age": [20.0, 21, 23, 70, 71, 74], "town": ["Ulm", "Bonn", "Ulm", "Ulm", "Bonn", "Ulm"]}
    >>> model = clusterkit.recipe("mixture", n_clusters=2, random_state=0).fit(table)
    >>> answer = clusterkit.explain(model, {"age": 68, "town": "Ulm"})
    >>> answer[0].columns[0].column, answer[0].how
    ('age', 'exact')
    """
    if not isinstance(model, FittedAttributes):
        raise InvalidParameter(f"explain: needs a fitted model of clusterkit, got {type(model).__name__}")
    if not hasattr(model, "labels_"):
        raise not_fitted(model, "explain")
    any_model: Any = model
    samples: Array = any_model._rows_of(rows)
    fitted, groups = FittedRows.of(model), groups_of(model, samples.shape[1])
    several, names = len(np.unique(np.asarray(model.labels_))) > 1, names_of_fit(model)
    with ignoring(Warning):  # reading the rows has warned
        predict = model.predictor_ or (None if fitted is None else fitted.nearest)
        extend = getattr(model.predictor_ if model.outcome_ is None else model.outcome_, "extend", None)
        of_columns = None if hasattr(predict, "span") else getattr(extend, "terms", None)
        terms: Array | None = None if of_columns is None else of_columns(samples)
        if predict is None or (fitted is None and several and terms is None):
            raise InvalidParameter(
                f"explain: this {type(model).__name__} has no rows of its fit whose columns could be compared: it was "
                "fitted to blocks of rows, or compares whole rows, as recipe 'embeddings' and matrices of pairs do"
            )
        labels = np.asarray(predict(samples)).astype(np.intp)
        others: Labels = np.full(len(samples), NOISE)
        if fitted is not None and several:
            others = fitted.nearest_others(samples, labels)
        certainty, _ = certainties(model, rows, labels)
        cells = _cells(model, rows, samples)
        if not has_memberships(model):  # it would be that of the values that fill the gaps
            certainty[np.all([cell.missing for cell in cells], axis=0)] = math.nan
        table: Any = rows
        index = table.index.tolist() if hasattr(rows, "iloc") else range(len(labels))
        explained = []
        for i, label in enumerate(labels.tolist()):
            values: Array = np.zeros(len(cells))
            rest, how, other = 0.0, "by removal", NOISE
            scores: Any = np.zeros(1) if terms is None else terms[i].sum(axis=0)
            if several and terms is not None and scores.argmax() == label:
                scores[label] = -np.inf
                how, other = "exact", int(scores.argmax())
                difference = terms[i, :, label] - terms[i, :, other]
                np.add.at(values, groups, difference[:-1])
                rest = float(difference[-1])
            elif several and fitted is not None:
                other, rng = int(others[i]), Seeds.of(random_state).child(str(i)).stream("orders")
                members = rng.permutation(fitted.samples[fitted.labels == other])
                values = _by_removal(predict, samples[i], members, groups, label, rng)
            evidence = []
            for j in np.argsort(-np.abs(values), kind="stable").tolist() if several else []:
                parts = [
                    (called(its, names), fitted.columns[j].values[fitted.labels == its])
                    for its in (label, other)
                    if fitted is not None and its >= 0
                ]
                evidence.append(_evidence(model, cells[j], i, float(values[j]), parts))
            both = called(label, names), called(other, names)
            row = index[i] if isinstance(index[i], int) else str(index[i])
            explained.append(Explanation(row, label, other, float(certainty[i]), how, tuple(evidence), rest, both))
    return Explanations(tuple(explained))


def _by_removal(
    predict: Callable[[Array], Labels], row: Array, others: Array, groups: Indices, label: int, rng: Rng
) -> Array:
    """By how much each column, taken from the row, moves rows of the other cluster to its label, (columns,)."""
    count = int(groups[-1]) + 1
    others = others[: max(1, min(ORDERS, CELLS // (count * len(row))))]
    others = np.where(np.isnan(others).all(axis=0), row, others)  # columns that no stage reads
    orders = rng.permuted(np.tile(np.arange(count), (len(others), 1)), axis=1)
    rank = np.argsort(orders, axis=1)[:, None, groups]
    mixed = np.where(rank < np.arange(count + 1)[:, None], row, others[:, None])
    moved = np.asarray(predict(mixed.reshape(-1, len(row)))).reshape(len(others), -1) == label
    gains = np.zeros(count)
    np.add.at(gains, orders, np.diff(moved.astype(float), axis=1))
    return gains / max(len(others), 1)


def _cells(model: FittedAttributes, rows: object, samples: Array) -> list[RawColumn]:
    """The columns of new rows, with the gaps that a preparation fills."""
    if "preparation_" not in vars(model):
        return columns_of_samples(model, samples)
    coded = attrs.evolve(model.preparation_, coded=True)
    return columns_of_samples(coded, coded.transform(of_records(rows), quiet=True))


def _evidence(
    model: FittedAttributes, column: RawColumn, row: int, contribution: float, parts: Sequence[tuple[str, Array]]
) -> ColumnEvidence:
    """A column of a row, compared with its values in the cluster of the row and in the other one."""
    plans = model.preparation_.plans if "preparation_" in vars(model) else ()
    plan = next((plan for plan in plans if plan.name == column.name), None)
    unit = f" {its}" if (its := getattr(plan, "unit", "")) else ""

    def written(x: float) -> str:
        return in_unit(x, column.kind, getattr(plan, "clock", "")) + unit

    value: Any = column.values[row]
    is_level = column.kind == "category"
    is_gap = bool(column.missing[row])
    has_gaps = bool(getattr(plan, "gaps", 0))
    gap = "missing or new" if is_level and not has_gaps else "missing"
    shown = gap if is_gap else shortened(column.levels[value]) if is_level else written(value)
    # a preparation that fills gaps has left none in the rows of the fit, so that nothing is known of their share
    gaps = [values < 0 if is_level else np.isnan(values) for _, values in parts]
    counts = not (is_gap and has_gaps) or any(one.any() for one in gaps)
    words = list[str]()
    for name, values in parts if counts else ():
        if is_level or is_gap:
            alike = values == value if is_level else np.isnan(values)
            words.append(f"{percent(float(alike.mean()))} of {name}")
            continue
        if getattr(plan, "circle", 0):  # the hours from half a day before the row to half a day after it
            values = value + (values - value + CLOCK / 2) % CLOCK - CLOCK / 2
        mean, spread = float(np.nanmean(values)), float(np.nanstd(values))
        side = "above" if value > mean else "below"
        if spread > 1e-12 * abs(mean):
            side = f"{times(abs(value - mean) / spread)} sd {side}"
        words += [f"{side} {name} ({written(mean)})"] * (mean == mean)
    begin, joint = (" is ", ", as in ") if is_level or is_gap else (" ", " is ")
    text = joint.join(filter(None, [shortened(column.name) + begin + shown, " and ".join(words)]))
    return ColumnEvidence(column.name, shown, contribution, text)
