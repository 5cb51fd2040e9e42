"""The figures of the min-max modular machine: splits, rows, shares, the picture."""

from __future__ import annotations

import json
import os
from pathlib import Path

import attrs
import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC
from clusterkit_papers import reproduce
from clusterkit_papers.jobs import Plan
from clusterkit_papers.min_max import decomposition
from clusterkit_papers.min_max import figures as m3_figures
from clusterkit_papers.min_max import problems as m3_problems
from clusterkit_papers.min_max.decomposition import WHOLE, Decomposition
from clusterkit_papers.min_max.figures import PARTITIONERS, PLAIN, MinMaxFits, draw, figures
from clusterkit_papers.min_max.problems import POSITIVE, PROBLEMS
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.reproduction import run_jobs

from clusterkit.errors import UnknownName

BY_NAME = {problem.name: problem for problem in PROBLEMS}


class Rings:
    """Two rings in two columns of very different units, as banana has its classes."""

    def __init__(self, n):
        rng = np.random.default_rng(3)
        self.target = np.where(np.arange(n) % 2 == 0, 1, -1)
        angle = rng.uniform(0, 2 * np.pi, n)
        radius = np.where(self.target == 1, 1.0, 2.0) + 0.15 * rng.normal(size=n)
        self.data = radius[:, None] * np.column_stack((np.cos(angle), 100.0 * np.sin(angle)))


@pytest.fixture
def rings(monkeypatch):
    monkeypatch.setattr("clusterkit_papers.datasets.load", lambda name: Rings(700))
    return attrs.evolve(BY_NAME["Banana"], n_train=500, ks=(1, 2, 4), quick=(1, 3), runs=2, partitioned=(2, 4))


def step(text):
    pass


def test_parameters_are_the_printed_ones():
    assert BY_NAME["Banana"].machine == pytest.approx({"C": 316.2, "gamma": 1 / (2 * 0.707**2)}, rel=1e-3)
    assert BY_NAME["Letter"].machine == {"C": 16, "gamma": 1 / (2 * 4**2)}
    assert set(POSITIVE) == set("EHIMPQRXYZ")
    assert BY_NAME["Banana"].ks == BY_NAME["Letter"].ks == tuple(range(1, 21))


def test_a_permuted_split_uses_every_row_once(rings):
    whole = Rings(700)
    rows = attrs.evolve(rings, scaled=False).load()
    assert (len(rows.X), len(rows.X_test)) == (500, 200)
    both = np.concatenate((rows.X, rows.X_test))
    order = [np.lexsort(X.T) for X in (both, whole.data)]
    np.testing.assert_array_equal(both[order[0]], whole.data[order[1]])
    np.testing.assert_array_equal(np.concatenate((rows.y, rows.y_test))[order[0]], whole.target[order[1]] == 1)


def test_training_rows_alone_decide_the_scale(rings):
    rows = rings.load()
    np.testing.assert_allclose(rows.X.min(axis=0), 0)
    np.testing.assert_allclose(rows.X.max(axis=0), 1)
    raw = attrs.evolve(rings, scaled=False).load()
    low, high = raw.X.min(axis=0), raw.X.max(axis=0)
    np.testing.assert_allclose(rows.X_test, (raw.X_test - low) / (high - low))


def test_first_rows_train_on_letter(monkeypatch):
    class Letters:
        data = np.arange(20_000.0)[:, None]
        target = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[np.arange(20_000) % 26]

    monkeypatch.setattr("clusterkit_papers.datasets.load", lambda name: Letters)
    rows = attrs.evolve(BY_NAME["Letter"], scaled=False).load()
    np.testing.assert_array_equal(rows.X[:, 0], np.arange(15_000))
    np.testing.assert_array_equal(rows.X_test[:, 0], np.arange(15_000, 20_000))
    assert "".join(Letters.target[:26][rows.y[:26] == 1]) == "EHIMPQRXYZ"


def test_realisations_are_100_times_400():
    train, test = m3_problems._split(5300, "realisations", 0)
    assert (len(train), len(test)) == (40_000, 49_000)
    for i in range(10):  # what a draw leaves is its own test part
        rows = np.concatenate((train[400 * i : 400 * (i + 1)], test[4900 * i : 4900 * (i + 1)]))
        assert len(np.unique(rows)) == 5300
    assert np.isin(test, train).all()


