"""Which classes may stand in a saved model, under which name, with which schema number.

`fits` checks every value of a file against the type that a class declares for the field.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from functools import cache
from typing import Any, Literal, Protocol, Self, TypeVar, Union, final, get_args, get_origin

import attrs
import numpy as np

from clusterkit.contracts import Stage
from clusterkit.contracts.providers import Entry
from clusterkit.contracts.registry import ABSTRACT_NAMES, registry
from clusterkit.errors import NotSavable
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = [
    "SAVABLE",
    "Savable",
    "SavedClass",
    "check_fields",
    "class_of",
    "fields_of",
    "fits",
    "name_of",
    "schema_of",
]


SAVABLE = "savable"
"""The kind under which the registry knows classes that are no stages."""


class Savable(Protocol):
    """What a registered class may define to be saved in another way than attrs classes are: by their fields.

    A class may have some of these members only.
    """

    saved_schema: int
    """Number of the fields' layout, 1 where it is missing; to be raised with every change that old files do not fit."""

    def saved_fields(self) -> Mapping[str, object]:
        """What the file keeps of the object, by name; each value is savable."""

    @classmethod
    def from_saved_fields(cls, fields: Mapping[str, object]) -> Self:
        """The object from these values; it checks them, because a file may hold anything, with ValueErrors."""

    @classmethod
    def migrated(cls, fields: Mapping[str, object], schema: int) -> Mapping[str, object]:
        """The fields that a file of an older schema number has, as those of the present one."""


@final
@attrs.frozen
class SavedClass:
    """How a file names a class.

    Parameters
    ----------
    kind : str
        "savable", or the kind of a stage.
    name : str
        The registered name.
    schema : int
    distribution : str
        Who provides the class; for the message where it is missing.
    """

    kind: str
    name: str
    schema: int
    distribution: str


def name_of(cls: type) -> SavedClass:
    """How a file names a class.

    Raises
    ------
    NotSavable
        If it is registered under no name.
    """
    entry = _entry_of(cls)
    if entry is None:
        raise NotSavable(
            f"{cls.__module__}.{cls.__qualname__} is no class that a saved model may hold. A plugin, and clusterkit "
            "itself in contracts/builtin_plugin.py, names such classes by the hook clusterkit_savables, a session by "
            "clusterkit.register"
        )
    first = registry.find(entry.kind, entry.name)
    shared = first is None or not _is_of(first, cls)
    name = f"{entry.distribution}:{entry.name}" if shared else entry.name
    return SavedClass(entry.kind, name, schema_of(cls), entry.distribution)


def _entry_of(cls: type) -> Entry | None:
    if issubclass(cls, Stage):
        kind, name = getattr(cls, "kind", None), getattr(cls, "name", None)
        entries = () if kind is None or name is None else registry.every(kind, str(name))
    else:
        entries = registry.every(SAVABLE)
    return next((entry for entry in entries if _is_of(entry, cls)), None)


def _is_of(entry: Entry, cls: type) -> bool:
    return entry.target is cls or entry.target == f"{cls.__module__}:{cls.__qualname__}"


def class_of(kind: str, name: str) -> type:
    """The class of a registered name; imports the module that its plugin names.

    Raises
    ------
    ValueError
        If there is none, or it cannot be loaded.
    """
    if kind != SAVABLE and kind not in ABSTRACT_NAMES:
        raise ValueError(f"{kind!r} is no kind of savable class")
    cls = registry.get(kind, name)
    if not isinstance(cls, type) or inspect.isabstract(cls):
        raise ValueError(f"{kind} {name!r} is no class of objects")
    return cls


def schema_of(cls: type) -> int:
    """The schema number of a class."""
    return int(getattr(cls, "saved_schema", 1))


def fields_of(value: object) -> Mapping[str, object]:
    """What a file keeps of an object of a registered class."""
    if hasattr(value, "saved_fields"):
        fields: Mapping[str, object] = value.saved_fields()
        return fields
    cls: Any = type(value)
    if isinstance(value, Enum):
        return {"member": value.name}
    if not attrs.has(cls):
        raise NotSavable(f"{cls.__qualname__} is no attrs class and has no method saved_fields")
    attributes: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
    return {field.name.lstrip("_"): getattr(value, field.name) for field in attributes if field.init}


