"""The capabilities of stages: every line of the table has a meaning, and what declares something else is refused."""

from __future__ import annotations

import re
from typing import ClassVar, final

import attrs
import numpy as np
import pytest

import clusterkit
from clusterkit.contracts import Codec, Consensus
from clusterkit.contracts.declared import capabilities, undeclared
from clusterkit.contracts.registry import ABSTRACT
from clusterkit.drivers.compose import resolve
from clusterkit.errors import BrokenPlugin, InvalidParameter, UnknownName


@pytest.mark.parametrize("abstract", [*ABSTRACT.values(), Codec], ids=lambda abstract: abstract.__name__)
def test_every_capability_says_what_it_means(abstract):
    assert [name for name, each in capabilities(abstract).items() if not each.meaning] == []


def declaring(**variables):
    """A consensus with further class variables."""

    @final
    @attrs.frozen
    class First(Consensus):
        """The first member."""

        name: ClassVar[str] = "first_member"

        def merge(self, labelings, k, rng):
            return np.asarray(labelings.members[0])

    for name, value in variables.items():
        setattr(First, name, value)
    return First


def test_what_is_no_capability_is_refused_with_the_nearest_name():
    with pytest.raises(BrokenPlugin, match="find_k is no capability of a consensus: is finds_k meant"):
        clusterkit.register(declaring(find_k=True))
    with pytest.raises(BrokenPlugin, match="finds_k = 'yes' is no bool"):
        clusterkit.register(declaring(finds_k="yes"))


def test_a_property_may_stand_for_a_capability_and_other_names_are_free():

    assert undeclared(declaring(finds_k=property(lambda self: True), source="Dudoit, Fridlyand 2003")) == []


def test_an_object_of_a_class_that_is_not_registered_is_checked_too():
    with pytest.raises(InvalidParameter, match="is finds_k meant"):
        resolve("consensus", declaring(FINDS_K=True)())


def test_the_name_of_a_whole_method_leads_to_its_recipe():
    with pytest.raises(UnknownName, match=r"'excess_of_mass' by that name\. The recipe 'hdbscan' is the whole"):
        clusterkit.Pipeline(labeler="hdbscan").fit(np.eye(4))


def test_what_has_to_be_declared_is_named():
    class Half(Consensus):
        def marge(self, labelings, k, rng):
            return labelings

    with pytest.raises(BrokenPlugin, match="consensus 'Half': it lacks merge; name, by which it is called, is missing"):
        clusterkit.register(Half)

    class Nothing(Codec):
        name = "nothing"

    assert [problem.split(" ")[0] for problem in undeclared(Nothing)] == ["it", "coding"]


@pytest.mark.parametrize(
    ("slot", "word", "called"),
    [
        ("solver", "sgd", "solver 'lmsvc'"),
        ("solver", "smo", "solver 'svdd'"),
        ("solver", "multiplicative", "solver 'nmf' with update='multiplicative'"),
        ("labeler", "complete-graph", "labeler 'complete_graph'"),
        ("labeler", "equilibrium-points", "labeler 'equilibrium'"),
        ("featuremap", "Gaussian kernel", "featuremap 'rbf'"),
        ("init", "k-means++", "partitioner 'seeds'"),
        ("solver", "threshold", "labeler 'threshold'"),
    ],
)
def test_a_name_of_the_papers_leads_to_the_stage(slot, word, called):
    with pytest.raises(UnknownName, match=f"call {re.escape(called)} by that name"):
        clusterkit.Pipeline(**{"n_clusters": 2, slot: word}).fit(np.eye(4))
