"""Recipes by name: data to an estimator."""

from __future__ import annotations

from typing import Any

from clusterkit.core.errors import UnknownName, nearest_names
from clusterkit.core.recipe import Recipe
from clusterkit.core.registry import registry
from clusterkit.estimators.auto_pooled import AutoPooled
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.pooled import Pooled

__all__ = ["recipe", "recipes"]

POOLED: dict[str, type[Pooled]] = {"Pooled": Pooled, "AutoPooled": AutoPooled}


def recipe(name: str, **parameters: Any) -> Pipeline | Pooled:
    """An estimator for a published algorithm.

    Parameters
    ----------
    name : str
        One of `recipes()`.
    **parameters
        Changes to it: ``n_clusters``, ``random_state``, whole slots (``featuremap="rbf"``) or parameters of stages
        (``featuremap__n_hidden=300``, ``solver__C=1.0``).

    Returns
    -------
    Pipeline, Pooled or AutoPooled
        Not fitted.

    Raises
    ------
    UnknownName
        If there is no such recipe or parameter; the nearest ones are offered.

    Examples
    --------
    >>> from clusterkit import recipe
    >>> recipe("emmc", n_clusters=2, solver__C=1.0).solver.C
    1.0
    """
    if not isinstance(name, str):
        raise UnknownName(f"a recipe is named by a string, got {name!r}. {nearest_names('', registry.names('recipe'))}")
    chosen: Recipe = registry.get("recipe", name)
    base = dict(chosen.parameters)
    estimator: Pipeline | Pooled
    if chosen.driver in POOLED:
        driver = POOLED[chosen.driver]
        own = {key: base.pop(key) for key in driver._get_param_names() if key in base}
        estimator = driver(base=Pipeline().set_params(**base), **own)
    elif chosen.driver == "Pipeline":
        estimator = Pipeline().set_params(**base)
    else:
        known = nearest_names(chosen.driver, ["Pipeline", *POOLED])
        raise UnknownName(f"recipe {name!r} wants the driver {chosen.driver!r}. {known}")
    return estimator.set_params(**parameters)


def recipes() -> dict[str, Recipe]:
    """All recipes by name, those of plugins included; broken ones are left out."""
    return registry.available("recipe")
