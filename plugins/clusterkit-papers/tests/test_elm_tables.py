"""The tables and the figure of clustering in ELM feature space: printed numbers, planning, runs."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import attrs
import numpy as np
import pytest
from clusterkit_papers import reproduce
from clusterkit_papers.elm import data_sets as elm_data_sets
from clusterkit_papers.elm import figures as elm_figures
from clusterkit_papers.elm import tables as elm_tables
from clusterkit_papers.elm.data_sets import DATA_SETS, ElmDataSet, Samples
from clusterkit_papers.elm.runs import ONE_START, ElmMethod, ElmRuns
from clusterkit_papers.jobs import Plan
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.reproduction import run_jobs

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.errors import ClusterkitWarning
from clusterkit.metrics import nmi, purity

PRINTED = {  # k: purity of plain, kernel, ELM; NMI of the same
    2: """2 91.5 68.5 100.0 0.776 0.276 1.000; 3 96.6 79.4 100.0 0.942 0.729 1.000; 4 93.6 67.8 100.0 0.907 0.756 1.000;
       5 71.0 64.7 93.3 0.834 0.755 0.886; 6 64.3 65.4 88.4 0.769 0.738 0.833""",
    3: """3 64.5 52.7 65.3 0.481 0.254 0.500; 5 65.6 57.8 69.8 0.583 0.497 0.626; 7 52.9 50.8 55.0 0.496 0.490 0.535;
       9 52.9 49.1 54.1 0.523 0.510 0.558; 11 49.1 45.0 50.7 0.575 0.542 0.599; 13 45.1 44.4 47.2 0.589 0.565 0.614;
       15 44.5 43.6 45.6 0.595 0.573 0.605""",
    4: """10 89.0 70.4 93.3 0.916 0.838 0.935; 15 85.8 70.6 87.7 0.920 0.857 0.923; 20 85.0 72.1 85.1 0.922 0.877 0.923;
       22 81.8 69.0 83.1 0.910 0.863 0.916; 24 83.8 69.9 83.2 0.915 0.868 0.914; 26 82.4 69.1 82.9 0.915 0.870 0.916;
       28 82.7 68.8 83.0 0.913 0.861 0.914; 30 82.2 73.6 82.4 0.907 0.877 0.911""",
    5: """2 73.6 88.9 100.0 0.326 0.618 1.000; 3 72.2 66.1 100.0 0.780 0.708 1.000; 4 66.2 77.1 100.0 0.799 0.782 1.000;
       5 68.8 69.3 90.5 0.799 0.753 0.886; 6 55.3 63.8 83.5 0.702 0.691 0.835""",
    6: """3 56.7 57.3 64.4 0.255 0.368 0.440; 5 63.6 67.4 64.6 0.598 0.589 0.579; 7 61.4 60.1 59.9 0.607 0.588 0.596;
       9 56.9 60.2 58.4 0.576 0.597 0.610; 11 51.8 52.5 52.6 0.598 0.618 0.625; 13 48.9 48.3 49.1 0.596 0.612 0.624;
       15 47.4 46.1 48.7 0.596 0.608 0.628""",
    7: """10 89.3 87.7 94.5 0.906 0.918 0.905; 15 85.3 83.3 91.0 0.896 0.907 0.908; 20 84.2 82.5 88.9 0.903 0.911 0.918;
       22 83.0 83.2 86.9 0.898 0.909 0.911; 24 81.0 81.0 87.3 0.893 0.903 0.904; 26 77.9 80.2 84.0 0.879 0.898 0.899;
       28 78.3 80.7 84.1 0.878 0.900 0.892; 30 78.0 80.5 83.0 0.877 0.896 0.885""",
}
TABLES = {number: getattr(elm_tables, f"table{number}") for number in range(2, 8)}
TINY = ElmDataSet("Tiny", "none", (2, 3), 2, 20, 1.0, 1.0, "minmax", runs=2)


@pytest.fixture
def tiny(monkeypatch):
    """Three groups of twelve points in the unit square."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]], 12, axis=0) + 0.03 * rng.random((36, 2))
    y = np.repeat([7, 3, 5], 12)

    def load(self, k):
        rows = elm_data_sets._first(y, k)
        return Samples(X[rows], X[rows], y[rows])

    monkeypatch.setattr(ElmDataSet, "load", load)
    return TINY


