"""Stages, plugins and legal compositions that are available, and functions to register a stage in a running session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Literal, TypeVar, overload

from clusterkit.contracts import Balancer, Consensus, Driver, FeatureMap, Labeler, Partitioner, Solver, Stage, Tuner
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.providers import Plugin, Recipe
from clusterkit.contracts.registry import registry
from clusterkit.drivers.compose import legal_compositions

T = TypeVar("T", bound=type[object] | Recipe | ModuleType)


@overload
def stages(kind: Literal["featuremap"]) -> dict[str, type[FeatureMap]]: ...
@overload
def stages(kind: Literal["solver"]) -> dict[str, type[Solver]]: ...
@overload
def stages(kind: Literal["labeler"]) -> dict[str, type[Labeler]]: ...
@overload
def stages(kind: Literal["balancer"]) -> dict[str, type[Balancer]]: ...
@overload
def stages(kind: Literal["partitioner"]) -> dict[str, type[Partitioner]]: ...
@overload
def stages(kind: Literal["consensus"]) -> dict[str, type[Consensus]]: ...
@overload
def stages(kind: Literal["tuner"]) -> dict[str, type[Tuner]]: ...
@overload
def stages(kind: Literal["driver"]) -> dict[str, type[Driver]]: ...
@overload
def stages(kind: None = None) -> dict[str, dict[str, type[Stage]]]: ...
@overload
def stages(kind: str) -> Mapping[str, type[Stage]]: ...


def stages(kind: str | None = None) -> Mapping[str, object]:
    """Stage classes by name, of one kind, or of all kinds as a dict of dicts; broken plugins are left out.

    Parameters
    ----------
    kind : {"featuremap", "solver", "labeler", "balancer", "partitioner", "consensus", "tuner", "driver"}, optional

    Examples
    --------
    >>> sorted(stages("featuremap"))[:3]
    ['columns', 'distances', 'elm']
    """
    from clusterkit.contracts.registry import ABSTRACT
    from clusterkit.errors import UnknownName, nearest_names

    if kind is None:
        return {each: registry.available(each) for each in ABSTRACT}
    if kind not in ABSTRACT:
        raise UnknownName(f"no kind of stage named {kind!r}. {nearest_names(kind, ABSTRACT)}")
    return registry.available(kind)


def plugins() -> list[Plugin]:
    """Installed plugins; the unusable ones say why."""
    return registry.plugins()


def compositions() -> Iterator[Composition]:
    """Every legal mix of registered stages with default parameters."""
    return legal_compositions()


@overload
def register(thing: T, *, replace: bool = False) -> T: ...
@overload
def register(thing: None = None, *, replace: bool = False) -> Callable[[T], T]: ...


def register(thing: T | None = None, *, replace: bool = False) -> T | Callable[[T], T]:
    """Make a class, a `Recipe` or a plugin module known to this session; also a decorator.

    Parameters
    ----------
    thing : class, Recipe or module
        A stage class or a recipe is known by its own `name`. A frozen attrs class that is no stage may from then on
        stand in a saved model, under the name of the class.
    replace : bool, default False
        Whether it may take the place of one with the same name.

    Returns
    -------
    The thing.
    """
    if thing is None:
        return lambda each: registry.register(each, replace=replace)
    return registry.register(thing, replace=replace)
