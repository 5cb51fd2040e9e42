"""The transcribed tables are complete and consistent with each other."""

from __future__ import annotations

import importlib

import pytest
from clusterkit_papers import tables
from clusterkit_papers.emmc.data_sets import DATA_SETS
from clusterkit_papers.jobs import Plan
from clusterkit_papers.printed_tables import catalogue, printed
from clusterkit_papers.verdicts import MEASURES

EMMC = [f"emmc-table{number}" for number in range(3, 11)]
SVC = [*(f"svc-table{number}" for number in range(1, 5)), "svc-figures"]
SHAPES = {  # printed rows x columns; table 9 has the iterations of EMMC in brackets
    "emmc-table3": (3, 7),
    "emmc-table4": (6, 2),
    "emmc-table5": (6, 4),
    "emmc-table6": (7, 4),
    "emmc-table7": (7, 10),
    "emmc-table8": (4, 10),
    "emmc-table9": (11, 6),
    "emmc-table10": (11, 6),
}
NOT_OF_A_PAPER = ("emmc-auto-pairs", "claim-lmsvc", "claim-equilibria", "claim-emmc-starts", "distances")
"""Tables of our own beside those of the papers."""

TABLE10 = """
Ionosphere      75.12 0.63  73.56 0.62  74.73 0.63
Digits1-7       97.25 0.95  98.37 0.97  99.26 0.99
Digits8-9       91.36 0.86  94.62 0.91  98.36 0.97
LetterA-B       86.24 0.75  90.21 0.90  95.06 0.92
SatelliteC1-C2  95.73 0.92  97.54 0.95  97.11 0.95
Svmguide1-a     76.26 0.64  88.35 0.76  86.63 0.75
Ringnorm        -     -     94.76 0.91  98.40 0.97
Digits0689      90.26 0.90  89.61 0.87  96.25 0.97
Digits1279      93.35 0.92  90.36 0.90  96.37 0.97
LetterABCD      80.68 0.81  77.36 0.76  78.76 0.79
USPS            -     -     88.62 0.89  96.20 0.97
"""


def value(table, row, column):
    return printed(table)[row, column].value


def test_all_tables_are_there():
    more = ["emmc-figures", "emmc-distances", "emmc-auto-pairs"]  # their values are those of other tables
    assert [name for name in tables() if name.startswith(("emmc", "svc"))] == ["emmc-table2", *EMMC, *more, *SVC]


@pytest.mark.parametrize("table", EMMC)
def test_every_cell_once(table):
    cells = printed(table)
    rows, columns = ({where[axis] for where in cells} for axis in (0, 1))
    assert (len(rows), len(columns)) == SHAPES[table]
    assert len(cells) == len(rows) * len(columns)


@pytest.mark.parametrize("table", EMMC)
def test_cells_are_sane(table):
    for cell in printed(table).values():
        assert cell.measure in MEASURES
        assert (cell.value is None) == (cell.mark in ("slow", "two-class"))
        assert bool(cell.remark) == (cell.mark in ("low-ri", "contradiction"))
        if cell.value is not None:
            highest = {"rand": 1.0, "cpu": 2000.0}.get(cell.measure, 100.0)
            assert 0 < cell.value <= highest


def test_table_10_is_as_printed():
    columns = [f"{method} {index}" for method in ("NC", "LapGMM", "EMMC") for index in ("Acc", "RI")]
    lines = [line.split() for line in TABLE10.split("\n") if line]
    assert [(row, column) for row, *_ in lines for column in columns] == list(printed("emmc-table10"))
    for row, *texts in lines:
        for column, text in zip(columns, texts, strict=True):
            assert value("emmc-table10", row, column) == (None if text == "-" else float(text))


def test_table_10_repeats_tables_7_and_8():
    before = {**printed("emmc-table7"), **printed("emmc-table8")}
    for where, cell in printed("emmc-table10").items():
        if where[1].startswith("EMMC"):
            assert cell == before[where]


@pytest.mark.parametrize(("table", "classes"), [("emmc-table7", 2), ("emmc-table10", 2)])
def test_low_rand_indices_are_flagged(table, classes):
    """With two clusters and classes the mean Rand index is at least a² + (1 - a)², a the mean accuracy."""
    cells = printed(table)
    for (row, column), cell in cells.items():
        if cell.measure != "rand" or cell.value is None or DATA_SETS[row].classes != classes:
            continue
        accuracy = cells[row, column.replace("RI", "Acc")].value - 0.005  # both are rounded
        bound = (accuracy / 100) ** 2 + (1 - accuracy / 100) ** 2
        assert (cell.value + 0.005 < bound) == (cell.mark == "low-ri"), (row, column)


def test_values_that_differ_between_tables_are_flagged():
    pairs = [
        (("emmc-table5", "L = 300", "single Acc"), ("emmc-table8", "LetterABCD", "EMMC Acc")),
        (("emmc-table6", "L = 1000", "single Acc"), ("emmc-table8", "USPS", "EMMC Acc")),
        (("emmc-table5", "L = 300", "single CPU (s)"), ("emmc-table9", "LetterABCD", "EMMC CPU (s)")),
    ]
    for one, other in pairs:
        assert value(*one) != value(*other)
        for table, row, column in (one, other):
            assert printed(table)[row, column].mark == "contradiction"
    assert value("emmc-table6", "L = 1000", "single CPU (s)") == value("emmc-table9", "USPS", "EMMC CPU (s)")


def test_table_9_has_the_data_sets_of_7_and_8():
    rows = {row for table in ("emmc-table7", "emmc-table8") for row, _ in printed(table)}
    assert rows == {row for row, _ in printed("emmc-table9")}


def the_jobs(table, plan):
    module, _, function = catalogue()[table].protocol.partition(":")
    return getattr(importlib.import_module(module), function)(plan)


def planned(table, plan):
    return {(job.printed_row, cell.column) for job in the_jobs(table, plan) for cell in job.cells}


@pytest.mark.parametrize("table", [*EMMC, *SVC])
def test_every_printed_value_has_a_job(table):
    """What has none is a dash or a star."""
    without = set(printed(table)) - planned(table, Plan())
    assert all(printed(table)[where].mark in ("slow", "two-class") for where in without)


def test_no_printed_cell_has_two_rows_of_the_paper():
    for table in tables():
        jobs = the_jobs(table, Plan())
        described = [(job.printed_row, cell.column) for job in jobs if job.as_described for cell in job.cells]
        beside_print = [where for where in described if where in printed(table)]
        assert len(beside_print) == len(set(beside_print)), table
        assert described or table in NOT_OF_A_PAPER, table


@pytest.mark.parametrize("table", [*EMMC, *SVC])
def test_quick_fills_no_cell_of_its_own(table):
    assert planned(table, Plan(quick=True)) <= planned(table, Plan())
