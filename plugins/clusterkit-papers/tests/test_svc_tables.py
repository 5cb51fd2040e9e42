"""The tables of support vector clustering: planning, rows, and what one fit measures."""

from __future__ import annotations

import json
import signal
from types import SimpleNamespace

import attrs
import numpy as np
import pytest
from clusterkit_papers import reproduce, scalings
from clusterkit_papers.fits import TimedFit
from clusterkit_papers.impossible import class_sizes
from clusterkit_papers.jobs import Measurements, Plan
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.svc import figures as svc_figures
from clusterkit_papers.svc import tables as svc_tables
from clusterkit_papers.svc.data_sets import DATA_SETS, GRID, SvcDataSet, taken
from clusterkit_papers.svc.fits import METHODS, GridPoint, SvcFits, grid_points, two_step_fit
from clusterkit_papers.svc.steps import steps_for

from clusterkit import recipe
from clusterkit.errors import ClusterkitWarning
from clusterkit.metrics import adjusted_rand, nmi, rand_index
from clusterkit.samples.limits import listening

SVC, SGD, STRIP, FSVC = METHODS
PARAMETERS = {
    "svc": {"featuremap__gamma": 1.0, "tuner": None},
    "sgd-lmsvc": {"featuremap__gamma": 1.0, "solver__C": 2.0},
    "sgd-lmsvc-strip": {"featuremap__gamma": 1.0, "solver__C": 2.0},
    "fsvc": {"featuremap__gamma": 1.0, "solver__fraction": 0.5},
}


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    """Scikit-learn's iris is enough, and what is missing is missing everywhere."""
    monkeypatch.delenv("CLUSTERKIT_DATA", raising=False)
    monkeypatch.delenv("CLUSTERKIT_DATA_URL", raising=False)


@pytest.fixture(scope="module")
def iris():
    return attrs.evolve(
        next(data_set for data_set in DATA_SETS if data_set.name == "Iris"),
        scalings=("zscore",),
        gammas=(0.5, 2.0),
        sphere_C=(1.0,),
        plane_C=(0.5, 2.0),
        fractions=(0.5,),
    )


