"""A method that is absent, with the reason, where the composition cannot label new samples."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

__all__ = ["inductive"]


class inductive:
    """Decorate a method that needs ``self.why_not_inductive()`` to return None.

    ``hasattr(estimator, "predict")`` is then False before and after the fit of a transductive composition, and the
    AttributeError says why and what would do.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self.method
        reason = instance.why_not_inductive()
        if reason is not None:
            raise AttributeError(f"no {self.name} here: {reason}")
        return MethodType(self.method, instance)
