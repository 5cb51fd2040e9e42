"""Block programs on a simulated device: the numbers of numpy, without a block that comes back."""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable

import attrs
import numpy as np
import pytest
from sklearn.datasets import make_blobs

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.contracts.pass_solver import Iterating, adder_of, solve_by_sums
from clusterkit.contracts.registry import registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.families.factors.updates import RowUpdate, _descended
from clusterkit.families.means import _kmeans_parallel
from clusterkit.families.means._kmeans_parallel import NearestOf
from clusterkit.families.means.kmeans import Centroids
from clusterkit.families.shared.codecs import Argmax, BiasThreshold
from clusterkit.families.shared.elm import Elm
from clusterkit.fitting.device_paths import has_device_path
from clusterkit.fitting.fit import fit
from clusterkit.fitting.pass_iterations import digest_of
from clusterkit.fitting.samples import EngineSamples
from clusterkit.samples import array_libraries, build_space
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    has_array_api,
    table_columns,
    to_device_of,
    to_host,
)
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.rows import SlicedRows
from clusterkit.samples.rows_space import OfFeatures
from clusterkit.samples.sums import Sums, class_totals, products_of_rows, target_sums
from clusterkit.samples.survey import Extremes
from clusterkit.samples.transform import IdentityMap, Transform
from clusterkit.testing.compare import DEVICE, EXACT, numbers_of, put, small_blocks, small_groups
from clusterkit.testing.conformance import variants
from clusterkit.testing.laws.solver import bound_by_passes, codebook

xp = pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")

SOLVERS = {
    name + suffix: stage
    for name, default in registry.specimens("solver").items()
    for suffix, stage in variants(default)
    if has_device_path(stage)
}


def blobs(n=600, d=4, dtype=np.float64):
    X = make_blobs(n, n_features=d, centers=3, cluster_std=2.0, random_state=4)[0]
    return (X - X.min(axis=0)).astype(dtype)


def relative(there, here):
    """Largest difference of two lists of numbers, each relative to the largest entry of the host's."""
    pairs = zip(numbers_of(to_host(there)), numbers_of(to_host(here)), strict=True)
    sizes = [(one, other, float(np.abs(other).max(initial=0.0))) for one, other in pairs if np.isfinite(other).all()]
    assert sizes
    return max(float(np.abs(one - other).max(initial=0.0)) / (size or 1.0) for one, other, size in sizes)


def test_the_stages_that_carry_the_mark():
    assert {stage.name for stage in SOLVERS.values()} >= {"ridge", "centroids", "fuzzy_cmeans", "nmf"}
    maps = {stage.name for stage in registry.specimens("featuremap").values() if has_device_path(stage)}
    assert maps >= {"identity", "minmax", "zscore", "pca", "elm"}
    codecs = {stage.name for stage in registry.specimens("labeler").values() if has_device_path(stage)}
    assert codecs >= {"argmax", "threshold", "interval", "rows_kmeans"}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mapping", ["raw", "random"])
@pytest.mark.parametrize("name", SOLVERS)
def test_sums_of_a_block_are_those_of_numpy(name, mapping, weighted):
    X, solver = blobs(), SOLVERS[name]
    space = (
        build_space(X, IdentityMap(4))
        if mapping == "raw"
        else Elm(20).space_of(X, Task(600, 3), np.random.default_rng(0))
    )
    weights = np.random.default_rng(1).random(600) if weighted else None
    task = Task(600, 3, sample_weight=weights)
    iterations = bound_by_passes(solver, space, task).iterations
    H = space.rows()
    there = put(H)
    if isinstance(iterations, Iterating):
        first = iterations.begin(space, np.random.default_rng(2))
        here = iterations.part(H, first, None, weights)
        assert relative(iterations.part(there, first, None, weights), here) < EXACT
        second = iterations.finish(here, first).following
        values = iterations.part(H, second, first, weights)
        assert relative(iterations.part(there, second, first, weights), values) < EXACT
        return
    coding = Coding.ONEHOT
    coded = Coded(np.random.default_rng(3).integers(3, size=(1, 600)), coding, 3, codebook(coding, 3), weights)
    part, function = adder_of(iterations).part, solve_by_sums(iterations, space, coded).extend
    assert relative(part(there, coded, None), part(H, coded, None)) < EXACT
    assert relative(part(there, coded, function.on(there)), part(H, coded, function.on(H))) < EXACT
    labels = [np.argmax(to_host(scores), axis=1) for scores in (function.on(there), function.on(H))]
    np.testing.assert_array_equal(*labels)


