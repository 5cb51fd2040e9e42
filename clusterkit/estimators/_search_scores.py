"""Scores of the candidates of a search, without classes.

The default score is the criterion of `Auto` (`Criterion`), which compares all candidates once they are fitted.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, Indices, Labels
from clusterkit.contracts import FeatureMap, Task
from clusterkit.contracts.params import check_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.criteria.confidence import Evidence, canonical, structure_confidence, subsample_stability, subsamples
from clusterkit.criteria.one_cluster import MOST_OF_ONE, OneCluster, are_counts
from clusterkit.criteria.rules import Ranking, known_number, unknown_number
from clusterkit.criteria.terrain import Separation, Terrain
from clusterkit.drivers import compose
from clusterkit.errors import InvalidData, InvalidParameter, nearest_names
from clusterkit.estimators._search_results import as_text
from clusterkit.estimators.auto import Auto
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.metrics import adjusted_rand, dbcv, disco, nmi
from clusterkit.metrics.table import Noise, check_noise, number_clusters
from clusterkit.numerics.selection import few_points, sample_rows
from clusterkit.samples import memory
from clusterkit.samples.limits import side_by_side

if TYPE_CHECKING:
    from clusterkit.estimators._search_results import Candidate

MOST_ROWS = 5000
"""Largest number of rows on which candidates are compared, as in `Auto`; if there are more, a random sample is
taken."""

REFIT_FAILURES = (ValueError, RuntimeError, ArithmeticError)
"""Errors that a refit to some of the rows may raise where the fit to all succeeded: too few rows, or too few distinct
ones. The clustering then is not found again."""

SLOTS = (*compose.KINDS, "driver", "base")
"""Parameters that hold stages: candidates with the same in all of them are one family."""


@final
@attrs.frozen(eq=False)
class SearchScores:
    """The scores of the candidates, and facts from comparing them.

    Parameters
    ----------
    values : ndarray of shape (m,)
        nan for a candidate that cannot be compared.
    best : int or None
        The first candidate with the best score; None where no candidate can be compared.
    facts : mapping
        Facts about the comparison: how sure the answer is, and what else may be right.
    """

    values: Array
    best: int | None
    facts: Mapping[str, object]


@final
@attrs.frozen(eq=False)
class Criterion:
    """Samples and refits by which all candidates of a search are compared.

    Parameters
    ----------
    points : ndarray of shape (m, r)
        Coordinates of the rows that are compared.
    where : str
        Description of the coordinates, for `resolved_`.
    rows : ndarray of int or None
        The rows that are compared; None: all.
    parts : tuple of ndarray
        The rows of each refit.
    seeds : Seeds
    """

    points: Array
    where: str
    rows: Indices | None
    parts: tuple[Indices, ...]
    seeds: Seeds

    def stability(self, labels: Labels, refit: Callable[[Indices, int], Labels], most: int | None = None) -> float:
        """Mean agreement of the labels (n,) with refits to two disjoint parts of the rows, at most `most` at once."""

        def again(part: int) -> Labels | None:
            try:
                return refit(self.parts[part], self.seeds.integer("refit", part))
            except REFIT_FAILURES:
                return None

        return subsample_stability(labels, self.parts, again, most)

    def compare(self, candidates: Sequence[Candidate], kinds: Sequence[str]) -> SearchScores:
        """The scores of candidates with labels and stabilities, of the families `kinds`."""
        terrain = Terrain.of(self.points)
        places, labelings = [], []
        for i, candidate in enumerate(candidates):
            labels = None if candidate.labels is None else self._compared(terrain, candidate.labels)
            if candidate.status == "scored" and labels is not None:
                places.append(i)
                labelings.append(labels)
        values = np.full(len(candidates), np.nan)
        if not places:
            return SearchScores(values, None, {})
        chosen = [candidates[i] for i in places]
        numbers = [int(labels.max()) + 1 for labels in labelings]
        known, families = len(set(numbers)) == 1, [kinds[i] for i in places]
        if known:
            ranking = known_number(terrain, labelings, families)
        else:
            stabilities = [candidate.stability for candidate in chosen]
            ranking = unknown_number(terrain, labelings, families, stabilities)
        values[places] = ranking.total
        facts = self._facts(terrain, labelings, numbers, ranking, chosen[ranking.best].stability)
        return SearchScores(values, places[ranking.best], facts)

    def _compared(self, terrain: Terrain, labels: Labels) -> Labels | None:
        """The labels of the compared rows, noise joined to clusters by the tree; None with fewer than two clusters."""
        labels = labels if self.rows is None else labels[self.rows]
        if (labels < 0).all():
            return None
        labels = canonical(terrain.adopted(labels))
        return labels if labels.max() > 0 else None

    def _facts(
        self, terrain: Terrain, labelings: Sequence[Labels], numbers: Sequence[int], ranking: Ranking, stability: float
    ) -> dict[str, object]:
        known = len(set(numbers)) == 1
        best = ranking.best
        separation = Separation.of(terrain, labelings[best]).validity
        evidence = Evidence(stability, ranking.margin, separation, numbers[best])
        confidence = math.nan if len(numbers) == 1 else structure_confidence(evidence, known=known)
        others = [i for i, number in enumerate(numbers) if number != numbers[best]]
        one: OneCluster | None = None
        if few_points(terrain.X) is None or are_counts(terrain.X):
            one = OneCluster.of(terrain.X, self.seeds.stream("one cluster"))
        if one is not None and not one.several:
            confidence = min(confidence, MOST_OF_ONE)
        facts: dict[str, object] = {
            "criterion": "known number" if known else "unknown number",
            "compared_in": self.where,
            "margin": round(ranking.margin, 3),
            "confidence": round(confidence, 3),
            "perhaps_one_cluster": None if one is None else not one.several,
        }
        if others:
            facts["second_n_clusters"] = numbers[max(others, key=lambda i: (ranking.total[i], -i))]
        if self.rows is not None:
            facts["rows_compared"] = len(self.points)
        return facts


def criterion(X: Any, models: Sequence[Any], seeds: Seeds) -> Criterion:
    """The criterion for samples X, shape (n, d), and the models of all candidates.

    Candidates are compared where their feature maps scale to, if that is the same for all, otherwise in X with all
    attributes scaled to unit variance.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    models : sequence of estimator
        Estimators, not fitted; what is no estimator, such as an error, is passed over.
    seeds : Seeds
    """
    if not isinstance(X, np.ndarray):
        raise InvalidData("search: score='auto' needs dense samples; 'silhouette' and 'stability' take sparse ones")
    points, where = _common_space(X, models, seeds)
    rows = None
    if len(X) > MOST_ROWS:
        rows = np.sort(seeds.stream("sample").choice(len(X), MOST_ROWS, replace=False))
    parts = subsamples(len(X), seeds.stream("subsamples"))
    return Criterion(np.ascontiguousarray(points if rows is None else points[rows]), where, rows, parts, seeds)


def families(models: Sequence[Any], candidates: Sequence[Mapping[str, object]]) -> list[str]:
    """Kind of method of each candidate: its class, and the stages that the grid puts into whole slots.

    Other parameters, such as numbers of clusters, widths and seeds, do not matter, so that values close to each other
    do not confirm each other.
    """
    return [
        as_text([type(model), {key: value for key, value in params.items() if key in SLOTS}])
        for model, params in zip(models, candidates, strict=True)
    ]


def _common_space(X: Array, models: Sequence[Any], seeds: Seeds) -> tuple[Array, str]:
    """The coordinates to which the feature maps of all models scale the rows, if these are the same, and their name."""
    spaces: dict[str, Array] = {}
    for model in models:
        featuremap = _pipeline_of(model)
        key = "" if featuremap is None else as_text(featuremap.featuremap)
        if not isinstance(model, Exception) and key not in spaces:
            points = X if featuremap is None else _scaled(featuremap, X, seeds)
            if points is not None:
                spaces[key] = points
    different = list(spaces.values()) or [X]
    if all(np.array_equal(points, different[0]) for points in different[1:]):
        return different[0], "the input" if np.array_equal(
            different[0], X
        ) else "the input as the feature map scales it"
    with np.errstate(over="ignore", invalid="ignore"):  # values that the fits refuse
        spread = X.std(axis=0)
        scaled: Array = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled, "the input with all attributes scaled to unit variance, as the feature maps differ"


def _pipeline_of(model: Any) -> Pipeline | None:
    """The pipeline of a model; None for estimators of other libraries and for those that choose among several."""
    if isinstance(model, Driven) and not isinstance(model, Auto):
        model = Pipeline() if model.base is None else model.base
    return model if isinstance(model, Pipeline) else None


def _scaled(pipeline: Pipeline, X: Array, seeds: Seeds) -> Array | None:
    """The rows as the feature map of a pipeline scales them; None if it cannot be fitted, which the fit reports."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            featuremap = compose.resolve_as(FeatureMap, "featuremap", pipeline.featuremap)
            space = featuremap.space_of(X, Task(len(X), compose.PLACEHOLDER), seeds.stream("coordinates"))
    except (ValueError, RuntimeError, ArithmeticError):
        return None
    return np.asarray(space.scaled_points())


