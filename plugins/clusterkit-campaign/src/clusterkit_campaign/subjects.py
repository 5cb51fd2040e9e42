"""What a campaign fits: recipes and compositions, with the parameters that make a costly stage cheap."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import cast, final

import attrs

from clusterkit.core.compat import SLOTS, Composition, legal_compositions
from clusterkit.core.params import is_count
from clusterkit.core.recipe import Recipe
from clusterkit.core.registry import ABSTRACT, registry
from clusterkit.core.stages import Stage
from clusterkit.drivers import compose
from clusterkit.estimators.build import recipe
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline

__all__ = ["Subject", "composition_of", "compositions_with", "of_composition", "of_recipe", "recipes_with"]

STARTS = 3
"""Starts at most: what a start does is the same for the tenth."""


def _read_only(parameters: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType(dict(parameters))


@final
@attrs.frozen
class Subject:
    """A recipe or a composition.

    Parameters
    ----------
    name : str
        Name of the recipe, or the stages joined by ``+``.
    recipe : str or None
    parameters : mapping
        What differs from the recipe, or from `Pipeline()`.
    clusters : {"given", "two", "found"}
        As `Recipe.clusters`.
    """

    name: str
    recipe: str | None
    parameters: Mapping[str, object] = attrs.field(converter=_read_only, hash=False)
    clusters: str = "given"

    def changed(self, **changes: object) -> Subject:
        """The same with further parameters."""
        return attrs.evolve(self, parameters={**self.parameters, **changes})

    def arguments(self, k: int | None, seed: int) -> dict[str, object]:
        """All parameters of the estimator for k clusters, where the number is not found."""
        number = {} if self.clusters == "found" else {"n_clusters": 2 if self.clusters == "two" or k is None else k}
        return {**self.parameters, **number, "random_state": seed}

    def estimator(self, k: int | None = 2, seed: int = 0) -> Pipeline | Driven:
        """A new estimator."""
        arguments = self.arguments(k, seed)
        if self.recipe is not None:
            return recipe(self.recipe, **arguments)
        return Pipeline().set_params(**arguments)

    def program(self, k: int | None = 2, seed: int = 0) -> str:
        """The expression that makes the estimator."""
        words = [f"{name}={value!r}" for name, value in self.arguments(k, seed).items()]
        if self.recipe is not None:
            return f"recipe({', '.join([repr(self.recipe), *words])})"
        return f"Pipeline().set_params({', '.join(words)})"

    @property
    def is_composition(self) -> bool:
        """False for a recipe that chooses among compositions, as `auto` does."""
        estimator = self.estimator()
        return isinstance(estimator, Pipeline) or estimator.base is not None

    def composition(self, k: int | None = 2) -> Composition:
        """The resolved stages of the base pipeline."""
        return composition_of(self.estimator(k))


FINDS_NUMBER = Pipeline(solver="mst", labeler="excess_of_mass")
"""Stands for estimators that choose among compositions: no number of clusters, perhaps noise, no objective."""


def composition_of(estimator: Pipeline | Driven) -> Composition:
    """The resolved stages of a pipeline, or of the base of a driven one."""
    base = estimator if isinstance(estimator, Pipeline) else estimator.base or FINDS_NUMBER
    k = estimator.n_clusters if estimator.n_clusters is not None and base is not FINDS_NUMBER else base.n_clusters
    slots = {slot: getattr(base, slot) for slot in compose.KINDS if slot != "tuner"}
    return compose.compose(slots, int(k) if is_count(k) else None, 1, 100)


@cache
def of_recipe(name: str) -> Subject:
    """A recipe, with few starts and the trial parameters that its driver and its tuner declare."""
    chosen: Recipe = registry.get("recipe", name)
    parameters = dict(chosen.parameters)
    changes: dict[str, object] = dict(registry.get("driver", chosen.driver).trial)
    if isinstance(parameters.get("n_init"), int) and cast("int", parameters["n_init"]) > STARTS:
        changes["n_init"] = STARTS
    for slot, kind in (*SLOTS.items(), ("tuner", "tuner")):
        word = parameters.get(slot)
        if isinstance(word, str) and registry.find(kind, word) is not None:
            stage = cast("type[Stage]", registry.get(kind, word))
            changes |= {f"{slot}__{parameter}": value for parameter, value in stage.trial.items()}
    return Subject(name, name, changes, chosen.clusters)


def of_composition(c: Composition) -> Subject:
    """Stages with their default parameters and trial parameters."""
    slots: dict[str, object] = {}
    for slot in SLOTS:
        stage = getattr(c, slot)
        slots[slot] = None if stage is None else stage.name
        if stage is not None and stage.trial:
            slots[slot] = {"name": stage.name, **stage.trial}
    if slots["init"] is None:
        del slots["init"]
    names = [str(getattr(getattr(c, slot), "name", None)) for slot in SLOTS if slot in slots]
    return Subject("+".join(names), None, slots, "found" if c.n_clusters is None else "given")


def recipes_with(kind: str, name: str) -> list[str]:
    """Names of the recipes that use a stage."""
    found_in = []
    for recipe_name, each in registry.available("recipe").items():
        if kind == "driver" and each.driver == name:
            found_in.append(recipe_name)
            continue
        slots = [slot for slot, slot_kind in (*SLOTS.items(), ("tuner", "tuner")) if slot_kind == kind]
        if any(each.parameters.get(slot) == name for slot in slots):
            found_in.append(recipe_name)
    return found_in


@cache
def _legal() -> tuple[Subject, ...]:
    """All legal compositions, those with two clusters only where three are not possible."""
    most: dict[str, Subject] = {}
    for c in legal_compositions((None, 2, 3)):
        subject = of_composition(c)
        two = c.n_clusters == 2
        if subject.name not in most or not two:
            most[subject.name] = attrs.evolve(subject, clusters="two") if two else subject
    return tuple(most.values())


@cache
def compositions_with(kind: str | None = None, name: str | None = None) -> tuple[Subject, ...]:
    """Legal compositions of registered stages, all or those with a stage."""
    if kind is None:
        return _legal()
    assert kind in ABSTRACT
    slots = [slot for slot, slot_kind in SLOTS.items() if slot_kind == kind]
    return tuple(each for each in _legal() if any(_name(each.parameters.get(slot)) == name for slot in slots))


def _name(value: object) -> object:
    return value.get("name") if isinstance(value, Mapping) else value
