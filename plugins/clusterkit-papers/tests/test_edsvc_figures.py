"""Figures 1 and 2 of ensemble-driven support vector clustering: rows, claims, picture."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest
from clusterkit_papers.edsvc import figures as edsvc_figures
from clusterkit_papers.edsvc.figures import FigureFits, draw, figures
from clusterkit_papers.edsvc.table import DATA_SETS, EdsvcEnsembles
from clusterkit_papers.fits import TimedFit
from clusterkit_papers.jobs import Plan
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.reproduction import run_jobs

from clusterkit import recipe

WINE = attrs.evolve(DATA_SETS[0], components=None, runs=2)


class Answer:
    """A model that knows the classes of wine but for a few rows."""

    def __init__(self, wrong):
        from clusterkit.datasets import load

        self.labels_ = np.where(np.arange(178) < wrong, 2, load("wine").target)


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edsvc_figures, "WIDTHS", (-1.0, 1.0, 6.0))
        patch.setattr(edsvc_figures, "timed_search", lambda X, name, seed: TimedFit(Answer(4 * seed), 0.5, 0.5))
        return run_jobs("edsvc-figures", figures(Plan(), [WINE]))


def test_printed_values_are_those_of_table_2():
    table = printed("edsvc-table2")
    cells = printed("edsvc-figures")
    assert len(cells) == len(DATA_SETS)
    assert all(table[where].value == cell.value for where, cell in cells.items())


def test_rows(rows):
    json.dumps(rows, allow_nan=False)
    ours = {(row["row"], row["column"]): row["ours"] for row in rows}
    fits = FigureFits(EdsvcEnsembles(WINE))
    fits.ensembles.X("zscore")
    edsvc = ours["Wine: edsvc as published, z-scores", "EDSVC"]
    means = [np.mean(fits.members("zscore", seed)) for seed in (0, 1)]
    gain = ours["Wine: edsvc against its base clusterings, z-scores", "EDSVC minus mean member"]
    assert gain == pytest.approx(edsvc - np.mean(means))
    best = max(ours[f"Wine: psvc, log2 q = {log2:g}, z-scores", "PSVC"] for log2 in (-1, 1, 6))
    above = ours["Wine: edsvc against the best width of psvc, z-scores", "EDSVC minus best PSVC"]
    assert above == pytest.approx(edsvc - best)


def test_a_width_is_the_recipe_s(rows):
    ensembles = EdsvcEnsembles(WINE)
    model = recipe("psvc", random_state=0, featuremap__gamma=2.0, labeler__outliers="nearest")
    expected = ensembles.judged(model.fit(ensembles.X("minmax")).labels_)
    [row] = [
        row for row in rows if row["row"] == "Wine: psvc, log2 q = 1, attributes in [0, 1]" and row["column"] == "PSVC"
    ]
    assert row["ours"] == pytest.approx(expected["nmi"])


def test_only_the_best_width_is_chosen_by_labels():
    assert {job.row for job in figures(Plan()) if job.uses_labels} == {
        job.row for job in figures(Plan()) if "best width" in job.row
    }
    quick, whole = ({(job.printed_row, job.cells) for job in figures(Plan(quick))} for quick in (True, False))
    assert quick < whole


def test_the_picture(rows, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "figure.png"
    axes = draw(str(path), rows)
    assert path.stat().st_size > 0
    assert len(axes) == 3  # two scalings of figure 1, wine in figure 2
    curves = {line.get_label(): line for line in axes[2].lines}
    assert curves["PSVC, z-scores"].get_xdata().tolist() == [-1, 1, 6]
    assert set(curves["EDSVC as printed"].get_ydata()) == {0.781}
