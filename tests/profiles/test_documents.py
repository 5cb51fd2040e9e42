"""Words of clusters of documents, from texts or counts, for labels and for layers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import clusterkit
from clusterkit import recipe
from clusterkit.errors import InvalidData, InvalidParameter

TEXTS = [
    "the cat sat on the mat", "a cat and a kitten purr", "the kitten chased the cat",
    "stocks fell as the bank raised rates", "the bank lent money", "rates rose and stocks fell",
]  # fmt: skip
LABELS = np.array([0, 0, 0, 1, 1, 1])


def test_words_are_weighted_by_class_based_tf_idf():
    counts = np.array([[3.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 4.0]])
    labels = np.array([0, 0, 1])
    topics = clusterkit.profile(labels, texts=csr_array(counts), names=["cat", "the", "bank"])
    tf = np.array([[4 / 6, 2 / 6, 0.0], [0.0, 2 / 6, 4 / 6]])
    expected = tf * np.log1p(6.0 / np.array([4.0, 4.0, 4.0]))
    for label in (0, 1):
        words = dict(topics[label].words)
        for j, word in enumerate(["cat", "the", "bank"]):
            assert words.get(word, 0.0) == pytest.approx(expected[label, j])
    assert topics[0].words[0][0] == "cat"
    assert topics[1].name.startswith("bank")


def test_texts_give_words_names_and_rows_that_stand_for_the_cluster():
    topics = clusterkit.profile(LABELS, texts=TEXTS, max_features=4, n_representatives=2)
    assert "cat" in topics[0].name
    assert {"stocks", "bank", "rates", "fell"} & {word for word, _ in topics[1].words}
    assert set(topics[0].rows) <= {0, 1, 2}
    assert len(topics[1].rows) == 2
    assert len(topics[0].words) == 4
    assert str(topics).startswith("2 clusters of 6 documents")


def test_a_function_may_name_the_topics():
    topics = clusterkit.profile(LABELS, texts=TEXTS, naming=lambda topic: f"{topic.size} about {topic.words[0][0]}")
    assert topics[0].name.startswith("3 about ")
    table = clusterkit.profile(LABELS, np.eye(6), naming=lambda cluster: f"{cluster.size} of {cluster.label}")
    assert [cluster.name for cluster in table.clusters] == ["3 of 0", "3 of 1"]


def test_noise_has_no_topic_and_layers_have_their_own():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=240)
    X = (np.eye(4, 60)[y] + 0.05 * rng.normal(size=(240, 60))).astype(np.float32)
    words = np.array(["apple", "river", "violin", "granite"])
    model = recipe("embeddings", random_state=0).fit(X)
    topics = clusterkit.profile(model, texts=[f"{words[c]} and {words[c]} again" for c in y])
    assert {topic.name.split(",")[0] for topic in topics.clusters} == set(words)
    assert [len(layer) for layer in topics.layers] == [layer.n_clusters for layer in model.layers_]
    noisy = clusterkit.profile(np.array([-1, 0, 0, 1, 1, 1]), texts=TEXTS)
    assert (noisy.n_noise, len(noisy.clusters)) == (1, 2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"texts": TEXTS[:3]}, InvalidData, "texts has 3 rows and there are 6 labels"),
        ({"texts": "one text"}, InvalidData, "texts must be a sequence of strings"),
        ({"texts": [*TEXTS[:5], None]}, InvalidData, "a sequence of strings, one for each row, and row 5 has None"),
        ({"texts": 7}, InvalidData, "texts must be a sequence of strings.*got 7"),
        ({"texts": TEXTS, "naming": lambda topic: None}, InvalidParameter, "returned None for cluster 0"),
        ({"texts": TEXTS, "naming": "name"}, InvalidParameter, "naming must be a function.*got 'name'"),
        (
            {"texts": TEXTS, "n_bootstraps": 5},
            InvalidParameter,
            "n_bootstraps says something of a table only, and is 5",
        ),
        ({"X": np.eye(6), "n_representatives": 2}, InvalidParameter, "n_representatives says something of texts only"),
        ({"texts": ["!"] * 6}, InvalidData, "texts have no words"),
        ({"texts": csr_array(-np.eye(6))}, InvalidData, "negative counts"),
        ({"texts": csr_array(np.eye(6)), "names": ["a"]}, InvalidParameter, "names has 1 terms"),
        ({}, InvalidParameter, "the table X, or texts: one of the two"),
    ],
)
def test_what_is_no_text_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        clusterkit.profile(LABELS, **arguments)