@pytest.fixture(scope="module")
def quick():
    """Rows of table 2, in which only iris can be there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CLUSTERKIT_DATA", raising=False)
        patch.delenv("CLUSTERKIT_DATA_URL", raising=False)
        return reproduce("svc-table2", quick=True)


def step(text):
    pass


def test_settings_are_the_printed_sets():
    assert {data_set.name for data_set in DATA_SETS} == set(class_sizes("svc"))
    assert len({data_set.dataset for data_set in DATA_SETS}) == 15
    assert {data_set.name for data_set in taken(Plan(quick=True))} < {data_set.name for data_set in taken(Plan())}


def test_the_grid_is_the_paper_s():
    assert GRID == (1 / 32, 1 / 8, 1 / 2, 2, 8, 32)
    flame = next(data_set for data_set in DATA_SETS if data_set.name == "Flame")
    pairs = {
        (point.scaling, parameters["featuremap__gamma"], parameters["solver__C"])
        for point in grid_points(flame, SGD)
        if (parameters := dict(point.parameters))
    }
    assert pairs == {(scaling, gamma, C) for scaling in ("raw", "zscore") for gamma in GRID for C in GRID}
    assert len(list(grid_points(flame, SVC))) == 2 * 6 * 4  # a C of 2 and more is a C of 1


@pytest.mark.parametrize("name", list(PARAMETERS))
def test_a_fit_with_the_clock_is_the_estimator_s(name):
    X = np.random.default_rng(0).normal(size=(80, 2)).repeat(2, axis=0)
    fit = two_step_fit(X, name, 3, **PARAMETERS[name])
    expected = recipe(name, random_state=3, **PARAMETERS[name]).fit(X).labels_
    np.testing.assert_array_equal(fit.labels, expected)
    assert fit.training > 0
    assert fit.labelling > 0


def test_rows_say_where_the_budget_of_work_decided():
    X = np.random.default_rng(0).normal(size=(200, 2))
    parameters = {"featuremap__gamma": 3.34, "solver__nu": 0.5, "tuner": None}
    whole = two_step_fit(X, "svc", 0, **parameters)
    short = two_step_fit(X, "svc", 0, labeler__max_work=1, **parameters)
    assert (whole.ended, short.ended) == (False, True)
    assert short.clusters > whole.clusters
    assert svc_tables._with_budget("a", [{"ended": 0.0}]) == "a"
    assert svc_tables._with_budget("a", [{"ended": 1.0}]) == (
        "a, the budget of work ended the search for components in the run"
    )


@pytest.mark.parametrize("name", list(scalings.SCALINGS))
def test_scalings(name):
    X = np.column_stack((np.arange(5.0), np.full(5, 3.0)))
    scaled = scalings.SCALINGS[name](X)
    if name == "zscore":
        np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
        assert scaled[:, 0].std() == pytest.approx(1)
    if name == "minmax":
        assert (scaled[:, 0].min(), scaled[:, 0].max()) == (0, 1)
    assert np.isfinite(scaled).all()


def test_missing_values_become_medians(monkeypatch):
    class Dataset:
        data = np.array([[1.0, np.nan], [2.0, 4.0], [3.0, 6.0], [9.0, 9.0]])
        target = np.array([0, 0, 1, 1])

    monkeypatch.setattr("clusterkit_papers.datasets.load", lambda name: Dataset)
    X, y = SvcDataSet("any", "any", rows=3).load()
    np.testing.assert_array_equal(X, [[1, 5], [2, 4], [3, 6]])
    np.testing.assert_array_equal(y, [0, 0, 1])


def test_the_best_of_the_grid_is_the_best(iris):
    grid = svc_tables.MethodGrid(Plan(quick=True), SvcFits(iris), SGD)
    [single], [both] = grid.each_index(step).runs, grid.best_sum(SvcFits.external, step).runs
    X, y = SvcFits(iris).X("zscore"), SvcFits(iris).y
    labels = []
    for gamma in (0.5, 2.0):
        for C in (0.5, 2.0):
            with pytest.warns(ClusterkitWarning) if C < 1 else _nothing():
                labels.append(recipe("sgd-lmsvc", featuremap__gamma=gamma, solver__C=C, random_state=0).fit(X).labels_)
    rand = [rand_index(y, partition) for partition in labels]
    information = [nmi(y, partition, average="arithmetic") for partition in labels]
    assert (single["rand"], single["nmi"]) == (max(rand), max(information))
    assert both["rand"] + both["nmi"] == max(r + i for r, i in zip(rand, information, strict=True))
    assert single["rand"] >= both["rand"]


class _nothing:
    def __enter__(self):
        pass

    def __exit__(self, *error):
        pass


def test_the_strip_is_another_labelling_of_the_same_contour(iris):
    """Recomputed here: rows near the contour keep their labels of all ascents, and the others follow the nearest."""
    fits = SvcFits(iris)
    point = GridPoint.of("zscore", "", {"featuremap__gamma": 0.5, "solver__C": 8.0})
    every, strip = (fits.fit(method, point, 0).labels for method in (SGD, STRIP))
    assert not np.array_equal(every, strip)
    X = fits.X("zscore")
    domain = recipe("sgd-lmsvc", random_state=0, **dict(point.parameters)).fit(X).outcome_
    near = np.abs(domain.value(X) - 1.0) <= 0.1
    assert 0 < near.sum() < len(X)
    pairs = (every[near][:, None] == every[near], strip[near][:, None] == strip[near])
    np.testing.assert_array_equal(*pairs)
    distances = ((X[:, None] - X[near]) ** 2).sum(axis=2)
    # one of the nearest rows of the strip has the label: equal rows are at the same distance
    nearest = distances <= distances.min(axis=1, keepdims=True) + 1e-12
    assert all(label in strip[near][row] for label, row in zip(strip, nearest, strict=True))


def test_a_fit_is_made_once(iris, monkeypatch):
    from clusterkit_papers.svc import fits as svc_fits

    calls = []

    def counted(*arguments, **parameters):
        calls.append(1)
        return two_step_fit(*arguments, **parameters)

    monkeypatch.setattr(svc_fits, "two_step_fit", counted)
    grid = svc_tables.MethodGrid(Plan(quick=True), SvcFits(iris), FSVC)
    grid.each_index(step)
    grid.best_sum(SvcFits.internal, step)
    assert len(calls) == len(grid.grid_points)


def test_one_cluster_has_no_separation(iris):
    """And the row says so instead of a number."""
    from clusterkit_papers.jobs import Cell, Job
    from clusterkit_papers.reproduction import run_jobs

    point = GridPoint.of("zscore", "wide", {"featuremap__gamma": 1e-3, "tuner": None})
    values = SvcFits(iris).internal(SVC, point, 0)
    assert values["clusters"] == 1
    assert np.isnan(values["davies_bouldin"])
    cells = (Cell("SVC compactness", "compactness"), Cell("SVC DB", "davies_bouldin"))
    rows = run_jobs("svc-table3", [Job("Iris", "Iris: svc", cells, lambda step: Measurements([values]), 1)])
    by_column = {row["column"]: row for row in rows if row["row"] == "Iris: svc"}
    assert by_column["SVC DB"]["ours"] is None
    assert by_column["SVC DB"]["verdict"] == "not defined for the labels found"
    assert by_column["SVC compactness"]["ours"] == pytest.approx(values["compactness"])


def test_quick_rows(quick):
    json.dumps(quick, allow_nan=False)
    ours = [row for row in quick if row["ours"] is not None]
    assert {row["row"].partition(":")[0] for row in ours} == {"Iris"}
    assert {row["uses_labels"] for row in ours if "of the grid" in row["row"]} == {True}
    assert {row["uses_labels"] for row in ours if "of the grid" not in row["row"]} == {False}
    for row in ours:
        assert "z-scores" in row["note"]
        assert "outliers" in row["note"]
        if row["printed"] is not None and "of the grid" in row["row"]:
            assert row["verdict"] == "not comparable: quick takes a part"
    for method in METHODS:
        columns = {row["column"] for row in ours if row["row"] == f"Iris: {method.recipe}"}
        indices = ("purity, formula as printed", "purity", "Rand", "NMI", "clusters")
        assert {f"{method.name} {index}" for index in indices} <= columns
    usual = [row for row in ours if row["column"].endswith(" purity")]
    assert usual
    assert {row["verdict"] for row in usual} == {"no printed value"}


def test_no_impossible_value_is_called_missed(quick):
    flame = [row for row in quick if row["row"].startswith("Flame:") and row["column"] == "FSVC Rand"]
    assert flame
    assert all(row["ours"] is None and row["verdict"].startswith("data set not found") for row in flame)
    impossible = {where for where, cell in printed("svc-table2").items() if cell.mark == "impossible"}
    left_out = {(row["row"], row["column"]): row["verdict"] for row in quick if row["row"] in class_sizes("svc")}
    assert {left_out[where] for where in impossible if where in left_out} == {"not run: quick leaves it out"}


def test_without_labels_is_the_recipe_as_it_stands(iris, quick):
    labels = recipe("svc", random_state=0).fit(SvcFits(iris).X("zscore")).labels_
    y = SvcFits(iris).y
    ours = {row["column"]: row["ours"] for row in quick if row["row"] == "Iris: svc"}
    assert ours["SVC Rand"] == rand_index(y, labels)
    assert ours["SVC NMI"] == nmi(y, labels, average="arithmetic")


def test_table1_knows_the_sizes():
    rows = [row for row in reproduce("svc-table1", quick=True) if row["runs"]]
    assert {row["row"] for row in rows} == {"Iris: data set iris"}
    assert {row["column"]: row["ours"] for row in rows} == {"N": 150, "d": 4, "classes": 3}
    assert {row["verdict"] for row in rows} == {"the same"}


def test_table4_quick_measures_both_steps():
    rows = [row for row in reproduce("svc-table4", quick=True) if row["runs"]]
    json.dumps(rows, allow_nan=False)
    recipes = ("svc", "sgd-lmsvc", "fsvc", "sgd-lmsvc-strip")
    assert {row["row"] for row in rows} == {f"Iris: {recipe}, one width" for recipe in recipes}
    seconds = [row for row in rows if row["column"].endswith("(s)")]
    assert all(row["ours"] > 0 and row["seconds"] > 0 and "not comparable" in row["verdict"] for row in seconds)
    assert not any(row["uses_labels"] for row in rows)


def test_an_interrupt_inside_a_fit_stops_the_table():
    def press(report):
        if report.stage == "lmsvc":
            signal.raise_signal(signal.SIGINT)

    point = {"featuremap__gamma": 1.0, "solver__t_min": 5000}
    X = np.random.default_rng(0).normal(size=(60, 2))
    two_step_fit(X, "sgd-lmsvc", 0, **point)
    with listening(press), pytest.raises(KeyboardInterrupt):
        two_step_fit(X, "sgd-lmsvc", 0, **point)


@pytest.mark.parametrize("shape", svc_figures.SHAPES, ids=lambda shape: shape.name)
def test_shapes(shape):
    X, y = shape.draw(1)
    assert X.shape == (len(y), 2)
    assert len(np.unique(y)) == shape.clusters
    np.testing.assert_array_equal(X, shape.draw(1)[0])
    assert not np.array_equal(X, shape.draw(2)[0])
    labels = svc_figures._timed(X, 1, "sgd-lmsvc", shape.exact).fitted.labels_
    assert adjusted_rand(y, labels) > 0.9


def test_figures_plan_and_rows(monkeypatch):
    """The moons alone, with a grid of two."""
    monkeypatch.setattr(svc_figures, "SHAPES", svc_figures.SHAPES[1:2])
    monkeypatch.setattr(svc_figures, "GRID", (2.0, 8.0, 8.0, 32.0))
    jobs = [job for job in svc_figures.figures(Plan(quick=True)) if not job.row.endswith(": svc")]
    values_of = {job.row.partition(": ")[2]: job.run(step).runs[0] for job in jobs}
    assert set(values_of) == {
        "cmeans, k given",
        "fuzzy-cmeans, k given",
        *(
            f"{name}, {what}"
            for name in svc_figures.LARGE_MARGIN
            for what in ("constants as printed", "other constants")
        ),
    }
    assert values_of["sgd-lmsvc, other constants"]["ari"] > values_of["cmeans, k given"]["ari"]
    assert all(values["exact"] == (values["ari"] == 1) for values in values_of.values())
    by_labels = {job.row.partition(": ")[2] for job in jobs if job.uses_labels}
    assert by_labels == {what for what in values_of if "constants" in what}


def test_the_picture(tmp_path, monkeypatch):
    """Each method has its panel; here all cut the data in two halves, for speed."""
    names = []

    def halves(X, seed, name, parameters):
        names.append(name)
        return TimedFit(SimpleNamespace(labels_=(X[:, 0] > X[:, 0].mean()).astype(int)), 0.0, 0.0)

    monkeypatch.setattr(svc_figures, "_timed", halves)
    axes = svc_figures.draw(str(tmp_path / "figures.png"))
    assert axes.shape == (3, 5)
    assert names == ["cmeans", "fuzzy-cmeans", "sgd-lmsvc", "sgd-lmsvc", "svc"] * 3
    assert (tmp_path / "figures.png").stat().st_size > 10_000
    assert axes[1, 0].get_title().startswith("C-means, k given\n2 clusters, ARI 0.")


@pytest.mark.parametrize(
    ("precision", "failure", "C", "radius"), [(1.0, 0.05, 8.0, 1.0), (0.3, 0.5, 1.0, 2.0), (99, 0.9, 1.0, 1.0)]
)
def test_the_steps_of_theorem_2_are_the_fewest_that_keep_the_bound(precision, failure, C, radius):
    steps = np.arange(1, 100_000)
    enough = 2 * radius**2 * C**2 * (1 + np.log(steps)) / (failure * steps) <= precision
    assert steps_for(precision, failure, C, radius) == steps[enough][0]


def test_steps_for_no_probability_are_refused():
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1\.5"):
        steps_for(1.0, 1.5, 8.0)
