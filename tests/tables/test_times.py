"""Months, days of eight digits, times of day and durations, as tables have them."""

from __future__ import annotations

import datetime
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit import Auto, load
from clusterkit.errors import ClusterkitWarning
from clusterkit.tables import Preparation, TableError, TableWarning, read_table
from clusterkit.tables.cells import parsing
from clusterkit.tables.cells import times as clocks
from clusterkit.tables.cells.times import DURATION, TIME, ClockSums, hours_of
from clusterkit.tables.preparing.plans import DateColumn, LeftOut, NumberColumn
from clusterkit.tables.preparing.sums import FEWEST_DAYS

MONTH_FORMS = ("%Y-%m", "%Y/%m", "%m/%Y", "%m-%Y", "%b %Y", "%B %Y", "%b-%Y", "%Y %b")


def months(form, n=60):
    return np.array([datetime.date(2018 + i // 12, 1 + i % 12, 1).strftime(form) for i in range(n)])


def texts(*values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def plan_of(values, **settings):
    fitted = Preparation(**settings).fit({"x": np.random.default_rng(0).normal(size=len(values)), "t": values})
    return fitted.plans[1]


@pytest.mark.parametrize("form", MONTH_FORMS)
def test_a_month_stands_for_its_first_day(form):
    plan = plan_of(months(form))
    assert isinstance(plan, DateColumn)
    assert plan.fill == plan_of(months("%Y-%m-%d")).fill


def test_quarters_stand_for_their_first_day():
    quarters = np.array([f"{2010 + i // 4}{mark}Q{1 + i % 4}" for i in range(40) for mark in ("", "-")])
    assert isinstance(plan_of(quarters), DateColumn)
    assert parsing.seconds("2020Q2", parsing.ANY) == parsing.seconds("2020-04-01", parsing.ANY)
    assert parsing.seconds("Q4 1970", parsing.ANY) == 273 * 86400.0


@pytest.mark.parametrize("text", ["2020-13", "4711-12", "13/2020", "May Street 2020", "Foo 2020", "2020-Q5", "1/20"])
def test_what_is_no_month(text):
    assert parsing.seconds(text, parsing.ANY) is None


def test_months_of_new_rows_are_read_in_whatever_form():
    table = {"x": np.arange(60.0) ** 2, "t": months("%Y-%m")}
    fitted = Preparation().fit(table)
    rows = fitted.transform(table)
    assert np.array_equal(rows, fitted.transform({**table, "t": months("%B %Y")}))
    assert np.array_equal(rows, fitted.transform({**table, "t": months("%Y%m%d").astype(np.int64)}))


def digits(n=40, step=17):
    return np.array(
        [int((datetime.date(2019, 1, 5) + datetime.timedelta(step * i)).strftime("%Y%m%d")) for i in range(n)]
    )


@pytest.mark.parametrize("as_what", [np.int64, np.float64, np.float32, str])
def test_days_of_eight_digits(as_what):
    days = digits()
    fitted = Preparation().fit({"t": days.astype(as_what)})
    if as_what is np.float32:  # which has no place for eight digits
        assert isinstance(fitted.plans[0], NumberColumn)
        return
    assert isinstance(fitted.plans[0], DateColumn)
    assert "written as" not in fitted.paragraph()
    assert "20240302 is 2 March 2024" in fitted.paragraph()
    elapsed = fitted.transform({"t": days.astype(as_what)})[:, 0]
    assert np.allclose(np.diff(elapsed), elapsed[1] - elapsed[0])  # equal steps, over the ends of months and years


def test_days_of_eight_digits_have_gaps():
    days = digits().astype(np.float64)
    days[::10] = np.nan
    plan = plan_of(days)
    assert isinstance(plan, DateColumn)
    assert plan.gaps == 4


@pytest.mark.parametrize(
    "values",
    [
        digits(FEWEST_DAYS - 1).repeat(5),  # few different ones
        np.r_[digits(), 20201301],  # a month 13
        np.r_[digits(), 20200230],  # 30 February
        np.r_[digits(), 2020],
        digits() + 0.5,
        digits() - 10_000_000,  # the year 1019
        1_704_067_200 + 86_400 * np.arange(40) * 3,  # seconds since 1970
        np.random.default_rng(0).integers(19_000_101, 21_001_231, 40),
    ],
)
def test_other_numbers_stay_numbers(values):
    assert isinstance(plan_of(values), NumberColumn)


def test_options_overrule_days_of_eight_digits():
    assert isinstance(plan_of(digits(), as_number="t"), NumberColumn)
    assert isinstance(plan_of(digits(3).repeat(5), as_date="t"), DateColumn)
    fitted = Preparation().fit({"x": np.arange(40.0) ** 2, "invoice_no": digits()})
    assert isinstance(fitted.plans[1], LeftOut | NumberColumn)


def test_rows_in_blocks_are_decided_as_the_whole():
    table = {"a": digits(), "b": months("%Y-%m", 40), "c": np.array([f"{i % 24}:{i:02d}" for i in range(40)])}
    blocks = [{name: values[part] for name, values in table.items()} for part in (slice(25), slice(25, None))]
    whole, parts = Preparation().fit(table), Preparation().fit_blocks(blocks)
    assert [type(plan) for plan in whole.plans] == [type(plan) for plan in parts.plans]
    assert np.allclose(whole.transform(table), parts.transform(table), atol=1e-12)
    assert whole.plans[2].begin == parts.plans[2].begin


@given(st.times(), st.sampled_from(["%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S%p"]))
def test_every_form_of_a_time_is_read(time, form):
    text = time.strftime(form)
    expected = datetime.datetime.strptime(text, form) - datetime.datetime(1900, 1, 1)
    hours, _ = hours_of(text)
    assert hours == pytest.approx(expected.total_seconds() / 3600, abs=1e-9)


@given(st.timedeltas(datetime.timedelta(-9000), datetime.timedelta(9000)))
def test_every_form_of_a_duration_is_read(duration):
    seconds = round(duration.total_seconds())
    duration = datetime.timedelta(seconds=seconds)
    days, rest = divmod(seconds, 86400)
    forms = [clocks.clock_text(seconds), f"{days} days {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"]
    forms += [f"{'-' if seconds < 0 else ''}PT{abs(seconds)}S", str(duration)]
    if abs(seconds) < 36_000_000:
        for text in forms:
            assert hours_of(text)[0] == pytest.approx(seconds / 3600, abs=1e-9), text


@pytest.mark.parametrize(
    "text", ["", "12:60", "12:30:75", "13:00 PM", "0:30 AM", "1:2", "12:345", "P", "PT", "12:30 h"]
)
def test_what_is_no_time(text):
    assert hours_of(text) is None


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["8:05", "14:35", "9:15"], TIME),
        (["08:05:10", "14:35:00"], TIME),
        (["2:35 PM", "11:05 am", "9:00 a.m."], TIME),
        (["1:23:45", "0:59:10", "3:00:00"], DURATION),
        (["12:23:45", "30:59:10"], DURATION),
        (["24:00", "8:15", "16:00", "0:30"], TIME),
        (["9:05:10", "17:45:00"], TIME),
        (["0 days 01:23:45", "1 days 00:00:00"], DURATION),
        (["PT1H", "PT45M"], DURATION),
        (["-0:10", "0:20"], DURATION),
        (["5h 10min", "45 min", "3 h", "1 h 5 min"], DURATION),
        (["2d 3h", "5 hours", "1 day and 2 hours", "30m"], DURATION),
        (["1 Std. 5 Min.", "45 Min."], DURATION),
        (["1:30:10", "1h 30min", "10 s"], DURATION),
    ],
)
def test_durations_are_told_from_times(values, kind):
    plan = plan_of(np.array(values * 10))
    assert isinstance(plan, NumberColumn)
    assert plan.clock == kind
    fitted = Preparation().fit({"t": np.array(values * 10)})
    assert fitted.resolved()["hours"]["t"].startswith(kind)
    assert f"In hours: t ({kind}" in fitted.paragraph()


def test_a_night_shift_is_not_cut_at_midnight():
    rng = np.random.default_rng(0)
    minutes = (23.5 * 60 + 40 * rng.normal(size=100)).astype(int) % 1440
    values = np.array([f"{m // 60:02d}:{m % 60:02d}" for m in minutes])
    fitted = Preparation(scale="none").fit({"t": values})
    [plan] = fitted.plans
    assert 6 <= plan.begin <= 18
    hours = fitted.transform({"t": np.array(["23:50", "00:10"])})[:, 0]
    assert hours[1] - hours[0] == pytest.approx(1 / 3)
    assert f"counted from {plan.begin:.0f}:00" in fitted.paragraph()
    assert plan.fill == pytest.approx(np.where(minutes < 60 * plan.begin, minutes + 1440, minutes).mean() / 60)


def test_hours_of_a_working_day_begin_at_midnight():
    times = np.array([f"{8 + i % 10}:{i % 60:02d}" for i in range(60)])
    assert plan_of(times).begin == 0.0


@pytest.mark.parametrize(("scale", "hour"), [("none", 1.0), ("zscore", 2 * np.pi / 24), ("minmax", np.pi / 24)])
def test_times_all_around_the_clock_are_on_a_circle(scale, hour, tmp_path):
    every = np.array([f"{i % 24}:{i % 60:02d}" for i in range(720)])
    table = {"t": every, "x": np.random.default_rng(0).normal(size=720)}
    fitted = Preparation(scale=scale).fit(table)
    assert fitted.features == ("t (sin)", "t (cos)", "x")
    assert "t (time of day, all around the clock: as sine and cosine)" in fitted.paragraph()
    rows = fitted.transform({"t": texts("23:30", "0:30", "12:00", None), "x": np.zeros(4)})[:, :2]
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)
    assert apart[0, 1] == pytest.approx(hour, rel=0.01)
    assert apart[0, 2] == pytest.approx(apart[1, 2])
    assert np.array_equal(rows[3], [0.0, 0.0])
    if scale == "zscore":
        assert fitted.transform(table)[:, :2].var(axis=0).sum() == pytest.approx(1.0, abs=0.01)


