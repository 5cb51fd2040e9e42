"""Laws of feature maps: a seed and the data decide the space, and the space is one linear operator or one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from clusterkit._typing import Array
from clusterkit.contracts import FeatureMap, Task
from clusterkit.samples import DistanceSpace, FeatureSpace, KernelSpace, Space
from clusterkit.samples.kernels import MatrixKernel
from clusterkit.samples.mixed_space import MixedSpace
from clusterkit.testing.compare import close, copies, same_bits, small_blocks
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import Case, cases

LAWS: list[Law] = []
"""The laws of every feature map, in the order in which they stand below; filled by the decorator `law`."""


def _gives_features(stage: FeatureMap) -> bool:
    return issubclass(stage.gives, FeatureSpace)


def _gives_kernel(stage: FeatureMap) -> bool:
    return issubclass(stage.gives, KernelSpace)


def _gives_inner_products(stage: FeatureMap) -> bool:
    return _gives_features(stage) or _gives_kernel(stage)


def _stores(stage: FeatureMap) -> bool:
    return "storage" in stage.parameters()


def _fit(stage: FeatureMap, case: Case) -> Any:
    return stage.space_of(case.X, Task(len(case.X), None), case.rng("map"))


def _mapped(space: Space, Y: Array) -> Array:
    """The coordinates or features that the space computes for raw rows."""
    if isinstance(space, FeatureSpace):
        return space.at(Y)
    if isinstance(space, MixedSpace | DistanceSpace):
        return space.coordinates(Y)
    assert isinstance(space, KernelSpace), f"neither features nor a kernel: {type(space).__name__}"
    return space.cross(Y)


def _value_type(space: Space, case: Case) -> np.dtype:
    """float64 for kernel values computed from rows of any type; that of the data for features and a given matrix."""
    computed = isinstance(space, KernelSpace) and not isinstance(space.kernel, MatrixKernel)
    return np.dtype(np.float64 if computed else case.dtype)


@law(LAWS, case=cases())
def gives_the_space_it_declares(stage: FeatureMap, case: Case) -> None:
    """The fitted space is of the type `gives`, has every sample, and knows the type of its numbers, which are finite.

    Features keep the type of the data, float32 or float64; values of a kernel are float64.
    """
    space = _fit(stage, case)
    assert isinstance(space, stage.gives), f"gives says {stage.gives.__name__}, got {type(space).__name__}"
    assert space.n == case.n
    assert space.dtype == _value_type(space, case), f"the space of {case.dtype} rows says {space.dtype}"
    if isinstance(space, KernelSpace):
        assert space.points.dtype == case.dtype, f"points of {case.dtype} rows are {space.points.dtype}"
    H = _mapped(space, case.X)
    assert H.dtype == _value_type(space, case), f"{case.dtype} became {H.dtype}"
    assert np.isfinite(H).all(), "features are not finite"


@law(LAWS, case=cases())
def same_seed_same_map(stage: FeatureMap, case: Case) -> None:
    """Equal data and equal streams give bit-equal features, and the data are not changed."""
    X = case.X
    one, other = stage.space_of(X, Task(len(X), None), case.rng("map")), _fit(stage, case)
    same_bits(X, case.X, "the data after the fit")
    same_bits(_mapped(one, X), _mapped(other, X), "features of two fits")


@law(LAWS, case=cases(), chosen=st.integers(0, 2**16))
def maps_each_row_alone(stage: FeatureMap, case: Case, chosen: int) -> None:
    """Mapping some rows gives those rows of the mapping."""
    space, X = _fit(stage, case), case.X
    index = np.random.default_rng(chosen).integers(case.n, size=1 + chosen % case.n)
    close(_mapped(space, X[index]), _mapped(space, X)[index], "rows mapped alone and together", digits=2)


@law(LAWS, case=cases())
def survives_pickling_and_saving(stage: FeatureMap, case: Case) -> None:
    """A space that was pickled, or saved as data and loaded, maps new rows and its own samples to the same bits."""
    space = _fit(stage, case)
    for how, again in copies(space):
        same_bits(_mapped(again, case.X), _mapped(space, case.X), f"features after {how}")
        if isinstance(space, FeatureSpace) and not space.sparse:
            same_bits(again.rows(), space.rows(), f"features of the samples after {how}")


@law(LAWS, case=cases())
def takes_some_samples(stage: FeatureMap, case: Case) -> None:
    """The space of some of the samples maps rows as the whole space does."""
    space, index = _fit(stage, case), np.arange(0, case.n, 2)
    part = space.take(index)
    assert part.n == len(index)
    H = _mapped(part, case.X)
    expected = _mapped(space, case.X)[:, index] if isinstance(space, KernelSpace) else _mapped(space, case.X)
    close(H, expected, "features by a part of the space", digits=2)


@law(LAWS, case=cases(), columns=st.integers(1, 3), applies=_gives_features)
def adjoint_is_the_adjoint_of_apply(stage: FeatureMap, case: Case, columns: int) -> None:
    """<H B, T> = <B, H'T>, and both agree with the rows."""
    space, rng = _fit(stage, case), case.rng("vectors")
    B = rng.standard_normal((space.width, columns)).astype(case.dtype)
    T = rng.standard_normal((case.n, columns)).astype(case.dtype)
    H = space.rows().astype(np.float64)
    size = float(np.abs(H).max(initial=0.0)) * max(H.shape)
    close(space.apply(B).astype(np.float64), (H @ B).astype(case.dtype), "H B", scale=size)
    close(space.adjoint(T), (H.T @ T).astype(case.dtype), "H'T", scale=size)
    left, right = np.vdot(space.apply(B).astype(np.float64), T), np.vdot(B, space.adjoint(T))
    close(np.array([left]).astype(case.dtype), np.array([right]), "<HB, T> and <B, H'T>", scale=size * columns)


