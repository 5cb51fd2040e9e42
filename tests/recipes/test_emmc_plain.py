"""The loop of extreme maximum margin clustering against plain loops, for every coding of the labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.emmc_loop import blobs, loop, problem

from clusterkit import recipe
from clusterkit.balancers.band import Band
from clusterkit.fitting.starting import along_principal_axis
from clusterkit.labelers.codecs import Argmax, Interval, Threshold
from clusterkit_campaign.oracles import ridge as plain

CODECS = {
    "sign": Threshold(),
    "one output each": Argmax(),
    "nearest": Interval(),
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
        np.testing.assert_array_equal(fit.labels, expected)
        assert fit.n_iter == iterations


@pytest.mark.parametrize(
    ("name", "k", "coding"),
    [
        ("emmc", 2, "sign"),
        ("emmc", 3, "one output each"),
        ("emmc-paper", 2, "sign"),
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
