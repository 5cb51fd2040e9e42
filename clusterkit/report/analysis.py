"""The fits and the numbers of a report."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, NumberLike
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.labelings import NOISE
from clusterkit.core.registry import registry
from clusterkit.core.seeds import Seeds
from clusterkit.estimators.auto import Auto
from clusterkit.estimators.build import recipe
from clusterkit.estimators.number import is_open
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.numerics.row_samples import sample_rows
from clusterkit.profiles import Comparison, Profile, compare, profile, representatives
from clusterkit.profiles.doubts import Doubts, doubts
from clusterkit.profiles.raw_table import RawTable
from clusterkit.profiles.representing import coordinates
from clusterkit.report.neighbours import FAR, OddRow, odd_rows
from clusterkit.tables import FittedPreparation, Preparation, Table, TableWarning

__all__ = ["RIVALS", "Analysis", "analyse", "chose_number"]

RIVALS = ("kmeans", "emmc", "genie", "hdbscan")
"""Methods that are put beside the chosen one where none are named: one for round clusters, one for wide margins, one
for chains and one for density."""

COMPARED_ROWS = 5000
"""Most rows to which the methods side by side are fitted, a random sample of more: some take the square of it."""

LISTED = 10
"""Rows on borders, and outliers, that are listed."""


@final
@attrs.frozen(eq=False)
class Analysis:
    """Everything that a report says.

    Parameters
    ----------
    table : Table
    preparation : FittedPreparation
    X : ndarray of shape (n, features)
        The prepared rows.
    model : Auto
        The fit whose clusters are described.
    wanted : int, pair, "auto" or None
        The number of clusters that was asked for.
    comparison : Comparison
        The chosen clustering beside other methods, on at most 5,000 rows.
    compared_rows : ndarray
        Which rows these are.
    clusters : Profile
    examples : mapping of int to ndarray
        Rows that stand for each cluster.
    borders, outliers : tuple of OddRow
    seed : int
    seconds : float
    warnings : tuple of str
        What the fits warned of.
    doubts : Doubts
        Why clusters may be no groups.
    """

    table: Table
    preparation: FittedPreparation
    X: Array
    model: Auto
    wanted: NumberLike
    comparison: Comparison
    compared_rows: Indices
    clusters: Profile
    examples: Mapping[int, Indices]
    borders: tuple[OddRow, ...]
    outliers: tuple[OddRow, ...]
    seed: int
    seconds: float
    warnings: tuple[str, ...]
    doubts: Doubts

    @property
    def labels(self) -> Labels:
        """The clusters of the rows, (n,)."""
        return self.model.labels_

    @property
    def method(self) -> str:
        """Name of the method that was chosen."""
        auto: Any = self.model.resolved_.get("auto", {})
        return str(auto.get("recipe") or "none")

    @property
    def compared_points(self) -> Array:
        """The rows that were compared, in the space of the indices: each column standardised."""
        rows = RawTable.of(self.X[self.compared_rows], None, None, "report")
        return coordinates(None, rows, np.arange(rows.n))

    @property
    def rivals(self) -> tuple[int, ...]:
        """Places in `comparison` of the methods other than the chosen one, which may be named a second time."""
        name = self.method.partition("(")[0]
        return tuple(j for j, one in enumerate(self.comparison.methods) if j and one.name != name)


def analyse(
    table: Table,
    *,
    n_clusters: NumberLike = None,
    methods: Sequence[str] = (),
    preparation: Preparation | None = None,
    seed: int = 0,
) -> Analysis:
    """Cluster a table, compare methods, and describe the clusters.

    Parameters
    ----------
    table : Table
    n_clusters : int, pair of int, "auto" or None, default None
        None and "auto" choose it; a pair says among which.
    methods : sequence of str
        Recipes to put side by side; those that can be in the pool of `Auto` are what it chooses among. Default: the
        pool of `Auto`, beside `RIVALS`.
    preparation : Preparation, optional
    seed : int

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
    model = Auto(n_clusters=n_clusters, pool=pool, random_state=seed)
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ClusterkitWarning)
        X = fit_prepared(model, table, preparation)
        fitted = model.preparation_
        seeds = Seeds.of(seed)
        rows = sample_rows(len(X), COMPARED_ROWS, seeds.stream("compared"))
        comparison = _comparison(model, X[rows], model.labels_[rows], methods, seed)
    messages += [str(warning.message) for warning in caught if issubclass(warning.category, ClusterkitWarning)]
    for text in dict.fromkeys(str(warning.message) for warning in caught if issubclass(warning.category, TableWarning)):
        warnings.warn(text, TableWarning, stacklevel=3)  # not on the page alone: the table may have been misread
    clusters = profile(model, table, random_state=seed)
    borders, outliers = odd_rows(X, model.labels_, LISTED, seeds.stream("odd"))
    examples = representatives(_without(outliers, model.labels_), X, random_state=seed)
    typical = {row for of_cluster in examples.values() for row in of_cluster.tolist()}
    # a far row that is a cluster by itself stands for it, and is an outlier all the same
    outliers = [one for one in outliers if one.row not in typical or one.value >= FAR]
    return Analysis(
        table, fitted, X, model, n_clusters, comparison, rows, clusters, examples, tuple(borders), tuple(outliers),
        seed, time.perf_counter() - began, tuple(dict.fromkeys(messages)), doubts(model, table, X),
    )  # fmt: skip


def _without(odd: Sequence[OddRow], labels: Labels) -> Labels:
    """The labels without those of odd rows, which stand for no cluster that has other rows."""
    typical = labels.copy()
    typical[[one.row for one in odd]] = NOISE
    alone = ~np.isin(labels, typical[typical >= 0])
    return np.where(alone, labels, typical)


def _pool(methods: Sequence[str]) -> tuple[str, ...] | None:
    """The methods among which is chosen; None for the usual pool.

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
            f"no clustering can be chosen among {', '.join(methods)}: these choose by themselves, and are only put "
            "beside the chosen one. Name another method too, such as kmeans."
        )
    return pool or None


def _comparison(model: Auto, X: Array, labels: Labels, methods: Sequence[str], seed: int) -> Comparison:
    """The chosen clustering beside other methods at the same number of clusters."""
    k = max(model.n_clusters_, 1)
    rivals: dict[str, Any] = {"chosen": labels}
    auto: Any = model.resolved_.get("auto", {})
    # the chosen method is no rival of itself, unless it is named
    for name in methods or [name for name in RIVALS if name != auto.get("recipe")]:
        one = registry.get("recipe", name)
        if (one.clusters == "two" and k != 2) or (k == 1 and one.clusters != "found"):
            continue  # one cluster of all rows needs no method
        rivals[name] = recipe(name, random_state=seed, **({"n_clusters": k} if one.clusters != "found" else {}))
    with warnings.catch_warnings():  # the page has a line for each of them
        for text in (
            "compare: .* could not be fitted",
            "(all )?[0-9]+ rows? (is|are) noise",
            "solver 'mst': n_neighbors",
        ):
            warnings.filterwarnings("ignore", text, ClusterkitWarning)
        return compare(rivals, X, random_state=seed)


def chose_number(analysis: Analysis) -> bool:
    """Whether the number of clusters was chosen by the fit."""
    return analysis.wanted is None or is_open(analysis.wanted)