SCORES = ("auto", "anmi", "ami", "stability", "silhouette", "dbcv", "disco", "evidence", "objective")
"""Names of all scores; the first is the default of `clusterkit.search`."""

OF_MEMBERS = ("anmi", "ami")
"""Scores that compare labels with the members of an ensemble."""

OF_POINTS = ("silhouette", "dbcv", "disco")
"""Scores that need the data."""

SHARE = 0.8
"""Share of the samples in a subsample of the score "stability"; two subsamples then share about 64 % of all samples."""

ENSEMBLE = {"n_members": 10, "member_clusters": "sqrt"}
"""Arguments of `clusterkit.ensemble` for the default ensemble; its members have up to √n clusters, as candidates do."""


@final
@attrs.frozen(eq=False)
class EvidenceColumns:
    """Columns as the score "evidence" sees them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Numbers and codes, NaN in gaps.
    kinds : tuple of str
        What each column is, as the feature map `columns` takes it; (): what its values say.
    """

    X: Array
    kinds: tuple[str, ...] = ()

    def evidence(self, labels: Labels, noise: Noise) -> float:
        """What the columns gain a row by labels; nan for less than two clusters."""
        from clusterkit.families.mixtures.relevant import evidence_of

        rows = labels >= 0 if noise == "exclude" else np.ones(len(labels), dtype=bool)
        names, members = np.unique(labels[rows], return_inverse=True)
        return evidence_of(members.reshape(-1), self.X[rows], self.kinds, ()).total if len(names) > 1 else math.nan


