"""What estimators share: the attributes that a fit sets, and parameters of stages."""

from __future__ import annotations

import html
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from clusterkit._typing import Array, Floats, Labels
from clusterkit.contracts import Predict, Stage
from clusterkit.contracts.arguments import SamplesLike
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.labelings import NOISE, ClusterLayer, by_appearance, cluster_sizes
from clusterkit.contracts.outcomes import Domain, Embedding, Outcome, Scores, Tree
from clusterkit.contracts.registry import registry
from clusterkit.drivers import compose
from clusterkit.drivers.compose import Tuning
from clusterkit.errors import ClusterkitWarning, InvalidParameter, UnknownName, first_names, nearest_names
from clusterkit.estimators import same_place
from clusterkit.estimators.outputs import Outputs
from clusterkit.estimators.same_place import beside_labels
from clusterkit.estimators.saving import SavedAsData
from clusterkit.numerics.shapes import Declared, array
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import FeatureSpace, Space, memory
from clusterkit.samples.array_libraries import array_namespace, is_device_array, to_host

if TYPE_CHECKING:
    from clusterkit.tables import FittedPreparation


T = TypeVar("T")


@final
class only_where_made(Generic[T]):
    """A fitted array that only some methods have; elsewhere an AttributeError says which do.

    A value in the instance takes precedence, as this descriptor has no ``__set__``: ``hasattr(estimator, name)`` is
    True only after a fit of a method that has the array.

    Parameters
    ----------
    methods : str
        Methods that have the array, for the message.
    compute : callable
        Function from a fitted estimator to the array, called at its first use; None where the method has no such array.
    instead : str
        A sentence on what every method has in its place, for the message.
    """

    def __init__(
        self,
        methods: str,
        compute: Callable[[FittedAttributes], T | None] = lambda estimator: None,
        instead: str = "",
    ) -> None:
        self.methods = methods
        self.compute = compute
        self.instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: FittedAttributes | None, owner: type | None = None) -> T:
        if instance is not None and not hasattr(instance, "labels_"):
            raise NotFittedError(f"no {self.name} before the fit; call fit(X) first")
        values = None if instance is None else self.compute(instance)
        if values is None:
            raise AttributeError(f"no {self.name} here: only {self.methods} have them{self.instead}")
        if isinstance(values, np.ndarray):
            values = cast("T", beside_labels(instance, values))
        vars(instance)[self.name] = values
        return values


def _outside_domain(estimator: FittedAttributes) -> Floats | None:
    """Level of the domain minus its value at the samples; None if the outcome is no domain."""
    outcome, space = estimator.outcome_, estimator.space_
    if not isinstance(outcome, Domain) or space is None:
        return None
    return outcome.level - outcome.value(space.points)


def _of_probabilities(estimator: FittedAttributes) -> Floats | None:
    """Degrees of membership (n, k), from one degree a sample: that of its own cluster; 0 for the others, and noise."""
    probabilities = vars(estimator).get("probabilities_")
    if probabilities is None:
        return None
    n, k = len(probabilities), int(estimator.labels_.max()) + 1
    memory.require(8 * n * k, f"the {n} x {k} table of memberships", "Use probabilities_, one number for each sample.")
    table = np.zeros((n, k))
    inside = np.flatnonzero(estimator.labels_ >= 0)
    table[inside, estimator.labels_[inside]] = probabilities[inside]
    return table


def _of_tree(estimator: FittedAttributes) -> tuple[ClusterLayer, ...] | None:
    """The most persistent cuts of a spanning tree, from coarse to fine; None without a tree, or with links."""
    tree = estimator.outcome_
    if not isinstance(tree, Tree) or "links" in estimator.resolved_ or len(tree.rows) < 2:
        return None
    from clusterkit.families.trees.cuts import persistent_cuts

    cuts = persistent_cuts(tree.merges, tree.heights, max(tree.n_neighbors, 2), MOST_LAYERS)
    strongest = max((cut.persistence for cut in cuts), default=1.0)
    chosen = by_appearance(estimator.labels_)
    return tuple(
        ClusterLayer(labels, cut.persistence / strongest, 1.0, math.log(cut.end / cut.least), (labels == chosen).all())
        for cut in cuts
        for labels in [by_appearance(cut.labels)]
    )


