"""Every legal composition runs and keeps its promises; every illegal one explains itself."""

from functools import cache
from itertools import product

import attrs
import numpy as np
import pytest

from clusterkit.contracts.composition import SLOTS, Composition, problems
from clusterkit.contracts.registry import registry
from clusterkit.drivers.compose import alternatives, check, legal_compositions
from clusterkit.errors import BrokenPlugin, IncompatibleStages
from clusterkit.testing import check_composition, pairwise_cover
from clusterkit.testing.compositions import describe, samples
from clusterkit.testing.pytest_plugin import deep


@cache
def _registered() -> dict[str, list]:
    return {slot: [stage() for stage in registry.available(kind).values()] for slot, kind in SLOTS.items()}


def _illegal() -> list[tuple[Composition, set[str]]]:
    """Every mix of registered stages that the rules refuse, with a partitioner where one is needed, and the reasons.

    All of them in the deep profile only; otherwise every balancer and number of clusters with the first map and the
    first partitioner, and every map and partitioner without a balancer, which meets the same reasons: no rule is about
    a balancer or a number and a map or a partitioner.
    """
    stages = _registered()
    illegal = []
    for featuremap, solver, labeler in product(stages["featuremap"], stages["solver"], stages["labeler"]):
        every = deep() or featuremap is stages["featuremap"][0]
        for balancer, k in product([None, *stages["balancer"]], (None, 2, 3)) if every else [(None, 2)]:
            inits = [None] if solver.targets == "never" else stages["init"]
            for init in inits if deep() or (balancer, k) == (None, 2) else inits[:1]:
                c = Composition(featuremap, solver, labeler, balancer, init, k)
                if refusals := problems(c):
                    illegal.append((c, {problem.reason for problem in refusals}))
    return illegal


def _one_for_each_reason(illegal: list[tuple[Composition, set[str]]]) -> list[Composition]:
    """The compositions with a reason, names of stages included, that none before has."""
    taken: list[Composition] = []
    seen: set[str] = set()
    for c, reasons in illegal:
        if not reasons <= seen:
            taken.append(c)
            seen |= reasons
    return taken


# the samples are made for every stage at once, and so are no counts
pytestmark = [
    pytest.mark.hypothesis,
    pytest.mark.filterwarnings("ignore:featuremap 'log_tfidf' is for counts"),
    # its criterion admits that, and twenty rows invite it
    pytest.mark.filterwarnings("ignore:solver 'cpm3c'. . of . clusters have no sample"),
    # without a balancer nothing keeps a maximum margin from having all samples on one side
    pytest.mark.filterwarnings("ignore:all .* samples are in one cluster"),
    pytest.mark.filterwarnings("ignore:.* of the .* clusters that were asked for"),
    pytest.mark.filterwarnings("ignore:solver 'lapgmm'. . of . components are nowhere"),
]

SEED = 0
"""What the sample of a run without the deep profile follows from."""
SAMPLE = 50

LEGAL = list(legal_compositions())
COVER = pairwise_cover(LEGAL)
TRIED = LEGAL if deep() else [COVER[i] for i in np.random.default_rng(SEED).permutation(len(COVER))[:SAMPLE]]


def _marks(c: Composition) -> list[pytest.MarkDecorator]:
    """Semidefinite programs are dear to solve, and their plugin tests them."""
    return [pytest.mark.deep] if c.solver.name.endswith("_sdp") else []


@pytest.mark.parametrize("dtype", ["float64", "float32"] if deep() else ["float64"])
@pytest.mark.parametrize("c", [pytest.param(c, marks=_marks(c)) for c in TRIED], ids=describe)
def test_a_legal_composition_keeps_its_promises(c, dtype):
    try:
        assert check_composition(c, samples(dtype, c.featuremap.takes_pairs))
    except BrokenPlugin as lacking:  # a stage of an installed plugin, which needs a package that is not
        pytest.skip(str(lacking))


@pytest.mark.deep  # models of every recipe are dumped and loaded in test_sklearn.py
@pytest.mark.parametrize("c", TRIED, ids=describe)
def test_a_legal_composition_survives_joblib(c, tmp_path):
    import joblib

    from clusterkit.testing.compositions import estimator

    try:
        model = estimator(c).fit(X := samples(pairs=c.featuremap.takes_pairs))
    except BrokenPlugin as lacking:
        pytest.skip(str(lacking))
    joblib.dump(model, tmp_path / "model")
    again = joblib.load(tmp_path / "model")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    if c.inductive:
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_the_cover_holds_every_pair_and_is_small():
    def pairs(compositions):
        values = [(describe(c).split("-")) for c in compositions]
        return {(i, row[i], j, row[j]) for row in values for i in range(6) for j in range(i)}

    assert pairs(COVER) == pairs(LEGAL)
    assert len(COVER) < len(LEGAL) / 4
    assert [describe(c) for c in COVER] == [describe(c) for c in pairwise_cover(LEGAL)]


def test_every_registered_stage_is_in_a_legal_composition():
    for slot, stages in _registered().items():
        used = {getattr(c, slot).name for c in LEGAL if getattr(c, slot) is not None}
        assert used == {stage.name for stage in stages}, slot


def test_illegal_compositions_explain_themselves():
    for c in [c for c, _ in _illegal()] if deep() else _one_for_each_reason(_illegal()):
        _explains_itself(c)


def _explains_itself(c: Composition) -> None:
    with pytest.raises(IncompatibleStages) as caught:
        check(c)
    message = str(caught.value)
    for problem in problems(c):
        assert f"{problem.slot}: {problem.reason}" in message
    offers = alternatives(c)
    for slot, names in offers.items():
        if names:
            assert f"{slot}: {', '.join(names)}" in message
    if not any(offers.values()):
        assert "No single change makes it work" in message
    # what is offered fits, what is not offered does not
    for slot, stages in _registered().items():
        if getattr(c, slot) is None:
            continue
        fits = {stage.name for stage in stages if not problems(attrs.evolve(c, **{slot: stage}))}
        assert set(offers[slot]) - {"None"} == fits, slot


def test_a_slot_that_can_be_changed_is_offered_even_if_another_is_blamed():
    stages = _registered()
    by_name = {slot: {stage.name: stage for stage in of_slot} for slot, of_slot in stages.items()}
    c = Composition(
        by_name["featuremap"]["rbf"], by_name["solver"]["svdd"], by_name["labeler"]["argmax"], None, None, 2
    )
    with pytest.raises(IncompatibleStages, match=r"labeler: 'argmax' .*solver: .*centroids"):
        check(c)
