"""What a record says about its arrays and numbers, beside the field, and the one check of it.

Compiled loops trust the arrays that they get. Inside the library these are right by construction, and a constructor
compares shapes alone; a file can hold anything, so that `check` compares all that a class declares before its object is
made from a file. Rules that no line beside a field can say are a method `check_saved` of the class, in plain numpy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast, final

import attrs
import numpy as np

from clusterkit._typing import Indices
from clusterkit.numerics.sparse_rows import SparseRows

WORD = re.compile(r"(?P<name>[A-Za-z]\w*)?(?P<shift>[+-]?\d+)?")
"""A dimension: its name, its size, or a name with a number to be added, such as n-1."""

UNFIT = {np.dtype(name) for name in ("u1", "u2", "u4", "u8", "f2")}
"""Types that compiled loops do not take as they take integers with a sign, and floats."""

DERIVED: Mapping[str, bool] = {"derived": True}
"""Metadata of a field that no file holds, because its value follows from the others."""

Named = dict[str, tuple[int, str]]
"""Size of each dimension, and the field that has it."""


@final
@attrs.frozen(eq=False, kw_only=True)
class Declared:
    """What a field, or an attribute of an estimator, must be: the validator that `array`, `scalar` and `wide` make."""

    forms: tuple[tuple[str, ...], ...] = ()
    measure: Callable[[object], tuple[int | None, ...]] = attrs.field(default=lambda value: ())
    least: float | None = None
    most: float | str | None = None
    below: str | None = None
    finite: bool = True
    ascending: bool = False
    distinct: bool = False
    divides: str | None = None
    any_type: bool = False

    def __call__(self, instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        """Compare the shapes of all fields, when the last of them is set."""
        cls: type = type(instance)
        fields = declared(cls)
        if attribute.name.lstrip("_") == next(reversed(list(fields))):
            _sizes(cls, {name: getattr(instance, _attribute(cls, name)) for name in fields})

    def fit(self, what: str, value: object, sizes: Named) -> None:
        """Compare a shape with the sizes of dimensions that are known, and add those that are new."""
        shape = self.measure(value)
        if not self.forms or None in shape:
            return
        reason = f"{' or '.join(str(len(form)) for form in self.forms)} dimensions are needed"
        for form in self.forms:
            if len(form) == len(shape):
                known = dict(sizes)
                reason = _misfit(form, shape, known, what)
                if not reason:
                    sizes.update(known)
                    return
        raise ValueError(f"{what} has the shape {shape}, and {reason}")

    def hold(self, what: str, value: object, sizes: Named) -> None:
        """Compare the entries of an array, or a number, with what is declared of them."""
        values: Any = value.csr.data if isinstance(value, SparseRows) else np.asarray(value)
        kind = values.dtype.kind
        if values.dtype in UNFIT and not self.any_type:
            raise ValueError(f"{what} is of the type {values.dtype}, which is not computed with")
        if kind == "O" and isinstance(value, int):
            raise ValueError(f"{what} has a number beyond 64 bits")
        if kind not in "biuf" or not values.size:
            if self.divides is not None:
                raise ValueError(f"{what} is empty")
            return
        if kind == "f" and self.finite and not np.isfinite(values).all():
            raise ValueError(f"{what} is not finite")
        least = 0 if self.least is None and self.below is not None else self.least
        most = self.most if self.below is None else sizes[self.below][0] - 1
        most = sizes[most][0] if isinstance(most, str) else most
        if (least is not None and not values.min() >= least) or (most is not None and not values.max() <= most):
            raise ValueError(
                f"{what} has an entry outside {'' if least is None else least}..{'' if most is None else most}"
            )
        ascending = (values[1:] >= values[:-1]).all() if values.ndim else True
        if (self.ascending or self.divides is not None) and not ascending:
            raise ValueError(f"{what} is not in ascending order")
        if self.distinct and len(np.unique(values)) < values.size:
            raise ValueError(f"{what} has an entry twice")
        if self.divides is not None and (values[0] != 0 or values[-1] != sizes[self.divides][0]):
            raise ValueError(f"{what} does not divide {sizes[self.divides][0]} entries")


def array(shape: str, *others: str, **rules: object) -> Declared:
    """The validator of a field with an array, or a tuple; where several fields name a dimension, it has one size.

    Parameters
    ----------
    shape, *others : str
        The name or the size of each dimension, such as ``"n 2"``, ``"n-1"`` or, for none, ``""``; and other shapes that
        the field may have. Sparse rows count as an array of two dimensions.
    **rules
        What the entries are in a file: ``least`` and ``most``, numbers or the name of a dimension; ``below``, the name
        of the dimension that they number from 0 on; ``ascending``; ``distinct``; ``divides``, the name of a
        dimension that is cut into pieces, from 0 to its size; and ``finite=False`` where NaN and infinite numbers may
        stand.

    Raises
    ------
    ValueError
        Raised by the constructor of the class for shapes, and by `check`; names the field.

    Examples
    --------
    >>> @attrs.frozen(eq=False)
    ... class Line:
    ...     points: np.ndarray = attrs.field(validator=array("n 2"))
    ...     weights: np.ndarray = attrs.field(validator=array("n", least=0))
    >>> Line(np.zeros((3, 2)), np.ones(4))
    Traceback (most recent call last):
    ValueError: Line: weights has the shape (4,), and n is 3 in points
    >>> check(Line, {"points": np.zeros((3, 2)), "weights": -np.ones(3)})
    Traceback (most recent call last):
    ValueError: Line: weights has an entry outside 0..
    """
    forms = tuple(tuple(each.split()) for each in (shape, *others))
    return Declared(forms=forms, measure=_shape_of, **cast("Any", rules))


def scalar(**rules: object) -> Declared:
    """The validator of a field with a number; the rules are those of `array`."""
    return Declared(**cast("Any", rules))


def wide(name: str) -> Declared:
    """The validator of a field whose value is the size of a dimension, or a row map to so many columns."""
    return Declared(forms=((name,),), measure=_width_of)


def check(cls: type, values: Mapping[str, object]) -> None:
    """Raise ValueError unless the fields of an object fulfil what its class declares.

    Parameters
    ----------
    cls : type
    values : mapping
        By the names of the fields, without a leading underscore; those that have their defaults may be missing.
    """
    sizes = _sizes(cls, values)
    for name, declaration in declared(cls).items():
        if values.get(name) is not None:
            declaration.hold(f"{cls.__name__}: {name}", values[name], sizes)


@cache
def declared(cls: type) -> Mapping[str, Declared]:
    """The declarations of a class, by the names of the fields without a leading underscore."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls) if attrs.has(cls) else ()
    of_fields = {field.name.lstrip("_"): field.validator for field in fields if isinstance(field.validator, Declared)}
    return {**of_fields, **getattr(cls, "_declared", {})}