@law(LAWS, case=cases(), applies=_gives_inner_products)
def gram_is_symmetric_and_positive(stage: FeatureMap, case: Case) -> None:
    """The matrix of inner products is symmetric to the bit and positive semidefinite to rounding."""
    space = _fit(stage, case)
    G = space.gram()
    if isinstance(space, FeatureSpace):
        assert G.dtype == np.float64, "H'H is factorised, so it is float64 whatever the data"
        close(G, G.T, "H'H and its transpose")
    else:
        same_bits(G, G.T, "K and its transpose")
        close(np.diag(G), space.diag(), "diagonal of K")
    eps = float(np.finfo(_value_type(space, case)).eps)
    w = np.linalg.eigvalsh(G.astype(np.float64))
    assert w[0] >= -1e2 * len(w) * eps * max(abs(w[-1]), abs(w[0])), f"an eigenvalue of {w[0]:.3g}, largest {w[-1]:.3g}"


@law(LAWS, case=cases(), applies=_gives_kernel)
def kernel_parts_agree(stage: FeatureMap, case: Case) -> None:
    """Columns, products and new rows of a kernel space are parts of one matrix."""
    space, fresh = _fit(stage, case), _fit(stage, case)
    K, index = space.gram(), np.arange(0, case.n, 2)
    A = case.rng("weights").standard_normal((case.n, 2))
    # `fresh` never formed its matrix, `space` has it: two code paths
    close(fresh.columns(index), K[:, index], "columns before the matrix is formed", digits=2)
    same_bits(space.columns(index), K[:, index], "columns of the formed matrix")
    close(space.cross(case.X), K, "new rows that are the samples", digits=2)
    close(fresh.apply(A).astype(K.dtype), K @ A, "products before the matrix is formed", digits=2, scale=case.n)


@law(LAWS, seed=st.integers(0, 2**16), rows=st.integers(65, 150), dtype=st.sampled_from(["float64", "float32"]),
     applies=_stores)  # fmt: skip
def streamed_equals_dense(stage: FeatureMap, seed: int, rows: int, dtype: str) -> None:
    """Stored features and features computed anew in each pass give products with equal bits."""
    case = Case("blobs", rows, 3, 3, dtype, seed)
    with small_blocks():
        dense, streamed = (_fit(stage.with_parameters(storage=storage), case) for storage in ("dense", "streamed"))
        rng = case.rng("vectors")
        B, T = rng.standard_normal((dense.width, 2)), rng.standard_normal((rows, 2))
        same_bits(dense.rows(), streamed.rows(), "H")
        same_bits(dense.apply(B), streamed.apply(B), "H B")
        same_bits(dense.adjoint(T), streamed.adjoint(T), "H'T")
        same_bits(dense.gram(), streamed.gram(), "H'H")
        same_bits(dense.at(case.X), streamed.at(case.X), "features of new rows")
