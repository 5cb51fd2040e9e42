"""Field builders for stage parameters: a default, the legal range, and an error that names the stage.

Values to refuse and words to choose from are kept in the field's metadata as well, so that the conformance kit can
try them without a list kept by hand.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Sequence
from typing import Any, SupportsInt, TypeGuard, TypeVar, overload

import attrs

from clusterkit.errors import InvalidParameter

__all__ = [
    "LARGEST",
    "MOST",
    "MOST_REPEATS",
    "MOST_WORK",
    "SMALLEST",
    "as_float",
    "check_count",
    "choice",
    "flag",
    "free",
    "integer",
    "interval",
    "is_count",
    "real",
]

SMALLEST, LARGEST = sys.float_info.min, 1e300
"""Least and greatest size of a real parameter that is not 0. A width may be as small as the squared distances of
large samples ask for, but what is not a normal number loses its digits, and twice the largest number is infinite."""

MOST = 2**31 - 1
"""Greatest integer parameter: what counts is far below it, and products of two of them are 64-bit integers."""

MOST_REPEATS = 10**6
"""Largest number of repeats of whole fits, such as starts: a number above is a slip that would run for years."""

MOST_WORK = 2**62
"""Greatest budget of work: counts of kernel evaluations are 64-bit integers, and a budget is added to a count."""

# The builders are typed as what a stage has in the field, so that type checkers compare defaults with annotations.
T = TypeVar("T")
RealT = TypeVar("RealT", bound="float | None")
IntegerT = TypeVar("IntegerT", bound="int | None")
WordT = TypeVar("WordT", bound="str | None")


def is_count(value: object, at_least: int = 1, at_most: int | None = None) -> TypeGuard[SupportsInt]:
    """Whether a value is an integer (of Python or numpy, but no bool) between two bounds, without an upper one if None.

    Examples
    --------
    >>> is_count(3), is_count(True), is_count(2.0), is_count(0, at_least=0)
    (True, False, False, True)
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        return False
    return int(value) >= at_least and (at_most is None or int(value) <= at_most)


@overload
def check_count(name: str, value: object, *, at_least: int = ..., at_most: int = ...) -> int: ...


@overload
def check_count(name: str, value: object, *, at_least: int = ..., at_most: int = ..., optional: bool) -> int | None: ...


def check_count(
    name: str, value: object, *, at_least: int = 1, at_most: int = MOST, optional: bool = False
) -> int | None:
    """The value as an int; None stays None if `optional`.

    Parameters
    ----------
    name : str
        Name of the value in the error.
    value : object
    at_least : int, default 1
    at_most : int
        Largest value allowed, by default `MOST`.
    optional : bool, default False
        Whether None is allowed.

    Raises
    ------
    InvalidParameter
        If the value is no integer, or outside these bounds.

    Examples
    --------
    >>> check_count("n_init", 5)
    5
    """
    if optional and value is None:
        return None
    if not is_count(value, at_least, at_most):
        none = " or None" if optional else ""
        most = f" and <= {at_most}" if is_count(value, at_least) else ""
        raise InvalidParameter(f"{name} must be an integer >= {at_least}{most}{none}, got {_short(value)}")
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
    kept_as: type[float] | type[int] | None = None,
) -> Any:
    def validate(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is None and optional:
            return
        wanted = check(value)
        if wanted is not None:
            none = " or None" if optional else ""
            raise InvalidParameter(f"{_owner(instance)}: {attribute.name} must be {wanted}{none}, got {_short(value)}")
        if kept_as is not None and type(value) is not kept_as:
            # converted here and not by a converter, so that the error shows the value as it came
            object.__setattr__(instance, attribute.name, kept_as(value))

    metadata = {"invalid": tuple(bad), "options": tuple(options)}
    return attrs.field(default=default, validator=validate, converter=converter, metadata=metadata)


def _short(value: object) -> str:
    """A value as Python writes it; numbers of hundreds of digits, which it may refuse to write, by their length."""
    if isinstance(value, int) and value.bit_length() > 400:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def _is_number(value: object) -> TypeGuard[numbers.Real]:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def as_float(value: object) -> float:
    """A number as a float, nan for all else and infinity for an integer that is too large."""
    try:
        return float(value) if _is_number(value) else math.nan
    except OverflowError:
        return math.inf


def real(
    default: RealT,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    below: float = math.inf,
    optional: bool = False,
) -> RealT:
    """Finite real parameter inside the given bounds, kept as a float.

    Its size is at most 1e300, and that of a normal number unless it is 0.
    """
    words = [
        f"{sign} {bound:g}"
        for sign, bound in ((">", above), (">=", at_least), ("<=", at_most), ("<", below))
        if math.isfinite(bound)
    ]
    wanted = " and ".join(words) if words else "a finite number"

    def check(value: Any) -> str | None:
        value = as_float(value)
        if not math.isfinite(value):
            return f"a finite number {wanted}" if words else wanted
        inside = value > above and value >= at_least and value <= at_most and value < below
        if inside and value != 0 and not SMALLEST <= abs(value) <= LARGEST:
            return f"{wanted}, and between {SMALLEST:.3g} and {LARGEST:g} in size"
        return None if inside else wanted

    bad: list[Any] = [math.nan, math.inf, 1e-320, "much"]
    bad += [above] if math.isfinite(above) else []
    bad += [min(at_least - 1.0, math.nextafter(at_least, -math.inf))] if math.isfinite(at_least) else []
    bad += [below] if math.isfinite(below) else []
    bad += [max(at_most + 1.0, math.nextafter(at_most, math.inf))] if math.isfinite(at_most) else []
    return _field(default, check, bad, optional, kept_as=float)


def integer(default: IntegerT, *, at_least: int = 0, at_most: int = MOST, optional: bool = False) -> IntegerT:
    """Integer parameter between two bounds, kept as an int."""

    def check(value: Any) -> str | None:
        if is_count(value, at_least, at_most):
            return None
        return f"an integer >= {at_least}" + (f" and <= {at_most}" if is_count(value, at_least) else "")

    return _field(default, check, [at_least - 1, at_most + 1, 2**63, 1.5, "many"], optional, kept_as=int)


def choice(default: WordT, options: Sequence[str], *, optional: bool = False) -> WordT:
    """A parameter that takes one of a few words."""

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
        low, high = as_float(low), as_float(high)
        ordered = max(abs(low), abs(high)) <= LARGEST and low < high
        return None if ordered else f"a pair (low, high) of finite numbers with low < high, at most {LARGEST:g} in size"

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
