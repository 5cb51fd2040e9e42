"""Fits to tables: the preparation is fitted first, becomes a part of the model, and is applied again by `predict`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np
from scipy.sparse import issparse

from clusterkit._typing import Array, ArrayLike, Labels
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.links import LinksLike
from clusterkit.contracts.registry import registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.compose import PLACEHOLDER, checked_number, is_open
from clusterkit.drivers.single import SingleDriver
from clusterkit.errors import IncompatibleStages, InvalidData, NeedsClusters, first_names
from clusterkit.estimators import same_place
from clusterkit.fitting.samples import ArraySamples
from clusterkit.numerics.threads import ignoring
from clusterkit.samples import FeatureSpace

if TYPE_CHECKING:
    from clusterkit.estimators.base import FittedAttributes
    from clusterkit.tables import FittedPreparation, Preparation

SHOWN = 5
"""Columns that a message names."""

NOTHING_LEFT = "no column is left"
"""Beginning of the error of a table that has nothing to cluster: another sheet of its file may have."""


def fit_prepared(
    model: FittedAttributes,
    table: object,
    preparation: Preparation | None = None,
    links: LinksLike | None = None,
    seeds: ArrayLike | None = None,
) -> Array:
    """Fit a model to the prepared rows of a table, and make the preparation a part of the model.

    Parameters
    ----------
    model : FittedAttributes
        An estimator: a `Pipeline`, or one of a driver.
        Its `predict` then takes tables with the columns of this one, and `save` writes the preparation too.
    table : Table, data frame or mapping of str to array
    preparation : Preparation, optional
        Default: ``Preparation()``.
    links, seeds : optional
        What is known about the rows, as `Pipeline.fit` takes it.

    Returns
    -------
    ndarray of shape (n, features)
        The rows that the model was fitted to. The fitted preparation is ``model.preparation_``, its decisions are
        ``model.resolved_["preparation"]``.

    Examples
    --------
    >>> import numpy as np
    >>> from clusterkit import recipe
    >>> from clusterkit.estimators.preparing import fit_prepared
    >>> table = {"age": np.r_[20:30, 60:70.0], "income": np.r_[30_000:20_000:-1000, 70_000:60_000:-1000.0]}
    >>> model = recipe("kmeans", n_clusters=2, random_state=0)
    >>> X = fit_prepared(model, table)
    >>> model.preparation_.scale
    'zscore'
    >>> bool((model.predict(table) == model.labels_).all())
    True
    """
    fitted = prepared_for(model, table, preparation)
    X = fitted.transform(table, quiet=True)
    fit_table = getattr(model, "_fit_table", None)  # of estimators that look at whole columns
    if (stages := stages_of_tables(model)) is not None:
        if links is not None or seeds is not None:
            pipeline: Any = model
            stages = pipeline._linked(stages, links, seeds, fitted.rows)
        fitted = fit_mixed(model, stages, table, fitted)
    elif fit_table is not None:
        fitted = fit_table(table, fitted, X, links=links, seeds=seeds)
    elif links is not None or seeds is not None:
        pipeline = model
        pipeline.fit(X, links=links, seeds=seeds)
    else:
        model.fit(X)
    attach(model, fitted)
    return X


def fitted_labels(model: object, X: object, preparation: Preparation | None = None) -> Labels:
    """The labels of a fit to samples, or with a preparation to a table; some mixtures of others only predict."""
    any_model: Any = model
    if preparation is not None:
        fit_prepared(any_model, X, preparation)
        return np.asarray(any_model.labels_)
    fitted = any_model.fit(X)
    return np.asarray(fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(X))


def labels_again(model: object, X: object, preparation: Preparation | None = None) -> Labels | None:
    """Labels of a copy of a model, fitted to other rows; None where it cannot be fitted to them.

    Warnings are suppressed, because nobody gets this fit.
    """
    from sklearn.base import clone

    with ignoring(Warning):
        try:
            return fitted_labels(clone(model), X, preparation)
        except (ValueError, ArithmeticError):  # too few rows for so many clusters, say
            return None


def is_table(X: object) -> bool:
    """Whether samples are a data frame, a file that was read, or a mapping of names to columns."""
    from clusterkit.tables.reading.frames import is_frame

    # one kind of sparse matrix is a mapping
    return is_frame(X) or (isinstance(X, Mapping) and not issparse(X))


def stages_of_tables(model: FittedAttributes) -> Composition | None:
    """The stages of a model for tables whose columns come as they are; None if it takes features only.

    They are its own, if its feature map takes such tables; or those that a recipe has for tables, if the stages of the
    model are those of the recipe and nothing in them was changed.
    """
    pipeline: Any = model
    if not hasattr(model, "_composition_at") or getattr(model, "tuner", None) is not None:
        return None
    try:
        stages = _stages(pipeline)
        if stages[0].takes_tables:
            return cast("Composition", pipeline.composition())
        for entry in registry.available("recipe").values():
            if entry.tables:
                other = type(pipeline)().set_params(**{**entry.parameters, "balancer": pipeline.balancer})
                if _stages(other) == stages:
                    sized = {} if stages[3] is None else {"labeler": "argmax"}  # a balancer needs costs
                    other.set_params(**{**entry.tables, **sized}, n_clusters=pipeline.n_clusters)
                    return cast("Composition", other.composition())
    except ValueError:
        return None  # fit reports what is wrong
    return None


def refuse_changed_stages(model: FittedAttributes, X: object) -> None:
    """Refuse a table of more than numbers where stages of a recipe that takes such tables were changed.

    Raises
    ------
    IncompatibleStages
        It names what was changed.
    """
    pipeline: Any = model
    entry = registry.available("recipe").get(str(pipeline._recipe))
    if entry is None or not entry.tables or not is_mixed(X):
        return
    try:
        _stages(pipeline)
    except ValueError:
        return  # fit reports what is wrong
    parameters, usual = (model.get_params() for model in (pipeline, type(pipeline)().set_params(**entry.parameters)))
    changed = []
    for slot in sorted(pipeline.get_params(deep=False).keys() - {"n_clusters", "random_state", "verbose"}):
        if parameters[slot] != usual[slot]:
            names = (
                [name for name in parameters if name.startswith(f"{slot}__")]
                if type(parameters[slot]) is type(usual[slot])
                else []
            )
            names = [name for name in names if parameters[name] != usual.get(name)] or [slot]
            changed += [f"{name}={getattr(parameters[name], 'name', parameters[name])!r}" for name in names]
    if not changed:
        return
    of_tables = ", ".join(f"{slot}={entry.tables[slot]!r}" for slot in ("featuremap", "solver") if slot in entry.tables)
    is_, it = ("is", "it") if len(changed) == 1 else ("are", "them")
    raise IncompatibleStages(
        f"recipe {entry.name!r} takes tables with texts, dates or gaps by other stages ({of_tables}), for which "
        f"{', '.join(changed)} {is_} not meant. Leave {it} out; or set these stages up by Pipeline({of_tables}); or "
        "make numbers of the columns first, by clusterkit.tables.Preparation().fit(X).transform(X)"
    )


def _stages(pipeline: Any) -> tuple[Any, ...]:
    """What a composition consists of, apart from the number of clusters, of which tables may leave more open."""
    number = getattr(pipeline, "n_clusters", None)
    try:
        c = pipeline._composition_at(None if is_open(number) else checked_number(number))
    except NeedsClusters:
        c = pipeline._composition_at(PLACEHOLDER)
    return c.featuremap, c.solver, c.labeler, c.balancer, c.n_init, c.max_iter


def fit_mixed(
    model: FittedAttributes, composition: Composition, table: object, fitted: FittedPreparation
) -> FittedPreparation:
    """Fit the stages of `stages_of_tables` to the columns of a table as they are, and set the fitted attributes.

    Returns the preparation that gives `predict` the columns in the same way.
    """
    fitted = attrs.evolve(fitted, coded=True)
    X = fitted.transform(table, quiet=True)
    composition = of_columns(composition, fitted)
    any_model: Any = model
    seeds = Seeds.of(any_model.random_state)
    with same_place.surroundings(any_model.verbose, len(X), composition.featuremap):
        fit = SingleDriver().run([composition], ArraySamples(X), seeds).fit
    set_fit_of_columns(model, fit, fitted, composition)
    return fitted


def of_columns(composition: Composition, fitted: FittedPreparation) -> Composition:
    """The stages of `stages_of_tables`, with the kinds and names of the columns that a preparation gives them."""
    kinds, names = fitted.kinds_of_codes, fitted.names_of_codes
    return attrs.evolve(composition, featuremap=composition.featuremap.with_parameters(kinds=kinds, names=names))


def set_fit_of_columns(
    model: FittedAttributes, fit: FitResult, fitted: FittedPreparation, composition: Composition
) -> None:
    """Set the fitted attributes of a model that was fitted to the columns of a table as they are."""
    any_model: Any = model
    model.n_features_in_ = len(fitted.columns)
    model.feature_names_in_ = np.array(fitted.columns, dtype=object)
    any_model._takes_sparse_rows = False
    any_model._set_fitted(fit, None, composition.labeler.name)
    any_model._set_report({})


def prepared_for(model: FittedAttributes, table: object, preparation: Preparation | None = None) -> FittedPreparation:
    """The preparation of a table; where the method takes no negative numbers, numbers are scaled without a shift."""
    from clusterkit.tables import Preparation, TableError
    from clusterkit.tables.preparing.places import check_order

    spec = Preparation() if preparation is None else preparation
    if spec.weights and (stages_of_tables(model) is not None or _first_map(model) in ("minmax", "zscore")):
        raise IncompatibleStages(
            "weights of columns count in distances, and this method compares each column in a scale of its own: leave "
            "them out, or take another method"
        )
    if spec.sphere and _needs_nonnegative(model):
        spec = attrs.evolve(spec, sphere=False)
    try:
        with not_of_repeated_columns() if stages_of_tables(model) is not None else nullcontext():
            fitted = spec.fit(table)
    except TableError as error:
        other_sheets = getattr(table, "other_sheets", "")
        if not other_sheets or not str(error).startswith(NOTHING_LEFT):
            raise
        raise TableError(f"{error}{other_sheets}") from error
    if getattr(model, "metric", None) == "haversine":
        check_order(fitted.columns)
    if spec.scale == "auto" and fitted.scale == "zscore" and _needs_nonnegative(model):
        fitted = attrs.evolve(spec, scale="spread").fit(table)
        fitted = attrs.evolve(fitted, preparation=spec, reason="the method takes no negative numbers")
    return fitted


def not_of_repeated_columns() -> AbstractContextManager[None]:
    """Context without warnings of columns that say the same: a mixture makes all but one of them redundant."""
    from clusterkit.tables.preparing.redundant_columns import RepeatedColumns

    return ignoring(RepeatedColumns)


def is_mixed(X: object) -> bool:
    """Whether samples are a table of more than finite numbers, which estimators other than `Auto` do not take.

    Examples
    --------
    >>> import numpy as np
    >>> is_mixed({"town": np.array(["Ulm", "Bonn"])}), is_mixed(np.zeros((3, 2)))
    (True, False)
    """
    from clusterkit.tables.reading.frames import HoldsFrame, columns_of

    return is_table(X) and (
        isinstance(X, Mapping | HoldsFrame)
        or any(its.kind not in ("number", "truth") or its.duration or its.missing().any() for its in columns_of(X))
    )


def attach(model: FittedAttributes, fitted: FittedPreparation) -> None:
    """Make a preparation a part of a fitted model."""
    model.preparation_ = fitted
    model.resolved_ = {"preparation": fitted.resolved(), **model.resolved_}


def features_of(model: object, X: object) -> Array | None:
    """The features of a table that the preparation of a model makes; None for a model without one.

    Raises
    ------
    TableError
        If the table has not the columns of the fit.
    InvalidData
        If X is neither a table nor an array.
    """
    fitted = cast("FittedPreparation | None", vars(model).get("preparation_"))
    if fitted is None:
        return None
    from clusterkit.tables.reading.frames import refuse_query, why_no_table

    refuse_query(X)
    X = of_records(X)
    if is_table(X):
        return fitted.transform(X)
    why = why_no_table(X)
    rows = np.asarray(None if why else X)
    if rows.ndim != 2:
        columns = first_names(fitted.used, SHOWN)
        raise InvalidData(f"{why or why_no_table(rows)}. This model takes tables with the columns {columns}")
    return fitted.transform(rows)


def _are_cells(values: object) -> bool:
    """Whether it is a column, and not the cell of one row."""
    return hasattr(values, "values") or (hasattr(values, "__len__") and not isinstance(values, str))


def of_records(X: object) -> object:
    """Columns of one row, a mapping of names to cells, or of a list of such rows; anything else as it is."""
    if isinstance(X, Mapping) and not issparse(X) and X and not any(_are_cells(values) for values in X.values()):
        X = [X]
    if not isinstance(X, list | tuple) or not X or not all(isinstance(row, Mapping) for row in X):
        return X
    return {name: [row.get(name) for row in X] for name in dict.fromkeys(name for row in X for name in row)}


def _first_map(model: Any) -> object:
    """The name of the map that sees the features of a table; None where the model is no pipeline."""
    featuremap = model._featuremap_or_none() if hasattr(model, "_featuremap_or_none") else None
    return getattr(getattr(featuremap, "maps", [featuremap])[0], "name", None)


def _needs_nonnegative(model: Any) -> bool:
    """Whether the composition of a model refuses negative numbers."""
    pipeline = model._base() if hasattr(model, "_base") and getattr(model, "base", None) is not None else model
    if not hasattr(pipeline, "_composition_at"):
        return False
    try:
        composition = pipeline.composition()
    except ValueError:
        return False  # fit reports what is wrong
    featuremap = composition.featuremap
    keeps_signs = issubclass(featuremap.gives, FeatureSpace) and featuremap.nonnegative is None
    return not featuremap.takes_negative or (composition.solver.nonnegative and keeps_signs)
