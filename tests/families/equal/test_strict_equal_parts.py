"""The partitioner `equal` with ``strict=True`` against the printed rule in plain loops."""

import numpy as np
from clusterkit_min_max import MinMaxModularSVC
from hypothesis import assume, given
from hypothesis import strategies as st

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.families.equal.drift import random_distinct_rows
from clusterkit.families.equal.equal import EqualParts
from clusterkit.samples import identity_space
from clusterkit_campaign.oracles.balance import strict_parts


@given(
    n=st.integers(30, 150),
    k=st.integers(2, 13),
    d=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
    max_iter=st.sampled_from([1, 5, 60]),
)
def test_strict_parts_are_the_printed_ones(n, k, d, seed, max_iter):
    X = np.random.default_rng(seed).normal(size=(n, d))
    seeds, _ = random_distinct_rows(X, k, np.random.default_rng(seed))
    expected, tie = strict_parts(X, X[seeds], max_iter)
    assume(tie > 1e-9 and len(np.unique(expected)) == k)  # an empty part would get a row
    stage = EqualParts(strict=True, max_iter=max_iter)
    assert np.array_equal(stage.start(identity_space(X), Task(n, k), np.random.default_rng(seed)), expected)


def test_the_modular_classifier_takes_the_strict_rule():
    X = np.random.default_rng(0).normal(size=(120, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    strict = MinMaxModularSVC(3, {"name": "equal", "strict": True}, random_state=0).fit(X, y)
    assert strict.score(X, y) > 0.8


def test_the_recipe_gives_equal_sizes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3, 2))[rng.integers(3, size=2000)] * 5 + rng.normal(size=(2000, 2))
    for k in (7, 20):
        model = recipe("equal-clustering", n_clusters=k, random_state=0, solver__max_iter=300).fit(X)
        sizes = np.bincount(model.labels_, minlength=k)
        assert sizes.max() - sizes.min() <= 1
        assert np.array_equal(model.predict(X), model.labels_)
