"""Odd samples, names and limits on a device: one clear error each, or the answer of the host."""

import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.errors import IncompatibleStages, InvalidData, InvalidParameter, NeedsMemory
from clusterkit.samples import devices, memory
from clusterkit.samples.array_libraries import to_host
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.devices import VARIABLE
from clusterkit.samples.rows import SlicedRows
from clusterkit.testing.compare import DEVICE, put, small_blocks, small_groups

xp = pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")

X, Y = make_blobs(120, 3, centers=2, cluster_std=2.0, random_state=1)

METHODS = {"kmeans": {"n_init": 1}, "emmc-multi": {"balancer": None, "featuremap__n_hidden": 20}}


def changed(row, column, value):
    """The samples with another value in one place."""
    other = X.copy()
    other[row, column] = value
    return other


def model_of(name, **changes):
    return recipe(name, **{"n_clusters": 2, "random_state": 0, **METHODS[name], **changes})


@pytest.fixture
def dispatch(monkeypatch):
    monkeypatch.setattr(devices, "dispatches", lambda: True)


@pytest.fixture
def chosen(monkeypatch):
    monkeypatch.setenv(VARIABLE, str(DEVICE))


@pytest.fixture(params=METHODS)
def model(request, dispatch):
    """A model of samples that lie on the device."""
    return model_of(request.param).fit(put(X))


