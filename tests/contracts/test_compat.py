"""Which stages fit together: each rule with its message, and what is offered instead."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import pytest

from clusterkit import recipe
from clusterkit.contracts import Labeler, Labeling
from clusterkit.contracts.composition import Composition, problems
from clusterkit.contracts.featuremap import Chain
from clusterkit.contracts.outcomes import Embedding
from clusterkit.contracts.registry import registry
from clusterkit.drivers.compose import alternatives, check, legal_compositions
from clusterkit.errors import IncompatibleStages, UnknownName
from clusterkit.families.factors.nmf import Nmf
from clusterkit.families.margins.gmmc import Gmmc
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.means.kmeans import Centroids
from clusterkit.families.means.rows_kmeans import RowsKMeans
from clusterkit.families.means.starts import KMeansMapped
from clusterkit.families.shared.band import Band
from clusterkit.families.shared.codecs import Argmax, Interval, Threshold
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.random import Random
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import MinMax
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.svdd import Svdd

pytestmark = pytest.mark.usefixtures("no_external_plugins")

EMMC = Composition(Elm(), Ridge(), Argmax(), Band(), Random(), 3)
SVC = Composition(Rbf(), Svdd(), CompleteGraph())
NMF = Composition(Elm(), Nmf(), RowsKMeans(), None, None, 3)

RULES = [
    (
        "path",
        attrs.evolve(SVC, featuremap=Elm()),
        "solver: 'svdd' works on KernelSpace, but the feature map gives a FeatureSpace",
        "featuremap: rbf",
    ),
    (
        "outcome",
        attrs.evolve(NMF, featuremap=Rbf(), solver=Svdd()),
        "labeler: 'rows_kmeans' reads Embedding, but solver 'svdd' gives KernelDomain here",
        "solver: ncut, nmf",
    ),
    (
        "coding",
        attrs.evolve(EMMC, solver=Centroids(), labeler=Threshold(), balancer=None, n_clusters=2),
        "labeler: 'threshold' codes labels as signed, solver 'centroids' takes onehot",
        "solver: ridge",
    ),
    (
        "no coding",
        attrs.evolve(SVC, labeler=Argmax(), n_clusters=2),
        "labeler: 'argmax' codes labels as onehot, solver 'svdd' takes no coding at all",
        "solver: centroids, nmf, ridge",
    ),
    (
        "codec",
        attrs.evolve(EMMC, labeler=RowsKMeans(), balancer=None),
        "labeler: solver 'ridge' learns from coded labels, but 'rows_kmeans' codes none",
        "labeler: argmax, interval",
    ),
    (
        "costs",
        attrs.evolve(NMF, balancer=Band()),
        "balancer: 'band' needs the costs of a codec, but labeler 'rows_kmeans' has none",
        "balancer: None",
    ),
    (
        "init",
        attrs.evolve(EMMC, featuremap=Rbf(), init=KMeansMapped()),
        "init: 'kmeans_mapped' works on FeatureSpace, not on a KernelSpace",
        "init: kmeans, random, seeds",
    ),
    (
        "found",
        attrs.evolve(SVC, n_clusters=4),
        "n_clusters: labeler 'complete_graph' finds the number of clusters itself; leave n_clusters=4 out",
        None,
    ),
    (
        "found on features",
        attrs.evolve(SVC, featuremap=MinMax(), n_clusters=4),
        "n_clusters: labeler 'complete_graph' finds the number of clusters itself; leave n_clusters=4 out",
        None,
    ),
    (
        "at most",
        attrs.evolve(EMMC, labeler=Threshold()),
        "n_clusters: labeler 'threshold' gives at most 2 clusters, not 3",
        "labeler: argmax, interval",
    ),
    (
        "chain",
        attrs.evolve(EMMC, featuremap=Chain((Rbf(), MinMax()))),
        "featuremap: 'rbf' gives no features, so it must be the last of the chain",
        "featuremap: elm, identity, minmax, rbf, zscore",
    ),
]


@pytest.mark.parametrize(("c", "reason", "offer"), [rule[1:] for rule in RULES], ids=[rule[0] for rule in RULES])
def test_each_rule_says_slot_reason_and_what_fits(c, reason, offer):
    with pytest.raises(IncompatibleStages) as caught:
        check(c)
    message = str(caught.value)
    assert reason in message
    if offer is None:
        assert "No single change makes it work; `clusterkit compositions` lists what does." in message
    else:
        assert " With one change, these fit: " in message
        slot, names = offer.split(": ")
        offered = dict(part.split(": ") for part in message.partition("these fit: ")[2].rstrip(".").split("; "))
        assert set(names.split(", ")) <= set(offered[slot].split(", "))


def test_some_that_find_the_number_take_one_too():
    c = recipe("embeddings").composition()
    assert problems(c) == problems(attrs.evolve(c, n_clusters=3)) == []


@pytest.mark.parametrize("c", [EMMC, SVC, NMF, attrs.evolve(EMMC, featuremap=Chain((MinMax(), Rbf())))])
def test_legal_ones_pass(c):
    check(c)
    assert problems(c) == []


def test_several_starts_need_an_objective():
    @final
    @attrs.frozen
    class Blind(Nmf):  # a real plugin would derive from Solver; only the flag matters here
        name: ClassVar[str] = "blind"
        has_objective: ClassVar[bool] = False

    blind = attrs.evolve(NMF, solver=Blind())
    check(blind)
    with pytest.raises(IncompatibleStages, match="n_init: n_init = 5 compares starts by objective, but solver 'blind'"):
        check(attrs.evolve(blind, n_init=5))


def test_every_reason_is_told_at_once():
    c = attrs.evolve(EMMC, featuremap=Rbf(), solver=Svdd(), init=None)
    slots = [problem.slot for problem in problems(c)]
    assert slots == ["labeler", "labeler"]
    with pytest.raises(IncompatibleStages, match=r"reads Scores.*; labeler: 'argmax' codes labels as onehot"):
        check(c)


def test_the_blamed_slot_is_not_the_only_one_offered():
    offers = alternatives(attrs.evolve(NMF, solver=Gmmc(), labeler=Threshold(), n_clusters=2))
    assert offers["featuremap"] == ["rbf"]
    assert "ridge" in offers["solver"]
    assert offers["labeler"] == []


def test_a_stage_of_this_session_is_offered_and_composed():
    @final
    @attrs.frozen
    class Mine(Labeler):
        """Reads embeddings."""

        name: ClassVar[str] = "mine"
        consumes: ClassVar[type] = Embedding

        def label(self, outcome, space, task, rng):
            return Labeling(outcome.rows.argmax(axis=1), None)

    registry.register(Mine)
    assert "mine" in alternatives(attrs.evolve(NMF, labeler=CompleteGraph(), n_clusters=3))["labeler"]
    assert any(c.labeler == Mine() for c in legal_compositions())


def test_only_legal_ones_are_listed_and_none_twice():
    listed = list(legal_compositions())
    assert all(not problems(c) for c in listed)
    assert len(listed) == len(set(listed))
    assert all(c.init is not None for c in listed if c.solver.targets != "never")
    assert {c.n_clusters for c in listed if c.labeler.finds_k} == {None}
    assert {c.n_clusters for c in listed if isinstance(c.labeler, Interval)} == {2, 3}


class TestInductive:
    def test_follows_path_and_labeler(self):
        assert EMMC.inductive

        @final
        @attrs.frozen
        class Transductive(Labeler):
            """Labels the samples only."""

            name: ClassVar[str] = "transductive"
            consumes: ClassVar[type] = Embedding
            inductive: ClassVar[bool] = False

            def label(self, outcome, space, task, rng):
                return Labeling(outcome.rows.argmax(axis=1), None)

        assert not attrs.evolve(NMF, labeler=Transductive()).inductive

    def test_no_path_no_prediction(self):
        assert not attrs.evolve(SVC, featuremap=Elm()).inductive


class TestChain:
    def test_a_parameter_finds_its_map(self):
        chain = Chain((MinMax(), Elm()))
        assert chain.owner("n_hidden") == 1
        assert chain.owner("limits") == 0
        with pytest.raises(UnknownName, match=r"no map of the chain .* has a parameter 'n_hiden'.*'n_hidden'"):
            chain.owner("n_hiden")

    def test_it_gives_what_the_last_gives(self):
        assert Chain((MinMax(), Rbf())).gives is Rbf.gives
        assert Chain((MinMax(), Elm())).gives is Elm.gives

    @pytest.mark.parametrize("maps", [(), 3, (1,), [MinMax()]])
    def test_anything_else_is_refused(self, maps):
        with pytest.raises(ValueError, match="featuremap 'chain': maps must be a non-empty tuple of feature maps"):
            Chain(maps)