def test_a_model_of_times_around_the_clock_is_saved(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    times = np.r_[rng.uniform(21, 31, 300), rng.uniform(7, 21, 100)] % 24
    frame = pandas.DataFrame({"t": [f"{int(t)}:{int(60 * (t % 1)):02d}" for t in times], "x": times > 12})
    with pytest.warns(ClusterkitWarning, match="the clusters restate the column 'x'"):
        model = Auto(n_clusters=2, pool=["kmeans"], random_state=0).fit(frame)
    assert model.preparation_.plans[0].circle == 1.0
    model.save(tmp_path / "m.clusterkit")
    assert np.array_equal(load(tmp_path / "m.clusterkit").predict(frame), model.labels_)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("5h 10min", 5 + 1 / 6), ("5h10m", 5 + 1 / 6), ("2d 3h", 51), ("1 day, 2 hours", 26), ("45 min", 0.75),
        ("1.5 h", 1.5), ("1,5 Std.", 1.5), ("-1h 30min", -1.5), ("2w 1d", 360), ("10m", 1 / 6), ("1h 5min 6s", 1.085),
    ],
)  # fmt: skip
def test_durations_in_words(text, hours):
    assert hours_of(text) == (pytest.approx(hours), DURATION)


@pytest.mark.parametrize("text", ["5 kg", "10min 5h", "5h 5h", "1h 5", "h 5", "5 months", "5h ago", "1 h - 2 h"])
def test_other_words_are_no_durations(text):
    assert hours_of(text) is None


