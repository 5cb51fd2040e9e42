"""Field builders for stage parameters: a default, the legal range, and an error that names the stage.

Values to refuse and words to choose from are kept in the field's metadata as well, so that the conformance kit can
try them without a list kept by hand.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any, SupportsInt, TypeGuard, TypeVar, overload

import attrs

from clusterkit.core.errors import InvalidParameter

__all__ = ["check_count", "choice", "flag", "free", "integer", "interval", "is_count", "real"]

# The builders are typed as what a stage has in the field, so that type checkers compare defaults with annotations.
T = TypeVar("T")
RealT = TypeVar("RealT", bound="float | None")
IntegerT = TypeVar("IntegerT", bound="int | None")
WordT = TypeVar("WordT", bound="str | None")


def is_count(value: object, at_least: int = 1) -> TypeGuard[SupportsInt]:
    """Whether a value is an integer (of Python or numpy, but no bool) that is not below a bound.

    Examples
    --------
    >>> is_count(3), is_count(True), is_count(2.0), is_count(0, at_least=0)
    (True, False, False, True)
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= at_least


@overload
def check_count(name: str, value: object, *, at_least: int = ...) -> int: ...


@overload
def check_count(name: str, value: object, *, at_least: int = ..., optional: bool) -> int | None: ...


def check_count(name: str, value: object, *, at_least: int = 1, optional: bool = False) -> int | None:
    """The value as an int; None stays None if `optional`.

    Parameters
    ----------
    name : str
        How the error calls the value.
    value : object
    at_least : int, default 1
    optional : bool, default False
        Whether None is allowed.

    Raises
    ------
    InvalidParameter
        If the value is no integer, or below `at_least`.

    Examples
    --------
    >>> check_count("n_init", 5)
    5
    """
    if optional and value is None:
        return None
    if not is_count(value, at_least):
        none = " or None" if optional else ""
        raise InvalidParameter(f"{name} must be an integer >= {at_least}{none}, got {value!r}")
    return int(value)


def _owner(instance: Any) -> str:
    kind, name = getattr(type(instance), "kind", None), getattr(type(instance), "name", None)
    return f"{kind} '{name}'" if kind and name else type(instance).__name__


def _field(
    default: Any,
    check: Callable[[Any], str | None],
    bad: Sequence[Any],
    optional: bool,
    options: Sequence[str] = (),
    converter: Callable[[Any], Any] | None = None,
) -> Any:
    def validate(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is None and optional:
            return
        wanted = check(value)
        if wanted is not None:
            none = " or None" if optional else ""
            raise InvalidParameter(f"{_owner(instance)}: {attribute.name} must be {wanted}{none}, got {value!r}")

    metadata = {"invalid": tuple(bad), "options": tuple(options)}
    return attrs.field(default=default, validator=validate, converter=converter, metadata=metadata)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def real(
    default: RealT,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    below: float = math.inf,
    optional: bool = False,
) -> RealT:
    """Finite real parameter inside the given bounds."""
    words = [
        f"{sign} {bound:g}"
        for sign, bound in ((">", above), (">=", at_least), ("<=", at_most), ("<", below))
        if math.isfinite(bound)
    ]
    wanted = " and ".join(words) if words else "a finite number"

    def check(value: Any) -> str | None:
        if not _is_number(value) or not math.isfinite(value):
            return f"a finite number {wanted}" if words else wanted
        inside = value > above and value >= at_least and value <= at_most and value < below
        return None if inside else wanted

    bad: list[Any] = [math.nan, math.inf, "much"]
    bad += [above] if math.isfinite(above) else []
    bad += [at_least - 1.0] if math.isfinite(at_least) else []
    bad += [below] if math.isfinite(below) else []
    bad += [at_most + 1.0] if math.isfinite(at_most) else []
    return _field(default, check, bad, optional)


def integer(default: IntegerT, *, at_least: int = 0, optional: bool = False) -> IntegerT:
    """Integer parameter with a lower bound."""

    def check(value: Any) -> str | None:
        return None if is_count(value, at_least) else f"an integer >= {at_least}"

    return _field(default, check, [at_least - 1, 1.5, "many"], optional)


def choice(default: WordT, options: Sequence[str], *, optional: bool = False) -> WordT:
    """One of a few words."""

    def check(value: Any) -> str | None:
        if isinstance(value, str) and value in options:
            return None
        return "one of " + ", ".join(repr(option) for option in options)

    return _field(default, check, ["no-such-option", 3.5], optional, options)


def flag(default: bool) -> bool:
    """True or False."""

    def check(value: Any) -> str | None:
        # numpy booleans come out of parameter grids
        return None if isinstance(value, bool) or type(value).__name__ == "bool" else "True or False"

    return _field(default, check, ["yes", 2], False)


def interval(default: tuple[float, float]) -> tuple[float, float]:
    """A pair of finite numbers, the lower first."""

    def check(value: Any) -> str | None:
        try:
            low, high = value
        except (TypeError, ValueError):
            return "a pair (low, high)"
        ordered = _is_number(low) and _is_number(high) and math.isfinite(low) and math.isfinite(high)
        return None if ordered and float(low) < float(high) else "a pair (low, high) of finite numbers with low < high"

    return _field(default, check, [(1.0, 0.0), 3, (0.0, math.nan)], False)


def free(
    default: T,
    check: Callable[[object], str | None],
    *,
    invalid: Sequence[object] = (),
    converter: Callable[[object], T] | None = None,
) -> T:
    """A parameter with its own check: it returns what the value must be, or None if the value is fine.

    A converter changes the value first, such as a list to a tuple.
    """
    return _field(default, check, invalid, False, converter=converter)
