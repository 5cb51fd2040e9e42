"""How a table stands: methods with the paper's own row and the best of ours, kinds of counts, fillers."""

from __future__ import annotations

import attrs
import pytest
from clusterkit_papers.jobs import Cell, Job, Measurements
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.reproduction import run_jobs
from clusterkit_papers.summary import closing_line, methods, standing, tally
from clusterkit_papers.verdicts import FILLER, verdict, with_fillers


def row(name, column, ours, table="edsvc-table2", **more):
    """A row of ours, judged beside its printed value."""
    cell = printed(table).get((name.partition(":")[0], column))
    text = "no printed value" if cell is None else verdict(cell.measure, cell, ours)
    fixed = {"uses_labels": False, "as_described": False, "verdict": text}
    return {"table": table, "row": name, "column": column, "ours": ours, **fixed, **more}


def searches(clusters, nmi=0.3):
    """EDSVC on Yeast, 1,484 rows, printed 0.267, with a number of clusters."""
    return [row("Yeast: a search", "EDSVC", nmi), row("Yeast: a search", "EDSVC clusters", float(clusters))]


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        (1, "filler, one cluster: better by 0.03"),
        (2, "better by 0.03"),
        (742, "better by 0.03"),
        (743, "filler, 743 clusters for 1,484 rows: better by 0.03"),
    ],
)
def test_a_cluster_for_nearly_every_row_and_a_single_one_are_fillers(clusters, words):
    judged = with_fillers("edsvc-table2", searches(clusters), [])
    assert [one["verdict"] for one in judged] == [words, "no printed value"]
    assert standing(judged[0]["verdict"]) == ("of fillers" if words.startswith(FILLER) else "better")


def test_an_index_whose_note_has_a_single_cluster_is_a_filler():
    notes = "the best; Rand: raw, C = 1 (3 clusters); NMI: raw, C = 2 (1 clusters)"
    rows = [
        row("Jain: svc", f"SVC {index}", ours, "svc-table2", note=notes)
        for index, ours in (("Rand", 0.7), ("NMI", 0.6))
    ]
    assert [one["verdict"] for one in with_fillers("svc-table2", rows, [])] == [
        "reached",
        "filler, one cluster: better by 0.07",
    ]


def test_times_are_of_fillers_too():
    rows = [
        row("Iris: svc", "SVC training (s)", 0.001, "svc-table4"),
        row("Iris: svc", "SVC clusters", 1.0, "svc-table4"),
    ]
    assert standing(with_fillers("svc-table4", rows, [])[0]["verdict"]) == "better"


def test_the_clusters_of_another_method_make_no_filler():
    rows = [row("Yeast: a search", "EDSVC", 0.3), row("Yeast: another", "EDSVC clusters", 1484.0)]
    assert with_fillers("edsvc-table2", rows, [])[0]["verdict"] == "better by 0.03"


def test_a_row_that_is_no_method_says_so_when_it_runs():
    job = Job(
        "Yeast",
        "Yeast: every row alone",
        (Cell("EDSVC", "nmi"),),
        lambda step: Measurements([{"nmi": 0.327, "seconds": 0.0}]),
        1,
        filler=True,
    )
    mine = next(one for one in run_jobs("edsvc-table2", [job]) if one["ours"] is not None)
    assert mine["verdict"] == "filler, no method: better by 0.06"


def test_a_value_in_doubt_stays_what_it_is():
    rows = [row("Yeast: a search", "EDSVC", 0.9, verdict="not comparable: 100 random rows"), searches(1484)[1]]
    assert with_fillers("edsvc-table2", rows, [])[0]["verdict"] == "not comparable: 100 random rows"


def test_quality_seconds_labels_and_fillers_are_counted_apart():
    table = "emmc-table5"
    rows = [
        row("L = 100: ours", "single Acc", 45.0, table),
        row("L = 100: theirs", "single Acc", 45.0, table, uses_labels=True),
        row("L = 100: ours", "single CPU (s)", 0.001, table),
        row("L = 150: ours", "single Acc", 99.0, table, verdict="filler, no method: better by 40.0 points"),
        row("L = 100: ours", "nodes", 3.0, table),
    ]
    counts = tally(table, rows)
    assert counts["quality without labels"] == {"better": 1, "of fillers": 1}
    assert counts["quality with labels"] == {"better": 1}
    assert counts["seconds"] == {"better": 1}
    assert not counts["counts of the data"]
    line = "Quality without labels: 1 better, 1 of fillers. Quality with labels: 1 better. Seconds: 1 beside print."
    assert closing_line(table, rows) == line


