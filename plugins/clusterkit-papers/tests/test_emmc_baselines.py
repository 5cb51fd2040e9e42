"""The methods beside EMMC: what is planned, what is refused, and which labels are judged."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from clusterkit_papers.emmc import baselines as emmc_baselines
from clusterkit_papers.emmc.baselines import WIDTH, WIDTHS, Baseline, baseline_job, graphs, margins, times
from clusterkit_papers.emmc.data_sets import DATA_SETS, MANY, TWO
from clusterkit_papers.jobs import Plan
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.reproduction import run_jobs

from clusterkit.contracts.registry import registry
from clusterkit.errors import UnknownName

SEVEN = DATA_SETS["Digits1-7"]
FOUR = DATA_SETS["Digits0689"]
ONCE = Plan(runs=1)


def steps(texts):
    return lambda text: texts.append(text)


def only(jobs, row):
    [job] = [job for job in jobs if job.row == row]
    return job


def test_rows_that_choose_by_labels_say_so():
    for data_set in DATA_SETS.values():
        for job in [*margins(Plan(), data_set), *graphs(Plan(), data_set)]:
            assert job.uses_labels == ("by labels" in job.row), job.row
        assert not any(job.uses_labels for job in times(Plan(), data_set))


def test_quick_makes_no_choice_by_labels_and_solves_no_program():
    rows = [job.row for data_set in DATA_SETS.values() for job in margins(Plan(quick=True), data_set)]
    assert rows
    assert not any("by labels" in row or "random rows" in row for row in rows)


@pytest.mark.parametrize("data_set", [*TWO, FOUR, MANY], ids=lambda data_set: data_set.name)
def test_units_are_the_steps_announced(data_set):
    """As many seeds as the set has, and three for each value of a grid; MMC on a whole set runs once."""
    for job in [*margins(Plan(), data_set), *graphs(Plan(), data_set)]:
        whole = ": mmc" in job.row and "random rows" not in job.row
        seeds = 1 if whole else 3 if "random rows" in job.row else data_set.slow_runs or data_set.runs
        assert (job.units - seeds) % min(3, seeds) == 0  # so many runs choose, and so many finalists there are
        assert (job.units > seeds) == job.uses_labels


@pytest.mark.parametrize("row", ["Digits1-7: itersvr", "Digits1-7: cpmmc", "Digits1-7: cpmmc, rbf"])
def test_a_job_runs(row):
    texts = []
    measurements = only(margins(ONCE, SEVEN), row).run(steps(texts))
    assert texts == [f"{row}, seed 0"]
    assert measurements.runs[0]["accuracy"] > 90
    # l = 0.03 n bounds sizes for the first only, and the classes are within it
    assert measurements.cap == (100.0 if "itersvr" in row else None)


def test_a_choice_by_labels_takes_the_best_and_tells_it():
    method = Baseline("CPMMC", "cpm3c", "cpm3c, C by labels", "outputs", grid={"solver__C": (0.001, 10.0)})
    job = baseline_job(ONCE, FOUR, method)
    texts = []
    measurements = job.run(steps(texts))
    assert len(texts) == job.units == 3
    assert measurements.note == "C = 10, by labels of {0.001, 10}, 1 run"
    assert texts[-1].endswith("C = 10, seed 0")


def test_a_large_set_chooses_on_some_rows(monkeypatch):
    sizes = []

    def fit(self, data_set, X, y, seed, **chosen):
        sizes.append(len(X))
        return {"accuracy": 100 * chosen["solver__C"], "rand": 1.0, "seconds": 0.0}

    monkeypatch.setattr(emmc_baselines, "CHOICE_ROWS", 300)
    monkeypatch.setattr(emmc_baselines.Baseline, "fit", fit)
    method = Baseline("CPMMC", "cpm3c", "cpm3c, C by labels", "outputs", grid={"solver__C": (0.1, 0.2)})
    texts = []
    job = baseline_job(Plan(runs=4), attrs.evolve(SEVEN, slow_runs=3), method)
    measurements = job.run(steps(texts))
    assert sizes == [300] * 6 + [361] * (2 + 4)
    assert len(texts) == job.units
    assert measurements.runs[0]["accuracy"] == 20
    assert measurements.note == "C = 0.2, by labels of {0.1, 0.2} on 300 random rows, 3 runs"


def test_labels_of_outputs_are_taken_before_sizes_are_repaired():
    """A slack of one row would move samples of unequal classes; their signs stay."""
    data_set = attrs.evolve(SEVEN, slack=1)
    X, y = data_set.load()
    keep = np.flatnonzero((y == y.min()) | (np.arange(len(y)) % 4 == 0))
    sizes = Baseline("CPMMC", "cpmmc", "cpmmc", "sizes").fit(data_set, X[keep], y[keep], 0)
    outputs = Baseline("CPMMC", "cpmmc", "cpmmc", "outputs").fit(data_set, X[keep], y[keep], 0)
    assert sizes["accuracy"] < outputs["accuracy"]


def test_a_missing_plugin_is_named(monkeypatch):
    def without(self, *arguments, **chosen):
        raise UnknownName("no recipe named 'mmc'")

    monkeypatch.setattr(emmc_baselines.Baseline, "fit", without)
    rows = run_jobs("emmc-table7", [margins(ONCE, SEVEN)[0]])
    verdicts = {row["verdict"] for row in rows if row["row"] == "Digits1-7: mmc"}
    assert verdicts == {"not run: recipe 'mmc' comes with the plugin clusterkit-sdp, which is not installed"}


@pytest.mark.skipif(registry.find("recipe", "mmc") is None, reason="needs the plugin clusterkit-sdp")
@pytest.mark.parametrize(
    ("table", "data_set", "refusal"),
    [
        ("emmc-table8", FOUR, "solver 'mmc_multi_sdp' takes at most max_size = 100 samples, got 713"),
        ("emmc-table9", FOUR, "solver 'mmc_multi_sdp' takes at most max_size = 100 samples, got 713"),
    ],
    ids=["accuracies", "times"],
)
def test_too_many_rows_are_refused_with_the_limit(table, data_set, refusal):
    job = (times if table == "emmc-table9" else margins)(ONCE, data_set)[0]
    verdicts = {row["verdict"] for row in run_jobs(table, [job]) if row["row"] == job.row}
    assert verdicts == {f"not run: {refusal}"}


def test_sets_of_the_paper_s_size_run_whole(monkeypatch):
    fits = []

    def fit(self, data_set, X, y, seed, **chosen):
        fits.append((len(X), seed, chosen))
        return {"accuracy": 10 * chosen.get(WIDTH, 0.0), "rand": 1.0, "cpu": 1.0, "seconds": 0.0}

    monkeypatch.setattr(Baseline, "fit", fit)
    jobs = margins(Plan(), SEVEN)
    only(jobs, "Digits1-7: mmc").run(steps([]))
    assert fits == [(361, 0, {})]
    measured = only(jobs, "Digits1-7: mmc, width by labels").run(steps([]))
    assert measured.note.startswith("width = 1, by labels of {0.1, 0.2, 0.3, 0.5, 1}, 1 run")


@pytest.mark.skipif(registry.find("recipe", "mmc") is None, reason="needs the plugin clusterkit-sdp")
@pytest.mark.parametrize(("data_set", "recipe"), [(SEVEN, "mmc"), (FOUR, "mmc-multi")], ids=["two", "four"])
def test_random_rows_are_not_compared_with_the_whole(monkeypatch, data_set, recipe):
    monkeypatch.setattr(emmc_baselines, "SUBSET", 20)
    plan = Plan(runs=2)
    job = only(margins(plan, data_set), f"{data_set.name}: {recipe}, 20 random rows")
    table = "emmc-table7" if data_set is SEVEN else "emmc-table8"
    rows = [row for row in run_jobs(table, [job]) if row["row"] == job.row]
    assert {row["verdict"] for row in rows} == {"not comparable: 20 random rows"}
    assert all(row["runs"] == 2 for row in rows)


def test_random_rows_choose_one_width_for_all_seeds(monkeypatch):
    tried = []

    def fit(self, data_set, X, y, seed, **chosen):
        tried.append((len(X), seed, chosen[WIDTH]))
        return {"accuracy": -abs(chosen[WIDTH] - 0.5), "rand": 1.0, "seconds": 0.0}

    monkeypatch.setattr(Baseline, "fit", fit)
    texts = []
    job = only(margins(Plan(runs=2), FOUR), "Digits0689: mmc-multi, 80 random rows, width by labels")
    measured = job.run(steps(texts))
    assert tried == [(80, seed, width) for width in WIDTHS[1:] for seed in (0, 1)]
    assert len(texts) == job.units
    assert measured.note == "width = 0.5, by labels of {0.2, 0.3, 0.5, 1}"
    assert job.uses_labels
    assert not job.comparable


def test_the_printed_accuracies_of_mmc_are_those_of_80_rows():
    cells = [cell.value for (_, column), cell in printed("emmc-table7").items() if column == "MMC Acc" and cell.value]
    assert len(cells) == 3
    for value in cells:
        assert round(100 * round(value * 0.8) / 80, 2) == value
        assert all(round(100 * round(value * n / 100) / n, 2) != value for n in (351, 354, 361))
