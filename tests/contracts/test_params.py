"""Field builders: a value is taken if and only if it is in range, and the refusal says everything."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import params
from clusterkit.errors import InvalidParameter

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
        assert made.value == value
        assert made.value is value or type(made.value) in (float, int)
        return True
    assert message.startswith("solver 'thing': value must be ")
    assert message.endswith(f", got {value!r}")
    return False


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)


def has_size(value: Any) -> bool:
    return value == 0 or 2.2250738585072014e-308 <= abs(value) <= 1e300


@given(value=ANYTHING, low=st.sampled_from([-math.inf, -1.0, 0.0]), high=st.sampled_from([math.inf, 1.0, 2.0]))
def test_real_is_finite_and_inside(value, low, high):
    finite = is_number(value) and has_size(value)
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
    fine = pair and all(is_number(v) and abs(v) <= 1e300 for v in value) and float(value[0]) < float(value[1])
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


class TestConversion:
    """Numbers are kept as float and int, so that no stage computes with another type."""

    @pytest.mark.parametrize(
        "value", [1, np.int8(2), np.float16(0.1), np.float32(0.1), Fraction(1, 3), np.longdouble(0.5), np.uint64(7)]
    )
    def test_real(self, value):
        value_held = stage(params.real(1.0, above=0))(value).value
        assert type(value_held) is float
        assert value_held == float(value)

    @pytest.mark.parametrize("value", [np.int8(2), np.uint64(7), np.int64(2**31 - 1)])
    def test_integer(self, value):
        value_held = stage(params.integer(1))(value).value
        assert type(value_held) is int
        assert value_held == int(value)

    def test_none_and_defaults(self):
        assert stage(params.real(None, optional=True))().value is None
        assert type(stage(params.real(1))().value) is float
        assert type(stage(params.integer(np.int32(4)))().value) is int

    @pytest.mark.parametrize("value", [1e-320, 5e-324, -1e-309, 1e301, -1e308, 10**301, 10**400, -(10**1000)])
    def test_a_real_has_a_size_that_can_be_computed_with(self, value):
        with pytest.raises(InvalidParameter, match=r"value must be .*finite number") as caught:
            stage(params.real(1.0))(value)
        assert len(str(caught.value)) < 600

    def test_more_digits_than_python_writes(self):
        for field in (params.real(1.0), params.integer(1)):
            with pytest.raises(InvalidParameter, match="got an integer of 16610 bits"):
                stage(field)(10**5000)

    @pytest.mark.parametrize("value", [0, 0.0, -0.0, 1e-307, 1e300, 10**30, -1e300])
    def test_all_others_are_taken(self, value):
        assert stage(params.real(1.0))(value).value == float(value)

    @pytest.mark.parametrize("value", [2**31, 2**63, 10**30, np.uint64(2**63), 10**1000])
    def test_an_integer_is_not_above_the_bound(self, value):
        with pytest.raises(InvalidParameter, match=r"value must be an integer >= 1 and <= 2147483647, got"):
            stage(params.integer(1, at_least=1))(value)
        with pytest.raises(InvalidParameter, match=r"n_init must be an integer >= 1 and <= 2147483647, got"):
            params.check_count("n_init", value)


class TestOddParameters:
    """Values of the campaign that ended in errors of numpy and numba, or in no answer."""

    X = np.random.default_rng(0).normal(size=(24, 2))

    @pytest.mark.parametrize(
        ("name", "changes"),
        [
            ("svc", {"featuremap__gamma": Fraction(1, 2), "solver__cache_mb": np.int8(2)}),
            ("svc", {"featuremap__gamma": np.float16(0.5)}),
            ("emmc", {"n_clusters": np.int8(2), "solver__df": np.float16(3)}),
            ("emmc", {"n_clusters": 2, "solver__C": 10**30}),
            ("cpmmc", {"n_clusters": 2, "solver__C": Fraction(1, 3)}),
            ("fuzzy-cmeans", {"n_clusters": 2, "solver__fuzzifier": Fraction(5, 2)}),
            ("nmf", {"n_clusters": 2, "solver__max_iter": np.int8(9)}),
        ],
    )
    def test_it_works(self, name, changes):
        from clusterkit import recipe

        assert len(recipe(name, random_state=0, **changes).fit(np.abs(self.X)).labels_) == 24
