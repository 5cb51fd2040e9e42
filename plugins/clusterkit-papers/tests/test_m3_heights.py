"""Figures 3 and 6 of the min-max modular machine: products, times, comparisons, pictures."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest
from clusterkit_papers.jobs import Plan
from clusterkit_papers.min_max import heights, times
from clusterkit_papers.min_max.heights import HeightRuns, figure3
from clusterkit_papers.min_max.problems import PROBLEMS, table1
from clusterkit_papers.reproduction import run_jobs

from clusterkit.families.equal.drift import DriftRule, find_parts


class Clouds:
    """Two classes of very uneven density in two columns."""

    def __init__(self):
        rng = np.random.default_rng(3)
        self.data = np.exp(rng.normal(size=(1200, 2)))
        self.target = np.where(self.data[:, 0] > np.median(self.data[:, 0]), 1, -1)


@pytest.fixture
def clouds(monkeypatch):
    monkeypatch.setattr("clusterkit_papers.datasets.load", lambda name: Clouds())
    banana = next(problem for problem in PROBLEMS if problem.name == "Banana")
    return attrs.evolve(banana, n_train=1000, runs=2)


def test_the_product_is_the_height_times_the_iterations(clouds):
    runs, rows = HeightRuns(clouds), clouds.load()
    values = runs.values("equal", 4, 7)
    parts = [
        find_parts(rows.X[rows.y == label], 4, DriftRule(restarts=0, strict=True), np.random.default_rng((7, label)))
        for label in (0, 1)
    ]
    products = [len(part.imbalances) * part.imbalances[-1] for part in parts]
    assert values["product"] == pytest.approx(np.mean(products))
    assert values["iterations"] == pytest.approx(np.mean([len(part.imbalances) for part in parts]))
    assert runs.values("equal", 4, 7) is values
    assert runs.values("geoclust", 4, 7)["iterations"] == 6000
    assert runs.values("geoclust, stopped alike", 4, 7)["iterations"] <= 6000


def test_centres_that_run_away_count_as_all_iterations():
    assert heights._product(np.array([9, 8, 70]), 6000, 1.0)["product"] == 70 * 6000
    assert heights._product(np.array([9, 8, 70]), 2, 1.0)["product"] == 16


def test_rows_and_the_picture(clouds, tmp_path):
    problems = [attrs.evolve(clouds, name=name) for name in heights.NAMES]
    rows = run_jobs("m3-figure3", figure3(Plan(quick=True), problems))
    json.dumps(rows, allow_nan=False)
    claims = [row for row in rows if row["column"] == heights.AHEAD.column]
    assert len(claims) == 2 * 2
    assert all(heights.STATEMENT in row["note"] for row in claims)
    ours = {(row["row"], row["column"]): row["ours"] for row in rows}
    for rule in heights.RULES[1:]:
        lower = [
            ours[f"Letter: K = {K}, equal", "h × iterations"] < ours[f"Letter: K = {K}, {rule}", "h × iterations"]
            for K in heights.QUICK_KS
        ]
        assert ours[f"Letter: equal against {rule}", heights.AHEAD.column] == 100 * np.mean(lower)
    pytest.importorskip("matplotlib")
    path = tmp_path / "figure.png"
    axes = heights.draw(str(path), rows)
    assert path.stat().st_size > 0
    assert [line.get_xdata().tolist() for line in axes[0, 1].lines] == [list(heights.QUICK_KS)] * 3


@pytest.mark.deep
def test_times_and_their_picture(clouds, tmp_path):
    problems = [attrs.evolve(clouds, name=name) for name in times.NAMES]
    rows = run_jobs("m3-figure6", times.times(Plan(quick=True), problems))
    ours = {(row["row"], row["column"]): row for row in rows}
    plain = ours["Letter: K = 1, plain machine", "sequential with partition (s)"]
    assert plain["runs"] == 1
    assert plain["ours"] == ours["Letter: K = 1, plain machine", "parallel without partition (s)"]["ours"]
    for cell in times.SHARES:
        share = ours["Letter: equal against random", cell.column]
        assert share["ours"] in (0, 50, 100)
        assert share["note"].startswith(times.STATEMENT)
    pytest.importorskip("matplotlib")
    path = tmp_path / "figure.png"
    axes = times.draw(str(path), rows)
    assert path.stat().st_size > 0
    assert len(axes[0, 0].lines) == 4


def test_the_table_has_the_printed_parameters(clouds):
    rows = run_jobs("m3-table1", [job for job in table1(Plan()) if job.row.startswith("Banana 40,000")])
    verdicts = {row["column"]: row["verdict"] for row in rows if row["row"] == "Banana 40,000: as run"}
    assert {verdicts[column] for column in ("d", "C", "sigma", "training rows")} == {"the same"}
