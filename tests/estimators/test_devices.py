"""Fits on a device: labels of the host, results where the samples lie, and clear refusals before any work."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from oracles.devices import COMPOSITIONS, blobs, model_of
from sklearn.base import clone

import clusterkit
from clusterkit import recipe
from clusterkit.errors import IncompatibleStages, InvalidData, InvalidParameter
from clusterkit.fitting.device_paths import with_device_path
from clusterkit.samples import devices
from clusterkit.samples.array_libraries import to_host
from clusterkit.samples.device_engine import ArrayRows, DeviceEngine
from clusterkit.samples.devices import VARIABLE, Device
from clusterkit.samples.rows import SlicedRows
from clusterkit.samples.transform import device_plan
from clusterkit.testing.compare import small_blocks, small_groups
from clusterkit.testing.pytest_plugin import deep

xp = pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")

DEVICE = "array_api_strict:device1"


def on_device(X, name="device1"):
    return xp.asarray(X, device=xp.Device(name))


@pytest.fixture
def dispatch(monkeypatch):
    """As scikit-learn's array API dispatch, which needs a variable that is set before scipy is imported."""
    monkeypatch.setattr(devices, "dispatches", lambda: True)


@pytest.fixture
def chosen(monkeypatch):
    monkeypatch.setenv(VARIABLE, DEVICE)


@pytest.fixture
def few_device_rows(monkeypatch):
    """Blocks on the device of 64 rows."""
    monkeypatch.setattr("clusterkit.samples.transform.DEVICE_BLOCK_BYTES", 0)
    monkeypatch.setattr("clusterkit.samples.transform.BLOCK_ROWS", 64)


def assert_same_fit(there, here, dtype):
    assert np.array_equal(to_host(there.labels_), here.labels_)
    assert there.n_iter_ == here.n_iter_
    assert there.converged_ == here.converged_
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-3 if dtype == np.float32 else 1e-9)


BOTH = [np.float32, np.float64]
"""Each in one of the two ways to a device; both in both ways with the deep profile of hypothesis."""

ROWS = 700 if deep() else 200
"""Several blocks, which the simulated device makes slow."""


class TestChosenForTheProcess:
    @pytest.mark.hypothesis
    @pytest.mark.parametrize("dtype", BOTH if deep() else [np.float64])
    @pytest.mark.parametrize("name", COMPOSITIONS)
    def test_labels_are_those_of_the_host(self, few_device_rows, name, dtype):
        X = blobs(dtype, n=ROWS)
        here = model_of(name).fit(X)
        with clusterkit.config(device=DEVICE):
            there = model_of(name).fit(X)
            predicted = there.predict(X[:100])
        assert isinstance(there.labels_, np.ndarray)
        assert_same_fit(there, here, dtype)
        assert np.array_equal(predicted, here.predict(X[:100]))
        assert there.exact_on_training_ == here.exact_on_training_

    @pytest.mark.parametrize("name", ["k-means", "EMMC", "EMMC of two clusters in a band", "EMMC of equal clusters"])
    def test_starts_and_balances_of_many_rows_are_found_by_passes(self, few_device_rows, name, tmp_path):
        np.save(tmp_path / "x.npy", blobs(n=400))
        with small_groups(90), small_blocks():
            here = model_of(name).fit(clusterkit.open(tmp_path / "x.npy"))
            with clusterkit.config(device=DEVICE):
                there = model_of(name).fit(clusterkit.open(tmp_path / "x.npy"))
                again = model_of(name).fit(clusterkit.open(tmp_path / "x.npy"))
        assert_same_fit(there, here, np.float64)
        assert np.array_equal(again.labels_, there.labels_)
        assert again.history_.tobytes() == there.history_.tobytes()

    def test_names_of_columns_and_units_are_as_on_the_host(self, chosen):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(blobs(), columns=list("abcde"))
        assert model_of("k-means").fit(frame).feature_names_in_.tolist() == list("abcde")
        with pytest.warns(UserWarning, match="scale"):
            model_of("k-means").fit(blobs() * [1.0, 1.0, 1.0, 1.0, 1e5])

    def test_weights_count(self, chosen):
        X, weights = blobs(), np.random.default_rng(0).integers(1, 4, size=700)
        there = model_of("EMMC").fit(X, sample_weight=weights)
        with clusterkit.config(device="cpu"):
            here = model_of("EMMC").fit(X, sample_weight=weights)
        assert_same_fit(there, here, np.float64)

    def test_the_choice_ends_with_the_block(self, monkeypatch):
        monkeypatch.delenv(VARIABLE, raising=False)
        with clusterkit.config(device=DEVICE):
            assert devices.current() == Device("array_api_strict", "device1")
            with clusterkit.config(device="cpu"):
                assert devices.current() is None
            assert devices.current() is not None
        assert devices.current() is None
        assert VARIABLE not in os.environ


