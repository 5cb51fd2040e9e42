"""Every example of the gallery is short, runs without a warning of clusterkit, and draws something."""

import runpy
from pathlib import Path

import pytest

pyplot = pytest.importorskip("matplotlib.pyplot")

FOLDER = Path(__file__).parents[2] / "examples" / "gallery"
SCRIPTS = sorted(FOLDER.rglob("*.py"))
DEAR = {
    "compare_methods", "kernel_contours", "large_sample", "number_of_clusters", "reproduce_a_table",
    "scikit_learn_grid_search", "stability", "width_path",
}  # fmt: skip
"""Examples that take half a second and more; the site runs them too."""
CASES = [pytest.param(path, marks=[pytest.mark.deep] if path.stem in DEAR else [], id=path.stem) for path in SCRIPTS]


def test_there_are_examples_in_every_section():
    assert len(SCRIPTS) >= 25
    for section in (path for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"):
        assert (section / "GALLERY_HEADER.rst").exists()
        assert any(path.parent == section for path in SCRIPTS)


def test_examples_are_short_and_have_a_title():
    for path in SCRIPTS:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 30, path.stem
        assert lines[0] == '"""', path.stem
        assert lines[2] == "=" * len(lines[1]), path.stem


@pytest.mark.parametrize("path", CASES)
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
def test_example_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(FOLDER.rglob("*"))
    try:
        runpy.run_path(str(path), run_name="__main__")
        assert pyplot.get_fignums(), "without a picture it shares its thumbnail with others"
    finally:
        pyplot.close("all")
    assert not [*tmp_path.iterdir()]
    assert {each for each in FOLDER.rglob("*") if "__pycache__" not in each.parts} <= before
