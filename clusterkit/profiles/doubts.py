"""Reasons why clusters may be no groups: one column makes them, they are far rows, or confidence does not apply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Mask
from clusterkit.contracts.arguments import Clusterer
from clusterkit.drivers.auto import CONFIRMS, restated_in_words
from clusterkit.errors import counted, first_names, shortened
from clusterkit.families.mixtures.mixed_mixture import restating_in_words
from clusterkit.profiles.measures import GroupedSample, draw
from clusterkit.profiles.raw_table import RawTable
from clusterkit.profiles.rows import degrees_of_rows
from clusterkit.tables.preparing.plans import CategoryColumn, ColumnPlan
from clusterkit.tables.preparing.redundant_columns import as_option

MOST_ROWS = 20_000
"""Rows whose gaps are counted, a sample of more: as many as a profile reads."""

MOSTLY = 0.8
"""Share of the rows of a cluster without a value from which the cluster is one of gaps."""

ABOVE = 0.5
"""Smallest excess of this share over that outside: where most rows have gaps they make no cluster of their own."""

SHOWN = 5
"""Columns or clusters that a sentence names."""

FAR = 2.5
"""An outlier has its neighbours at this many times the usual distance, or farther; also used in reports."""

NEAR_ROWS = 5000
"""Number of rows among which neighbours are searched, at regular intervals if there are more."""

MOSTLY_LEVELS = 0.5
"""Share of the variance of the features that is of levels of categories above which the confidence says little: the
tables that it was fitted to have numbers, and rows of levels lie at few distances from each other. Levels beside a few
numbers are many features, but with small weights."""


@final
@attrs.frozen
class Doubts:
    """Reasons why clusters may be no groups, each as a sentence; empty for no reason.

    Parameters
    ----------
    of_column : str
        Sentence about clusters that are the values of one column.
    of_gaps : str
        Sentence about clusters that hold the rows without a value in a column.
    of_single : str
        Sentence about clusters of one row that is far from all others.
    of_levels : str
        Sentence about the confidence of clusters of rows that are mostly levels of categories.
    of_points : str
        Sentence about rows that lie at few points, for which the tests for one cluster mean nothing.
    """

    of_column: str = ""
    of_gaps: str = ""
    of_single: str = ""
    of_levels: str = ""
    of_points: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences that apply."""
        return tuple(filter(None, attrs.astuple(self)))


def doubts(model: Clusterer, table: object, X: Array) -> Doubts:
    """Look for reasons to doubt that clusters are groups.

    Parameters
    ----------
    model : fitted estimator
        Estimator with labels of the rows, and the preparation that it was fitted with.
    table : object
        Table that was prepared.
    X : ndarray of shape (n, features)
        The prepared rows.

    Returns
    -------
    Doubts

    Notes
    -----
    O(n d), and the cells of at most 20,000 rows are read once more; where a cluster has one row, also the
    distances between at most 5,000 rows.
    """
    fitted: Any = model
    labels = np.asarray(fitted.labels_)
    names = np.unique(labels[labels >= 0])
    if len(names) < 2:
        return Doubts()
    return Doubts(
        _of_column(fitted),
        _of_gaps(fitted, table, labels, len(names)),
        _of_single(X, labels, names),
        _of_levels(fitted, X),
        _of_points(fitted, len(names)),
    )


def _of_gaps(model: Any, table: object, labels: Labels, k: int) -> str:
    """The sentence about clusters of gaps."""
    having = [plan.name for plan in model.preparation_.plans if getattr(plan, "gaps", 0)]
    if not having:
        return ""
    rows = RawTable.of(table, None, model, "doubts")
    sample = draw(labels, MOST_ROWS, np.random.default_rng(0))
    clusters = {
        column.name: its
        for column in rows.columns(sample.rows)
        if column.name in having and (its := _mostly(column.missing, sample))
    }
    if not clusters:
        return ""
    every = sorted({label for its in clusters.values() for label in its})
    parts = [
        f"{_clusters(its)} {'holds' if len(its) == 1 else 'hold'} {'the rows' if not place else 'those'} whose "
        f"{shortened(name)!r} is missing"
        for place, (name, its) in enumerate(list(clusters.items())[:SHOWN])
    ]
    what = "it may come from the gaps, not from a group" if len(every) == 1 else (
        "they may come from the gaps, not from groups"
    )  # fmt: skip
    otherwise = _otherwise(k - len(every), list(clusters), model)
    written = [
        word for plan in model.preparation_.plans if plan.name in clusters for word in getattr(plan, "spelled", ())
    ]
    if written:
        otherwise = (
            f"--na level (na='level' in Python), as {first_names(written, SHOWN)} may be a level, or with {otherwise}"
        )
    return f"{_begun('; '.join(parts))}: {what}; compare with {otherwise}."


