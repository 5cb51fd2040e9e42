"""A composition that labels only what it was fitted on has no `predict`, and says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np
import pytest

import clusterkit
from clusterkit import Pipeline
from clusterkit.contracts import Path, Prepared, Solver
from clusterkit.contracts.outcomes import Embedding
from clusterkit.samples import FeatureSpace

X = np.random.default_rng(0).normal(size=(30, 2))


class Ready(Prepared):
    resolved: Mapping = {}

    def __init__(self, space):
        self.space = space

    def solve(self, targets, previous, rng):
        return Embedding(self.space.rows()[:, :1], None)

    def objective(self, targets, outcome):
        return None


def _features(spec, space, task, rng):
    return Ready(space)


@final
@attrs.frozen
class FirstColumn(Solver):
    name: ClassVar[str] = "first_column"

    @property
    def paths(self):
        return {FeatureSpace: Path(_features, Embedding, inductive=False)}


@pytest.fixture
def model():
    clusterkit.register(FirstColumn)
    return Pipeline(featuremap="identity", solver="first_column", labeler="rows_kmeans", n_clusters=2, random_state=0)


def test_there_is_no_predict_before_the_fit_nor_after(model):
    assert not hasattr(model, "predict")
    assert hasattr(Pipeline, "predict")
    model.fit(X)
    assert not hasattr(model, "predict")
    assert not model.exact_on_training_


def test_the_reason_comes_with_what_would_predict(model):
    with pytest.raises(AttributeError) as error:
        model.fit(X).predict(X)
    assert "no predict here: solver 'first_column' labels the fitted samples only (transductive)" in str(error.value)
    offered = str(error.value).partition("These predict: ")[2]
    assert "solver 'fuzzy_cmeans'" in offered
    assert "solver 'nmf'" in offered


def test_a_solver_without_an_objective_cannot_compare_starts(model):
    with pytest.raises(clusterkit.errors.IncompatibleStages, match=r"n_init = 3 compares starts by objective"):
        model.set_params(n_init=3).fit(X)
