"""A method that does not exist where the composition cannot label new samples, with an error that says why."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

import attrs

from clusterkit.core.compat import Composition, check
from clusterkit.core.errors import IncompatibleStages
from clusterkit.core.registry import registry

__all__ = ["inductive", "inductive_instead", "learning"]

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")


class inductive(Generic[S, P, R]):
    """Decorator for a method that exists only if ``self.why_not_inductive()`` returns None.

    ``hasattr(estimator, "predict")`` is then False before and after the fit of a transductive composition, and the
    AttributeError gives the reason and what would predict instead.
    """

    reason = "why_not_inductive"

    def __init__(self, method: Callable[Concatenate[S, P], R]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Callable[Concatenate[S, P], R]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Callable[P, R]: ...

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., R]:
        if instance is None:
            return self.method
        estimator: Any = instance
        reason = getattr(estimator, self.reason)()
        if reason is not None:
            raise AttributeError(f"no {self.name} here: {reason}")
        return MethodType(self.method, instance)


class learning(inductive[S, P, R]):
    """The same for a method that goes on with further samples: it exists only if ``why_not_learning()`` is None."""

    reason = "why_not_learning"


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