@pytest.mark.parametrize("number", PRINTED)
def test_printed_values(number):
    plain = "k-means" if number < 5 else "NMF"
    columns = [f"{family} {what}" for what in ("purity (%)", "NMI") for family in (plain, "kernel", "ELM")]
    expected = {}
    for line in PRINTED[number].split(";"):
        k, *values = line.split()
        expected |= {(f"k = {k}", column): float(value) for column, value in zip(columns, values, strict=True)}
    assert {where: cell.value for where, cell in printed(f"elm-table{number}").items()} == expected


@pytest.mark.parametrize("number", TABLES)
def test_every_printed_cell_is_planned(number):
    table = TABLES[number]
    planned = {(job.printed_row, cell.column) for job in table(Plan()) for cell in job.cells}
    assert planned == set(printed(f"elm-table{number}"))
    quick = {(job.printed_row, cell.column) for job in table(Plan(quick=True)) for cell in job.cells}
    assert quick < planned
    assert {job.units for job in table(Plan()) if number < 7 or "d²" not in job.row} == {20}


def test_parameters_are_the_printed_ones():
    parameters = {s.name: (s.nodes, s.nodes, s.kmeans_sigma, s.nmf_sigma) for s in DATA_SETS.values()}
    assert parameters == {
        "Synthetic Control": (1000, 1000, 0.5, 1),
        "Libras Movement": (1000, 1000, 8, 0.25),
        "TDT2": (2000, 2000, 4, 1),
    }


def test_the_sweeps_are_the_printed_ones():
    assert len(elm_figures.NODE_SWEEP) == 29
    assert elm_figures.NODE_SWEEP[:11] == (10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200)
    assert elm_figures.NODE_SWEEP[-1] == 2000
    assert len(elm_figures.SIGMA_SWEEP) == 19
    assert (elm_figures.SIGMA_SWEEP[0], elm_figures.SIGMA_SWEEP[-1]) == (2**-10, 2**8)


def test_first_categories_of_the_file_at_most_100_samples_each():
    y = np.repeat([9, 2, 4], [150, 30, 10])
    rows = elm_data_sets._first(y, 2)
    assert np.unique(y[rows], return_counts=True)[1].tolist() == [30, 100]
    assert set(y[rows]) == {9, 2}
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(rows, elm_data_sets._first(y, 2))
    assert len(np.setdiff1d(rows[rows < 150], np.arange(100))) > 0  # random, not the first


def test_ridge_nodes():
    X = np.random.default_rng(1).normal(size=(30, 4))
    data_set = attrs.evolve(DATA_SETS["libras"], nodes=50)
    model = recipe("elm-kmeans", n_clusters=2, **ElmMethod("elm-kmeans", 50, "ridge").parameters(data_set))
    rng = np.random.default_rng(2)
    A, b = rng.uniform(-1, 1, (50, 4)), rng.uniform(0, 1, 50)
    space = model.composition().featuremap.space_of(X, Task(len(X), None), np.random.default_rng(2))
    np.testing.assert_allclose(space.rows(), np.exp(-((X @ A.T + b) ** 2)), rtol=1e-12)


def test_the_kernel_with_a_factor():
    X = np.random.default_rng(1).normal(size=(30, 4))
    method = ElmMethod("kernel-nmf", sigma=0.7, factor=True)
    featuremap = recipe("kernel-nmf", n_clusters=2, **method.parameters(DATA_SETS["libras"])).composition().featuremap
    K = featuremap.space_of(X, Task(len(X), None), np.random.default_rng(2)).apply(np.eye(len(X)))
    np.testing.assert_allclose(K, np.exp(-0.7 * ((X[:, None] - X) ** 2).sum(axis=2)), rtol=1e-9)


@pytest.mark.parametrize(
    "method",
    [
        ElmMethod("kmeans"),
        ElmMethod("kernel-kmeans", sigma=0.7),
        ElmMethod("elm-kmeans", 15),
        ElmMethod("elm-kmeans", 15, "ridge"),
        ElmMethod("nmf"),
        ElmMethod("kernel-nmf", sigma=0.7),
        ElmMethod("kernel-nmf", sigma=0.7, factor=True),
        ElmMethod("elm-nmf", 15),
    ],
)
def test_runs_are_those_of_the_recipe(tiny, method):
    """Also where the kernel matrix of the run before is used again."""
    runs = ElmRuns(tiny).runs(method, 3, (4, 5))
    samples = tiny.load(3)
    for seed, values in zip((4, 5), runs, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)
            model = recipe(method.recipe, n_clusters=3, random_state=seed, **method.parameters(tiny))
            labels = model.fit(samples.dense).labels_
        assert values["purity_percent"] == 100 * purity(samples.y, labels)
        assert values["nmi"] == nmi(samples.y, labels, average="arithmetic")
    parameters = method.parameters(tiny)
    if method.recipe.endswith("kmeans"):
        assert parameters.items() >= ONE_START.items()


