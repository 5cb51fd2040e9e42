"""Words in columns of numbers and dates are told with the fit, and count as gaps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from clusterkit.tables import Preparation, TableWarning

RNG = np.random.default_rng(0)
OTHER = np.round(RNG.normal(size=60), 3)
NUMBERS = [f"{value:.2f}" for value in RNG.normal(size=60)]


def fit(cells):
    return Preparation().fit({"a": np.array(cells, dtype=object), "b": OTHER})


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["missing"], "'a' (1 of 60 are no number: 'missing')"),
        (["k.A.", "k.A.", "unknown"], "'a' (3 of 60 are no number: 'k.A.', 'unknown')"),
        (["w", "x", "y", "z"], "'a' (4 of 60 are no number: 'w', 'x', 'y', ...)"),
    ],
)
def test_words_among_numbers_are_told(words, sentence):
    with pytest.warns(TableWarning) as caught:
        fitted = fit([*words, *NUMBERS[len(words) :]])
    [warning] = caught
    assert sentence in str(warning.message)
    assert fitted.plans[0].unread == len(words)


def test_words_among_dates_and_times_are_told():
    days = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(60)]
    with pytest.warns(TableWarning, match=r"'a' \(1 of 60 are no date: 'soon'\)"):
        fit(["soon", *days[1:]])
    with pytest.warns(TableWarning, match=r"'a' \(1 of 60 are no time of day: 'late'\)"):
        fit(["late", *[f"{8 + i % 9}:{i:02d}" for i in range(1, 60)]])


def test_gaps_and_categories_are_not_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit(["none", "n/a", *NUMBERS[2:]]).plans[0].unread == 0  # gaps in every table
        assert fit([*["missing"] * 20, *["1", "2"] * 20]).resolved()["numbers"] == ["b"]


def test_a_hundred_columns_are_one_sentence():
    table = {f"c{j}": np.array(["missing", *RNG.permutation(NUMBERS)[1:]], dtype=object) for j in range(100)}
    with pytest.warns(TableWarning) as caught:
        Preparation().fit(table)
    assert len(caught) == 1
    assert "and 95 more columns" in str(caught[0].message)


def test_a_table_in_blocks():
    cells = np.array([*NUMBERS[:40], "missing", *NUMBERS[41:]], dtype=object)
    blocks = [{"a": cells[:30], "b": OTHER[:30]}, {"a": cells[30:], "b": OTHER[30:]}]
    with pytest.warns(TableWarning, match="1 of 60 are no number: 'missing'"):
        Preparation().fit_blocks(blocks)
