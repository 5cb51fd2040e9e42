"""Every consensus against its definition on single samples, on ensembles with many ties."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from clusterkit import consensus
from clusterkit.contracts.labelings import Labelings, by_appearance
from clusterkit.errors import ClusterkitWarning
from clusterkit.testing.laws.consensus import clear, ensembles
from clusterkit_campaign.oracles import consensus as naive

SEEDS = st.integers(0, 2**16)
pytestmark = pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")


@st.composite
def disagreeing(draw):
    """Members that are not all equal; every sample and member has a label."""
    members = draw(ensembles())
    members = members[:, (members >= 0).any(axis=0)]
    members = members[(members >= 0).any(axis=1)]
    assume(members.size and not Labelings.of(members).unanimous)
    return members


@given(disagreeing(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from(["unvisited", "all"]))
def test_comusa(members, relaxation, max_over):
    labels = consensus.comusa(members, relaxation=relaxation, max_over=max_over)
    assert labels.tolist() == naive.comusa(members.tolist(), relaxation, max_over)


@given(disagreeing(), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_comusacl(members, relaxation):
    listed = members.tolist()
    labels = consensus.comusacl(members, relaxation=relaxation)
    assert labels.tolist() == naive.comusacl(listed, relaxation)
    indirect = naive.comusacl(listed, relaxation, "ecs")
    assert consensus.comusacl(members, relaxation=relaxation, weight="ecs").tolist() == indirect
    assert consensus.comusacl_dew(members, relaxation=relaxation).tolist() == indirect


@given(disagreeing())
def test_diclens(members):
    assert consensus.diclens(members).tolist() == naive.diclens(members.tolist())


@given(SEEDS, st.sampled_from(["average", "single", "complete"]), st.integers(2, 4))
def test_coassociation(seed, method, k):
    """The dendrogram of all samples; so many members that few distances tie."""
    rng = np.random.default_rng(seed)
    members = rng.integers(3, size=(997, 5))
    members[rng.random(members.shape) < 0.05] = -1
    members = members[:, [0, 1, 1, 2, 3, 3, 3, 4]]
    D = naive.distances(members.tolist())
    assume(len(np.unique(D[D > 0])) == 10)
    Z = linkage(squareform(D, checks=False), method)
    labels = consensus.coassociation(members, n_clusters=k, linkage=method)
    np.testing.assert_array_equal(labels, by_appearance(fcluster(Z, k, "maxclust")))


@given(SEEDS, st.integers(2, 9))
def test_average_linkage_of_weighted_points(seed, u):
    """Heights of the merges are those of all samples, after the merges of equal ones."""
    from clusterkit.families.consensus._consensus_jit import average_linkage

    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, size=u)
    D = squareform(rng.random(u * (u - 1) // 2) + 0.1)
    samples = np.repeat(np.arange(u), counts)
    expected = linkage(squareform(D[np.ix_(samples, samples)]), "average")[:, 2]
    pairs, heights = average_linkage(D.copy(), counts)
    np.testing.assert_allclose(np.sort(heights), expected[expected > 0], rtol=1e-12)
    assert len(np.unique(pairs)) == u


def test_longest_lifetime():
    # 5 of 6 members part {0, 1}, {2, 3}, {4, 5}; one more parts {0, 1} from the rest
    members = [[0, 0, 1, 1, 2, 2]] * 3 + [[0, 0, 1, 1, 1, 1]] * 3
    assert consensus.coassociation(members).tolist() == [0, 0, 1, 1, 1, 1]  # heights 0.5, 1: the tie has fewer
    members = [[0, 0, 1, 1, 2, 2]] * 4 + [[0, 0, 1, 1, 1, 1]] * 2
    assert consensus.coassociation(members).tolist() == [0, 0, 1, 1, 2, 2]  # heights 2/3, 1
    members = [[0, 0, 1, 1, 2, 2]] * 5 + [[0, 1, 2, 2, 3, 3]]
    assert consensus.coassociation(members).tolist() == [0, 0, 1, 1, 2, 2]  # heights 1/6, 1, 1
    members = [[0, 0, 1, 1], [0, 1, 1, 0]] * 3
    assert consensus.coassociation(members).tolist() == [0, 0, 1, 1]  # four columns, but no member has four clusters
    assert consensus.coassociation([[0, -1], [-1, 0]]).tolist() == [0, 1]
    assert consensus.coassociation([[0, 0, -1], [-1, 0, 0]]).tolist() == [0, 0, 1]  # no member knows the first and last
    assert consensus.coassociation([[0, 0, 0], [0, 0, -1]]).tolist() == [0, 0, 0]  # nothing is apart


@given(clear())
def test_spectral_rows_are_those_of_the_whole_graph(members):
    """Distances between the rows, which no rotation of the eigenvectors changes, are those of the n x n problem."""
    from clusterkit.families.consensus.expansion import indicator
    from clusterkit.families.consensus.spectral import _leading

    k = int(members.max()) + 1
    labelings = Labelings.of(members)
    H = indicator(labelings)
    degree = H @ (H.T @ labelings.counts)
    scaled = H.multiply(1 / np.sqrt(degree)[:, None]).tocsr()
    vectors, values = _leading(scaled, labelings.counts, k)
    rows = scaled @ (vectors / np.sqrt(values))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True))[labelings.column_of]
    expected = naive.spectral_rows(members.tolist(), k)
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-8)


@pytest.mark.parametrize("name", ["comusa", "comusacl", "comusacl_dew", "coassociation", "cspa", "hbgf", "voting"])
@given(members=clear())
def test_five_of_six_decide(name, members):
    """Five equal members outvote one that confuses a few samples."""
    takes = {"n_clusters": int(members[0].max()) + 1} if name in ("cspa", "hbgf") else {}
    labels = getattr(consensus, name)(members, random_state=0, **takes)
    np.testing.assert_array_equal(labels, by_appearance(members[0]))


class TestVoting:
    def test_names_are_matched_before_they_are_counted(self):
        members = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]]
        assert consensus.voting(members).tolist() == [0, 0, 0, 1, 1, 1]

    def test_a_cluster_without_partner_votes_for_what_it_overlaps(self):
        members = [[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 2, 2]]
        assert consensus.voting(members).tolist() == [0, 0, 0, 0, 1, 1]
        # one sample is overlap enough: the last one is known to the third member alone
        members = [[0, 0, 0, 1, 1, -1], [0, 0, 0, 1, 1, -1], [0, 0, 2, 1, 1, 2]]
        assert consensus.voting(members).tolist() == [0, 0, 0, 1, 1, 0]

    def test_samples_that_share_nothing_with_the_others_are_by_themselves(self):
        members = [[0, 0, 1, 1, 1, -1, -1, -1], [0, 0, 1, 1, 0, -1, -1, -1], [-1, -1, -1, -1, -1, 4, 4, 2]]
        assert consensus.voting(members).tolist() == [0, 0, 1, 1, 0, 2, 2, 3]


def test_one_cluster_gets_a_warning():
    members = [[0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]]
    with pytest.warns(ClusterkitWarning, match="consensus 'comusa' joined all samples with relaxation = 5"):
        assert not consensus.comusa(members, relaxation=5.0).any()
    with pytest.warns(ClusterkitWarning, match="consensus 'comusacl' joined all samples with relaxation = 50"):
        assert not consensus.comusacl(members, relaxation=50.0).any()


def test_the_order_of_members_may_break_ties_of_diclens():
    """What `ordered` says: two members that contradict each other on one sample."""
    members = np.array([[0, 0, 1, 1], [0, 1, 1, 1]])
    assert consensus.diclens(members).tolist() == [0, 0, 1, 1]
    assert consensus.diclens(members[::-1]).tolist() == [0, 1, 1, 1]
    # of equal scores that with fewer clusters
    assert consensus.diclens(np.array([[0, 2, 1, 0, 0, 1], [2, 1, 2, 0, 0, 2]])).tolist() == [0, 1, 0, 0, 0, 0]
