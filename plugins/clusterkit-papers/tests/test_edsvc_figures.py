"""Figures 1 and 2 of ensemble-driven support vector clustering: rows, claims, picture."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest
from clusterkit_papers.edsvc import figures as edsvc_figures
from clusterkit_papers.edsvc.figures import draw, figures, searched_widths
from clusterkit_papers.edsvc.table import DATA_SETS, EdsvcEnsembles
from clusterkit_papers.fits import TimedFit
from clusterkit_papers.jobs import Plan
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.reproduction import run_jobs

from clusterkit import recipe
from clusterkit.metrics import adjusted_rand, nmi

WINE = attrs.evolve(DATA_SETS[0], components=None, runs=2)


class Answer:
    """A model that knows the classes of wine but for a few rows."""

    def __init__(self, wrong):
        from clusterkit_papers.datasets import load

        self.labels_ = np.where(np.arange(178) < wrong, 2, load("wine").target)


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edsvc_figures, "WIDTHS", 5)
        patch.setattr(edsvc_figures, "timed_search", lambda X, name, seed: TimedFit(Answer(4 * seed), 0.5, 0.5))
        return run_jobs("edsvc-figures", figures(Plan(), [WINE]))


@pytest.fixture(scope="module")
def ours(rows):
    return {(row["row"], row["column"]): row["ours"] for row in rows}


def test_printed_values_are_those_of_table_2():
    table = printed("edsvc-table2")
    cells = printed("edsvc-figures")
    assert len(cells) == len(DATA_SETS)
    assert all(table[where].value == cell.value for where, cell in cells.items())


def test_edsvc_beside_its_members(rows, ours):
    json.dumps(rows, allow_nan=False)
    ensembles = EdsvcEnsembles(WINE)
    ensembles.X("zscore")
    name = "Wine: edsvc as published, z-scores"
    by_index = {"NMI": lambda labels: nmi(ensembles.y, labels, average="geometric"),
                "ARI": lambda labels: adjusted_rand(ensembles.y, labels)}  # fmt: skip
    for index, column, best, below in (
        ("NMI", "EDSVC", "best member", "members below EDSVC (%)"),
        ("ARI", "EDSVC ARI", "best member ARI", "members below EDSVC, ARI (%)"),
    ):
        judge = by_index[index]
        answers = [judge(Answer(4 * seed).labels_) for seed in (0, 1)]
        of_members = [[judge(member) for member in ensembles.members("zscore", seed)] for seed in (0, 1)]
        assert ours[name, column] == pytest.approx(np.mean(answers))
        assert ours[name, best] == pytest.approx(np.mean([max(values) for values in of_members]))
        shares = [np.mean(np.array(values) < answer) for values, answer in zip(of_members, answers, strict=True)]
        assert ours[name, below] == pytest.approx(100 * np.mean(shares))
        if index == "NMI":
            assert ours[name, "mean member"] == pytest.approx(np.mean(of_members))


def test_psvc_is_the_best_of_all_widths(ours, monkeypatch):
    """Of those without a row of their own too, which are every second and third."""
    monkeypatch.setattr(edsvc_figures, "WIDTHS", 5)
    ensembles = EdsvcEnsembles(WINE)
    X, tried = ensembles.X("minmax"), []
    for gamma in searched_widths(X):
        labels = recipe("psvc", random_state=0, featuremap__gamma=gamma, labeler__outliers="nearest").fit(X).labels_
        tried.append(nmi(ensembles.y, labels, average="geometric"))
    assert ours["Wine: psvc, the best of 5 widths by labels, attributes in [0, 1]", "PSVC"] == max(tried)
    points = [ours[f"Wine: psvc, width {place} of 5, attributes in [0, 1]", "PSVC"] for place in (1, 4)]
    assert points == [tried[0], tried[3]]


def test_only_the_best_width_is_chosen_by_labels():
    assert all(job.uses_labels == ("by labels" in job.row) for job in figures(Plan()))
    quick, whole = ({(job.printed_row, job.cells) for job in figures(Plan(quick))} for quick in (True, False))
    assert quick < whole


def test_the_picture(rows, ours, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "figure.png"
    axes = draw(str(path), rows)
    assert path.stat().st_size > 0
    assert len(axes) == 3  # two scalings of figure 1, wine in figure 2
    curves = {line.get_label(): line for line in axes[2].lines}
    widths = [value for (name, column), value in ours.items() if column == "log2 q" and name.endswith("z-scores")]
    assert curves["PSVC, z-scores"].get_xdata().tolist() == sorted(widths)
    assert set(curves["EDSVC as printed"].get_ydata()) == {0.781}
