"""Running tables: rows, progress, missing data, interrupts."""

from __future__ import annotations

import json
import math
import signal

import attrs
import pytest
from clusterkit_papers import reproduce
from clusterkit_papers.emmc import starts
from clusterkit_papers.emmc.readings import READINGS
from clusterkit_papers.jobs import Cell, Job, Measurements, NotRun
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.reproduction import run_jobs

from clusterkit.errors import ClusterkitWarning, InvalidParameter, UnknownName
from clusterkit.samples.limits import listening

KEYS = {"table", "row", "column", "printed", "ours", "sd", "runs", "seconds", "uses_labels", "as_described", "verdict"}


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    """Scikit-learn's digits are enough, and what is missing is missing everywhere."""
    monkeypatch.delenv("CLUSTERKIT_DATA", raising=False)
    monkeypatch.delenv("CLUSTERKIT_DATA_URL", raising=False)


def check(rows, table):
    assert rows
    for row in rows:
        assert set(row) - {"note"} == KEYS
        assert row["table"] == table
        assert (row["ours"] is None) == (row["runs"] == 0)
        assert (row["sd"] is None) == (row["runs"] < 2)
        assert row["seconds"] >= 0
        assert isinstance(row["verdict"], str)
        assert row["verdict"]
    json.dumps(rows, allow_nan=False)


@pytest.fixture(scope="module")
def table4():
    """Rows of table 4 from two pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starts, "QUICK_PAIRS", starts.PAIRS[::30])
        return reproduce("emmc-table4", quick=True)


def test_table3_quick():
    reports = []
    rows = reproduce("emmc-table3", quick=True, progress=lambda *report: reports.append(report))
    check(rows, "emmc-table3")
    methods = [row["row"].partition(":")[0] for row in rows]
    assert {row["verdict"] for row in rows if row["printed"]} == {"not comparable: quick has fewer runs"}
    assert methods == ["IterSVM"] * 7 + ["IterSVR"] * 14 + ["EMMC"] * 22
    assert all(0 <= row["ours"] <= 50 and row["runs"] == 1 for row in rows)
    total = reports[-1][1]
    assert [(done, of) for done, of, _ in reports] == [(done, total) for done in range(1, total + 1)]


@pytest.mark.deep
def test_table4_quick(table4):
    check(table4, "emmc-table4")
    assert {where[0] for where in printed("emmc-table4")} == {row["row"].partition(":")[0] for row in table4}
    assert all("quick: 2 of 45 pairs" in row["note"] for row in table4)
    assert {row["verdict"] for row in table4} <= {"not comparable: quick takes a part", "no printed value"}
    assert all(row["ours"] is not None for row in table4)


@pytest.mark.deep
def test_rows_that_choose_by_labels_say_so(table4):
    by_labels = {row["row"] for row in table4 if row["uses_labels"]}
    assert by_labels == {row["row"] for row in table4 if "by labels" in row["row"]}
    assert by_labels


@pytest.mark.deep
def test_more_complexities_are_no_worse_than_the_one_of_the_recipe(table4):
    error = {row["row"]: row["ours"] for row in table4 if row["column"] == "error (%)"}
    assert error["k-means + EMMC: emmc, df by labels"] <= error["k-means + EMMC: emmc"] + 1e-9


@pytest.mark.deep
def test_same_seed_same_rows():
    def values():
        return [(row["row"], row["column"], row["ours"]) for row in reproduce("emmc-table3", quick=True, seed=3)]

    assert values() == values()


def test_missing_data_sets_are_rows():
    rows = reproduce("emmc-table5", quick=True)
    check(rows, "emmc-table5")
    missing = [row for row in rows if row["verdict"].startswith("data set not found: ")]
    assert {row["row"] for row in missing} == {
        f"L = {L}: {what}"
        for L in (100, 150)
        for what in ("emmc-single", "emmc-multi", *(reading.words for reading in READINGS))
    }
    assert all("letter" in row["verdict"] and row["ours"] is None for row in missing)
    assert all(row["verdict"] == "not run: quick leaves it out" for row in rows if row not in missing)


def test_unknown_table():
    with pytest.raises(UnknownName, match=r"no table named 'emmc-table33'\. Did you mean 'emmc-table3'"):
        reproduce("emmc-table33")


def test_impossible_runs():
    with pytest.raises(InvalidParameter, match="runs must be an integer >= 1 or None, got 0"):
        reproduce("emmc-table3", runs=0)


def job(row, run, units=1):
    return Job("EMMC", row, (Cell("C = 1", "error"),), run, units)


def finished(step):
    step("one")
    return Measurements([{"error": 3.0, "seconds": 0.5}, {"error": 4.0, "seconds": 1.5}])


def interrupted(step):
    raise KeyboardInterrupt


def refused(step):
    raise NotRun("too many rows")


def test_an_interrupt_keeps_the_rows_so_far():
    with pytest.warns(ClusterkitWarning, match="interrupted: 1 of 3 pieces are done"):
        rows = run_jobs("emmc-table3", [job("a", finished), job("b", interrupted), job("c", finished)])
    check(rows, "emmc-table3")
    ours = [row for row in rows if row["ours"] is not None]
    assert [(row["row"], row["ours"], row["sd"], row["runs"], row["seconds"]) for row in ours] == [
        ("a", 3.5, pytest.approx(math.sqrt(0.5)), 2, 1.0)
    ]


def test_a_refusal_is_a_row_and_the_table_goes_on():
    reports = []
    jobs = [job("a", refused, units=2), job("b", finished)]
    rows = run_jobs("emmc-table3", jobs, progress=lambda *report: reports.append(report))
    check(rows, "emmc-table3")
    ours = {row["row"]: (row["verdict"], row["ours"]) for row in rows if row["row"] in ("a", "b")}
    assert ours["a"] == ("not run: too many rows", None)
    assert ours["b"][1] == 3.5
    assert reports[-1][:2] == (3, 3)


def test_cells_without_a_job_say_why():
    verdicts = {row["verdict"] for row in run_jobs("emmc-table8", [])}
    assert verdicts == {
        "not run",
        "not run: the paper has none either, too slow",
        "not run: a method for two clusters",
    }


def test_a_part_of_the_data_is_not_compared():
    part = attrs.evolve(job("a", finished), comparable=False, part="100 random rows")
    [row] = [row for row in run_jobs("emmc-table3", [part]) if row["row"] == "a"]
    assert row["verdict"] == "not comparable: 100 random rows"
    assert row["ours"] == 3.5


def test_an_interrupt_inside_a_fit_stops_the_table():
    """A fit keeps its best labels and returns; the table must not take that for a result."""

    def press(report):
        if report.stage == "loop" and report.iteration == 2:
            signal.raise_signal(signal.SIGINT)

    with listening(press), pytest.warns(ClusterkitWarning, match="interrupted: 0 of 43 pieces"):
        rows = reproduce("emmc-table3", quick=True)
    assert all(row["ours"] is None for row in rows)


def test_progress_reaches_listeners():
    reports = []
    with listening(reports.append):
        run_jobs("emmc-table3", [job("a", finished), job("b", finished)])
    assert [(report.stage, report.iteration, report.max_iter) for report in reports] == [
        ("emmc-table3", 1, 2),
        ("emmc-table3", 2, 2),
    ]
