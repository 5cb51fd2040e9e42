"""Laws of drivers: one fit is returned, which the seeds determine, and the data stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit.core.compat import Composition, problems
from clusterkit.core.registry import registry
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import Driver, DriverResult
from clusterkit.testing.compare import same_bits
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import Case, cases

__all__ = ["LAWS"]

LAWS: list[Law] = []
"""The laws of every driver, in the order in which they stand below; filled by the decorator `law`."""


def _composition(k: int) -> Composition:
    """A composition of k clusters that every driver can work with: random starts, an objective, labels as targets."""
    stage: dict[str, Any] = {
        "featuremap": registry.get("featuremap", "elm")().with_parameters(n_hidden=6),
        "solver": registry.get("solver", "ridge")(),
        "labeler": registry.get("labeler", "argmax")(),
        "init": registry.get("partitioner", "random")(),
    }
    c = Composition(**stage, n_clusters=k, n_init=2, max_iter=8)
    assert not problems(c)
    return c


def _result(stage: Driver, case: Case, k: int | None = None) -> DriverResult:
    return stage.run([_composition(case.k if k is None else k)], case.X, Seeds(case.seed))


@law(LAWS, case=cases())
def returns_one_fit_of_all_samples(stage: Driver, case: Case) -> None:
    """Labels 0..k-1 of all samples, a reason why it stopped, and a report under identifiers."""
    answer = _result(stage, case)
    labels = answer.fit.labels
    assert labels.shape == (case.n,)
    assert labels.dtype.kind in "iu"
    assert labels.min() >= 0
    assert labels.max() < case.k
    assert answer.fit.reason
    assert not answer.fit.interrupted
    for name in answer.report:
        assert name.isidentifier(), f"an estimator cannot offer {name!r} as an attribute"
        assert not name.endswith("_"), f"the estimator adds the underscore to {name!r} itself"


@law(LAWS, case=cases(["blobs", "duplicates", "equal_rows"]))
def same_seeds_same_answer(stage: Driver, case: Case) -> None:
    """Equal data and equal seeds give equal labels and histories bit for bit; the data are left alone."""
    X = case.X
    one = stage.run([_composition(case.k)], X, Seeds(case.seed))
    other = _result(stage, case)
    same_bits(one.fit.labels, other.fit.labels, "labels of two runs")
    same_bits(np.asarray(one.fit.history), np.asarray(other.fit.history), "histories of two runs")
    assert set(one.report) == set(other.report)
    same_bits(X, case.X, "the data afterwards")


@law(LAWS, case=cases(["blobs"]))
def answers_a_single_cluster(stage: Driver, case: Case) -> None:
    """A composition of one cluster gives zeros, and the report has the same entries as ever."""
    one = _result(stage, case, 1)
    assert not one.fit.labels.any()
    assert set(one.report) == set(_result(stage, case).report)


@law(LAWS, case=cases(["blobs"]))
def predicts_new_samples(stage: Driver, case: Case) -> None:
    """The fit of an inductive composition predicts; where it says that it is exact, the labels come back."""
    fit = _result(stage, case).fit
    assert fit.predict is not None
    predicted = fit.predict(case.X)
    assert predicted.shape == (case.n,)
    if fit.exact:
        same_bits(predicted, fit.labels, "predictions for the training rows")
