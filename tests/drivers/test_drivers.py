"""Drivers: a registered kind, which an estimator runs, and which plugins and their recipes bring."""

from __future__ import annotations

import subprocess
import sys
from typing import ClassVar, final

import attrs
import numpy as np
import pytest
from scikit_learn_checks import run_checks
from sklearn.base import clone
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import Auto, Pipeline, Recipe, recipe
from clusterkit.contracts import Driver, DriverResult, params
from clusterkit.contracts.registry import registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.single import SingleDriver
from clusterkit.errors import InvalidParameter, UnknownName
from clusterkit.estimators.driven import Driven
from clusterkit.fitting.fit import fit

X, y = make_blobs([40, 40], n_features=3, random_state=3, cluster_std=2.5)
STAGES = {"featuremap": "elm", "solver": "ridge", "labeler": "threshold", "init": "random", "n_init": 3}


@final
@attrs.frozen
class Repeated(Driver):
    """Fits several times and returns the last fit.

    Parameters
    ----------
    times : int
    """

    name: ClassVar[str] = "repeated"
    times: int = params.integer(2, at_least=1)

    def run(self, compositions, X, seeds):
        c = self.single(compositions)
        fits = [fit(c, X, seeds.child("time", i)) for i in range(self.times)]
        return DriverResult(fits[-1], {"objectives": np.array([candidate.objective for candidate in fits])})


@pytest.fixture
def repeated():
    """A driver and a recipe with it, registered as a plugin would."""
    clusterkit.register(Repeated)
    clusterkit.register(Recipe("emmc-repeated", "EMMC, repeated", "nobody", {**STAGES, "times": 3}, driver="repeated"))
    yield
    registry.forget()


def composition(**changes):
    return Pipeline(**STAGES).set_params(**changes).composition()


def test_the_built_in_drivers():
    assert sorted(clusterkit.stages("driver")) == ["auto", "auto_pooled", "pooled", "single"]  # two of a plugin
    classes = {name: type(recipe(name)) for name in ("emmc", "auto", "emmc-auto")}
    assert classes == {"emmc": Pipeline, "auto": Auto, "emmc-auto": Driven}


def test_a_single_fit_is_that_of_the_core():
    c = composition()
    np.testing.assert_array_equal(SingleDriver().run([c], X, Seeds(0)).fit.labels, fit(c, X, Seeds(0)).labels)
    np.testing.assert_array_equal(Pipeline(**STAGES, random_state=0).fit(X).labels_, fit(c, X, Seeds(0)).labels)


def test_drivers_take_one_composition():
    with pytest.raises(InvalidParameter, match="driver 'single' takes one composition, got 2"):
        SingleDriver().run([composition()] * 2, X, Seeds(0))


def test_parameters_of_the_base_go_to_a_copy_of_it():
    base = Pipeline()
    model = Driven("single", base).set_params(solver__C=3.0)
    assert model.base.get_params()["solver__C"] == 3.0
    assert base.solver == "ridge"


def test_drivers_know_no_scikit_learn():
    modules = ("compose", "single")
    script = (
        f"import sys, {', '.join(f'clusterkit.drivers.{name}' for name in modules)}; print('sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.usefixtures("repeated")
class TestDriverOfAPlugin:
    def test_a_recipe_brings_it_with_parameters(self):
        model = recipe("emmc-repeated", n_clusters=2, random_state=0).fit(X)
        assert type(model) is Driven
        assert len(model.objectives_) == 3
        again = recipe("emmc-repeated", n_clusters=2, random_state=0, times=5, solver__C=2.0)
        assert again.get_params()["times"] == 5
        assert again.driver == Repeated(5)
        assert again.base.solver.C == 2.0
        assert len(again.fit(X).objectives_) == 5

    def test_it_clones_and_predicts(self):
        model = recipe("emmc-repeated", n_clusters=2, random_state=0, times=1)
        copy = clone(model).fit(X)
        np.testing.assert_array_equal(copy.labels_, model.fit(X).labels_)
        np.testing.assert_array_equal(copy.predict(X[::-1]), model.predict(X[::-1]))

    def test_its_parameters_are_checked_by_name(self):
        with pytest.raises(InvalidParameter, match="driver 'repeated': times must be an integer >= 1, got 0"):
            recipe("emmc-repeated", times=0)
        with pytest.raises(UnknownName, match=r"Driven has no parameter 'tims'. Did you mean 'times'"):
            recipe("emmc-repeated", tims=2)

    def test_a_driver_is_set_before_its_parameters(self):
        model = Driven().set_params(times=4, driver="repeated")
        assert model.driver == Repeated(4)

    def test_it_is_listed(self):
        assert clusterkit.stages("driver")["repeated"] is Repeated
        assert clusterkit.recipes()["emmc-repeated"].driver == "repeated"


def test_a_recipe_with_a_driver_that_nobody_provides():
    clusterkit.register(Recipe("lost", "", "", {}, driver="poled"))
    try:
        with pytest.raises(UnknownName, match=r"recipe 'lost' .* no driver named 'poled'. Did you mean 'pooled'"):
            recipe("lost")
    finally:
        registry.forget()


def test_scikit_learn_checks():
    run_checks(Driven("pooled", Pipeline(**STAGES, n_clusters=2)).set_params(n_maps=2, labeler="argmax"))


def test_what_a_tuner_chose_is_reported():
    X = np.random.default_rng(0).normal(size=(60, 2)) + 6.0 * (np.arange(60) % 2)[:, None]
    base = Pipeline("rbf", "svdd", "complete_graph", tuner="svc_auto", random_state=0)
    pipeline, driven = base.fit(X), Driven(driver="single", base=base, random_state=0).fit(X)
    assert driven.resolved_["featuremap"] == pipeline.resolved_["featuremap"]
    assert driven.resolved_["tuner"]["rule"] == pipeline.resolved_["tuner"]["rule"]
