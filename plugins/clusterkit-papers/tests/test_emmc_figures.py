"""The growth of EMMC with the number of hidden nodes: rows, the statement on it, the picture."""

from __future__ import annotations

import json

import attrs
import pytest
from clusterkit_papers.emmc import growth as emmc_growth
from clusterkit_papers.emmc.data_sets import DATA_SETS
from clusterkit_papers.emmc.growth import GrowthFits, answer, draw, figures, growth
from clusterkit_papers.fits import judged_fit
from clusterkit_papers.jobs import Plan
from clusterkit_papers.reproduction import run_jobs

PAIR = attrs.evolve(DATA_SETS["Digits8-9"], runs=2)


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emmc_growth, "NODES", (10, 100, 300, 600))
        return run_jobs("emmc-figures", figures(Plan(), [PAIR]))


def test_rows(rows):
    json.dumps(rows, allow_nan=False)
    assert all(row["printed"] is None and row["ours"] is not None and not row["uses_labels"] for row in rows)
    points = [row for row in rows if ", L = " in row["row"]]
    assert len(points) == 3 * 4 * 2
    assert {row["runs"] for row in points} == {2}
    [point] = [r for r in points if r["row"] == "Digits8-9: emmc, L = 100" and r["column"] == "accuracy (%)"]
    X, y = PAIR.load()
    fits = [judged_fit(X, y, "emmc", seed, **PAIR.margin(X, featuremap__n_hidden=100)) for seed in (0, 1)]
    assert point["ours"] == pytest.approx(sum(fit["accuracy"] for fit in fits) / 2)


def test_growth_rows_are_made_of_the_points(rows):
    ours = {(row["row"], row["column"]): row["ours"] for row in rows}
    for recipe in ("emmc", "emmc-paper", "emmc-paper, Gaussian nodes"):
        accuracy = {L: ours[f"Digits8-9: {recipe}, L = {L}", "accuracy (%)"] for L in (10, 100, 300, 600)}
        row = f"Digits8-9: {recipe}, growth from L = 10 to 600"
        assert ours[row, "rise to L = 100 (points)"] == pytest.approx(accuracy[100] - accuracy[10])
        later = ours[row, "largest change after that (points)"]
        assert abs(later) == pytest.approx(max(abs(accuracy[L] - accuracy[100]) for L in (300, 600)))


@pytest.mark.parametrize(
    ("accuracy", "cpu", "words"),
    [
        ((60, 80, 81, 81), (1, 2, 3, 40), "accuracy rises quickly, then flattens, and time grows superlinearly"),
        ((60, 80, 70, 81), (1, 2, 3, 4), "accuracy rises quickly and goes on changing, and time does not grow"),
        ((80, 80, 80, 80.5), (1, 2, 3, 40), "accuracy does not rise, and"),
        ((80, 80, 90, 95), (1, 2, 3, 40), "accuracy does not rise quickly and goes on changing, and"),
    ],
)
def test_the_statement_is_judged_by_the_curves(accuracy, cpu, words):
    nodes = (10, 100, 300, 1000)
    values = growth(dict(zip(nodes, accuracy, strict=True)), dict(zip(nodes, cpu, strict=True)))
    assert f"here {words}" in answer(values)


def test_a_fit_is_made_once(monkeypatch):
    calls = []

    def fit(X, y, name, seed, **parameters):
        calls.append((name, seed, parameters["featuremap__n_hidden"]))
        return {"accuracy": 50.0, "cpu": 1.0, "seconds": 0.0}

    monkeypatch.setattr(emmc_growth, "judged_fit", fit)
    fits = GrowthFits(PAIR)
    assert fits.fit("emmc", 10, 0) is fits.fit("emmc", 10, 0)
    run_jobs("emmc-figures", figures(Plan(quick=True), [DATA_SETS["Digits8-9"]]))
    assert len(calls) == 1 + 3 * len(emmc_growth.QUICK_NODES)


def test_quick_is_a_part():
    quick, whole = ({(job.printed_row, job.cells) for job in figures(Plan(quick))} for quick in (True, False))
    assert quick < whole


def test_the_picture(rows, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "figure.png"
    axes = draw(str(path), rows)
    assert path.stat().st_size > 0
    assert axes.shape == (2, 1, 3)
    accuracy = axes[0].flat[0].lines
    assert [line.get_label() for line in accuracy] == ["emmc-paper", "emmc-paper, Gaussian nodes", "emmc"]
    assert accuracy[0].get_xdata().tolist() == [10, 100, 300, 600]
    assert not axes[0].flat[1].get_visible()