class Recording(DeviceEngine):
    """A device engine that notes what was computed on the host."""

    on_host: list[object]

    def reduce(self, part, rows, width):
        inner = part.part if isinstance(part, OfFeatures) else part
        if not (has_array_api(part) and has_array_api(inner)):
            self.on_host.append(inner)
        return super().reduce(part, rows, width)


def recording():
    engine = Recording(DEVICE)
    object.__setattr__(engine, "on_host", [])
    return engine


FITS = {
    "k-means": ("kmeans", {}),
    "k-means from scattered rows": ("kmeans", {"init": {"name": "seeds", "weighting": "kmeans++"}}),
    "k-means in random features": ("elm-kmeans", {"featuremap__n_hidden": 30}),
    "EMMC": ("emmc-multi", {"balancer": None, "featuremap__n_hidden": 30}),
    "EMMC on a line": (
        "emmc-single",
        {"balancer": None, "featuremap": ["zscore", "pca", {"name": "elm", "activation": "sigmoid", "n_hidden": 30}]},
    ),
    "EMMC by sign": ("emmc", {"n_clusters": 2, "balancer": None, "featuremap__activation": "radbas"}),
    "fuzzy c-means": ("fuzzy-cmeans", {"featuremap": "minmax"}),
    "fuzzy c-means with another exponent": ("fuzzy-cmeans", {"solver__fuzzifier": 1.7}),
    "factorisation": (
        "elm-nmf",
        {"solver__update": "anls", "solver__max_iter": 8, "labeler": "argmax", "featuremap__n_hidden": 30},
    ),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FITS)
def test_a_fit_by_passes_gives_the_labels_of_the_host(name, weighted):
    method, changes = FITS[name]
    X = blobs(900)
    model = recipe(method, **{"n_clusters": 3, "n_init": 1, **changes})
    c = attrs.evolve(model.composition(), sample_weight=np.arange(900.0) % 4 if weighted else None)
    engine = recording()
    with small_groups(300), small_blocks():
        here = fit(c, EngineSamples(SlicedRows(X), LocalEngine()), Seeds.of(0))
        there = fit(c, EngineSamples(SlicedRows(X), engine), Seeds.of(0))
        predicted = EngineSamples(SlicedRows(X), engine).labels(there.predict, 4)
    np.testing.assert_array_equal(there.labels, here.labels)
    np.testing.assert_array_equal(predicted, here.predict(X))
    assert there.n_iter == here.n_iter
    assert there.objective == pytest.approx(here.objective, rel=1e-9)
    assert not engine.on_host, f"computed on the host: {engine.on_host}"


def test_products_of_float32_rows_keep_their_digits():
    rng = np.random.default_rng(0)
    H, T = (rng.random((20_000, columns)).astype(np.float32) for columns in (5, 3))
    exact = H.T.astype(np.float64) @ T.astype(np.float64)
    split = to_host(products_of_rows(put(H), put(T)))
    assert split.dtype == np.float64
    assert np.abs(split / exact - 1).max() < 1e-6
    np.testing.assert_array_equal(to_host(products_of_rows(put(H[:0]), put(T[:0]))), np.zeros((5, 3)))


