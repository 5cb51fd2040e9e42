"""The fits and the numbers of a report.

`odd_rows` finds rows between clusters, and rows far from all others, by their nearest neighbours.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts.arguments import NumberLike
from clusterkit.contracts.labelings import NOISE
from clusterkit.contracts.registry import registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.compose import is_open
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter
from clusterkit.estimators.auto import Auto
from clusterkit.estimators.base import FittedAttributes
from clusterkit.estimators.build import recipe
from clusterkit.estimators.preparing import attach, fit_prepared
from clusterkit.numerics.selection import sample_rows
from clusterkit.profiles import Comparison, Profile, profile, representatives
from clusterkit.profiles.comparing import ComparedSamples, compared
from clusterkit.profiles.doubts import FAR, Doubts, doubts
from clusterkit.profiles.raw_table import RawTable
from clusterkit.profiles.representing import coordinates
from clusterkit.profiles.rows import MOST_ROWS, degrees_of_rows
from clusterkit.tables import FittedPreparation, Preparation, Table, TableWarning

AT_LEAST = 3
"""Number of farthest rows that are listed even if none is an outlier."""

MIXED = 0.2
"""A row is on a border if at least this share of its neighbours is in other clusters; all neighbours of a row that is a
cluster by itself are, which says nothing."""


@final
@attrs.frozen
class OddRow:
    """A row on a border, or an outlier.

    Parameters
    ----------
    row : int
        Row number, from 0.
    label : int
    other : int
        The nearest other cluster, or the one of most of its neighbours; -1 for none.
    value : float
        For a row on a border the share of neighbours in other clusters; for an outlier its distance from its
        neighbours, in units of the usual one of its cluster.
    """

    row: int
    label: int
    other: int
    value: float


def odd_rows(X: Array, labels: Labels, count: int, rng: Rng) -> tuple[list[OddRow], list[OddRow]]:
    """The rows that are most clearly on a border, and the rows that are farthest out, at most `count` each.

    The three farthest rows are listed even if they are no outliers.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    labels : ndarray of shape (n,)
    count : int
    rng : Generator

    Returns
    -------
    borders, outliers : list of OddRow
        The most extreme first.

    Notes
    -----
    On at most 5,000 rows: O(m² d).
    """
    chosen = sample_rows(len(X), MOST_ROWS, rng)
    if len(chosen) < 4:
        return [], []
    members = labels[chosen]
    degrees = degrees_of_rows(X[chosen], members, np.arange(len(chosen)))
    share, distance = degrees.share, degrees.distance
    borders = [i for i in np.argsort(-share, kind="stable")[:count].tolist() if share[i] >= MIXED]
    farthest = np.argsort(-distance, kind="stable")[:count].tolist()
    outliers = [i for place, i in enumerate(farthest) if distance[i] >= FAR or place < AT_LEAST]

    def odd(i: int, value: float) -> OddRow:
        return OddRow(int(chosen[i]), int(members[i]), int(degrees.other[i]), value)

    return [odd(i, float(share[i])) for i in borders], [odd(i, float(distance[i])) for i in outliers]


RIVALS = ("kmeans", "emmc", "genie", "hdbscan")
"""Methods that are compared with the chosen one where none are named: one for round clusters, one for wide margins, one
for chains and one for density."""

OF_TABLES = ("mixture",)
"""The same for tables with categories: one that takes them as they are."""

COMPARED_ROWS = 5000
"""Largest number of rows to which the compared methods are fitted, a random sample if there are more: some methods take
quadratic time."""

LISTED = 10
"""Rows on borders, and outliers, that are listed."""


@attrs.frozen(eq=False)
class Answer:
    """Clusters of a fit, and what there is to doubt of them.

    Parameters
    ----------
    model : Auto, or another fitted estimator
        The fit whose clusters are described.
    wanted : int, pair, "auto" or None
        The number of clusters that was asked for.
    clusters : Profile
    doubts : Doubts
        Reasons why clusters may be no groups.
    seed : int
    """

    model: FittedAttributes
    wanted: NumberLike
    clusters: Profile
    doubts: Doubts
    seed: int

    @property
    def _choice(self) -> Mapping[str, Any]:
        """What `auto` says about its choice; empty for other methods."""
        return _choice(self.model)

    @property
    def chose_number(self) -> bool:
        """Whether the number of clusters was chosen by the fit."""
        return self.wanted is None or is_open(self.wanted)

    @property
    def method(self) -> str:
        """The method that was chosen, a recipe with the parameters that differ from it: "kmeans(n_init=5)"."""
        return _method(self.model)

    @property
    def recipe(self) -> str:
        """Name of the recipe of this method, "kmeans"."""
        return recipe_of(self.method)


@final
@attrs.frozen(eq=False)
class Analysis(Answer):
    """Results that a report shows: an answer, and these.

    Parameters
    ----------
    model, wanted, clusters, doubts, seed
        As of an `Answer`.
    table : Table
    preparation : FittedPreparation
    X : ndarray of shape (n, features)
        The prepared rows.
    comparison : Comparison
        Comparison of the chosen clustering with other methods, on at most 5,000 rows.
    compared_rows : ndarray
        Row numbers of the compared rows.
    examples : mapping of int to ndarray
        Representative rows of each cluster.
    borders, outliers : tuple of OddRow
    seconds : float
    warnings : tuple of str
        Warnings of the fits.
    """

    table: Table
    preparation: FittedPreparation
    X: Array
    comparison: Comparison
    compared_rows: Indices
    examples: Mapping[int, Indices]
    borders: tuple[OddRow, ...]
    outliers: tuple[OddRow, ...]
    seconds: float
    warnings: tuple[str, ...]

    @property
    def labels(self) -> Labels:
        """The clusters of the rows, (n,)."""
        return self.model.labels_

    @property
    def compared_points(self) -> Array:
        """The rows that were compared, in the space of the indices: each column standardised."""
        rows = RawTable.of(self.X[self.compared_rows], None, None, "report")
        return coordinates(None, rows, np.arange(rows.n))

    @property
    def rivals(self) -> tuple[int, ...]:
        """Positions in `comparison` of the methods other than the chosen one, which may be named a second time."""
        return tuple(j for j, one in enumerate(self.comparison.methods) if j and one.name != self.recipe)


def _choice(model: FittedAttributes) -> Mapping[str, Any]:
    facts: Any = model.resolved_.get("auto", {})
    return facts if isinstance(facts, Mapping) else {}


def _method(model: FittedAttributes) -> str:
    return str(_choice(model).get("recipe") or getattr(model, "_recipe", None) or "none")


def recipe_of(method: str) -> str:
    """The name of the recipe in that of a candidate, "kmeans" in "kmeans(n_init=5)"."""
    return method.partition("(")[0]


def analyse(
    table: Table,
    *,
    n_clusters: NumberLike = None,
    methods: Sequence[str] = (),
    preparation: Preparation | None = None,
    seed: int = 0,
    model: FittedAttributes | None = None,
) -> Analysis:
    """Cluster a table, compare methods, and describe the clusters.

    Parameters
    ----------
    table : Table
    n_clusters : int, pair of int, "auto" or None, default None
        None and "auto" choose it; a pair says among which.
    methods : sequence of str, default ()
        Recipes to compare; those that can be in the pool of `Auto` are its candidates. Default: the pool of `Auto`, and
        `RIVALS`.
    preparation : Preparation, optional
    seed : int, default 0
    model : fitted estimator, optional
        One that was fitted to the rows of this table, whose clusters are described instead of those of a new fit.

    Returns
    -------
    Analysis

    Raises
    ------
    UnknownName
        If there is no such recipe.
    TableError, InvalidData
        If the table cannot be used.
    """
    began = time.perf_counter()
    pool = _pool(methods)
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ClusterkitWarning)
        if model is None:
            model = Auto(n_clusters=n_clusters, pool=pool, random_state=seed)
            X = fit_prepared(model, table, preparation)
        else:
            model, X = prepared_as_fitted(model, table)
            n_clusters, preparation = getattr(model, "n_clusters", None), model.preparation_.preparation
        fitted = model.preparation_
        seeds = Seeds.of(seed)
        rows = sample_rows(len(X), COMPARED_ROWS, seeds.stream("compared"))
        part = table if len(rows) == len(X) else table.take(rows)
        comparison = _comparison(model, X[rows], part, preparation, methods, rows)
    messages += [str(warning.message) for warning in caught if issubclass(warning.category, ClusterkitWarning)]
    for text in dict.fromkeys(str(warning.message) for warning in caught if issubclass(warning.category, TableWarning)):
        warnings.warn(text, TableWarning, stacklevel=3)  # not on the page alone: the table may have been misread
    clusters = profile(model, table, random_state=seed)
    borders, outliers = odd_rows(X, model.labels_, LISTED, seeds.stream("odd"))
    examples = representatives(_without(outliers, model.labels_), X, random_state=seed)
    typical = {row for of_cluster in examples.values() for row in of_cluster.tolist()}
    # a far row that is a cluster by itself represents it, and is an outlier all the same
    outliers = [one for one in outliers if one.row not in typical or one.value >= FAR]
    return Analysis(
        model, n_clusters, clusters, doubts(model, table, X), seed, table, fitted, X, comparison, rows, examples,
        tuple(borders), tuple(outliers), time.perf_counter() - began, tuple(dict.fromkeys(messages)),
    )  # fmt: skip


def prepared_as_fitted(model: FittedAttributes, table: Table) -> tuple[FittedAttributes, Array]:
    """A fitted model with a preparation of the table, and the prepared rows.

    Raises
    ------
    InvalidParameter, InvalidData
        If it is not fitted, or has another number of rows.
    """
    if not hasattr(model, "labels_"):
        raise InvalidParameter(f"report: the {type(model).__name__} is not fitted; call its fit first")
    fitted = vars(model).get("preparation_")
    if fitted is None:  # it was fitted to the numbers as they are
        model, fitted = copy.copy(model), Preparation(scale="none").fit(table)
        attach(model, fitted)
    X = attrs.evolve(fitted, coded=False).transform(table, quiet=True)
    if len(X) != len(model.labels_):
        raise InvalidData(f"report: the table has {len(X)} rows and the model was fitted to {len(model.labels_)}")
    return model, X


def _without(odd: Sequence[OddRow], labels: Labels) -> Labels:
    """The labels, with -1 for odd rows, which represent no cluster that has other rows."""
    typical = labels.copy()
    typical[[one.row for one in odd]] = NOISE
    alone = ~np.isin(labels, typical[typical >= 0])
    return np.where(alone, labels, typical)


def _pool(methods: Sequence[str]) -> tuple[str, ...] | None:
    """Names of the candidates for the automatic choice; None for the usual pool.

    Raises
    ------
    InvalidParameter
        If none of the methods can be in a pool.
    """
    recipes = {name: registry.get("recipe", name) for name in methods}
    pool = tuple(
        name for name, one in recipes.items() if one.driver == "single" and one.parameters.get("tuner") is None
    )
    if methods and not pool:
        raise InvalidParameter(
            f"methods {', '.join(methods)} cannot be candidates for the automatic choice, because each of them tunes "
            "its own parameters or runs several fits; they are only compared with the chosen clustering. Add at least "
            "one other method, such as kmeans."
        )
    return pool or None


def _comparison(
    model: FittedAttributes, X: Array, table: Table, spec: Preparation | None, methods: Sequence[str], rows: Indices
) -> Comparison:
    """A comparison of the chosen clustering with other methods at the same number of clusters, on some rows.

    Methods that take the columns of tables as they are get the table, all others its features X.
    """
    k, seed = max(model.n_clusters_, 1), getattr(model, "random_state", None) or 0
    rivals: dict[str, Any] = {"chosen": model.labels_[rows]}
    usual = (*RIVALS, *(OF_TABLES if "category" in model.preparation_.kinds_of_codes else ()))
    # the chosen method is no rival of itself, unless it is named
    for name in methods or [name for name in usual if name != recipe_of(_method(model))]:
        one = registry.get("recipe", name)
        if (one.clusters == "two" and k != 2) or (k == 1 and one.clusters != "found"):
            continue  # a single cluster of all rows needs no method
        rivals[name] = recipe(name, random_state=seed, **({"n_clusters": k} if one.clusters != "found" else {}))
    with warnings.catch_warnings():  # the page has a line for each of them
        for text in (
            "compare: .* could not be fitted",
            "(all )?[0-9]+ rows? (is|are) noise",
            "solver 'mst': n_neighbors",
        ):
            warnings.filterwarnings("ignore", text, ClusterkitWarning)
        return compared(
            rivals, ComparedSamples(X, table, spec, RawTable.of(table, None, model, "report")), Seeds.of(seed)
        )
