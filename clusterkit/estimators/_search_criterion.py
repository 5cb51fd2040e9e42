"""The default score of a search: the criterion of `Auto`, which compares all candidates once they are fitted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.errors import InvalidData
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import FeatureMap, Task
from clusterkit.criteria.agreement import canonical, subsample_stability, subsamples
from clusterkit.criteria.confidence import Evidence, structure_confidence
from clusterkit.criteria.one_cluster import OneCluster, few_points
from clusterkit.criteria.rules import Ranking, known_number, unknown_number
from clusterkit.criteria.scores import Separation
from clusterkit.criteria.terrain import Terrain
from clusterkit.drivers import compose
from clusterkit.estimators._search_grid import digest
from clusterkit.estimators.auto import Auto
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.number import PLACEHOLDER
from clusterkit.estimators.pipeline import Pipeline

if TYPE_CHECKING:
    from clusterkit.estimators._search_result import Candidate

__all__ = ["Criterion", "Scores", "criterion", "families"]

MOST_ROWS = 5000
"""Most rows on which candidates are compared, as `Auto` does; of more, a random sample is taken."""

REFIT_FAILURES = (ValueError, RuntimeError, ArithmeticError)
"""What a refit to some of the rows may raise where the fit to all succeeded: too few rows, or too few distinct ones.
The clustering then is not found again."""

SLOTS = (*compose.KINDS, "driver", "base")
"""Parameters that hold stages: candidates with the same in all of them are one family."""


@final
@attrs.frozen(eq=False)
class Scores:
    """The scores of the candidates, and what follows from comparing them.

    Parameters
    ----------
    values : ndarray of shape (m,)
        nan for a candidate that cannot be compared.
    best : int or None
        The first of the best; None where no candidate can be compared.
    facts : mapping
        How they were compared, how sure the answer is, and what else may be right.
    """

    values: Array
    best: int | None
    facts: Mapping[str, object]


@final
@attrs.frozen(eq=False)
class Criterion:
    """What all candidates of a search are compared by.

    Parameters
    ----------
    points : ndarray of shape (m, r)
        Coordinates of the rows that are compared.
    where : str
        Which coordinates these are.
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

    def stability(self, labels: Labels, refit: Callable[[Indices, int], Labels]) -> float:
        """Mean agreement of the labels (n,) with refits to two disjoint parts of the rows."""

        def again(part: int) -> Labels | None:
            try:
                return refit(self.parts[part], self.seeds.integer("refit", part))
            except REFIT_FAILURES:
                return None

        return subsample_stability(labels, self.parts, again)

    def compare(self, candidates: Sequence[Candidate], kinds: Sequence[str]) -> Scores:
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
            return Scores(values, None, {})
        chosen = [candidates[i] for i in places]
        numbers = [int(labels.max()) + 1 for labels in labelings]
        known = len(set(numbers)) == 1
        if known:
            ranking = known_number(terrain, labelings)
        else:
            stabilities = [candidate.stability for candidate in chosen]
            ranking = unknown_number(terrain, labelings, [kinds[i] for i in places], stabilities)
        values[places] = ranking.total
        facts = self._facts(terrain, labelings, numbers, ranking, chosen[ranking.best].stability)
        return Scores(values, places[ranking.best], facts)

    def _compared(self, terrain: Terrain, labels: Labels) -> Labels | None:
        """The labels of the compared rows, noise adopted; None with fewer than two clusters."""
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
        one = None if few_points(terrain.X) else OneCluster.of(terrain.X, self.seeds.stream("one cluster"))
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


def criterion(X: Any, models: Sequence[Any], on: str | None, seeds: Seeds) -> Criterion:
    """The criterion for samples X, shape (n, d), and the models of all candidates.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    models : sequence of estimator
        Not fitted; what is no estimator, such as an error, is passed over.
    on : {"input"} or None
        "input": candidates are compared in X. None: where their feature maps scale to, if that is the same for all,
        otherwise in X with all attributes scaled to unit variance.
    seeds : Seeds
    """
    if not isinstance(X, np.ndarray):
        raise InvalidData("search: score='auto' needs dense samples; 'silhouette' and 'stability' take sparse ones")
    points, where = (X, "the input") if on == "input" else _common_space(X, models, seeds)
    rows = None
    if len(X) > MOST_ROWS:
        rows = np.sort(seeds.stream("sample").choice(len(X), MOST_ROWS, replace=False))
    parts = subsamples(len(X), seeds.stream("subsamples"))
    return Criterion(np.ascontiguousarray(points if rows is None else points[rows]), where, rows, parts, seeds)


def families(models: Sequence[Any], candidates: Sequence[Mapping[str, object]]) -> list[str]:
    """What kind of method each candidate is: its class, and the stages that the grid puts into whole slots.

    All other parameters, such as numbers of clusters, widths and seeds, make no other family, so that values close to
    each other do not confirm each other.
    """
    return [
        digest([type(model), {key: value for key, value in params.items() if key in SLOTS}], strict=False)
        for model, params in zip(models, candidates, strict=True)
    ]


def _common_space(X: Array, models: Sequence[Any], seeds: Seeds) -> tuple[Array, str]:
    """The coordinates to which the feature maps of all models scale the rows, if these are the same, and their name."""
    spaces: dict[str, Array] = {}
    for model in models:
        featuremap = _pipeline_of(model)
        key = "" if featuremap is None else digest(featuremap.featuremap, strict=False)
        if not isinstance(model, Exception) and key not in spaces:
            points = X if featuremap is None else _scaled(featuremap, X, seeds)
            if points is not None:
                spaces[key] = points
    different = list(spaces.values()) or [X]
    if all(np.array_equal(points, different[0]) for points in different[1:]):
        return different[0], "the input" if np.array_equal(
            different[0], X
        ) else "the input as the feature map scales it"
    with np.errstate(over="ignore", invalid="ignore"):  # of values that the fits refuse
        spread = X.std(axis=0)
        scaled: Array = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled, "the input with all attributes scaled to unit variance, as the feature maps differ"


def _pipeline_of(model: Any) -> Pipeline | None:
    """The pipeline of a model; None for estimators of other libraries and for those that choose among several."""
    if isinstance(model, Driven) and not isinstance(model, Auto):
        model = Pipeline() if model.base is None else model.base
    return model if isinstance(model, Pipeline) else None


def _scaled(pipeline: Pipeline, X: Array, seeds: Seeds) -> Array | None:
    """Where the feature map of a pipeline scales the rows to; None if it cannot be fitted, which the fit reports."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            featuremap = compose.resolve_as(FeatureMap, "featuremap", pipeline.featuremap)
            space = featuremap.space_of(X, Task(len(X), PLACEHOLDER), seeds.stream("coordinates"))
    except (ValueError, RuntimeError, ArithmeticError):
        return None
    return np.asarray(space.scaled_points())
