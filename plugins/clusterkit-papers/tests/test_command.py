"""The command `reproduce`: tables in a pipe, JSON, errors, and its place in the command line."""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path

import clusterkit_papers
import pytest
from click.testing import CliRunner
from clusterkit_papers import pictures, plugin

from clusterkit.cli import app
from clusterkit.contracts.registry import registry

ROW = {"table": "t1", "row": "kmeans", "column": "wine", "printed": 70.2, "ours": 71.256, "sd": 0.5, "runs": 3,
       "seconds": 0.1, "uses_labels": False, "verdict": "as printed", "note": "scaled"}  # fmt: skip


@pytest.fixture
def run(monkeypatch):
    """The command line with this plugin alone, installed or not."""
    monkeypatch.setenv("CLUSTERKIT_PLUGINS", "")
    registry.forget()  # earlier tests may have scanned the installed plugins
    registry.register(plugin)

    def invoke(*args):
        return CliRunner().invoke(app, [str(arg) for arg in args])

    yield invoke
    registry.forget()


@pytest.fixture
def calls(monkeypatch):
    """Names and options that the command passes on; two rows come back at once."""
    calls = []

    def reproduce(name, **options):
        calls.append((name, options))
        none = {"printed": None, "ours": None, "sd": None, "runs": 0, "seconds": 0.0, "verdict": "later"}
        return [ROW, {key: value for key, value in {**ROW, **none}.items() if key != "note"}]

    def record(name, folder, **options):
        return reproduce(name, folder=folder, **options)

    monkeypatch.setattr(clusterkit_papers, "record", record)
    monkeypatch.setattr(clusterkit_papers, "tables", lambda: {"t1": "A table"})
    monkeypatch.setattr(clusterkit_papers, "reproduce", reproduce)
    return calls


def test_the_tables_are_listed(run):
    plain = run("reproduce")
    assert plain.exit_code == 0, plain.output
    assert "\x1b" not in plain.output
    assert all(line == line.rstrip() for line in plain.stdout.splitlines())
    names = [table["table"] for table in json.loads(run("reproduce", "--json").stdout)]
    assert names == list(clusterkit_papers.tables())
    assert names == [line.split()[0] for line in plain.stdout.splitlines()[1:]]


def test_a_table(run, calls):
    answer = run("reproduce", "t1", "--quick", "--runs", 3, "--seed", 5)
    assert answer.exit_code == 0, answer.output
    assert calls == [("t1", {"quick": True, "runs": 3, "seed": 5})]
    title, head, first, second, note, closing = answer.stdout.splitlines()
    assert title == "t1: A table"
    assert head.split() == ["row", "column", "printed", "ours", "runs", "time", "labels", "verdict", "note"]
    assert "70.20  71.26 ± 0.50" in first
    assert "not used" in first
    assert second.split() == ["kmeans", "wine", "–", "–", "later"]
    assert note == "(1) scaled"
    assert closing == "Values: 2 not comparable."
    assert json.loads(run("reproduce", "t1", "--json").stdout)[0] == ROW
    assert run("reproduce").stdout.splitlines()[1].split() == ["t1", "A", "table"]


def test_a_record_is_made_by_its_own_function(run, calls):
    assert run("reproduce", "t1", "--record", "folder").exit_code == 0
    assert calls == [("t1", {"folder": "folder", "quick": False, "runs": None, "seed": 0})]


def test_a_picture(run, calls, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")

    def draw(name, path, rows, seed):
        Path(path).write_text(f"{name} {len(rows)} {seed}")

    monkeypatch.setattr(pictures, "draw", draw)
    path = tmp_path / "t1.svg"
    answer = run("reproduce", "t1", "--plot", path, "--seed", 4)
    assert answer.exit_code == 0, answer.output
    assert path.read_text() == "t1 2 4"
    assert [file.name for file in tmp_path.iterdir()] == ["t1.svg"]
    for wrong, message in (("t1.doc", ".png"), ("none/t1.png", "no such folder")):
        refused = run("reproduce", "t1", "--plot", tmp_path / wrong)
        assert refused.exit_code == 2
        assert message in refused.stderr
    assert len(calls) == 1, "nothing is run for a picture that could not be written"
    assert "needs the name of a table" in run("reproduce", "--plot", path).stderr


def test_without_values_there_is_no_picture(run, calls, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    empty = {**ROW, "ours": None, "sd": None, "runs": 0, "verdict": "data set not found: wine"}
    monkeypatch.setattr(clusterkit_papers, "reproduce", lambda name, **options: [empty])
    answer = run("reproduce", "t1", "--plot", tmp_path / "t1.svg")
    assert answer.exit_code == 2
    assert "data set not found" in answer.stdout
    assert "has no value to draw" in answer.stderr
    assert not list(tmp_path.iterdir())


def test_a_picture_of_values_without_printed_ones(tmp_path):
    pytest.importorskip("matplotlib")
    unprinted = [{**ROW, "row": name, "printed": None, "ours": ours} for name, ours in (("a", 0.0), ("b", 90.0))]
    axes = pictures.beside(str(tmp_path / "t1.svg"), unprinted)
    assert len(axes) == 1
    assert [line.get_label() for line in axes[0].get_lines() if line.get_label() in ("ours", "printed")] == ["ours"]
    assert axes[0].get_xscale() == "linear", "a logarithm would hide the zero"


def test_what_quick_leaves_out_is_counted_but_not_shown(run, calls, monkeypatch):
    left = {**ROW, "row": "dear", "ours": None, "sd": None, "runs": 0, "verdict": "not run: quick leaves it out"}
    monkeypatch.setattr(clusterkit_papers, "reproduce", lambda name, **options: [ROW, left])
    shown = run("reproduce", "t1", "--quick").stdout
    assert "dear" not in shown
    assert shown.splitlines()[-1] == "Values: 1 not comparable, 1 left out by quick."


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("emmc-table44",), "no table named 'emmc-table44'. Did you mean 'emmc-table4'"),
        (("emmc-table4", "--runs", "0"), "x>=1"),
    ],
)
def test_errors(run, args, message):
    shown = run("reproduce", *args)
    assert shown.exit_code == 2
    assert message in shown.stderr


def test_it_is_listed_as_a_command_of_a_plugin(run):
    listed = run("--help").stdout.partition("Commands of plugins:\n")[2]
    assert re.findall(r"^  (\w+)", listed, re.M) == ["benchmark", "reproduce"]


def test_the_plugin_is_installed_under_its_name():
    entry = metadata.entry_points(group="clusterkit", name="papers")
    if not entry:
        pytest.skip("clusterkit-papers is not installed here")
    assert [point.value for point in entry] == ["clusterkit_papers.plugin"]
    assert {e.name: e.distribution for e in registry.entries("command")}["reproduce"] == "clusterkit-papers"
