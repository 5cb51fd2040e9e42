"""Numbers that prose repeats are those of the code: defaults of parameters, and the weights of a formula."""

import ast
import functools
import importlib
import inspect
import re
from itertools import pairwise
from pathlib import Path

import attrs
import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC

from clusterkit import recipe, recipes
from clusterkit.contracts import Stage
from clusterkit.contracts.registry import ABSTRACT, registry
from clusterkit.criteria.likelihood import CompletedLikelihood
from clusterkit.criteria.rules import FEWEST_FAMILIES, known_number, unknown_number
from clusterkit.criteria.terrain import Terrain

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "recipes"
NAMES = sorted(name for name in recipes() if (PAGES / f"{name}.md").exists())

WORDS = {"none": None, "yes": True, "true": True, "no": False, "false": False, "inf": float("inf")}
"""Words that stand for values in a table."""

MISSING = "no such parameter"
"""What a parameter has that the recipe lacks."""


def rows_of(text: str) -> list[tuple[str, str]]:
    """The cells "parameter" and "default" of every row of the tables of parameters of a page."""
    tables = re.findall(r"^\| parameter \| default \|.*\n\|[-| ]+\n((?:\|.*\n?)+)", text, re.M)
    cells = [re.split(r"(?<!\\)\|", line)[1:3] for table in tables for line in table.splitlines()]
    return [(parameter.strip(), default.strip()) for parameter, default in cells]


def value_of(cell: str) -> object:
    """The value that a cell writes; ValueError where it describes one that the fit computes, which is None before."""
    text = re.sub(r" \(.*\)$", "", cell).replace("`", "").strip()
    if text == "tuned":
        raise ValueError(cell)
    if re.fullmatch(r"\d{1,3}(,\d{3})+", text):
        return int(text.replace(",", ""))
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if re.fullmatch(r"[a-z]\w+", text):
        return text  # the name of a stage or a word of a choice
    try:
        return ast.literal_eval(text)
    except SyntaxError:
        raise ValueError(cell) from None


def default_of(model, parameter: str) -> object:
    """The value of a parameter of a model or a stage, or of a stage inside one of its stages."""
    parameters = model.parameters() if isinstance(model, Stage) else model.get_params()
    if parameter in parameters:
        return parameters[parameter]
    outer, _, inner = parameter.rpartition("__")
    stage = parameters.get(outer)
    return stage.parameters().get(inner, MISSING) if isinstance(stage, Stage) else MISSING


def differences(model, text: str) -> list[str]:
    """Rows of a page whose default is not that of the model."""
    wrong = []
    for cell, default in rows_of(text):
        names = re.findall(r"`(\w+)`", cell)
        try:
            value = value_of(default)
        except ValueError:
            value = None
        values = value if isinstance(value, tuple) and len(names) > 1 else (value,) * len(names)
        wrong += [
            f"{parameter}: the page says {default}, the code has {default_of(model, parameter)!r}"
            for parameter, stated in zip(names, values, strict=True)
            if not _equal(default_of(model, parameter), stated)
        ]
    return wrong


def composition_of(text: str) -> list[tuple[str, str]]:
    """Parameter and value of everything that the table of the composition of a page sets, as in `n_init=10`."""
    table = re.search(r"^(\| featuremap \|.*)\n\|[-| ]+\n(\|.*)", text, re.M)
    if table is None:
        return []
    slots, cells = ([cell.strip() for cell in line.split("|")[1:-1]] for line in table.groups())
    settings = []
    for slot, cell in zip(slots, cells, strict=True):
        for code in re.findall(r"`([^`]*=[^`]*)`", cell):
            call = ast.parse(code if code.endswith(")") else f"{slot}({code})", mode="eval").body
            assert isinstance(call, ast.Call)
            for word in call.keywords:
                general = code == f"{word.arg}={ast.unparse(word.value)}" and word.arg in ("n_init", "max_iter")
                settings.append((f"{word.arg}" if general else f"{slot}__{word.arg}", ast.unparse(word.value)))
    return settings


def _equal(value: object, stated: object) -> bool:
    """Whether a parameter has the value stated; a stage is stated by its name."""
    if isinstance(value, dict):
        value = value["name"]
    return getattr(value, "name", value) == stated


SENTENCE = re.compile(r"""`(\w+)`\s\(`?("[^"`]*"|\d[\d,]*\.?\d*(?:e-?\d+)?|none|true|false)`?(?=[,;) ])""")
"""A parameter and its default in a sentence, as in "`max_rows` (5,000)"."""

NAMED = re.compile(r"""default `(\w+)` of `?("\w+"|\d[\d,]*\.?\d*(?:e-?\d+)?)`?""")
"""The same the other way round, as in "its default `slack` of 0.03"."""

CHOSEN = re.compile(r"""`("[\w+-]+")` \(default\)""")
"""One of several words that are listed, as in "`"nearest"` (default)"."""


