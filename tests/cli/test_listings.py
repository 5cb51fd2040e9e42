"""`stages`, `recipes`, `plugins`: tables in a pipe, JSON, and errors."""

import json
import sys
from collections import Counter

import clusterkit


def test_plain_and_json(run):
    for args in (("stages", "solver"), ("recipes",), ("recipes", "emmc"), ("plugins",)):
        plain = run(*args)
        assert plain.exit_code == 0, plain.output
        assert "\x1b" not in plain.output
        assert all(line == line.rstrip() for line in plain.stdout.splitlines())
        assert json.loads(run(*args, "--json").stdout) is not None


def test_stages(run):
    listed = json.loads(run("stages", "--json").stdout)
    names = Counter(stage["kind"] for stage in listed)
    assert names["solver"] == len(clusterkit.stages("solver"))
    ridge = next(stage for stage in listed if stage["name"] == "ridge")
    assert ridge["parameters"] == {"C": None, "df": 12}
    assert ridge["provided_by"] == "clusterkit-toolkit"
    assert {stage["kind"] for stage in json.loads(run("stages", "labeler", "--json").stdout)} == {"labeler"}
    head, *rows = run("stages", "solver").stdout.splitlines()
    place = head.index("parameters")
    assert all(row[place - 2 : place] == "  " for row in rows)


def test_recipes(run):
    listed = json.loads(run("recipes", "--json").stdout)
    assert {recipe["name"] for recipe in listed} == set(clusterkit.recipes())
    assert all(recipe["citation"] for recipe in listed)
    assert run("recipes", "genie").stdout.startswith("genie: single linkage that avoids uneven sizes\n")
    assert run("recipes", "kmeans").stdout.startswith("kmeans: k-means\n")  # no repetition
    one = run("recipes", "emmc-paper").stdout
    assert "Extreme maximum margin clustering, IEICE" in one
    assert "solver.C" in one
    assert "clusterkit fit data.csv --recipe emmc-paper -k 3" in one
    detail = json.loads(run("recipes", "svc", "--json").stdout)
    assert detail["clusters"] == "found"
    assert "featuremap__gamma" in detail["parameters"]


def test_plugins(run, monkeypatch):
    from clusterkit.contracts.providers import Plugin
    from clusterkit.contracts.registry import registry

    assert "No plugins are used: CLUSTERKIT_PLUGINS is empty" in run("plugins").stdout
    with monkeypatch.context() as m:
        m.delenv("CLUSTERKIT_PLUGINS")
        assert "No plugins are installed" in run("plugins").stdout
    assert json.loads(run("plugins", "--json").stdout) == []
    pair = [
        Plugin(
            "good",
            "good-dist",
            "1.0",
            None,
            (("labeler", "nearest"), ("solver", "ridge"), ("command", "abridge"), ("command", "fit")),
            (("solver", "ridge"),),
        ),
        Plugin("bad", "bad-dist", "2.0", "ImportError: no such thing"),
    ]
    monkeypatch.setattr(type(registry), "plugins", lambda self: pair)
    shown = run("plugins").stdout
    assert "labeler nearest, solver ridge (shadowed by the built-in), command abridge, command fit (shadowed" in shown
    assert "ImportError: no such thing" in shown
    good, bad = json.loads(run("plugins", "--json").stdout)
    assert (good["used"], bad["used"]) == (True, False)
    assert [thing["shadowed"] for thing in good["provides"]] == [False, True, False, True]
    assert run("recipes").stderr == "1 plugin is not used; see: clusterkit plugins\n"


def test_errors(run, error_of):
    for args, message in (
        (("stages", "solvers"), "no kind of stage named 'solvers'. Did you mean 'solver'?"),
        (("recipes", "emc"), "no recipe named 'emc'. Did you mean 'emmc'"),
        (("fti",), "no command named 'fti'. Did you mean 'fit'?"),
        (("fit",), "Missing argument 'DATA'"),
        (("stages", "--yaml"), "No such option"),
    ):
        assert message in error_of(run(*args))


class TestNotUsable:
    """What cannot be imported or made has its line and leaves the lines of the others alone."""

    def test_stages(self, run, monkeypatch):
        from clusterkit.contracts.providers import Entry
        from clusterkit.contracts.registry import registry

        registry._session["solver", "lost"] = Entry("solver", "lost", "a_module_that_is_nowhere:Lost", "somebody")
        registry._session["solver", "odd"] = Entry("solver", "odd", "clusterkit.families.margins.ridge:Ridge", "it")
        answer = run("stages", "solver")
        assert answer.exit_code == 0, answer.output
        [lost] = [line for line in answer.stdout.splitlines() if "lost" in line]
        assert "not usable: solver 'lost' of somebody cannot be loaded: ModuleNotFoundError" in lost
        listed = {stage["name"]: stage for stage in json.loads(run("stages", "--json").stdout)}
        assert "calls itself 'ridge'" in listed["odd"]["problem"]
        assert listed["ridge"]["problem"] is None

    def test_a_stage_that_needs_an_argument(self, run):
        from clusterkit.contracts.registry import registry

        stage = clusterkit.stages("partitioner")["random"]
        needy = type("Needy", (stage,), {"name": "needy", "__init__": lambda self, must: None})
        registry.register(needy)
        [line] = [line for line in run("stages").stdout.splitlines() if "needy" in line]
        assert "not usable: TypeError" in line

    def test_a_built_in_too(self, run, monkeypatch):
        monkeypatch.setitem(sys.modules, "clusterkit.families.margins.ridge", None)
        [line] = [line for line in run("stages", "solver").stdout.splitlines() if " ridge " in line]
        assert "not usable: ModuleNotFoundError" in line


def test_the_list_of_stages_is_searched_by_synonyms_and_values(run):
    assert [row["name"] for row in json.loads(run("stages", "--search", "SGD", "--json").stdout)] == ["lmsvc"]
    assert [row["name"] for row in json.loads(run("stages", "--search", "multiplicative", "--json").stdout)] == ["nmf"]
    assert "no stage has 'xyzzy'" in run("stages", "--search", "xyzzy").stdout
