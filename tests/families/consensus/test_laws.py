"""The laws of consensus functions: each is broken by a stage made for it."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
import pytest
from hypothesis import Phase

from clusterkit.contracts import Consensus
from clusterkit.testing import laws_of


@pytest.fixture(autouse=True)
def without_shrinking(change_settings):
    change_settings(phases=[Phase.generate])


def broken_by(stage, laws=None) -> set[str]:
    """The laws that a stage breaks, of some or of all."""
    broken = set()
    for name, check in laws_of(stage):
        if laws is not None and name not in laws:
            continue
        try:
            check()
        except AssertionError:
            broken.add(name)
    return broken


@final
@attrs.frozen
class Sound(Consensus):
    """Distinct label columns."""

    name: ClassVar[str] = "sound"
    finds_k: ClassVar[bool] = True

    def merge(self, labelings, k, rng):
        return labelings.column_of


def made(merge, **switches):
    """A stage like `Sound` with another method."""
    body = {"__doc__": "Broken.", "name": "broken", "finds_k": True, "merge": merge, "__module__": __name__, **switches}
    return final(attrs.frozen(type("Broken", (Consensus,), body)))()


def apart(self, labelings, k, rng):
    return np.arange(labelings.members.shape[1])


def by_number(self, labelings, k, rng):
    return np.arange(labelings.members.shape[1]) % 2


def of_the_last(self, labelings, k, rng):
    return labelings.members[-1] + 1


def by_chance(self, labelings, k, rng):
    return rng.integers(2, size=len(labelings.counts))[labelings.column_of]


def forgetful(self, labelings, k, rng):
    return labelings.members[0]


def test_a_sound_one_breaks_none():
    assert broken_by(Sound()) == set()


@pytest.mark.parametrize(
    ("stage", "laws"),
    [
        (made(apart), {"samples_labelled_alike_stay_together"}),
        (made(by_number), {"samples_labelled_alike_stay_together", "samples_may_come_in_any_order"}),
        (made(of_the_last), {"members_may_come_in_any_order"}),
        (made(by_chance), {"streams_do_not_matter_if_it_does_not_vary"}),
        (made(forgetful), {"labels_are_numbers_by_appearance"}),
        (made(apart, takes_k=True), {"gives_no_more_clusters_than_asked_for"}),
        (made(apart, finds_k=False), {"finds_or_takes_the_number_of_clusters"}),
    ],
    ids=lambda value: value.merge.__name__ if isinstance(value, Consensus) else "",
)
def test_a_broken_one_is_found(stage, laws, change_settings):
    change_settings(max_examples=60)  # which examples are few enough for chance depends on the text of the laws
    assert laws == broken_by(stage, laws)
