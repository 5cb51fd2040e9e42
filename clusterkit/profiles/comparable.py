"""What can be compared: clear errors for what cannot, before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping

from clusterkit.core.errors import InvalidData, InvalidParameter, UnknownName, nearest_names
from clusterkit.core.wording import counted
from clusterkit.profiles.labelled import is_model

__all__ = ["check_fits", "check_methods"]

SHOWN = 3
"""Names in the example of a message."""


def check_methods(methods: object) -> None:
    """Check that something is a mapping of names to recipes, estimators or labels.

    Raises
    ------
    InvalidParameter
        If it is no mapping, empty, or holds a class or an estimator that finds no clusters.
    UnknownName
        If there is no such recipe.
    """
    if not isinstance(methods, Mapping):
        raise InvalidParameter(
            f"compare: methods must be a mapping of names to estimators, recipes or labels, got a "
            f"{type(methods).__name__}{_instead(methods)}"
        )
    if not methods:
        raise InvalidParameter(
            "compare: there is nothing to compare; methods must be a mapping of names to estimators, recipes or "
            "labels, such as {'kmeans': 'kmeans'}"
        )
    for name, value in methods.items():
        _check_method(str(name), value)


def _instead(methods: object) -> str:
    """How to write as a mapping what is none."""
    if isinstance(methods, str):
        return f"; write {{{methods!r}: {methods!r}}}"
    if isinstance(methods, list | tuple | set | frozenset) and methods:
        names = [value if isinstance(value, str) else type(value).__name__ for value in methods]
        shown = ", ".join(f"{name!r}: {name!r}" if name in methods else f"{name!r}: ..." for name in names[:SHOWN])
        return f"; write {{{shown}{', ...' if len(names) > SHOWN else ''}}}"
    return "; write {'model': model}" if is_model(methods) else ""


def _check_method(name: str, value: object) -> None:
    """Check a method by itself; labels are checked with the rows."""
    from clusterkit.core.registry import registry

    if isinstance(value, str):
        recipes = registry.names("recipe")
        if value not in recipes:
            raise UnknownName(f"compare: {name!r}: no recipe named {value!r}. {nearest_names(value, recipes)}")
    elif isinstance(value, type):
        kind = value.__name__
        raise InvalidParameter(f"compare: {name!r} is the class {kind}; make an estimator of it: {kind}()")
    elif is_model(value) and not any(hasattr(value, its) for its in ("labels_", "fit_predict", "predict")):
        raise InvalidParameter(
            f"compare: {name!r} is a {type(value).__name__}, which finds no clusters; pass an estimator with labels_ "
            "after its fit, the name of a recipe, or labels"
        )


def check_fits(name: str, value: object, n: int, d: int) -> None:
    """Check that a fitted model was fitted to a table of n rows and d columns; anything else passes.

    Raises
    ------
    InvalidData
        If it was fitted to another one.
    """
    if not is_model(value) or not hasattr(value, "labels_"):
        return
    columns = getattr(value, "n_features_in_", None)
    rows = len(value.labels_)
    # a model that prepares tables says what it needs when it reads one
    if isinstance(columns, int) and columns != d and not hasattr(value, "preparation_"):
        fitted, here = counted(columns, "column"), d
    elif rows != n:
        fitted, here = counted(rows, "row"), n
    else:
        return
    raise InvalidData(
        f"compare: {name!r} was fitted to {fitted}, and X has {here}; pass the rows that were fitted, or a model that "
        "is not fitted yet, which is then fitted to X"
    )
