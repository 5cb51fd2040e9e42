"""What campaigns found, one case each: the smallest data and parameters that showed it."""

from __future__ import annotations

import warnings
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest

from clusterkit import ClusterkitWarning, Pipeline, load, recipe
from clusterkit.contracts.registry import registry
from clusterkit.errors import InvalidData, InvalidModelFile, InvalidParameter, TableError
from clusterkit.families.support_vectors.lmsvc import MOST_STEPS, Lmsvc
from clusterkit.tables.preparing.preparation import Preparation
from clusterkit.tables.reading.frames import columns_of
from clusterkit_campaign.data_sets import awkward_sets
from clusterkit_campaign.fits import of_recipe
from clusterkit_campaign.odd_parameters import OddCase, check_odd_case
from clusterkit_campaign.relations import check_relation

DENORMAL = np.array([[3e-323], [3.5e-323], [3.5e-323]])
"""Numbers whose differences have no squares."""


@pytest.fixture(autouse=True)
def _only_warnings_of_the_library():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ClusterkitWarning)
        yield


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_samples_at_distance_0_are_not_cut_apart(n_clusters):
    for X in (DENORMAL, np.array([[2.2250738585072014e-308], [6.675221575521604e-308], [6.675221575521604e-308]])):
        model = recipe("mass-cut", n_clusters=n_clusters).fit(X)
        assert np.array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("name", ["equal-clustering", "geoclust"])
def test_seeds_at_distance_0_give_a_partition(name):
    X = np.array([[3e-323, 3.5e-323], [3.5e-323, 3e-323]])
    labels = recipe(name, n_clusters=2, random_state=0).fit(X).labels_
    if name == "equal-clustering":
        assert sorted(labels) == [0, 1]


def test_inner_products_that_libsvm_cannot_take_are_refused():
    X = np.array([[1e100], [17.0]])
    model = Pipeline(
        featuremap="identity", solver="svm", labeler="bias_threshold", balancer="transport", init="random", n_clusters=2
    )
    with pytest.raises(InvalidData, match=r"'svm': coefficients, scores .* not finite .* featuremap 'minmax'"):
        model.fit(X)


def test_axes_of_tiny_float32_samples_come_without_a_warning():
    X = np.array([[-7.5e-30], [1.7e-31]], dtype=np.float32)
    assert len(Pipeline(featuremap="pca", solver="ridge", labeler="threshold", n_clusters=2).fit(X).labels_) == 2


def test_a_penalty_of_slack_without_effect_overflows_nowhere():
    X = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], 20)
    assert len(recipe("gmmc", n_clusters=2).set_params(solver__slack_penalty=1e300).fit(X).labels_) == 20


@pytest.mark.parametrize("stage", ["svdd", "psvdd"])
def test_weights_that_are_no_numbers_are_refused(stage):
    with pytest.raises(InvalidParameter, match=f"'{stage}': weights must be one"):
        registry.get("solver", stage)(weights=((1,),))


@pytest.mark.parametrize("slack", [10**400, 1e308, float("nan"), Decimal("0.5"), True])
def test_a_slack_beyond_all_rows_is_refused(slack):
    with pytest.raises(InvalidParameter, match="'band': slack must be a fraction of n"):
        registry.get("balancer", "band")(slack=slack)


def test_steps_that_no_criterion_can_end_are_limited():
    assert Lmsvc(step_tol=1e-150).most_steps == MOST_STEPS
    assert Lmsvc(step_tol=1e-2).most_steps == 1601


@pytest.mark.parametrize(
    ("kind", "name", "parameter", "value"),
    [
        ("estimator", "kmeans", "n_clusters", "np.int8(2)"),
        ("labeler", "excess_of_mass", "min_cluster_size", "2"),
        ("partitioner", "equal", "max_ratio", "Fraction(4)"),
        ("driver", "auto_pooled", "n_halvings", "10**9"),
        ("solver", "equal", "max_iter", "2**31 - 1"),
        ("labeler", "rows_kmeans", "n_init", "10**9"),
        ("tuner", "edsvc", "n_gamma", "10**9"),
        ("featuremap", "elm", "n_hidden", "2**31 - 1"),
        ("balancer", "transport", "sizes", "np.array(2)"),
        ("solver", "gmmc", "slack_penalty", "1e-300"),
        ("driver", "auto", "n_clusters", "1"),
        ("driver", "auto_pooled", "limit", "np.float16(0.5)"),
        ("balancer", "band", "slack", "np.float16(0.5)"),
        ("partitioner", "seeds", "trials", "2**31 - 1"),
        ("solver", "lmsvc", "C", "1e300"),
        ("solver", "lmsvc", "C", "1e12"),
    ],
)
def test_the_campaign_has_no_objection(kind, name, parameter, value):
    for seed in range(3):
        assert check_odd_case(OddCase(kind, name, parameter, value), Counter(), seed) == []


