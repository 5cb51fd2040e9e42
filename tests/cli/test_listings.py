"""`stages`, `recipes`, `compositions`, `plugins`, `reproduce`: tables in a pipe, JSON, and errors."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import clusterkit


@pytest.mark.parametrize(
    "args",
    [
        ("stages",),
        ("stages", "solver"),
        ("recipes",),
        ("recipes", "emmc"),
        ("compositions",),
        ("plugins",),
        ("reproduce",),
    ],
)
def test_plain_and_json(run, args):
    plain = run(*args)
    assert plain.exit_code == 0, plain.output
    assert "\x1b" not in plain.output
    assert all(line == line.rstrip() for line in plain.stdout.splitlines())
    assert json.loads(run(*args, "--json").stdout) is not None


def test_stages(run):
    found = json.loads(run("stages", "--json").stdout)
    names = Counter(stage["kind"] for stage in found)
    assert names["solver"] == len(clusterkit.stages("solver"))
    ridge = next(stage for stage in found if stage["name"] == "ridge")
    assert ridge["parameters"] == {"C": None, "df": 12}
    assert ridge["provided_by"] == "clusterkit-toolkit"
    assert {stage["kind"] for stage in json.loads(run("stages", "labeler", "--json").stdout)} == {"labeler"}


def test_columns_are_aligned(run):
    head, *rows = run("stages", "solver").stdout.splitlines()
    place = head.index("parameters")
    assert all(row[place - 2 : place] == "  " for row in rows)


def test_recipes(run):
    found = json.loads(run("recipes", "--json").stdout)
    assert {recipe["name"] for recipe in found} == set(clusterkit.recipes())
    assert all(recipe["citation"] for recipe in found)
    one = run("recipes", "emmc-paper").stdout
    assert "Extreme maximum margin clustering, IEICE" in one
    assert "solver.C" in one
    assert "clusterkit fit data.csv --recipe emmc-paper -k 3" in one
    detail = json.loads(run("recipes", "svc", "--json").stdout)
    assert detail["clusters"] == "found"
    assert "featuremap__gamma" in detail["parameters"]


def test_compositions(run):
    found = json.loads(run("compositions", "--json").stdout)
    mixes = {(c.featuremap.name, c.solver.name, c.labeler.name, getattr(c.balancer, "name", None),
              getattr(c.init, "name", None)) for c in clusterkit.compositions()}  # fmt: skip
    assert {
        tuple(mix[slot] for slot in ("featuremap", "solver", "labeler", "balancer", "init")) for mix in found
    } == mixes
    assert len(found) == len(mixes)
    lines = run("compositions").stdout.splitlines()
    assert lines[-1] == f"{len(mixes)} legal mixes"
    assert sum(int(line.split()[-1]) for line in lines[1:-1]) == len(mixes)


def test_filters_of_compositions(run):
    args = ("compositions", "--json", "--solver", "ridge", "--solver", "nmf", "--balancer", "none")
    found = json.loads(run(*args).stdout)
    assert {mix["solver"] for mix in found} == {"ridge", "nmf"}
    assert {mix["balancer"] for mix in found} == {None}
    two = json.loads(run("compositions", "--json", "--labeler", "threshold").stdout)
    assert {mix["clusters"] for mix in two} == {"2"}
    assert run("compositions", "--labeler", "threshold", "--solver", "nmf").stdout == "0 legal mixes\n"


def test_plugins(run, monkeypatch):
    from clusterkit.core.registry import Plugin, registry

    assert "No plugins are used: CLUSTERKIT_PLUGINS is empty" in run("plugins").stdout
    with monkeypatch.context() as m:
        m.delenv("CLUSTERKIT_PLUGINS")
        assert "No plugins are installed" in run("plugins").stdout
    assert json.loads(run("plugins", "--json").stdout) == []
    pair = [
        Plugin("good", "good-dist", "1.0", None, (("labeler", "nearest"),)),
        Plugin("bad", "bad-dist", "2.0", "ImportError: no such thing"),
    ]
    monkeypatch.setattr(type(registry), "plugins", lambda self: pair)
    shown = run("plugins").stdout
    assert "labeler nearest" in shown
    assert "ImportError: no such thing" in shown
    assert [each["used"] for each in json.loads(run("plugins", "--json").stdout)] == [True, False]
    assert run("recipes").stderr == "1 plugin is not used; see: clusterkit plugins\n"


ROW = {"table": "t1", "row": "kmeans", "column": "wine", "printed": 70.2, "ours": 71.256, "sd": 0.5, "runs": 3,
       "seconds": 0.1, "uses_labels": False, "verdict": "as printed", "note": "scaled"}  # fmt: skip


@pytest.fixture
def papers(monkeypatch):
    import clusterkit_papers

    calls = []

    def reproduce(name, **options):
        calls.append((name, options))
        none = {"printed": None, "ours": None, "sd": None, "runs": 0, "seconds": 0.0, "verdict": "later"}
        return [ROW, {key: value for key, value in {**ROW, **none}.items() if key != "note"}]

    monkeypatch.setattr(clusterkit_papers, "tables", lambda: {"t1": "A table"})
    monkeypatch.setattr(clusterkit_papers, "reproduce", reproduce)
    return calls


def test_reproduce(run, papers):
    shown = run("reproduce", "t1", "--quick", "--runs", 3, "--seed", 5).stdout
    assert papers == [("t1", {"quick": True, "runs": 3, "seed": 5})]
    title, head, first, second, note = shown.splitlines()
    assert title == "t1: A table"
    assert head.split() == ["row", "column", "printed", "ours", "runs", "time", "labels", "verdict", "note"]
    assert "70.20  71.26 ± 0.50" in first
    assert "not used" in first
    assert second.split() == ["kmeans", "wine", "–", "–", "later"]
    assert note == "(1) scaled"
    assert json.loads(run("reproduce", "t1", "--json").stdout)[0] == ROW
    assert run("reproduce").stdout.splitlines()[1].split() == ["t1", "A", "table"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("stages", "solvers"), "no kind of stage named 'solvers'. Did you mean 'solver'?"),
        (("recipes", "emc"), "no recipe named 'emc'. Did you mean 'emmc'"),
        (("compositions", "--solver", "rige"), "no solver named 'rige'. Did you mean 'ridge'?"),
        (("reproduce", "emmc-table44"), "no table named 'emmc-table44'. Did you mean 'emmc-table4'"),
        (("reproduce", "emmc-table4", "--runs", "0"), "x>=1"),
        (("fti",), "no command named 'fti'. Did you mean 'fit'?"),
        (("fit",), "Missing argument 'DATA'"),
        (("stages", "--yaml"), "No such option"),
    ],
)
def test_errors(run, error_of, args, message):
    assert message in error_of(run(*args))
