"""Laws of consensus functions: names of clusters do not matter, equal members are the answer, noise says nothing."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from clusterkit._typing import Labels, Rng
from clusterkit.contracts import Consensus
from clusterkit.contracts.labelings import NOISE, by_appearance
from clusterkit.errors import InvalidParameter
from clusterkit.fitting.ensembles import combine
from clusterkit.testing.compare import same_bits
from clusterkit.testing.law import Law, law

LAWS: list[Law] = []
"""The laws of every consensus, in the order in which they stand below; filled by the decorator `law`."""

SEEDS = st.integers(0, 2**16)
"""Seeds of the random numbers of a law; few bits, so that a counterexample is short."""


@st.composite
def ensembles(draw: st.DrawFn, noise: bool = True) -> Labels:
    """Labelings (M, n) from near agreement to none; names with gaps, members that are all noise, single samples."""
    n, M, k = draw(st.integers(1, 14)), draw(st.integers(1, 5)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(SEEDS))
    share = draw(st.sampled_from([0.0, 0.1, 0.4, 1.0]))
    truth = rng.integers(k, size=n)
    members = np.where(rng.random((M, n)) < share, rng.integers(k, size=(M, n)), truth)
    members = members * 7 % 11
    if noise and draw(st.booleans()):
        members[rng.random((M, n)) < draw(st.sampled_from([0.2, 0.7]))] = NOISE
        if draw(st.booleans()):
            members[rng.integers(M)] = NOISE
    return members


@st.composite
def clear(draw: st.DrawFn) -> Labels:
    """Labelings (6, n) with a clear answer and no ties: five equal ones, and one that confuses a few samples."""
    sizes = [4, 7, 11, 16][: draw(st.integers(2, 4))]
    truth = np.repeat(np.arange(len(sizes)), sizes)
    odd = truth.copy()
    moved = draw(st.integers(0, 3))
    odd[:moved] = len(sizes) - 1
    order = np.random.default_rng(draw(SEEDS)).permutation(len(truth))
    return np.stack([*[truth] * 5, odd])[:, order]


def _rng() -> Rng:
    return np.random.default_rng(0)


def _count(stage: Consensus, members: Labels) -> int | None:
    """The number of clusters of the first member, where the method needs a number; else None."""
    known = members[(members != NOISE).any(axis=1)]
    return None if stage.finds_k or not len(known) else len(np.unique(known[0][known[0] != NOISE]))


def _combined(stage: Consensus, members: Labels, k: int | None = None) -> Labels:
    if k is None:
        k = _count(stage, members)
        k = 1 if k is None and not stage.finds_k else k
    return combine(stage, members, k, _rng())


def _refusal(stage: Consensus, k: int | None) -> str | None:
    try:
        combine(stage, [[0, 0, 1], [0, 1, 1]], k, _rng())
    except InvalidParameter as error:
        return str(error)
    return None


@law(LAWS)
def finds_or_takes_the_number_of_clusters(stage: Consensus) -> None:
    """The method decides the number of clusters or takes it; what it cannot do, it refuses by name."""
    assert stage.finds_k or stage.takes_k
    for k, possible in ((None, stage.finds_k), (2, stage.takes_k)):
        refusal = _refusal(stage, k)
        assert (refusal is None) == possible, f"k = {k} was {'accepted' if refusal is None else 'refused'}"
        assert refusal is None or f"consensus '{stage.name}'" in refusal


@law(LAWS, members=ensembles())
def labels_are_numbers_by_appearance(stage: Consensus, members: Labels) -> None:
    """One integer per sample, from 0 by first appearance, -1 where all members are -1; the members do not change.

    Equal members and equal streams give equal labels.
    """
    before = members.copy()
    labels = _combined(stage, members)
    same_bits(members, before, "the members afterwards")
    assert labels.shape == members.shape[1:]
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels == NOISE, (members == NOISE).all(axis=0))
    same_bits(labels, by_appearance(labels), "labels and their order of appearance")
    same_bits(_combined(stage, members), labels, "two calls")


@law(LAWS, members=ensembles())
def samples_labelled_alike_stay_together(stage: Consensus, members: Labels) -> None:
    """Samples with the same label in every member are in one cluster."""
    labels = _combined(stage, members)
    _, column = np.unique(members, axis=1, return_inverse=True)
    for each in range(column.max() + 1):
        assert len(np.unique(labels[column.ravel() == each])) == 1


@law(LAWS, members=ensembles(), seed=SEEDS)
def names_of_clusters_do_not_matter(stage: Consensus, members: Labels, seed: int) -> None:
    """Members whose clusters have other names give the same labels."""
    rng = np.random.default_rng(seed)
    renamed = np.stack([np.append(rng.permutation(20), NOISE)[member] for member in members])
    same_bits(_combined(stage, renamed), _combined(stage, members), "labels under other names")


@law(LAWS, members=ensembles(), M=st.integers(1, 5))
def equal_members_are_the_answer(stage: Consensus, members: Labels, M: int) -> None:
    """M copies of a partition give that partition, and so does one; members that are all noise change nothing."""
    same_bits(_combined(stage, np.stack([members[0]] * M)), by_appearance(members[0]), "the partition")
    silent = np.stack([members[0], np.full_like(members[0], NOISE)])
    same_bits(_combined(stage, silent), by_appearance(members[0]), "beside one that says nothing")


@law(LAWS, members=ensembles(), k=st.integers(1, 6), applies=lambda stage: stage.takes_k)
def gives_no_more_clusters_than_asked_for(stage: Consensus, members: Labels, k: int) -> None:
    """At most k clusters; one for k = 1."""
    labels = _combined(stage, members, k)
    n_clusters = len(np.unique(labels[labels != NOISE]))
    assert n_clusters <= k
    assert n_clusters >= min(1, (members != NOISE).sum())


@law(LAWS, members=ensembles(), seed=SEEDS, applies=lambda stage: not stage.varies)
def streams_do_not_matter_if_it_does_not_vary(stage: Consensus, members: Labels, seed: int) -> None:
    """With ``varies = False`` another random stream gives the same labels."""
    k = _count(stage, members)
    k = 1 if k is None and not stage.finds_k else k
    other = combine(stage, members, k, np.random.default_rng(seed))
    same_bits(other, _combined(stage, members), "two streams")


@law(LAWS, members=clear(), seed=SEEDS, applies=lambda stage: not stage.ordered)
def samples_may_come_in_any_order(stage: Consensus, members: Labels, seed: int) -> None:
    """Without ties, samples in another order get the same clusters."""
    order = np.random.default_rng(seed).permutation(members.shape[1])
    usual = _combined(stage, members)
    same_bits(_combined(stage, members[:, order]), by_appearance(usual[order]), "another order of the samples")


@law(LAWS, members=clear(), seed=SEEDS, applies=lambda stage: not stage.ordered)
def members_may_come_in_any_order(stage: Consensus, members: Labels, seed: int) -> None:
    """Without ties, members in another order give the same clusters."""
    order = np.random.default_rng(seed).permutation(len(members))
    k = int(members[0].max()) + 1 if not stage.finds_k else None
    same_bits(_combined(stage, members[order], k), _combined(stage, members, k), "another order of the members")
