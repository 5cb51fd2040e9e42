"""scikit-learn's checks of estimators that take arrays of any library, in a process of its own.

Its dispatch needs the variable SCIPY_ARRAY_API before scipy is imported, which changes functions of scipy for all.
"""

import os
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from unittest import SkipTest

import pytest

pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")
CHECKS = pytest.importorskip("sklearn.utils.estimator_checks")

RECIPES = {
    "kmeans": {},
    "elm-kmeans": {"featuremap__n_hidden": 20},
    "emmc": {},
    "emmc-multi": {},
    "emmc-single": {},
    "emmc-paper": {},
    "emmc-graph": {},
    "spectral": {},
    "nmf": {"solver__update": "anls", "solver__max_iter": 20},
    "elm-nmf": {"featuremap__n_hidden": 20, "solver__update": "anls", "solver__max_iter": 20},
}  # fmt: skip
"""Recipes that take arrays of any library, with changes."""

WEIGHTED = {"emmc-multi": {"balancer": None}, "kmeans": {}}
"""Recipes that count the samples by weights, with changes for it."""

VARIABLE = "SCIPY_ARRAY_API"


def yielded(estimator):
    """The checks of this version of scikit-learn, of values too."""
    if hasattr(CHECKS, "_yield_array_api_checks"):
        try:
            yield from CHECKS._yield_array_api_checks(estimator)
        except TypeError:  # older versions take no estimator
            yield from CHECKS._yield_array_api_checks()


def run_all(estimator) -> list[str]:
    """The names of the checks that ran; those of libraries that are not installed are left out."""
    names = []
    for check in yielded(estimator):
        function = check.func if isinstance(check, partial) else check
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(type(estimator).__name__, estimator)
        except SkipTest:
            continue
        names.append(function.__name__)
    return names


def printed(*command: str) -> str:
    """What a process of its own prints."""
    environment = {**os.environ, VARIABLE: "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.deep
@pytest.mark.skipif(VARIABLE in os.environ, reason="this is the process of its own")
def test_the_checks_pass_in_a_process_of_their_own():
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    assert f"{len(RECIPES) + len(WEIGHTED) + 3} passed" in printed("-m", "pytest", *options, str(Path(__file__)))


@pytest.mark.skipif(VARIABLE in os.environ, reason="this is the process of its own")
def test_the_checks_of_one_recipe_pass_in_a_process_of_their_own():
    code = (
        "import runpy; TestThere = runpy.run_path({!r})['TestThere']; TestThere().test_checks_of_scikit_learn('kmeans')"
    )
    printed("-c", code.format(str(Path(__file__))))


@pytest.mark.skipif(VARIABLE not in os.environ, reason="runs in a process of its own")
class TestThere:
    @pytest.mark.parametrize("name", RECIPES)
    def test_checks_of_scikit_learn(self, name):
        from clusterkit import recipe

        model = recipe(name, n_clusters=2, **RECIPES[name])
        assert model.__sklearn_tags__().array_api_support
        # numpy, two devices of array-api-strict, and another place than that of the fit
        assert len(run_all(model)) >= 3

    @pytest.mark.parametrize("name", [*WEIGHTED, "nmf", "elm-nmf"])
    def test_values_and_weights(self, name):
        from clusterkit import recipe

        check = getattr(CHECKS, "check_array_api_input", None)
        if check is None:
            pytest.skip("this version of scikit-learn has no such check")
        model = recipe(name, n_clusters=2, random_state=0, **RECIPES[name], **WEIGHTED.get(name, {}))
        if name == "nmf":  # the samples of the check have negative values
            model.set_params(featuremap__limits=(0.0, 1.0))
        check(
            "Pipeline", model, array_namespace="array_api_strict", device_name="device1",
            dtype_name="float64", check_values=True, check_sample_weight=name in WEIGHTED,
        )  # fmt: skip

    def test_what_has_no_path_says_so_to_scikit_learn(self):
        from clusterkit import recipe

        for name in ("ncut", "kernel-nmf", "kernel-kmeans", "svc", "auto"):
            assert not recipe(name).__sklearn_tags__().array_api_support
