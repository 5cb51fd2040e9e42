"""Outputs of a fitted clusterer for rows besides labels: scores, distances, and how well the labels fit.

A method decorated with `inductive` does not exist where the composition cannot label new samples, and its absence has
an error that says why.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any, TypeVar, cast, final

import attrs
import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clusterkit._typing import Array, ArrayLike, Floats, Labels
from clusterkit.contracts import Decoder
from clusterkit.contracts.arguments import SamplesLike
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.outcomes import Domain, Embedding, MergeTrees, MixtureScores, Outcome
from clusterkit.contracts.registry import registry
from clusterkit.drivers.compose import check
from clusterkit.errors import IncompatibleStages, InvalidData
from clusterkit.estimators.place import predicted
from clusterkit.estimators.same_place import check_same_place
from clusterkit.estimators.samples import new_rows
from clusterkit.fitting.samples import engine_for
from clusterkit.samples.array_libraries import BlockFunction, array_namespace, as_type, to_host
from clusterkit.samples.device_engine import ArrayRows, DeviceEngine
from clusterkit.samples.survey import OfFiniteRows

M = TypeVar("M", bound=Callable[..., object])


class _Method:
    """Descriptor of a method that exists only if ``self._why_not_inductive()`` returns None.

    ``hasattr(estimator, "predict")`` is then False before and after the fit of a transductive composition, and the
    AttributeError gives the reason and what would predict instead.
    """

    def __init__(self, method: Callable[..., object]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self.method
        self.check(instance)
        return MethodType(self.method, instance)

    def check(self, estimator: Any) -> None:
        """Raise the AttributeError where the method does not exist."""
        if (reason := estimator._why_not_inductive()) is not None:
            raise AttributeError(f"no {self.name} here: {reason}")


def inductive(method: M) -> M:
    """Decorator of a method that exists only where the composition can label new samples."""
    return cast("M", _Method(method))


def inductive_instead(c: Composition) -> str:
    """Solvers and labelers that would predict, as a sentence."""
    alternatives = []
    for slot in ("solver", "labeler"):
        for name, stage in registry.specimens(slot).items():
            change: dict[str, Any] = {slot: stage}
            other = attrs.evolve(c, **change)
            try:
                check(other)
            except IncompatibleStages:
                continue
            if other.inductive:
                alternatives.append(f"{slot} '{name}'")
    if alternatives:
        return f"These predict: {', '.join(alternatives)}."
    return "Use a recipe whose page says it predicts."


class _Fit(partial[object]):
    """The method `fit` of an estimator, which looks at its stages when somebody asks for the signature."""

    @property
    def __signature__(self) -> inspect.Signature:
        signature, estimator = inspect.signature(self.func), cast("Any", self.func).__self__
        without = () if estimator._why_not_weighted() is None else ("sample_weight",)
        return signature.replace(parameters=[p for name, p in signature.parameters.items() if name not in without])


class _Weighing(_Method):
    """Descriptor of a `fit` whose signature has `sample_weight` only where all stages count weights."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.method if instance is None else _Fit(MethodType(self.method, instance))


def weighing(method: M) -> M:
    """Decorator of `fit`, whose signature then has `sample_weight` only where ``self._why_not_weighted()`` is None.

    scikit-learn reads the signature to see whether weights may be passed. Who passes them anyway gets the error that
    names the stages that count rows.
    """
    return cast("M", _Weighing(method))


SCORED_ROWS = 5000
"""Largest number of rows of the silhouette of `score`, which needs all distances between them: 200 MB."""


class _only_of(_Method):
    """Decorator for a method that exists only where the outcome of the fit is of a type, and extends to new rows."""

    kinds: tuple[type[Outcome], ...]

    @classmethod
    def kind(cls, *kinds: type[Outcome]) -> Callable[[M], M]:
        """The decorator for some types of outcomes; to type checkers it changes nothing."""

        def decorate(method: M) -> M:
            descriptor: Any = cls(method)
            descriptor.kinds = kinds
            return cast("M", descriptor)

        return decorate

    def check(self, estimator: Any) -> None:
        """Raise the AttributeError where the method does not exist."""
        if not estimator._gives(self.kinds):
            raise self._absent()
        super().check(estimator)

    def _absent(self) -> AttributeError:
        return AttributeError(
            f"no {self.name} here: the method has none for new rows. Of any clustering, "
            "clusterkit.assign(model, X) says how certain each row is, clusterkit.profile(model, X) and "
            "clusterkit.representatives(model, X) what is in it"
        )


