"""Spaces: operators that agree with their matrix, however the matrix is stored."""

from __future__ import annotations

import pickle

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.maps import mapped

from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidParameter, NeedsMemory
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.shared.codecs import Argmax
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.random import Random
from clusterkit.families.shared.scaling import Identity
from clusterkit.fitting.fit import fit
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import DenseSpace, FeatureSpace, KernelSpace, StreamedSpace, build_space, memory
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.sums import GROUPED_COLUMNS
from clusterkit.samples.transform import IdentityMap, block_plan
from clusterkit.testing.compare import close, same_bits, small_blocks
from clusterkit.testing.strategies import Case, spaces

SEEDS = st.integers(0, 2**16)


@attrs.frozen
class Blocked:
    """A case whose samples take several blocks under `small_blocks`; a short repr for failing examples."""

    case: Case

    def features(self, storage: str) -> FeatureSpace:
        return Elm(n_hidden=7, storage=storage).space_of(
            self.case.X, Task(len(self.case.X), None), self.case.rng("map")
        )


BLOCKED = st.builds(
    lambda n, dtype, seed: Blocked(Case("blobs", n, 3, 3, dtype, seed)),
    st.integers(65, 150),
    st.sampled_from(["float64", "float32"]),
    SEEDS,
)


def codes(coding: Coding, k: int) -> np.ndarray:
    if coding is Coding.ONEHOT:
        return np.eye(k)
    return np.array([[-1.0], [1.0]]) if coding is Coding.SIGNED else np.arange(1.0, k + 1)[:, None]


class TestBlocks:
    @given(n=st.integers(1, 20_000), width=st.integers(1, 100_000), dtype=st.sampled_from(["float32", "float64"]))
    def test_they_cover_the_rows_in_order_and_once(self, n, width, dtype):
        plan = list(block_plan(n, width, np.dtype(dtype)))
        assert [i for rows in plan for i in (rows.start, rows.stop)][1:-1] == [
            i for rows in plan[1:] for i in (rows.start, rows.start)
        ]
        assert plan[0].start == 0
        assert plan[-1].stop == n
        assert all(rows.start < rows.stop for rows in plan)

    def test_a_block_is_small_and_has_rows_for_blas(self):
        for width in (1, 300, 10_000, 10**7):
            first = block_plan(10**6, width, np.float64)[0]
            assert first.stop >= 64
            assert first.stop * width * 8 <= 8 * 1024**2 or first.stop == 64

    @given(drawn=spaces([FeatureSpace]))
    def test_they_are_the_rows(self, drawn):
        _, space = drawn
        blocks = list(space.blocks())
        same_bits(np.concatenate([H for _, H in blocks]), space.rows(), "blocks one below the other")


class TestOperator:
    @given(drawn=spaces([FeatureSpace]), columns=st.integers(1, 4))
    def test_products_agree_with_the_matrix(self, drawn, columns):
        case, space = drawn
        H = space.rows().astype(np.float64)
        B = case.rng("B").standard_normal((space.width, columns))
        T = case.rng("T").standard_normal((space.n, columns))
        size = float(np.abs(H).max()) * (space.n + space.width) + 1.0
        as_data = space.dtype
        close(space.apply(B), (H @ B).astype(as_data), "apply", scale=size)
        close(space.adjoint(T).astype(as_data), H.T @ T, "adjoint", scale=size)
        close(space.gram().astype(as_data), H.T @ H, "gram", scale=size**2)
        close(space.outer().astype(as_data), H @ H.T, "outer", scale=size**2)
        close(space.squared_norms().astype(as_data), np.square(H).sum(axis=1), "squared norms", scale=size**2)
        close(space.mean(), H.mean(axis=0), "mean", scale=size)
        distances = np.square(H - B[:, 0]).sum(axis=1)
        close(space.squared_distances_to(B[:, 0]), distances, "distances", scale=size**2 + float(distances.max()))
        assert space.minimum() == H.min()

    @given(drawn=spaces([FeatureSpace]))
    def test_new_rows_that_are_the_samples_give_the_samples(self, drawn):
        case, space = drawn
        close(space.at(case.X), space.rows(), "at")
        close(space.rows(np.array([0, space.n - 1])), space.rows()[[0, -1]], "rows by index", digits=2)

    @given(drawn=spaces([FeatureSpace]))
    def test_part_of_the_samples(self, drawn):
        _, space = drawn
        index = np.arange(space.n)[::-2]
        part = space.take(index)
        assert type(part) is type(space)
        same_bits(part.points, space.points[index], "points")
        close(part.rows(), space.rows()[index], "rows", digits=2)