class TestNewSamples:
    @pytest.mark.parametrize(
        ("samples", "message"),
        [
            (X[:0], r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
            (X[0], "Expected 2D array"),
            (X[:, :2], "X has 2 columns, and the model was fitted to 3"),
            (changed(7, 1, np.nan), "column 2 of 3 has the value nan in row 7; .* before the prediction"),
            (changed(7, 1, -np.inf), "column 2 of 3 has the value -inf in row 7"),
            (X.astype(complex), "Complex data not supported"),
        ],
        ids=["no row", "one row without a table", "too few columns", "a gap", "an infinite value", "complex"],
    )
    def test_are_refused_with_one_line(self, model, samples, message):
        for method in (model.predict, model.transform, model.decision_function):
            with pytest.raises(InvalidData, match=message) as refusal:
                method(put(samples))
            assert "\n" not in str(refusal.value)

    @pytest.mark.parametrize(
        ("samples", "where"),
        [(X.tolist(), "these samples are a list on the host"), (X, "these samples are of numpy"),
         (tuple(map(tuple, X)), "a tuple on the host")],
        ids=["list", "numpy", "tuple"],
    )  # fmt: skip
    def test_of_the_host_are_named_as_what_they_are(self, model, samples, where):
        with pytest.raises(InvalidData, match=f"the fit was on array_api_strict:device1, and .*{where}. Move them"):
            model.predict(samples)

    def test_of_other_types_and_strides_are_labelled(self, model):
        expected = to_host(model.predict(put(X)))
        assert np.array_equal(to_host(model.predict(put(X)[::-1, :])), expected[::-1])
        assert np.array_equal(to_host(model.predict(put(np.ascontiguousarray(X.T)).T)), expected)
        assert to_host(model.predict(put(X[:1]))).tolist() == expected[:1].tolist()
        rounded = np.round(X)
        assert np.array_equal(
            to_host(model.predict(put(rounded.astype(np.int32)))), to_host(model.predict(put(rounded)))
        )

    def test_of_files_are_looked_at_too(self, tmp_path):
        model = model_of("kmeans").fit(X)
        np.save(tmp_path / "x.npy", changed(100, 2, np.nan))
        with small_groups(50), small_blocks():
            for device in ("cpu", str(DEVICE)):
                with (
                    clusterkit.config(device=device),
                    pytest.raises(InvalidData, match="column 3 of 3 has the value nan in row 100"),
                ):
                    model.predict(clusterkit.open(tmp_path / "x.npy"))


@pytest.mark.parametrize("name", METHODS)
class TestSamplesOfAFit:
    @pytest.mark.parametrize("view", ["reversed", "every other", "transposed", "truth values", "small whole numbers"])
    def test_of_other_types_and_strides_are_those_of_the_host(self, dispatch, name, view):
        there, here = put(X), X
        if view == "reversed":
            there, here = there[::-1, :], X[::-1]
        elif view == "every other":
            there, here = there[::2, :], X[::2]
        elif view == "transposed":
            there = put(np.ascontiguousarray(X.T)).T
        elif view == "truth values":
            there, here = put(X > 0), (X > 0).astype(np.float64)
        else:
            there, here = put(np.round(X).astype(np.int8)), np.round(X)
        one, other = model_of(name).fit(there), model_of(name).fit(np.ascontiguousarray(here))
        assert np.array_equal(to_host(one.labels_), other.labels_)

    @pytest.mark.parametrize(
        ("samples", "message"),
        [
            (X[:0], "n_samples=0 should be >= n_clusters=2"),
            (X[:1], "n_samples=1 should be >= n_clusters=2"),
            (X[:, :, None], "Expected 2D array"),
            (np.float64(3.0), "Expected 2D array"),
            (X * 1e200, "overflow"),
        ],
        ids=["no row", "one row", "three axes", "a number", "too large"],
    )
    def test_are_refused_with_one_line(self, dispatch, name, samples, message):
        with pytest.raises(InvalidData, match=message) as refusal:
            model_of(name).fit(xp.asarray(samples, device=xp.Device("device1")))
        assert "\n" not in str(refusal.value)

    def test_one_row_is_one_cluster(self, dispatch, name):
        assert to_host(model_of(name, n_clusters=1).fit(put(X[:1])).labels_).tolist() == [0]

    @pytest.mark.parametrize(
        ("weights", "message"),
        [(np.ones(3), r"shape == \(3,\), expected \(120,\)"), (np.full(120, np.nan), "of sample 0 is nan")],
    )
    def test_weights(self, dispatch, name, weights, message):
        for given_there in (weights, put(weights)):
            with pytest.raises(InvalidData, match=message):
                model_of(name).fit(put(X), sample_weight=given_there)


@pytest.mark.parametrize(
    "name", ["foo", "CUDA", "cuda:", "cuda:-1", "cuda: 1", "torch", "mps", "jax:cpu", "cpu:0", "array_api_strict:"]
)
def test_names_of_no_device_in_the_environment(monkeypatch, name):
    monkeypatch.setenv(VARIABLE, name)
    with pytest.raises(InvalidParameter, match=r"CLUSTERKIT_DEVICE: no device is called .*: a device is 'cuda'"):
        model_of("kmeans").fit(X)


@pytest.fixture(scope="module")
def machine():
    return MinMaxModularSVC(random_state=0).fit(X, Y)


class TestModularMachines:
    def test_predict_counts_votes_on_the_host_whatever_device_is_chosen(self, machine, monkeypatch):
        expected, values = machine.predict(X), machine.decision_function(X)
        monkeypatch.setenv(VARIABLE, str(DEVICE))
        assert np.array_equal(machine.predict(X), expected)
        assert np.array_equal(machine.predict(clusterkit.open(X)), expected)
        assert np.array_equal(machine.decision_function(X), values)

    def test_arrays_of_a_device_are_refused_with_one_line(self, machine, dispatch):
        for method in (machine.predict, machine.decision_function):
            with pytest.raises(
                InvalidData, match=r"X is a.* Array of array_api_strict, .* Pass numpy\.asarray"
            ) as error:
                method(put(X))
            assert "\n" not in str(error.value)

    def test_fit_is_refused_before_work(self, chosen):
        with pytest.raises(IncompatibleStages, match="MinMaxModularSVC has no path on the device array_api_strict"):
            MinMaxModularSVC().fit(X, Y)


class TestTheMemoryCap:
    """The cap is one of the host: of what a fit on a device brings there."""

    @pytest.mark.parametrize("samples", ["host", "device"])
    def test_rows_of_a_start_count(self, chosen, dispatch, monkeypatch, samples):
        monkeypatch.setenv(memory.VARIABLE, "1K")
        with pytest.raises(NeedsMemory, match=r"the 120 rows of the start of a fit on a device needs 2,880 bytes"):
            model_of("kmeans").fit(put(X) if samples == "device" else X)

    def test_of_more_rows_none_are_brought(self, chosen, monkeypatch, tmp_path):
        """Above one group starts are found by passes, so that no cap is in the way."""
        np.save(tmp_path / "x.npy", X)
        with small_groups(40), small_blocks():
            expected = model_of("kmeans").fit(clusterkit.open(tmp_path / "x.npy")).labels_
            monkeypatch.setenv(memory.VARIABLE, "1K")
            assert np.array_equal(model_of("kmeans").fit(clusterkit.open(tmp_path / "x.npy")).labels_, expected)


def test_values_of_what_cannot_follow_are_computed_on_the_host():
    seen = []

    class OnHost:
        def __call__(self, rows, block):
            seen.append(type(block))
            return block[:, :1]

    class There(OnHost):
        array_api = True

    engine = DeviceEngine(DEVICE)
    for function in (OnHost(), There()):
        assert np.array_equal(engine.values(function, SlicedRows(X), 3), X[:, :1])
    assert seen == [np.ndarray, type(put(X))]