def saved_fields(cls: type) -> list[attrs.Attribute[object]]:
    """The fields of an attrs class that a file holds."""
    return [field for field in attrs.fields(cast("Any", cls)) if field.init and not field.metadata.get("derived")]


def is_array(value: object) -> bool:
    """Whether a value is an array that a class has to declare, or a tuple of such."""
    if isinstance(value, tuple | list):
        return any(map(is_array, value))
    return isinstance(value, SparseRows) or (isinstance(value, np.ndarray) and value.dtype.kind in "biuf")


def is_tree(edges: Indices) -> bool:
    """Whether m edges (m, 2) between m + 1 vertices join all of them."""
    lowest = np.arange(len(edges) + 1)
    while len(edges):
        ends = lowest[edges]
        low, high = ends.min(axis=1), ends.max(axis=1)
        if (low == high).all():
            break
        np.minimum.at(lowest, high, low)
        while (lowest[lowest] != lowest).any():
            lowest = lowest[lowest]
    return not lowest.any()


def _attribute(cls: Any, name: str) -> str:
    """The attribute of a field, which may begin with an underscore."""
    return name if hasattr(attrs.fields(cls), name) else f"_{name}"


def _sizes(cls: type, values: Mapping[str, Any]) -> Named:
    """The sizes of the dimensions, which agree in all fields."""
    sizes: Named = {}
    for name, declaration in declared(cls).items():
        if values.get(name) is not None:
            declaration.fit(f"{cls.__name__}: {name}", values[name], sizes)
    return sizes


def _misfit(form: tuple[str, ...], shape: tuple[int | None, ...], sizes: Named, what: str) -> str:
    """Why a shape is not of a form; "" if it is, and the sizes of its dimensions are added."""
    for word, size in zip(form, shape, strict=True):
        name, shift = _parsed(word)
        assert size is not None
        if name is None:
            if size != shift:
                return f"{shift} is needed"
            continue
        wanted, field = sizes.setdefault(name, (size - shift, what.rpartition(" ")[2]))
        if wanted + shift != size or wanted < 0:
            return f"{name} is {wanted} in {field}"
    return ""


@cache
def _parsed(word: str) -> tuple[str | None, int]:
    match = WORD.fullmatch(word)
    assert match is not None, word
    return match["name"], int(match["shift"] or 0)


def _shape_of(value: object) -> tuple[int | None, ...]:
    return (len(value),) if isinstance(value, tuple) else tuple(getattr(value, "shape", (None,)))


def _width_of(value: Any) -> tuple[int | None, ...]:
    width: int | None = getattr(value, "width", value)
    return (width,)
