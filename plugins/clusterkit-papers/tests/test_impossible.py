"""Bounds on printed indices against every clustering of small data; and the flags of the printed tables."""

from __future__ import annotations

import csv
from bisect import bisect_left
from importlib import resources
from itertools import pairwise

import numpy as np
import pytest
from clusterkit_papers.impossible import (
    class_sizes,
    impossible,
    least_nmi,
    least_purity,
    least_purity_for_nmi,
    least_purity_for_rand,
    least_rand,
    least_rand_for_nmi,
    one_cluster_rand,
    rounding_range,
    singletons_rand,
)
from clusterkit_papers.printed_tables import printed
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.metrics import nmi, purity, purity_by_class, rand_index

METHODS = ("SVC", "SGD-LMSVC", "FSVC")
MEASURES = ("purity", "rand", "nmi")
COLUMNS = dict(zip(MEASURES, ("purity, formula as printed", "Rand", "NMI"), strict=True))


def partitions(n):
    """Every labelling of n samples, first seen first numbered."""

    def grow(labels, used):
        if len(labels) == n:
            yield labels
            return
        for label in range(used + 1):
            yield from grow([*labels, label], max(used, label + 1))

    return grow([], 0)


def classes_of(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def records(name):
    text = resources.files("clusterkit_papers").joinpath(f"printed/{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@pytest.mark.parametrize(
    "sizes", [(3, 3), (5, 1), pytest.param((4, 2, 1), marks=pytest.mark.deep), (2, 2, 2), (1, 1, 1, 1), (6,)]
)
def test_no_clustering_breaks_a_bound(sizes):
    """The least purity is attained, the other bounds are kept."""
    true = classes_of(sizes)
    indices = [
        (purity_by_class(true, pred), rand_index(true, pred), nmi(true, pred, average="arithmetic"))
        for pred in partitions(len(true))
    ]
    assert min(p for p, _, _ in indices) == pytest.approx(least_purity(sizes), abs=1e-12)
    assert min(r for _, r, _ in indices) >= least_rand(sizes) - 1e-12
    for p, r, i in indices:
        assert i >= least_nmi(sizes, r) - 1e-9
        assert r >= least_rand_for_nmi(sizes, i) - 1e-9
        assert r >= least_rand(sizes, p) - 1e-9
        assert p >= least_purity_for_nmi(sizes, i) - 1e-9
        assert p >= least_purity_for_rand(sizes, r) - 1e-9


@given(
    sizes=st.lists(st.integers(1, 30), min_size=2, max_size=5),
    flips=st.integers(0, 20),
    clusters=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
)
def test_near_and_far_clusterings_keep_the_bounds_and_are_never_called_impossible(sizes, flips, clusters, seed):
    rng = np.random.default_rng(seed)
    true = classes_of(sizes)
    pred = true.copy()
    moved = rng.integers(len(true), size=flips)
    pred[moved] = rng.integers(clusters, size=flips)
    p, r, i = purity_by_class(true, pred), rand_index(true, pred), nmi(true, pred, average="arithmetic")
    assert p >= least_purity(sizes) - 1e-12
    assert r >= least_rand(sizes, p) - 1e-9
    assert i >= least_nmi(sizes, r) - 1e-9
    assert r >= least_rand_for_nmi(sizes, i) - 1e-9
    assert p >= least_purity_for_nmi(sizes, i) - 1e-9
    assert p >= least_purity_for_rand(sizes, r) - 1e-9
    for digits in (1, 2, 3):
        values = {name: f"{value:.{digits}f}" for name, value in zip(MEASURES, (p, r, i), strict=True)}
        assert impossible(sizes, **values) == []


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6).filter(lambda sizes: sum(sizes) > 1))
def test_the_two_extremes_are_those_of_the_metric(sizes):
    true = classes_of(sizes)
    assert one_cluster_rand(sizes) == pytest.approx(rand_index(true, np.zeros(len(true))), abs=1e-12)
    assert singletons_rand(sizes) == pytest.approx(rand_index(true, np.arange(len(true))), abs=1e-12)
    assert least_purity(sizes) == pytest.approx(purity_by_class(true, np.arange(len(true))), abs=1e-12)
    assert least_rand(sizes) <= min(one_cluster_rand(sizes), singletons_rand(sizes)) + 1e-12