class TestArraysThatLieThere:
    @pytest.mark.hypothesis
    @pytest.mark.parametrize("dtype", BOTH if deep() else [np.float32])
    @pytest.mark.parametrize("name", COMPOSITIONS)
    def test_results_live_where_the_samples_live(self, dispatch, few_device_rows, name, dtype):
        X = blobs(dtype, n=ROWS)
        here, there = model_of(name).fit(X), model_of(name).fit(on_device(X))
        assert_same_fit(there, here, dtype)
        answers = {
            "predict": there.predict(on_device(X)),
            "transform": there.transform(on_device(X)),
            "decision_function": there.decision_function(on_device(X)),
        }
        for values in (there.labels_, there.history_, *answers.values()):
            assert values.device == xp.Device("device1")
        for method, values in answers.items():
            expected = getattr(here, method)(X)
            tolerance = 1e-3 if dtype == np.float32 else 1e-8
            np.testing.assert_allclose(to_host(values), expected, rtol=tolerance, atol=tolerance)
        assert there.n_clusters_ == here.n_clusters_
        # the labels that score compares are those of predict
        assert there.score(on_device(X)) == pytest.approx(here.score(X), abs=1e-6)

    def test_factors_of_random_features(self, dispatch):
        X = blobs(n=120)  # each step of a coordinate is a call, which the simulated device makes slow
        model = recipe(
            "elm-nmf",
            n_clusters=3,
            random_state=3,
            solver__update="anls",
            solver__max_iter=2,
            labeler="argmax",
            featuremap__n_hidden=15,
        )
        here, there = clone(model).fit(X), clone(model).fit(on_device(X))
        assert_same_fit(there, here, np.float64)
        assert np.array_equal(to_host(there.predict(on_device(X))), here.predict(X))

    def test_memberships_too(self, dispatch):
        X = blobs()
        memberships = model_of("fuzzy c-means").fit(on_device(X)).memberships_
        assert memberships.device == xp.Device("device1")
        here = model_of("fuzzy c-means").fit(X).memberships_
        np.testing.assert_allclose(to_host(memberships), here, atol=1e-9)
        with clusterkit.config(device=DEVICE):
            np.testing.assert_allclose(model_of("fuzzy c-means").fit(X).memberships_, here, atol=1e-9)

    def test_centres_too(self, dispatch):
        X = blobs()
        centres = model_of("k-means").fit(on_device(X)).cluster_centers_
        assert centres.device == xp.Device("device1")
        np.testing.assert_allclose(to_host(centres), model_of("k-means").fit(X).cluster_centers_)

    def test_weights_may_lie_elsewhere(self, dispatch):
        X, weights = blobs(), np.random.default_rng(0).random(700)
        one = model_of("EMMC").fit(on_device(X), sample_weight=weights)
        other = model_of("EMMC").fit(on_device(X), sample_weight=on_device(weights, "device2"))
        assert_same_fit(one, model_of("EMMC").fit(X, sample_weight=weights), np.float64)
        assert np.array_equal(to_host(one.labels_), to_host(other.labels_))

    def test_new_samples_come_from_the_same_place(self, dispatch):
        X = blobs()
        model = model_of("k-means").fit(on_device(X))
        for elsewhere in (X, on_device(X, "device2")):
            for method in (model.predict, model.transform, model.decision_function):
                with pytest.raises(InvalidData, match="must use the same namespace and the same device"):
                    method(elsewhere)

    def test_a_model_of_the_host_takes_samples_of_any_place(self, dispatch):
        X = blobs()
        model = model_of("k-means").fit(X)
        predicted = model.predict(on_device(X))
        assert predicted.device == xp.Device("device1")
        assert np.array_equal(to_host(predicted), model.predict(X))
        with pytest.raises(InvalidData, match="X has 4 columns, and the model was fitted to 5"):
            model.predict(on_device(X[:, :4]))

    def test_a_saved_model_belongs_to_no_device(self, dispatch, tmp_path):
        X = blobs()
        model = model_of("EMMC").fit(on_device(X))
        model.save(tmp_path / "model.clusterkit")
        loaded = clusterkit.load(tmp_path / "model.clusterkit")
        assert np.array_equal(loaded.labels_, to_host(model.labels_))
        assert np.array_equal(loaded.predict(X), loaded.labels_)
        assert np.array_equal(to_host(loaded.predict(on_device(X))), loaded.labels_)

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.full((8, 2), np.nan), "has the value nan in row 0"),
            (np.zeros(8), "Expected 2D array"),
            (np.zeros((8, 2), dtype=complex), "Complex data not supported"),
            (np.zeros((2, 2)), "n_samples=2 should be >= n_clusters=4"),
            (np.zeros((8, 0)), "0 feature"),
        ],
    )
    def test_bad_samples_are_refused(self, dispatch, X, message):
        with pytest.raises(InvalidData, match=message):
            model_of("k-means").fit(on_device(X))

    def test_a_device_without_float64_is_refused(self, dispatch):
        with pytest.raises(InvalidData, match=r"no_float64.* no sums in float64"):
            model_of("k-means").fit(on_device(blobs(np.float32), "no_float64"))

    def test_without_dispatch_the_message_says_how_to_switch_it_on(self):
        with pytest.raises(InvalidData, match=r"device1, and .* dispatch is switched off\. .*SCIPY_ARRAY_API=1"):
            model_of("k-means").fit(on_device(blobs()))