class _of_memberships(_only_of):
    """Decorator for a method that exists after a fit whose outcome are memberships, or votes, of new rows too.

    Memberships are those in the clusters where the label is read from them, column by column.
    """

    kinds = (MixtureScores, MergeTrees)

    def check(self, estimator: Any) -> None:
        """Raise the AttributeError where the method does not exist."""
        if getattr(getattr(estimator, "outcome_", None), "are_memberships", False):
            if not estimator._gives((Embedding,)) or not _decodes(estimator.predictor_):
                raise self._absent()
        elif getattr(getattr(estimator, "predictor_", None), "degrees", None) is None:
            super().check(estimator)
            return
        _Method.check(self, estimator)


def _decodes(predict: Any) -> bool:
    """Whether a predictor, or the one inside it, reads labels from scores whose columns are the clusters."""
    while predict is not None and not isinstance(predict, Decoder):
        predict = getattr(predict, "predict", None)  # predictors with a `base` give its clusters other numbers
    return predict is not None


class Outputs(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`transform`, `decision_function` and `score` of a fitted clusterer."""

    @inductive
    def predict(self, X: SamplesLike) -> Labels:
        """Clusters of new samples X, shape (m, d), or what `clusterkit.open` gives; of a model of a table, tables."""
        model = self._fitted()
        check_same_place(model, X, "predict")
        return predicted(model, X)

    def transform(self, X: SamplesLike) -> Floats:
        """Distances to the means of the clusters, or where there are none the scores or embedding, (m, q).

        Only methods have it whose outcome extends to new rows; `set_output` chooses the type of the table.
        """
        values, extend = self._extended(X, "transform")
        outcome = self._fitted().outcome_
        if hasattr(extend, "means") and not (outcome is not None and outcome.are_memberships):
            if isinstance(values, np.ndarray):
                return np.sqrt(np.maximum(-values, 0.0))
            xp = array_namespace(values)
            distances: Floats = xp.sqrt(xp.where(values < 0, -values, xp.zeros_like(values)))
            return distances
        return values

    @_only_of.kind(Embedding, Domain)
    def decision_function(self, X: SamplesLike) -> Floats:
        """How far each row belongs to each cluster, (m, k), or to the second of two, (m,); larger is more.

        For a method whose outcome is a domain: value minus level, (m,), positive inside. For memberships: the degrees.
        """
        if isinstance(self._fitted().outcome_, Domain):
            outcome, rows = self._outcome_and_rows(X)
            space: Any = self._fitted().space_
            inside: Floats = np.asarray(outcome.value(space.coordinates(rows)) - outcome.level, dtype=np.float64)
            return inside
        scores, _ = self._extended(X, "decision_function")
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @_of_memberships
    def predict_proba(self, X: SamplesLike) -> Floats:
        """Probability of each cluster for new rows, (m, k); rows sum to 1, but those of hdbscan.

        Mixtures and fuzzy c-means have it: their degrees of membership; recipe `embeddings`: shares of the votes of
        the nearest rows; and recipe `hdbscan`: how deep a row is in its own cluster, from 0 to 1, as `probabilities_`
        has it for the rows of the fit, and 0 for all other clusters and for noise.
        """
        if hasattr(self._fitted().predictor_, "shares"):
            check_same_place(self, X, "predict_proba")
            shares: Floats = self._fitted().predictor_.shares(self._fitted()._rows_of(X))
            return shares
        return self._extended(X, "predict_proba")[0]

    @inductive
    def score(self, X: SamplesLike, y: ArrayLike | None = None) -> float:
        """Score of the labels of `predict`; higher is better.

        With `y` their adjusted Rand index with it. Without, the mean silhouette coefficient, on at most 5,000 rows;
        0 where it is not defined. Both compare methods and numbers of clusters, as a grid search does.
        """
        from sklearn.metrics import adjusted_rand_score, silhouette_score

        model = self._fitted()
        if y is None and model.__sklearn_tags__().input_tags.pairwise:
            raise InvalidData(
                "score without y compares the distances between new rows, which a precomputed matrix has not: pass y"
            )
        labels = to_host(model.predict(X))
        if y is not None:
            return float(adjusted_rand_score(np.asarray(to_host(y)), labels))
        preparation = vars(model).get("preparation_")
        if preparation is not None and preparation.coded:  # codes and gaps have no distances, features have
            rows = attrs.evolve(preparation, coded=False).transform(X)
        else:
            rows = model._rows_of(to_host(X))
        if hasattr(rows, "toarray"):
            rows = rows.toarray()
        step = -(-len(labels) // SCORED_ROWS)
        inside = np.flatnonzero(labels >= 0)[::step]
        count = len(np.unique(labels[inside]))
        if not np.isfinite(rows).all():
            raise InvalidData("the features of the rows are not finite, so that they have no distances")
        return float(silhouette_score(rows[inside], labels[inside])) if 1 < count < len(inside) else 0.0

    def _gives(self, kinds: tuple[type[Outcome], ...]) -> bool:
        """Whether the fit has, or before it will have, an outcome of one of these types that extends to new rows."""
        model: Any = self
        if hasattr(model, "labels_"):
            outcome = getattr(model, "outcome_", None)
            if outcome is None:  # rows that an engine read have no table of scores
                return Embedding in kinds and _extension(model) is not None
            extends = not isinstance(outcome, Embedding) or outcome.extend is not None
            return isinstance(outcome, kinds) and extends and getattr(model, "predictor_", None) is not None
        composition = model._planned()
        path = None if composition is None else composition.solver.path(composition.featuremap.gives)
        return path is not None and path.inductive and issubclass(path.gives, kinds)

    def _planned(self) -> Composition | None:
        """The composition that a fit would run; None where it is not known before the fit."""
        return None

    @property
    def _n_features_out(self) -> int:
        outcome: Any = getattr(self, "outcome_", None)
        if outcome is None and (extend := _extension(self)) is not None:
            return int(extend(np.zeros((1, self._fitted().n_features_in_))).shape[1])
        return int(outcome.rows.shape[1])  # of None: the AttributeError that scikit-learn takes for "no features"

    def _fitted(self) -> Any:
        check_is_fitted(self, "labels_")
        return self

    def _extended(self, X: SamplesLike, method: str) -> tuple[Floats, Any]:
        """Scores or embedding of rows, (m, q), float64, on the device of the rows, and the function that gives them."""
        model = self._fitted()
        check_same_place(model, X, method)
        engine = engine_for(X)
        if isinstance(engine, DeviceEngine):
            extend, rows = _extension(model), engine.rows(X)
            if isinstance(rows, ArrayRows):
                rows, width = new_rows(model, rows), getattr(model.space_, "width", rows.d)
                table: Floats = as_type(engine.values(OfFiniteRows(_ScoresOfRows(extend)), rows, width), np.float64)
                return table, extend
        points, extend = self._outcome_and_rows(X)[1], _extension(model)
        return np.asarray(extend(points), dtype=np.float64), extend

    def _outcome_and_rows(self, X: SamplesLike) -> tuple[Any, Array]:
        model = self._fitted()
        rows = model._rows_of(X)
        span = getattr(model.predictor_, "span", None)
        # `Auto` fits wide data in the coordinates in which the rows differ
        return model.outcome_, rows if span is None or isinstance(model.outcome_, Domain) else span(rows)


@final
@attrs.frozen(eq=False)
class _ScoresOfRows(BlockFunction):
    """The scores of a block of raw rows."""

    extend: Any

    def __call__(self, rows: slice, X: Array) -> Array:
        """The scores, on any device."""
        return self.extend(X)


def _extension(model: Any) -> Any:
    """The function from raw rows to scores of a fitted model; None if it has none."""
    return getattr(getattr(model, "outcome_", None) or getattr(model, "predictor_", None), "extend", None)


def _hide(name: str) -> None:
    """Let a method exist only for embeddings; scikit-learn has put `set_output` around it before."""
    descriptor: Any = _only_of.kind(Embedding)(getattr(Outputs, name))
    descriptor.__set_name__(Outputs, name)
    setattr(Outputs, name, descriptor)


for _name in ("transform", "fit_transform"):
    _hide(_name)
