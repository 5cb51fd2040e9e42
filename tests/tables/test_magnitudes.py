"""Magnitudes and rates beside numbers: $1.2k, 3.4 Mio, 12 €/kg; letters that may be part of a code are left alone."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from clusterkit.tables import Preparation, TableError
from clusterkit.tables.preparing.plans import NumberColumn

RNG = np.random.default_rng(0)
AMOUNTS = np.round(np.r_[RNG.normal(3, 0.2, 30), RNG.normal(8, 0.2, 30)], 1)
OTHER = np.round(RNG.normal(size=60), 2)


def column(cells):
    return {"a": np.array(list(cells), dtype=object), "b": OTHER[: len(list(cells))]}


def numbers(fitted, table):
    """The numbers of the first column as its plan reads them."""
    from clusterkit.tables import columns_of

    return fitted.plans[0].read(columns_of(table)[0]).values


def plan_of(cells):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = Preparation().fit(column(cells))
    return fitted, fitted.plans[0]


@pytest.mark.parametrize(
    ("form", "unit"),
    [
        ("${}k", "$k"), ("{}M", "M"), ("{} Mio", "Mio"), ("{}bn", "bn"), ("${}m", "$M"), ("${}B", "$bn"),
        ("{} Mio. €", "€Mio"), ("{}k €", "€k"), ("USD {}M", "$M"), ("({}k $)", "$k"), ("{} €/kg", "€/kg"),
        ("€{}/kg", "€/kg"), ("{} km/h", "km/h"), ("${}/h", "$/h"), ("{} l/100km", "l/100km"), ("{} CHF/m²", "CHF/m²"),
    ],
)  # fmt: skip
def test_one_mark_is_the_unit(form, unit):
    cells = [form.format(value) for value in AMOUNTS]
    fitted, plan = plan_of(cells)
    assert isinstance(plan, NumberColumn)
    assert plan.unit == unit
    sign = -1 if form.startswith("(") else 1
    np.testing.assert_allclose(numbers(fitted, column(cells)), sign * AMOUNTS)


@pytest.mark.parametrize("sign", ["", "$"])
def test_several_magnitudes_are_one_unit(sign):
    cells = [f"{sign}{value}M" if i % 3 else f"{sign}{value}K" for i, value in enumerate(AMOUNTS)]
    fitted, plan = plan_of(cells)
    assert plan.unit == f"{sign}M"
    assert plan.converted == (f"{sign}k",)
    expected = np.where(np.arange(60) % 3, AMOUNTS, AMOUNTS / 1000)
    np.testing.assert_allclose(numbers(fitted, column(cells)), expected)


def test_plain_numbers_beside_them_are_ones():
    cells = ["900", "1.2K", "15K", "3.4M", "870"] * 12
    fitted, plan = plan_of(cells)
    assert plan.unit == ""
    np.testing.assert_allclose(numbers(fitted, column(cells))[:5], [900, 1200, 15_000, 3_400_000, 870])
    cells = ["$900", "$1.2K", "$15K", "$3.4M", "$2bn"] * 12
    fitted, plan = plan_of(cells)
    assert plan.unit == "$"
    np.testing.assert_allclose(numbers(fitted, column(cells))[:5], [900, 1200, 15_000, 3_400_000, 2e9])


@pytest.mark.parametrize(
    "cells",
    [
        [f"{i}M" for i in range(36, 56)] * 3,  # sizes
        [f"{i}B" if i % 9 == 0 else str(i) for i in range(60)],  # house numbers
        [f"{i}K" if i % 9 == 0 else f"{i}B" if i % 8 == 0 else str(i) for i in range(60)],
        [f"{i}A" if i % 2 else f"{i}B" for i in range(60)],  # seats
    ],
)
def test_letters_of_codes_are_no_magnitudes(cells):
    fitted = Preparation().fit(column(cells))
    plan = fitted.plans[0]
    if isinstance(plan, NumberColumn):
        plain = np.array([float(cell) if cell.isdigit() else np.nan for cell in cells])
        np.testing.assert_array_equal(numbers(fitted, column(cells)), plain)
        assert not plan.converted


def test_metres_are_metres():
    _, plan = plan_of([f"{value}m" if i % 2 else f"{value}km" for i, value in enumerate(AMOUNTS)])
    assert {plan.unit, *plan.converted} == {"m", "km"}


def test_new_rows():
    fitted, _ = plan_of([f"${value}M" for value in AMOUNTS])
    np.testing.assert_allclose(numbers(fitted, column(["$900k", "$2.5M", "$0.1bn"])), [0.9, 2.5, 100.0])
    with pytest.raises(TableError, match=r"is in \$M in the fit, and €M cannot be converted"):
        fitted.transform(column(["€2.5M", "€3M"]))
    fitted, _ = plan_of([f"{value}M" if i % 3 else f"{value}K" for i, value in enumerate(AMOUNTS)])
    np.testing.assert_allclose(numbers(fitted, column(["900K", "2M", "1B"])), [0.9, 2.0, 1000.0])
    fitted, _ = plan_of([f"{value} €/kg" for value in AMOUNTS])
    with pytest.raises(TableError, match="€/t cannot be converted"):
        fitted.transform(column([f"{value} €/t" for value in AMOUNTS]))


def test_plain_numbers_read_no_letters_of_new_rows():
    fitted = Preparation().fit({"a": np.array([str(i * i % 97) for i in range(60)], dtype=object), "b": OTHER})
    with pytest.warns(UserWarning, match="1 cell is no number and counted as a gap"):
        fitted.transform(column(["12B", "7", "80"]))


def test_blocks_agree_with_the_whole():
    cells = [f"{value}K" for value in AMOUNTS[:30]] + [f"{value}M" for value in AMOUNTS[30:]]
    whole = Preparation().fit(column(cells))
    table = column(cells)
    blocks = [{name: values[part] for name, values in table.items()} for part in (slice(0, 30), slice(30, 60))]
    pieces = Preparation().fit_blocks(blocks)
    assert (pieces.plans[0].unit, pieces.plans[0].converted) == (whole.plans[0].unit, whole.plans[0].converted)
    np.testing.assert_allclose(pieces.transform(table), whole.transform(table))