class TestCodedLabels:
    @given(
        drawn=BLOCKED,
        coding=st.sampled_from(list(Coding)),
        k=st.sampled_from([2, 5, GROUPED_COLUMNS - 1, GROUPED_COLUMNS, 60]),
        starts=st.integers(1, 3),
    )
    def test_their_adjoint_is_that_of_their_targets(self, drawn, coding, k, starts):
        """Below 48 clusters by products, from there on by class sums."""
        case = drawn.case
        k = 2 if coding is Coding.SIGNED else k
        labels = case.rng("labels").integers(k, size=(starts, case.n))
        coded = Coded(labels, coding, k, codes(coding, k))
        with small_blocks():
            dense, streamed = drawn.features("dense"), drawn.features("streamed")
            by_labels = dense.adjoint(coded)
            close(by_labels.astype(case.dtype), dense.adjoint(coded.targets()), "H'T", scale=float(case.n * k))
            same_bits(streamed.adjoint(coded), by_labels, "streamed")
        assert by_labels.shape == (dense.width, starts * coded.q)

    @given(seed=SEEDS, starts=st.integers(1, 3), coding=st.sampled_from(list(Coding)))
    def test_a_kernel_takes_them_too(self, seed, starts, coding):
        case = Case("blobs", 20, 2, 2, "float64", seed)
        space = KernelSpace(case.X, Gaussian(0.5))
        labels = case.rng("labels").integers(2, size=(starts, case.n))
        coded = Coded(labels, coding, 2, codes(coding, 2))
        close(space.apply(coded), space.apply(coded.targets()), "K T")

    @given(seed=SEEDS, starts=st.integers(1, 4), k=st.integers(2, 5))
    def test_a_start_owns_its_columns(self, seed, starts, k):
        labels = np.random.default_rng(seed).integers(k, size=(starts, 9))
        coded = Coded(labels, Coding.ONEHOT, k, np.eye(k))
        for start in range(starts):
            part = coded.start(start)
            same_bits(part.targets(), coded.targets()[:, start * k : (start + 1) * k], f"start {start}")
            assert part.sizes().tolist() == [np.bincount(labels[start], minlength=k).tolist()]


class TestStreaming:
    @given(drawn=BLOCKED)
    def test_every_product_has_the_bits_of_the_dense_space(self, drawn):
        case = drawn.case
        B, T = case.rng("B").standard_normal((7, 2)), case.rng("T").standard_normal((case.n, 2))
        with small_blocks():
            dense, streamed = drawn.features("dense"), drawn.features("streamed")
            assert isinstance(dense, DenseSpace)
            assert isinstance(streamed, StreamedSpace)
            for name, of in {
                "apply": lambda s: s.apply(B),
                "adjoint": lambda s: s.adjoint(T),
                "gram": lambda s: s.gram(),
                "outer": lambda s: s.outer(),
                "norms": lambda s: s.squared_norms(),
                "rows": lambda s: s.rows(),
            }.items():
                same_bits(of(streamed), of(dense), name)

    def test_features_are_streamed_above_half_the_cap(self, monkeypatch):
        X = np.random.default_rng(0).standard_normal((100, 2))  # 100 x 10 features take 8,000 bytes
        monkeypatch.setenv(memory.VARIABLE, "16000")
        assert isinstance(mapped(Elm(n_hidden=10), X, 0), DenseSpace)
        monkeypatch.setenv(memory.VARIABLE, "15998")
        space = mapped(Elm(n_hidden=10), X, 0)
        assert isinstance(space, StreamedSpace)
        assert space.resolved["storage"] == "streamed"

    def test_a_fit_under_a_small_cap_gives_the_same_labels(self, monkeypatch):
        X = Case("blobs", 300, 2, 3).X
        c = Composition(Elm(n_hidden=12), Ridge(), Argmax(), None, Random(), 3)
        plenty = fit(c, X, Seeds(0))
        monkeypatch.setenv(memory.VARIABLE, "20K")
        scarce = fit(c, X, Seeds(0))
        assert isinstance(plenty.space, DenseSpace)
        assert isinstance(scarce.space, StreamedSpace)
        same_bits(scarce.labels, plenty.labels, "labels")


class TestMemoryCap:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        monkeypatch.setenv(memory.VARIABLE, "1K")

    @pytest.mark.parametrize(
        ("ask", "what"),
        [
            (lambda X: KernelSpace(X, Gaussian(1.0)).gram(), "the 50 x 50 kernel matrix needs 20,000 bytes"),
            (
                lambda X: KernelSpace(X, Gaussian(1.0)).rescaled(2.0).gram(),
                "the 50 x 50 kernel matrix needs 20,000 bytes",
            ),
            (
                lambda X: build_space(X, IdentityMap(3)).outer(),
                "the 50 x 50 matrix of inner products needs 20,000 bytes",
            ),
            (lambda X: build_space(X, IdentityMap(3)).rows(), "the 50 x 3 feature matrix needs 1,200 bytes"),
            (
                lambda X: mapped(Elm(n_hidden=9, storage="dense"), X, 0),
                "the 50 x 9 feature matrix needs 3,600 bytes",
            ),
        ],
        ids=["gram", "rescaled", "outer", "rows", "dense"],
    )
    def test_a_matrix_above_it_is_refused_before_work(self, ask, what):
        with pytest.raises(NeedsMemory) as caught:
            ask(np.zeros((50, 3)))
        message = str(caught.value)
        assert message.startswith(what)
        assert "above the memory cap of 1.0 KiB" in message
        assert "Or raise the cap: CLUSTERKIT_MEMORY_CAP=" in message
        assert isinstance(caught.value, MemoryError)

    def test_products_with_the_kernel_need_no_matrix(self):
        X = np.random.default_rng(0).standard_normal((50, 3))
        space = KernelSpace(X, Gaussian(1.0))
        assert space.apply(np.ones((50, 1))).shape == (50, 1)
        assert space.columns(np.array([3])).shape == (50, 1)

    def test_the_advice_is_enough(self, monkeypatch):
        space = KernelSpace(np.zeros((50, 3)), Gaussian(1.0))
        with pytest.raises(NeedsMemory) as caught:
            space.gram()
        monkeypatch.setenv(memory.VARIABLE, str(caught.value).rpartition("=")[2].rstrip("."))
        assert space.gram().shape == (50, 50)