@pytest.mark.parametrize(("number", "methods"), [(2, 4), (5, 5)])
def test_a_tiny_table(tiny, number, methods):
    texts = []
    rows = run_jobs(
        f"elm-table{number}",
        elm_tables.jobs_of(Plan(), number, "control", tiny),
        progress=lambda done, total, text: texts.append((done, total)),
    )
    json.dumps(rows, allow_nan=False)
    units = 2 * methods * 2  # k, methods, runs
    assert texts == [(done, units) for done in range(1, units + 1)]
    ours = [row for row in rows if row["runs"]]
    assert len(ours) == units
    assert all(row["runs"] == 2 and not row["uses_labels"] for row in ours)
    plain = next(row for row in ours if row["row"] == f"k = 2: {'kmeans' if number == 2 else 'nmf'}")
    assert not plain["verdict"].startswith("not comparable")
    kernel = [row for row in ours if row["column"].startswith("kernel") and row["row"].startswith("k = 2")]
    # two groups far apart are found, printed are 91.5 and 73.6: that says nothing about the other columns
    assert all(row["verdict"].startswith("not comparable (") for row in kernel)


def test_a_row_is_comparable_where_the_plain_method_is_that_of_the_paper():
    def doubt(purities, information):
        runs = [{"purity_percent": p, "nmi": i} for p, i in zip(purities, information, strict=True)]
        return elm_tables.baseline_doubt("elm-table2", "k = 2", "k-means", runs)

    assert doubt([90.0, 95.0], [0.78, 0.79]) == ""
    assert doubt([96.6], [0.78]) == "not comparable (k-means purity (%) 96.6, printed 91.5)"
    assert doubt([91.0], [0.72]) == "not comparable (k-means NMI 0.720, printed 0.776)"


@pytest.mark.deep
def test_figure_rows_and_picture(tiny, tmp_path):
    pytest.importorskip("matplotlib")
    data_set = attrs.evolve(tiny, name="Libras Movement")
    jobs = elm_figures.figures(Plan(quick=True), [data_set])
    rows = run_jobs("elm-figures", jobs)
    assert len(rows) == 6 * 3 * 2
    assert {row["verdict"] for row in rows} == {"no printed value"}
    path = tmp_path / "figure.png"
    axes = elm_figures.draw(str(path), rows)
    assert path.stat().st_size > 0
    assert axes.shape == (4, 3)
    ours = {row["row"]: row["ours"] for row in rows if row["column"] == "NMI"}
    curve = next(line for line in axes[1, 1].lines if line.get_label() == "elm-nmf, ridge nodes")
    assert curve.get_xdata().tolist() == [10, 100, 1000]
    expected = [ours[f"Libras Movement: L = {L}, elm-nmf, ridge nodes"] for L in (10, 100, 1000)]
    assert curve.get_ydata().tolist() == expected
    assert not axes[0, 0].lines
    assert len(axes[0, 1].lines) == 4
    assert len(axes[2, 1].lines) == 2


def test_missing_data_are_rows(monkeypatch):
    monkeypatch.delenv("CLUSTERKIT_DATA", raising=False)
    monkeypatch.delenv("CLUSTERKIT_DATA_URL", raising=False)
    rows = reproduce("elm-table3", quick=True)
    assert any(row["verdict"].startswith("data set not found") for row in rows)
    assert all(row["ours"] is None for row in rows)


@pytest.mark.skipif(
    not (Path(os.environ.get("CLUSTERKIT_DATA", "")) / "manifest.csv").is_file() or "CLUSTERKIT_DATA" not in os.environ,
    reason="needs the data folder ($CLUSTERKIT_DATA)",
)
def test_quick_on_the_data():
    rows = [row for row in reproduce("elm-table6", quick=True) if row["runs"]]
    assert len(rows) == 20
    plain = {row["column"]: row["ours"] - row["printed"] for row in rows if row["row"] == "k = 15: nmf"}
    # Libras repeats 30 of its rows.  Since equal rows share one label, NMF is 7.3 points of purity above the paper's
    # figure (2.3 before) and 0.014 of NMI (0.033 below before).
    assert abs(plain["NMF purity (%)"]) < 8
    assert abs(plain["NMF NMI"]) < 0.03