def test_one_unit_in_words_is_a_unit():
    minutes = plan_of(np.array([f"{i} min" for i in range(10, 70)]))
    assert (minutes.unit, minutes.clock) == ("min", "")
    metres = plan_of(np.array([f"{i} m" for i in range(10, 70)]))
    assert (metres.unit, metres.clock) == ("m", "")
    values = np.array([f"{i} min" for i in range(10, 70)] + ["1h 10min"])
    assert plan_of(values).clock == DURATION
    fitted = Preparation(scale="none").fit({"t": values})
    np.testing.assert_allclose(fitted.transform({"t": np.array(["90 min", "1h 30min"])})[:, 0], 1.5)


@pytest.mark.parametrize("centres", [(0, 8, 16), (0.5, 8, 16), (23.3, 7, 15), (0, 12), (0, 5, 10, 17), (0, 3)])
@pytest.mark.parametrize("shares", [1, 3])
def test_no_group_of_times_is_cut(centres, shares):
    rng = np.random.default_rng(len(centres))
    which = np.repeat(np.arange(len(centres)), np.r_[100 * shares, [100] * (len(centres) - 1)])
    times = (np.array(centres)[which] + np.clip(0.5 * rng.normal(size=len(which)), -1, 1)) % 24
    values = np.array([f"{int(t)}:{int(60 * (t % 1)):02d}" for t in times])
    fitted = Preparation(scale="none").fit({"t": values})
    hours = fitted.transform({"t": values})[:, 0]
    for group in range(len(centres)):
        assert np.ptp(hours[which == group]) <= 2.1
    order = np.argsort(hours)
    assert (np.diff(which[order]) != 0).sum() == len(centres) - 1


