"""The script with all figures of a device runs, at small sizes on a simulated one and without any."""

from __future__ import annotations

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


def test_labels_and_values_are_those_of_the_cpu():
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    pytest.importorskip("array_api_compat")
    finished = run("--device", "array_api_strict:device1", "--small")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "MISSED" not in finished.stdout
    assert finished.stdout.count("labels unlike the CPU's") == 2
    assert "array_api_strict does not count it" in finished.stdout
    assert "% of the device's peak" not in finished.stdout


def test_without_a_device_every_figure_is_not_measured():
    finished = run("--device", "torch:cuda:99")
    assert finished.returncode == 0, finished.stderr
    for section in ("svdd", "kmeans", "emmc", "ascent", "memory"):
        assert any(line.startswith(f"{section},") and "not measured" in line for line in finished.stdout.splitlines())