def sentences(text: str, pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """What a pattern matches in a page, with the code left out."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return pattern.findall(re.sub(r"\s+", " ", prose))


def wrong_sentences(model, text: str) -> list[str]:
    """Sentences that state another default than the model has; a name may lack the slot before it."""
    names = {*model.get_params(), *(name.rpartition("__")[2] for name in model.get_params())}
    wrong = [
        f"`{name}` ({value})"
        for name, value in sentences(text, SENTENCE)
        if name in names and not any(_equal(default, value_of(value)) for default in _defaults(model, name))
    ]
    every = {getattr(value, "name", value) for value in model.get_params().values() if isinstance(value, str | Stage)}
    return wrong + [f"{word} (default)" for word in sentences(text, CHOSEN) if ast.literal_eval(word) not in every]


def _defaults(model, name: str) -> list[object]:
    parameters = model.get_params()
    return [parameters[full] for full in parameters if full == name or full.endswith(f"__{name}")]


def _text(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_composition_and_the_defaults_of_a_page_are_those_of_the_recipe(name):
    model = recipe(name)
    assert not differences(model, _text(name))
    assert not wrong_sentences(model, _text(name))
    for parameter, text in composition_of(_text(name)):
        assert default_of(model, parameter) == ast.literal_eval(text), parameter


def test_the_defaults_of_other_pages():
    assert not differences(MinMaxModularSVC(), (ROOT / "docs" / "min-max-svm.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["mmc_sdp", "mmc_multi_sdp", "gmmc_sdp"])
def test_the_defaults_of_the_plugin_of_semidefinite_programs(name):
    if registry.find("solver", name) is None:
        pytest.skip("clusterkit-sdp is not installed")
    page = (ROOT / "plugins" / "clusterkit-sdp" / "README.md").read_text(encoding="utf-8")
    section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert len(rows_of(section)) >= 5
    assert not differences(registry.specimens("solver")[name], section)


def test_defaults_in_other_sentences_are_those_of_a_stage():
    stages = [stage for kind in ABSTRACT for stage in registry.specimens(kind).values()]
    stated = [
        (page.name, name, value)
        for page in ROOT.glob("docs/*.md")
        for name, value in sentences(page.read_text(encoding="utf-8"), NAMED)
    ]
    assert ("architecture.md", "slack", "0.03") in stated
    for page, name, value in stated:
        assert any(stage.parameters().get(name, MISSING) == value_of(value) for stage in stages), (page, name, value)


def test_a_setting_of_a_composition_is_read_with_its_slot():
    table = "| featuremap | init |\n|---|---|\n| `elm(width=1)` | `seeds`, `trials=4`, `n_init=10` |\n"
    assert composition_of(table) == [("featuremap__width", "1"), ("init__trials", "4"), ("n_init", "10")]


def test_a_wrong_default_is_seen():
    table = "| parameter | default | meaning |\n|---|---|---|\n| `n_init` | 11 | starts |\n| `solver__tol` | 1e-4 | |\n"
    assert differences(recipe("kmeans"), table) == ["n_init: the page says 11, the code has 10"]


def test_a_wrong_sentence_is_seen():
    page = """It tries `n_init` (11) starts, `init__trials` (4) seeds
with `tol` (1e-3); `"k-means"` (default)."""
    assert wrong_sentences(recipe("kmeans"), page) == ["`n_init` (11)", "`tol` (1e-3)", '"k-means" (default)']


def test_most_pages_state_defaults():
    stating = [name for name in NAMES if rows_of(_text(name))]
    assert len(stating) > len(NAMES) / 2


ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.*?)(?:, default (.+))$", re.M)
"""An entry of a numpydoc section that states a value; "default: a new figure" states none."""


def entries(docstring: str) -> list[tuple[str, object]]:
    """Parameters and the defaults that a docstring states."""
    pattern = re.compile(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", re.M | re.S)
    section = pattern.search(inspect.cleandoc(docstring))
    if section is None:
        return []
    lines = section[1].replace("\\\n", " ")
    return [(name, ast.literal_eval(text)) for names, _, text in ENTRY.findall(lines) for name in names.split(", ")]


def stating_files() -> list[tuple[str, Path]]:
    """Modules of the library and the plugins with a docstring that states a default, by their dotted names."""
    files = []
    for root in (ROOT, *ROOT.glob("plugins/*/src")):
        for path in sorted(root.glob("clusterkit*/**/*.py")):
            if re.search(r"^ +\w+(?:, \w+)* : .*, default ", path.read_text(encoding="utf-8"), re.M):
                parts = path.relative_to(root).with_suffix("").parts
                files.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return files


def definitions(body: list[ast.stmt], outer: str = "") -> list[tuple[str, str]]:
    """Functions and classes with a docstring, at any depth of classes, by their dotted names within the module."""
    every: list[tuple[str, str]] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            every.append((outer + node.name, ast.get_docstring(node, clean=False) or ""))
        if isinstance(node, ast.ClassDef):
            every += definitions(node.body, f"{outer}{node.name}.")
    return every


def defaults_of(definition) -> dict[str, object]:
    """The defaults of the parameters of a function or a class, those too that attrs makes anew for each object."""
    parameters = inspect.signature(definition).parameters
    return {
        name: attrs.fields_dict(definition)[name].default.factory() if each.default is attrs.NOTHING else each.default
        for name, each in parameters.items()
    }


def wrong_defaults(scope: object, text: str) -> list[str]:
    """Defaults that docstrings of a module state and the signatures do not have."""
    wrong = []
    for name, docstring in definitions(ast.parse(text).body):
        stated = entries(docstring)
        if stated:
            defaults = defaults_of(functools.reduce(getattr, name.split("."), scope))
            wrong += [
                f"{name}: {parameter} is {defaults[parameter]!r}, the docstring says {value!r}"
                for parameter, value in stated
                if not _equal(defaults[parameter], value)
            ]
    return wrong


def test_the_defaults_of_docstrings_are_those_of_the_signatures():
    stating = stating_files()
    assert len(stating) > 100
    wrong = {
        module: wrong_defaults(importlib.import_module(module), path.read_text("utf-8")) for module, path in stating
    }
    assert {name: lines for name, lines in wrong.items() if lines} == {}


def test_a_wrong_default_of_a_docstring_is_seen():
    text = """
class C:
    def f(self, a=1, b="x", c=None):
        '''Do.

        Parameters
        ----------
        a, b : int, default 1
        c : int or None, default None

        Returns
        -------
        d : int, default 5
        '''
"""
    scope: dict[str, object] = {}
    exec(text, scope)
    [line] = wrong_defaults(type("module", (), scope), text)
    assert line == "C.f: b is 'x', the docstring says 1"


SYMBOLS = {
    "known": {"V": "separation", "c": "least_confirmed", "H": "entropy", "icl": "likelihood"},
    "unknown": {
        "b": "contrast", "A3": "agreement", "i": "inside", "C": "confirmed", "c": "least_confirmed", "S": "stability",
        "V": "separation",
    },
    "few families": {"rw": "contrast", "S": "stability", "A3": "agreement", "mk": "mass_drop"},
}  # fmt: skip
"""The letters in the sums by which `Auto` chooses, and the terms of the ranking that they stand for."""

FUNCTIONS = {"exp", "min"}

OWN = {"known": "icl", "unknown": "c", "few families": "mk"}
"""A letter that only this sum has."""


def python_of(formula: str) -> str:
    """A sum in the words of a docstring or in LaTeX as Python: ``4.5 A_3`` is ``4.5 * A3``."""
    plain = re.sub(r"\\mathrm\{(\w+)\}", r"\1", formula).replace("\\,", " ").replace("_", "").replace("\\min", "min")
    plain = re.sub(r"e\^\{(.*?)\}", r"exp(\1)", plain)
    words: list[str] = re.findall(r"\d*\.?\d+|[A-Za-z]\w*|\S", plain)
    parts = words[:1]
    for before, word in pairwise(words):
        product = re.match(r"[\w.)]", before[-1]) and re.match(r"[\w.(]", word) and before not in FUNCTIONS
        parts += ["*", word] if product else [word]
    return " ".join(parts)


@functools.cache
def formulas() -> list[tuple[str, str, str]]:
    """Every sum of these letters in the library and on the pages: its kind, the file, and how it is written."""
    every = []
    pages = [path for path in ROOT.glob("docs/**/*.md") if path.parent.name != "decisions"]  # they are of their time
    for path in [*pages, *ROOT.glob("clusterkit/**/*.py")]:
        for span in re.findall(r"``([^`]+)``|\$([^$`]+)\$", path.read_text(encoding="utf-8")):
            formula = "".join(span)
            letters = set(re.findall(r"[A-Za-z]\w*", python_of(formula))) - FUNCTIONS
            for kind, symbols in SYMBOLS.items():
                if "+" in formula and OWN[kind] in letters and letters <= {*symbols, "D"}:
                    every.append((kind, path.name, " ".join(formula.split())))
    return every


def test_the_sums_are_stated_where_users_and_maintainers_read():
    places = {(kind, name) for kind, name, _ in formulas()}
    for name in ("auto.py", "rules.py", "auto.md"):
        assert {("known", name), ("unknown", name)} <= places
    assert {("few families", "rules.py"), ("few families", "auto.md")} <= places


@pytest.mark.parametrize(("kind", "name", "formula"), formulas())
def test_a_sum_is_what_is_computed(kind, name, formula):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    X[::2] += 2.0
    labelings = [np.arange(40) % 2, *(np.unique(rng.integers(3, size=40), return_inverse=True)[1] for _ in range(6))]
    terrain = Terrain.of(X)
    n_families = FEWEST_FAMILIES - (kind == "few families")
    families = [f"family {i % n_families}" for i in range(len(labelings))]
    if kind == "known":
        ranking = known_number(terrain, labelings, families)
    else:
        ranking = unknown_number(terrain, labelings, families, rng.random(len(labelings)))
    values = {symbol: ranking.terms[term] for symbol, term in SYMBOLS[kind].items()}
    computed = eval(python_of(formula), {**values, "D": CompletedLikelihood.of(X).dimension, "exp": np.exp})
    np.testing.assert_allclose(computed, ranking.total, rtol=1e-12, atol=1e-12)