def test_the_sums_of_clocks_add_up():
    counts = {"8:05": 3, "23:10": 2, "0:15": 4, "30:00": 1, "no": 7, "45 min": 2, "1h 5min": 2}
    both = ClockSums.of_texts(dict(list(counts.items())[:2])) + ClockSums.of_texts(dict(list(counts.items())[2:]))
    assert both == ClockSums.of_texts(counts)
    assert both.n == 14


def test_options_overrule_times():
    values = np.array(["8:05", "14:35", "9:15"] * 10)
    assert plan_of(values, as_category="t").levels == ("14:35", "8:05", "9:15")
    assert plan_of(values, as_number="t").clock == TIME
    with pytest.raises(TableError, match="no cell is one"):
        plan_of(values, as_date="t")


def test_cells_that_are_no_times_are_gaps_and_another_column_an_error():
    values = texts(*[f"{8 + i % 9}:15" for i in range(40)])
    fitted = Preparation().fit({"t": values})
    with pytest.warns(TableWarning, match="is no time of day and counted as a gap.*'soon'"):
        fitted.transform({"t": texts("9:15", "soon")})
    with pytest.raises(TableError, match="has no time of day, though it had some in the fit: row 1 has '1234'"):
        fitted.transform({"t": np.array([1234.0, 99.0])})


def test_whole_numbers_are_echoed_as_in_the_table():
    fitted = Preparation().fit({"x": np.arange(40.0) ** 2, "t": months("%Y-%m", 40)})
    with pytest.raises(TableError, match="row 1 has '1234'"):
        fitted.transform({"x": np.arange(2.0), "t": np.array([1234.0, 99.0])})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy"])
def test_columns_of_durations_are_hours(library):
    seconds = [3600 * (1 + 7 * (i % 2)) + 60 * (i % 7) for i in range(40)]
    durations = [datetime.timedelta(seconds=s) for s in seconds]
    durations[3] = None
    if library == "numpy":
        frame = {"t": np.array(durations, dtype="timedelta64[s]")}
    else:
        module = pytest.importorskip(library)
        frame = (module.table if library == "pyarrow" else module.DataFrame)({"t": durations})
    fitted = Preparation(scale="none").fit(frame)
    assert "In hours: t (duration)" in fitted.paragraph()
    hours = np.array(seconds) / 3600
    hours[3] = np.delete(hours, 3).mean()
    assert np.allclose(fitted.transform(frame)[:, 0], hours)
    as_texts = texts(*[None if d is None else str(d) for d in durations])
    assert np.allclose(fitted.transform({"t": as_texts})[:, 0], hours)


def test_times_of_a_data_frame():
    polars = pytest.importorskip("polars")
    times = [datetime.time(9 + i % 8, i % 60) for i in range(40)]
    fitted = Preparation(scale="none").fit(polars.DataFrame({"t": times}))
    assert fitted.plans[0].clock == TIME
    assert fitted.transform(polars.DataFrame({"t": times}))[1, 0] == pytest.approx(10 + 1 / 60)


def test_a_file_without_names_keeps_its_first_row():
    table = read_table(io.BytesIO(b"8:15,a\n9:30,b\n14:45,a\n"))
    assert not table.named
    assert table.n_rows == 3


@pytest.mark.parametrize(
    "header", ["id,08:00,09:00", "id,2020-01,2020-02", "Jan 2020,Feb 2020,Mar 2020", "id,2020-01-01,2020-01-02"]
)
def test_moments_above_numbers_are_names(header):
    rows = "".join(f"{i},{i},{i * i}\n" for i in range(20))
    table = read_table(io.BytesIO(f"{header}\n{rows}".encode()))
    assert list(table.names) == header.split(",")


