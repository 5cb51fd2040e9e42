"""Words in columns of numbers and dates are told with the fit, and count as gaps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from clusterkit.tables import Preparation, TableWarning, read_table

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


class TestInfiniteCells:
    VALUES = np.r_[np.inf, -np.inf, np.nan, np.round(RNG.normal(size=57), 2)]

    def test_a_file_and_a_frame_tell_them(self, tmp_path):
        rows = "\n".join(f"{a},{b}" for a, b in zip(self.VALUES, OTHER, strict=True))
        (tmp_path / "t.csv").write_text("a,b\n" + rows)
        for table in (read_table(tmp_path / "t.csv"), {"a": self.VALUES, "b": OTHER}):
            with pytest.warns(TableWarning) as caught:
                fitted = Preparation().fit(table)
            [warning] = caught
            assert str(warning.message) == "infinite cells count as gaps: 'a' (2 of 60); --drop leaves a column out"
            assert "Infinite cells, which count as gaps: a (2). Gaps in a (3) take" in fitted.paragraph()
            assert fitted.resolved()["infinite_cells"] == {"a": 2}

    def test_blocks_columns_of_nothing_else_and_of_one_value(self):
        one, nothing = np.where(np.arange(60) < 30, np.inf, 5.0), np.full(60, np.inf)
        blocks = [{"a": one[part], "b": OTHER[part], "c": nothing[part]} for part in (slice(20), slice(20, 60))]
        with pytest.warns(TableWarning, match=r"'a' \(30 of 60\); 'c' \(60 of 60\)"):
            fitted = Preparation().fit_blocks(blocks)
        assert fitted.left_out == {"c": "empty but for 60 infinite cells"}
        assert "a (30)" in fitted.paragraph()

    @pytest.mark.parametrize("cell", ["-Inf", "∞", "2,5e999", "inf%"])
    def test_texts_beside_numbers_with_a_comma(self, cell):
        texts = np.array([str(number).replace(".", ",") for number in NUMBERS], dtype=object)
        texts[::4] = cell
        texts[1] = "missing"
        with pytest.warns(TableWarning) as caught:
            fitted = Preparation().fit({"a": texts, "b": OTHER})
        assert [str(warning.message) for warning in caught] == [
            "infinite cells count as gaps: 'a' (15 of 60); --drop leaves a column out",
            "cells that cannot be read count as gaps: 'a' (1 of 60 are no number: 'missing'); --as-category makes the "
            "cells of a column levels, --drop leaves it out",
        ]
        assert "Gaps in a (16, 1 of them cells that cannot be read)" in fitted.paragraph()
        assert fitted.resolved()["infinite_cells"] == {"a": 15}

    @pytest.mark.filterwarnings("ignore:infinite cells")
    def test_they_are_not_counted_among_codes(self):
        codes = np.array(["1", "2", "∞", "3"] * 15, dtype=object)
        fitted = Preparation().fit({"a": codes, "b": OTHER})
        assert fitted.resolved()["few_whole_numbers"] == {"a": "3 from 1 to 3"}

    def test_a_level_is_none(self):
        levels = np.array(["inf", "sup", "7"] * 20, dtype=object)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted = Preparation().fit({"a": levels, "b": OTHER})
        assert "a=inf" in fitted.features

    def test_one_sentence_is_enough_where_they_are_most_cells(self):
        most = np.where(np.arange(60) < 40, np.inf, OTHER)
        with pytest.warns(TableWarning) as caught:
            Preparation().fit({"a": most, "b": OTHER[::-1], "c": OTHER**2})
        assert [str(each.message)[:46] for each in caught] == ["infinite cells count as gaps: 'a' (40 of 60); "]

    def test_new_rows_tell_them(self):
        fitted = Preparation().fit({"a": OTHER[::-1], "b": OTHER**2})
        with pytest.warns(
            TableWarning, match="column 'a': 2 cells are infinite and counted as a gap, the first one in row 1"
        ):
            fitted.transform({"a": self.VALUES, "b": OTHER**2})
