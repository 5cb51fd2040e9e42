"""Declarations of classes: values compared with annotations, and the capabilities of stages as one table.

A capability is a class variable by which a stage says what it gives, takes or promises. The table of a kind is read
from the bodies of the abstract classes (`capabilities`), where each has its name, type, default and meaning. The
registry checks the classes of plugins by it, as do the laws of `clusterkit.testing`; the command line lists it, and the
reference pages print it.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

import attrs
import numpy as np

from clusterkit.contracts.stage import Stage
from clusterkit.numerics.sparse_rows import SparseRows

IDENTITY = frozenset({"kind", "name"})
"""Class variables that say which stage it is."""

CLASS_VARIABLE = "ClassVar["
"""First characters of the annotation of a class variable."""

NEAR = 0.8
"""Likeness of two names from which on one is taken for a misspelt form of the other."""


@attrs.frozen
class Capability:
    """One line of the table of a kind of stage.

    Parameters
    ----------
    name : str
    type : str
        Type of the attribute, as the abstract class writes it.
    hint : object
        The type as an object, to compare values with.
    default : object
        `REQUIRED` where every stage has to say it.
    meaning : str
    """

    name: str
    type: str
    hint: object
    default: object
    meaning: str


REQUIRED = inspect.Parameter.empty
"""The default of a capability that has none."""


@cache
def capabilities(stage: type[Stage]) -> Mapping[str, Capability]:
    """The capabilities that a stage class may declare, by name, from the abstract classes that it is derived from.

    Parameters
    ----------
    stage : type
        An abstract class, such as `clusterkit.contracts.Solver`, or a stage.

    Examples
    --------
    >>> from clusterkit.contracts import Consensus
    >>> capabilities(Consensus)["takes_k"].meaning
    'True if a number of clusters may be asked for.'
    """
    table: dict[str, Capability] = {}
    for base in reversed(stage.__mro__):
        if not (issubclass(base, Stage) and base.__module__.startswith("clusterkit.contracts.")):
            continue
        hints, meanings = annotations_of(base), _meanings(base)
        for name, text in inspect.get_annotations(base).items():
            if text.startswith(CLASS_VARIABLE) and name not in IDENTITY:
                before = table[name].meaning if name in table else ""
                default, meaning = vars(base).get(name, REQUIRED), meanings.get(name) or before
                table[name] = Capability(name, str(_inner(text)), hints[name], default, meaning)
    return MappingProxyType(table)


def _meanings(cls: type) -> Mapping[str, str]:
    """The texts below the class variables of a class; none where there is no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError):
        return {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    return {
        node.target.id: " ".join(text.value.value.split())
        for node, text in pairwise(body)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }


def plain(value: object) -> object:
    """The value of a capability in texts, numbers and lists: classes and codings by their names.

    Examples
    --------
    >>> plain((int, str)), plain(frozenset({"b", "a"})), plain(None)
    (['int', 'str'], ['a', 'b'], None)
    """
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return dict(value) if isinstance(value, Mapping) else value


def undeclared(stage: type[Stage]) -> list[str]:
    """Wrong declarations of a stage class: values of another type, and names that nearly are those of capabilities.

    Returns
    -------
    list of str
        A sentence for each.
    """
    known = capabilities(stage)
    problems = []
    for name, value in vars(stage).items():
        if name.startswith("_") or (callable(getattr(value, "__get__", None)) and not isinstance(value, type)):
            continue
        if name in known:
            if not fits(value, known[name].hint):
                problems.append(f"{name} = {value!r} is no {known[name].type}")
        elif name not in IDENTITY and (near := difflib.get_close_matches(name.lower(), known, 1, NEAR)):
            problems.append(f"{name} is no capability of a {stage.kind}: is {near[0]} meant?")
    if lacking := sorted(getattr(stage, "__abstractmethods__", ())):
        problems.append(f"it lacks {', '.join(lacking)}")
    if not isinstance(getattr(stage, "name", None), str):
        problems.append("name, by which it is called, is missing")
    problems += [
        f"{name} ({each.type}) is missing: {each.meaning}"
        for name, each in known.items()
        if each.default is REQUIRED and not hasattr(stage, name)
    ]
    return problems


@cache
def check_declared(stage: type[Stage], who: str, error: type[Exception]) -> None:
    """Refuse a stage class that declares what its kind does not know; a class that passed is not looked at again.

    Parameters
    ----------
    stage : type
    who : str
        The stage in the message.
    error : type
        Class of the error.
    """
    if problems := undeclared(stage):
        raise error(f"{who}: {'; '.join(problems)}")


@cache
def annotations_of(cls: type) -> dict[str, object]:
    """The annotations of a class; a name that exists for type checkers only allows any type."""
    hints: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        names = vars(sys.modules.get(base.__module__, types.ModuleType("")))
        for name, annotation in inspect.get_annotations(base).items():
            text = _inner(annotation)
            holder = types.SimpleNamespace(__annotations__={name: text})
            try:
                hints[name] = typing.get_type_hints(holder, globalns=names)[name]
            except (NameError, TypeError, AttributeError, SyntaxError):
                hints[name] = Any
    return hints


def _inner(annotation: object) -> object:
    """The type of a class variable, which `typing.get_type_hints` refuses outside a class; else the annotation."""
    if isinstance(annotation, str) and annotation.startswith(CLASS_VARIABLE):
        return annotation.removeprefix(CLASS_VARIABLE).removesuffix("]")
    return get_args(annotation)[0] if get_origin(annotation) is ClassVar else annotation


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
    if hasattr(origin, "__value__"):  # an alias by the statement `type`, as numpy's arrays have them from 2.5 on
        alias: Any = origin
        return fits(value, alias.__value__[args])
    if origin in (Union, types.UnionType):
        return any(fits(value, arg) for arg in args)
    if origin is type:
        bounds = tuple(arg for arg in args if isinstance(arg, type))
        return isinstance(value, type) and (not bounds or issubclass(value, bounds))
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