@given(sizes=st.lists(st.integers(2, 60), min_size=2, max_size=5))
def test_bounds_tighten_towards_identity(sizes):
    grid = [0.3, 0.6, 0.9, 0.99, 0.999, 1.0]
    for bound in (least_nmi, least_rand_for_nmi, least_purity_for_nmi, least_purity_for_rand):
        values = [bound(sizes, value) for value in grid]
        assert all(low <= high + 1e-12 for low, high in pairwise(values))
        assert values[-1] == pytest.approx(1.0)


def test_two_classes_have_the_simple_bound():
    b1, b2 = 153, 87
    n = b1 + b2
    assert least_rand((b1, b2)) == pytest.approx((b1 * b2 - n / 2) / (n * (n - 1) / 2))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("0.97", 0.965, 0.975), ("1.00", 0.995, 1.0), ("0.5", 0.45, 0.55), ("0.003", 0.0025, 0.0035), ("1", 0.5, 1.0)],
)
def test_rounding(text, low, high):
    assert rounding_range(text) == pytest.approx((low, high))


def test_a_value_impossible_by_itself_blames_no_other():
    [only] = impossible([153, 87], purity="0.03", rand="0.03", nmi="0.05")
    assert only.measures == ("rand",)
    [alone] = impossible([153, 87], purity="0.003", rand="0.75", nmi="0.55")
    assert alone.measures == ("purity",)
    both = impossible([276, 97], purity="0.69", rand="0.77", nmi="1.00")
    assert [value.measures for value in both] == [("nmi", "rand"), ("nmi", "purity")]


def test_every_printed_purity_can_be_had_by_the_printed_formula():
    """By the first samples in one cluster, largest class first, and every other one alone."""
    below = []
    for cell in records("svc-table2"):
        if cell["measure"] != "purity_by_class":
            continue
        sizes = sorted(class_sizes("svc")[cell["row"]], reverse=True)
        true, alone = classes_of(sizes), np.arange(1, sum(sizes) + 1)
        low, high = rounding_range(cell["printed"])

        def labels(together, alone=alone):
            return np.where(alone <= together, 0, alone)

        # the purity grows with the cluster
        together = bisect_left(
            range(len(true)), low, key=lambda m, true=true, labels=labels: purity_by_class(true, labels(m))
        )
        assert low <= purity_by_class(true, labels(together)) <= high, (cell["row"], cell["column"])
        if high < max(sizes) / len(true):
            assert purity(true, labels(together)) >= max(sizes) / len(true)
            below.append(cell["row"])
    assert len(below) == 13
    assert {"Flame", "Jain", "Abalone", "Shuttle"} < set(below)


@pytest.mark.parametrize("sizes", [[], [1], [3, 0], [-1, 5]])
def test_sizes_are_checked(sizes):
    with pytest.raises(ValueError, match="sizes must be positive and sum to 2 at least"):
        impossible(sizes, purity="0.5")


# The printed tables of "Fast support vector clustering"


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("svc-table1", ["N", "d", "classes"]),
        ("svc-table2", [f"{method} {index}" for index in COLUMNS.values() for method in METHODS]),
        ("svc-table3", [f"{method} {index}" for index in ("compactness", "DB") for method in METHODS]),
        ("svc-table4", [f"{method} {step} (s)" for step in ("training", "labelling") for method in METHODS]),
    ],
)
def test_every_cell_once(table, columns):
    cells = printed(table)
    rows = list(dict.fromkeys(row for row, _ in cells))
    assert len(records(table)) == len(cells) == 15 * len(columns)
    assert set(rows) == set(class_sizes("svc"))
    assert list(cells) == [(row, column) for row in rows for column in columns]
    for cell in cells.values():
        assert cell.value is not None
        assert 0 < cell.value <= {"purity_by_class": 1, "rand": 1, "nmi": 1}.get(cell.measure, 50_000)
        assert not cell.mark or cell.remark


@pytest.mark.parametrize(
    ("table", "total"),
    [("svc-table1", 63_557), ("svc-table2", 78.39), ("svc-table3", 180.58), ("svc-table4", 7_578.19)],
)
def test_sums(table, total):
    """Sums of all printed values, taken once from the paper's text: a guard against a slip of an editor."""
    assert sum(cell.value for cell in printed(table).values()) == pytest.approx(total, abs=0.005)


