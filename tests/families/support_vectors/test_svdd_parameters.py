"""Parameters of svdd: their messages, their effect, and how a solution ends."""

import numpy as np
import pytest
from oracles.svdd_runs import TOL, prepare, solve

from clusterkit.errors import ClusterkitWarning, InvalidParameter
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.samples.limits import listening
from clusterkit_campaign.oracles.one_class import gap, gram


class TestParameters:
    X = np.random.default_rng(5).normal(size=(40, 2))

    def test_too_small_C_names_the_least_legal_one(self):
        with pytest.raises(InvalidParameter, match=r"solver 'svdd': C must be >= 1/n = 0\.025 .*40.*got 0\.01"):
            prepare(self.X, 1.0, C=0.01)

    def test_too_small_C_with_weights(self):
        with pytest.raises(InvalidParameter, match=r"C must be >= 1/sum\(weights\) = 0\.0125 .*got 0\.01"):
            prepare(self.X, 1.0, C=0.01, weights=[2.0] * 40)

    @pytest.mark.parametrize("weights", [[1.0, 0.0], 3.0])
    def test_weights_that_are_none(self, weights):
        with pytest.raises(InvalidParameter, match="svdd': weights must be one finite factor > 0"):
            Svdd(weights=weights)

    def test_wrong_number_of_weights(self):
        with pytest.raises(InvalidParameter, match="one value for each of the 40 samples, got 3"):
            prepare(self.X, 1.0, weights=[1, 1, 1])

    def test_nu_wins_over_C_and_is_reported(self):
        prepared = prepare(self.X, 1.0, nu=0.1, C=0.5)
        assert prepared.resolved == {"C": pytest.approx(0.25)}
        assert prepare(self.X, 1.0).resolved == {"C": 1.0}
        assert prepare(self.X, 1.0, C=0.5).resolved == {}
        assert np.all(prepare(self.X, 1.0, nu=1.0).bounds == pytest.approx(1 / 40))

    def test_weights_bound_each_sample(self):
        weights = np.linspace(0.5, 2.0, 40)
        solution, _ = solve(self.X, 1.0, C=0.06, weights=weights)
        assert np.all(solution.beta <= 0.06 * weights)
        K, bounds = gram(self.X, 1.0), 0.06 * weights
        assert gap(K, solution.beta, bounds) <= TOL + 1e-10
        assert hash(Svdd(weights=weights)) == hash(Svdd(weights=list(weights)))
        assert Svdd(weights=weights) == Svdd(weights=tuple(weights))

    def test_float32_points_are_summed_in_float64(self):
        _, double = solve(self.X.astype(np.float32).astype(float), 2.0)
        _, single = solve(self.X.astype(np.float32), 2.0)
        assert single.centres.dtype == float
        assert single.level == double.level


class TestEnding:
    X = np.random.default_rng(5).normal(size=(60, 2))

    def test_max_iter_warns_with_the_gap_and_keeps_a_feasible_point(self):
        prepared = prepare(self.X, 20.0, max_iter=3)
        with pytest.warns(ClusterkitWarning, match=r"svdd.*max_iter = 3 reached, gap 0\.\d+ above"):
            outcome = prepared.solve(None, None, np.random.default_rng(0))
        assert not outcome.status.converged
        assert outcome.status.n_iter == 3
        assert outcome.weights.sum() == pytest.approx(1.0)

    def test_interrupt_keeps_a_feasible_point(self):
        def stop(report):
            if report.stage == "smo":
                raise KeyboardInterrupt

        prepared = prepare(self.X, 20.0, max_iter=5)
        with listening(stop):
            outcome = prepared.solve(None, None, np.random.default_rng(0))
        assert not outcome.status.converged
        assert outcome.status.reason.startswith("interrupted, gap")
        assert outcome.weights.sum() == pytest.approx(1.0)
        assert outcome.level > 0

    def test_a_tolerance_below_rounding_ends(self):
        prepared = prepare(self.X, 1.0, tol=1e-300, max_iter=20_000)
        with pytest.warns(ClusterkitWarning, match="above tolerance"):
            outcome = prepared.solve(None, None, np.random.default_rng(0))
        assert outcome.status.facts["gap"] < 1e-10

    def test_objective_is_the_squared_length_of_the_centre(self):
        prepared = prepare(self.X, 2.0)
        outcome = prepared.solve(None, None, np.random.default_rng(0))
        beta = prepared.minimise().beta
        assert prepared.objective(None, outcome) == pytest.approx([beta @ gram(self.X, 2.0) @ beta])