def test_probabilities_of_a_cluster_are_memberships():
    X = awkward_sets()["blobs"].drawn(3)
    model = recipe("hdbscan").set_params(labeler__min_cluster_size=2).fit(getattr(X, "X", X))
    assert np.allclose(model.memberships_.sum(axis=1), model.probabilities_)


def test_integers_beyond_the_floats_in_a_table_are_refused():
    pandas = pytest.importorskip("pandas", reason="needs pandas, of the extra 'tables'")
    with pytest.raises(InvalidData, match=r"column 'weight': a value is an integer beyond 1.8e\+308"):
        columns_of(pandas.DataFrame({"size": [1, 2], "weight": [10**400, 3]}))


def test_the_reason_for_a_table_without_columns_is_short():
    with pytest.raises(InvalidData, match="no column is left to cluster") as caught:
        Preparation().fit({"x" * 6000: ["y" * 6000] * 2})
    assert len(str(caught.value)) < 400


def test_a_number_beyond_the_floats_in_a_model_is_refused(tmp_path):
    path = tmp_path / "model.clusterkit"
    recipe("kmeans", n_clusters=2).fit(np.arange(6.0)[:, None]).save(path)
    data = path.read_bytes()
    place = data.index(b'"format')
    size = int.from_bytes(data[:8], "little")
    changed = data[:place] + rb"\"big\":1e999," + data[place:] if data[place - 1 : place] != b"\\" else None
    if changed is None:  # the text of the tree is a string inside the header: its quotes are escaped
        changed = data[: place - 1] + rb"\"big\":1e999," + data[place - 1 :]
    path.write_bytes((size + len(changed) - len(data)).to_bytes(8, "little") + changed[8:])
    with pytest.raises(InvalidModelFile, match="the number 1e999 is beyond the floats"):
        load(path)


def test_a_penalty_whose_objective_leaves_the_floats_is_refused():
    X = awkward_sets()["blobs"].drawn(1)
    model = recipe("itersvr", n_clusters=2, random_state=0).set_params(solver__C=1e300, solver__max_iter=100000)
    with pytest.raises(InvalidData, match=r"solver 'svr': .* not finite .* C = 1e\+300"):
        model.fit(X)


def test_an_embedding_whose_squared_distances_overflow_is_refused():
    model = Pipeline(featuremap="pca", solver="geoclust", labeler="rows_kmeans", balancer=None, n_clusters=2)
    with pytest.raises(InvalidData, match="the embedding has values up to"):
        model.fit(np.array([[1e153], [8.0]]))


@pytest.mark.parametrize("seed", [4047225280, 33880326])
def test_seeds_that_agree_by_chance_do_not_make_a_draw_determined(seed):
    assert check_relation("permuted rows", of_recipe("geoclust"), Counter(), seed) == []


@pytest.mark.parametrize("parameter", ["sigma", "sigma_fraction"])
def test_a_width_whose_square_leaves_the_floats_is_refused(parameter):
    model = recipe("sgd-lmsvc", random_state=0).set_params(**{f"featuremap__{parameter}": 1e300})
    with pytest.raises(InvalidParameter, match=r"'rbf': sigma = .* is too large, 1 / \(2 sigma²\) underflows"):
        model.fit(np.random.default_rng(0).normal(size=(40, 2)))


@pytest.mark.parametrize("tiny", [1e-310, 1e-200])
def test_columns_whose_squares_are_0_are_refused(tiny):
    table = {"a": np.array([0.1, 0.2, 0.15, 3.0, 2.0]), "b": tiny * np.array([1.0, 2.0, 1.5, 3.0, 5.0])}
    with pytest.raises(TableError, match="'b' has numbers that are too close together"):
        Preparation().fit(table)
