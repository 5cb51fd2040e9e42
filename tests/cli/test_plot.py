"""`fit --plot`: a picture is written, or refused before the fit starts."""

import json
import sys

import pytest

from clusterkit.cli.outputs import write_picture

pytest.importorskip("matplotlib")

KMEANS = ("--recipe", "kmeans", "-k", 3, "--drop", "id")
SVC = ("--recipe", "svc", "--set", "featuremap.gamma=1", "--drop", "id")
STARTS = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.fixture
def no_fit(monkeypatch):
    from clusterkit import Pipeline

    def fail(*_):
        raise AssertionError("the fit began")

    monkeypatch.setattr(Pipeline, "fit", fail)


def test_formats(run, table, tmp_path):
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    before = pyplot.get_fignums()
    for ending, start in STARTS.items():
        write_picture(str(tmp_path / f"out{ending}"), Figure(figsize=(1, 1)))
        assert (tmp_path / f"out{ending}").read_bytes().startswith(start)
    answer = run("fit", table, *KMEANS, "--plot", tmp_path / "out.svg")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert "picture in" in answer.stdout
    assert pyplot.get_fignums() == before


def test_a_domain_has_its_border(run, table, tmp_path, monkeypatch):
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")  # text stays text
    path = tmp_path / "out.svg"
    for method, border in ((KMEANS, False), (SVC, True)):
        assert run("fit", table, *method, "--plot", path).exit_code == 0
        drawn = path.read_text(encoding="utf-8")
        assert ("border of the domain" in drawn) == border
        assert f"points.csv, recipe {method[1]}" in drawn
        assert "3 clusters of 30 samples, no noise" in drawn
        assert ">height<" in drawn
        assert ">width<" in drawn


@pytest.mark.usefixtures("no_fit")
def test_without_matplotlib(run, table, tmp_path, error_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = error_of(run("fit", table, *KMEANS, "--plot", tmp_path / "out.png"))
    assert line == "--plot needs matplotlib: install it, or clusterkit-toolkit with the extra 'plots'"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "warning: interrupted while {} was made: the fit is kept\n"),
        (OSError(28, "No space left on device", "out.png"), 2, "error: "),
    ],
    ids=["Ctrl-C", "a full disk"],
)
def test_the_labels_are_kept_if_the_picture_fails(run, table, tmp_path, monkeypatch, error, code, line):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    labels, path = tmp_path / "labels.csv", tmp_path / "out.png"
    answer = run("fit", table, *KMEANS, "-o", labels, "--plot", path, "--json")
    assert answer.exit_code == code
    assert answer.stderr.startswith(line.format(path))
    assert labels.read_text().startswith("label")
    assert code == 2 or json.loads(answer.stdout)["plot_file"] is None
    assert not path.exists()
