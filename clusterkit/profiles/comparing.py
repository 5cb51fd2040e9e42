"""Methods side by side on one table; what cannot be compared is a clear error before anything is fitted."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, RandomState
from clusterkit.contracts.arguments import Clusterer
from clusterkit.contracts.labelings import NOISE, cluster_sizes
from clusterkit.contracts.params import check_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.criteria.confidence import canonical, rand_matrix, subsample_stability, subsamples
from clusterkit.errors import (
    ClusterkitWarning,
    InvalidData,
    InvalidParameter,
    TableWarning,
    UnknownName,
    counted,
    nearest_names,
)
from clusterkit.numerics.selection import sample_rows
from clusterkit.profiles.measures import evidence_of_table, is_model, labels_of
from clusterkit.profiles.raw_table import RawTable, as_cell, as_frame, as_text
from clusterkit.profiles.representing import coordinates
from clusterkit.samples import memory
from clusterkit.samples.limits import side_by_side

if TYPE_CHECKING:
    from clusterkit.estimators.pipeline import Pipeline
    from clusterkit.tables import FittedPreparation, Preparation, Table

BYTES_OF_A_PAIR = 16
"""Bytes of a distance of two rows and of a copy of it, which indices and refits may have at once."""


def check_methods(methods: object) -> None:
    """Check that something is a mapping of names to recipes, estimators or labels.

    Raises
    ------
    InvalidParameter
        If it is no mapping, empty, or holds a class or an estimator that finds no clusters.
    UnknownName
        If there is no such recipe.
    """
    if not isinstance(methods, Mapping) or not methods:
        raise InvalidParameter(
            "compare: methods must be a mapping of names to estimators, recipes or labels, such as "
            f"{{'kmeans': 'kmeans', 'mine': model}}, got {'an empty' if methods == {} else 'a'} "
            f"{type(methods).__name__}"
        )
    for name, value in methods.items():
        _check_method(str(name), value)


def _check_method(name: str, value: object) -> None:
    """Check a method by itself; labels are checked with the rows."""
    from clusterkit.contracts.registry import registry

    if isinstance(value, str):
        recipes = registry.names("recipe")
        if value not in recipes:
            raise UnknownName(f"compare: {name!r}: no recipe named {value!r}. {nearest_names(value, recipes)}")
    elif isinstance(value, type):
        kind = value.__name__
        raise InvalidParameter(f"compare: {name!r} is the class {kind}; make an estimator of it: {kind}()")
    elif is_model(value) and not any(hasattr(value, its) for its in ("labels_", "fit_predict", "predict")):
        raise InvalidParameter(
            f"compare: {name!r} is a {type(value).__name__}, which finds no clusters; pass an estimator with labels_ "
            "after its fit, the name of a recipe, or labels"
        )


def check_fits(name: str, value: object, n: int, d: int) -> None:
    """Check that a fitted model was fitted to a table of n rows and d columns; anything else passes.

    Raises
    ------
    InvalidData
        If it was fitted to another one.
    """
    if not is_model(value) or not hasattr(value, "labels_"):
        return
    columns = getattr(value, "n_features_in_", None)
    rows = len(value.labels_)
    # a model that prepares tables says what it needs when it reads one
    if isinstance(columns, int) and columns != d and not hasattr(value, "preparation_"):
        fitted, here = counted(columns, "column"), d
    elif rows != n:
        fitted, here = counted(rows, "row"), n
    else:
        return
    raise InvalidData(
        f"compare: {name!r} was fitted to {fitted}, and X has {here}; pass the rows that were fitted, or a model that "
        "is not fitted yet, which is then fitted to X"
    )


MethodLike: TypeAlias = "str | Clusterer | Labels | Sequence[int]"
"""A clustering to compare: the name of a recipe, an estimator, fitted or not, or labels."""

DENSITY_ROWS = 2000
"""Largest number of rows on which the density index is computed, which needs all pairs."""


INDICES = ("silhouette", "davies_bouldin", "dbcv", "disco", "evidence", "stability", "seconds")
"""Fields of a method in a table of methods, in addition to the sizes; the evidence only where there is one."""

LONGEST_REASON = 200
"""Characters of the reason for which a method could not be fitted."""


@final
@attrs.frozen(eq=False)
class Method:
    """One of the methods that are compared.

    Parameters
    ----------
    name : str
    labels : ndarray of shape (n,)
    sizes : mapping of int to int
        Rows of each cluster, by label; noise is not among them.
    n_noise : int
    silhouette : float
        Mean silhouette coefficient (Rousseeuw 1987), in [-1, 1]; higher is better, and round clusters are preferred.
        nan where there are fewer than two clusters.
    davies_bouldin : float
        Index of Davies and Bouldin (1979), at least 0; lower is better, and round clusters are preferred.
    dbcv : float
        Density-based validity (Moulavi and others 2014), in [-1, 1]; higher is better, for clusters of any shape.
    disco : float
        Density-based score that judges the noise too (Beer and others 2026), in [-1, 1]; higher is better, for any
        shape. nan where there are fewer than two clusters.
    evidence : float
        By how much, as a logarithm, a row of the columns that matter is more likely with the clusters than without,
        the price of the labels included; higher is better, below 0 one cluster is. Columns get roles, so that those
        that say nothing count nothing, and categories and gaps count as they are: the index of tables, computed for
        data frames and mappings. Elliptic clusters are preferred. nan for arrays and fewer than two clusters.
    stability : float
        Mean adjusted Rand index between the labels and those of the method fitted to each of two disjoint subsamples of
        up to 500 rows; nan for labels, which cannot be fitted again.
    seconds : float
        Time of the fit; nan if it was not made here.
    model : object or None
        The fitted estimator; None for labels.
    """

    name: str
    labels: Labels
    sizes: Mapping[int, int]
    n_noise: int
    silhouette: float
    davies_bouldin: float
    dbcv: float
    disco: float
    evidence: float
    stability: float
    seconds: float
    model: object | None

    @property
    def n_clusters(self) -> int:
        """Number of clusters, noise not counted."""
        return len(self.sizes)


@final
@attrs.frozen(eq=False)
class Comparison:
    """Several clusterings of the same rows.

    Parameters
    ----------
    methods : tuple of Method
        Methods in the order in which they were passed.
    agreement : ndarray of shape (m, m)
        Adjusted Rand index of each pair, noise counting as a cluster.
    n_rows : int
    n_compared : int
        Rows on which the indices are computed.
    failed : mapping of str to str
        Methods that could not be fitted, with the message; a warning names them too.
    """

    methods: tuple[Method, ...]
    agreement: Array
    n_rows: int
    n_compared: int
    failed: Mapping[str, str]

    def __getitem__(self, name: str) -> Method:
        """A method by its name."""
        for method in self.methods:
            if method.name == name:
                return method
        raise KeyError(name)

    def __str__(self) -> str:
        """A line for each method, and how far they agree."""
        rows = [
            (one.name, one.n_clusters, one.n_noise, *(float(getattr(one, it)) for it in self._indices))
            for one in self.methods
        ]
        header = ("method", "clusters", "noise", *(it.replace("_", " ") for it in self._indices))
        lines = [as_text(header, rows)] if rows else []
        if len(self.methods) > 1:
            agreement = [(one.name, *values) for one, values in zip(self.methods, self.agreement.tolist(), strict=True)]
            names = [one.name for one in self.methods]
            lines += ["", as_text(("agreement (adjusted Rand)", *names), agreement)]
        lines += [
            f"{as_cell(name)} could not be fitted: {as_cell(why, LONGEST_REASON)}" for name, why in self.failed.items()
        ]
        if self.n_compared < self.n_rows:
            lines += ["", f"indices of {self.n_compared:,} of {self.n_rows:,} rows"]
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def _indices(self) -> list[str]:
        has_evidence = not all(math.isnan(one.evidence) for one in self.methods)
        return [name for name in INDICES if name != "evidence" or has_evidence]

    def to_frame(self, library: str | None = None) -> object:
        """One row for each method, as a data frame of "pandas", "polars" or "pyarrow"; default: the first installed.

        Methods that failed have rows too, with gaps, and a column "failed" says why.
        """
        columns: dict[str, list[object]] = {
            "method": [one.name for one in self.methods],
            "n_clusters": [one.n_clusters for one in self.methods],
            "n_noise": [one.n_noise for one in self.methods],
        }
        for name in self._indices:
            columns[name] = [float(getattr(one, name)) for one in self.methods]
        for j, other in enumerate(self.methods):
            columns[f"agreement with {other.name}"] = self.agreement[:, j].tolist()
        if self.failed:
            for name, values in columns.items():
                values.extend([*self.failed] if name == "method" else [None] * len(self.failed))
            columns["failed"] = [None] * len(self.methods) + list(self.failed.values())
        return as_frame(columns, library)


def compare(
    methods: Mapping[str, MethodLike],
    X: object,
    *,
    n_clusters: int | None = None,
    max_rows: int = 5000,
    metric: str = "euclidean",
    random_state: RandomState = 0,
) -> Comparison:
    """Compare clusterings of the same rows: sizes, indices, stability, agreement and time.

    Parameters
    ----------
    methods : mapping of str to estimator, recipe or labels
        Methods by the name that the comparison gives them. An estimator that is not fitted, or the name of a recipe, is
        fitted to X (a copy; yours stays as it is); a fitted one is taken with its labels; so are labels.
    X : array-like, sparse matrix or data frame of shape (n, d)
        Samples that estimators are fitted to. A data frame with gaps, words or dates is prepared for those that take
        numbers only, as ``Auto().fit(frame)`` does; `Auto` and the recipe "mixture" take it as it is.
    n_clusters : int, optional
        Number of clusters of recipes given by name that need it.
    max_rows : int, default 5000
        Rows on which the indices are computed, a random sample of more; the same for all methods. The density index
        uses 2,000 of them.
    metric : {"euclidean", "cosine", "haversine"}, default "euclidean"
        How recipes given by name compare rows, and the indices with them; the rows are then numbers, and are not
        standardised. Estimators keep their own metric.
    random_state : int, Generator, RandomState or None, default 0
        Seed of samples, and of recipes given by name.

    Returns
    -------
    Comparison

    Raises
    ------
    InvalidParameter
        If there is no method, or something that is none.
    UnknownName
        If there is no such recipe; names those that are most like it.
    InvalidData
        If labels have another length than X, or a model was fitted to another number of rows or of columns.

    Notes
    -----
    Indices are computed on standardised columns, words as indicators and gaps filled, so that no unit dominates; the
    evidence is computed on the columns as they are. No index decides alone, because each prefers clusters of its own
    shape. O(m r² d) time for m methods and r =
    `max_rows`, besides the fits and two fits of up to 500 rows for each estimator.

    A method that raises a ValueError is listed in `failed`, and the others go on; a warning says so.

    Examples
    --------
    >>> import clusterkit
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs([40, 40, 40], centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    >>> rivals = {"k-means": clusterkit.recipe("kmeans", n_clusters=3, random_state=0), "known": y}
    >>> table = clusterkit.compare(rivals, X)
    >>> [(method.name, method.n_clusters) for method in table.methods], float(table.agreement[0, 1])
    ([('k-means', 3), ('known', 3)], 1.0)

    Printed, a comparison is a table; `to_frame` makes a data frame of it:

    >>> print(clusterkit.compare({"two": y // 2, "known": y}, X))
    method  clusters  noise  silhouette  davies bouldin  dbcv  disco  stability  seconds
    two            2      0        0.59            0.60  0.47   0.48          –        –
    known          3      0        0.77            0.31  0.94   0.76          –        –
    <BLANKLINE>
    agreement (adjusted Rand)   two  known
    two                        1.00   0.57
    known                      0.57   1.00
    """
    check_methods(methods)
    if n_clusters is not None:
        n_clusters = check_count("n_clusters", n_clusters)
    max_rows = check_count("max_rows", max_rows)
    return compared(methods, ComparedSamples(X), Seeds.of(random_state), n_clusters, max_rows, metric)


def compared(
    methods: Mapping[str, MethodLike],
    samples: ComparedSamples,
    seeds: Seeds,
    n_clusters: int | None = None,
    max_rows: int = 5000,
    metric: str = "euclidean",
) -> Comparison:
    """As `compare`, of samples that say what each method is fitted to."""
    from clusterkit.estimators.base import FittedAttributes

    table = samples.rows
    for name, value in methods.items():
        check_fits(str(name), value, table.n, len(table.names))
    rng = seeds.stream("rows")
    if not table.n:
        raise InvalidData("compare: X has no row")
    rows = sample_rows(table.n, max_rows, rng)
    points = coordinates(None, table, rows) if metric == "euclidean" else _measured(table, rows, metric)
    parts = subsamples(table.n, seeds.stream("parts"))
    failed: dict[str, str] = {}
    fits: list[_LabelledMethod] = []
    for name, value in methods.items():  # in turn, so that the seconds of each are its own
        model = _model(value, n_clusters, seeds.integer("fits"), metric)
        try:
            fits.append(_fit(str(name), model, value, samples))
        except ValueError as error:
            if model is None:
                raise
            failed[str(name)] = str(error)
            warnings.warn(f"compare: {name} could not be fitted: {error}", ClusterkitWarning, stacklevel=3)
    # models of others may not be made for threads, and a silhouette has distances of all pairs
    ours = all(fit.model is None or isinstance(fit.model, FittedAttributes) for fit in fits)
    most = max(1, memory.cap() // (BYTES_OF_A_PAIR * len(rows) ** 2)) if ours else 1
    judged = tuple(side_by_side(lambda fit: _judged(fit, samples, (rows, points), parts, most), fits, most))
    if not samples.mixed:
        _warn_of_units([fit for fit in fits if fit.X is samples.X], methods, samples.X)
    return Comparison(judged, rand_matrix([canonical(method.labels) for method in judged]), table.n, len(rows), failed)


def _warn_of_units(fits: Sequence[_LabelledMethod], methods: Mapping[str, Any], X: Any) -> None:
    """Warn once about columns in different units, if a method that was fitted here does not scale them."""
    from clusterkit.estimators.units import warn_of_units_of

    values = {str(name): value for name, value in methods.items()}
    here = [fit.model for fit in fits if fit.model is not None and fit.model is not values[fit.name]]
    warn_of_units_of(here, X, stacklevel=4)


def _measured(table: RawTable, rows: Indices, metric: str) -> Array:
    """Some rows as a metric compares them, (m, r)."""
    from clusterkit.drivers.compose import map_of, rows_by

    map_of(metric)
    if metric == "precomputed":
        raise InvalidParameter(
            "compare: indices compare rows by coordinates, and a precomputed matrix has none; fit the methods to it "
            "and compare their labels"
        )
    columns = table.columns(rows)
    words = [column.name for column in columns if column.kind != "number"]
    X = np.empty((len(rows), 0)) if words else np.column_stack([column.values for column in columns])
    if words or not np.isfinite(X).all():
        what = f"column {words[0]!r} has none" if words else "there are gaps"
        raise InvalidData(f"compare: metric={metric!r} compares rows of numbers, and {what}; use metric='euclidean'")
    return np.asarray(rows_by(metric, np.ascontiguousarray(X, dtype=np.float64)))


def _model(value: Any, n_clusters: int | None, seed: int, metric: str) -> Any:
    """The estimator of a recipe by name, or the estimator; None for labels."""
    if isinstance(value, str):
        from clusterkit.contracts.registry import registry
        from clusterkit.estimators.build import recipe

        model = recipe(value, random_state=seed)
        if metric != "euclidean":
            model.set_params(metric=metric)
        if n_clusters is not None and registry.get("recipe", value).clusters == "given":
            model.set_params(n_clusters=n_clusters)
        return model
    return value if is_model(value) else None


@final
@attrs.frozen(eq=False)
class _LabelledMethod:
    """A method with its labels, before it is judged."""

    name: str
    model: Any
    X: Any
    labels: Labels
    seconds: float


def _fit(name: str, model: Any, value: Any, samples: ComparedSamples) -> _LabelledMethod:
    from clusterkit.estimators.preparing import fitted_labels

    seconds = np.nan
    X, preparation = samples.of(model)
    if model is not None and not hasattr(model, "labels_"):
        from sklearn.base import clone

        model = clone(model)
        began = time.perf_counter()
        labels = fitted_labels(model, X, samples.preparation_of(X))
        _attach(model, preparation)
        seconds = time.perf_counter() - began
    else:
        labels = labels_of(value, samples.rows.n, f"compare: {name!r}")
    return _LabelledMethod(name, model, X, labels, seconds)


def _judged(
    fit: _LabelledMethod, samples: ComparedSamples, sample: tuple[Indices, Array], parts: Sequence[Indices], most: int
) -> Method:
    from clusterkit.estimators.preparing import labels_again

    name, model, X, labels, seconds = fit.name, fit.model, fit.X, fit.labels, fit.seconds
    stability = np.nan
    if model is not None and hasattr(model, "get_params") and min(map(len, parts)) > 1:
        preparation = samples.preparation_of(X)
        stability = subsample_stability(
            labels, parts, lambda part: labels_again(model, samples.part(X, parts[part]), preparation), most
        )
    sizes = cluster_sizes(labels)
    indices = _indices(sample[1], labels[sample[0]])
    noise = len(labels) - sum(sizes.values())
    evidence = np.nan if samples.columns is None else _evidence(samples.columns, labels)
    return Method(name, labels, sizes, noise, *indices, evidence, stability, seconds, model)


def _evidence(table: RawTable, labels: Labels) -> float:
    """The field `evidence` of a method; noise is one more cluster, so that nobody gains by leaving rows out."""
    noise = np.where(labels < 0, labels.max(initial=0) + 1, labels)
    evidence = evidence_of_table(table, noise, np.random.default_rng(0)) if (labels >= 0).any() else None
    return np.nan if evidence is None else evidence.total


class ComparedSamples:
    """What methods are fitted to: a table as it is, or for those that take numbers only its features.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or mapping
        The samples; with a table its features.
    table : Table, optional
        The table of the features, for methods that take its columns as they are.
    preparation : Preparation, optional
        How these methods prepare the table.
    columns : RawTable, optional
        Columns of the evidence; default: those of X, if it is a table.
    """

    def __init__(
        self,
        X: object,
        table: Table | None = None,
        preparation: Preparation | None = None,
        columns: RawTable | None = None,
    ) -> None:
        from clusterkit.estimators.preparing import is_mixed, is_table

        self.X, self.table, self.preparation = X, table, preparation
        self.rows = RawTable.of(X, None, None, "compare")
        self.columns = self.rows if columns is None and is_table(X) else columns
        self.mixed = is_mixed(X)
        self.features: dict[str, tuple[Array, FittedPreparation]] = {}

    def of(self, method: object) -> tuple[object, FittedPreparation | None]:
        """The samples of a method, and the preparation that made them."""
        from clusterkit.estimators.auto import Auto
        from clusterkit.estimators.preparing import prepared_for, stages_of_tables

        model: Any = method
        if model is None or isinstance(model, Auto) or hasattr(model, "labels_"):
            return self.X, None
        if self.table is not None and stages_of_tables(model) is not None:
            return self.table, None
        if not self.mixed or stages_of_tables(model) is not None:
            return self.X, None
        with warnings.catch_warnings():
            if self.features:  # the warning has been given
                warnings.simplefilter("ignore", TableWarning)
            fitted = prepared_for(model, self.X)
        if fitted.scale not in self.features:
            self.features[fitted.scale] = fitted.transform(self.X, quiet=True), fitted
        return self.features[fitted.scale]

    def preparation_of(self, X: object) -> Preparation | None:
        """The preparation by which a fit to X prepares it."""
        return self.preparation if X is self.table else None

    def part(self, X: object, rows: Indices) -> object:
        """Some rows of what a method was fitted to."""
        if self.table is not None and X is self.table:
            return self.table.take(rows)
        part: object = X[rows] if isinstance(X, np.ndarray) else self.rows.take(rows)
        return part


def _attach(model: Any, preparation: FittedPreparation | None) -> None:
    """Have a fitted model of this library prepare new rows as those of its fit were."""
    from clusterkit.estimators.base import FittedAttributes
    from clusterkit.estimators.preparing import attach

    if preparation is not None and isinstance(model, FittedAttributes):
        attach(cast("Pipeline", model), preparation)


def _indices(points: Array, labels: Labels) -> tuple[float, float, float, float]:
    """Silhouette, Davies-Bouldin and density indices; nan where there are fewer than two clusters."""
    from sklearn.metrics import silhouette_score

    from clusterkit.metrics import davies_bouldin, dbcv, disco

    kept_rows = labels > NOISE
    clustered, members = points[kept_rows], labels[kept_rows]
    count = len(np.unique(members))
    if not 2 <= count < len(members):
        return np.nan, np.nan, np.nan, np.nan
    few = slice(None, None, -(-len(labels) // DENSITY_ROWS))
    several = len(np.unique(labels[few][labels[few] > NOISE])) > 1
    density, judged = (index(points[few], labels[few]) if several else np.nan for index in (dbcv, disco))
    return float(silhouette_score(clustered, members)), float(davies_bouldin(clustered, members)), density, judged
