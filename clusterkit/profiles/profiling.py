"""Columns that distinguish each cluster of a table, and the cells of a map of the differences (`heat_cells`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final, overload

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Mask, RandomState, Rng
from clusterkit.contracts.arguments import Clusterer
from clusterkit.contracts.labelings import NOISE
from clusterkit.contracts.params import check_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidParameter, counted, first_names
from clusterkit.estimators.base import FittedAttributes
from clusterkit.numerics.threads import ignoring
from clusterkit.profiles.documents import DocumentProfile, Naming, topics_of
from clusterkit.profiles.effects import Effects, effects
from clusterkit.profiles.measures import (
    GroupedSample,
    Measure,
    draw,
    evidence_of_table,
    labels_of,
    measures_of,
)
from clusterkit.profiles.naming import (
    ByLabel,
    Position,
    Rule,
    beyond_chance,
    by_chance,
    in_words,
    name_of,
    naming_of_fit,
    position_of,
    rule_for,
    strength_of,
    with_name,
)
from clusterkit.profiles.raw_table import Kind, RawColumn, RawTable, as_frame
from clusterkit.profiles.rows import FittedRows
from clusterkit.samples.array_libraries import to_host

MOST_CELLS = 20_000_000
"""Largest number of cells (rows times columns) that are read: 160 MB. Of 5,000 columns 4,000 rows."""

MOST_NAMED = 8
"""Columns of a role that are named."""

MOST_CONDITIONS_FROM = 30
"""Columns, the strongest ones of a cluster, that its rule may use: a tree of depth 3 has at most seven."""


@final
@attrs.frozen
class FeatureProfile:
    """One column, or one level of a category, in one cluster.

    Parameters
    ----------
    column : str
    level : str or None
        The level of a category that this is about, "missing" for missing cells of any column; None for numbers.
    kind : {"number", "category", "date"}
    position : {"high", "low", "medium", "more", "fewer", "same"}
        Position of the cluster in this column.
    inside, outside : float
        Means of the cells that are there; of a level the shares of the rows. Dates are seconds since 1970. nan where a
        side has no cell; then so is what compares the sides, and the strength is 0.
    difference : float
        Inside minus outside, in standard deviations of the column over all rows.
    low, high : float
        95 % interval of `difference` by the bootstrap. It says how exact the difference is measured, not that the
        clusters exist: any clustering makes differences.
    auc : float
        Probability that a row inside has a larger value than one outside.
    contrast : float
        Mean of these probabilities against each other cluster, which all count alike, whatever their size.
    closeness : float
        Like `contrast`, for being nearer to the median of the cluster.
    lift : float or None
        For a level: its share inside divided by its share in all rows.
    strength : float
        How well the column alone tells the cluster from each other one, in [0, 1]: ``|2 contrast - 1|``, of closeness
        for "medium", 0 for "same".
    """

    column: str
    level: str | None
    kind: Kind
    position: Position
    inside: float
    outside: float
    difference: float
    low: float
    high: float
    auc: float
    contrast: float
    closeness: float
    lift: float | None
    strength: float

    @property
    def text(self) -> str:
        """Name of the column, followed by ": level" if the entry is about one level of a categorical column."""
        return self.column if self.level is None else f"{self.column}: {self.level}"


@final
@attrs.frozen
class ClusterProfile:
    """Columns that distinguish a cluster, its name and its rule.

    Parameters
    ----------
    label : int
    size : int
        Number of its rows.
    share : float
        Fraction of all rows.
    name : str
        Made of the columns that distinguish it most: "high f3, low f7".
    features : tuple of FeatureProfile
        The strongest first, at most as many as asked for.
    rule : Rule or None
        Made of columns that stand out; None where none does.
    """

    label: int
    size: int
    share: float
    name: str
    features: tuple[FeatureProfile, ...]
    rule: Rule | None


@final
@attrs.frozen
class Profile(ByLabel[ClusterProfile]):
    """Profiles of all clusters of a table.

    Parameters
    ----------
    clusters : tuple of ClusterProfile
        Profile of each cluster, by label; noise has none.
    n_rows : int
    n_noise : int
    n_profiled : int
        Rows that the profiles were computed from.
    left_out : mapping of str to str
        Columns without a profile, with the reason.
    roles : mapping of str to str
        What each column is to the clusters: those of the fit (`column_roles_`), or by the labels where it gave none:
        "cluster-dependent", "covariate", "redundant", "irrelevant" or "left out". Empty for less than two clusters,
        twenty rows or two columns, and above 300 columns.
    gains : mapping of str to float
        How much each column says of the clusters by itself: by how much a row is more likely with them, as a
        logarithm.
    """

    clusters: tuple[ClusterProfile, ...]
    n_rows: int
    n_noise: int
    n_profiled: int
    left_out: Mapping[str, str]
    roles: Mapping[str, str] = attrs.field(factory=dict)
    gains: Mapping[str, float] = attrs.field(factory=dict)

    def of_role(self, role: str) -> tuple[str, ...]:
        """The columns of a role."""
        return tuple(name for name, its in self.roles.items() if its == role)

    def to_frame(self, library: str | None = None) -> object:
        """One row for each cluster and column, as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Default: the first of these that is installed.

        Raises
        ------
        ImportError
            If there is none.
        InvalidParameter
            If the name is another one.
        """
        rows = [
            {
                "cluster": cluster.label, "name": cluster.name, "size": cluster.size, **attrs.asdict(feature),
                "role": self.roles.get(feature.column),
            }
            for cluster in self.clusters
            for feature in cluster.features
        ]  # fmt: skip
        names = ["cluster", "name", "size", *(field.name for field in attrs.fields(FeatureProfile)), "role"]
        return as_frame({name: [row[name] for row in rows] for name in names}, library)

    def __str__(self) -> str:
        lines = [
            f"{counted(len(self.clusters), 'cluster')} of {counted(self.n_rows, 'row')}, {self.n_noise or 'no'} noise"
        ]
        for cluster in self.clusters:
            lines.append(f"{cluster.label}: {cluster.name} ({counted(cluster.size, 'row')}, {cluster.share:.0%})")
            if cluster.rule is not None:
                rule = cluster.rule
                lines.append(f"   {rule.text}: precision {rule.precision:.0%}, recall {rule.recall:.0%}")
        for role in ("covariate", "redundant", "irrelevant"):
            if names := self.of_role(role):
                lines.append(f"{role}: {first_names(names, MOST_NAMED)}")
        return "\n".join(lines)

    __repr__ = __str__


@overload
def profile(
    model: Clusterer | Labels | Sequence[int],
    X: object,
    *,
    names: Sequence[str] | None = ...,
    max_rows: int = ...,
    n_bootstraps: int = ...,
    max_features: int = ...,
    naming: Callable[[ClusterProfile], str] | None = ...,
    random_state: RandomState = ...,
) -> Profile: ...
@overload
def profile(
    model: Clusterer | Labels | Sequence[int],
    *,
    texts: object,
    names: Sequence[str] | None = ...,
    max_features: int = ...,
    n_representatives: int = ...,
    naming: Naming | None = ...,
) -> DocumentProfile: ...
def profile(
    model: Clusterer | Labels | Sequence[int],
    X: object = None,
    *,
    texts: object = None,
    names: Sequence[str] | None = None,
    max_rows: int = 20_000,
    n_bootstraps: int = 200,
    max_features: int = 50,
    n_representatives: int = 3,
    naming: Callable[[Any], str] | None = None,
    random_state: RandomState = 0,
) -> Profile | DocumentProfile:
    """Describe each cluster by the columns of the table that it was made of, or by the words of its documents.

    Parameters
    ----------
    model : fitted estimator or array of shape (n,)
        Any estimator with ``labels_``, or integer labels; labels below 0 are noise.
    X : array-like, sparse matrix or data frame of shape (n, d), optional
        The raw table, needed without `texts`, in the units in which you think: it need not be what the model was fitted
        on, only have the same rows. Gaps, words and dates are fine; pandas, Polars and PyArrow keep their types.
    texts : sequence of str, or sparse matrix of shape (n, t), optional
        In the place of X for documents: the texts of the rows, or counts of terms (tf-idf weights also do).
    names : sequence of str, optional
        Names of the columns; default: of the data frame, of the model, or x0, x1, ... Of a sparse matrix of counts: the
        terms.
    max_rows : int, default 20000
        If there are more rows, a sample is used, in which small clusters have more rows and correspondingly less
        weight. Sizes are always of all rows. For wide tables fewer rows are used, 20 million cells at most.
    n_bootstraps : int, default 200
        Resamples of the interval.
    max_features : int, default 50
        Columns listed for each cluster, or words, the strongest first.
    n_representatives : int, default 3
        Documents listed for each cluster, those with most of its words first.
    naming : callable, optional
        Function that names a cluster, by a language model for example: of documents from its `Topic` (words, and
        numbers of the rows that stand for it), of a table from its `ClusterProfile`. Default: the first three words,
        or the columns that distinguish it most.
    random_state : int, Generator, RandomState or None, default 0
        Seed of the sample and of the bootstrap.

    Returns
    -------
    Profile, or DocumentProfile for texts
        The latter has the topics of all layers as well, for a model with `layers_`.

    Raises
    ------
    InvalidParameter, InvalidData, NotFittedError
        If an argument is wrong, or is for texts and there is a table or the reverse, X has another number of rows, or
        the model is not fitted.

    See Also
    --------
    representatives : Rows that stand for each cluster.
    clusterkit.plots.profile : The profile as a picture.

    Notes
    -----
    O(m p (B + k log m)) time for m rows used, p columns (one for each level of a category), B bootstraps and k
    clusters: some seconds for 1,000,000 × 20.

    Numbers are compared by their standardised difference of means (Cohen 1988, with the standard deviation of all rows,
    so that it stays finite), and by the probability of Mann and Whitney (1947), which depends on the order only. A
    column for which the cluster lies between the others is found by the same probability for the distance to the
    median of the cluster.

    The differences describe the clusters; they do not prove them, since the clusters were made of the same columns.

    Words of documents weigh ``tf ln(1 + A / f)``: the share tf of the words of the cluster, the mean number A of words
    of a cluster, and the number f of times the word occurs in all (class-based tf-idf, Grootendorst 2022, BERTopic,
    arXiv:2203.05794).

    Examples
    --------
    >>> import clusterkit
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> model = clusterkit.recipe("kmeans", n_clusters=3, random_state=0).fit(iris.data)
    >>> flowers = clusterkit.profile(model, iris.data, names=["sepal length", "sepal width", "length", "width"])
    >>> smallest = min(flowers.clusters, key=lambda cluster: cluster.features[0].inside)
    >>> smallest.name, smallest.rule.text
    ('low length, low width, low sepal length', 'width ≤ 0.8')
    """
    if (X is None) == (texts is None):
        raise InvalidParameter("profile takes the table X, or texts: one of the two")
    of_tables = {"max_rows": (max_rows, 20_000), "n_bootstraps": (n_bootstraps, 200)}
    of_texts = {"n_representatives": (n_representatives, 3)}
    for name, (value, default) in (of_texts if texts is None else of_tables).items():
        if value != default:
            other = "texts" if texts is None else "a table"
            raise InvalidParameter(f"profile: {name} says something of {other} only, and is {value!r}; leave it out")
    if texts is not None:
        most = check_count("max_features", max_features)
        shown = check_count("n_representatives", n_representatives)
        return topics_of(model, texts, names, most, shown, naming)
    max_rows = check_count("max_rows", max_rows)
    n_bootstraps = check_count("n_bootstraps", n_bootstraps)
    max_features = check_count("max_features", max_features)
    table = RawTable.of(X, names, model, "profile")
    labels = np.maximum(labels_of(model, table.n, "profile"), NOISE)
    seeds = Seeds.of(random_state)
    most = min(max_rows, max(MOST_CELLS // max(len(table.names), 1), 1))
    sample = draw(labels, most, seeds.stream("rows"))
    columns = table.columns(sample.rows)
    clusters, left_out = _clusters(columns, sample, table.n, n_bootstraps, seeds.stream("bootstrap"), max_features)
    evidence = evidence_of_table(table, labels, seeds.stream("roles"))
    roles, gains = ({}, {}) if evidence is None else (evidence.roles, evidence.gains)
    roles = {**roles, **dict.fromkeys(left_out, "left out")} if roles else {}
    known = roles_of_fit(model)
    if roles and set(table.names) <= set(known):
        roles = known
    naming = naming or naming_of_fit(model)
    clusters = [with_name(cluster, naming) for cluster in clusters]
    n_noise = int((labels == NOISE).sum())
    return Profile(tuple(clusters), table.n, n_noise, len(sample.rows), left_out, roles, gains)


def profiles_of_fit(model: FittedAttributes) -> Sequence[ClusterProfile]:
    """Profiles of the clusters of a model by the rows that it stores, without intervals; no name is there twice.

    None where it stores no rows, or their columns say nothing of clusters.
    """
    labels = np.asarray(to_host(model.labels_))
    with ignoring(Warning):
        fitted = FittedRows.of(model)
    if fitted is None or len(np.unique(labels)) < 2:
        return ()
    rng = np.random.default_rng(0)
    sample = draw(fitted.labels, MOST_CELLS // max(len(fitted.columns), 1), rng)
    sample = attrs.evolve(sample, sizes=np.array([(labels == label).sum() for label in sample.names]))
    columns = [attrs.evolve(column, values=column.values[sample.rows]) for column in fitted.columns]
    clusters, _ = _clusters(columns, sample, len(labels), 1, rng)
    count = Counter(cluster.name for cluster in clusters)
    return [one if count[one.name] == 1 else attrs.evolve(one, name=f"{one.name} ({one.label})") for one in clusters]


def roles_of_fit(model: object) -> dict[str, str]:
    """The roles that a fit gave to its columns, none if it gave no roles."""
    try:
        return dict(getattr(model, "column_roles_", {}))
    except AttributeError:
        return {}


def _clusters(
    columns: list[RawColumn], sample: GroupedSample, n: int, n_bootstraps: int, rng: Rng, max_features: int = 50
) -> tuple[Sequence[ClusterProfile], Mapping[str, str]]:
    """The profiles of the clusters of a sample by its columns, and the columns that are left out with the reason."""
    measures, left_out = measures_of(columns)
    values = np.column_stack([measure.values for measure in measures]) if measures else np.empty((len(sample.rows), 0))
    table = effects(values, sample, n_bootstraps, rng)
    return [
        _cluster(j, measures, table, sample, n, max_features)
        for j, label in enumerate(sample.names.tolist())
        if label != NOISE
    ], left_out


def _cluster(
    j: int, measures: list[Measure], table: Effects, sample: GroupedSample, n: int, max_features: int
) -> ClusterProfile:
    """The profile of group j of the sample."""
    features = [_feature(j, p, measure, table, sample, len(measures)) for p, measure in enumerate(measures)]
    strongest = sorted(range(len(features)), key=lambda p: (*_rank(features[p]), p))
    words = [
        (features[p].column, features[p].level, in_words(features[p].position, features[p].kind), features[p].strength)
        for p in strongest
    ]
    inside = sample.group == j
    telling = [measures[p] for p in strongest[:MOST_CONDITIONS_FROM] if features[p].strength > 0]
    rule = rule_for(telling, inside, sample.weights)
    size = int(sample.sizes[j])
    listed = tuple(features[p] for p in strongest[:max_features])
    return ClusterProfile(int(sample.names[j]), size, size / n, name_of(words), listed, rule)


def _rank(feature: FeatureProfile) -> tuple[float, bool, float]:
    """Ascending order of features: the strongest first; of equal ones a level that is there before one that is not."""
    difference = 0.0 if math.isnan(feature.difference) else abs(feature.difference)
    return -round(feature.strength, 9), feature.position == "fewer", -round(difference, 9)


def _by_chance(sample: GroupedSample, j: int, present: Mask, p: int) -> float:
    """The strength that chance reaches for group j, with the effective number (Kish 1965) of weighted rows outside."""
    weights = (sample.alike * present)[sample.group != j]
    effective = float(weights.sum() ** 2 / np.square(weights).sum()) if weights.any() else 0.0
    return by_chance(float(present[sample.part(j)].sum()), effective, p)


def _is_beyond(sample: GroupedSample, j: int, values: Array, p: int) -> bool:
    """Whether the only row of group j is far from all others in a column."""
    outside = (sample.group != j) & ~np.isnan(values)
    weights = sample.weights[outside]
    if len(weights) < 2:
        return False
    mean = float(np.average(values[outside], weights=weights))
    spread = math.sqrt(
        np.average(np.square(values[outside] - mean), weights=weights) * len(weights) / (len(weights) - 1)
    )
    return beyond_chance(float(values[sample.part(j)][0]), mean, spread, len(weights), p)


def _feature(j: int, p: int, measure: Measure, table: Effects, sample: GroupedSample, count: int) -> FeatureProfile:
    column, level = measure.key
    numbers: dict[str, Any] = {name: float(getattr(table, name)[j, p]) for name in _NUMBERS}
    least = _by_chance(sample, j, ~np.isnan(measure.values), count)
    if level is None and sample.sizes[j] == 1 and _is_beyond(sample, j, measure.values, count):
        least = 0.0
    position = position_of(numbers["contrast"], numbers["closeness"], level is not None, least)
    lift = None
    if level is not None:
        # shares, which rounding may have made less than nothing
        numbers |= {name: min(max(0.0, numbers[name]), 1.0) for name in SIDES if not math.isnan(numbers[name])}
        whole = _share(measure.values, sample.weights)
        lift = numbers["inside"] / whole if whole > 0 else 0.0
    strength = strength_of(position, numbers["contrast"], numbers["closeness"])
    return FeatureProfile(
        column, level, measure.column.kind, position, **numbers, lift=lift, strength=strength
    )  # fmt: skip


def _share(values: Array, weights: Array) -> float:
    return float(weights @ values / weights.sum())


SIDES = ("inside", "outside")
"""Fields that are shares, if the feature is a level."""

_NUMBERS = ("inside", "outside", "difference", "low", "high", "auc", "contrast", "closeness")
"""Fields that a `FeatureProfile` has from `Effects`."""


MOST_CLUSTERS = 20
"""Largest number of columns of the map, the largest clusters."""


def heat_cells(clusters: Profile, max_features: int = 20) -> tuple[list[ClusterProfile], list[str], Array]:
    """Clusters, names and differences of the map; nan where the interval holds 0."""
    shown = sorted(sorted(clusters.clusters, key=lambda one: -one.size)[:MOST_CLUSTERS], key=lambda one: one.label)
    strength: dict[str, float] = {}
    for cluster in shown:
        for feature in cluster.features:
            difference = 0.0 if math.isnan(feature.difference) else abs(feature.difference)
            key = max(feature.strength, 1e-3 * difference)
            strength[feature.text] = max(strength.get(feature.text, 0.0), key)
    names = sorted(strength, key=lambda name: -strength[name])[:max_features]
    values = np.full((len(names), len(shown)), np.nan)
    for column, cluster in enumerate(shown):
        for feature in cluster.features:
            if feature.text in names and not feature.low <= 0 <= feature.high:
                values[names.index(feature.text), column] = feature.difference
    filled = np.flatnonzero(np.isfinite(values).any(axis=1))
    if len(filled):
        names, values = [names[row] for row in filled], values[filled]
    return shown, names, values
