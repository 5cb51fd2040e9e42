"""Every example runs, says something, and writes a picture where it is told to."""

import runpy
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
DEAR = {"plots", "streamed"}
"""Examples that take more than a second."""
CASES = [pytest.param(path, marks=[pytest.mark.deep] if path.stem in DEAR else [], id=path.stem) for path in SCRIPTS]
WITHOUT_PICTURE = {"csv_to_labels", "grid_search", "streamed"}


@pytest.mark.parametrize("path", CASES)
def test_example_runs(path, tmp_path, monkeypatch, capsys):
    before = set(FOLDER.iterdir())
    monkeypatch.setenv("CLUSTERKIT_EXAMPLE_OUT", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.syspath_prepend(FOLDER)
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.modules.pop("_picture", None)
    assert capsys.readouterr().out.strip()
    assert {p.stem for p in tmp_path.glob("*.png")} == ({path.stem} - WITHOUT_PICTURE)
    assert {p for p in FOLDER.iterdir() if p.name != "__pycache__"} <= before | {FOLDER / "__pycache__"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_example_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40
