"""The warning of a Gaussian kernel whose matrix is numerically the identity or constant."""

from __future__ import annotations

import warnings
from typing import ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit import Pipeline, recipe
from clusterkit.contracts import Tuned, Tuner
from clusterkit.errors import ClusterkitWarning
from clusterkit.samples import KernelSpace, build_space, kernel_space
from clusterkit.samples.kernel_space import warn_of_degenerate_kernel
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.transform import IdentityMap

KERNEL_METHODS = [
    "itersvm",
    "itersvr",
    "cpm3c",
    "kernel-kmeans",
    "kernel-nmf",
    "gmmc",
    "svc",
    "psvc",
    "sgd-lmsvc",
]


def messages_of(space):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_degenerate_kernel(space)
    return [str(warning.message) for warning in caught]


def rows(n=90, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@given(
    n=st.integers(2, 150), d=st.integers(1, 5), seed=st.integers(0, 99), power=st.floats(-14, 6),
    columns=st.sampled_from([1, 7, 2048]),
)  # fmt: skip
def test_it_warns_of_the_matrix_as_a_whole(n, d, seed, power, columns):
    X, gamma = rows(n, d, seed), 10.0**power
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    looked_at = np.unique(np.linspace(0, n - 1, min(n, kernel_space.LOOKED_AT)).astype(int))
    smallest = K[looked_at].min()
    np.fill_diagonal(K, 0.0)
    nearest = np.median(K[looked_at].max(axis=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_space, "FIRST_COLUMNS", columns)
        messages = messages_of(KernelSpace(X, Gaussian(gamma)))
    assert (len(messages) == 1) == (nearest < 1e-3 or 1.0 - smallest < 2.0**-26)
    if nearest < 1e-3:
        assert "numerically the identity" in messages[0]
        assert f"gamma = {gamma:.3g}" in messages[0]
        assert f"{nearest:.1e}" in messages[0]
        assert "decrease gamma" in messages[0]
    elif messages:
        assert "numerically constant" in messages[0]
        assert "increase gamma" in messages[0]


def test_features_and_other_kernels_are_passed_over():
    X = np.ones((9, 2)) + 1e-9 * rows(9, 2)
    assert messages_of(KernelSpace(X, Linear())) == []
    assert messages_of(build_space(X, IdentityMap(2))) == []


@pytest.mark.parametrize("name", KERNEL_METHODS)
@pytest.mark.parametrize(("gamma", "message"), [(1e6, "numerically the identity"), (1e-12, "numerically constant")])
def test_every_kernel_method_warns(name, gamma, message):
    settings = {} if name in ("svc", "psvc", "sgd-lmsvc") else {"n_clusters": 2}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recipe(name, random_state=0, featuremap__gamma=gamma, **settings).fit(rows(40))
    texts = [str(warning.message) for warning in caught if issubclass(warning.category, ClusterkitWarning)]
    assert sum(message in text for text in texts) == 1


@pytest.mark.parametrize("name", [*KERNEL_METHODS, "edsvc", "fsvc"])
def test_no_method_warns_with_its_defaults(name):
    settings = {} if name in ("svc", "edsvc", "psvc", "fsvc", "sgd-lmsvc") else {"n_clusters": 2}
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 6.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recipe(name, random_state=0, **settings).fit(X)
    assert not [w for w in caught if "kernel matrix is numerically" in str(w.message)]


@attrs.frozen
class Narrow(Tuner):
    """A tuner that chooses a width at which no sample resembles another."""

    name: ClassVar[str] = "narrow"

    def tune(self, stages, X, rng):
        return Tuned({**stages, "featuremap": attrs.evolve(stages["featuremap"], gamma=1e6)})


def test_a_width_that_a_tuner_chose_is_not_told(recwarn):
    fixed = Pipeline({"name": "rbf", "gamma": 1e6}, "svdd", "complete_graph").fit(rows(40))
    assert [w for w in recwarn if "numerically the identity" in str(w.message)]
    recwarn.clear()
    tuned = Pipeline("rbf", "svdd", "complete_graph", tuner=Narrow()).fit(rows(40))
    assert tuned.space_.kernel.gamma == fixed.space_.kernel.gamma
    assert not [w for w in recwarn if "kernel matrix is numerically" in str(w.message)]
