"""The option --device, and the variable in its place."""

import os

import numpy as np
import pytest

from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.devices import VARIABLE

pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")

DEVICE = "array_api_strict:device1"


@pytest.fixture
def passes(monkeypatch):
    """The devices of all passes."""
    seen = []
    usual = DeviceEngine._computed

    def watched(self, *args, **options):
        seen.append(str(self.device))
        return usual(self, *args, **options)

    monkeypatch.setattr(DeviceEngine, "_computed", watched)
    return seen


@pytest.fixture
def npy(tmp_path, blobs):
    np.save(tmp_path / "points.npy", blobs)
    return tmp_path / "points.npy"


def test_fit_and_predict_compute_there(run, npy, tmp_path, passes, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    labels = {}
    for name, options in {"here": (), "there": ("--device", DEVICE)}.items():
        for step, line in {
            "fit": ("fit", npy, "-r", "kmeans", "-k", 3, "--save", tmp_path / "m.clusterkit"),
            "predict": ("predict", tmp_path / "m.clusterkit", npy),
        }.items():
            answer = run(*line, "-o", tmp_path / "labels.npy", *options)
            assert answer.exit_code == 0, answer.output
            labels[name, step] = np.load(tmp_path / "labels.npy")
        assert bool(passes) == (name == "there")
    assert set(passes) == {DEVICE}
    assert np.array_equal(labels["here", "fit"], labels["there", "fit"])
    assert np.array_equal(labels["here", "predict"], labels["there", "predict"])
    assert VARIABLE not in os.environ, "the choice ends with the command"


def test_the_variable_does_the_same(run, npy, passes, monkeypatch):
    monkeypatch.setenv(VARIABLE, DEVICE)
    assert run("fit", npy, "-r", "kmeans", "-k", 3).exit_code == 0
    assert set(passes) == {DEVICE}
    passes.clear()
    assert run("fit", npy, "-r", "kmeans", "-k", 3, "--device", "cpu").exit_code == 0
    assert not passes


def test_a_wrong_name_is_one_line_before_anything_is_read(run, error_of):
    assert "no device is called 'gpu'" in error_of(run("fit", "missing.npy", "--device", "gpu"))


def test_what_has_no_path_is_one_line(run, error_of, npy):
    line = error_of(run("fit", npy, "-r", "ncut", "-k", 3, "--device", DEVICE))
    assert "no path on a device" in line
    assert "These have one: featuremap: " in line
