"""Dates in whatever form: several forms in a column, another one in new rows, and what leaves day and month open."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.tables import Preparation, TableError, TableWarning
from clusterkit.tables.cells import parsing

FORMS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%Y/%m/%d", "%d-%m-%Y", "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y",
    "%B %d, %Y", "%Y.%m.%d", "%d-%b-%y", "%d. %B %Y", "%b. %d %Y", "%A, %d %b %Y", "%a %d %b %Y", "%d. %m. %Y",
    "%Y-%b-%d",
)  # fmt: skip
"""Forms that tell the day from the month."""

TIMES = ("", " %H:%M", "T%H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S%p", " %H:%M:%S UTC")

MOMENTS = st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2060, 1, 1))


def days(form, n=60):
    """Days in a form, 7 days apart."""
    return np.array(
        [(datetime.date(2020, 1, 13) + datetime.timedelta(7 * i)).strftime(form) for i in range(n)], dtype="U"
    )


@given(moment=MOMENTS, form=st.sampled_from(FORMS), time=st.sampled_from(TIMES))
def test_every_form_is_read(moment, form, time):
    if form.endswith("%y") and moment.year > 2068:
        moment = moment.replace(year=2000)
    text = moment.strftime(form + time)
    expected = (datetime.datetime.strptime(text, form + time) - datetime.datetime(1970, 1, 1)).total_seconds()
    for order in (parsing.ANY, parsing.MONTH_FIRST, parsing.DAY_FIRST):
        assert parsing.seconds(text, order) == expected


@given(moment=MOMENTS, order=st.sampled_from([parsing.MONTH_FIRST, parsing.DAY_FIRST]))
def test_between_slashes_the_order_decides(moment, order):
    text = moment.strftime(order)
    expected = datetime.datetime(moment.year, moment.month, moment.day) - datetime.datetime(1970, 1, 1)
    assert parsing.seconds(text, order) == expected.total_seconds()
    assert parsing.seconds(text, parsing.ANY) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "20240102",
        "2024-13-01",
        "30.2.2024",
        "1.2.3.4",
        "12:30",
        "Xyz 5, 2024",
        "1/2",
        "north 7",
        "3-4-24",
        "1/2/2024 13:00 PM",
        "1.2.2024 0:30 AM",
    ],
)
def test_what_is_no_date(text):
    assert parsing.seconds(text, parsing.MONTH_FIRST) is None


def test_forms_may_be_mixed():
    iso = days("%Y-%m-%d")
    expected = Preparation().fit({"since": iso})
    mixed = np.where(np.arange(60) % 2, iso, days("%d.%m.%Y"))
    mixed = np.where(np.arange(60) % 3, mixed, days("%d/%m/%Y"))
    fitted = Preparation().fit({"since": mixed})
    assert fitted.features == expected.features
    assert "since: elapsed time" in fitted.paragraph()
    assert "(2/3 is 2 March)" in fitted.paragraph()
    np.testing.assert_allclose(fitted.transform({"since": mixed}), expected.transform({"since": iso}), atol=1e-9)


def test_blocks_of_different_forms_add_up():
    blocks = [{"since": days("%Y-%m-%d")[:20]}, {"since": days("%d/%m/%Y")[20:40]}, {"since": days("%d.%m.%Y")[40:]}]
    whole = Preparation().fit({"since": np.concatenate([block["since"] for block in blocks])})
    added = Preparation().fit_blocks(blocks)
    assert added.plans[0].form == whole.plans[0].form == parsing.DAY_FIRST
    np.testing.assert_allclose(added.plans[0].fill, whole.plans[0].fill, rtol=1e-12)


@pytest.mark.parametrize("form", [*FORMS, "%d/%m/%Y", "%m/%d/%Y"])
def test_new_rows_may_have_another_form(form):
    iso = days("%Y-%m-%d")
    for table in ({"since": iso}, {"since": iso.astype("datetime64[D]")}):
        fitted = Preparation().fit(table)
        np.testing.assert_allclose(fitted.transform({"since": days(form)}), fitted.transform(table), atol=1e-9)


def test_an_order_that_is_open_in_new_rows_is_an_error_that_names_it():
    fitted = Preparation().fit({"since": days("%Y-%m-%d")})
    with pytest.raises(
        TableError, match=r"column 'since' has no date, .* row 1 has '3/4/2024', which leaves day and mon"
    ):
        fitted.transform({"since": np.array(["3/4/2024", "5/6/2024"])})
    with pytest.warns(TableWarning, match="column 'since': 1 cell is no clear date and .* row 2: '5/6/2024'"):
        fitted.transform({"since": np.array(["2024-03-04", "5/6/2024"])})


def test_the_order_of_the_fit_holds_for_new_rows():
    for form, day in (("%d/%m/%Y", "2/3/2020"), ("%m/%d/%Y", "3/2/2020")):
        fitted = Preparation().fit({"since": days(form)})
        np.testing.assert_allclose(
            fitted.transform({"since": np.array([day])}), fitted.transform({"since": np.array(["2020-03-02"])})
        )


def test_words_among_dates_are_named():
    dates = days("%Y-%m-%d").astype(object)
    dates[::5] = [f"word {i}" for i in range(12)]
    sentence = "columns that look like dates are not used as such: 'since' .80 % of its cells are dates"
    with pytest.warns(TableWarning, match=sentence):
        left_out = Preparation().fit({"since": dates, "a": np.arange(60.0) ** 2}).left_out
    assert left_out == {"since": "80 % of its cells are dates, and others are not, such as 'word 0'"}
    slashes = np.where(np.arange(60) % 3, days("%d/%m/%Y"), days("%m/%d/%Y"))
    with pytest.warns(TableWarning, match="such as '01/13/2020'"):
        left_out = Preparation().fit({"since": slashes, "a": np.arange(60.0) ** 2}).left_out
    assert left_out["since"].endswith("such as '01/13/2020'")


@pytest.mark.parametrize("day", ["01-01", "12-31", "07-15"])
def test_one_day_of_each_year_says_nothing_of_months(day):
    dates = np.array([f"{2000 + i % 20}-{day}" for i in range(60)])
    assert Preparation().fit({"d": dates}).features == ("d",)
    assert Preparation().fit({"d": dates.astype("datetime64[D]")}).features == ("d",)


def test_one_day_of_each_week_says_nothing_of_weekdays():
    mondays = np.datetime64("2024-01-01") + 7 * np.arange(60)
    assert Preparation().fit({"d": mondays}).features == ("d",)


@pytest.mark.parametrize(
    "text",
    [
        "9. März 2024", "9 Sept 2024", "9. Dez. 2024", "9 août 2024", "le 9 févr. 2024", "1er mars 2024",
        "9 de marzo de 2024",
        "9 ago 2024", "9 giugno 2024", "9 mei 2024", "9 maj 2024", "March 9th, 2024", "9th of March, 2024",
        "9. Jänner 2024",
        "Fri, 09 Feb 2024 12:00:00 +0100", "Fri, 9 Feb 2024 11:00:00 GMT", "Fri Feb  9 11:00:00 2024",
    ],
)  # fmt: skip
def test_months_are_read_in_several_languages_and_days_as_mailboxes_write_them(text):
    """Python itself knows the English names of months alone, whatever a table has."""
    months = {
        "ärz": 3,
        "ar": 3,
        "Sept": 9,
        "ez": 12,
        "oût": 8,
        "évr": 2,
        "Feb": 2,
        "ago": 8,
        "giu": 6,
        "m": 5,
        "Jän": 1,
    }
    month = next(number for part, number in months.items() if part in text)
    day = datetime.datetime(2024, month, 1 if "1er" in text else 9, 11 if ":" in text else 0)
    assert parsing.seconds(text, parsing.ANY) == (day - datetime.datetime(1970, 1, 1)).total_seconds()


@pytest.mark.parametrize(
    "text", ["Sept 2020", "sept. 2020", "Sep-20", "Sept '20", "septiembre de 2020", "2020 September"]
)
def test_whole_months_in_words_are_their_first_day(text):
    assert parsing.seconds(text, parsing.ANY) == parsing.seconds("2020-09-01", parsing.ANY)


@pytest.mark.parametrize("text", ["Gen-10", "Set-12", "Jui 2024", "Until 9 March 2024", "9 Mrs 2024", "24-Mar"])
def test_a_word_that_is_no_month_or_one_of_two_makes_no_date(text):
    assert parsing.seconds(text, parsing.ANY) is None


@pytest.mark.parametrize("form", ["%d. %B %Y", "%b-%y", "%a, %d %b %Y 12:00:00 +0000", "%B %dth, %Y"])
def test_a_column_of_different_days_in_words_is_one_of_dates(form):
    texts = np.array([datetime.date(1990 + i, 1 + i % 12, 4).strftime(form) for i in range(30)], dtype=object)
    fitted = Preparation().fit({"born": texts, "a": np.arange(30.0) ** 2})
    assert "born" in fitted.resolved()["dates"]