@pytest.mark.parametrize("weights", [None, np.arange(50.0) % 3])
def test_targets_of_several_starts(weights):
    rng = np.random.default_rng(0)
    H = rng.random((50, 4))
    for coding in Coding:
        k = 2 if coding is Coding.SIGNED else 3
        coded = Coded(rng.integers(k, size=(2, 50)), coding, k, codebook(coding, k), weights)
        np.testing.assert_allclose(to_host(target_sums(put(H), coded)), target_sums(H, coded), rtol=EXACT)
        one = coded.start(0)
        sizes = to_host(class_totals(put(H), one)[1])
        np.testing.assert_array_equal(sizes, one.sizes()[0])


def test_the_digest_of_labels_depends_on_the_labels_alone():
    labels = np.random.default_rng(0).integers(4, size=1000)
    digest = digest_of(slice(5, 1005), put(labels)).to_host()
    for cut in (0, 1, 400):
        parts = [digest_of(slice(5, 5 + cut), put(labels[:cut])), digest_of(slice(5 + cut, 1005), put(labels[cut:]))]
        assert (parts[0] + parts[1]).to_host() == digest
    swapped = labels.copy()
    first, second = np.flatnonzero(labels == 0)[0], np.flatnonzero(labels == 1)[0]
    swapped[[first, second]] = 1, 0
    for other in (swapped, (labels + 1) % 4, labels + 1):
        assert digest_of(slice(5, 1005), put(other)).to_host() != digest
    assert digest_of(slice(6, 1006), put(labels)).to_host() != digest


def test_sums_come_to_the_host_in_their_shapes_and_types():
    arrays = (np.arange(6.0).reshape(2, 3), np.int64(4), np.arange(3), np.float64(0.5))
    there = Sums.of(*(put(np.asarray(array)) for array in arrays[:3]), arrays[3])
    both = (there + there).to_host()
    for array, twice in zip(arrays, both.arrays, strict=True):
        assert type(np.asarray(twice)) is np.ndarray
        np.testing.assert_array_equal(twice, 2 * array)
        assert np.asarray(twice).dtype == np.asarray(array).dtype
    assert Sums.of(arrays[0]).to_host().arrays[0] is not None


def test_constants_are_sent_once_and_go_with_their_owner():
    array, block = np.arange(3.0), put(np.zeros((2, 3)))
    copy = to_device_of(array, block)
    assert to_device_of(array, block) is copy
    assert to_device_of(array, put(np.zeros((2, 3), dtype=np.float32))) is not copy
    assert to_device_of(array.copy(), block) is not copy
    number = id(array)
    assert any(key[0] == number for key in array_libraries._copies)
    del array
    gc.collect()
    assert not any(key[0] == number for key in array_libraries._copies)
    many = [np.arange(3.0) + i for i in range(2 * array_libraries.REMEMBERED)]
    for each in many:
        to_device_of(each, block)
    assert len(array_libraries._copies) <= array_libraries.REMEMBERED


@attrs.frozen
class Wide(BlockFunction):
    array_api = True
    table_columns = 7

    def __call__(self, H):
        return H

    def on(self, H):
        return H


@attrs.frozen
class Adding:
    """No callable: what adds up by a method `part`, as the iterations of a plugin."""

    def part(self, H):
        return Sums.of(H)


@attrs.frozen
class Chosen(BlockFunction):
    """A codec is no callable either; it states its mark."""

    k: int
    names: tuple[str, ...] = ()
    codec: object = None
    several: tuple[Callable, ...] = ()
    adder: object = None


@pytest.mark.parametrize(
    ("function", "marked", "columns"),
    [
        (Wide(), True, 7),
        (Wide().on, True, 7),
        (Chosen(3, ("a",)), False, 0),
        (Chosen(3, codec=Argmax()), True, 0),
        (Chosen(3, codec=BiasThreshold()), False, 0),
        (Chosen(3, several=(Wide(), IdentityMap(2))), True, 7),
        (Chosen(3, several=(Wide(), np.sqrt)), False, 7),
        (Chosen(3, several=(Wide(),), adder=Adding()), False, 7),
        (Chosen(3, several=(Chosen(3, codec=Argmax()), Wide().on)), True, 7),
        (Chosen, False, 0),
    ],
)
def test_marks_follow_from_the_functions_in_the_fields(function, marked, columns):
    assert has_array_api(function) is marked
    assert table_columns(function) == columns


