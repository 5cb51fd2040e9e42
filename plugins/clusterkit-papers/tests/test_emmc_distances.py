"""The distances of EMMC to print: readings that differ in one thing, and two uses of the known classes."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from clusterkit_papers.emmc import distances as emmc_distances
from clusterkit_papers.emmc.data_sets import DATA_SETS
from clusterkit_papers.emmc.distances import NODES, SCALES, VARIANTS, DistantSet, distances
from clusterkit_papers.jobs import Plan
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.reproduction import run_jobs

from clusterkit_campaign.oracles import ridge as oracle

FEW = attrs.evolve(DATA_SETS["Digits1279"], n_hidden=40)


@pytest.fixture
def few():
    """Every fifth row of the four digits, and forty nodes."""
    X, y = FEW.load()
    fits = DistantSet(FEW)
    fits._samples |= {"as they are": X[::5], "classes": y[::5]}
    return fits


def test_every_printed_cell_has_a_row_and_a_conclusion():
    jobs = distances(Plan())
    for name, column in printed("emmc-distances"):
        rows = [job for job in jobs if job.printed_row == name and job.cells[0].column == column]
        assert len(rows) == len(VARIANTS) + 3 + len(NODES) * len(SCALES)
        assert [job.row for job in rows if job.as_described] == [f"{name}: emmc-paper"]
        assert {job.uses_labels for job in rows if "classes" in job.row or "best run" in job.row} == {True}


@pytest.mark.parametrize("scale", SCALES)
def test_a_regression_on_the_classes_is_the_plain_one(few, scale):
    X, y = few.X(scale), few.y
    rng = np.random.default_rng(3)
    A, b = rng.uniform(-1.0, 1.0, size=(40, X.shape[1])), rng.uniform(0.0, 1.0, size=40)
    H = oracle.hidden(X, "radbas", A, b)
    for outputs, coding in (("single", "nearest"), ("multi", "one output each")):
        F = H @ oracle.primal(H, oracle.targets(y, 4, coding), 500.0)
        expected = 100.0 * np.mean(oracle.decide(F, 4, coding)[0] == y)
        assert few.regression("radial basis nodes", scale, outputs, 3)["accuracy"] == pytest.approx(expected)


def test_scalings_are_what_they_are_called(few):
    assert (few.X("attributes in [-1, 1]").min(), few.X("attributes in [-1, 1]").max()) == (-1.0, 1.0)
    assert (few.X("attributes in [0, 1]").min(), few.X("attributes in [0, 1]").max()) == (0.0, 1.0)
    np.testing.assert_allclose(np.linalg.norm(few.X("rows of length 1"), axis=1), 1.0)


def test_conclusions_are_those_of_the_rows(monkeypatch, few):
    monkeypatch.setattr(emmc_distances, "DistantSet", lambda data_set: few)
    jobs = distances(Plan(quick=True))
    rows = {row["row"]: row for row in run_jobs("emmc-distances", jobs) if row["row"].startswith("Digits1279: ")}
    ours = {name.partition(": ")[2]: row["ours"] for name, row in rows.items()}
    best, stays, trained = (
        row["ours"]
        for column in ("best without labels", "from the classes", "best regression on the classes")
        for row in run_jobs("emmc-distances", jobs[-1:])
        if row["column"] == f"single: {column}"
    )
    assert best == max(ours[name] for name in VARIANTS)
    assert stays == ours["emmc-paper from the classes"]
    assert trained == max(value for name, value in ours.items() if name.startswith("regression"))
    note = rows["Digits1279: what the rows show, single"]["note"]
    assert note.startswith("96.4 in print is ")
    assert f"{trained:.1f}" in note or f"{best:.1f}" in note
