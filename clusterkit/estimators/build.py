"""Estimators by the name of a recipe."""

from __future__ import annotations

import importlib
from html import escape
from typing import Any

from clusterkit.contracts.providers import Recipe
from clusterkit.contracts.registry import registry
from clusterkit.errors import UnknownName, nearest_names
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline


def recipe(name: str, **parameters: object) -> Pipeline | Driven:
    """An estimator for a published algorithm.

    Parameters
    ----------
    name : str
        One of `recipes()`.
    **parameters
        Changes to the recipe: ``n_clusters``, ``random_state``, whole slots (``featuremap="rbf"``), parameters of
        stages (``featuremap__n_hidden=300``, ``solver__C=1.0``), or parameters of its driver (``n_maps=3``).

    Returns
    -------
    Pipeline or Driven
        Estimator that is not fitted. The class follows from the driver of the recipe: `Pipeline` for a single fit,
        `Auto`, or `Driven` for the driver of a plugin. Its repr shows the name of the recipe.

    Raises
    ------
    UnknownName
        If there is no such recipe or parameter; the nearest names are offered.

    Examples
    --------
    >>> from clusterkit import recipe
    >>> recipe("emmc", n_clusters=2, solver__C=1.0).solver.C
    1.0
    >>> print(recipe("svc"))  # doctest: +ELLIPSIS
    # recipe 'svc'
    Pipeline(...
    """
    if not isinstance(name, str):
        raise UnknownName(f"a recipe is named by a string, got {name!r}. {nearest_names('', registry.names('recipe'))}")
    chosen: Recipe = registry.get("recipe", name)
    try:
        driver = registry.get("driver", chosen.driver)
    except UnknownName as error:
        raise UnknownName(f"recipe {name!r} has a driver that is not registered: {error}") from error
    module, _, attribute = driver.estimator.partition(":")
    estimator_class: Any = getattr(importlib.import_module(module), attribute)
    estimator: Pipeline | Driven = Driven(chosen.driver) if estimator_class is Driven else estimator_class()
    estimator.set_params(**chosen.parameters).set_params(**parameters)
    estimator._recipe = name
    return estimator


class Recipes(dict[str, Recipe]):
    """Recipes by name, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(entry.title)}</td><td>{escape(entry.clusters)}</td></tr>"
            for name, entry in self.items()
        )
        head = "<tr><th>recipe</th><th>what it is</th><th>clusters</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def recipes() -> dict[str, Recipe]:
    """All recipes by name, including those of plugins; recipes that cannot be loaded are left out."""
    return Recipes(registry.available("recipe"))
