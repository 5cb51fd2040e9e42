"""What edsvc computes with: the agreement of a partition with an ensemble, and the labels of many domains."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.edsvc import plain_anmi

from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.edsvc import Agreement
from clusterkit.metrics import anmi

LABELER = CompleteGraph(outliers="nearest")

partitions = st.integers(2, 14).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=2, max_size=5)
)


@given(partitions)
def test_agreement_is_the_mean_over_the_members(rows):
    labels, members = np.array(rows[0]), np.array(rows[1:])
    agreement = Agreement(members)
    assert agreement.score(labels) == pytest.approx(plain_anmi(labels, members), abs=1e-12)
    assert agreement.score(labels) == pytest.approx(anmi(labels, members), abs=1e-12)
    other = Agreement(7 - members[::-1])  # other names, another order
    assert other.score(labels) == pytest.approx(agreement.score(labels), abs=1e-12)  # ties are scores that near
    assert len(agreement) == 1


def test_singletons_score_by_chance():
    members = np.arange(60).reshape(1, 60) % 3
    assert Agreement(members).singletons() == pytest.approx(math.sqrt(math.log(3) / math.log(60)))