def _means(estimator: FittedAttributes) -> Floats | None:
    """Means of the clusters in the units of the columns, (k, d); None without means, or where no column is kept."""
    # fits of rows outside memory and of batches store no outcome
    holder = estimator.predictor_ if estimator.outcome_ is None else estimator.outcome_
    extend: object = getattr(holder, "extend", None)
    extend = getattr(extend, "nearness", extend)  # fuzzy means have it
    means: Floats | None = getattr(extend, "means", None)
    if means is None or not isinstance(estimator.space_, FeatureSpace):
        return None
    return estimator.space_.transform.inverse(means)


def _inertia(estimator: FittedAttributes) -> float | None:
    """The objective of k-means, the sum of squared distances to the means; None for other methods."""
    holder = estimator.predictor_ if estimator.outcome_ is None else estimator.outcome_
    memberships = isinstance(estimator.outcome_, Scores) and estimator.outcome_.are_memberships
    if memberships or not hasattr(getattr(holder, "extend", None), "means") or math.isnan(estimator.objective_):
        return None
    return float(estimator.objective_)


REPORT = ("candidates", "confidence", "perhaps_one_cluster", "second_n_clusters")
"""Entries of the report on a chosen number of clusters, each an attribute with an underscore after the name."""

MOST_LABELS = 20
"""Labels of clusters in a message."""

MOST_LAYERS = 10
"""Largest number of layers of a spanning tree, those of the largest persistence: each has a label for every sample."""


def _of_shape(values: Any, name: str, shape: tuple[int | None, ...], kinds: str) -> Array:
    """The values, if they are an array of this shape, None being any size, of these kinds of numbers."""
    fine = isinstance(values, np.ndarray) and values.dtype.kind in kinds and values.ndim == len(shape)
    if not fine or any(size not in (None, actual) for size, actual in zip(shape, values.shape, strict=True)):
        what = f"an array of {values.dtype} of shape {values.shape}" if isinstance(values, np.ndarray) else type(values)
        raise ValueError(f"{name} is {what}")
    return cast("Array", values)


