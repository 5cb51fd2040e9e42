"""Laws of partitioners: every sample is in one of k parts, and data and seed alone decide which."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from clusterkit._typing import Labels
from clusterkit.core.spaces import Space, identity_space
from clusterkit.core.stages import Partitioner, Task, labels_by_blocks
from clusterkit.testing.compare import same_bits
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import VIEWS, Case, cases, views

__all__ = ["LAWS"]

LAWS: list[Law] = []
"""The laws of every partitioner, in the order in which they stand below; filled by the decorator `law`."""


def _views(stage: Partitioner) -> st.SearchStrategy[str]:
    return st.just("input") if stage.sees == "input" else st.sampled_from(views(stage.spaces))


def _samples(case: Case, view: str) -> Space:
    if view == "input":
        return identity_space(case.X)
    return VIEWS[view].space_of(case.X, Task(len(case.X), case.k), case.rng("space"))


def _split(stage: Partitioner, case: Case, samples: Space, use: str = "init") -> Labels:
    return labels_by_blocks(stage.start(samples, Task(len(case.X), case.k), case.rng(use)), samples)


@law(LAWS, case=cases(), view=_views)
def labels_are_numbers_in_range(stage: Partitioner, case: Case, view: str) -> None:
    """Each sample gets one integer 0..k-1, whatever the data."""
    labels = _split(stage, case, _samples(case, view))
    assert labels.shape == (case.n,)
    assert labels.dtype.kind in "iu"
    assert labels.min() >= 0
    assert labels.max() < case.k


@law(LAWS, case=cases(["blobs", "offset"], dtypes=["float64"]), view=_views)
def no_part_is_empty(stage: Partitioner, case: Case, view: str) -> None:
    """With at least as many distinct samples as parts, no part is empty."""
    assert len(np.unique(_split(stage, case, _samples(case, view)))) == case.k


@law(LAWS, case=cases(), view=_views)
def same_seed_same_parts(stage: Partitioner, case: Case, view: str) -> None:
    """Equal data and equal streams give equal labels, and the data are not changed."""
    samples, X = _samples(case, view), case.X.copy()
    one = _split(stage, case, samples)
    same_bits(one, _split(stage, case, _samples(case, view)), "two partitions")
    same_bits(samples.points, X, "the data afterwards")


@law(LAWS, case=cases(), view=_views, applies=lambda stage: not stage.varies)
def streams_do_not_matter_if_it_does_not_vary(stage: Partitioner, case: Case, view: str) -> None:
    """With ``varies = False`` another random stream gives the same labels."""
    samples = _samples(case, view)
    same_bits(_split(stage, case, samples, "another"), _split(stage, case, samples), "two streams")
