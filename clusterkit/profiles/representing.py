"""A few representative rows of each cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from clusterkit._typing import Array, Indices, Labels, RandomState
from clusterkit.contracts.arguments import Clusterer
from clusterkit.contracts.labelings import NOISE
from clusterkit.contracts.params import check_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidData
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.selection import sample_rows
from clusterkit.numerics.threads import ignoring
from clusterkit.profiles.measures import labels_of, measures_of
from clusterkit.profiles.raw_table import RawTable
from clusterkit.samples import FeatureSpace, Space
from clusterkit.samples.mixed_space import MixedSpace

SPREAD = math.sqrt(12.0)
"""Range of numbers all over an interval that have the variance 1."""


def representatives(
    model: Clusterer | Labels | Sequence[int],
    X: object,
    n: int = 3,
    *,
    max_rows: int = 500,
    random_state: RandomState = 0,
) -> dict[int, Indices]:
    """Representative rows of each cluster: the most central one, then those that cover the rest of the cluster best.

    Parameters
    ----------
    model : fitted estimator or array of shape (n,)
        Any estimator with ``labels_``, or integer labels; labels below 0 are noise, which has no representatives.
    X : array-like, sparse matrix or data frame of shape (n, d)
        With the samples that a model of this library was fitted on, distances are measured in its space: features, or
        the coordinates of its kernel. With labels, another model or a raw table, columns are standardised, words are
        indicators, and gaps are filled with the median.
    n : int, default 3
        Rows for each cluster; clusters with fewer rows give all.
    max_rows : int, default 500
        For larger clusters a random sample of this many rows is used.
    random_state : int, Generator, RandomState or None, default 0

    Returns
    -------
    dict of int to ndarray
        Row numbers of X for each label; the first is the medoid.

    Raises
    ------
    InvalidParameter, InvalidData, NotFittedError
        If an argument is wrong, X has another number of rows, or the model is not fitted.

    Notes
    -----
    The first rows of BUILD in partitioning around medoids (Kaufman, Rousseeuw 1990, section 2.4): each is the row that
    lowers the sum of the distances to the nearest representative most. O(k m² d) time for m = `max_rows`, whatever n.

    Examples
    --------
    >>> import clusterkit
    >>> rows = clusterkit.representatives([0, 0, 0, 1, 1, 1], [[0], [1], [5], [20], [22], [23]], n=1)
    >>> {label: index.tolist() for label, index in rows.items()}
    {0: [1], 1: [4]}
    """
    n = check_count("n", n)
    max_rows = check_count("max_rows", max_rows)
    table = RawTable.of(X, None, model, "representatives")
    labels = labels_of(model, table.n, "representatives")
    rng = Seeds.of(random_state).stream("rows")
    members: dict[int, Indices] = {}
    for label in np.unique(labels[labels > NOISE]).tolist():
        rows: Indices = np.flatnonzero(labels == label)
        members[label] = rows[sample_rows(len(rows), max_rows, rng)]
    if not members:
        return {}
    everything = np.concatenate(list(members.values()))
    points = coordinates(model, table, everything)
    chosen: dict[int, Indices] = {}
    start = 0
    for label, of_label in members.items():
        chosen[label] = of_label[_medoids(points[start : start + len(of_label)], n)]
        start += len(of_label)
    return chosen


def coordinates(model: object, table: RawTable, rows: Indices) -> Array:
    """Coordinates, (m, r), of some rows in the space of the model, or in standardised columns if it has no space."""
    space = getattr(model, "space_", None)
    samples: Array | None = None
    if table.preparation is not None:
        samples = table.preparation.transform(table.take(rows), quiet=True)
    elif isinstance(space, Space) and getattr(model, "n_features_in_", None) == len(table.names):
        fitted: Any = model
        with suppress(ValueError), ignoring(Warning):  # a table that the model does not take has coordinates too
            samples = fitted._rows_of(table.take(rows))
    if samples is not None:
        return points_of(space, samples) if isinstance(space, Space) else samples
    measures, _ = measures_of(table.columns(rows))
    if not measures:
        return np.zeros((len(rows), 1))
    values = np.column_stack([measure.values for measure in measures])
    values = np.where(np.isnan(values), np.nanmedian(values, axis=0), values)
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def points_of(space: Space, samples: Array, first: int | None = None) -> Array:
    """Coordinates of rows, as the stages take them, in the space of a model, (m, r); the first rows fill gaps."""
    samples = samples.astype(space.dtype, copy=False)
    points: Array = np.asarray(space.at(samples) if isinstance(space, FeatureSpace) else space.coordinates(samples))
    if isinstance(space, MixedSpace):
        numbers, codes = space.parts(points)
        levels = zip(codes.T, space.n_levels.tolist(), space.level_forms, strict=True)
        # free levels, and gaps as one more, are apart as random numbers are on average; others have their order
        parts = [
            np.eye(n + 1)[x] if form == "free" else SPREAD / n * np.where(x < 0, np.nan, x)[:, None]
            for x, n, form in levels
        ]
        points = np.hstack([numbers, *parts])
    if (gaps := np.isnan(points)).any():  # mixed columns keep theirs
        known = points[:, ~gaps[:first].all(axis=0)]
        points = np.where(np.isnan(known), np.nanmedian(known[:first], axis=0), known)
    if not points.shape[1] or np.isinf(points).any():
        raise InvalidData("the space of the model has no finite coordinates for these rows")
    return points


def _medoids(points: Array, n: int) -> Indices:
    """The first n rows of BUILD, by index."""
    distances = np.sqrt(np.maximum(squared_distances(points, points), 0.0))
    nearest = np.full(len(points), np.inf)
    chosen: list[int] = []
    for _ in range(min(n, len(points))):
        sums = np.minimum(distances, nearest).sum(axis=1)
        sums[chosen] = np.inf
        chosen.append(int(np.argmin(sums)))
        nearest = np.minimum(nearest, distances[chosen[-1]])
    return np.array(chosen, dtype=np.intp)
