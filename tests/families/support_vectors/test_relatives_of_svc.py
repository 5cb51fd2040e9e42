"""The relatives of `svc` have usable defaults: their widths are chosen, and what the user sets stays."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import recipe

DRAWING = ("fsvc", "sgd-lmsvc", "sgd-lmsvc-strip")


def test_solvers_that_draw_have_the_width_of_svc():
    X, _ = make_moons(80, noise=0.05, random_state=0)
    of_svc, *models = (recipe(name, random_state=0).fit(X) for name in ("svc", *DRAWING))
    for model in models:
        assert model.space_.kernel.gamma == of_svc.space_.kernel.gamma
    assert models[0].resolved_["solver"]["nu"] == of_svc.resolved_["solver"]["nu"]


@pytest.mark.parametrize("name", DRAWING)
def test_a_width_that_is_set_is_all_that_decides(name):
    X, _ = make_moons(150, noise=0.05, random_state=0)
    model = recipe(name, featuremap__gamma=9.0, random_state=0).fit(X)
    plain = recipe(name, featuremap__gamma=9.0, tuner=None, random_state=0).fit(X)
    assert np.array_equal(model.labels_, plain.labels_)
    assert np.array_equal(model.outcome_.weights, plain.outcome_.weights)


def test_bounds_inside_a_part_stay():
    X, _ = make_moons(150, noise=0.05, random_state=0)
    for settings in ({"solver__solver__C": 0.1}, {"solver__solver": "psvdd"}):
        assert recipe("fsvc", random_state=0, **settings).fit(X).resolved_.get("solver", {}).get("nu") is None


def test_psvc_finds_the_moons():
    X, y = make_moons(200, noise=0.05, random_state=0)
    labels = recipe("psvc", labeler__outliers="nearest").fit(X).labels_
    assert adjusted_rand_score(y, labels) == 1.0
