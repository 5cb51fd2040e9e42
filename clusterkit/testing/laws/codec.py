"""Laws of codecs: coding and decoding gives the same labels, and costs alone decide a label."""

from __future__ import annotations

import copy

import numpy as np
from hypothesis import strategies as st

from clusterkit._typing import Array
from clusterkit.core.outcomes import Scores
from clusterkit.core.spaces import KernelSpace
from clusterkit.core.stages import Codec, Task
from clusterkit.featuremaps.rbf import Rbf
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import scores

__all__ = ["LAWS", "clusters"]

LAWS: list[Law] = []
"""The laws of every codec, in the order in which they stand below; filled by the decorator `law`."""


def clusters(stage: Codec) -> st.SearchStrategy[int]:
    """The numbers of clusters that a labeler can return."""
    return st.integers(max(2, stage.min_clusters), stage.max_clusters or 5)


@st.composite
def _rows(draw: st.DrawFn, stage: Codec) -> tuple[int, Array]:
    """A number of clusters and scores for it."""
    k = draw(clusters(stage))
    return k, draw(scores(draw(st.integers(1, 20)), stage.codebook(k).shape[1]))


@law(LAWS, k=clusters)
def decoding_inverts_encoding(stage: Codec, k: int) -> None:
    """decode(encode(labels)) = labels; the codebook has a different row for each label."""
    labels = np.arange(3 * k) % k
    coded = stage.encode(labels, k)
    book = stage.codebook(k)
    assert book.ndim == 2
    assert len(book) == k
    assert len(np.unique(book, axis=0)) == k, "two labels share a target"
    assert coded.coding is stage.coding
    np.testing.assert_array_equal(stage.decode(coded.targets(), k), labels)


@law(LAWS, drawn=_rows)
def costs_are_finite(stage: Codec, drawn: tuple[int, Array]) -> None:
    """Finite scores have finite costs, one for each label, and keep their number type or widen it."""
    k, rows = drawn
    costs = stage.calibrate(rows, Task(len(rows), k)).costs(rows, k)
    assert costs.shape == (len(rows), k)
    assert np.isfinite(costs).all()
    assert costs.dtype.kind == "f"


@law(LAWS, drawn=_rows)
def costs_of_a_row_depend_on_it_alone(stage: Codec, drawn: tuple[int, Array]) -> None:
    """Costs of some rows are those rows of the costs: only `calibrate` looks at all of them."""
    k, rows = drawn
    codec = stage.calibrate(rows, Task(len(rows), k))
    np.testing.assert_array_equal(codec.costs(rows[::2], k), codec.costs(rows, k)[::2])


@law(LAWS, drawn=_rows)
def label_is_the_cheapest_ties_lowest(stage: Codec, drawn: tuple[int, Array]) -> None:
    """The label is the first of the cheapest, in `decode` and in `label` alike."""
    k, rows = drawn
    task = Task(len(rows), k)
    codec = stage.calibrate(rows, task)
    costs = codec.costs(rows, k)
    lowest = np.array([np.flatnonzero(row == row.min())[0] for row in costs])
    np.testing.assert_array_equal(codec.decode(rows, k), lowest)
    labeling = stage.label(Scores(rows, None), _anywhere(len(rows)), task, np.random.default_rng(0))
    np.testing.assert_array_equal(labeling.labels, lowest)
    np.testing.assert_array_equal(labeling.costs, costs)
    assert labeling.predict is None, "these scores do not extend, so there is nothing to predict with"


@law(LAWS, drawn=_rows)
def calibrating_changes_nothing_in_place(stage: Codec, drawn: tuple[int, Array]) -> None:
    """`calibrate` gives a codec of the same coding and changes neither this codec nor the scores."""
    k, rows = drawn
    before, copied = copy.deepcopy(stage), rows.copy()
    codec = stage.calibrate(rows, Task(len(rows), k))
    assert type(codec) is type(stage)
    assert codec.coding is stage.coding
    assert stage == before, "calibrate changed the codec it was called on"
    np.testing.assert_array_equal(rows, copied)


def _anywhere(n: int) -> KernelSpace:
    """A space for codecs, which read nothing from it."""
    space = Rbf(gamma=1.0).space_of(np.zeros((n, 1)), Task(n, None), np.random.default_rng(0))
    assert isinstance(space, KernelSpace)
    return space