class FittedAttributes(Outputs):
    """Declares what the fit of a clusterer sets."""

    _always_fitted: ClassVar[frozenset[str]] = frozenset(
        {
            "labels_", "n_iter_", "converged_", "stop_reason_", "interrupted_", "history_", "objective_", "space_",
            "outcome_", "resolved_", "exact_on_training_", "predictor_", "n_features_in_",
        }
    )  # fmt: skip

    _declared: ClassVar[Mapping[str, Declared]] = {
        "labels_": array("n", least=NOISE, most="n"),
        "history_": array("t", finite=False),
        "memberships_": array("n k"),
        "outlier_scores_": array("n"),
        "probabilities_": array("n", least=0, most=1),
        "cluster_centers_": array("q d"),
    }

    labels_: Labels
    n_iter_: int
    converged_: bool
    stop_reason_: str
    interrupted_: bool
    history_: Floats
    objective_: float
    space_: Space | None
    outcome_: Outcome | None
    resolved_: dict[str, dict[str, object]]
    exact_on_training_: bool
    predictor_: Predict | None
    preparation_: FittedPreparation
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    memberships_ = only_where_made[Floats](
        "methods with degrees of membership, such as recipes 'fuzzy-cmeans' and 'hdbscan',",
        _of_probabilities,
        ". Of any clustering, sklearn.metrics.silhouette_samples says how well each row fits",
    )
    outlier_scores_ = only_where_made[Floats](
        "methods whose outcome is a domain, such as recipe 'svc', and recipe 'hdbscan'", _outside_domain
    )
    cluster_centers_ = only_where_made[Floats](
        "methods with means, such as recipes 'kmeans' and 'mixture', behind feature maps that only scale the columns",
        _means,
        ". Of any clustering, clusterkit.profile(model, X) has the means in the units of the columns, and "
        "clusterkit.representatives(model, X) typical rows",
    )
    inertia_ = only_where_made[float](
        "methods that minimise it, such as recipe 'kmeans' in the space of its features,",
        _inertia,
        ". objective_ is what the method minimises",
    )
    probabilities_ = only_where_made[Floats](
        "methods with one degree of membership a sample, such as recipe 'hdbscan',"
    )
    layers_ = only_where_made[tuple[ClusterLayer, ...]](
        "methods that find clusters of several sizes at once, such as recipes 'embeddings' and 'hdbscan',",
        _of_tree,
    )

    def _set_report(self, report: Mapping[str, object]) -> None:
        """Set every entry of a report as an attribute, with an underscore; those of a choice before are removed."""
        for name in REPORT:
            self.__dict__.pop(f"{name}_", None)
        for name, value in report.items():
            setattr(self, f"{name}_", value)

    def _try_out(self) -> None:
        """Label a row of zeros, and compute the other outputs for it."""
        if not len(self.labels_):
            raise ValueError("labels_ has no label")
        k = self.labels_.max() + 1
        if any("roles" in facts for facts in self.resolved_.values()):
            dict(self.column_roles_)
        names = vars(self).get("_names", {})
        if names.keys() - cluster_sizes(self.labels_) or not all(isinstance(name, str) for name in names.values()):
            raise ValueError("the names are not those of the clusters")
        row = self._zero_row()
        if self.space_ is not None and self.space_.in_memory:
            sparse = isinstance(self.space_.coordinates(row), SparseRows)
            if sparse != isinstance(self.space_.points, SparseRows):
                raise ValueError(f"_takes_sparse_rows is {sparse}, and the rows of the fit are not so")
        if self.predictor_ is not None:
            # before memory is taken for the scores of a row in each of them
            if (clusters := getattr(self.predictor_, "k", k)) > len(self.labels_):
                raise ValueError(f"{len(self.labels_)} rows have labels, and {clusters} clusters are predicted")
            label = _of_shape(self.predictor_(row), "a label", (1,), "iu")
            if label[0] < NOISE:
                raise ValueError(f"the label of a row is {label[0]}")
        elif self._why_not_inductive() is None and not self.interrupted_:
            raise ValueError("predictor_ is None, and the stages can predict")
        if self.space_ is None:
            if k > 1 and self.outcome_ is not None:
                raise ValueError("several clusters need the space_ in which they were found")
            return
        if isinstance(self.space_, FeatureSpace):
            features = self.space_.at(row.astype(self.space_.dtype))
            if features.shape != (1, self.space_.width):
                raise ValueError(f"the features of a row have the shape {features.shape}")
        if isinstance(self.outcome_, Domain):
            _of_shape(self.outcome_.value(self.space_.coordinates(row)), "a value", (1,), "f")
        elif self._gives((Embedding,)):
            span = getattr(self.predictor_, "span", None)
            holder: Any = self.predictor_ if self.outcome_ is None else self.outcome_
            extend = holder.extend
            scores = _of_shape(extend(row if span is None else span(row)), "the scores of a row", (1, None), "f")
            if getattr(holder, "are_memberships", False) and scores.shape[1] < k:
                raise ValueError(f"memberships in {scores.shape[1]} of {k} clusters")
        if (means := _means(self)) is not None:
            _of_shape(means, "cluster_centers_", (None, row.shape[1]), "f")

    def _zero_row(self) -> Array:
        """A row of zeros as the stages take it, (1, d)."""
        preparation = vars(self).get("preparation_")
        width = self.n_features_in_ if preparation is None else len(preparation.features)
        memory.require(8 * width, f"a row of {width} columns", "No model of so many columns fits into it.")
        row = np.zeros((1, width))
        if not vars(self).get("_takes_sparse_rows"):
            return row
        from scipy.sparse import csr_array

        return cast("Array", SparseRows.of(csr_array(row)))

    @property
    def column_roles_(self) -> dict[str, str]:
        """What each column says about the clusters, by its name.

        "cluster-dependent"; "covariate", a category that shifts the numbers alike in all clusters; "redundant", what
        other columns say already; "irrelevant"; or "left out", as constants and identifiers are.

        Raises
        ------
        NotFittedError
            Before a fit.
        AttributeError
            If no stage gave roles: those of `mixed_mixture` and of the feature map `relevant` do.
        """
        if not hasattr(self, "labels_"):
            raise NotFittedError("no column_roles_ before the fit; call fit(X) first")
        facts: Mapping[str, Mapping[str, Any]] = vars(self).get("resolved_", {})
        roles = next(
            (facts[slot]["roles"] for slot in ("solver", "featuremap") if "roles" in facts.get(slot, {})), None
        )
        if roles is None and not facts.keys() & {"solver", "featuremap"}:
            raise AttributeError(
                "no column_roles_ here: all rows are one cluster, and no stage was run; recipe 'mixture' gives the "
                "columns of a table roles in one cluster too"
            )
        if roles is None:
            raise AttributeError(
                "no column_roles_ here: the solver 'mixed_mixture', which recipe 'mixture' takes for tables, and the "
                "feature map 'relevant' give columns their roles"
            )
        preparation = vars(self).get("preparation_")
        if preparation is None:
            names = [str(name) for name in getattr(self, "feature_names_in_", roles)]
            return dict(zip(names, roles.values(), strict=True))
        left_out = dict.fromkeys(preparation.left_out, "left out")
        if not preparation.coded:
            return {**dict(zip(preparation.features, roles.values(), strict=True)), **left_out}
        return {**roles, **left_out}

    def _described(self) -> tuple[Any, ...]:
        """What the columns say of each cluster, with a name from it."""
        if not hasattr(self, "labels_"):
            raise NotFittedError(f"the clusters of this {type(self).__name__} have no names yet; call its fit first")
        describe: Any = registry.get("namer", "rules")
        clusters: tuple[Any, ...] = describe(self)
        return clusters

    @property
    def names_(self) -> dict[int, str]:
        """A name for each cluster by its label: as `rename` has it, or else proposed by the columns that tell it apart.

        Names are proposed from the rows that the fit stores, as `clusterkit.profile` names clusters; a fit without
        them, or without columns, has "cluster 0" and so on.

        Raises
        ------
        NotFittedError
            Before a fit.
        """
        return self._names_of(self._described())

    def _names_of(self, described: Sequence[Any]) -> dict[int, str]:
        """The names of clusters of which the columns say so much."""
        proposed = {one.label: one.name for one in described}
        numbers = {label: f"cluster {label}" for label in cluster_sizes(np.asarray(to_host(self.labels_)))}
        return numbers | proposed | vars(self).get("_names", {})

    def rename(self, names: Mapping[int, str] | Callable[..., str]) -> Self:
        """Name clusters; files of the model, profiles, reports, pictures, `clusterkit.assign` and `explain` use it.

        Parameters
        ----------
        names : mapping of int to str, or callable
            New names by the labels of the clusters, the others keep theirs; or a function from the
            `clusterkit.ClusterProfile` of each cluster to its name. The next fit forgets them.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameter
            If there is no such cluster, a name is no text, or two clusters would have one name.
        NotFittedError
            Before a fit.

        Examples
        --------
        >>> import clusterkit
        >>> ages = [[20], [22], [23], [70], [71], [74]]
        >>> model = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(ages)
        >>> sorted(model.names_.values()), model.rename({model.labels_[0]: "young"}).names_[model.labels_[0]]
        (['high x0', 'low x0'], 'young')
        """
        described = self._described()
        before = self._names_of(described)
        if callable(names):
            names = {one.label: names(one) for one in described}
        if not isinstance(names, Mapping):
            raise InvalidParameter(
                "rename: needs names of clusters by their labels, such as {0: 'young'}, or a function from the profile "
                f"of a cluster to its name; got {names!r:.80}"
            )
        renamed = dict(vars(self).get("_names", {}))
        for label, name in names.items():
            if label not in before:
                there = first_names(list(map(str, before)), MOST_LABELS)
                raise InvalidParameter(f"rename: there is no cluster {label!r:.80}; there are {there or 'none'}")
            if not isinstance(name, str) or not name.strip():
                raise InvalidParameter(f"rename: the name of cluster {label} must be a text, got {name!r:.80}")
            before[label] = renamed[int(label)] = name
        for label, name in before.items():
            if twin := [one for one in before if one < label and before[one] == name]:
                raise InvalidParameter(f"rename: clusters {twin[0]} and {label} would both be called {name!r:.80}")
        self._names = renamed
        return self

    @property
    def n_clusters_(self) -> int:
        """Number of clusters that have a sample; noise is none."""
        if is_device_array(self.labels_):
            distinct = to_host(array_namespace(self.labels_).unique_values(self.labels_))
            return int((distinct >= 0).sum())
        if isinstance(self.labels_, np.ndarray):
            return len(cluster_sizes(self.labels_))
        # lazy labels are computed by the conversion, and only the distinct ones come here
        return len(np.asarray(np.unique(self.labels_[self.labels_ >= 0])))

    if TYPE_CHECKING:

        def fit_predict(self, X: SamplesLike, y: object = None, **kwargs: object) -> Labels:
            """Declared with types; the method is that of scikit-learn, which has none."""

    def _set_fitted(self, fit: FitResult, tuning: Tuning | None, labeler: str | None = None) -> None:
        """Set the attributes of `clusterkit.Pipeline` of a fit.

        Parameters
        ----------
        fit : FitResult
        tuning : Tuning or None
            The parameters that were decided before the fit, by a tuner; None where there was none.
        labeler : str, optional
            The name of the labeler where it was left at "auto", which is then reported in `resolved_`.
        """
        same_place.finished(getattr(self, "_recipe", None) or type(self).__name__, fit)
        self.labels_ = fit.labels
        self.n_iter_ = fit.n_iter
        self.converged_ = fit.converged
        self.stop_reason_ = fit.reason
        self.interrupted_ = fit.interrupted or (tuning is not None and tuning.interrupted)
        self.history_ = np.asarray(fit.history, dtype=np.float64)
        self.objective_ = fit.objective
        self.space_ = fit.space
        self.outcome_ = fit.outcome
        resolved = {} if tuning is None else {slot: dict(facts) for slot, facts in tuning.decided.items()}
        for slot, facts in fit.resolved.items():
            resolved[slot] = {**resolved.get(slot, {}), **facts}
        if labeler is not None:
            resolved["labeler"] = {"name": labeler, **resolved.get("labeler", {})}
        self.resolved_ = resolved
        self.exact_on_training_ = fit.exact
        self.predictor_ = fit.predict
        if fit.missing_clusters is not None and not compose.is_open(getattr(self, "n_clusters", None)):
            warnings.warn(fit.missing_clusters, ClusterkitWarning, stacklevel=level_of_caller())
        for name, values in (
            ("preparation_", None),
            ("_names", None),
            ("cluster_centers_", None),
            ("memberships_", fit.memberships),
            ("outlier_scores_", fit.outlier_scores),
            ("probabilities_", fit.probabilities),
            ("layers_", fit.layers or None),
        ):
            self.__dict__.pop(name, None)  # set by an earlier fit
            if values is not None:
                setattr(self, name, values)