def test_a_method_has_the_paper_s_row_and_one_row_of_ours():
    """The best of ours is one row for the whole table, not another one on each data set."""
    rows = [
        row("Wine: as published", "EDSVC", 0.781, as_described=True),
        row("Ionosphere: as published", "EDSVC", 0.10, as_described=True),
        row("Yeast: as published", "EDSVC", 0.9, as_described=True, verdict="filler, no method: better by 0.03"),
        row("Wine: plane", "EDSVC", 0.80),
        row("Ionosphere: plane", "EDSVC", 0.15),
        row("Wine: other", "EDSVC", 0.1),
        row("Ionosphere: other", "EDSVC", 0.2),
        row("Yeast: other", "EDSVC", 0.3),
        row("Wine: chosen", "EDSVC", 0.99, uses_labels=True),
    ]
    by_name = {one.method: one for one in methods("edsvc-table2", rows)}
    one = by_name["EDSVC"]
    assert (one.described_row, one.described_reached, one.described_lines, one.fillers) == ("as published", 1, 3, 1)
    assert (one.best_row, one.best_reached, one.best_lines) == ("other", 2, 3)
    assert one.short == ()
    assert one.in_means == ("Wine", "Ionosphere"), "none with a filler"
    assert one.printed == pytest.approx((0.781 + 0.184) / 2)
    assert one.best == pytest.approx((0.1 + 0.2) / 2)
    assert by_name["COMUSA"].word == "no value"


def test_where_neither_row_reaches_print_is_named_with_the_least_distance():
    rows = [
        row("Wine: as published", "EDSVC", 0.581, as_described=True),
        row("Wine: plane", "EDSVC", 0.681),
        row("Ionosphere: as published", "EDSVC", 0.1, as_described=True),
        row("Ionosphere: plane", "EDSVC", 0.184),
    ]
    [one] = [one for one in methods("edsvc-table2", rows) if one.method == "EDSVC"]
    assert [(line, round(by, 3)) for line, by in one.short] == [("Wine", 0.1)]
    assert one.word == "not reached"


def test_printed_values_that_cannot_be_right_are_left_out():
    table = "svc-table2"
    cells = [cell for cell in printed(table).values() if cell.column.startswith("SVC ")]
    [one] = [one for one in methods(table, []) if one.method == "SVC"]
    assert one.lines == sum(not cell.mark for cell in cells)
    assert one.wrong == sum(cell.mark != "" for cell in cells) > 0


def test_each_index_of_a_method_is_counted():
    table = "emmc-table7"
    rows = [
        row("Ionosphere: paper", "EMMC Acc", 75.0, table, as_described=True),
        row("Ionosphere: paper", "EMMC RI", 0.5, table, as_described=True),
        row("Digits1-7: paper", "EMMC Acc", 50.0, table, as_described=True),
    ]
    [one] = [one for one in methods(table, rows) if one.method == "EMMC"]
    assert one.described_by_index == (("accuracy", 1, 7), ("rand", 0, 6)), "one printed Rand index cannot be right"
    assert (one.described_lines, one.lines) == (3, 13)


@pytest.mark.parametrize(
    ("reached", "word"), [(6, "reached"), (5, "mostly reached"), (2, "partly reached"), (1, "not reached")]
)
def test_the_verdict_is_of_all_printed_values_that_can_be_right(reached, word):
    """A line without a value of ours counts as one that is not reached."""
    cells = [cell for cell in printed("edsvc-table2").values() if cell.column == "EDSVC"][:reached]
    rows = [row(f"{cell.row}: as published", "EDSVC", cell.value, as_described=True) for cell in cells]
    [one] = [one for one in methods("edsvc-table2", rows) if one.method == "EDSVC"]
    assert one.word == word


def test_what_is_far_better_than_print_is_counted_apart():
    rows = [
        row("Wine: as published", "EDSVC", 0.781, as_described=True),
        *(row(f"{name}: as published", "EDSVC", 0.99, as_described=True) for name in ("Ionosphere", "Yeast")),
    ]
    [one] = [one for one in methods("edsvc-table2", rows) if one.method == "EDSVC"]
    assert (one.described_reached, one.described_apart, one.in_means, one.short) == (1, 2, ("Wine",), ())
    [all_of_it] = [one for one in methods("edsvc-table2", rows[1:]) if one.method == "EDSVC"]
    assert (one.means_apart, all_of_it.means_apart, all_of_it.described) == (False, True, 0.99)
    assert attrs.evolve(one, described_apart=4).word == "another experiment"
    assert closing_line("edsvc-table2", rows).startswith(
        "Quality without labels: 1 as printed, 2 of another experiment."
    )


def test_methods_that_are_rows():
    assert [one.method for one in methods("emmc-table3", [])] == ["IterSVM", "IterSVR", "EMMC"]
    assert methods("emmc-table9", []) == [], "seconds are no quality"
    assert methods("no such table", []) == []
