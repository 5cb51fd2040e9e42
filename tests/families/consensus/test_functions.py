"""The functions on plain arrays: what they take, what they refuse, plugins among them, and real data."""

from __future__ import annotations

import inspect
from typing import ClassVar, final

import attrs
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import clusterkit
from clusterkit import consensus
from clusterkit.contracts import Consensus
from clusterkit.contracts.labelings import Labelings, by_appearance, cluster_limit
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter, NeedsMemory, UnknownName

MEMBERS = [[0, 0, 0, 1, 1, 1], [4, 4, 4, 2, 2, 2], [0, 0, 1, 1, 2, 2]]


@pytest.mark.parametrize(
    ("labelings", "message"),
    [
        ([], "labelings is empty; at least one labelling is needed"),
        (3, "labelings must be a sequence of label vectors, got 3"),
        ([0, 1, 1], r"labelings\[0\] must be one-dimensional, got shape \(\): labellings are rows"),
        ([[], []], r"labelings\[0\] is empty"),
        ([[0, 1], [0, 1, 1]], r"same samples: labelings\[0\] has 2 labels, labelings\[1\] has 3"),
        ([[0, 1], [0.5, 1]], r"labelings\[1\]\[0\] is 0.5; labels must be whole numbers from 0, or -1 for noise"),
        ([[0, 1], [0, float("nan")]], r"labelings\[1\]\[1\] is nan"),
        ([[0, -2]], r"labelings\[0\]\[1\] is -2"),
        ([["a", "b"]], r"labelings\[0\] has values of type <U1"),
        ([[True, False]], "has values of type bool"),
        (np.ma.masked_array([[0, 1], [0, 1]], mask=[[0, 0], [0, 1]]), r"labelings\[1\] has masked values"),
        ([[-1, -1], [-1, -1]], r"all labels of all labellings are -1 \(noise\)"),
    ],
)
def test_what_is_no_ensemble_is_refused(labelings, message):
    for name in ("diclens", "voting"):
        with pytest.raises(InvalidData, match=message):
            getattr(consensus, name)(labelings)


def test_whole_floats_are_labels():
    assert consensus.voting(np.array(MEMBERS, dtype=float)).tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"consensus": "cspa"}, InvalidParameter, "consensus 'cspa' needs the number of clusters"),
        ({"consensus": "diclens", "n_clusters": 2}, InvalidParameter, "'diclens' finds the number of clusters itself"),
        ({"consensus": "hbgf", "n_clusters": 0}, InvalidParameter, "n_clusters must be an integer >= 1 or None, got 0"),
        ({"consensus": "hbgf", "n_clusters": True}, InvalidParameter, "got True"),
        ({"consensus": "diclense"}, UnknownName, "Did you mean 'diclens'"),
        ({"consensus": 3}, InvalidParameter, "or a Consensus; got 3"),
        ({"consensus": "comusa", "relax": 1}, UnknownName, "no parameter 'relax'"),
        ({"consensus": "comusa", "relaxation": -1.0}, InvalidParameter, "relaxation must be >= 0"),
        ({"random_state": -1}, InvalidParameter, "random_state must be"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        consensus.combine(MEMBERS, **arguments)


def test_more_clusters_than_groups_of_samples_warn():
    with pytest.warns(ClusterkitWarning, match="5 clusters were asked for, but the members tell only 4 groups"):
        assert consensus.hbgf(MEMBERS, n_clusters=5).tolist() == [0, 0, 1, 2, 3, 3]


def test_the_matrix_of_counts_is_refused_above_the_cap(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "100K")
    members = np.random.default_rng(0).integers(5, size=(5, 400))
    with pytest.raises(NeedsMemory, match="Use consensus 'comusacl'"):
        consensus.comusa(members)
    assert consensus.voting(members).shape == (400,)


def test_labelings_keep_every_label_column_once():
    rng = np.random.default_rng(0)
    for members in (rng.integers(3, size=(4, 60)), rng.integers(40, size=(30, 60)), rng.integers(2, size=(70, 50))):
        distinct = Labelings.of(members)
        np.testing.assert_array_equal(distinct.columns[distinct.column_of].T, distinct.members)
        assert len(np.unique(distinct.columns, axis=0)) == len(distinct.counts)
        assert distinct.counts.tolist() == np.bincount(distinct.column_of).tolist()
        np.testing.assert_array_equal(distinct.column_of, by_appearance(distinct.column_of))


def test_the_limit_of_clusters():
    assert [cluster_limit(n, "cbrt") for n in (1, 7, 27, 178, 1000, 1593)] == [2, 2, 3, 5, 10, 11]
    assert [cluster_limit(n, "sqrt") for n in (1, 8, 9, 178, 1593)] == [2, 2, 3, 13, 39]


class TestEveryName:
    def test_help_is_the_text_of_the_stage_with_every_parameter(self):
        for name, stage in clusterkit.stages("consensus").items():
            function = getattr(consensus, name)
            text = inspect.getdoc(function)
            sentences = inspect.cleandoc(stage.__doc__).split("\n\n")
            assert sentences[0] in text
            assert sentences[-1] in text  # the notes
            lines = text.split("Parameters\n----------\n")[1].split("Returns\n")[0].splitlines()
            listed = [line.split(" : ")[0] for line in lines if " : " in line and not line.startswith(" ")]
            signature = inspect.signature(function).parameters
            assert listed == list(signature)
            assert {key: signature[key].default for key in listed[3:]} == dict(stage().parameters())
            assert name in dir(consensus)
            assert "the same method as a stage" in text

    def test_another_name_is_an_attribute_error(self):
        with pytest.raises(AttributeError, match="no function 'dicklens'; there are: coassociation, comusa"):
            _ = consensus.dicklens
        assert not hasattr(consensus, "__nothing__")

    def test_one_of_this_session(self):
        @clusterkit.register
        @final
        @attrs.frozen
        class First(Consensus):
            """The first member."""

            name: ClassVar[str] = "first"
            finds_k: ClassVar[bool] = True

            def merge(self, labelings, k, rng):
                return np.maximum(labelings.members[0], 0)

        assert consensus.first(MEMBERS).tolist() == [0, 0, 0, 1, 1, 1]
        assert consensus.combine(MEMBERS, First()).tolist() == [0, 0, 0, 1, 1, 1]


def test_diclens_on_wine():
    """Five ensembles of k-means with random numbers of clusters; single members get 0.65 in the mean."""
    data = load_wine()
    X = StandardScaler().fit_transform(data.data)
    scores = [
        adjusted_rand_score(data.target, consensus.diclens(clusterkit.ensemble(X, 10, random_state=seed)))
        for seed in range(5)
    ]
    assert np.mean(scores) >= 0.80


def test_tables_dicts_and_names():
    members = [[0, 0, 1, 1], [0, 0, 1, 1]]
    frame = pytest.importorskip("pandas").DataFrame(members)
    np.testing.assert_array_equal(consensus.diclens(frame), [0, 0, 1, 1])
    np.testing.assert_array_equal(consensus.combine(members, {"name": "comusa"}), [0, 0, 1, 1])
    with pytest.raises(InvalidData, match="1 names are given for 2 labellings"):
        consensus.combine(members, names=["a"])
