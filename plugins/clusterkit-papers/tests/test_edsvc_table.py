"""Table 2 of ensemble-driven support vector clustering: printed numbers, planning, rows."""

from __future__ import annotations

import json
import math

import attrs
import numpy as np
import pytest
from clusterkit_papers import reproduce, tables
from clusterkit_papers.edsvc import table as edsvc_table
from clusterkit_papers.edsvc.table import DATA_SETS, EdsvcEnsembles
from clusterkit_papers.jobs import Plan
from clusterkit_papers.printed_tables import printed

from clusterkit import consensus, recipe
from clusterkit.metrics import nmi

PRINTED = """
EDSVC        0.781 0.184 0.525 0.266 0.267 0.461
COMUSA       0.580 0.080 0.219 0.128 0.150 0.122
DICLENS      0.611 0.067 0.369 0.205 0.184 0.326
COMUSACL     0.671 0.164 0.480 0.232 0.204 0.373
COMUSACL-DEW 0.703 0.134 0.494 0.212 0.264 0.344
"""
WINE = attrs.evolve(DATA_SETS[0], components=None)


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    """Scikit-learn's wine is enough, and what is missing is missing everywhere."""
    monkeypatch.delenv("CLUSTERKIT_DATA", raising=False)
    monkeypatch.delenv("CLUSTERKIT_DATA_URL", raising=False)


@pytest.fixture(scope="module")
def rows():
    """Quick, with wine in two scalings and one set that is not there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CLUSTERKIT_DATA", raising=False)
        patch.delenv("CLUSTERKIT_DATA_URL", raising=False)
        patch.setattr(edsvc_table, "DATA_SETS", (WINE, *DATA_SETS[1:]))
        return reproduce("edsvc-table2", quick=True)


def ours(rows, row):
    return {entry["column"]: entry["ours"] for entry in rows if entry["row"] == f"Wine: {row}"}


def test_as_printed():
    assert "edsvc-table2" in tables()
    cells = printed("edsvc-table2")
    lines = [line.split() for line in PRINTED.split("\n") if line]
    assert len(cells) == 30
    for column, *values in lines:
        assert [cells[data_set.name, column].value for data_set in DATA_SETS] == list(map(float, values))
    assert {cell.measure for cell in cells.values()} == {"nmi"}


def test_every_printed_value_has_jobs_in_two_scalings():
    jobs = edsvc_table.table2(Plan())
    for where in printed("edsvc-table2"):
        rows = [job.row for job in jobs if (job.printed_row, job.cells[0].column) == where]
        assert any("attributes in [0, 1]" in row for row in rows)
        assert any("z-scores" in row for row in rows)
    quick = {(job.printed_row, job.row) for job in edsvc_table.table2(Plan(quick=True))}
    assert quick < {(job.printed_row, job.row) for job in jobs}
    assert not any(job.uses_labels for job in jobs)


@pytest.mark.deep
def test_quick_rows(rows):
    json.dumps(rows, allow_nan=False)
    wine = [row for row in rows if row["row"].startswith("Wine: ")]
    assert all(row["ours"] is not None and row["runs"] == 1 for row in wine)
    assert {row["verdict"] for row in rows if row["row"] == "Semeion"} == {"not run: quick leaves it out"}
    assert all(row["verdict"].startswith("data set not found") for row in rows if row["row"].startswith("Ionosphere:"))
    variants = [row for row in wine if row["column"] in ("COMUSACL", "COMUSACL-DEW")]
    assert all(row["verdict"].startswith("a variant of our own under that name; ") for row in variants)
    for row in wine:
        if "edsvc" in row["row"]:
            assert "gamma = " in row["note"]
            assert "of every row alone 0." in row["note"]


@pytest.mark.parametrize(
    ("kind", "changes"), [("edsvc as published", {}), ("edsvc, plane", {"tuner__search": "plane"})]
)
def test_a_search_is_the_recipe_s(rows, kind, changes):
    ensembles = EdsvcEnsembles(WINE)
    X = ensembles.X("minmax")
    labels = recipe("edsvc", random_state=0, **changes).fit(X).labels_
    values = ours(rows, f"{kind}, attributes in [0, 1]")
    assert values == {"EDSVC": ensembles.judged(labels)["nmi"], "EDSVC clusters": labels.max() + 1}


def test_consensus_functions_see_the_ensemble_of_the_search(rows):
    ensembles = EdsvcEnsembles(WINE)
    X, members = ensembles.X("zscore"), ensembles.members("zscore", 0)
    choice = recipe("edsvc", random_state=0, tuner__n_gamma=3, tuner__n_bounds=2).fit(X).resolved_["tuner"]
    assert choice["members"] == tuple(len(set(member.tolist())) for member in members)
    answer = consensus.diclens(members)
    assert ours(rows, "diclens, z-scores")["DICLENS"] == ensembles.judged(answer)["nmi"]
    cspa = ours(rows, "cspa, number of classes given, z-scores")
    assert cspa["CSPA clusters"] == 3
    mean = np.mean([ensembles.judged(member)["nmi"] for member in members])
    assert ours(rows, "mean member, z-scores")["member"] == pytest.approx(mean, abs=1e-12)


def test_every_row_alone_is_the_ratio_of_entropies(rows):
    sizes = np.array([59, 71, 48]) / 178
    nmi_of_entropies = math.sqrt(-(sizes * np.log(sizes)).sum() / math.log(178))
    assert ours(rows, "every row alone") == {"EDSVC": pytest.approx(nmi_of_entropies, abs=1e-12), "EDSVC clusters": 178}


def test_scalings():
    ensembles = EdsvcEnsembles(DATA_SETS[0])
    scaled, scores, components = (ensembles.X(scaling) for scaling in DATA_SETS[0].scalings)
    assert (scaled.min(), scaled.max()) == (0, 1)
    np.testing.assert_allclose(scores.std(axis=0), 1)
    assert components.shape == (178, 2)
    variances = np.linalg.eigvalsh(np.cov(scores.T, bias=True))[::-1]
    np.testing.assert_allclose(components.var(axis=0), variances[:2], rtol=1e-9)
    assert DATA_SETS[0].describe("2 components") == "2 principal components of the z-scores"
    assert DATA_SETS[-1].describe("5 components") == "5 principal components of the attributes"


def test_the_index_is_that_of_the_paper():
    """Geometric mean of the entropies: the search agrees with its members by the same."""
    ensembles = EdsvcEnsembles(WINE)
    ensembles.X("minmax")
    labels = np.arange(178) % 5
    assert ensembles.judged(labels)["nmi"] == nmi(ensembles._y, labels, average="geometric")
    assert ensembles.judged(labels)["clusters"] == 5


@pytest.mark.filterwarnings("ignore:interrupted")
def test_an_interrupted_search_stops_the_table(monkeypatch):
    from clusterkit.samples.limits import listening

    def press(report):
        if report.stage == "edsvc" and report.iteration == 3:
            raise KeyboardInterrupt

    edsvc_table._warm_up()
    X = np.random.default_rng(0).normal(size=(40, 2))
    with listening(press), pytest.raises(KeyboardInterrupt):
        edsvc_table.timed_search(X, "edsvc", 0, tuner__n_gamma=5, tuner__n_bounds=4)