@final
@attrs.frozen(eq=False)
class Judge:
    """A score with its data, the same for every candidate.

    Parameters
    ----------
    score : str
        One of `SCORES`.
    noise : {"cluster", "singletons", "exclude"}
        Treatment of the label -1.
    points : ndarray or sparse matrix of shape (n, d), or None
        Data for the scores that need them.
    members : ndarray of shape (M, n) or None
        Ensemble for the scores that compare with one.
    subsamples : tuple of ndarray
        Rows of each refit of "stability".
    seeds : tuple of int
        Seed of each refit.
    criterion : Criterion or None
        Criterion of the score "auto", which compares the candidates at the end.
    columns : EvidenceColumns or None
        Columns for the score "evidence".
    """

    score: str
    noise: Noise
    points: Any = None
    members: Labels | None = None
    subsamples: tuple[Indices, ...] = ()
    seeds: tuple[int, ...] = ()
    criterion: Criterion | None = None
    columns: EvidenceColumns | None = None

    def __call__(
        self, model: Any, labels: Labels, refit: Callable[[Indices, int], Labels], most: int | None = None
    ) -> float:
        """The score of a fitted model; nan where the score has no value.

        Parameters
        ----------
        model : fitted estimator
        labels : ndarray of shape (n,)
        refit : callable
            Function from rows and a seed to the labels of a new fit on these rows.
        most : int, optional
            Most refits at once: 1 where threads must not call `refit`.
        """
        if self.score in OF_MEMBERS:
            assert self.members is not None
            compare = _nmi if self.score == "anmi" else _ami
            return math.fsum(compare(member, labels, self.noise) for member in self.members) / len(self.members)
        if self.score == "stability":
            return self._stability(refit, most)
        if self.score == "silhouette":
            return silhouette(self.points, labels, self.noise)
        if self.score == "dbcv":
            return dbcv(self.points, labels, noise=self.noise)
        if self.score == "disco":
            return disco(self.points, labels)
        if self.score == "evidence":
            assert self.columns is not None
            return self.columns.evidence(labels, self.noise)
        value = float(getattr(model, "objective_", math.nan))
        if math.isnan(value):
            raise InvalidParameter("score='objective': this estimator has no objective")
        return value

    def _stability(self, refit: Callable[[Indices, int], Labels], most: int | None) -> float:
        jobs = zip(self.subsamples, self.seeds, strict=True)
        labelings = list(side_by_side(lambda job: refit(*job), jobs, most))
        values = []
        for i, rows in enumerate(self.subsamples):
            for j in range(i):
                _, first, second = np.intersect1d(rows, self.subsamples[j], assume_unique=True, return_indices=True)
                values.append(adjusted_rand(labelings[i][first], labelings[j][second], noise=self.noise))
        return math.fsum(values) / len(values)


