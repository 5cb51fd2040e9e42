"""Parameters of stages and of inner estimators as parameters of the estimator that holds them."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from clusterkit.contracts import Stage
from clusterkit.drivers import compose
from clusterkit.errors import InvalidParameter, UnknownName, nearest_names
from clusterkit.estimators.saving import SavedAsData

__all__ = ["NestedParams"]


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
