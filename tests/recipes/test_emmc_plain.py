"""The loop of extreme maximum margin clustering against plain loops, for every coding of the labels."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.emmc_loop import FixedLabels, blobs, loop, problem

from clusterkit import recipe
from clusterkit.families.shared.band import Band
from clusterkit.families.shared.codecs import Argmax, Interval, Threshold
from clusterkit.fitting.starting import along_principal_axis
from clusterkit_campaign.oracles import ridge as plain


def same_partition(one, other):
    """Whether two labellings differ in the names of the labels alone."""
    return len(np.unique(np.column_stack([one, other]), axis=0)) == len(np.unique(one)) == len(np.unique(other))


CODECS = {
    "sign": Threshold(),
    "one output each": Argmax(),
    "nearest": Interval(),
    "signed": Interval("signed"),
    "midpoint": Interval("midpoint"),
    "paper": Interval("paper"),
}


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("coding", CODECS)
@given(data=st.data())
def test_the_loop_is_that_of_the_plain_version(coding, balanced, data):
    space, labels, k, slack, C = data.draw(problem(clusters=(2, 2) if coding == "sign" else (2, 4)))
    if coding in plain.BOUNDARIES:
        labels = along_principal_axis(space, labels, k)
    fit = loop(space, labels, k, CODECS[coding], Band(slack=slack) if balanced else None, C=C)
    expected, iterations, repeated, tie = plain.emmc(space.rows(), labels, k, coding, C, slack if balanced else None)
    assume(tie > 1e-9 * C)
    assert fit.converged == repeated
    if repeated:
        if coding == "one output each":  # clusters without rows are left out
            expected = np.unique(expected, return_inverse=True)[1]
        np.testing.assert_array_equal(fit.labels, expected)
        assert fit.n_iter == iterations


@pytest.mark.parametrize("nodes", ["radbas", "gaussian"])
@pytest.mark.parametrize(("outputs", "k"), [("one", 2), ("one", 3), ("one", 4), ("several", 3), ("several", 4)])
def test_the_recipe_of_the_paper_is_what_the_paper_describes(nodes, outputs, k):
    changes = {"featuremap__activation": nodes, "featuremap__centers": "uniform", "featuremap__n_hidden": 20}
    if outputs == "several":
        changes |= {"labeler": "argmax", "balancer__priority": "confidence"}
    compared = 0
    for seed in range(8):
        X = blobs(41, k, seed)
        X = 2.0 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1.0
        labels = np.random.default_rng(seed).permutation(np.arange(41) % k)
        space = recipe("emmc-paper", n_clusters=k, random_state=seed, **changes).fit(X).space_
        drawn = space.mapping
        A, b = (drawn.centers, drawn.widths) if nodes == "gaussian" else (drawn.weights, drawn.biases)
        if outputs == "one" and k > 2:
            labels = along_principal_axis(space, labels, k)
        model = recipe("emmc-paper", n_clusters=k, random_state=seed, init=FixedLabels(tuple(labels)), **changes).fit(X)
        expected, iterations, repeated, tie = plain.emmc_as_described(X, labels, k, nodes, A, b, outputs, 500.0, 1)
        if tie > 1e-9 and repeated and model.converged_:
            compared += 1
            assert model.n_iter_ == iterations
            assert same_partition(model.labels_, expected)
    assert compared >= 4


@pytest.mark.parametrize(
    ("name", "k", "coding"),
    [
        ("emmc", 2, "sign"),
        ("emmc", 3, "one output each"),
        ("emmc-paper", 2, "sign"),
        ("emmc-paper", 3, "nearest"),
        ("emmc-single", 3, "nearest"),
        ("emmc-multi", 2, "one output each"),
    ],
)
def test_a_recipe_ends_where_the_plain_version_stays(name, k, coding):
    for seed in range(4):
        X = blobs(61, k, seed)
        model = recipe(name, n_clusters=k, random_state=seed, featuremap__n_hidden=30).fit(X)
        if not model.converged_:
            continue
        C = model.resolved_["solver"]["C"] if "solver" in model.resolved_ else 500.0
        labels, iterations, repeated, _ = plain.emmc(model.space_.rows(), model.labels_, k, coding, C, int(0.03 * 61))
        np.testing.assert_array_equal(labels, model.labels_)
        assert (iterations, repeated) == (1, True)
