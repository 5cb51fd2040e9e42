"""Scikit-learn's sets, parts of sets, and what a missing set says."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from clusterkit_papers.datasets import DatasetNotFound, load, names
from clusterkit_papers.datasets.manifest import at_most_per_class, known


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [
        ("digits", (1797, 64), 10),
        ("wdbc", (569, 30), 2),
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
        ("digits-0689", (713, 64), 4),
        ("digits-1279", (718, 64), 4),
        ("digits-1-7", (361, 64), 2),
        ("digits-8-9", (354, 64), 2),
        ("digits-3-9", (363, 64), 2),
        ("digits-5-0", (360, 64), 2),
    ],
)
def test_without_any_folder(name, shape, classes):
    dataset = load(name)
    assert dataset.name == name
    assert dataset.data.shape == shape
    assert dataset.data.dtype == np.float64
    assert dataset.n_classes == classes
    assert len(dataset.feature_names) == shape[1]


def test_part_keeps_rows_in_order_and_unscaled():
    whole, part = load("digits"), load("digits-3-9")
    rows = np.isin(whole.target, (3, 9))
    np.testing.assert_array_equal(part.data, whole.data[rows])
    np.testing.assert_array_equal(part.target, whole.target[rows])
    assert part.data.max() == 16
    assert part.description.startswith("Part of digits: classes 3, 9. ")


def test_part_of_a_folder_set(folder):
    part = load("letter-ab", data_home=folder)
    np.testing.assert_array_equal(part.data, [[1, 2], [5, 6], [7, 8]])
    assert part.target.tolist() == ["A", "B", "A"]


def test_random_rows_repeat_with_the_seed_and_change_with_it():
    target = np.repeat([3, 1, 2], [50, 4, 9])
    rows = [at_most_per_class(target, 5, seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])
    assert np.all(np.diff(rows[0]) > 0)
    assert np.unique(target[rows[0]], return_counts=True)[1].tolist() == [4, 5, 5]


def test_sparse_part(folder):
    part = load("tdt2-2651", data_home=folder, seed=3)
    assert part.data.shape == (10, 40_000)  # no class is above the limit here
    assert "at most 100 rows a class, chosen with seed 3" in part.description


def test_names_lists_parts_with_their_sources(folder):
    assert set(names()) == {"digits", "iris", "wdbc", "wine"} | {
        f"digits-{part}" for part in ("0689", "1279", "1-7", "3-9", "8-9")
    }
    listed = names(data_home=folder)
    assert list(listed) == sorted(listed)
    assert listed["letter-ab"] == listed["letter"] == ("folder",)
    assert listed["digits-1-7"] == ("scikit-learn",)
    assert "satellite-c1-c2" not in listed


def test_a_name_of_the_folder_goes_before_the_rule(folder, add_file):
    add_file("letter-ab.csv.gz", gzip.compress(b"x0,label\n1,A\n"))
    assert load("letter-ab", data_home=folder).data.shape == (1, 1)


@pytest.mark.parametrize("name", ["letter", "letter-ab"])
def test_missing_set_tells_three_ways_and_the_original(name):
    with pytest.raises(DatasetNotFound) as error:
        load(name)
    message = str(error.value)
    assert f"'{name}'" in message
    for part in (
        "$CLUSTERKIT_DATA or data_home (not set)",
        "scikit-learn, which has digits, iris, wdbc, wine",
        "$CLUSTERKIT_DATA_URL (not set)",
        "'letter' (20000 x 16, 26 classes): ",
        "github.com/davidgasquez/letter-recognition, letter-recognition.data",
    ):
        assert part in message


def test_missing_set_tells_where_it_was_looked_for(folder):
    with pytest.raises(LookupError, match="data lacks it"):
        load("usps", data_home=folder)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("leter", "'letter'"),
        ("digits-1279a", "'digits-1279'"),
        ("digits-3-3", "'digits-3-9'"),
        ("gap", "'gaps'"),
    ],
)
def test_misspelled_name(folder, wrong, right):
    with pytest.raises(DatasetNotFound, match=f"Did you mean .*{right}"):
        load(wrong, data_home=folder)


def test_strange_name():
    with pytest.raises(DatasetNotFound, match="No known one has this name"):
        load("../../secret")


def test_every_known_set_has_an_origin():
    assert len(known()) == 34
    assert all(entry.source and entry.licence and entry.n > 0 for entry in known().values())


REAL = {
    "letter-ab": (1555, 16, 2),
    "letter-abcd": (3096, 16, 4),
    "satellite-c1-c2": (2236, 36, 2),
    "svmguide1": (3089, 4, 2),
    "usps": (9298, 256, 10),
    "tdt2": (9394, 36771, 30),
    "tdt2-2651": (2651, 36771, 30),
}


@pytest.mark.parametrize("name", REAL)
def test_published_sizes(real_folder, name):
    dataset = load(name, data_home=real_folder)
    assert (*dataset.data.shape, dataset.n_classes) == REAL[name]


def test_real_folder_is_as_known(real_folder):
    for name, entry in known().items():
        dataset = load(name, data_home=real_folder)
        assert (*dataset.data.shape, dataset.n_classes) == (entry.n, entry.d, entry.classes), name


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_folder_and_scikit_learn_agree(real_folder, name):
    ours, theirs = load(name, data_home=real_folder), load(name)
    np.testing.assert_array_equal(ours.data, theirs.data)
    np.testing.assert_array_equal(ours.target, theirs.target)


def test_missing_values_of_the_real_set(real_folder):
    gaps = np.isnan(load("breast-cancer-699", data_home=real_folder).data)
    assert gaps.sum() == gaps[:, 5].sum() == 16
