"""What a fitted clusterer gives for rows besides labels: scores, distances, and how well the labels fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clusterkit._typing import Array, ArrayLike, Floats, Samples
from clusterkit.core.compat import Composition
from clusterkit.core.outcomes import Domain, Embedding, Outcome
from clusterkit.estimators.inductive import inductive

__all__ = ["Outputs"]

M = TypeVar("M", bound=Callable[..., object])

SCORED_ROWS = 5000
"""Most rows of the silhouette of `score`, which needs all distances between them: 200 MB."""


class _only_of(inductive[Any, Any, Any]):
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

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is not None and not instance.gives(self.kinds):
            names = " or ".join(kind.__name__.lower() for kind in self.kinds)
            raise AttributeError(f"no {self.name} here: only methods that give {names} for new rows have it")
        return super().__get__(instance, owner)


class Outputs(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`transform`, `decision_function` and `score` of a fitted clusterer."""

    def transform(self, X: Samples) -> Floats:
        """Distances to the means of the clusters, or where there are none the scores or embedding, (m, q).

        Only methods have it whose outcome extends to new rows; `set_output` chooses the type of the table.
        """
        outcome, rows = self._outcome_and_rows(X)
        values: Floats = np.asarray(outcome.extend(rows), dtype=np.float64)
        if hasattr(outcome.extend, "means") and not outcome.are_memberships:
            return np.sqrt(np.maximum(-values, 0.0))
        return values

    @_only_of.kind(Embedding, Domain)
    def decision_function(self, X: Samples) -> Floats:
        """How far each row belongs to each cluster, (m, k), or to the second of two, (m,); larger is more.

        Of a method whose outcome is a domain: value minus level, (m,), positive inside. Of memberships: the degrees.
        """
        outcome, rows = self._outcome_and_rows(X)
        if isinstance(outcome, Domain):
            space: Any = self._fitted().space_
            inside: Floats = np.asarray(outcome.value(space.coordinates(rows)) - outcome.level, dtype=np.float64)
            return inside
        scores: Floats = np.asarray(outcome.extend(rows), dtype=np.float64)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @inductive
    def score(self, X: Samples, y: ArrayLike | None = None) -> float:
        """How good the labels of `predict` are; higher is better.

        With `y` their adjusted Rand index with it. Without, the mean silhouette coefficient, on at most 5,000 rows;
        0 where it is not defined. Both compare methods and numbers of clusters, as a grid search does.
        """
        from sklearn.metrics import adjusted_rand_score, silhouette_score

        model = self._fitted()
        labels = model.predict(X)
        if y is not None:
            return float(adjusted_rand_score(np.asarray(y), labels))
        rows = model.rows_of(X)
        if hasattr(rows, "toarray"):
            rows = rows.toarray()
        step = -(-len(labels) // SCORED_ROWS)
        inside = np.flatnonzero(labels >= 0)[::step]
        count = len(np.unique(labels[inside]))
        return float(silhouette_score(rows[inside], labels[inside])) if 1 < count < len(inside) else 0.0

    def gives(self, kinds: tuple[type[Outcome], ...]) -> bool:
        """Whether the fit has, or before it will have, an outcome of one of these types that extends to new rows."""
        model: Any = self
        if hasattr(model, "labels_"):
            outcome = getattr(model, "outcome_", None)
            extends = not isinstance(outcome, Embedding) or outcome.extend is not None
            return isinstance(outcome, kinds) and extends and getattr(model, "predictor_", None) is not None
        composition = model.planned()
        path = None if composition is None else composition.solver.path(composition.featuremap.gives)
        return path is not None and path.inductive and issubclass(path.gives, kinds)

    def planned(self) -> Composition | None:
        """The composition that a fit would run; None where it is not known before the fit."""
        return None

    @property
    def _n_features_out(self) -> int:
        outcome: Any = getattr(self, "outcome_", None)
        return int(outcome.rows.shape[1])

    def _fitted(self) -> Any:
        check_is_fitted(self, "labels_")
        return self

    def _outcome_and_rows(self, X: Samples) -> tuple[Any, Array]:
        model = self._fitted()
        rows = model.rows_of(X)
        span = getattr(model.predictor_, "span", None)
        # of wide data `Auto` fits the coordinates in which the rows differ
        return model.outcome_, rows if span is None or isinstance(model.outcome_, Domain) else span(rows)


def _hide(name: str) -> None:
    """Let a method exist only for embeddings; scikit-learn has put `set_output` around it before."""
    descriptor: Any = _only_of.kind(Embedding)(getattr(Outputs, name))
    descriptor.__set_name__(Outputs, name)
    setattr(Outputs, name, descriptor)


for _name in ("transform", "fit_transform"):
    _hide(_name)
