"""Columns that say the same are told, in one sentence, whatever their units, words and gaps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from clusterkit.tables import Preparation
from clusterkit.tables.preparing.redundant_columns import MOST_COLUMNS

RNG = np.random.default_rng(0)
HEIGHT = RNG.normal(170, 10, 200)
TOWNS = np.array(["Ulm", "Bonn", "Kiel", "Rom"])[RNG.integers(4, size=200)]


def sentence(table, blocks=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Preparation().fit(table) if blocks is None else Preparation().fit_blocks(blocks)
    texts = [str(one.message) for one in caught if "say the same" in str(one.message)]
    assert len(texts) <= 1
    return texts[0] if texts else ""


def texts(values):
    return np.array(list(values), dtype=object)


@pytest.mark.parametrize(
    "other",
    [
        HEIGHT / 2.54,
        -3 * HEIGHT + 7,
        texts(f"{value / 100:.3f} m" for value in HEIGHT),
        np.where(np.arange(200) % 5, HEIGHT, np.nan),
        np.datetime64("2020-01-01") + np.round(24 * HEIGHT).astype("timedelta64[h]"),
    ],
)
def test_numbers_in_other_units(other):
    text = sentence({"a": HEIGHT, "b": RNG.normal(size=200), "c": other})
    assert "'a' and 'c' (correlation" in text
    assert "--drop c (drop=['c'] in Python)" in text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (TOWNS, np.array([town[:2] for town in TOWNS])),
        (TOWNS, np.where(np.arange(200) % 7, np.array([town[:2] for town in TOWNS], dtype=object), None)),
        (np.array(["yes", "no"])[RNG.integers(2, size=200)],) * 2,
    ],
)
def test_categories_in_other_words(one, other):
    text = sentence({"a": one, "b": RNG.normal(size=200), "c": other})
    assert "'a' and 'c' (each value of one goes with one value of the other)" in text


def test_a_flag_and_a_category():
    flag = RNG.integers(2, size=200)
    words = np.array(["m", "f"])[flag]
    text = sentence({"x": HEIGHT, "sex": words, "male": 1.0 - flag, "female": flag.astype(float)})
    assert "'male' and 'female' (correlation -1.0000)" in text
    assert "'sex' and 'male' (each value" in text


@pytest.mark.parametrize(
    "other",
    [
        HEIGHT + RNG.normal(0, 1, 200),
        np.where(np.arange(200) < 190, np.nan, HEIGHT),  # ten rows
        RNG.permutation(HEIGHT),
        RNG.permutation(TOWNS),
        np.where(np.arange(200) == 5, "Rom", TOWNS),
    ],
)
def test_other_columns_are_not(other):
    assert not sentence({"a": HEIGHT, "b": TOWNS, "c": other})


def test_columns_that_share_far_rows_only_are_not():
    a, b = (np.where(np.arange(200) < 2, 1e5, values) for values in (HEIGHT, RNG.permutation(HEIGHT)))
    assert not sentence({"a": a, "b": b})


def test_columns_left_out_do_not_count():
    table = {"a": HEIGHT, "c": HEIGHT}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Preparation(drop="c").fit(table | {"b": TOWNS})


def test_many_of_them_are_one_sentence():
    table = {f"c{j}": HEIGHT * (j + 1) for j in range(10)}
    assert "; and 4 more pairs; --drop c1,c2,c3,c4,c5 " in sentence(table)
    wide = {f"c{j}": HEIGHT * (j + 1) for j in range(MOST_COLUMNS + 1)}
    assert not sentence(wide)


def test_a_table_in_blocks():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(30_000, 3))
    x[:, 2] = 5 * x[:, 0]
    x[:, 1] = np.where(np.arange(30_000) < 10_000, x[:, 0], x[:, 1])  # the first blocks alone are alike
    blocks = ({name: x[i : i + 3000, j] for j, name in enumerate("abc")} for i in range(0, 30_000, 3000))
    text = sentence(None, blocks)
    assert "'a' and 'c'" in text
    assert "'b'" not in text