def test_a_fit_is_the_estimator_s(rings):
    fits = MinMaxFits(rings)
    values = fits.fit("equal", 2, 5)
    rows = rings.load()
    model = MinMaxModularSVC(2, "equal", random_state=5, C=rings.C, gamma=rings.gamma).fit(rows.X, rows.y)
    assert values["accuracy"] == pytest.approx(100 * np.mean(model.predict(rows.X_test) == rows.y_test))
    assert values["supports"] == model.fit_report_["n_support"]
    assert values["supports_distinct"] == len(model.support_)
    assert 0 < values["parallel"] <= values["sequential"]
    assert fits.fit("equal", 2, 5) is values
    assert fits.fit("equal", 1, 5) is fits.fit("random", 1, 6)  # one part is no partition
    assert fits.partition("equal", 2, 5) == values["partition"]
    assert fits.partition("equal", 3, 5) == fits.partition("equal", 3, 5) > 0


def test_rows(rings):
    texts = []
    rows = run_jobs(
        "m3-figures", figures(Plan(), [rings]), progress=lambda done, total, text: texts.append((done, total))
    )
    json.dumps(rows, allow_nan=False)
    total = 1 + 2 * 3 * 2 + 3 + 2 * 2  # plain; K, partitioners, seeds; claims; mean times
    assert texts == [(done, total) for done in range(1, total + 1)]
    ours = [row for row in rows if row["runs"]]
    assert all(not row["uses_labels"] for row in ours)
    fits = {row["row"] for row in ours if row["column"] == "accuracy (%)"}
    assert fits == {f"Banana: K = 1, {PLAIN}"} | {
        f"Banana: K = {K}, {name}" for K in (2, 4) for name in ("random", "geoclust", "equal")
    }
    compared = [row for row in ours if row["printed"] is not None]
    assert [(row["column"], row["printed"]) for row in compared] == [
        ("partition, random (s)", 0.6),
        ("partition, equal (s)", 90.1),
    ]
    assert all("another machine" in row["verdict"] for row in compared)
    claims = [row for row in ours if row["column"] in {cell.column for cell in m3_figures.CLAIMS}]
    assert len(claims) == 3 * 4
    assert all(row["ours"] in (0, 25, 50, 75, 100) for row in claims)


def test_quick_is_a_part_and_says_so(rings):
    rows = run_jobs("m3-figures", figures(Plan(quick=True), [rings]), whole=figures(Plan(), [rings]))
    assert {row["row"] for row in rows if row["column"] == "parallel (s)"} == {
        f"Banana: K = {K}" for K in (f"1, {PLAIN}", "3, random", "3, geoclust", "3, equal")
    }
    compared = [row for row in rows if row["printed"] is not None and row["runs"]]
    assert compared
    assert {row["verdict"] for row in compared} == {"not comparable: quick takes a part"}


def test_shares_count_strictly_better():
    def values(accuracy, supports, sequential, parallel, partition):
        return {
            "accuracy": accuracy, "supports": supports, "sequential": sequential, "parallel": parallel,
            "partition": partition,
        }  # fmt: skip

    ours, theirs = values(90.0, 10.0, 1.0, 0.1, 2.0), values(90.0, 11.0, 2.9, 0.1, 0.0)
    assert m3_figures._ahead([(ours, theirs)]) == {
        "accurate": [False], "sparse": [True], "sequential_share": [False], "parallel_share": [False],
    }  # fmt: skip


def test_every_printed_value_has_a_job():
    planned = {(job.printed_row, cell.column) for job in figures(Plan()) for cell in job.cells}
    assert set(printed("m3-figures")) <= planned
    quick = {(job.printed_row, cell.column) for job in figures(Plan(quick=True)) for cell in job.cells}
    assert quick <= planned


def test_the_picture(rings, tmp_path):
    pytest.importorskip("matplotlib")
    rows = run_jobs("m3-figures", figures(Plan(), [rings]))
    path = tmp_path / "figure.png"
    axes = draw(str(path), rows)
    assert path.stat().st_size > 0
    assert axes.shape == (2, 3)
    ours = {row["row"]: row["ours"] for row in rows if row["column"] == "support vectors"}
    curve = next(line for line in axes[0, 1].lines if line.get_label() == "equal")
    assert curve.get_xdata().tolist() == [2, 4]
    assert curve.get_ydata().tolist() == [ours["Banana: K = 2, equal"], ours["Banana: K = 4, equal"]]
    plain = next(line for line in axes[0, 1].lines if line.get_label().startswith(PLAIN))
    assert set(plain.get_ydata()) == {ours[f"Banana: K = 1, {PLAIN}"]}
    assert len(axes[1, 2].lines) == 3  # one part is no partition: no line for its time
    assert not draw(None, rows, "Letter")[0, 0].lines
    with pytest.raises(UnknownName, match="Letter raw"):
        draw(None, rows, "Letter ra")


