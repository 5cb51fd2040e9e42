"""The smallest sphere in whole fits: explicit features, what a fit reports, what an import costs."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.outcomes import FunctionDomain, KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import Identity
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace, build_space
from clusterkit.samples.kernels import Linear
from clusterkit.samples.transform import IdentityMap


class TestFeatures:
    def sphere(self, featuremap, X, **parameters):
        c = Composition(featuremap, Svdd(**parameters), CompleteGraph())
        return fit(c, X, Seeds(0))

    def test_smallest_ball_of_known_points(self):
        X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0], [2.0, -1.5]]) + 100.0
        outcome = self.sphere(Identity(), X).outcome
        assert isinstance(outcome, FunctionDomain)
        assert outcome.status.facts["radius2"] == pytest.approx(4.0, abs=1e-5)
        assert outcome.function.centre == pytest.approx([102.0, 100.0], abs=1e-4)

    @given(st.integers(2, 20), st.integers(1, 4), st.sampled_from([0.2, 0.5, 1.0]), st.integers(0, 1000))
    def test_linear_kernel_and_features_agree(self, n, d, nu, seed):
        X = np.random.default_rng(seed).normal(size=(n, d))
        task, rng = Task(n, None), np.random.default_rng(0)
        solver = Svdd(nu=nu, tol=1e-9)
        kernel = solver.prepare(KernelSpace(X, Linear()), task, rng).solve(None, None, rng)
        features = solver.prepare(build_space(X, IdentityMap(d)), task, rng).solve(None, None, rng)
        assert isinstance(kernel, FunctionDomain)
        assert kernel.support_counts.n_support > 0
        assert kernel.value(X) - kernel.level == pytest.approx(features.value(X) - features.level, abs=1e-3)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_dense_and_streamed_are_equal_to_the_bit(self, dtype):
        X = np.random.default_rng(0).normal(size=(300, 3)).astype(dtype)
        dense, streamed = (self.sphere(Elm(n_hidden=40, storage=s), X, nu=0.1) for s in ("dense", "streamed"))
        assert dense.outcome.level == streamed.outcome.level
        assert np.array_equal(dense.outcome.function.centre, streamed.outcome.function.centre)
        assert np.array_equal(dense.labels, streamed.labels)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("scale", [1e-5, 1.0, 1e6])
    def test_far_from_the_origin_no_sample_is_outside_without_slack(self, dtype, scale):
        X = ((np.random.default_rng(1).normal(size=(50, 3)) + 30) * scale).astype(dtype)
        outcome = self.sphere(Identity(), X).outcome
        assert np.all(outcome.value(X) >= outcome.level)
        assert outcome.status.converged

    def test_equal_rows(self):
        X = np.full((7, 3), 0.1)
        with pytest.warns(ClusterkitWarning, match="all 7 samples are equal"):
            run = self.sphere(Identity(), X)
        assert run.labels.tolist() == [0] * 7


def test_a_fit_reports_and_pickles():
    X = np.random.default_rng(0).normal(size=(50, 2))
    run = fit(Composition(Rbf(gamma=1.0), Svdd(nu=0.2), CompleteGraph()), X, Seeds(0))
    assert isinstance(run.outcome, KernelDomain)
    assert run.resolved["solver"] == {"C": pytest.approx(1 / (50 * 0.2))}
    assert set(run.outcome.status.facts) == {"gap", "radius2", "degenerate", "rounds"}
    assert run.objective == run.history[0]
    again = pickle.loads(pickle.dumps(run.outcome))
    assert np.array_equal(again.value(X), run.outcome.value(X))


def test_listing_the_stages_costs_no_compiler():
    code = (
        "import sys; from clusterkit.families.support_vectors import svdd as s, complete_graph as c;"
        "s.Svdd(); c.CompleteGraph(); sys.exit(', '.join({'numba', 'scipy', 'sklearn'} & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
