"""Numbers with a unit, below zero in brackets, and digits that are no numbers: codes and addresses."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest

from clusterkit.tables import Preparation, TableError, TableWarning, read_table
from clusterkit.tables.reading.chunks import table_chunks


class TestCodes:
    def test_postal_codes_are_levels_though_few_begin_with_a_zero(self):
        zips = np.array(["02139", "10001", "94105", "60601"] * 25, dtype=object)
        assert Preparation().fit({"zip": zips, "a": np.arange(100.0) ** 2}).resolved()["categories"] == {
            "zip": "4 levels"
        }

    def test_numbers_of_several_lengths_are_no_codes(self):
        values = np.array(["007", *map(str, range(8, 107))], dtype=object)
        assert "n" in Preparation(keep="n").fit({"n": values}).resolved()["numbers"]

    def test_addresses_of_computers_are_no_numbers(self):
        rng = np.random.default_rng(0)
        ips = np.array([f"192.168.{a}.{b}" for a, b in rng.integers(100, 255, (90, 2))], dtype=object)
        assert "ip" in Preparation().fit({"ip": ips, "a": np.arange(90.0) ** 2}).left_out


class TestUnitsBehindNumbers:
    WEIGHTS = np.round(np.random.default_rng(0).normal(60, 9, 50), 2)

    def texts(self, form):
        return np.array([form.format(value) for value in self.WEIGHTS], dtype=object)

    def test_decimal_commas(self):
        german = np.array([text.replace(".", ",") for text in self.texts("{} kg")], dtype=object)
        fitted = Preparation(scale="none").fit({"w": german})
        np.testing.assert_array_equal(fitted.transform({"w": german})[:, 0], self.WEIGHTS)
        with pytest.warns(TableWarning, match="'1.234' is read as 1.234 and may mean 1234"):
            Preparation().fit({"w": np.array(["1.234 kg", "2.345 kg"], dtype=object)})

    def test_codes_have_no_unit(self):
        rng = np.random.default_rng(0)
        for form in ("{}DE", "K{} x", "{}-de", "{}_x"):
            codes = np.array([form.format(value) for value in rng.integers(1000, 9999, 50)], dtype=object)
            assert "code" in Preparation().fit({"code": codes, "a": self.WEIGHTS}).left_out, form

    def test_mostly_numbers_are_named_so(self):
        values = self.texts("{}")
        values[::8] = "<0.5"
        with pytest.warns(TableWarning, match=r"not used as such: 'w' \(86 % .*'<0.5'\); --as-number takes those"):
            left_out = Preparation().fit({"w": values, "a": self.WEIGHTS}).left_out
        assert left_out == {"w": "86 % of its cells are numbers, and others are not, such as '<0.5'"}


class TestMarksThatDiffer:
    CELLS = np.array([f"{i / 8:.3f}".replace(".", ",."[i % 2]) for i in range(60)], dtype=object)

    def test_a_column_of_both_is_left_out_with_a_cell_of_each(self):
        table = {"a": self.CELLS, "b": np.arange(60) ** 2}
        with pytest.warns(TableWarning, match="are not used as such: 'a' .*; write them with one mark"):
            fitted = Preparation().fit(table)
        assert fitted.left_out["a"].startswith(
            "its numbers have points and commas before decimals, such as '0.125' and '0,"
        )
        with pytest.warns(
            TableWarning, match="column 'a': its numbers have points and commas .*: write them with one mark"
        ):
            Preparation(as_number="a").fit(table)
        with pytest.raises(TableError, match="points and commas before decimals"):
            Preparation().fit({"a": np.array(["1.5", "2,5"] * 20, dtype=object)})

    @pytest.mark.parametrize(("form", "mark"), [("1.260E-01", "."), ("-1,260e3", ","), ("1.260D-01", ".")])
    def test_an_exponent_shows_the_mark(self, form, mark):
        cells = [form, f"2{mark}500E+00"] * 10
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = read_table(
                io.BytesIO(("a;b\n" + "\n".join(f"{cell};{i}" for i, cell in enumerate(cells))).encode())
            )
            assert table.numbers()[:2, 0].tolist() == [float(form.replace(",", ".").replace("D", "e")), 2.5]


class TestApostrophesAroundCells:
    def test_numbers_and_words_with_the_delimiter(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("'a','b, c'\n'0.5','x, y'\n'1.5','it is'\n")
        whole, pieces = read_table(path), list(table_chunks(str(path), rows=1))
        assert whole.names == pieces[0].names == ("a", "b, c")
        assert whole.columns()[0].values.tolist() == [0.5, 1.5]
        assert whole.cells()[0] == ["0.5", "x, y"]
        assert [piece.columns()[1].values[0] for piece in pieces] == ["x, y", "it is"]

    def test_in_words_and_in_some_lines_they_stay(self):
        table = read_table(io.BytesIO(b"a,b\n'tis,1\n'twas',2\n"))
        assert table.columns()[0].values.tolist() == ["'tis", "'twas'"]


AMOUNTS = np.random.default_rng(0).permutation(np.arange(1000, 1900, 30)).astype(float)


def amounts(form):
    return np.array([form.format(value) for value in AMOUNTS], dtype=object)


class TestCurrencies:
    @pytest.mark.parametrize(
        "sign",
        [*"$€£¥₹₩₽₺₴₦₱₫₪฿元円", "SGD", "KRW", "INR", "XOF", "ZMW", "Rs.", "kr", "zł", "Kč", "د.إ", "ر.س", "ريال"],
    )
    def test_a_sign_or_code_before_or_behind_a_number_is_its_unit(self, sign):
        for form in (f"{sign} {{:,.2f}}", f"{{:.0f}} {sign}", f"-{sign} {{:.0f}}", f"({sign} {{:.2f}})"):
            fitted = Preparation(scale="none").fit({"price": amounts(form)})
            sign_of_values = -1 if form[0] in "-(" else 1
            assert fitted.transform({"price": amounts(form)})[:, 0].tolist() == (sign_of_values * AMOUNTS).tolist(), (
                form
            )

    @pytest.mark.parametrize("digits", ["٠١٢٣٤٥٦٧٨٩٫٬", "۰۱۲۳۴۵۶۷۸۹٫٬", "０１２３４５６７８９．，", "0123456789.,"])
    def test_other_digits_and_marks_of_direction(self, digits):
        cells = [cell.translate(str.maketrans("0123456789.,", digits)) for cell in amounts("\u200f{:,.2f}\u061c")]
        table = {"price": np.array(cells, dtype=object)}
        assert Preparation(scale="none").fit(table).transform(table)[:, 0].tolist() == AMOUNTS.tolist()

    @pytest.mark.parametrize(
        ("cell", "value"),
        [
            ("CHF 12.-", 12),
            ("5.20-", -5.2),
        ],
    )
    def test_signs_of_minus_and_of_no_cents(self, cell, value):
        cells = np.array([cell, "7", "8.5"], dtype=object)
        fitted = Preparation(scale="none", decimal=".", keep="price").fit({"price": cells})
        assert fitted.transform({"price": np.array([cell], dtype=object)})[0, 0] == value

    @pytest.mark.parametrize("form", ["CUP00{:.0f}", "Room {:.0f}", "{:.0f} High Street", "A-{:.0f}", "+49 170 {:.0f}"])
    def test_names_and_codes_are_no_amounts(self, form, recwarn):
        fitted = Preparation().fit({"code": amounts(form), "a": AMOUNTS**2})
        assert fitted.left_out["code"].startswith("an identifier")
        assert not recwarn.list


@pytest.mark.parametrize(
    "form",
    [
        "{:.0f} (+1)",
        "{:.0f} (-2)",
        "[{:.0f}]",
        "{:.1f} (0.3)",
        "{:.1f}(7)",
        "{:.1f} ± 0.2",
        "{:.0f} (34 %)",
        "{:,.0f}[2]",
    ],
)
def test_a_measurement_with_a_remark_in_brackets_is_a_number(form):
    fitted = Preparation(scale="none").fit({"radius": amounts(form)})
    assert fitted.transform({"radius": amounts(form)})[:, 0].tolist() == AMOUNTS.tolist()


@pytest.mark.parametrize("form", ["~{:.0f}", "XYZ {:.2f}", "{:.0f}*", "7-Mar ({:.0f})"])
def test_digits_in_a_form_that_is_not_known_are_told(form):
    example = form.format(AMOUNTS[0])
    with pytest.warns(TableWarning, match="'x' .its cells, such as") as caught:
        fitted = Preparation().fit({"x": amounts(form), "a": AMOUNTS**2})
    assert repr(example) in str(caught[0].message)
    assert "identifier" not in fitted.left_out["x"]