def _mostly(missing: Mask, sample: GroupedSample) -> list[int]:
    """The clusters in which most rows are marked, unlike in the others."""
    gaps, rows = sample.weights * missing, sample.weights
    chosen = []
    for j, label in enumerate(sample.names.tolist()):
        part = sample.part(j)
        inside = gaps[part].sum() / rows[part].sum()
        outside = (gaps.sum() - gaps[part].sum()) / max(rows.sum() - rows[part].sum(), 1.0)
        if label >= 0 and inside >= MOSTLY and inside - outside >= ABOVE:
            chosen.append(label)
    return chosen


def _of_single(X: Array, labels: Labels, names: Labels) -> str:
    """The sentence about clusters of one row that is far from all others."""
    rows = [int(np.flatnonzero(labels == name)[0]) for name in names if (labels == name).sum() == 1]
    if not rows or len(rows) > SHOWN or len(rows) == len(names):
        return ""
    others = np.delete(np.arange(len(X)), rows)
    chosen = np.concatenate([rows, others[:: -(-len(others) // NEAR_ROWS)]]).astype(np.intp)
    if len(chosen) < len(rows) + 2:
        return ""
    degrees = degrees_of_rows(X[chosen], labels[chosen], np.arange(len(rows), len(chosen)))
    far = [row for row, its in zip(rows, degrees.distance.tolist(), strict=False) if its >= FAR]
    if not far:
        return ""
    each = [f"cluster {labels[row]} is row {row + 1} alone" for row in far]
    which = "which is far from all others: an outlier" if len(far) == 1 else "far from all others: outliers"
    return f"{_begun(' and '.join(each))}, {which}, rather than {'a group' if len(far) == 1 else 'groups'} of rows."


def _of_levels(model: Any, X: Array) -> str:
    """The sentence about a confidence that was fitted to tables of another kind."""
    if not np.isfinite(getattr(model, "confidence_", np.nan)):
        return ""
    plans: Sequence[ColumnPlan] = model.preparation_.plans
    are_levels = np.concatenate([np.full(len(plan.features), isinstance(plan, CategoryColumn)) for plan in plans])
    variances = X.var(axis=0, dtype=np.float64)
    share = variances[are_levels].sum() / variances.sum()
    if share <= MOSTLY_LEVELS:
        return ""
    which = "All features are" if are_levels.all() else "What rows differ in is mostly"
    second = getattr(model, "second_n_clusters_", None)
    also = "" if second is None else f", and {counted(second, 'cluster')} may be as good an answer"
    return (
        f"{which} levels of categories, and the confidence was fitted to tables of numbers: it says little here{also}."
    )


def _of_points(model: Any, k: int) -> str:
    """The sentence about rows that are equal to many others."""
    points = model.resolved_.get("auto", {}).get("points")
    if points is None:
        return ""
    filled = ", once their gaps are filled" * any(getattr(plan, "gaps", 0) for plan in model.preparation_.plans)
    if k >= points:
        return f"The rows lie at {points} points only{filled}: every cluster is one of them, of equal rows."
    return (
        f"The rows lie at {points} points only{filled}: which of them belong together is "
        f"open; -k {points} makes each of them a cluster."
    )


def _of_column(model: Any) -> str:
    """The sentence about clusters that restate a column, which fits of `auto` and of a mixture look for."""
    facts = model.resolved_.get("auto", {}).get("restates")
    if facts is None or facts["similarity_without"] >= CONFIRMS:
        doubt = restating_in_words(model.resolved_.get("solver", {}))
        return f"{_begun(doubt)}." if doubt else ""
    return f"{_begun(restated_in_words(facts))}; see --drop {as_option([facts['column']])}."


def _clusters(labels: Sequence[int]) -> str:
    return f"cluster{'s' * (len(labels) > 1)} {first_names([str(label) for label in labels], SHOWN)}"


def _begun(text: str) -> str:
    return text[0].upper() + text[1:]


def _otherwise(k: int, names: Sequence[str], model: Any) -> str:
    """The options that keep some columns from making the clusters."""
    # at least one column must be left to cluster
    drop = f"--drop {as_option(names)}" if len(names) < sum(plan.used for plan in model.preparation_.plans) else ""
    finds_number = hasattr(model, "labeler") and model.n_clusters is None  # by stages, which take no number
    fewer = f"-k {k}" if k > 1 and not finds_number else ""
    return ", or with ".join(text for text in (fewer, drop) if text) or "the table without these rows"
