"""Records of tables: what they hold, how they come back, and how an interrupted table goes on."""

from __future__ import annotations

import platform
import re
import warnings

import attrs
import pytest
from clusterkit_papers import record, record_missing, recording, reproduction
from clusterkit_papers.fits import without_warnings
from clusterkit_papers.jobs import Cell, Job, Measurements, NotRun
from clusterkit_papers.journals import Journal
from clusterkit_papers.records import Record, Surroundings, record_path
from clusterkit_papers.summary import closing_line, printed_order, standing

from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter, UnknownName

SURROUNDINGS = Surroundings("2026-01-31", "a processor", 2, 0.5, {"python": "3.11"})
ROWS = [
    {"table": "emmc-table3", "row": "EMMC: emmc", "column": "C = 1", "printed": 3.42, "ours": 0.0, "sd": 0.25,
     "runs": 3, "seconds": 0.0, "uses_labels": True, "as_described": True, "verdict": "better by 3.4 points",
     "note": "scaled"},
    {"table": "emmc-table3", "row": "EMMC", "column": "C = 10", "printed": None, "ours": None, "sd": None, "runs": 0,
     "seconds": 0.0, "uses_labels": False, "as_described": False, "verdict": "not run"},
]  # fmt: skip


def job(row, values, calls):
    def run(step):
        calls.append(row)
        step(row)
        return values() if callable(values) else Measurements([{"error": value, "seconds": 0.1} for value in values])

    return Job("EMMC", f"EMMC: {row}", (Cell("C = 1", "error"),), run, 1)


def press():
    raise KeyboardInterrupt


def test_a_record_comes_back(tmp_path):
    one = Record("emmc-table3", "clusterkit reproduce emmc-table3", SURROUNDINGS, 12.5, 20.0, ROWS, remark="earlier")
    path = one.write(tmp_path)
    assert path == record_path(tmp_path, "emmc-table3")
    assert Record.read(path) == one
    lines = path.read_text(encoding="utf-8").splitlines()
    assert sum('"row": ' in line for line in lines) == len(ROWS)
    benchmark = Record("nmf", "python nmf.py", SURROUNDINGS, None, None, output="a table\n")
    assert Record.read(benchmark.write(tmp_path)) == benchmark


def test_only_a_whole_run_of_today_is_complete():
    complete = {
        (command, remark): Record("t", command, SURROUNDINGS, 1.0, 1.0, ROWS, remark=remark).complete
        for command in ("clusterkit reproduce t", "clusterkit reproduce t --quick")
        for remark in ("", "recorded earlier")
    }
    assert [where for where, is_complete in complete.items() if is_complete] == [("clusterkit reproduce t", "")]


def test_verdicts_of_a_record_follow_the_rules_of_today():
    """And the printed values; what the job itself found out stays."""
    of_the_job = ("not comparable: 100 random rows", "impossible: capped at 88.9 by the printed balance")
    old = [{**ROWS[0], "printed": 9.0, "ours": 4.0, "verdict": text} for text in ("reached", *of_the_job)]
    judged = Record("emmc-table3", "clusterkit reproduce emmc-table3", SURROUNDINGS, 1.0, 1.0, [*old, ROWS[1]]).judged()
    assert [row["verdict"] for row in judged.rows] == ["short by 0.6 points", *of_the_job, "not run"]
    assert judged.rows[0]["printed"] == 3.42


def test_surroundings_name_no_machine():
    text = repr(Surroundings.now())
    assert re.search(r"20\d\d-\d\d-\d\d", text)
    assert platform.node() not in text
    assert "/" not in Surroundings.now().processor


def test_a_record_of_a_table(tmp_path):
    rows = record("svc-table1", tmp_path, quick=True)
    read_back = Record.read(record_path(tmp_path, "svc-table1"))
    assert read_back.command == "clusterkit reproduce svc-table1 --quick"
    assert [dict(row) for row in read_back.rows] == rows
    assert read_back.cpu_seconds >= 0
    assert read_back.wall_seconds >= 0
    assert [path.name for path in tmp_path.iterdir()] == ["svc-table1.json"]


