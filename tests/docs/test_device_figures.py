"""The script with all figures of a device runs, at small sizes on a simulated one and without any."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "device.py"


def run(*options):
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    environment.pop("CLUSTERKIT_DEVICE", None)
    command = [sys.executable, str(SCRIPT), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.deep
def test_labels_and_values_are_those_of_the_cpu():
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    pytest.importorskip("array_api_compat")
    finished = run("--device", "array_api_strict:device1", "--small")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "MISSED" not in finished.stdout
    assert finished.stdout.count("labels unlike the CPU's") == 2
    assert finished.stdout.count("of its spread of costs from a border; goal") == 2
    for figure in ("svdd", "kmeans iteration", "emmc, an iteration", "emmc, the start 'kmeans', beside",
                   "emmc, a balance by 'transport', beside"):  # fmt: skip
        assert f"  {figure}: " in finished.stdout
    assert "k-means of 60 clusters, 1200 rows: not measured" in finished.stdout
    assert "array-api-compat" in finished.stdout, "versions are printed"
    assert finished.stdout.count("this section: ") == 4
    assert "array_api_strict does not count it" in finished.stdout
    assert "% of the device's peak" not in finished.stdout


def test_the_sections_end_within_ten_minutes_and_what_does_not_fit_is_said(monkeypatch):
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        device = importlib.import_module("device")
    finally:
        sys.path.remove(str(SCRIPT.parent))
    assert sum(device.RECKONED.values()) <= 580.0
    assert set(device.RECKONED) == set(device.SECTIONS) == set(device.FULL) == set(device.SMALL)
    assert {name: list(sizes) for name, sizes in device.FULL.items()} == {
        name: list(sizes) for name, sizes in device.SMALL.items()
    }
    monkeypatch.setattr(device, "rates", lambda bench, small: None)
    report = device.measure("array_api_strict:device1", ["svdd"], False, 1.0)
    assert any(line.startswith("svdd, n = 1000000") and "not measured (" in line for line in report.lines)


def test_without_a_device_every_figure_is_not_measured():
    finished = run("--device", "torch:cuda:99")
    assert finished.returncode == 0, finished.stderr
    for section in ("svdd", "kmeans", "emmc", "memory"):
        assert any(line.startswith(f"{section},") and "not measured" in line for line in finished.stdout.splitlines())
