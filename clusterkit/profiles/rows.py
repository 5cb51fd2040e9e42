"""What is known of each row of a clustering: its cluster, how certain that is, how far out it lies.

`assign` writes it beside the columns of a table, and `relabel` keeps the numbers of earlier clusters after another fit.
`degrees_of_rows` compares each row with its nearest ones, which also finds the odd rows of a report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, Indices, Labels, RandomState
from clusterkit.contracts.arguments import Clusterer
from clusterkit.contracts.labelings import NOISE
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.estimators.base import FittedAttributes
from clusterkit.estimators.preparing import of_records
from clusterkit.numerics.selection import sample_rows
from clusterkit.numerics.threads import ignoring
from clusterkit.profiles.measures import draw, is_model, labels_of, not_fitted
from clusterkit.profiles.naming import called, names_of_fit
from clusterkit.profiles.raw_table import RawColumn, RawTable, as_frame, columns_of_samples
from clusterkit.profiles.representing import coordinates, points_of
from clusterkit.samples import Space
from clusterkit.samples.transform import ChosenColumns

NEIGHBOURS = 10
"""Number of neighbours that are counted: as many as DBSCAN and LOF are used with."""

MOST_FITTED = 20_000
"""Rows of the fit with which a row is compared; a sample of more, in which small clusters have more rows."""

USUAL = (1.0, 0.5)
"""The usual distance is the larger of so many times the median and the ninth decile: where rows lie densely in some
levels of categories and thinly in others, or in the tails of a single column, many lie far beyond the median."""

ITSELF = 1e-9
"""Distance of a row from itself at most, beside that of its neighbours: the rounding of scales that were applied, taken
back and applied again."""

MOST_ROWS = 5000
"""Largest number of rows among which neighbours are searched; a random sample if there are more."""


class DegreesOfRows(NamedTuple):
    """Rows compared with their nearest ones, each array (n,).

    `share` is the part of its neighbours that is in other clusters; `distance` the distance from the farthest of them,
    in units of the usual one of its cluster (`USUAL`); `other` the cluster of most neighbours in other ones, -1 for
    none; and `neighbours` how many were counted, 0 for a row that is alone in its cluster.
    """

    share: Array
    distance: Array
    other: Labels
    neighbours: Indices


def degrees_of_rows(points: Array, labels: Labels, among: Indices, first: int = 0) -> DegreesOfRows:
    """Compare each row of `points` (n, r) from `first` on with its `NEIGHBOURS` nearest of the rows `among`.

    A row is left out of its own neighbours. Where `first` is not 0, the rows before it are those `among`, and an equal
    one of these counts as the row itself.

    Of a cluster with fewer rows no more neighbours are counted than it has other rows. Noise is no cluster: neighbours
    that are noise are in no other one, and the share of a noise row is 0. O(n m r) time for m rows `among`.
    """
    from sklearn.neighbors import NearestNeighbors

    n, m = len(points), len(among)
    among = np.random.default_rng(0).permutation(among)  # of equally near rows any come, not the first
    inside = np.zeros(n, dtype=bool)
    inside[among] = True
    size = min(NEIGHBOURS, m - 1)
    distances, near = NearestNeighbors(n_neighbors=min(size + 1, m)).fit(points[among]).kneighbors(points)
    near = among[near]
    # a row that is searched is not its own neighbour; where equal rows hide it, the last one is left out in its place
    itself = near == np.arange(n)[:, None]
    if first:
        itself[first:, 0] = inside[first:] = distances[first:, 0] <= ITSELF * distances[first:, -1]
    itself[~itself.any(axis=1), -1] = True
    distances, near = distances[~itself].reshape(n, -1), near[~itself].reshape(n, -1)
    around = labels[near]
    others = (around != labels[:, None]) & (around != NOISE)
    names, place = np.unique(labels, return_inverse=True)
    place = place.ravel()
    counts = np.bincount(place[among], minlength=len(names))
    counted = np.minimum(counts[place] - inside, size)
    share = (others & (np.arange(size) < counted[:, None])).sum(axis=1) / np.maximum(counted, 1)
    share[labels == NOISE] = 0.0
    radius = distances[:, -1] if size else np.zeros(n)
    usual, usually = np.ones(len(names)), among if first else np.arange(n)
    of_usual = radius[usually]
    for j, name in enumerate(names.tolist()):
        # noise has no usual distance, nor has a cluster most of whose neighbours are outside
        mine = place[usually] == j
        apart = labels[usually] != NOISE if name == NOISE else ~mine
        alike = apart if (name == NOISE or 2 * mine.sum() <= NEIGHBOURS) and apart.any() else mine
        usual[j] = (np.quantile(of_usual[alike], (0.5, 0.9)) * USUAL).max()
    usual = usual[place]
    distance = np.divide(radius, usual, out=np.ones(n), where=usual > 0)
    other = np.full(n, NOISE)
    for i in np.flatnonzero(others.any(axis=1)).tolist():
        other[i] = np.bincount(around[i][others[i]]).argmax()
    return DegreesOfRows(share[first:], distance[first:], other[first:], counted[first:])


@final
@attrs.frozen(eq=False)
class FittedRows:
    """Rows of a fit that its model stores.

    Parameters
    ----------
    space : Space
    samples : ndarray of shape (n, d)
        As the stages take them; nan in columns that they leave out.
    labels : ndarray of shape (n,)
    columns : list of RawColumn
        The same rows in the units of the table.
    """

    space: Space
    samples: Array
    labels: Labels
    columns: list[RawColumn]

    @classmethod
    def of(cls, model: FittedAttributes) -> FittedRows | None:
        """The rows of a model; None where it has none in the columns of its table."""
        space, tags = vars(model).get("space_"), model.__sklearn_tags__()
        if space is None or not space.in_memory or space.sparse or tags.input_tags.pairwise:
            return None
        points = space.points
        labels = np.asarray(model.labels_) if len(model.labels_) == len(points) else None
        if labels is not None:
            chosen = draw(labels, MOST_FITTED, np.random.default_rng(0)).rows
            points, labels = points[chosen], labels[chosen]
        for step in reversed(space.coordinates.steps):
            if isinstance(step, ChosenColumns):
                wide = np.full((len(points), len(groups_of(model, model.n_features_in_))), np.nan)
                wide[:, step.index], points = points, wide
            elif hasattr(step, "inverse"):
                points = step.inverse(points)
            else:
                return None
        if labels is None and model.predictor_ is not None:  # they are a sample of the rows
            labels = np.asarray(model.predictor_(points))
        return None if labels is None else cls(space, points, labels, columns_of_samples(model, points))

    def distances(self, samples: Array) -> Array:
        """Distances of rows to those of the fit in the space of the model, (m, n)."""
        from scipy.spatial.distance import cdist

        # together, so that gaps of a row are filled as among those of the fit, and have as many coordinates
        points = points_of(self.space, np.vstack([self.samples, samples]), len(self.samples))
        return cdist(points[len(self.samples) :], points[: len(self.samples)])

    def nearest(self, samples: Array) -> Labels:
        """The label of the nearest row, for methods that cannot predict."""
        return self.labels[self.distances(samples).argmin(axis=1)]

    def nearest_others(self, samples: Array, labels: Labels) -> Labels:
        """The cluster of the nearest row of another cluster, -1 for none, of rows with labels."""
        distances = self.distances(samples)
        distances[(labels[:, None] == self.labels) | (self.labels < 0)] = np.inf
        return np.where(np.isinf(distances.min(axis=1)), NOISE, self.labels[distances.argmin(axis=1)])


def groups_of(model: FittedAttributes, d: int) -> Indices:
    """The number of the column of each of the d attributes that the stages take."""
    widths = [1] * d if "preparation_" not in vars(model) else model.preparation_.widths
    return np.repeat(np.arange(len(widths)), widths)


def assign(
    model: Clusterer | Labels | Sequence[int], X: object, *, prefix: str = "", random_state: RandomState = 0
) -> object:
    """The table X with what the clustering says about each row, in three more columns.

    Parameters
    ----------
    model : fitted estimator or array of shape (n,)
        An estimator labels X by its `predict`, so that X may have new rows. One that cannot predict, and an array of
        labels, need the rows that were fitted.
    X : array-like, sparse matrix or data frame of shape (n, d)
        The raw table, or as for `predict` a dict for one row, or a list of them. A data frame of pandas or Polars, or a
        table of PyArrow comes back as such, its index too.
    prefix : str, default ""
        Before the names of the columns.
    random_state : int, Generator, RandomState or None, default 0
        Seed of the sample of 5,000 rows among which neighbours are searched, if there are more.

    Returns
    -------
    data frame
        X with the columns ``cluster``, the label, -1 for noise; ``certainty`` in [0, 1], the degree of membership in
        this cluster where the method has degrees for new rows, or else the share of the ten nearest rows of the fit
        (of X, where the model stores none) that is not in another cluster, 0 for noise and nan for a row that is alone
        in its cluster; and ``distance``, that from the tenth nearest row in units of the median of its cluster (of all
        others, where it has five rows or fewer), or of half the ninth decile where this is more, of which 2.5 and more
        is an outlier. Where the method
        `rename` of the model named its clusters, ``name`` too.

    Raises
    ------
    InvalidParameter
        If X has a column of one of these names: choose a prefix.
    InvalidData, NotFittedError, ImportError
        If X has another number of rows than there are labels, the model is not fitted, or no library of data frames is
        installed.

    Notes
    -----
    O(n m r) time for m of at most 5,000 rows, and r coordinates in the space of the model.

    Examples
    --------
    >>> import clusterkit, pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 21, 23, 70, 71, 74]})
    >>> clusterkit.assign([0, 0, 0, 1, 1, 1], frame)[["age", "cluster", "certainty"]].iloc[[0, 5]]
       age  cluster  certainty
    0   20        0        1.0
    5   74        1        1.0
    """
    X = of_records(X)
    table = RawTable.of(X, None, model, "assign")
    known = getattr(model, "names_", {}) if names_of_fit(model) else {}
    names = [prefix + name for name in ("cluster", "certainty", "distance", *["name"] * bool(known))]
    if taken := [name for name in names if name in table.names]:
        raise InvalidParameter(f"assign: X has a column {taken[0]!r} already; choose a prefix, such as prefix='new_'")
    labels = _labels(model, X, table)
    values: list[Any] = [labels, *certainties(model, X, labels, random_state)]
    values += [np.array([called(label, known) for label in labels.tolist()], dtype=object)] * bool(known)
    return _beside(X, table, dict(zip(names, values, strict=True)))


def certainties(model: object, X: object, labels: Labels, random_state: RandomState = 0) -> tuple[Array, Array]:
    """The certainty and the distance of each row of a table, as `assign` has them, for labels that are known."""
    fitted: Any = model
    with ignoring(Warning):  # reading the rows has warned
        stored = FittedRows.of(fitted) if isinstance(model, FittedAttributes) else None
        if stored is None:
            table = RawTable.of(X, None, model, "assign")
            points, of_all, first = coordinates(model, table, np.arange(table.n)), labels, 0
        else:  # together, so that gaps are filled as among the rows of the fit
            n = len(stored.labels)
            points = points_of(stored.space, np.vstack([stored.samples, fitted._rows_of(X)]), n)
            drawn = sample_rows(n, MOST_ROWS, Seeds.of(random_state).stream("rows"))
            rows = np.concatenate([np.sort(drawn), np.arange(n, len(points))])
            points, of_all, first = points[rows], np.concatenate([stored.labels, labels])[rows], len(drawn)
    certainty, distance = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    if len(points) > 1:
        among = np.sort(sample_rows(first or len(points), MOST_ROWS, Seeds.of(random_state).stream("rows")))
        share, distance, _, neighbours = degrees_of_rows(points, of_all, among, first)
        certainty = np.where(neighbours > 0, 1.0 - share, np.nan)
        certainty[labels == NOISE] = 0.0
    return _memberships(model, X, labels) if has_memberships(model) else certainty, distance


def _labels(model: Any, X: object, table: RawTable) -> Labels:
    """The labels of the rows of X: those of `predict`, or of the fit where a method cannot predict."""
    if is_model(model):
        if not hasattr(model, "labels_"):
            raise not_fitted(model, "assign")
        if hasattr(model, "predict"):
            return np.asarray(model.predict(X)).astype(np.intp)
    return labels_of(model, table.n, "assign")


def has_memberships(model: object) -> bool:
    """Whether a method has degrees of membership for new rows.

    How deep a row is in its cluster (`probabilities_`) is none: a row at the rim may have no other cluster near it.
    """
    return is_model(model) and hasattr(model, "predict_proba") and not hasattr(model, "probabilities_")


def _memberships(model: Any, X: object, labels: Labels) -> Array:
    """The degree of membership of each row in its cluster."""
    degrees = np.asarray(model.predict_proba(X))
    if labels.max(initial=NOISE) >= degrees.shape[1]:
        raise InvalidData(f"the model has memberships in {degrees.shape[1]} clusters, and a row has a larger number")
    certainty = np.zeros(len(labels))
    inside = np.flatnonzero(labels >= 0)  # a model without clusters has no column that noise could be looked up in
    certainty[inside] = degrees[inside, labels[inside]]
    return certainty


def _beside(X: Any, table: RawTable, columns: Mapping[str, AnyArray]) -> object:
    """X with further columns: a data frame of its own kind, or of the library that is installed."""
    from clusterkit.tables.reading.frames import is_frame

    if is_frame(X):
        import narwhals as nw

        frame: Any = nw.from_native(X, eager_only=True)
        index = getattr(X, "index", None)
        series = [nw.new_series(name, values, backend=frame.implementation) for name, values in columns.items()]
        if index is not None and frame.implementation.is_pandas_like():
            series = [nw.maybe_set_index(one, index=nw.maybe_get_index(frame)) for one in series]
        native: object = frame.with_columns(*series).to_native()
        return native
    rows = table.columns(np.arange(table.n))
    raw: dict[str, Any] = {
        name: column.values
        if column.kind != "category"
        else np.array([None if code < 0 else column.levels[code] for code in column.values.tolist()], dtype=object)
        for name, column in zip(table.names, rows, strict=True)
    }
    return as_frame(raw | dict(columns), None)


@final
@attrs.frozen(eq=False)
class Relabelled:
    """Labels with the numbers of an earlier clustering.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels of the rows; -1 stays -1.
    numbers : mapping of int to int
        The number of each cluster, by its label in the fit.
    """

    labels: Labels
    numbers: Mapping[int, int]

    def __call__(self, labels: Labels | Sequence[int]) -> Labels:
        """Further labels of the same fit, such as those of its `predict`, in these numbers."""
        return np.array([self.numbers.get(int(label), NOISE) for label in np.asarray(labels)], dtype=np.intp)


def relabel(
    model: Clusterer | Labels | Sequence[int], like: Clusterer | Labels | Sequence[int], X: object = None
) -> Relabelled:
    """Number the clusters of a fit as those of an earlier one that they share the most rows with.

    Parameters
    ----------
    model : fitted estimator or array of shape (n,)
        The later clustering.
    like : fitted estimator or array
        The earlier one, of the same rows in the same order; or, with X, a model that predicts them.
    X : table of shape (n, d), optional
        The rows of `model`, if `like` was fitted to others.

    Returns
    -------
    Relabelled
        Clusters are matched one to one, so that the matched pairs share as many rows as possible (Kuhn 1955). One that
        is left over gets the next number that no earlier cluster had.

    Raises
    ------
    InvalidData
        If there are other numbers of rows.

    Examples
    --------
    >>> import clusterkit
    >>> after = clusterkit.relabel([1, 1, 0, 0, 2], like=[0, 0, 1, 1, 1])
    >>> after.labels.tolist(), after([2, 0, -1]).tolist()
    ([0, 0, 1, 1, 2], [2, 1, -1])
    """
    from scipy.optimize import linear_sum_assignment

    later = labels_of(model, len(np.asarray(getattr(model, "labels_", model))), "relabel")
    if X is None:
        earlier = labels_of(like, len(later), "relabel")
    elif not hasattr(like, "predict"):
        raise InvalidParameter(f"relabel: with X, like must be a model that predicts, got {type(like).__name__}")
    else:
        predictor: Any = like
        earlier = labels_of(np.asarray(predictor.predict(X)), len(later), "relabel")
    names, before = np.unique(later[later >= 0]), np.unique(earlier[earlier >= 0])
    both = (later >= 0) & (earlier >= 0)
    shared = np.zeros((len(names), len(before)))
    np.add.at(shared, (np.searchsorted(names, later[both]), np.searchsorted(before, earlier[both])), 1)
    pairs = zip(*linear_sum_assignment(-shared), strict=True)
    numbers = {int(names[i]): int(before[j]) for i, j in pairs if shared[i, j]}
    fresh = int(before.max(initial=-1)) + 1
    for name in names.tolist():
        if name not in numbers:
            numbers[name] = fresh
            fresh += 1
    known = Relabelled(later, numbers)
    return Relabelled(known(later), numbers)
