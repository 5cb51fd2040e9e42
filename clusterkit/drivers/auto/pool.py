"""The members of a pool: recipes as functions of the number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast, final

import attrs

from clusterkit.core.compat import Composition
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.recipe import Recipe
from clusterkit.core.registry import registry
from clusterkit.core.stages import Driver
from clusterkit.drivers import compose

__all__ = ["Member", "composition_of", "of_composition", "pool_of"]

DEFAULTS: Mapping[str, object] = {
    "featuremap": "elm",
    "solver": "ridge",
    "labeler": "auto",
    "balancer": "auto",
    "init": "kmeans",
    "n_init": 1,
    "max_iter": 100,
}
"""The defaults of `clusterkit.Pipeline`, which the parameters of a recipe change."""

EFFORT = frozenset({"n_init"})
"""Parameters with which a pool saves time where a member is fitted at many numbers of clusters, and which a recipe has
its own values of where the number is given. Not the tolerance: with that of the recipe the mixture of the shapes was
worse by .02 of the mean index, as its likelihood grows by wide components across several clusters."""

PLACEHOLDER = 3
"""Number of clusters with which a member is composed before any is tried: above the two that some labelers are for."""


@final
@attrs.frozen
class Member:
    """A method of the pool.

    Parameters
    ----------
    name : str
        The recipe, with the parameters in which members of one recipe differ.
    family : str
        Members of one family do not confirm each other.
    composition : Composition
        At some number of clusters, or at None where the method finds it.
    recompose : callable or None
        Number of clusters to the composition at it, where more follows from it than the field; None where not.
    thorough : Member or None
        The same for one number of clusters instead of many: with the starts of the recipe by itself, and its changes
        for a known number; None: this one.
    driver : Driver or None
        What fits the composition; None: a single fit.
    """

    name: str
    family: str
    composition: Composition
    recompose: Callable[[int], Composition] | None = attrs.field(default=None, eq=False)
    thorough: Member | None = None
    driver: Driver | None = attrs.field(default=None, eq=False)

    @property
    def finds_number(self) -> bool:
        """Whether the method finds the number of clusters itself."""
        return self.composition.n_clusters is None

    @property
    def takes(self) -> int | None:
        """The only number of clusters that the method makes; None if it makes any."""
        return self.composition.labeler.max_clusters

    @property
    def scales(self) -> bool:
        """Whether it is fitted to all rows of large data: trees, whose cost grows like n log n."""
        return self.composition.solver.name == "mst" and self.driver is None

    def alone(self) -> Member:
        """The member as it is where the number of clusters is known."""
        return self.thorough or self

    def at(self, k: int | None) -> Composition:
        """The composition at a number of clusters."""
        if self.finds_number or k is None:
            return self.composition
        return attrs.evolve(self.composition, n_clusters=k) if self.recompose is None else self.recompose(k)


def pool_of(names: Sequence[str] | None = None) -> list[Member]:
    """The members of the pool.

    Parameters
    ----------
    names : sequence of str or None, default None
        Recipes; one without the trait `pool` takes part as it is. None: all registered recipes that have the trait,
        the built-in ones first.

    Raises
    ------
    UnknownName
        If there is no such recipe.
    InvalidParameter
        If a recipe is not a single fit.
    """
    if names is None:
        recipes: Iterable[Recipe] = [recipe for recipe in registry.available("recipe").values() if recipe.pool]
    else:
        recipes = [registry.get("recipe", name) for name in names]
    return [member for recipe in recipes for member in _members(recipe)]


def of_composition(
    composition: Composition,
    name: str,
    recompose: Callable[[int], Composition] | None = None,
    driver: Driver | None = None,
) -> Member:
    """A composition of the user's as a member, with the driver that fits it."""
    return Member(name, name, composition, recompose, driver=driver)


def _members(recipe: Recipe) -> list[Member]:
    if recipe.driver != "single" or recipe.parameters.get("tuner") is not None:
        raise InvalidParameter(
            f"recipe '{recipe.name}' cannot be in the pool of 'auto': members are fitted many times, so they have the "
            "driver 'single' and no tuner"
        )
    changes: Sequence[Mapping[str, object]] = recipe.pool or ({},)
    members = []
    for change in changes:
        differs = [f"{key.rpartition('__')[2]}={value}" for key, value in change.items()]
        name = f"{recipe.name}({', '.join(differs)})" if differs and len(changes) > 1 else recipe.name
        member = _member(recipe, name, change)
        lasting = {key: value for key, value in change.items() if key not in EFFORT} | dict(recipe.pool_known)
        thorough = None if lasting == change else _member(recipe, name, lasting)
        members.append(attrs.evolve(member, thorough=thorough))
    return members


def _member(recipe: Recipe, name: str, change: Mapping[str, object]) -> Member:
    """The recipe with changed parameters."""
    composition, recompose = _composed({**recipe.parameters, **change}, finds_number=recipe.clusters == "found")
    return Member(name, recipe.family or recipe.name, composition, recompose)


def _composed(
    parameters: Mapping[str, object], *, finds_number: bool
) -> tuple[Composition, Callable[[int], Composition] | None]:
    """The composition of a member, and the function of the number of clusters from which more than a field follows."""
    if finds_number:
        return composition_of(parameters, None), None
    of_two = composition_of(parameters, 2)
    try:
        composition = composition_of(parameters, PLACEHOLDER)
    except ValueError:  # a method for two clusters
        return of_two, None
    same = attrs.evolve(composition, n_clusters=2) == of_two
    return composition, None if same else partial(composition_of, parameters)


def composition_of(parameters: Mapping[str, object], n_clusters: int | None) -> Composition:
    """The composition of a recipe's parameters: whole slots, and parameters of stages as ``slot__name``.

    Raises
    ------
    UnknownName, InvalidParameter, IncompatibleStages
        As `clusterkit.drivers.compose.compose`.
    """
    values = {**DEFAULTS, **{key: value for key, value in parameters.items() if key in DEFAULTS}}
    for key, value in parameters.items():
        slot, _, inner = key.partition("__")
        if inner:
            stage = compose.resolve(slot, values[slot])
            assert stage is not None
            values[slot] = compose.with_parameter(slot, stage, inner, value)
    counts: dict[str, Any] = {name: cast(int, values.pop(name)) for name in ("n_init", "max_iter")}
    return compose.compose(values, n_clusters, **counts)