def check_fields(cls: type, fields: Mapping[str, object]) -> None:
    """Raise ValueError if a value does not fit the annotation of its field.

    Parameters
    ----------
    cls : type
    fields : mapping
        Values by the names of the annotations, with or without a leading underscore.
    """
    hints = _hints(cls)
    for name, value in fields.items():
        hint = hints.get(name, hints.get(f"_{name}", Any))
        if not fits(value, hint):
            raise ValueError(f"{name} is of type {type(value).__name__}, which {cls.__name__} does not take there")


@cache
def _hints(cls: type) -> dict[str, Any]:
    """The annotations of a class; those whose names exist for type checkers only stand for any type."""
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        names = vars(sys.modules.get(base.__module__, types.ModuleType("")))
        for name, text in inspect.get_annotations(base).items():
            holder = types.SimpleNamespace(__annotations__={name: text})
            try:
                hints[name] = typing.get_type_hints(holder, globalns=names)[name]
            except (NameError, TypeError, AttributeError, SyntaxError):
                hints[name] = Any
    return hints


def fits(value: object, hint: object) -> bool:
    """Whether a value is of a type; what cannot be judged fits.

    Examples
    --------
    >>> fits((1, 2.0), tuple[float, ...]), fits(True, float), fits(None, int | None)
    (True, False, True)
    """
    if hint is Any or hint is object or isinstance(hint, TypeVar):
        return True
    if hint is None or hint is type(None):
        return value is None
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, arg) for arg in args)
    if origin is Literal:
        return any(value == arg and type(value) is type(arg) for arg in args)
    if origin is np.ndarray or hint is np.ndarray:
        return _is_array(value, args)
    if origin is tuple:
        return isinstance(value, tuple) and _are_items(value, args)
    if hint is Callable or origin is typing.get_origin(Callable[[], None]):
        return callable(value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            fits(key, args[0]) and fits(item, args[1]) for key, item in value.items()
        )
    if isinstance(origin, type) and issubclass(origin, Collection):
        fine = isinstance(value, origin) and not isinstance(value, str)
        return fine and all(fits(item, args[0]) for item in typing.cast("Collection[object]", value))
    return _is_instance(value, hint if origin is None else origin)


def _is_array(value: object, args: tuple[Any, ...]) -> bool:
    """Whether a value is an array of the kind of numbers; where real numbers may stand, sparse rows may stand too."""
    if not isinstance(value, np.ndarray | SparseRows):
        return False
    if len(args) != 2 or not get_args(args[1]):
        return True
    numbers = get_args(args[1])[0]
    kinds = get_args(numbers) if get_origin(numbers) in (Union, types.UnionType) else (numbers,)
    scalars = [get_origin(kind) or kind for kind in kinds]
    return any(kind is Any or not isinstance(kind, type) or np.issubdtype(value.dtype, kind) for kind in scalars)


def _are_items(value: tuple[object, ...], args: tuple[Any, ...]) -> bool:
    if len(args) == 2 and args[1] is Ellipsis:
        return all(fits(item, args[0]) for item in value)
    return len(value) == len(args) and all(fits(item, arg) for item, arg in zip(value, args, strict=True))


def _is_instance(value: object, cls: Any) -> bool:
    if not isinstance(cls, type):
        return True
    if cls is bool:
        return isinstance(value, bool | np.bool_)
    if cls is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if cls is float:
        return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if getattr(cls, "_is_protocol", False):
        members = {name for name in vars(cls) if not name.startswith("_")} | {"__call__"} & vars(cls).keys()
        kind: Any = type(value)
        fields = {field.name for field in attrs.fields(kind)} if attrs.has(kind) else set()
        return all(name in fields or hasattr(type(value), name) for name in members)
    return isinstance(value, cls)