@pytest.mark.parametrize(("name", "runs", "error"), [("emmc", None, UnknownName), ("svc-table1", 0, InvalidParameter)])
def test_a_refused_table_leaves_nothing(tmp_path, name, runs, error):
    with pytest.raises(error):
        record(name, tmp_path / "records", runs=runs)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_table_goes_on(tmp_path, monkeypatch):
    calls = []
    first, second, third = (
        job(name, values, calls) for name, values in (("a", (3.0, 4.0)), ("b", press), ("c", (5.0,)))
    )
    monkeypatch.setattr(reproduction, "planned", lambda name, **plan: [first, second, third])
    with pytest.warns(ClusterkitWarning, match="1 of 3 pieces"):
        record("emmc-table3", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["emmc-table3.partial"]
    monkeypatch.setattr(reproduction, "planned", lambda name, **plan: [first, job("b", (6.0,), calls), third])
    rows = record("emmc-table3", tmp_path)
    assert calls == ["a", "b", "b", "c"]
    ours = {row["row"]: row["ours"] for row in rows if row["ours"] is not None}
    assert ours == {"EMMC: a": 3.5, "EMMC: b": 6.0, "EMMC: c": 5.0}
    assert [path.name for path in tmp_path.iterdir()] == ["emmc-table3.json"]


def test_missing_rows_are_added_to_a_record(tmp_path, monkeypatch):
    calls = []
    first, second, third = (job(name, (value,), calls) for name, value in (("a", 3.0), ("b", 5.0), ("c", 7.0)))
    monkeypatch.setattr(recording, "planned", lambda name, **plan: [first, second, third])
    old = [{**ROWS[0], "row": "EMMC: a", "ours": 4.0}, {**ROWS[0], "row": "EMMC: of no job"}, ROWS[1]]
    whole = Record("emmc-table3", "clusterkit reproduce emmc-table3", SURROUNDINGS, 12.5, 20.0, old)
    whole.write(tmp_path)
    record_missing("emmc-table3", tmp_path, rows="c")
    assert calls == ["c"]
    record_missing("emmc-table3", tmp_path)
    assert calls == ["c", "b"]
    now = Record.read(record_path(tmp_path, "emmc-table3"))
    ours = [(row["row"], row["ours"], row.get("added")) for row in now.rows if row["ours"] is not None]
    assert ours == [("EMMC: a", 4.0, None), ("EMMC: b", 5.0, 2), ("EMMC: c", 7.0, 1)]
    assert (now.surroundings, len(now.added)) == (SURROUNDINGS, 2)
    assert now.cpu_seconds >= 12.5
    assert not now.lacking([first, second, third])
    record_missing("emmc-table3", tmp_path)
    assert Record.read(record_path(tmp_path, "emmc-table3")) == now
    assert [path.name for path in tmp_path.iterdir()] == ["emmc-table3.json"]


def test_rows_that_were_not_run_are_tried_again(tmp_path, monkeypatch):
    calls = []

    def refused(step):
        calls.append("b")
        raise NotRun("too large")

    first, second = job("a", (3.0,), calls), attrs.evolve(job("b", (5.0,), calls), run=refused)
    monkeypatch.setattr(recording, "planned", lambda name, **plan: [first, second])
    barred = {**ROWS[0], "ours": None, "runs": 0}
    old = [{**barred, "row": "EMMC: a", "verdict": "not run: no time"}]
    old.append({**barred, "row": "EMMC: b", "verdict": "not run: too large"})
    Record("emmc-table3", "clusterkit reproduce emmc-table3", SURROUNDINGS, 1.0, 1.0, old).write(tmp_path)
    record_missing("emmc-table3", tmp_path)
    now = Record.read(record_path(tmp_path, "emmc-table3"))
    assert calls == ["a", "b"]
    rows = [(row["row"], row["ours"], row.get("added")) for row in now.rows if ": " in row["row"]]
    assert rows == [("EMMC: a", 3.0, 1), ("EMMC: b", None, None)]


def test_an_interrupt_leaves_the_other_rows_missing(tmp_path, monkeypatch):
    first, second, third = (job(name, values, []) for name, values in (("a", (3.0,)), ("b", press), ("c", (5.0,))))
    monkeypatch.setattr(recording, "planned", lambda name, **plan: [first, second, third])
    Record("emmc-table3", "clusterkit reproduce emmc-table3", SURROUNDINGS, 1.0, 1.0, ROWS).write(tmp_path)
    with pytest.warns(ClusterkitWarning, match="1 of 3 pieces"):
        record_missing("emmc-table3", tmp_path)
    now = Record.read(record_path(tmp_path, "emmc-table3"))
    assert now.lacking([first, second, third]) == [second, third]


@pytest.mark.parametrize(
    ("command", "message"),
    [("", "there is no record"), ("clusterkit reproduce emmc-table3 --quick", "a whole table only")],
)
def test_rows_are_added_to_whole_tables_only(tmp_path, command, message):
    if command:
        Record("emmc-table3", command, SURROUNDINGS, 1.0, 1.0, ROWS).write(tmp_path)
    with pytest.raises(InvalidData, match=message):
        record_missing("emmc-table3", tmp_path)


def test_jobs_of_another_command_are_not_mixed_in(tmp_path):
    Journal(tmp_path / "t.partial", "clusterkit reproduce t --runs 5").add("a", [])
    with pytest.raises(InvalidData, match="the jobs of another command"):
        Journal(tmp_path / "t.partial", "clusterkit reproduce t")


def test_seconds_before_an_interrupt_count(tmp_path):
    path = tmp_path / "t.partial"
    path.write_text('{"command": "c"}\n{"job": "a", "cpu_seconds": 100, "wall_seconds": 200, "rows": []}\n')
    cpu, wall = Journal(path, "c").seconds
    assert cpu >= 100
    assert wall >= 200


def test_other_warnings_pass_through():
    with pytest.warns(DeprecationWarning, match="old"), without_warnings():
        warnings.warn("old", DeprecationWarning, stacklevel=1)


VERDICTS = {
    "reached": "as printed",
    "better by 3.0 points": "better", "short by a factor of 2.0 (another machine)": "below print",
    "printed value impossible: it is at least 0.6": "beside a printed value that cannot be right",
    "not comparable: 100 random rows": "not comparable",
    "a variant of our own under that name; reached": "not comparable",
    "not run: quick leaves it out": "left out by quick",
    "not run: the paper has none either, too slow": "with dashes in print",
    "1 fewer than printed: 7 are declared, 6 occur": "with a count that differs",
    "no printed value": "without a printed value",
}  # fmt: skip


@pytest.mark.parametrize("verdict", list(VERDICTS))
def test_standings(verdict):
    assert standing(verdict) == VERDICTS[verdict]


def test_the_order_of_methods():
    """Ionosphere in print: CPMMC 75.48, EMMC 74.73, IterSVR 70.52."""

    def row(column, ours, uses_labels=False, verdict="reached"):
        where = {"row": "Ionosphere: x", "column": f"{column} Acc"}
        return {**where, "ours": ours, "uses_labels": uses_labels, "verdict": verdict}

    part = row("MMC", 90.0, verdict="not comparable: 80 random rows")
    rows = [row("CPMMC", 70.0), row("EMMC", 74.0), row("EMMC", 0.0), row("IterSVR", 90.0, True), row("IterSVR", 60.0)]
    assert printed_order("emmc-table7", [part, *rows]) == (2, 3)
    assert printed_order("no such table", rows) == (0, 0)


def test_only_values_of_one_measure_have_an_order():
    """Aggregation in print: SVC takes more seconds than SGD-LMSVC for training, and for labelling."""
    fixed = {"row": "Aggregation: x", "uses_labels": False, "verdict": "better by a factor of 2.0 (another machine)"}
    columns = ("SVC training (s)", "SGD-LMSVC training (s)", "SVC labelling (s)", "SGD-LMSVC labelling (s)")
    rows = [{**fixed, "column": column, "ours": float(i)} for i, column in enumerate(columns)]
    assert printed_order("svc-table4", rows, seconds=True)[1] == 2


def test_a_table_without_print_has_no_counts():
    assert closing_line("no such table", []) == "No printed values."