class Unread(SlicedRows):
    """Rows that must not be read."""

    def read(self, rows):
        raise AssertionError("read before the refusal")

    gather = read


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "changes", "reason"),
        [
            ("ncut", {}, "solver: 'ncut' has no form as sums"),
            ("kernel-nmf", {}, "solver: 'nmf' has no form as sums"),
            ("kernel-kmeans", {}, "featuremap: 'rbf' needs all rows at once"),
            ("kmeans", {"n_clusters": "auto"}, "n_clusters='auto' compares fits"),
            ("emmc-multistart", {"solver": "ridge", "featuremap": "rbf"}, "featuremap: 'rbf' needs all rows at once"),
            ("emmc-multistart", {"n_clusters": "auto"}, "n_clusters='auto' compares fits"),
            ("auto", {}, "has no path on the device"),
        ],
    )
    def test_what_has_no_path_is_refused_before_work_with_what_has_one(self, chosen, name, changes, reason):
        model = recipe(name, **{"n_clusters": 4, **changes})
        with pytest.raises(IncompatibleStages) as refusal:
            model.fit(blobs())
        assert reason in str(refusal.value)
        assert "clusterkit.config(device='cpu')" in str(refusal.value)

    def test_nothing_is_read(self, chosen):
        with pytest.raises(IncompatibleStages, match=r"have no path on a device.*These have one: featuremap: .*elm"):
            recipe("ncut", n_clusters=4).fit(Unread(blobs()))

    def test_the_list_comes_from_what_the_stages_make(self, monkeypatch):
        from clusterkit.families.means._geometry import NearestMeans
        from clusterkit.fitting import device_paths

        assert "centroids" in with_device_path()
        device_paths._tried.cache_clear()
        monkeypatch.setattr(NearestMeans, "array_api", False)
        try:
            assert "centroids" not in with_device_path()
        finally:
            device_paths._tried.cache_clear()

    def test_sparse_samples(self, chosen, monkeypatch):
        monkeypatch.setattr("clusterkit.estimators.samples.MOST_BYTES", 1)
        with pytest.raises(InvalidData, match="sparse samples have no path on a device"):
            recipe("nmf", n_clusters=2, featuremap="identity", solver__update="anls", labeler="argmax").fit(
                scipy.sparse.csr_array(np.eye(5))
            )

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("gpu", "no device is called 'gpu': a device is 'cuda'"),
            ("", "no device is called"),
            (3, "must be a name or None"),
            ("array_api_strict:device9", "there is no device .*array_api_strict says"),
            ("array_api_strict:no_float64", "there is no device .*float64"),
        ],
    )
    def test_names_of_no_device(self, name, message):
        with pytest.raises(InvalidParameter, match=message):
            clusterkit.config(device=name)

    def test_a_missing_library_is_named_with_how_to_install_it(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        monkeypatch.setitem(sys.modules, "cupy", None)
        with pytest.raises(
            InvalidParameter, match=r"not installed\. torch: pip install torch .*cupy: pip install cupy"
        ):
            clusterkit.config(device="cuda")
        monkeypatch.setenv(VARIABLE, "torch:cuda:0")
        with pytest.raises(
            InvalidParameter, match=r"CLUSTERKIT_DEVICE: device 'torch:cuda:0' needs .*pip install torch"
        ):
            model_of("k-means").fit(blobs())


def test_numpy_without_a_device_never_comes_here():
    code = (
        "import numpy as np, sys, clusterkit\n"
        "from clusterkit.samples import array_libraries, device_engine\n"
        "def stop(*a, **k): raise AssertionError('a device')\n"
        "device_engine.DeviceEngine.__init__ = stop; array_libraries.move_to = stop\n"
        "X = np.random.default_rng(0).normal(size=(30, 3))\n"
        "for name in ('kmeans', 'emmc', 'elm-kmeans'):\n"
        "    clusterkit.recipe(name, n_clusters=2, random_state=0).fit(X).predict(X)\n"
        "print(*[m for m in ('array_api_compat', 'array_api_strict', 'torch', 'cupy') if m in sys.modules])"
    )
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.split()


def test_the_plan_of_a_device_covers_all_rows():
    plan = list(device_plan(25_000, 5000, np.float32))
    assert [rows.start for rows in plan] == [0, 12_288, 24_576]
    assert plan[-1].stop == 25_000
    wide = list(device_plan(300_000, 10**6, np.float64))
    assert max(rows.stop - rows.start for rows in wide) == 64


def test_rows_of_an_array_are_read_and_gathered_on_the_host():
    X = blobs(n=30)
    rows = ArrayRows.of(on_device(X))
    assert (rows.n, rows.d, rows.dtype, rows.names) == (30, 5, np.dtype(np.float64), None)
    assert np.array_equal(rows.read(slice(3, 7)), X[3:7])
    assert np.array_equal(rows.gather(np.array([5, 1, 5])), X[[5, 1, 5]])


def test_an_engine_computes_there_only_what_follows():
    X = blobs(n=30)
    engine = DeviceEngine(Device("array_api_strict", "device2"))
    seen = []

    class Part:
        array_api = True

        def __call__(self, rows, block):
            seen.append(type(block).__module__.partition(".")[0])
            return rows.stop - rows.start

    class OnHost(Part):
        array_api = False

    rows = SlicedRows(X)
    assert [engine.reduce(part, rows, 5) for part in (Part(), OnHost())] == [30, 30]
    assert seen == ["array_api_strict", "numpy"]