@pytest.mark.parametrize(
    ("text", "size"), [("2G", 2 * 1024**3), ("500M", 500 * 1024**2), ("1.5k", 1536), ("10", 10), ("3 GiB", 3 * 1024**3)]
)
def test_the_cap_is_a_number_with_a_unit(monkeypatch, text, size):
    monkeypatch.setenv(memory.VARIABLE, text)
    assert memory.cap() == size


@pytest.mark.parametrize("text", ["much", "-", "2X"])
def test_a_cap_that_is_no_size_is_an_error(monkeypatch, text):
    monkeypatch.setenv(memory.VARIABLE, text)
    with pytest.raises(InvalidParameter, match=rf"CLUSTERKIT_MEMORY_CAP must be a size such as '2G'.*got '{text}'"):
        memory.cap()


def test_without_one_half_the_memory_is_the_cap(monkeypatch):
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    assert memory.cap() > 100 * 1024**2


class TestKernel:
    @given(seed=SEEDS, gamma=st.floats(0.01, 10), dtype=st.sampled_from(["float64", "float32"]))
    def test_another_width_reuses_the_distances(self, seed, gamma, dtype):
        X = Case("duplicates", 20, 3, 3, dtype, seed).X
        space = KernelSpace(X, Gaussian(1.0))
        close(space.rescaled(gamma).gram(), KernelSpace(X, Gaussian(gamma)).gram(), "K", scale=1.0, digits=1)
        assert space.kernel == Gaussian(1.0)
        first, second = space.rescaled(gamma), space.rescaled(2 * gamma)
        first.gram(), second.gram()
        assert first._shared["D"] is second._shared["D"]
        assert first._shared["D"] is not None

    def test_another_width_of_many_points_costs_no_matrix(self):
        X = np.random.default_rng(0).standard_normal((3000, 2))
        space = KernelSpace(X, Gaussian(1.0)).rescaled(2.0)
        assert space._shared["D"] is None
        close(space.gram()[:50], KernelSpace(X, Gaussian(2.0)).gram()[:50], "K", scale=1.0, digits=1)
        assert space._shared["D"] is None

    @pytest.mark.parametrize("kernel", [Gaussian(0.7), Linear()])
    def test_the_matrix_is_exactly_symmetric(self, kernel):
        with small_blocks():
            X = np.random.default_rng(0).standard_normal((700, 9))  # several blocks and tiles
            space = KernelSpace(X, kernel)
            K = space.gram()
        same_bits(K, K.T.copy(), "K")
        same_bits(np.diag(K).copy(), space.diag(), "diagonal")

    def test_a_pickle_and_a_lean_space_leave_the_matrix_behind(self):
        X = np.random.default_rng(0).standard_normal((200, 2))
        space = KernelSpace(X, Gaussian(1.0))
        K = space.gram()
        small = len(pickle.dumps(space))
        assert small < 2 * X.nbytes
        again = pickle.loads(pickle.dumps(space))
        same_bits(again.gram(), K, "K after pickling")
        assert not space.without_samples()._memo
        assert space._memo

    def test_a_pickled_dense_space_carries_no_features(self):
        X = np.random.default_rng(0).standard_normal((200, 2))
        space = mapped(Elm(n_hidden=50), X, 1)
        dumped = pickle.dumps(space)
        assert len(dumped) < 200 * 50 * 8 / 2
        same_bits(pickle.loads(dumped).rows(), space.rows(), "H after pickling")


def test_the_identity_copies_nothing():
    X = np.zeros((5, 2))
    assert np.shares_memory(mapped(Identity(), X, 0)._H, X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [0.1, 1e6 / 3])
def test_equal_samples_have_a_mean_that_equals_them(dtype, value):
    space = build_space(np.full((151, 3), value, dtype=dtype), IdentityMap(3))
    assert np.array_equal(space.mean().astype(dtype), space.points[0])
    assert not space.squared_distances_to(space.mean()).any()


def test_the_mean_of_sparse_features():
    X = np.random.default_rng(0).random((90, 20)) * (np.random.default_rng(1).random((90, 20)) < 0.2)
    space = build_space(SparseRows.of(X), IdentityMap(20))
    assert space.sparse
    np.testing.assert_allclose(space.mean(), X.mean(axis=0), rtol=1e-12)
