"""The domain of a sample made right for all rows: level and violators."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from clusterkit import recipe
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.single import fit_on_sample, level_for
from clusterkit.metrics import adjusted_rand
from clusterkit.samples.kernels import Gaussian

N = 1500


@pytest.fixture(scope="module")
def moons():
    return make_moons(N, noise=0.06, random_state=0)


def domain_of(X):
    """Some kernel sum; its level is to be decided."""
    return KernelDomain(X[::50].copy(), np.full(len(X[::50]), 1.0 / len(X[::50])), Gaussian(4.0), level=0.0)


def composition(**parameters):
    return recipe("svc", tuner=None, featuremap__gamma=20.0, labeler__min_cluster_size=20, **parameters).composition()


SAMPLE = np.arange(0, N, 5)


@pytest.mark.parametrize("nu", [1e-4, 0.05, 0.5, 0.999])
def test_the_level_is_an_order_statistic(moons, nu):
    X, _ = moons
    domain, outside = level_for(domain_of(X), X, nu, 1e-6)
    values = np.sort(domain.value(X))
    allowed = int(nu * N)
    least = values[allowed]
    assert domain.level == least - min(0.5e-6, 1e-3 * least)
    assert outside == pytest.approx((values < domain.level).mean(), abs=2 / N)
    assert (values < domain.level).sum() <= allowed


def test_equal_values_are_all_inside():
    X = np.zeros((500, 2))
    domain, outside = level_for(KernelDomain(X[:1], np.ones(1), Gaussian(1.0), level=0.0), X, 0.3, 1e-6)
    assert outside == 0.0
    assert (domain.value(X) >= domain.level).all()


def test_violators_join_until_the_sphere_is_that_of_all_rows(moons):
    X, _ = moons
    c = composition(solver__C=1.0)
    sampled = fit_on_sample(c, SAMPLE, X, Seeds(0))
    full = recipe(
        "svc", tuner=None, featuremap__gamma=20.0, labeler__min_cluster_size=20, solver__C=1.0, random_state=0
    ).fit(X)
    facts = sampled.resolved["tuner"]
    assert facts["joined_rows"] > 0
    assert facts["gap"] <= 1e-6
    assert facts["fitted_rows"] == len(SAMPLE) + facts["joined_rows"]
    assert sampled.outcome.level == pytest.approx(full.outcome_.level, abs=2e-6)
    assert (sampled.outcome.value(X) >= sampled.outcome.level - 1e-9).all()
    assert adjusted_rand(full.labels_, sampled.labels) == 1.0


@pytest.mark.parametrize("outliers", ["nearest", "noise"])
def test_labels_agree_with_those_of_all_rows_and_new_rows_with_them(moons, outliers):
    X, y = moons
    c = composition(solver__nu=0.1, labeler__outliers=outliers)
    fit = fit_on_sample(c, SAMPLE, X, Seeds(0))
    facts = fit.resolved["tuner"]
    assert facts["share_outside"] <= 0.1
    assert facts["share_outside"] == pytest.approx(0.1, abs=0.01)
    assert facts["stability"] > 0.95
    inside = fit.labels >= 0
    assert (not inside.all()) == (outliers == "noise")
    assert adjusted_rand(y[inside], fit.labels[inside]) > 0.98
    assert np.array_equal(fit.predict(X), fit.labels)
    if outliers == "noise":
        assert np.array_equal(inside, fit.outcome.value(X) >= fit.outcome.level)
