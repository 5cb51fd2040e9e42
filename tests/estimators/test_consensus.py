"""`ensemble` and `ConsensusClustering`: members of any kind, and scikit-learn's checks."""

import numpy as np
import pytest
from scikit_learn_checks import SETS_K, run_checks
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

import clusterkit
from clusterkit import ConsensusClustering, ensemble, recipe
from clusterkit.errors import InvalidParameter, UnknownName
from clusterkit.metrics import adjusted_rand
from clusterkit.samples.limits import listening

FINDS_K = "the check sets n_clusters, which DICLENS finds"


def test_scikit_learn_checks():
    run_checks(ConsensusClustering(n_members=3), dict.fromkeys(SETS_K, FINDS_K))
    run_checks(ConsensusClustering("coassociation", n_members=3, n_clusters=3))


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([25, 30, 35], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)


class TestEnsemble:
    def test_members_differ_in_number_and_seed(self, blobs):
        members = ensemble(blobs[0], 20, random_state=0)
        assert members.shape == (20, 90)
        assert members.dtype == np.int64
        assert {len(set(member)) for member in members.tolist()} == {2, 3, 4}
        assert len(np.unique(members, axis=0)) > 3
        np.testing.assert_array_equal(members, ensemble(blobs[0], 20, random_state=0))
        np.testing.assert_array_equal(members[:5], ensemble(blobs[0], 5, random_state=0))
        assert (members != ensemble(blobs[0], 20, random_state=1)).any()

    @pytest.mark.parametrize(("rule", "counts"), [(3, {3}), ((5, 6), {5, 6}), ("sqrt", set(range(2, 10)))])
    def test_rules(self, blobs, rule, counts):
        members = ensemble(blobs[0], 60, member_clusters=rule, random_state=0)
        assert {len(set(member)) for member in members.tolist()} == counts

    def test_a_member_is_a_fit_of_the_recipe(self, blobs):
        member = ensemble(blobs[0], 1, member_clusters=3, base="kmeans", random_state=0)[0]
        assert adjusted_rand(blobs[1], member) == 1.0

    def test_bases_in_turn(self, blobs):
        bases = ["kmeans", AgglomerativeClustering(), DBSCAN(eps=0.9), recipe("emmc", labeler="threshold"), KMeans()]
        members = ensemble(blobs[0], 5, member_clusters=3, base=bases, random_state=0)
        assert [len(set(member) - {-1}) for member in members.tolist()][:2] == [3, 3]
        assert -1 in members[2]
        assert len(set(members[3].tolist())) == 2  # it makes no more
        assert bases[1].n_clusters == 2, "the clusterer that was given is left alone"

    def test_a_base_that_finds_the_number_is_not_told_one(self, blobs):
        members = ensemble(blobs[0], 2, base="svc", random_state=0)
        assert members.shape == (2, 90)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_members": 0}, "n_members must be an integer >= 1, got 0"),
            ({"member_clusters": "log"}, "member_clusters must be 'cbrt', 'sqrt', an integer >= 1 or a pair"),
            ({"member_clusters": (3, 2)}, "with the lower first"),
            ({"member_clusters": 0}, "got 0"),
            ({"base": []}, "base is an empty list"),
            ({"base": 3}, "base takes names of recipes and clusterers, got 3"),
            ({"base": KMeans}, "base takes names of recipes and clusterers"),
        ],
    )
    def test_bad_arguments(self, blobs, arguments, message):
        with pytest.raises(InvalidParameter, match=message):
            ensemble(blobs[0], **arguments)

    def test_unknown_recipe(self, blobs):
        with pytest.raises(UnknownName, match="Did you mean 'cmeans'"):
            ensemble(blobs[0], base="cmean")

    def test_few_samples(self):
        assert ensemble([[1.0], [2.0]], 3, member_clusters=5, random_state=0).tolist()
        assert ensemble([[1.0]], 2).tolist() == [[0], [0]]

    def test_an_interrupt_keeps_what_is_made(self, blobs):
        class Slow(KMeans):
            fits = 0

            def fit(self, X, y=None, sample_weight=None):
                Slow.fits += 1
                if Slow.fits == 3:
                    raise KeyboardInterrupt
                return super().fit(X)

        with pytest.warns(clusterkit.ClusterkitWarning, match="interrupted: 2 of 5 members are made"):
            assert len(ensemble(blobs[0], 5, base=Slow(), random_state=0)) == 2

    def test_reports(self, blobs):
        seen = []
        with listening(seen.append):
            ensemble(blobs[0], 3, random_state=0)
        assert [(r.iteration, r.max_iter) for r in seen if r.stage == "ensemble"] == [(1, 3), (2, 3), (3, 3)]


class TestConsensusClustering:
    @pytest.mark.parametrize("method", ["diclens", "coassociation", "voting", "cspa", "hbgf"])
    def test_finds_far_groups(self, blobs, method):
        k = 3 if method in ("coassociation", "cspa", "hbgf") else None
        model = ConsensusClustering(method, base="kmeans", member_clusters=(3, 4), n_clusters=k, random_state=0).fit(
            blobs[0]
        )
        assert adjusted_rand(blobs[1], model.labels_) > 0.95
        assert model.n_clusters_ == len(set(model.labels_.tolist()))
        assert model.members_.shape == (10, 90)
        assert model.agreement_ == pytest.approx(clusterkit.metrics.anmi(model.labels_, model.members_))
        assert not hasattr(model, "predict")

    def test_parameters_of_the_consensus(self):
        model = ConsensusClustering("comusa", base=KMeans(n_clusters=4))
        assert model.get_params()["consensus__relaxation"] == 0.5
        assert model.get_params()["base__n_clusters"] == 4
        model.set_params(consensus__relaxation=0.25, base__n_init=3)
        assert model.consensus.relaxation == 0.25
        assert clone(model).consensus == model.consensus
        model.set_params(consensus="coassociation", consensus__linkage="single")
        assert model.consensus.linkage == "single"
        with pytest.raises(UnknownName, match="no parameter 'link'"):
            model.set_params(consensus__link="single")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"consensus": "cspa"}, "needs the number of clusters"),
            ({"n_clusters": 3}, "finds the number of clusters itself"),
            ({"consensus": None}, "consensus must not be None"),
            ({"n_members": 0}, "n_members must be an integer >= 1"),
        ],
    )
    def test_bad_arguments_are_told_before_the_ensemble(self, blobs, arguments, message):
        with pytest.raises(InvalidParameter, match=message):
            ConsensusClustering(**arguments).fit(blobs[0])

    def test_same_seed_same_labels(self, blobs):
        one, other = (ConsensusClustering("hbgf", n_clusters=4, random_state=3).fit(blobs[0]) for _ in range(2))
        np.testing.assert_array_equal(one.labels_, other.labels_)


def test_members_that_only_predict():
    X, _ = make_blobs(40, random_state=0)
    members = ensemble(X, 3, base=GaussianMixture(), member_clusters=3, random_state=0)
    assert members.shape == (3, 40)
    assert members.max() <= 2