def judge(
    score: str,
    X: Any,
    *,
    ensemble: ArrayLike | Mapping[str, Any] | None,
    noise: str | None,
    repeats: int,
    seeds: Seeds,
    models: Sequence[Any] = (),
    columns: EvidenceColumns | None = None,
) -> Judge:
    """The judge for samples X, shape (n, d), with all arguments checked; makes the default ensemble if it is needed.

    `models` are the estimators of all candidates, for the space in which the score "auto" compares them, and `columns`
    are those of a table, for the score "evidence".
    """
    if not isinstance(score, str) or score not in SCORES:
        raise InvalidParameter(f"search: no score {score!r}. {nearest_names(str(score), SCORES)}")
    noise_is_set = noise is not None
    if noise is None:
        noise = "singletons" if score in OF_POINTS else "cluster"
    try:
        treatment = check_noise(noise)
    except ValueError as error:
        raise InvalidParameter(f"search: {error}") from None
    if ensemble is not None and score not in OF_MEMBERS:
        raise InvalidParameter(f"search: an ensemble is for score='anmi' or 'ami', not for {score!r}")
    if score == "auto":
        if noise_is_set:
            raise InvalidParameter(
                "search: noise= is for the other scores; for score='auto' noise follows the spanning tree to a cluster"
            )
        return Judge(score, treatment, criterion=criterion(X, models, seeds))
    if score in OF_MEMBERS:
        return Judge(score, treatment, members=_members(X, ensemble, seeds))
    if score == "stability":
        return _refits(len_of(X), treatment, repeats, seeds)
    if score in ("dbcv", "disco", "evidence") and not isinstance(X, np.ndarray):
        raise InvalidData(f"search: score={score!r} needs dense samples")
    if score == "disco":
        n = len_of(X)
        memory.require(40 * n * n, f"the distances between {n} rows for score='disco'", "Use fewer rows.")
    if score == "evidence":
        if noise == "singletons":
            raise InvalidParameter(
                "search: noise='singletons' is not for score='evidence'; take 'cluster' or 'exclude'"
            )
        return Judge(score, treatment, columns=EvidenceColumns(X) if columns is None else columns)
    return Judge(score, treatment, X if score in OF_POINTS else None)


def len_of(X: Any) -> int:
    """Number of rows, also of a sparse matrix."""
    return int(X.shape[0])


def _members(X: Any, members_or_arguments: ArrayLike | Mapping[str, Any] | None, seeds: Seeds) -> Labels:
    """The ensemble to compare with, shape (M, n): the user's, or k-means with random numbers of clusters."""
    from clusterkit.contracts.labelings import checked
    from clusterkit.estimators.ensemble import ensemble

    if members_or_arguments is not None and not isinstance(members_or_arguments, Mapping):
        members = checked(members_or_arguments)
        if members.shape[1] != len_of(X):
            raise InvalidData(f"search: the ensemble is of {members.shape[1]} samples, X has {len_of(X)}")
        if (members < 0).all():
            raise InvalidData("search: all labels of the ensemble are -1 (noise): there is nothing to compare with")
        return members
    if not isinstance(X, np.ndarray):
        raise InvalidData("search: give an ensemble; the default one needs dense samples")
    arguments = {**ENSEMBLE, "random_state": seeds.integer("ensemble"), **(members_or_arguments or {})}
    try:
        members = ensemble(X, **arguments)
    except TypeError as error:
        raise InvalidParameter(f"search: ensemble={members_or_arguments!r}: {error}") from None
    if len(members) < arguments["n_members"]:
        # after Ctrl-C: scores by a part of an ensemble cannot be compared with the others
        raise KeyboardInterrupt
    return members


def _refits(n: int, noise: Noise, repeats: int, seeds: Seeds) -> Judge:
    check_count("search: repeats", repeats, at_least=2)
    rows = tuple(sample_rows(n, math.ceil(SHARE * n), seeds.stream("subsample", r)) for r in range(repeats))
    return Judge("stability", noise, subsamples=rows, seeds=tuple(seeds.integer("refit", r) for r in range(repeats)))


def objections(labels: Labels) -> str:
    """Reason why a labelling gets no score: no cluster, only one, or more than √n; "" if it gets one."""
    n, k = len(labels), len(np.unique(labels[labels >= 0]))
    most = max(2, math.isqrt(n))
    if k < 2:
        return "no cluster, noise only" if k == 0 else "one cluster"
    return f"shattered: {k} clusters of {n} samples, more than {most}" if k > most else ""


def silhouette(points: Any, labels: Labels, noise: Noise) -> float:
    """Mean silhouette of scikit-learn, extended to noise.

    With "singletons" a noise sample has the value 0, like a cluster of one sample, but is no neighbour of others; with
    "exclude" it does not count; with "cluster" all noise is one cluster.
    """
    from sklearn.metrics import silhouette_samples

    mask = np.ones(len(labels), dtype=bool) if noise == "cluster" else labels >= 0
    labels_in = labels[mask]
    if not 2 <= len(np.unique(labels_in)) < len(labels_in):
        return math.nan
    values = silhouette_samples(points[mask], labels_in)
    return float(values.sum()) / (len(labels) if noise == "singletons" else len(labels_in))


def _nmi(member: Labels, labels: Labels, noise: Noise) -> float:
    # like clusterkit.metrics.anmi
    return nmi(member, labels, average="geometric", noise=noise)


def _ami(member: Labels, labels: Labels, noise: Noise) -> float:
    from sklearn.metrics import adjusted_mutual_info_score

    _, numbers, mask = number_clusters(labels, noise)
    member = member if mask is None else member[mask]
    return float(adjusted_mutual_info_score(member, numbers)) if len(numbers) else math.nan
