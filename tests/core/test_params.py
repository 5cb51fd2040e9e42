"""Field builders: a value is taken if and only if it is in range, and the refusal says everything."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.core import params
from clusterkit.core.errors import InvalidParameter

NUMBERS = st.one_of(st.floats(), st.integers(-5, 5), st.sampled_from([0.0, 1.0, -1.0, 2.0, np.float32(0.5)]))
ANYTHING = st.one_of(NUMBERS, st.booleans(), st.text(max_size=3), st.none(), st.just((1, 2)), st.just([1.0]))


def stage(field: Any) -> type:
    """A class with one parameter, named as stages are."""

    @attrs.frozen
    class Thing:
        kind: ClassVar[str] = "solver"
        name: ClassVar[str] = "thing"
        value: Any = field

    return Thing


def takes(field: Any, value: Any) -> bool:
    """Whether the field takes the value; a refusal must name stage, parameter and value."""
    try:
        made = stage(field)(value)
    except InvalidParameter as error:
        message = str(error)
    else:
        assert made.value is value
        return True
    assert message.startswith("solver 'thing': value must be ")
    assert message.endswith(f", got {value!r}")
    return False


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)


@given(value=ANYTHING, low=st.sampled_from([-math.inf, -1.0, 0.0]), high=st.sampled_from([math.inf, 1.0, 2.0]))
def test_real_is_finite_and_inside(value, low, high):
    finite = is_number(value) and math.isfinite(value)
    assert takes(params.real(0.5, at_least=low, at_most=high), value) == (finite and low <= value <= high)
    assert takes(params.real(0.5, above=low, below=high), value) == (finite and low < value < high)
    assert takes(params.real(None, above=low, optional=True), value) == (value is None or (finite and low < value))


@given(value=ANYTHING, low=st.integers(-2, 2))
def test_integer_is_whole_and_large_enough(value, low):
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    assert takes(params.integer(3, at_least=low), value) == (whole and value >= low)
    assert takes(params.integer(None, at_least=low, optional=True), value) == (
        value is None or (whole and value >= low)
    )


@given(value=st.one_of(ANYTHING, st.sampled_from(["up", "down"])))
def test_choice_is_one_of_the_words(value):
    assert takes(params.choice("up", ("up", "down")), value) == (isinstance(value, str) and value in ("up", "down"))


@given(value=st.one_of(ANYTHING, st.sampled_from([np.True_, np.False_])))
def test_flag_is_true_or_false(value):
    assert takes(params.flag(True), value) == isinstance(value, (bool, np.bool_))


@given(value=st.one_of(ANYTHING, st.tuples(NUMBERS, NUMBERS)))
def test_interval_is_two_finite_numbers_in_order(value):
    pair = isinstance(value, (tuple, list)) and len(value) == 2
    fine = pair and all(is_number(v) and math.isfinite(v) for v in value) and float(value[0]) < float(value[1])
    assert takes(params.interval((0.0, 1.0)), value) == bool(fine)


FIELDS = {
    "real": params.real(1.0),
    "real above": params.real(1.0, above=0),
    "real between": params.real(1.0, at_least=0, at_most=1),
    "real below": params.real(0.5, above=0, below=1, optional=True),
    "integer": params.integer(3, at_least=1),
    "choice": params.choice("up", ("up", "down")),
    "flag": params.flag(False),
    "interval": params.interval((0.0, 1.0)),
    "free": params.free("x", lambda value: None if value == "x" else "x", invalid=("y", 3)),
}


@pytest.mark.parametrize("name", FIELDS)
def test_the_invalid_values_kept_for_the_kit_are_invalid(name):
    field = FIELDS[name]
    invalid = field.metadata["invalid"]
    assert invalid
    for value in invalid:
        assert not takes(field, value), value


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (params.real(1.0, above=0), -2, "solver 'thing': value must be > 0, got -2"),
        (params.real(1.0, above=0), "a", "solver 'thing': value must be a finite number > 0, got 'a'"),
        (
            params.real(None, above=0, at_most=1, optional=True),
            2,
            "solver 'thing': value must be > 0 and <= 1 or None, got 2",
        ),
        (params.integer(3, at_least=1), 0, "solver 'thing': value must be an integer >= 1, got 0"),
        (params.choice("up", ("up", "down")), "left", "solver 'thing': value must be one of 'up', 'down', got 'left'"),
    ],
)
def test_messages_read_well(field, value, message):
    with pytest.raises(InvalidParameter) as caught:
        stage(field)(value)
    assert str(caught.value) == message