def level_of_caller() -> int:
    """Number of calls from the function that warns up to the caller outside of the library, for a warning of a fit."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("clusterkit."):
        frame, level = frame.f_back, level + 1
    return level


class NestedParams(SavedAsData, BaseEstimator):
    """An estimator whose `get_params` and `set_params` reach the parameters of its stages as ``parameter__name``.

    Stages are immutable: setting a nested parameter puts a changed copy of the stage in the place of the name, dict or
    stage that was there. Estimators as parameters are reached by the same notation, as in scikit-learn.
    """

    _slots: ClassVar[Mapping[str, str]] = {}
    """parameters that hold a stage, and the slot under which `compose.resolve` knows each of them"""

    _recipe: str | None = None
    """the recipe that `clusterkit.recipe` built the estimator from; `sklearn.base.clone` drops it"""

    def __new__(cls, *args: object, **params: object) -> Self:
        """An estimator that is not initialised yet; a parameter that it has not is an error with the nearest names."""
        names = cls._get_param_names()
        for name in params:
            if name not in names:
                raise cls._unknown(name, names)
        return super().__new__(cls)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Parameters by name; with `deep` also those of stages and inner estimators, as ``parameter__name``."""
        params: dict[str, Any] = {name: getattr(self, name) for name in self._get_param_names()}
        if deep:
            for name, value in list(params.items()):
                params.update(self._inner_params(name, value))
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters; ``parameter__name`` changes one parameter of a stage or of an inner estimator.

        Raises
        ------
        UnknownName
            If there is no such parameter; the nearest names are offered.
        InvalidParameter
            If the value is out of range, or there is no stage whose parameter could be set.
        """
        names = self._get_param_names()
        for name in params:
            if name not in names and not self._is_nested(name):
                raise self._unknown(name, names)
        for name in sorted(params, key=lambda name: "__" in name):  # whole stages before parameters of them
            if name in names:
                setattr(self, name, params[name])
            else:
                self._set_nested(name, params[name])
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        return text if self._recipe is None else f"# recipe {self._recipe!r}\n{text}"

    @property
    def _repr_html_(self) -> Callable[[], str]:
        inner: Callable[[], str] = super()._repr_html_
        return lambda: self._with_recipe(inner())

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._with_recipe(bundle["text/html"])
        return bundle

    def _with_recipe(self, page: str) -> str:
        """The diagram of scikit-learn below the name of the recipe."""
        return page if self._recipe is None else f"<div>recipe <b>{html.escape(self._recipe)}</b></div>{page}"

    @classmethod
    def _unknown(cls, name: str, names: Iterable[str]) -> UnknownName:
        return UnknownName(f"{cls.__name__} has no parameter {name!r}. {nearest_names(name, names)}")

    def _inner_params(self, name: str, value: Any) -> dict[str, Any]:
        """Parameters of the stage or estimator that a parameter holds; none for a name that does not exist."""
        if name in self._slots:
            with suppress(ValueError):  # fit reports a wrong name
                return compose.deep_parameters(name, self._stage(name))
        elif hasattr(value, "get_params") and not isinstance(value, type):
            return {f"{name}__{key}": inner for key, inner in value.get_params().items()}
        return {}

    def _is_nested(self, name: str) -> bool:
        prefix, _, key = name.partition("__")
        return bool(key) and (prefix in self._slots or hasattr(getattr(self, prefix, None), "set_params"))

    def _set_nested(self, name: str, value: Any) -> None:
        prefix, _, key = name.partition("__")
        if prefix not in self._slots:
            getattr(self, prefix).set_params(**{key: value})
            return
        stage = self._stage(prefix)
        if stage is None:
            raise InvalidParameter(
                f"{name} cannot be set: {prefix} is {getattr(self, prefix)!r}; name one first, {prefix}=..."
            )
        setattr(self, prefix, compose.with_parameter(self._slots[prefix], stage, key, value))

    def _stage(self, name: str) -> Stage | None:
        """The stage that a parameter means."""
        return compose.resolve(self._slots[name], getattr(self, name), name)