def test_the_end_of_a_day_is_a_time_and_a_time_among_durations_is_read():
    assert plan_of(np.array(["24:00", "8:00", "9:30"] * 10)).clock == TIME
    values = np.array(["2:30 PM", "30:00"] * 20)
    fitted = Preparation(scale="none").fit({"t": values})
    assert fitted.plans[0].clock == DURATION
    assert fitted.transform({"t": values})[:2, 0].tolist() == [14.5, 30.0]


def test_predictions_of_saved_models(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    group = np.arange(60) % 2
    columns = {
        "month": months("%Y-%m"),
        "day": rng.permutation(digits(60)),
        "tod": np.array([f"{(22 + 8 * g) % 24}:{rng.integers(60):02d}" for g in group]),
        "took": np.array([f"{1 + 9 * g}:{rng.integers(60):02d}:00" for g in group]),
    }
    table = pandas.DataFrame(columns)
    model = Auto(n_clusters=2, pool=["kmeans"], random_state=0).fit(table)
    path = tmp_path / "model.clusterkit"
    model.save(path)
    restored = load(path)
    assert restored.preparation_ == model.preparation_
    assert np.array_equal(restored.predict(table), model.labels_)
    assert restored.resolved_["preparation"]["hours"]["took"] == DURATION


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"a": [1.0], "b": ["x"]}, "the table has one row, and one row cannot be divided"),
        ({"a": [1.0, 1.0], "b": ["x", "x"]}, r"a \(always 1\); b .*All 2 rows are equal, so that there is nothing"),
    ],
)
def test_rows_that_cannot_be_divided_are_one_clear_error(table, words):
    with pytest.raises(TableError, match=words):
        Preparation().fit({name: np.array(values) for name, values in table.items()})


class TestTimesWithoutAColon:
    HOURS = np.random.default_rng(1).choice([23.4, 8.5, 14.0], 200) + np.random.default_rng(2).uniform(-1.0, 1.0, 200)
    NUMBERS = np.floor(HOURS % 24) * 100 + np.floor(60 * (HOURS % 1))

    def test_neighbours_at_midnight_stay_neighbours(self, tmp_path):
        other = np.random.default_rng(3).normal(size=200)
        (tmp_path / "t.csv").write_text(
            "dep_time,b\n" + "\n".join(f"{n:04.0f},{b}" for n, b in zip(self.NUMBERS, other, strict=True))
        )
        tables = ({"dep_time": self.NUMBERS, "b": other}, read_table(tmp_path / "t.csv"))
        one, two = (Preparation(scale="none").fit(table) for table in tables)
        assert (
            "In hours: dep_time (time of day, 517 is 5:17; --as-number if they are numbers, the day" in one.paragraph()
        )
        np.testing.assert_allclose(one.transform(tables[0]), two.transform(tables[1]))
        values = one.transform({"dep_time": np.array([2359.0, 1.0]), "b": other[:2]})[:, 0]
        assert abs(values[1] - values[0]) == pytest.approx(2 / 60)
        with pytest.warns(TableWarning, match="1 cell is no time of day"):
            one.transform({"dep_time": np.array([575.0, 12.0]), "b": other[:2]})

    def test_blocks_options_and_names(self):
        blocks = [{"dep_time": self.NUMBERS[part]} for part in (slice(90), slice(90, None))]
        assert "hours" in Preparation().fit_blocks(blocks).paragraph()
        assert "hours" not in Preparation(as_number="dep_time").fit(blocks[0]).paragraph()
        few = np.array([517.0, 2359.0, 1230.0, 1200.0] * 9)
        assert "hours" not in Preparation().fit({"t": few, "b": self.NUMBERS[:36]}).paragraph()
        assert "t (time of day" in Preparation(as_date="t").fit({"t": few, "b": self.NUMBERS[:36]}).paragraph()
        all_day = np.arange(0, 1440, 7)
        assert "x (time of day" in Preparation().fit({"x": all_day // 60 * 100 + all_day % 60}).paragraph()

    @pytest.mark.parametrize(
        "values",
        [np.arange(1990, 2025).repeat(3), np.arange(200) * 12 % 2359, np.arange(100) % 60, np.arange(100) % 24 * 100],
    )
    def test_years_counts_and_prices_are_none(self, values):
        assert "time of day" not in Preparation().fit({"time": values, "b": np.arange(len(values)) ** 2}).paragraph()
