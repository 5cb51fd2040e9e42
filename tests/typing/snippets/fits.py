"""Estimators and functions of the package root, as a user calls them."""

from typing import Any, assert_type

import numpy as np
from clusterkit_min_max import MinMaxModularSVC
from numpy.typing import NDArray

import clusterkit
from clusterkit import (
    ConsensusClustering,
    Pipeline,
    consensus,
    ensemble,
    metrics,
    recipe,
    recipes,
    search,
)
from clusterkit.contracts.outcomes import Outcome
from clusterkit.estimators.driven import Driven
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.samples import Space


def recipes_by_name(X: NDArray[np.float64]) -> None:
    assert_type(recipes(), dict[str, clusterkit.Recipe])
    model = recipe("emmc", n_clusters=2, solver__C=1.0, random_state=0)
    assert_type(model, Pipeline | Driven)
    fitted = model.fit(X)
    assert_type(fitted, Pipeline | Driven)
    assert_type(fitted.labels_, NDArray[np.integer[Any]])
    assert_type(fitted.predict(X), NDArray[np.integer[Any]])
    assert_type(fitted.fit_predict(X), NDArray[np.integer[Any]])
    assert_type(fitted.objective_, float)
    assert_type(fitted.converged_, bool)
    assert_type(fitted.interrupted_, bool)
    assert_type(fitted.history_, NDArray[np.floating[Any]])
    assert_type(fitted.resolved_, dict[str, dict[str, object]])
    assert_type(fitted.space_, Space | None)
    assert_type(fitted.outcome_, Outcome | None)
    recipe(3)  # type: ignore[arg-type]


def slots(X: list[list[float]]) -> None:
    rng = np.random.default_rng(0)
    Pipeline("rbf", "svdd", "complete_graph", random_state=rng).fit(X)
    Pipeline({"name": "elm", "n_hidden": 30}, "ridge", n_clusters=2, balancer=None, random_state=np.int64(3))
    Pipeline(["zscore", {"name": "rbf", "gamma": 2.0}], Svdd(C=0.1))
    Pipeline(Rbf(gamma=2.0), Svdd(C=0.1)).set_params(solver__C=0.2).fit(X).predict(X)
    Pipeline(solver=Svdd)  # type: ignore[arg-type]
    Pipeline(Svdd())  # type: ignore[arg-type]
    Pipeline(n_clusters="two")  # type: ignore[arg-type]
    Pipeline(random_state="seed")  # type: ignore[arg-type]


def drivers(X: NDArray[np.float32]) -> None:
    assert_type(Driven("single", Pipeline()).fit(X).labels_, NDArray[np.integer[Any]])


def searches(X: NDArray[np.float64]) -> None:
    by_name = search("kmeans", {"n_clusters": [2, 3], "solver": ["centroids"]}, X, "silhouette")
    assert_type(by_name.best_estimator, Pipeline | Driven)
    assert_type(by_name.best_labels, NDArray[np.integer[Any]])
    assert_type(by_name.best_score, float)
    assert_type(by_name.scores, NDArray[np.floating[Any]])
    by_estimator = search(Pipeline(), [{"solver__df": np.linspace(5, 20, 4)}, {"n_clusters": range(2, 5)}], X)
    assert_type(by_estimator.best_estimator, Pipeline)
    assert_type(by_estimator.best_params, dict[str, object])
    search(3, {"n_clusters": [2]}, X)  # type: ignore[call-overload]
    search("kmeans", {"n_clusters": 2}, X)  # type: ignore[dict-item]


def ensembles(X: NDArray[np.float64]) -> None:
    members = ensemble(X, 5, member_clusters=(2, 4), base=["cmeans", Pipeline()])
    assert_type(members, NDArray[np.integer[Any]])
    assert_type(consensus.combine(members, "coassociation", n_clusters=3), NDArray[np.integer[Any]])
    assert_type(consensus.diclens([[0, 0, 1], [1, 1, 0]]), NDArray[np.integer[Any]])
    model = ConsensusClustering("voting", member_clusters=3).fit(X)
    assert_type(model.labels_, NDArray[np.integer[Any]])
    assert_type(model.agreement_, float)


def other_functions(X: NDArray[np.float64], y: list[str]) -> None:
    classifier = MinMaxModularSVC(n_parts=(2, 3), gamma=0.5).fit(X, y)
    assert_type(classifier, MinMaxModularSVC)
    assert_type(classifier.decision_function(X), NDArray[np.floating[Any]])
    labels = recipe("kmeans", n_clusters=2).fit(X).labels_
    assert_type(metrics.clustering_accuracy(y, labels), float)
    assert_type(metrics.nmi(y, labels, noise="exclude"), float)
    assert_type(metrics.dbcv(X, labels), float)
    clusterkit.Pipelin  # type: ignore[attr-defined]  # noqa: B018
