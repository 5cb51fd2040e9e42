"""Samples that would silently become something else are refused with advice."""

from __future__ import annotations

import numpy as np
import pytest

import clusterkit
from clusterkit import recipe
from clusterkit.core.errors import InvalidData
from clusterkit.estimators import unsuited
from clusterkit.estimators.driven import Driven

X = np.random.default_rng(0).normal(size=(30, 2))


class Graph(list):
    """Like a Dask array: it converts when it is asked, which it must not be."""

    nbytes = 3 * 2**30

    def __dask_graph__(self):
        raise AssertionError("computed")

    def __array__(self, *args, **options):
        raise AssertionError("computed")


LazyFrame = type("LazyFrame", (), {"__module__": "polars.lazyframe.frame", "collect": lambda self: X})
Tensor = type(
    "Tensor",
    (),
    {"__module__": "torch", "__array_namespace__": lambda self: np, "__array__": lambda self, *a, **k: X},
)

ENTRIES = [
    lambda data: recipe("kmeans", n_clusters=2).fit(data),
    lambda data: recipe("kmeans", n_clusters=2).fit(X).predict(data),
    lambda data: Driven("single", recipe("kmeans"), n_clusters=2).fit(data),
    lambda data: recipe("emmc-multistart", n_clusters=2).fit(data),
    lambda data: clusterkit.search("kmeans", {"n_clusters": [2]}, data, "silhouette"),
    lambda data: clusterkit.ensemble(data, 2),
    lambda data: clusterkit.ConsensusClustering().fit(data),
    lambda data: clusterkit.MinMaxModularSVC().fit(data, np.arange(30) % 2),
]


@pytest.mark.parametrize("entry", range(len(ENTRIES)))
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Graph(), r"X is a Dask Graph, which would be computed \(3\.0 GiB\) and kept in memory.* pass X\.compute\(\)"),
        (LazyFrame(), r"X is a LazyFrame of polars, a query that would be run and kept in memory.*X\.collect\(\)"),
        (np.ma.MaskedArray(X, mask=X > 1.5), r"X has \d+ masked values, and a mask says that they are missing\. Fill"),
        (np.arange(30).astype("datetime64[D]")[:, None], r"X has the type datetime64\[D\], whose values"),
    ],
    ids=["dask", "lazy", "masked", "dates"],
)
def test_refused_everywhere(entry, data, message):
    with pytest.raises(InvalidData, match=message):
        ENTRIES[entry](data)


def test_a_mask_of_nothing_is_fine():
    plain, masked = (recipe("kmeans", n_clusters=2, random_state=0).fit(data) for data in (X, np.ma.MaskedArray(X)))
    assert np.array_equal(plain.labels_, masked.labels_)


def test_arrays_of_other_libraries_with_dispatch_on(monkeypatch):
    monkeypatch.setattr(unsuited, "_dispatches", lambda: True)
    with pytest.raises(InvalidData, match=r"X is a Tensor of torch, and scikit-learn's array API dispatch is"):
        recipe("kmeans", n_clusters=2).fit(Tensor())
    monkeypatch.setattr(unsuited, "_dispatches", lambda: False)
    assert len(recipe("kmeans", n_clusters=2).fit(Tensor()).labels_) == 30
