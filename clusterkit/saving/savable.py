"""Classes that a saved model may contain, each with its name and schema number in files.

Everything that comes from a file is compared with the types that its class declares.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from enum import Enum
from typing import Any, Protocol, Self, final

import attrs

from clusterkit.contracts import Stage
from clusterkit.contracts.declared import annotations_of, fits
from clusterkit.contracts.providers import Entry
from clusterkit.contracts.registry import ABSTRACT_NAMES, registry
from clusterkit.errors import NotSavable
from clusterkit.numerics import shapes

SAVABLE = "savable"
"""The kind under which the registry knows classes that are no stages."""


class Savable(Protocol):
    """Optional members of a registered class that is not saved as attrs classes are, by its fields.

    A class may have some of these members only.
    """

    saved_schema: int
    """Number of the fields' layout, 1 where it is missing; to be raised with every change that old files do not fit."""

    saved_before: frozenset[str]
    """Fields that files may have and that say nothing any more."""

    def saved_fields(self) -> Mapping[str, object]:
        """Fields of the object that the file keeps, by name; each value is savable."""

    @classmethod
    def from_saved_fields(cls, fields: Mapping[str, object]) -> Self:
        """The object from these values; it checks them, because a file may hold anything, with ValueErrors."""

    @classmethod
    def migrated(cls, fields: Mapping[str, object], schema: int) -> Mapping[str, object]:
        """The fields that a file of an older schema number has, as those of the present one."""


@final
@attrs.frozen
class SavedClass:
    """Name of a class in a file, with its kind, schema and distribution.

    Parameters
    ----------
    kind : str
        "savable", or the kind of a stage.
    name : str
        The registered name.
    schema : int
    distribution : str
        Distribution that provides the class; for the message where it is missing.
    """

    kind: str
    name: str
    schema: int
    distribution: str


def name_of(cls: type) -> SavedClass:
    """The name of a class in a file.

    Raises
    ------
    NotSavable
        If it is registered under no name.
    """
    entry = _entry_of(cls)
    if entry is None:
        raise NotSavable(
            f"{cls.__module__}.{cls.__qualname__} is no class that a saved model may hold. A plugin, and clusterkit "
            "itself in the packages of its families, names such classes by the hook clusterkit_savables, a session by "
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
    """Fields of an object of a registered class that a file keeps, by name."""
    if hasattr(value, "saved_fields"):
        fields: Mapping[str, object] = value.saved_fields()
        return fields
    cls: Any = type(value)
    if isinstance(value, Enum):
        return {"member": value.name}
    if not attrs.has(cls):
        raise NotSavable(f"{cls.__qualname__} is no attrs class and has no method saved_fields")
    return {field.name.lstrip("_"): getattr(value, field.name) for field in shapes.saved_fields(cls)}


def check_declared(cls: type, fields: Mapping[str, object]) -> None:
    """Raise NotSavable if a field holds an array of which its class declares nothing, or another than it declares."""
    for name, value in fields.items() if attrs.has(cls) else ():
        if shapes.is_array(value) and name not in shapes.declared(cls):
            raise NotSavable(
                f"{cls.__qualname__} declares nothing of the array {name}, and compiled loops trust what a file holds: "
                'write attrs.field(validator=clusterkit.contracts.array("n d")), with its dimensions and rules'
            )
    try:
        shapes.check(cls, fields)
    except ValueError as error:
        raise NotSavable(f"it is not as its class declares it, {error}") from None


def check_fields(cls: type, fields: Mapping[str, object]) -> None:
    """Raise ValueError if a value does not fit the annotation of its field, or what is declared beside it.

    Parameters
    ----------
    cls : type
    fields : mapping
        Values by the names of the annotations, with or without a leading underscore.
    """
    hints = annotations_of(cls)
    for name, value in fields.items():
        hint = hints.get(name, hints.get(f"_{name}", Any))
        if not fits(value, hint):
            raise ValueError(f"{name} is of type {type(value).__name__}, which {cls.__name__} does not take there")
    shapes.check(cls, fields)