def test_subproblems_are_pairs_of_the_parts_that_the_machine_trains_on(rings):
    parts, rows = Decomposition(rings), rings.load()
    model = MinMaxModularSVC(2, {"name": "equal", "strict": True}, random_state=4, **rings.machine).fit(rows.X, rows.y)
    masks = parts.subproblems("equal", 4)
    assert np.sum(masks, axis=0).tolist() == [2] * len(rows.y)  # each part meets both parts of the other class
    for label in (0, 1):
        of_class = rows.y == label
        pairs = set(zip(parts.parts("equal", 4)[of_class], model.parts_[of_class], strict=True))
        assert len(pairs) == 2  # the same two parts, perhaps with the other numbers
        left, right = (rows.X[of_class & (parts.parts("equal", 4) == part), 0].mean() for part in (0, 1))
        assert left < right
    supports = sum(len(parts.machine(mask).support_) for mask in masks)
    assert supports == model.fit_report_["n_support"]


def test_rows_of_subproblems(rings):
    rows = run_jobs("m3-figures7-8", decomposition.figures(Plan(quick=True), rings))
    json.dumps(rows, allow_nan=False)
    ours = {(row["row"], row["column"]): row for row in rows}
    X, y = rings.load().X, rings.load().y
    whole = f"Banana: {WHOLE}"
    assert ours[whole, "positive rows"]["ours"] == (y == 1).sum()
    assert ours[whole, "spread (% of that of the classes)"]["ours"] == 100
    distances = np.linalg.norm(X[:, None] - X, axis=2) + np.diag(np.full(len(X), np.inf))
    mixed = 100 * np.mean(y[distances.argmin(axis=1)] != y)
    assert ours[whole, "rows nearest to the other class (%)"]["ours"] == pytest.approx(mixed)
    for name in PARTITIONERS:
        sizes = [
            ours[f"Banana: {name}, positive part {i}, negative part {j}", column]["ours"]
            for i, j, column in ((1, 1, "positive rows"), (2, 1, "positive rows"))
        ]
        assert sum(sizes) == (y == 1).sum()
    claim = ours["Banana: equal against random", "fewer support vectors (% of pairs)"]
    ahead = [
        ours[f"Banana: equal, positive part {i}, negative part {j}", "support vectors (% of rows)"]["ours"]
        < ours[f"Banana: random, positive part {k}, negative part {m}", "support vectors (% of rows)"]["ours"]
        for i in (1, 2) for j in (1, 2) for k in (1, 2) for m in (1, 2)
    ]  # fmt: skip
    assert claim["ours"] == 100 * np.mean(ahead)
    assert claim["note"].startswith(decomposition.STATEMENT)


def test_the_picture_of_subproblems(rings, tmp_path):
    pytest.importorskip("matplotlib")
    from clusterkit_papers.pictures import draw as draw_table

    path = tmp_path / "figure.png"
    axes = decomposition.draw(str(path), 0, rings)
    assert path.stat().st_size > 0
    assert set(axes) == {WHOLE, *(f"{name} {place}" for name in PARTITIONERS for place in range(4))}
    points = sum(len(collection.get_offsets()) for collection in axes["equal 0"].collections[:2])
    assert points == Decomposition(rings).subproblems("equal", 0)[0].sum()
    path.unlink()
    draw_table("m3-figures7-8", str(path))  # of the data, whatever the rows
    assert path.stat().st_size > 0


def test_missing_data_are_rows(monkeypatch):
    monkeypatch.delenv("CLUSTERKIT_DATA", raising=False)
    monkeypatch.delenv("CLUSTERKIT_DATA_URL", raising=False)
    rows = reproduce("m3-figures", quick=True)
    assert any(row["verdict"].startswith("data set not found") for row in rows)
    assert all(row["ours"] is None for row in rows)


@pytest.mark.skipif(
    not (Path(os.environ.get("CLUSTERKIT_DATA", "")) / "manifest.csv").is_file() or "CLUSTERKIT_DATA" not in os.environ,
    reason="needs the data folder ($CLUSTERKIT_DATA)",
)
def test_banana_on_the_data():
    fits = MinMaxFits(BY_NAME["Banana"])
    assert (len(fits.rows.X), len(fits.rows.X_test)) == (4000, 1300)
    assert fits.fit("equal", 10, 0)["accuracy"] > fits.fit("random", 10, 0)["accuracy"] + 5
