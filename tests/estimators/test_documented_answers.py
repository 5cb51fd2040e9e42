"""Awkward but legal input has a documented answer."""

import numpy as np
import pytest
from oracles.recipes import NAMES, small
from sklearn.datasets import make_blobs

from clusterkit import ClusterkitWarning, recipe
from clusterkit.samples.limits import listening


def model(name, **changes):
    return small(name, random_state=0, **changes)


@pytest.mark.filterwarnings("ignore::clusterkit.errors.ClusterkitWarning")  # that rows are few
@pytest.mark.parametrize("name", NAMES)
def test_constant_columns_are_harmless_and_so_are_two_samples_or_equal_ones(name):
    X, _y = make_blobs([20, 20], n_features=2, random_state=0, cluster_std=0.5)
    X = np.column_stack([X, np.full(40, 7.5), np.zeros(40)])
    assert model(name).fit(X).labels_.shape == (40,)
    with pytest.warns(ClusterkitWarning, match="all 12 samples are equal"):
        fitted = model(name).fit(np.full((12, 3), 4.0))
    assert fitted.labels_.shape == (12,)
    assert set(fitted.labels_) <= {-1, 0, 1}
    two = np.random.default_rng(0).normal(size=(2, 2))
    assert model(name).fit(two).labels_.shape == (2,)


def test_odd_n_with_zero_slack_is_promoted_and_reported():
    X = np.random.default_rng(0).normal(size=(21, 2))
    fitted = recipe("emmc", n_clusters=2, balancer__slack=0, random_state=0).fit(X)
    assert sorted(np.bincount(fitted.labels_)) == [10, 11]
    assert fitted.resolved_["balancer"] == {"slack": 1}


def test_a_df_above_half_the_rank_is_lowered_and_reported():
    X = np.random.default_rng(0).normal(size=(20, 2))
    fitted = recipe("emmc", n_clusters=2, solver__df=1000.0, random_state=0).fit(X)
    assert fitted.resolved_["solver"]["df"] <= 10


class TestInterrupted:
    """Ctrl-C keeps the best labels so far and says so."""

    @staticmethod
    def interrupt_after(iterations):
        def listener(report):
            if report.iteration >= iterations:
                raise KeyboardInterrupt

        return listening(listener)

    def test_loop(self):
        X = np.random.default_rng(0).normal(size=(200, 5))
        with self.interrupt_after(2):
            fitted = recipe("emmc-multi", n_clusters=4, init="random", random_state=0).fit(X)
        assert "interrupted" in fitted.stop_reason_
        assert not fitted.converged_
        assert fitted.labels_.shape == (200,)
        assert fitted.predict(X).shape == (200,)

    def test_maps(self):
        X = np.random.default_rng(0).normal(size=(60, 4))

        def listener(report):
            if report.stage == "maps" and report.iteration == 2:
                raise KeyboardInterrupt

        with listening(listener):
            fitted = recipe("emmc-multistart", n_clusters=2, n_init=3, random_state=0).fit(X)
        assert "interrupted" in fitted.stop_reason_

    def test_before_the_first_iteration_there_is_nothing_to_keep(self, monkeypatch):
        from clusterkit.families.margins import ridge

        def stop(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr(ridge, "factorise_gram", stop)
        with pytest.raises(KeyboardInterrupt):
            recipe("emmc", n_clusters=2).fit(np.random.default_rng(0).normal(size=(20, 3)))
