"""The transcribed tables are complete and consistent with each other."""

from __future__ import annotations

import pytest

from clusterkit.papers import tables
from clusterkit.papers.printed_tables import catalogue, printed
from clusterkit.papers.verdicts import MEASURES

EMMC = [f"emmc-table{number}" for number in range(3, 10)]
SVC = [*(f"svc-table{number}" for number in range(1, 5)), "svc-figures"]
SHAPES = {  # printed rows x columns; table 9 has the iterations of EMMC in brackets
    "emmc-table3": (3, 7),
    "emmc-table4": (6, 2),
    "emmc-table5": (6, 4),
    "emmc-table6": (7, 4),
    "emmc-table7": (7, 10),
    "emmc-table8": (4, 10),
    "emmc-table9": (11, 6),
}


def value(table, row, column):
    return printed(table)[row, column].value


def test_all_tables_are_there():
    assert [name for name in tables() if name.startswith(("emmc", "svc"))] == EMMC + SVC


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


def test_low_rand_indices_are_flagged():
    """With two clusters and classes the mean Rand index is at least a² + (1 - a)², a the mean accuracy."""
    cells = printed("emmc-table7")
    for (row, column), cell in cells.items():
        if cell.measure != "rand" or cell.value is None:
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


def test_every_protocol_plans_what_it_should():
    """EMMC's own columns, all of its tables 4 to 6, and all of the tables of support vector clustering."""
    import importlib

    from clusterkit.papers.jobs import Plan

    for name, entry in catalogue().items():
        module, _, function = entry.protocol.partition(":")
        jobs = getattr(importlib.import_module(module), function)(Plan())
        planned = {(job.of, cell.column) for job in jobs for cell in job.cells}
        wanted = {
            where
            for where in printed(name)
            if name in ("emmc-table4", "emmc-table5", "emmc-table6", *SVC) or "EMMC" in where[0] or "EMMC" in where[1]
        }
        assert wanted <= planned, name
