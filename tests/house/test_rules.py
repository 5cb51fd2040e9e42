"""The rules themselves: each finds what it is for, and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from house import architecture, arrows, ceiling, clocks, loops, names
from house.rules import RULES
from house.source import Source, at_top, everywhere


def source(text: str, path: str = "a.py") -> Source:
    return Source(Path(path), text, ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "found = 1",
        "result = f()",
        "def f(res): pass",
        "for own in x: pass",
        "def f(kept): pass",
        "def told(): pass",
        "class said: pass",
        "x.asked = 1",
        "f(given=1)",
        "[own for own in x]",
        "with x as kept: pass",
        "(told := 1)",
        "import x as found",
        "try: pass\nexcept E as said: pass",
        "match x:\n    case [*kept]: pass",
        "a, (b, found) = x",
    ],
)
def test_a_forbidden_identifier_is_seen(text):
    assert len(list(names.identifiers_of(source(text)))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from hypothesis import given\n@given(x=1)\ndef test(x): pass",
        "'found, own, kept'",
        "print(founder)",
        "x.found_rows = 1",
    ],
)
def test_other_uses_are_allowed(text):
    assert list(names.identifiers_of(source(text))) == []


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("x = np.partition(a, 2)", 1),
        ("x = a.sum()", 1),
        ("a[:m] = b", 1),
        ("a[0, :] = b[0]", 1),
        ("a[:] = -1", 0),
        ("a[:] = np.inf", 0),
        ("a[i] = math.sqrt(np.empty(2)[0])", 0),
        ("b = a[1:].copy()", 0),
    ],
)
def test_what_takes_long_to_compile_is_seen_in_compiled_loops_only(line, count):
    for decorator, expected in (("@njit", count), ("@inner(fastmath=True)", count), ("@functools.cache", 0)):
        assert len(list(loops.calls_of(source(f"{decorator}\ndef f(a, b):\n    {line}")))) == expected


def test_circles_are_seen_through_three_modules():
    graph = {"a": {"b": 1}, "b": {"c": 2}, "c": {"a": 3, "d": 4}, "d": {}}
    assert list(arrows.circles(graph)) == [["a", "b", "c"]]
    assert list(arrows.circles({"a": {"b": 1}, "b": {}})) == []


def test_two_circles_are_two():
    graph = {"a": {"b": 1}, "b": {"a": 1, "c": 2}, "c": {"d": 1}, "d": {"c": 1}}
    assert list(arrows.circles(graph)) == [["a", "b"], ["c", "d"]]


def test_names_of_imports_are_resolved():
    modules = {
        "p": source("", "p/__init__.py"),
        "p.a": source("from p import b\nfrom p.c import value", "p/a.py"),
        "p.b": source("import p.a", "p/b.py"),
        "p.c": source("def f():\n    from .a import x", "p/c.py"),
    }
    graph = arrows.graph_of(modules)
    assert graph["p.a"] == {"p.b": 1, "p.c": 2}
    assert graph["p.b"] == {"p.a": 1}
    assert graph["p.c"] == {"p.a": 2}


def test_imports_for_type_checkers_do_not_count():
    guarded = "if TYPE_CHECKING:\n    import a\nelse:\n    import b\n"
    tree = ast.parse(guarded + "def f():\n    import c\ntry:\n    import d\nfinally: pass")
    assert [node.names[0].name for node in at_top(tree)] == ["b", "d"]
    assert [node.names[0].name for node in everywhere(tree)] == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("begin = time.monotonic()\nrun()\nassert time.monotonic() - begin < 5", 1),
        ("begin = time.monotonic()\nseconds = time.monotonic() - begin\nassert seconds < 5", 1),
        ("begin = time.monotonic()\nprint(begin)\nassert rows == 3", 0),
        ("time.sleep(1)\nassert rows", 0),
    ],
)
def test_assertions_on_a_clock_are_seen(text, count):
    assert len(list(clocks.asserts_of(source(text)))) == count


def test_a_file_that_a_docstring_names_must_exist():
    text = '"""See fitting/fit.py, tests/oracles/gone.py and names.py."""'
    here = source(text, str(Path(__file__).with_name("example.py")))
    assert [breach.text.split()[3] for breach in names.missing_files_of(here)] == ["tests/oracles/gone.py,"]


def test_a_module_that_a_docstring_names_must_exist():
    here = source(
        '"""See clusterkit.fitting.fit.bind, clusterkit.core.run, clusterkit.plots.sizes, _steps_jit, _gone_jit."""'
    )
    missing = [breach.text.split()[3] for breach in names.missing_modules_of(here)]
    assert missing == ["clusterkit.core.run,", "_gone_jit,"]


def test_every_rule_states_itself():
    assert all(rule.__doc__ for rule in RULES)


def test_definitions_are_looked_up_in_classes():
    assert architecture.defines("contracts/driver.py", "FitResult.labels")
    assert not architecture.defines("contracts/driver.py", "FitResult.nothing")


def test_a_folder_above_its_ceiling_is_seen_and_one_far_below_it():
    ceilings = {"a": 1000, "b": 1000, "c": 1000}
    assert [folder for folder, _ in ceiling.misfits({"a": 1001, "b": 995, "c": 900}, ceilings)] == ["a", "c"]
    texts = ["x = [1, 2]  # a list\n", '"""A text."""\n\nx = [\n    1,\n    2]\n']
    assert [ceiling.weight(source(text)) for text in texts] == [7, 7]
