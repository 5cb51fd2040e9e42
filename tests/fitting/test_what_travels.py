"""What an engine sends in a fit: every function and every sum by pickle, each at most 16 MiB, and no bit changes."""

import pickle
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.families.margins.ridge import Triangle
from clusterkit.samples import sums
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.sums import SymmetricSum, packed_upper, symmetric_of, upper_of
from clusterkit.samples.transform import block_plan
from clusterkit.testing.compare import same_bits, small_groups
from clusterkit.testing.laws.solver import MOST_BYTES

HIDDEN, ATTRIBUTES, CLUSTERS = 1500, 100, 100
"""The largest fits that the limit is promised for: features, attributes and clusters."""

WIDE = {"featuremap": {"name": "elm", "n_hidden": HIDDEN}}
FEW = {"max_iter": 2}
NMF = {"labeler": "argmax", "solver__max_iter": 2}

COMPOSITIONS = {
    "ridge": ("emmc-multi", {"balancer": None, "init": "random", **WIDE, **FEW}),
    "ridge with a balancer": ("emmc-multi", {"balancer": "transport", "init": "random", **WIDE, **FEW}),
    "ridge from k-means||": ("emmc-multi", {"balancer": None, **WIDE, **FEW}),
    "ridge that is ill-conditioned": (
        "emmc-multi",
        {"balancer": None, "init": "random", "solver__C": 1e14, **WIDE, **FEW},
    ),
    "ridge of one output": ("emmc-single", {"balancer": "transport", "init": "random", **WIDE, **FEW}),
    "centroids": ("kmeans", {"n_init": 1, "init": "random", **WIDE, **FEW}),
    "centroids of principal components": (
        "cmeans",
        {"featuremap": ["zscore", {"name": "pca", "n_components": 100}], "init": "seeds", **FEW},
    ),
    "fuzzy_cmeans": ("fuzzy-cmeans", {"n_init": 1, "solver__max_iter": 2, **WIDE}),
    "nmf by anls": ("nmf", {"solver__update": "anls", **NMF, "solver__max_iter": 1}),
}  # fmt: skip


class Posted:
    """An engine whose functions and sums all go through pickle, with their sizes."""

    def __init__(self, monkeypatch):
        self.sizes = {}
        plain = LocalEngine.labels

        def labels(engine, label, rows, width):
            return plain(engine, self.post(label), rows, width)

        # scores are kept by the process that computes them, not by engines that send
        monkeypatch.setattr("clusterkit.fitting.pass_iterations.room_for_scores", lambda *_: None)
        monkeypatch.setattr(LocalEngine, "reduce", lambda engine, *pass_: self.reduce(*pass_))
        monkeypatch.setattr(LocalEngine, "labels", labels)

    def post(self, thing):
        content = pickle.dumps(thing)
        name = type(thing).__name__
        self.sizes[name] = max(len(content), self.sizes.get(name, 0))
        return pickle.loads(content)

    def reduce(self, part, rows, width):
        part = self.post(part)
        blocks = groupby(block_plan(rows.n, width, rows.dtype), key=lambda block: block.start // sums.GROUP)
        nodes = [
            self.post(sums.add_left_to_right(part(block, rows.read(block)) for block in group)) for _, group in blocks
        ]
        while len(nodes) > 1:
            chunks = [nodes[first : first + sums.FAN_IN] for first in range(0, len(nodes), sums.FAN_IN)]
            nodes = [self.post(sums.add_left_to_right(chunk)) for chunk in chunks]
        return nodes[0]


DEAR = {
    "ridge with a balancer",
    "ridge of one output",
    "ridge that is ill-conditioned",
    "ridge from k-means||",
    "nmf by anls",
}
"""Compositions whose solver or balancer is in another one too."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.deep] if name in DEAR else []) for name in COMPOSITIONS]
)
def test_whatever_is_sent_is_at_most_16_mib(name, monkeypatch):
    recipe_name, parameters = COMPOSITIONS[name]
    columns = ATTRIBUTES if "featuremap" in parameters and "principal" not in name else HIDDEN
    X, _ = make_blobs(1200, columns, centers=CLUSTERS, random_state=0)
    rows = clusterkit.open(X.astype(np.float32))

    def fit():
        settings = {"n_clusters": CLUSTERS, "random_state": 3, **parameters}
        return recipe(recipe_name, **settings).fit(rows)

    with small_groups(300):
        plain = fit()
        post = Posted(monkeypatch)
        sent = fit()
    assert max(post.sizes.values()) <= MOST_BYTES, post.sizes
    same_bits(plain.history_, sent.history_, "objectives")
    assert np.array_equal(plain.labels_, sent.labels_)
    if "ridge" in name:
        assert 9_000_000 < post.sizes["SymmetricSum"] < 9_100_000, "one triangle of the Gram matrix"
    if "ill-conditioned" in name:
        assert 8_600_000 < post.sizes["Triangle"] < 8_700_000, "1,200 rows of a triangle of 1,500"


@given(npst.arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.floats(-1e9, 1e9)))
def test_a_symmetric_sum_comes_back_bit_for_bit(H):
    M = H.T @ H
    again = pickle.loads(pickle.dumps(SymmetricSum.of(M)))
    same_bits(again.matrix, M, "the matrix")
    assert again.matrix.flags.writeable
    same_bits((again + again).matrix, M + M, "their sum")
    same_bits(symmetric_of(packed_upper(M), len(M)), M, "unpacked")


def test_a_matrix_that_is_not_symmetric_is_sent_whole():
    M = np.arange(9.0).reshape(3, 3)
    same_bits(pickle.loads(pickle.dumps(SymmetricSum.of(M))).matrix, M, "the matrix")


@given(npst.arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.floats(-1e9, 1e9)))
def test_a_triangle_comes_back_bit_for_bit(H):
    rows = Triangle(H)
    again = pickle.loads(pickle.dumps(rows))
    assert not again.decomposed
    same_bits(again.rows, H, "rows")
    factor = rows.factor()
    again = pickle.loads(pickle.dumps(factor))
    assert again.decomposed
    same_bits(again.rows, factor.rows, "the factor")
    same_bits(upper_of(packed_upper(factor.rows), *factor.rows.shape), factor.rows, "unpacked")