def test_marks_cost_no_attributes_and_travel():
    there = pickle.loads(pickle.dumps(Chosen(3, several=(Wide(),))))
    assert has_array_api(there)
    assert not hasattr(there, "__dict__")


def test_what_lacks_the_mark_gets_features_on_the_host():
    class Part:
        def __call__(self, rows, H):
            assert isinstance(H, np.ndarray)
            return Sums.of(H.sum(axis=0))

    X = blobs(20)
    part = OfFeatures(Transform((IdentityMap(4),), X.dtype), Part())
    assert has_array_api(part)
    np.testing.assert_allclose(part(slice(0, 20), put(X)).arrays[0], X.sum(axis=0))


def test_a_value_that_is_no_number_has_its_place():
    X = blobs(20)
    X[7, 2], X[9, 0] = np.nan, np.inf
    here, there = (Extremes.of(slice(100, 120), block) for block in (X, put(X)))
    assert there.odd[:2] == here.odd[:2] == (107, 2)
    np.testing.assert_array_equal(there.low, here.low)


def test_an_empty_class_moves_to_the_farthest_row():
    X = blobs(60)
    space = build_space(X, IdentityMap(4))
    iterations = bound_by_passes(Centroids(), space, Task(60, 4)).iterations
    coded = Coded(np.arange(60)[None] % 2, Coding.ONEHOT, 4, np.eye(4))
    again = iterations.finish(iterations.part(X, coded, None), None)
    here, there = (again.part(block, coded, None) for block in (X, put(X)))
    one, other = (again.finish(part, None).extend.centres for part in (there, here))
    np.testing.assert_array_equal(one, other)


def test_many_rows_are_predicted_in_blocks(monkeypatch):
    monkeypatch.setattr("clusterkit.samples.transform.DEVICE_BLOCK_BYTES", 0)
    X = blobs(9000)
    for name, changes in (("kmeans", {}), ("emmc-multi", {"balancer": None}), ("fuzzy-cmeans", {})):
        c = recipe(name, n_clusters=3, n_init=1, **changes).composition()
        predict = fit(c, EngineSamples(SlicedRows(X[:500]), LocalEngine()), Seeds.of(0)).predict
        np.testing.assert_array_equal(to_host(predict(put(X))), predict(X))


@pytest.mark.parametrize("count", [3, _kmeans_parallel.COMPARED_CENTRES + 1])
def test_nearest_centres_by_differences_and_by_products(count):
    X = blobs(500)
    nearest = NearestOf(X[0], X[:count].copy(), 0.0)
    labels, there = nearest(slice(0, 500), X), nearest(slice(0, 500), put(X))
    np.testing.assert_array_equal(to_host(there), labels)
    distances = nearest.distances(slice(0, 500), X)
    np.testing.assert_allclose(to_host(nearest.distances(slice(0, 500), put(X))), distances, atol=1e-10)
    assert (distances[:count] == 0.0).all()


def test_updates_of_rows_are_those_of_the_compiled_loops():
    rng = np.random.default_rng(0)
    W = np.abs(rng.standard_normal((30, 5)))
    W[:, 3] = 0.0  # a column that no row has
    G, N, A = W.T @ W, np.abs(rng.standard_normal((40, 30))) @ W, rng.random((40, 5))
    here = A.copy()
    RowUpdate("hals", max_passes=50, stop_ratio=1e-3).advance(here, N, G)
    np.testing.assert_allclose(to_host(_descended(put(A), put(N), G, 50, 1e-3)), here, rtol=1e-9, atol=1e-12)


def test_arrays_without_a_namespace_need_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    assert array_namespace(put(np.zeros(2))) is xp
    with pytest.raises(ModuleNotFoundError, match="need the package array-api-compat"):
        array_namespace(object())
