"""What a user may write in a slot (a name, a dict, a list, a stage) and the stage it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterkit.core.chain import Chain
from clusterkit.core.compat import SLOTS
from clusterkit.core.errors import InvalidParameter, UnknownName, nearest_names
from clusterkit.core.first_party import where
from clusterkit.core.registry import ABSTRACT, VARIABLE, registry
from clusterkit.core.stages import Codec, FeatureMap, Solver, Stage, outcome_labeler

__all__ = [
    "AUTO",
    "changes",
    "deep_parameters",
    "resolve",
    "resolve_balancer",
    "resolve_labeler",
    "resolve_limits",
    "with_parameter",
]

AUTO = "auto"
KINDS: Mapping[str, str] = {**SLOTS, "tuner": "tuner"}


def resolve(slot: str, value: Any, called: str | None = None) -> Stage | None:
    """The stage a slot's value means; None stays None. `called` is what errors call the slot.

    Raises
    ------
    UnknownName, InvalidParameter
    """
    called = called or slot
    kind = KINDS.get(slot, slot)  # the consensus of an estimator is no slot of a pipeline
    if value is None or isinstance(value, ABSTRACT[kind]):
        return value
    if isinstance(value, str):
        if slot == "init":
            return _initialiser(value)
        stage: Stage = registry.get(kind, value)()
        return stage
    if isinstance(value, Mapping):
        parameters = dict(value)
        name = parameters.pop("name", None)
        if not isinstance(name, str):
            raise InvalidParameter(f"{called} given as a dict needs the key 'name', got {value!r}")
        named = resolve(slot, name, called)
        assert named is not None
        return named.with_parameters(**parameters)
    if slot == "featuremap" and isinstance(value, (list, tuple)):
        maps: list[Any] = [resolve(slot, part) for part in value]
        return maps[0] if len(maps) == 1 else Chain(tuple(maps))
    if isinstance(value, type) and issubclass(value, Stage):
        raise InvalidParameter(f"{called} takes a stage, not its class: write {value.__name__}()")
    sequence = ", a list of these" if slot == "featuremap" else ""
    raise InvalidParameter(
        f"{called} takes a name, a dict with 'name' and parameters{sequence}, or a {ABSTRACT[kind].__name__}; "
        f"got {value!r}"
    )


def _initialiser(name: str) -> Stage:
    """A partitioner by name, or any recipe by name; partitioners win."""
    if registry.find("partitioner", name) is None and registry.find("recipe", name) is not None:
        from clusterkit.estimators.as_partitioner import ByRecipe

        return ByRecipe(name)
    try:
        stage: Stage = registry.get("partitioner", name)()
        return stage
    except UnknownName as error:
        recipes = ", ".join(registry.names("recipe"))
        known = where("recipe", name, VARIABLE)
        raise UnknownName(f"{error} A recipe can start too: {known or recipes}.") from None


def resolve_balancer(value: Any, solver: Solver, labeler: Stage | None = None) -> Stage | None:
    """The balancer, "auto" being the solver's own default, and none for a labeler without costs."""
    if value == AUTO:
        costless = labeler is not None and not isinstance(labeler, Codec)
        value = None if costless else solver.default_balancer
    return resolve("balancer", value)


def resolve_limits(value: Any, solver: Solver) -> Stage | None:
    """Whose sizes a solver that keeps them itself is told where "auto" names no balancer to assign."""
    return resolve("balancer", "band") if value == AUTO and solver.own_balance else None


def resolve_labeler(value: Any, featuremap: FeatureMap, solver: Solver, k: int | None) -> Stage:
    """The labeler, "auto" following from what the solver gives and the number of clusters."""
    if isinstance(value, str) and value == AUTO:
        path = solver.path(featuremap.gives)
        if solver.default_labeler is not None:
            value = solver.default_labeler
        elif path is not None:
            value = outcome_labeler(path.gives, solver.codings, k)
        else:  # no such path: name one, the compatibility check then tells what is wrong
            value = "argmax"
        labeler: Any = resolve("labeler", value)
        if k is None and not labeler.finds_k:
            raise InvalidParameter(
                f"n_clusters is needed: solver '{solver.name}' with labeler='auto' does not find the number of "
                "clusters (labeler='threshold' always makes two)"
            )
        return labeler
    stage = resolve("labeler", value)
    if stage is None:
        raise InvalidParameter("labeler must not be None; 'auto' chooses one")
    return stage


def with_parameter(slot: str, stage: Stage, key: str, value: Any) -> Stage:
    """A stage with one parameter changed; in a chain ``map__parameter`` or the map that has the parameter."""
    if not isinstance(stage, Chain):
        head, _, rest = key.partition("__")
        inner = stage.parameters().get(head)
        if rest and isinstance(inner, Stage):
            return stage.with_parameters(**{head: with_parameter(slot, inner, rest, value)})
        return stage.with_parameters(**{key: value})
    head, _, rest = key.partition("__")
    if rest:
        names = [part.name for part in stage.maps]
        if head not in names:
            raise UnknownName(f"no map named {head!r} in the chain. {nearest_names(head, names)}")
        index = names.index(head)
    else:
        index, rest = stage.owner(head), head
    maps = list(stage.maps)
    maps[index] = maps[index].with_parameters(**{rest: value})
    return Chain(tuple(maps))


def deep_parameters(slot: str, stage: Stage | None) -> dict[str, Any]:
    """Parameters of a stage under their nested names."""
    if stage is None:
        return {}
    if isinstance(stage, Chain):
        return {
            f"{slot}__{part.name}__{name}": value for part in stage.maps for name, value in part.parameters().items()
        }
    return {f"{slot}__{name}": value for name, value in stage.parameters().items()}


def changes(before: Stage, after: Stage) -> dict[str, Any]:
    """Parameters of a stage that differ from those of another one; in a chain those of all its maps."""
    if isinstance(before, Chain) and isinstance(after, Chain):
        found: dict[str, Any] = {}
        for one, other in zip(before.maps, after.maps, strict=True):
            found.update(changes(one, other))
        return found
    old = before.parameters()
    return {name: value for name, value in after.parameters().items() if old.get(name) != value}