def test_class_sizes_add_up_to_the_printed_ones():
    cells = printed("svc-table1")
    for row, sizes in class_sizes("svc").items():
        assert sum(sizes) == cells[row, "N"].value
        assert (len(sizes) == cells[row, "classes"].value) == (cells[row, "classes"].remark == "")


def test_class_sizes_are_those_of_the_data():
    from clusterkit_papers.datasets import DatasetNotFound, load

    seen = 0
    for record in records("svc-sizes"):
        sizes = class_sizes("svc")[record["row"]]
        try:
            target = load(record["dataset"]).target[: sum(sizes)]  # Shuttle: the training rows come first
        except DatasetNotFound:
            continue
        seen += 1
        assert sorted(np.unique(target, return_counts=True)[1]) == sorted(sizes), record["row"]
    assert seen  # iris is always there


def test_flags_are_what_the_bounds_say():
    texts = {(record["row"], record["column"]): record for record in records("svc-table2")}
    for row, sizes in class_sizes("svc").items():
        for method in METHODS:
            cells = {measure: texts[row, f"{method} {name}"] for measure, name in COLUMNS.items()}
            values = impossible(sizes, **{measure: cell["printed"] for measure, cell in cells.items()})
            for measure, cell in cells.items():
                against = [value for value in values if measure in value.measures]
                assert cell["remark"] == "; ".join(finding.reason for finding in against), (row, method, measure)
                by_itself = any(finding.measures == (measure,) for finding in against)
                assert cell["mark"] == ("impossible" if by_itself else "contradiction" if against else "")


@pytest.mark.parametrize(
    ("row", "one_cluster", "singletons", "share"),
    [
        ("Aggregation", 0.217, 0.783, 0.346),
        ("Compound", 0.247, 0.753, 0.396),
        ("Flame", 0.536, 0.464, 0.637),
        ("Jain", 0.614, 0.386, 0.740),
        ("Spiral", 0.331, 0.669, 0.340),
        ("Musk", 0.739, 0.261, 0.846),
        ("Shuttle", 0.642, 0.358, 0.784),
        ("Car", 0.542, 0.458, 0.700),
    ],
)
def test_known_extremes(row, one_cluster, singletons, share):
    sizes = class_sizes("svc")[row]
    assert one_cluster_rand(sizes) == pytest.approx(one_cluster, abs=5e-4)
    assert singletons_rand(sizes) == pytest.approx(singletons, abs=5e-4)
    assert purity(classes_of(sizes), np.zeros(sum(sizes))) == pytest.approx(share, abs=5e-4)


def test_the_impossible_cells():
    """Each with what else it contradicts; anything not listed obeys all bounds."""
    by_itself = {("Flame", "FSVC Rand"), ("Spiral", "SVC Rand")}
    in_pairs = {
        ("Aggregation", "SVC", "rand", "nmi"),
        ("Aggregation", "SGD-LMSVC", "rand", "nmi"),
        ("Aggregation", "FSVC", "purity", "rand"),
        ("Compound", "FSVC", "purity", "rand"),
        ("Iris", "SVC", "rand", "nmi"),
        ("Jain", "FSVC", "purity", "rand", "nmi"),
        ("Pathbased", "SGD-LMSVC", "purity", "rand"),
        ("Pathbased", "FSVC", "rand", "nmi"),
        ("R15", "FSVC", "purity", "rand", "nmi"),
        ("Spiral", "SVC", "purity", "nmi"),
        ("Spiral", "SGD-LMSVC", "purity", "rand"),
        ("D31", "FSVC", "purity", "rand"),
        ("Abalone", "SVC", "purity", "rand"),
        ("Abalone", "FSVC", "purity", "rand"),
        ("Shuttle", "SVC", "purity", "rand"),
        ("Shuttle", "SGD-LMSVC", "purity", "rand", "nmi"),
        ("Shuttle", "FSVC", "purity", "rand", "nmi"),
    }
    paired = {(row, f"{method} {COLUMNS[measure]}") for row, method, *measures in in_pairs for measure in measures}
    marks = {where: cell.mark for where, cell in printed("svc-table2").items() if cell.mark}
    assert {where for where, mark in marks.items() if mark == "impossible"} == by_itself
    assert {where for where, mark in marks.items() if mark == "contradiction"} == paired - by_itself
