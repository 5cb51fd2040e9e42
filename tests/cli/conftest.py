import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from clusterkit.cli import app

NAMES = ("height", "width")


@pytest.fixture(autouse=True)
def without_plugins(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_PLUGINS", "")


@pytest.fixture
def run():
    def invoke(*args: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)

    return invoke


@pytest.fixture
def blobs() -> np.ndarray:
    """Three far groups of ten."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], 10, axis=0)
    return np.round(centres + rng.normal(scale=0.3, size=(30, 2)), 4)


@pytest.fixture
def write(tmp_path):
    def text(name: str, content: str) -> Path:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return text


@pytest.fixture
def table(tmp_path, blobs) -> Path:
    """A CSV file with an id that is no number."""
    path = tmp_path / "points.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *NAMES])
        writer.writerows([f"p{i}", *row] for i, row in enumerate(blobs.tolist()))
    return path


@pytest.fixture
def error_of():
    def line(answer: Result, code: int = 2) -> str:
        """The one line on standard error, or the last of several."""
        assert answer.exit_code == code, answer.output
        errors = [line for line in answer.stderr.strip().splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, answer.stderr
        assert "Traceback" not in answer.stderr
        return answer.stderr.partition("error: ")[2].strip()

    return line
