"""Free text is topics where words come together, and left out where they do not."""

from __future__ import annotations

import numpy as np
import pytest

import clusterkit
from clusterkit import Auto, explain, profile
from clusterkit.errors import TableWarning
from clusterkit.metrics import adjusted_rand
from clusterkit.tables import Preparation

RNG = np.random.default_rng(0)
COMMON = [f"word{i}" for i in range(60)]
TOPICS = ["battery charge screen phone", "delivery late parcel broken", "taste sweet coffee cup"]


def table(classes, share=0.5):
    words = (
        [str(RNG.choice(TOPICS[c].split() if RNG.random() < share else COMMON)) for _ in range(12)] for c in classes
    )
    return {"review": np.array([" ".join(its) for its in words]), "noise": RNG.normal(size=len(classes))}


PLANTED = RNG.integers(3, size=240)
TABLE = table(PLANTED)


def part(rows, of=TABLE):
    return {name: cells[rows] for name, cells in of.items()}


def test_topics_are_found_named_saved_and_explained(tmp_path):
    model = Auto(n_clusters=3, random_state=0).fit(TABLE)
    assert adjusted_rand(PLANTED, model.labels_) > 0.9
    assert "review: 2 topics" in model.preparation_.paragraph()
    clusterkit.save(model, tmp_path / "model")
    new = table(PLANTED)
    labels = clusterkit.load(tmp_path / "model").predict(new)
    assert adjusted_rand(PLANTED, labels) > 0.9
    assert [model.predict(part([i], new))[0] for i in range(9)] == list(labels[:9])
    rules = str(profile(model, TABLE))
    assert all(any(word in rules for word in topic.split()) for topic in TOPICS)
    assert "%: review is " in str(explain(model, part([0])))


def test_the_parts_of_a_table_give_the_topics_of_the_whole():
    parts = Preparation().fit_blocks([part(slice(70)), part(slice(70, 240))])
    np.testing.assert_allclose(parts.transform(TABLE), Preparation().fit(TABLE).transform(TABLE), atol=1e-9)


@pytest.mark.filterwarnings("ignore:columns of texts")
def test_words_that_come_by_chance_are_no_topic():
    assert "review" in Preparation().fit(table(PLANTED, 0.0)).left_out


def test_a_text_without_a_known_word_is_a_gap():
    fitted = Preparation().fit(TABLE)
    rows = {"review": np.array(["xyzzy plugh", *TABLE["review"][:1]]), "noise": np.zeros(2)}
    with pytest.warns(TableWarning, match="without a word of the fit and counted as gaps"):
        assert not fitted.transform(rows)[0, :2].any()
