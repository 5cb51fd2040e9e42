"""EMMC with one output from every numbering of its first clusters, against a plain loop."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from clusterkit_papers.emmc.complexity import bound_at_start
from clusterkit_papers.emmc.data_sets import FEW
from clusterkit_papers.emmc.numberings import C, numbered_fits, numberings
from clusterkit_papers.fits import judge, judged_fit
from clusterkit_papers.jobs import Plan

SLACK = 6
PARAMETERS = {"featuremap__n_hidden": 12, "balancer__slack": SLACK}


def groups(seed):
    y = np.arange(80) % 4
    centres = np.array([[0.0, 0.0], [2.0, 0.5], [0.5, 2.0], [2.2, 2.2]])
    return centres[y] + np.random.default_rng(seed).normal(0.0, 0.6, (80, 2)), y


def along_axis(H, labels):
    """The labels, numbered by the projection of the clusters' means on their first principal axis."""
    means = np.array([H[labels == cluster].mean(axis=0) for cluster in range(4)])
    axis = np.linalg.svd(means - means.mean(axis=0))[0][:, 0]
    axis *= np.sign(axis @ (means**2).sum(axis=1))
    return np.argsort(np.argsort(axis))[labels]


def repaired(costs):
    """Labels whose sizes differ by the slack at most: the largest cluster gives its cheapest rows to the smallest."""
    labels = costs.argmin(axis=1)
    while True:
        sizes = np.bincount(labels, minlength=4)
        p, q = sizes.argmax(), sizes.argmin()
        if sizes[p] - sizes[q] <= SLACK:
            return labels
        rows = sorted(np.flatnonzero(labels == p), key=lambda i: costs[i, q] - costs[i, p])
        labels[rows[: int(np.ceil((sizes[p] - sizes[q] - SLACK) / 2))]] = q


def plain(H, labels, places):
    """Where the alternation with the targets 1 to 4 on the line, in these places, stays; None where it goes round."""
    targets = np.array(places) + 1.0
    for _ in range(100):
        B = np.linalg.solve(H.T @ H + np.eye(H.shape[1]) / C, H.T @ targets[labels])
        before, labels = labels, repaired((H @ B[:, None] - targets) ** 2)
        if (labels == before).all():
            return labels
    return None


@pytest.mark.parametrize("seed", [0, 1])
def test_every_numbering_is_that_of_a_plain_loop(seed):
    X, y = groups(seed)
    bound, _, _ = bound_at_start(X, y, "emmc-paper", seed, **PARAMETERS)
    H = bound.space.apply(np.eye(12))
    start = along_axis(H, bound.composition.init.labels)
    fits = numbered_fits(X, y, seed, **PARAMETERS)
    ends = [plain(H, start, places) for places in itertools.permutations(range(4))]
    judged = [None if end is None else judge(y, end)["accuracy"] for end in ends]
    pairs = [(fit["accuracy"], other) for fit, other in zip(fits, judged, strict=True) if other is not None]
    assert len(pairs) >= 20
    assert len(set(pairs)) >= 5
    assert all(one == pytest.approx(other) for one, other in pairs)
    assert fits[0]["accuracy"] == judged_fit(X, y, "emmc-paper", seed, **PARAMETERS)["accuracy"]


def test_rows_have_the_worst_the_mean_and_the_best(monkeypatch):
    from clusterkit_papers.emmc import numberings as module

    fits = [{"accuracy": value, "rand": value / 100, "seconds": 0.1} for value in (50.0, 40.0, 90.0)]
    monkeypatch.setattr(module, "_fits", lambda data_set, seed: fits)
    jobs = numberings(Plan(runs=2), FEW[0])
    assert [job.row for job in jobs] == [
        f"Digits0689: emmc-paper, {which} of 24 numberings" for which in ("worst", "mean", "best")
    ]
    assert [job.uses_labels for job in jobs] == [True, False, True]
    accuracies = [[run["accuracy"] for run in job.run(lambda text: None).runs] for job in jobs]
    assert accuracies == [[40.0, 40.0], [60.0, 60.0], [90.0, 90.0]]
